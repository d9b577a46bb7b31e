"""The public cache is read by its tags."""

import json
from pathlib import Path

import pytest

from spackscope.model.core.tasks import progress_to
from spackscope.model.sources.source_name import TAG_LIST, PublicCache, parse_public_cache
from tests.builders.manifests import INDEX_TYPE, MANIFEST, Files, blob, entry, manifest
from tests.builders.mirrors import (
    contents,
    discover_one,
    mirror_v2,
    mirror_v3,
    problem_text,
    serve_files,
    tag_list,
    under,
    write_files,
)
from tests.builders.spack import zlib_index
from tests.web_server import WebServer, announces, responds, sends

NAME = "cache_spack_io_index.json"


ROOT, E4S, OLD = zlib_index(version="1"), zlib_index(version="2"), zlib_index(version="3")
BUCKET = {
    **under("develop", mirror_v3(ROOT)),
    **under("develop/e4s", mirror_v3(E4S)),
    **under("v0.23.0", mirror_v2(OLD)),
}
FILES = {**BUCKET, NAME: tag_list(BUCKET)}


def paths(server: WebServer) -> list[str]:
    """Return the paths that were requested, and forget them."""
    requested = [request.path.lstrip("/") for request in server.requests]
    server.requests.clear()
    return requested


def test_names_of_the_public_cache_are_parsed() -> None:
    site = "https://example.org/copy/cache_spack_io_index.json"

    assert parse_public_cache("public", {}) == PublicCache(TAG_LIST)
    assert parse_public_cache("public:v1.0.0", {}) == PublicCache(TAG_LIST, ("v1.0.0",))
    assert parse_public_cache("public:a, b,,", {}) == PublicCache(TAG_LIST, ("a", "b"))
    assert parse_public_cache(site, {}) == PublicCache(site)
    assert parse_public_cache(f"{site}#a,b", {}) == PublicCache(site, ("a", "b"))
    assert parse_public_cache("public", {"SPACKSCOPE_PUBLIC": site}) == PublicCache(site)
    for other in ("publicly", "./public", "https://example.org/public", "sample", "-"):
        assert parse_public_cache(other, {}) is None


def test_a_list_names_blobs_of_indexes_and_all_of_their_mirrors_is_read() -> None:
    # As Spack 1.3 pushes them.
    entries = [entry(f"{INDEX_TYPE}.v{v}+json", index) for v, index in ((9, E4S), (8, OLD))]
    for order in (entries, entries[::-1]):
        mirror = {MANIFEST: manifest(*order), **blob(E4S), **blob(OLD)}
        bucket = under("develop/e4s", mirror)
        with serve_files({**bucket, NAME: tag_list(bucket)}) as server:
            discovered = discover_one(f"{server.url}/{NAME}")

        assert contents(discovered) == [E4S, OLD]
        assert discovered.problems == ()
        assert {(each.tag, each.stack) for each in discovered.documents} == {("develop", "e4s")}


def test_a_list_that_names_the_same_blobs_needs_one_request(tmp_path: Path) -> None:
    bucket = under("develop", mirror_v3(ROOT))
    for number in range(60):
        bucket |= under(f"develop/stack{number}", mirror_v3(zlib_index(version=f"1.{number}")))
    # One index is newer than the list.
    newer = under("develop/stack8", mirror_v3(OLD))
    files = {**bucket, **newer, NAME: tag_list(bucket)}
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    with serve_files(files) as server:
        first = discover_one(f"{server.url}/{NAME}", environ)
        assert len(paths(server)) == 1 + 61 + 61

        again = discover_one(f"{server.url}/{NAME}", environ)
        assert paths(server) == [NAME]
        assert contents(again) == contents(first)

        changed = under("develop/stack7", mirror_v3(E4S))
        files |= changed | {NAME: tag_list({**bucket, **changed})}
        third = discover_one(f"{server.url}/{NAME}", environ)
        # Whether it is newer still has to be asked again.
        asked = [name for name in (*changed, *newer) if name.endswith(MANIFEST)]
        assert sorted(paths(server)) == sorted([NAME, *asked, *under("develop/stack7", blob(E4S))])
        assert len(contents(third)) == 61
        assert E4S in contents(third)


@pytest.mark.parametrize("broken", [b"{}", b"garbage", b""])
def test_a_broken_manifest_does_not_keep_the_others_from_being_read(broken: bytes) -> None:
    mirrors = {**under("develop", mirror_v3(ROOT)), **under("develop/e4s", mirror_v3(E4S))}
    files = {**mirrors, NAME: tag_list(mirrors), f"develop/e4s/{MANIFEST}": broken}
    with serve_files(files) as server:
        discovered = discover_one(f"{server.url}/{NAME}")
    assert contents(discovered) == [ROOT]
    (problem,) = discovered.problems
    assert problem.origin == f"{server.url}/develop/e4s/{MANIFEST}"


def test_indexes_that_come_together_are_counted_together(home: dict[str, str]) -> None:
    indexes = {tag: zlib_index(version=tag) for tag in ("v2026.02.0", "v2026.06.0", "develop")}
    bucket = {
        name: data for tag in indexes for name, data in under(tag, mirror_v3(indexes[tag])).items()
    }
    reports = list[tuple[str, int, int | None]]()
    with (
        serve_files({**bucket, NAME: tag_list(bucket)}) as server,
        progress_to(lambda *report: reports.append(report)),
    ):
        discovered = discover_one(f"{server.url}/{NAME}#*", home)

    assert sorted(contents(discovered)) == sorted(indexes.values())
    nouns = list(dict.fromkeys(what for what, _, _ in reports))
    assert nouns == ["bytes of cache_spack_io_index.json", "bytes of 3 indexes"]
    done = [count for what, count, _ in reports if what == nouns[1]]
    assert 0 < done[0] <= sum(map(len, bucket.values()))


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_blob_that_is_always_cut_is_given_up(is_listed: bool) -> None:
    mirror = under("develop", mirror_v3(ROOT))
    (name,) = under("develop", blob(ROOT))
    with serve_files({**mirror, NAME: tag_list(mirror)}) as server:
        server.handlers[f"/{name}"] = announces(len(ROOT), ROOT[:-1])
        discovered = discover_one(f"{server.url}/{NAME if is_listed else 'develop'}")

    assert "the body ends too early" in discovered.failure
    assert paths(server).count(name) == 3


def test_the_public_cache_alone_is_its_newest_release_or_that_of_the_users_spack(
    tmp_path: Path,
) -> None:
    names = ["develop", "v0.23.0", "v2025.11.0", "v2025.11.1", "v2026.6.0", "develop-2026-01-18"]
    indexes = {name: zlib_index(version=name) for name in names}
    bucket: Files = {}
    for name, index in indexes.items():
        bucket |= under(name, mirror_v3(index))
    environ = {"SPACKSCOPE_PUBLIC": str(write_files(tmp_path, {NAME: tag_list(bucket)}) / NAME)}
    write_files(tmp_path, bucket)
    newest = discover_one("public", environ)

    assert newest.source == "public:v2026.6.0"
    assert contents(newest) == [indexes["v2026.6.0"]]
    assert discover_one(tmp_path / NAME).source == f"{tmp_path}/{NAME}#v2026.6.0"
    git = "https://github.com/spack/spack-packages.git"
    missing = "your Spack is pinned to v2024.7, which the list lacks, so v2026.6.0 is read"
    for fields, tag, unexpected in (
        ({"branch": "releases/v2025.11"}, "v2025.11.1", []),
        ({"tag": "v2025.11.0"}, "v2025.11.0", []),
        ({"branch": "develop"}, "v2026.6.0", []),
        ({"branch": "releases/v2024.7"}, "v2026.6.0", [missing]),
        ({}, "v2026.6.0", []),
    ):
        repos = json.dumps({"repos": {"builtin": {"git": git, **fields}}})
        (tmp_path / "repos.yaml").write_text(repos)
        spack = {**environ, "SPACK_USER_CONFIG_PATH": str(tmp_path)}
        discovered = discover_one("public", spack)
        assert discovered.source == f"public:{tag}"
        assert [problem.reason for problem in discovered.problems] == unexpected


def test_a_release_without_an_index_is_not_read_where_another_has_one(tmp_path: Path) -> None:
    """As `cache_indexer.py` writes one whose labels it ignores."""
    names = ["v2025.11.0", "v2026.6.0", "v2026.10.0"]
    files = [under(name, mirror_v3(zlib_index(version=name))) for name in names[:2]]
    bucket = {**files[0], **files[1]}
    tags = json.loads(tag_list(bucket)) | {"v2026.10.0": []}
    write_files(tmp_path, {**bucket, NAME: json.dumps(tags).encode()})
    discovered = discover_one("public", {"SPACKSCOPE_PUBLIC": str(tmp_path / NAME)})

    assert discovered.source == "public:v2026.6.0"
    (problem,) = discovered.problems
    assert problem.reason == "v2026.10.0 lists no index, so v2026.6.0 is read"


def test_the_public_cache_without_releases_is_develop_and_tags_come_in_the_order_given() -> None:
    with serve_files(FILES) as server:
        discovered = discover_one("public", {"SPACKSCOPE_PUBLIC": f"{server.url}/{NAME}"})
        several = discover_one(f"{server.url}/{NAME}#v0.23.0,develop")

    assert (discovered.kind, discovered.failure, discovered.problems) == ("public cache", "", ())
    assert [
        (document.tag, document.stack, document.cached) for document in discovered.documents
    ] == [("develop", "root", True), ("develop", "e4s", True)]
    assert contents(discovered) == [ROOT, E4S]
    assert discovered.checked is not None
    assert contents(several) == [OLD, ROOT, E4S]
    assert [document.tag for document in several.documents] == ["v0.23.0", "develop", "develop"]


@pytest.mark.parametrize("bucket", ["spack-binaries", "ours"])
def test_a_tag_list_is_known_by_its_name_on_servers_and_on_this_machine(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {**BUCKET, NAME: tag_list(BUCKET, bucket=bucket)}

    with serve_files(files) as server:
        assert contents(discover_one(f"{server.url}/{NAME}")) == [ROOT, E4S]
    monkeypatch.chdir(write_files(tmp_path, files))
    for source in (f"{tmp_path}/{NAME}", f"file://{tmp_path}/{NAME}", NAME):
        assert contents(discover_one(source)) == [ROOT, E4S]
    assert contents(discover_one("public:v0.23.0", {"SPACKSCOPE_PUBLIC": source})) == [OLD]


def test_an_index_may_have_any_address(tmp_path: Path) -> None:
    with serve_files(under("elsewhere", mirror_v3(E4S))) as other:
        entries = [
            {"label": "root", "url": "develop/" + MANIFEST},
            {"label": "e4s", "url": f"{other.url}/elsewhere/{MANIFEST}"},
            {"label": "top", "url": f"{other.url}/elsewhere"},
        ]
        with serve_files({**FILES, NAME: json.dumps({"develop": entries}).encode()}) as server:
            discovered = discover_one(f"{server.url}/{NAME}")

    assert contents(discovered) == [ROOT, E4S, E4S]


@pytest.mark.parametrize("is_first", [True, False])
def test_of_the_copies_that_were_asked_the_one_that_refuses_is_named(
    is_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_files({NAME: FILES[NAME]}) as near, serve_files({}) as bucket:
        monkeypatch.setattr("spackscope.model.sources.mirror.TAG_LIST", f"{bucket.url}/{NAME}")
        (near if is_first else bucket).default = responds(403)
        near.handlers[f"/{NAME}"] = sends(FILES[NAME])
        failure = discover_one(
            "public:develop", {"SPACKSCOPE_PUBLIC": f"{near.url}/{NAME}"}
        ).failure

    refusing, other = (near, bucket) if is_first else (bucket, near)
    assert f"{refusing.url}/develop/{MANIFEST}: develop root: is forbidden: HTTP 403" in failure
    assert other.url not in failure


REFUSED = "a remote tag list cannot name local files"


@pytest.mark.parametrize(
    ("url", "remote", "local"),
    [
        # Paths of this machine, which only a local tag list may name.
        ("{top}/m/" + MANIFEST, REFUSED, ""),
        ("file://{top}/m", REFUSED, ""),
        ("~/m/" + MANIFEST, REFUSED, ""),
        ("~", REFUSED, "has no index"),
        # Relative ones are seen from the tag list.
        ("m/" + MANIFEST, "does not exist", ""),
        ("./m", "has no index", ""),
        ("file:m", "has no index", "has no index"),
        # Broken URLs.
        ("http://h/\ud800", "it has bytes that are not text", "it has bytes that are not text"),
        ("develop/\0", "it has a control character", "has a NUL"),
        ("http://ann:s3cr3t@h:no/x", "its port is not a number", "its port is not a number"),
        ("ht tp://ann:s3cr3t@h/x", "has no index", "has no index"),
        ("file://there/x", REFUSED, "another machine"),
        ("x" * 100_000, "its URL is longer than", "its URL is longer than"),
    ],
)
def test_an_address_in_a_tag_list_is_found_or_a_problem(
    url: str, remote: str, local: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path / "m", mirror_v3(E4S))
    (tmp_path / "x").mkdir()
    monkeypatch.chdir(tmp_path / "x")
    monkeypatch.setenv("HOME", str(tmp_path))
    url = url.format(top=tmp_path)
    entries = [{"label": "bad", "url": url}, *json.loads(FILES[NAME])["develop"][:1]]
    files = {**FILES, NAME: json.dumps({"develop": entries}).encode()}
    with serve_files(files) as server:
        far = discover_one(f"{server.url}/{NAME}")
    near = discover_one(write_files(tmp_path, files) / NAME)

    for discovered, reason in ((far, remote), (near, local)):
        assert contents(discovered) == ([ROOT] if reason else [E4S, ROOT])
        assert [problem.place for problem in discovered.problems] == ["develop bad"] * bool(reason)
        assert reason in problem_text(discovered)
        assert "s3cr3t" not in problem_text(discovered)


def test_names_in_a_tag_list_may_be_percent_encoded() -> None:
    with serve_files({"my index.json": ROOT, "a%20b.json": OLD}) as server:
        assert contents(discover_one(f"{server.url}/my%20index.json")) == [ROOT]
        assert contents(discover_one(f"{server.url}/a%2520b.json")) == [OLD]


def test_an_unknown_tag_is_answered_with_near_ones() -> None:
    with serve_files(FILES) as server:
        near = discover_one(f"{server.url}/{NAME}#v0.23.1").failure
        far = discover_one(f"{server.url}/{NAME}#x").failure
        e4s = discover_one(f"{server.url}/{NAME}#e4s").failure

        others = discover_one(f"{server.url}/{NAME}#x,v0.23.0")

    assert near.endswith("has no tag v0.23.1: did you mean v0.23.0?")
    assert far.endswith("has no tag x: there are v0.23.0, develop")
    assert e4s.endswith("has no tag e4s: name one of that cache, as e4s/YY.MM")
    assert contents(others) == [OLD]
    assert problem_text(others).endswith("has no tag x: there are v0.23.0, develop")


def test_a_tag_without_a_name_is_no_release(tmp_path: Path) -> None:
    listed = json.loads(FILES[NAME])
    data = json.dumps({"": listed["v0.23.0"], "v\u0662026.06.1": listed["v0.23.0"], **listed})
    discovered = discover_one(write_files(tmp_path, {**FILES, NAME: data.encode()}) / NAME)

    assert discovered.source.endswith("#develop")


def test_a_list_that_cannot_be_read_is_described_as_it_is(tmp_path: Path) -> None:
    """The one who reads this may have set the variable long ago."""
    for path, why in ((tmp_path, "is not a file"), (tmp_path / NAME, "does not exist")):
        failure = discover_one("public", {"SPACKSCOPE_PUBLIC": str(path)}).failure
        assert failure == (
            f"the source public cannot be read: {path} {why}; "
            "SPACKSCOPE_PUBLIC or the setting public names this tag list"
        )


def test_invalid_entries_are_problems() -> None:
    listed = json.loads(FILES[NAME])["develop"][:1]
    entries = [*listed, None, {}, {"label": 1, "url": "x"}, {"label": "x", "url": ""}]
    with serve_files({**FILES, NAME: json.dumps({"develop": entries}).encode()}) as server:
        discovered = discover_one(f"{server.url}/{NAME}")

    assert contents(discovered) == [ROOT]
    reasons = [problem.reason for problem in discovered.problems]
    assert reasons == ["an entry has no label and url"] * 4


@pytest.mark.parametrize("data", [b"", b"[]", b"5", b"[" * 100_000, b'{"develop": 5}'])
def test_an_invalid_tag_list_is_refused_in_one_sentence(data: bytes) -> None:
    with serve_files({NAME: data}) as server:
        failure = discover_one(f"{server.url}/{NAME}").failure

    assert failure.startswith(f"the tag list {server.url}/{NAME} ")


def test_what_the_tag_list_does_not_name_is_looked_for_in_the_bucket() -> None:
    view = MANIFEST.replace("index.manifest", "snapshot/index.manifest")
    files = {
        **FILES,
        **under("releases/v2026.10", mirror_v3(ROOT)),
        **under("releases/v2026.10", mirror_v3(E4S, view)),
    }
    with serve_files(files) as server:
        environ = {"SPACKSCOPE_PUBLIC": f"{server.url}/{NAME}"}
        release = discover_one("public:releases/v2026.10", environ)
        assert contents(release) == [ROOT]
        assert [document.tag for document in release.documents] == ["releases/v2026.10"]
        assert contents(discover_one("public:releases/v2026.10:snapshot", environ)) == [E4S]
        missing = discover_one("public:releases/v1999.1", environ)
        assert "has no readable index" in missing.failure


def test_a_copy_at_a_university_and_the_cache_of_e4s_have_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serve_files(FILES) as server, serve_files(under("develop", mirror_v3(OLD))) as copy:
        monkeypatch.setattr("spackscope.model.sources.mirror._COPIES", {"uo": f"{copy.url}/"})
        environ = {"SPACKSCOPE_PUBLIC": f"{server.url}/{NAME}"}
        assert contents(discover_one("public:uo/develop", environ)) == [OLD]
        # It is asked where the public cache itself does not answer.
        elsewhere = {"SPACKSCOPE_PUBLIC": f"{copy.url}/{NAME}"}
        assert contents(discover_one("public:uo/develop", elsewhere)) == [OLD]
        assert discover_one("public:develop", elsewhere).failure

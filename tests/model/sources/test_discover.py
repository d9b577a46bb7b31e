"""Sources are recognised by their content, and one that fails hides no other."""

from __future__ import annotations

import gzip
import shutil
import threading
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.loader.load import load
from spackscope.model.sources import directory
from spackscope.model.sources import discover as discover_module
from spackscope.model.sources.discover import discover
from spackscope.model.sources.document import DiscoveredSource
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import SAMPLE, absolute_path
from tests.builders import (
    INDEX_OF_0_23,
    INSTALL_TREE,
    SPACK_DATA,
    SPEC_FILES,
    SpackRoot,
    as_yaml,
    contents,
    discover_one,
    mirror_v2,
    mirror_v3,
    node,
    problem_text,
    record,
    serve_files,
    under,
    write_files,
    write_page,
    zlib_index,
)
from tests.program import PATIENCE
from tests.web_server import Exchange, is_silent, serving

ONE, TWO = zlib_index(version="1.1"), zlib_index(version="1.2")
LOCK = b'{"_meta": {"lockfile-version": 6}, "roots": [], "concrete_specs": {}}'
NO_TEXT = "it has bytes that are not text, which have to be written as %XX"


@pytest.fixture
def spack(tmp_path: Path) -> SpackRoot:
    return SpackRoot(tmp_path)


def names(discovered: DiscoveredSource, top: Path) -> list[str]:
    return [str(Path(document.path).relative_to(top)) for document in discovered.documents]


# Files and standard input


def test_a_file_is_one_document(tmp_path: Path) -> None:
    path = write_files(tmp_path, {"any.thing": ONE}) / "any.thing"

    for source in (str(path), f"file://{path}"):
        discovered = discover_one(source)
        (document,) = discovered.documents
        assert (discovered.kind, discovered.failure) == ("file", "")
        assert (document.source, document.path, document.origin) == (source, str(path), str(path))
        assert (document.kind, document.cached) == ("known", False)


def test_standard_input_is_read_from_its_copy(tmp_path: Path) -> None:
    path = write_files(tmp_path, {"spool": ONE}) / "spool"

    discovered = discover_one("-", stdin_path=str(path))

    (document,) = discovered.documents
    assert (discovered.kind, document.origin) == ("standard input", "standard input")
    assert contents(discovered) == [ONE]
    assert discover_one("-").failure == "standard input was not read"
    gone = discover_one("-", stdin_path=str(tmp_path / "gone"))
    assert gone.failure == "standard input cannot be read: no such file or directory"


@pytest.mark.parametrize(
    ("source", "failure"),
    [
        ("{top}/none", "the source {top}/none does not exist"),
        ("file://{top}/none", "the source file://{top}/none does not exist"),
        ("/dev/null", "the source /dev/null is neither a file nor a directory"),
        ("a\0b", "the source a\0b cannot be read: embedded null byte"),
        ("ftp://example.org/x", "the source ftp://example.org/x: ftp:// is not supported"),
        ("ssh://u:secret@h/x", "the source ssh://h/x: ssh:// is not supported"),
        ("file://[::1/x", "file://[::1/x is not a valid URL: its host cannot be read"),
        ("file://there{top}", "file://there{top} names files of there, another machine"),
        (
            "file://u:secret@there{top}",
            "file://there{top} names files of there, another machine",
        ),
        ("file://{top}/\udcff", "file://{top}/\udcff is not a valid URL: " + NO_TEXT),
        ("http://h/\udcff", "http://h/\udcff is not a valid URL: " + NO_TEXT),
        ("oci://u:secret@h/\udcff", "oci://h/\udcff is not a valid URL: " + NO_TEXT),
        ("http:/u:secret@h/x?k=secret", "the source http:/…@h/x?… does not exist"),
        ("//u:secret@h/x", "the source //…@h/x does not exist"),
        ("~x\0", "the source ~x\0 cannot be read: embedded null byte"),
        ("u:secret@{name}", "./…@{name} does not exist"),
        ("http://h/\udcff.json", "http://h/\udcff.json is not a valid URL: " + NO_TEXT),
        ("s3://bucket:80/x", "s3://bucket:80/x is not a valid URL: a bucket has no port"),
        ("public://u:secret@h/x", "the source public://h/x: public:// is not supported"),
        ("{top}", "the source {top} contains no files"),
    ],
)
def test_an_invalid_source_fails_in_one_sentence(
    source: str, failure: str, tmp_path: Path
) -> None:
    known = {"top": tmp_path, "name": "cache_spack_io_index.json"}
    discovered = discover_one(source.format(**known))

    assert discovered.failure == failure.format(**known)
    assert not discovered.documents


# Directories


def test_pages_are_found(tmp_path: Path) -> None:
    write_page(tmp_path, [record(1)])
    write_page(tmp_path, [record(2)], title="bzip2")

    for source in (SAMPLE, str(tmp_path)):
        discovered = discover_one(source)
        assert discovered.kind == "pages"
        pages = sorted(map(str, Path(absolute_path(source)).rglob("specs.md")))
        found_pages = [
            each.path for each in discovered.documents if each.path.endswith("specs.md")
        ]
        assert found_pages == pages
        assert {document.kind for document in discovered.documents} == {"candidate"}


@pytest.mark.parametrize("below_it", ["", ".spack-db"])
def test_an_install_tree_is_its_database(below_it: str, tmp_path: Path) -> None:
    shutil.copytree(INSTALL_TREE.parents[1], tmp_path / "tree")
    write_files(tmp_path / "tree", {"linux-x86/zlib/.spack/spec.json": b"{}", "README": b""})

    discovered = discover_one(tmp_path / "tree" / below_it)

    assert discovered.kind == "install tree"
    assert names(discovered, tmp_path) == ["tree/.spack-db/index.json"]
    assert not next(iter(discovered.documents)).cached


def test_an_install_tree_below_padding_is_found(tmp_path: Path) -> None:
    deep = tmp_path / "__spack_path_placeholder__" / "__spack_path_pl"
    shutil.copytree(INSTALL_TREE.parents[1], deep)

    discovered = discover_one(tmp_path)

    assert (discovered.kind, len(discovered.documents)) == ("install tree", 1)


def test_an_install_tree_without_its_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".spack-db").mkdir()

    assert discover_one(tmp_path).failure == (
        f"the database of the install tree {tmp_path}/.spack-db/index.json"
        " cannot be read: no such file or directory"
    )


@pytest.mark.parametrize("name", [".spack-db", "spack.lock"])
def test_a_database_or_lock_that_is_not_a_file_is_reported(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"") if name == ".spack-db" else path.mkdir()

    assert "cannot be read: " in discover_one(tmp_path).failure


@pytest.mark.parametrize("below_it", ["", ".spack-env"])
def test_an_environment_is_its_lock_file(below_it: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"spack.yaml": b"spack: {}", "spack.lock": LOCK, ".spack-env/x": b""})

    discovered = discover_one(tmp_path / below_it)

    assert (discovered.kind, names(discovered, tmp_path)) == ("environment", ["spack.lock"])


def test_an_environment_that_is_not_concretized_is_reported(tmp_path: Path) -> None:
    write_files(tmp_path, {"spack.yaml": b"spack: {}"})

    assert discover_one(tmp_path).failure == (
        f"the environment {tmp_path} is not concretized: it has no spack.lock;"
        f" create one with `spack -e {tmp_path} concretize`"
    )


@pytest.mark.parametrize("source", ["", "build_cache"])
def test_a_v2_mirror_may_be_named_by_its_build_cache(source: str) -> None:
    discovered = discover_one(SPACK_DATA / "mirror-v2" / source)

    (document,) = discovered.documents
    assert (discovered.layout, Path(document.path)) == ("v2", INDEX_OF_0_23)
    assert document.origin == str(INDEX_OF_0_23)


@pytest.mark.parametrize("source", ["", "v3", "v3/manifests/index/index.manifest.json"])
def test_a_v3_mirror_may_be_named_by_its_parts(source: str, tmp_path: Path) -> None:
    write_files(tmp_path, mirror_v3(ONE) | mirror_v2(TWO))

    discovered = discover_one(tmp_path / source)

    assert contents(discovered)[0] == ONE
    assert discovered.layout.startswith("v3")


def test_a_source_may_be_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path / "m", mirror_v2(ONE))
    for here, source, origin in (
        (tmp_path, "m", "m/build_cache/index.json"),
        (tmp_path, "./m/", "m/build_cache/index.json"),
        (tmp_path / "m", ".", "build_cache/index.json"),
        (tmp_path / "m" / "build_cache", ".", "index.json"),
        (tmp_path / "m", "build_cache", "build_cache/index.json"),
    ):
        monkeypatch.chdir(here)
        (document,) = discover_one(source).documents
        assert (document.origin, Path(document.path).read_bytes()) == (origin, ONE)


def test_a_spack_is_the_install_trees_that_it_uses(spack: SpackRoot) -> None:
    tree = spack.install("elsewhere")
    spack.write("spack/etc/spack/config.yaml", f"config: {{install_tree: {{root: {tree}}}}}")

    discovered = discover_one(spack.root, {"HOME": str(spack.home)})

    (document,) = discovered.documents
    assert (discovered.kind, document.origin) == ("install tree", f"{tree}/.spack-db/index.json")


def test_a_spack_without_installs_is_reported(spack: SpackRoot) -> None:
    assert discover_one(spack.root).failure == (
        f"the Spack in {spack.root} has no install database in {spack.root}/opt/spack"
    )


def test_several_mirrors_and_trees_below_a_directory_are_all_found(tmp_path: Path) -> None:
    write_files(tmp_path, under("one", mirror_v2(ONE)) | under("deep/down/two", mirror_v3(TWO)))
    write_files(tmp_path, {"deep/env/spack.lock": LOCK, "raw/spack.yaml": b"spack: {}"})
    shutil.copytree(INSTALL_TREE.parents[1], tmp_path / "tree")
    write_page(tmp_path / "pages", [record()])

    discovered = discover_one(tmp_path)

    paths = [path for path in names(discovered, tmp_path) if "blobs" not in path]
    assert discovered.kind == "directory"
    assert sorted(paths) == [
        "deep/env/spack.lock",
        "one/build_cache/index.json",
        "pages/develop/zlib/specs.md",
        "tree/.spack-db/index.json",
    ]
    assert {ONE, TWO} <= set(contents(discovered))
    assert f"{tmp_path}/raw: the environment" in problem_text(discovered)


def test_a_broken_mirror_in_a_directory_does_not_hide_others(tmp_path: Path) -> None:
    write_files(tmp_path, under("good", mirror_v2(ONE)) | under("bad", mirror_v3(TWO)))
    shutil.rmtree(tmp_path / "bad" / "blobs")

    discovered = discover_one(tmp_path)

    assert contents(discovered) == [ONE]
    assert f"{tmp_path}/bad" in problem_text(discovered)


def test_files_that_spack_wrote_are_recognised_among_others(tmp_path: Path) -> None:
    spec = SPEC_FILES[0].read_bytes()
    write_page(tmp_path, [record()])
    write_files(
        tmp_path,
        {
            "develop.index.json": ONE,
            "packed/index.json.gz": gzip.compress(TWO),
            "site.lock": LOCK,
            "x/zlib.spec.json": spec,
            "x/signed.spec.json.sig": b"-----BEGIN PGP SIGNED MESSAGE-----\n\n" + spec,
            "x/spec.yaml": as_yaml({"spec": [{"zlib": node()}]}),
            "index.json": b"{}",
            "other.json": b'{"keys": {}}',
            "README.md": b"# Pages",
        },
    )

    discovered = discover_one(tmp_path)

    kinds = {
        Path(document.path).name: (document.kind, document.cached)
        for document in discovered.documents
    }
    assert kinds == {
        "specs.md": ("candidate", False),
        "develop.index.json": ("known", False),
        "index.json.gz": ("known", False),
        "site.lock": ("known", False),
        "zlib.spec.json": ("known", True),
        "signed.spec.json.sig": ("known", True),
        "spec.yaml": ("known", True),
        "index.json": ("candidate", False),
        "other.json": ("candidate", False),
        "README.md": ("candidate", False),
    }


def test_a_folder_of_spec_files_is_a_mirror(tmp_path: Path) -> None:
    for path in SPEC_FILES:
        shutil.copy(path, tmp_path)

    discovered = discover_one(tmp_path)

    assert (discovered.kind, discovered.layout) == ("mirror", "spec files")
    assert len(discovered.documents) == len(SPEC_FILES)


@pytest.mark.parametrize("name", ["v3", ".spack-env"])
def test_a_directory_of_pages_with_a_name_of_spacks_is_read_alone(
    name: str, tmp_path: Path
) -> None:
    write_page(tmp_path / name, [record(1)])
    write_page(tmp_path / "beside", [record(2)])

    discovered = discover_one(tmp_path / name)

    assert (discovered.kind, names(discovered, tmp_path)) == (
        "pages",
        [f"{name}/develop/zlib/specs.md"],
    )


def test_names_alone_make_no_mirror(tmp_path: Path) -> None:
    for title in ("v3", "build_cache", "bin", "lib"):
        write_page(tmp_path, [record()], title=title, tag=title)

    discovered = discover_one(tmp_path)

    assert discovered.kind == "pages"
    assert len(discovered.documents) == 4


def test_unreadable_directories_are_reported(unprivileged: Path) -> None:
    write_files(unprivileged, mirror_v2(ONE))
    (unprivileged / "build_cache").chmod(0)
    (unprivileged / "closed").mkdir(0)

    discovered = discover_one(unprivileged)
    shut = discover_one(unprivileged / "closed")
    (unprivileged / "build_cache").chmod(0o755)

    assert [problem.reason for problem in discovered.problems] == [
        "cannot be read: permission denied"
    ] * 2
    assert discovered.failure == f"the source {unprivileged} cannot be read: permission denied"
    assert shut.failure.endswith("closed cannot be read: permission denied")


# Mirrors of the user's Spack


def test_a_mirror_of_spack_goes_by_its_name(spack: SpackRoot) -> None:
    write_files(spack.root.parent / "mirror", mirror_v2(ONE))
    with serve_files(mirror_v3(TWO)) as server:
        spack.write(
            "home/.spack/mirrors.yaml",
            f"mirrors: {{near: ../../mirror, far: '{server.url}', file: 'file://{spack.root.parent}/mirror'}}",
        )
        sources = ["spack:near", "spack:far", "spack:file"]
        discovered = discover(sources, Session(spack.environ))

    assert [result.source for result in discovered] == sources
    assert [contents(result) for result in discovered] == [[ONE], [TWO], [ONE]]
    assert all(result.kind == "mirror" and not result.failure for result in discovered)
    (near,) = discovered[0].documents
    assert near.source == "spack:near"
    assert near.origin == f"{spack.root.parent}/mirror/build_cache/index.json"


def test_a_view_of_the_configuration_is_read_alone(spack: SpackRoot) -> None:
    mirror = spack.root.parent / "mirror"
    write_files(
        mirror, mirror_v3(ONE) | mirror_v3(TWO, "v3/manifests/index/two/index.manifest.json")
    )
    spack.write("home/.spack/mirrors.yaml", f"mirrors: {{m: {{url: {mirror}, view: two}}}}")

    assert contents(discover_one("spack:m", spack.environ)) == [TWO]


def test_an_unknown_mirror_of_spack_is_answered_with_those_known(spack: SpackRoot) -> None:
    spack.write(
        "home/.spack/mirrors.yaml",
        "mirrors: {one: /one, two: /two, src: {url: /src, binary: false}}",
    )

    assert discover_one("spack:x", spack.environ).failure == (
        "the source spack:x is unknown to Spack: there are spack:one, spack:two"
    )
    assert discover_one("spack:src", spack.environ).failure == (
        "the source spack:src has no binaries, only sources"
    )
    assert discover_one("spack:x").failure == "the source spack:x is unknown: no Spack was found"


def test_problems_of_the_configuration_are_listed_with_a_mirror(spack: SpackRoot) -> None:
    path = spack.write("spack/etc/spack/mirrors.yaml", "mirrors: [")
    write_files(spack.root.parent / "mirror", mirror_v2(ONE))
    spack.write("home/.spack/mirrors.yaml", "mirrors: {m: ../../mirror, n: ../../mirror}")

    one, other = discover(["spack:m", "spack:n"], Session(spack.environ))
    assert f"{path}: cannot be read: line " in problem_text(one)
    assert (other.problems, contents(other)) == ((), [ONE])
    path.unlink()
    spack.write("home/.spack/mirrors.yaml", "mirrors: [")
    assert "cannot be read: line " in discover_one("spack:", spack.environ).failure


# Several at once


def test_a_failing_source_does_not_hide_others(tmp_path: Path) -> None:
    write_files(tmp_path / "m", mirror_v2(ONE))
    with serve_files(mirror_v3(TWO)) as server:
        sources = [str(tmp_path / "none"), server.url, "http://127.0.0.1:1", str(tmp_path / "m")]
        discovered = discover(sources, Session({}))

    assert [result.source for result in discovered] == sources
    assert [bool(result.failure) for result in discovered] == [True, False, True, False]
    assert [contents(result) for result in discovered] == [[], [TWO], [], [ONE]]


def test_a_failure_names_its_source(spack: SpackRoot) -> None:
    spack.write("home/.spack/mirrors.yaml", "mirrors: {far: 'http://127.0.0.1:1/m'}")
    tag_list = {"SPACKSCOPE_PUBLIC": "http://127.0.0.1:1/c.json", **spack.environ}

    for source in ("http://127.0.0.1:1/m", "spack:far", "public:v1"):
        failure = discover_one(source, tag_list).failure
        assert failure.startswith(f"the source {source} cannot be read: ")
        assert "127.0.0.1:1 cannot be reached" in failure


def test_remote_sources_are_waited_for_in_parallel() -> None:
    everyone = threading.Barrier(4, timeout=PATIENCE)

    def script(exchange: Exchange) -> None:
        if exchange.request.path.endswith("/v3/manifests/index/index.manifest.json"):
            everyone.wait()
        exchange.respond(404)

    with serving() as server:
        server.default = script
        discovered = discover([f"{server.url}/{number}" for number in range(4)], Session({}))

    assert ["has no index" in result.failure for result in discovered] == [True] * 4


def test_waiting_ends_as_soon_as_it_is_cancelled() -> None:
    with serving() as server:
        server.default = is_silent
        session = Session({}, should_stop=lambda: server.waiting > 0)
        with pytest.raises(Cancelled):
            discover([server.url, f"{server.url}/other"], session)


def test_a_discovery_can_be_stopped_before_it_begins(tmp_path: Path) -> None:
    write_page(tmp_path, [record()])

    for sources in ([str(tmp_path)], [str(tmp_path), "http://127.0.0.1:1"]):
        with pytest.raises(Cancelled):
            discover(sources, Session({}, should_stop=lambda: True))


def test_no_secret_is_shown() -> None:
    with serve_files(mirror_v2(ONE)) as server:
        host = server.url.removeprefix("http://")
        sources = [f"http://ada:s3cret@{host}{end}?token=s3cret" for end in ("", "/none")]
        discovered, none = discover(sources, Session({}))

    assert contents(discovered) == [ONE]
    assert discovered.source == next(iter(discovered.documents)).source == f"{server.url}?…"
    assert "has no index" in none.failure
    assert "s3cret" not in repr((discovered, none))


def test_sources_that_differ_only_in_secrets_are_numbered(tmp_path: Path) -> None:
    walk = {"a/index.json": ONE, "b/index.json": TWO}

    def script(exchange: Exchange) -> None:
        top = parse_qs(urlsplit(exchange.request.target).query)["sig"][0]
        data = walk.get(top + exchange.request.path)
        exchange.respond(404) if data is None else exchange.respond(200, data)

    with serving() as server:
        server.default = script
        sources = [f"{server.url}/index.json?sig={each}" for each in ("a", "b", "c")]
        sources += ["http:/u:a@h", "http:/u:b@h"]
        discovered = discover(sources, Session({}))
        catalog = load(sources, Session({"XDG_CACHE_HOME": str(tmp_path)}))

    shown = f"{server.url}/index.json?…"
    names = [shown, f"{shown} (2)", f"{shown} (3)", "http:/…@h", "http:/…@h (2)"]
    assert [result.source for result in discovered] == names
    assert [document.source for result in discovered for document in result.documents] == names[:2]
    assert [contents(result) for result in discovered[:2]] == [[ONE], [TWO]]
    assert [state.name for state in catalog.sources] == names


def test_any_error_of_a_source_is_its_failure_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = [ValueError("https://u:hunter2@h"), KeyError("hunter2"), RecursionError("hunter2")]
    broken = {str(tmp_path / type(error).__name__): error for error in errors}
    for source in broken:
        Path(source).mkdir()
    write_files(tmp_path / "m", mirror_v2(ONE))

    def discover_directory(source: str, *args: Any, **options: Any) -> DiscoveredSource:
        if source in broken:
            raise broken[source]
        return directory.discover_directory(source, *args, **options)

    monkeypatch.setattr(discover_module, "discover_directory", discover_directory)
    discovered = discover([*broken, str(tmp_path / "m"), "http://127.0.0.1:1"], Session({}))

    for result, (source, error) in zip(discovered, broken.items(), strict=False):
        said = (
            f"the source {source} cannot be read: unexpected {type(error).__name__} (test_discover"
        )
        assert result.failure.startswith(said)
        assert "hunter2" not in result.failure
    assert contents(discovered[len(broken)]) == [ONE]


def test_sources_are_read_though_no_thread_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path / "m", mirror_v2(ONE))

    def start(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    # A remote one makes them go side by side; its name is refused before anything is fetched.
    discovered = discover([str(tmp_path / "m"), "spack:far"], Session({"HOME": str(tmp_path)}))

    assert contents(discovered[0]) == [ONE]
    assert discovered[1].failure

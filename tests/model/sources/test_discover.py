"""Sources are recognised by their content, and one that fails hides no other."""

import gzip
import os
import shutil
import threading
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.tasks import cancelled_when
from spackscope.model.index.load import load
from spackscope.model.sources import discover as discover_module
from spackscope.model.sources.discover import discover, discover_directory, kind_of
from spackscope.model.sources.document import DiscoveredSource
from spackscope.model.sources.session import Session
from tests.builders.manifests import Files
from tests.builders.mirrors import (
    contents,
    discover_one,
    mirror_v2,
    mirror_v3,
    problem_text,
    serve_files,
    write_files,
)
from tests.builders.nodes import node
from tests.builders.pages import record, write_page
from tests.builders.spack import INSTALL_TREE, SPEC_FILES, SpackRoot, as_yaml, zlib_index
from tests.program import PATIENCE
from tests.web_server import Exchange, is_silent, serving

ONE, TWO = zlib_index(version="1.1"), zlib_index(version="1.2")
LOCK = b'{"_meta": {"lockfile-version": 6}, "roots": [], "concrete_specs": {}}'


def names(discovered: DiscoveredSource, top: Path) -> list[str]:
    return [str(Path(document.path).relative_to(top)) for document in discovered.documents]


@pytest.mark.parametrize(
    ("source", "failure"),
    [
        ("{top}/none", "the source {top}/none does not exist"),
        ("file://{top}/none", "the source file://{top}/none does not exist"),
        ("/dev/null", "the source /dev/null is neither a file nor a directory"),
        ("a\0b", "the source a\0b cannot be read: its name has a NUL"),
        ("ftp://example.org/x", "the source ftp://example.org/x: ftp:// is not supported"),
        ("s3:///x", "s3:///x is not a valid URL: it has no bucket"),
        ("file://u:secret@there{top}", "file://there{top} names files of there, another machine"),
        ("http:/u:secret@h/x?k=secret", "the source http:/…@h/x?… does not exist"),
        ("u:secret@{name}", "./…@{name} does not exist"),
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


PADDED = "padded/__spack_path_placeholder__/__spack_path_pl"
V3_INDEX = next(name for name in mirror_v3(TWO) if name.startswith("blobs/"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with one of all that Spack makes."""
    top = tmp_path_factory.mktemp("site")
    for tree in ("tree", PADDED):
        shutil.copytree(INSTALL_TREE.parents[1], top / tree)
    write_files(top / "tree", {"linux-x86/zlib/.spack/spec.json": b"{}", "README": b""})
    write_files(top / "env", {"spack.yaml": b"spack: {}", "spack.lock": LOCK, ".spack-env/x": b""})
    write_files(top / "deep/down/v2", mirror_v2(ONE))
    write_files(top / "v3mirror", mirror_v3(TWO))
    write_files(top / "specs", {path.name: path.read_bytes() for path in SPEC_FILES})
    for number, name in enumerate(("v3", ".spack-env", "build_cache", "bin")):
        # Names alone make nothing.
        write_page(top / "pages" / name, [record(number)])
    return top


TREE, ENV = ["tree/.spack-db/index.json"], ["env/spack.lock"]
V2, V3 = ["deep/down/v2/build_cache/index.json"], [f"v3mirror/{V3_INDEX}"]
SPECS = [f"specs/{path.name}" for path in SPEC_FILES]
PAGES = [
    f"pages/{name}/develop/zlib/specs.md" for name in (".spack-env", "bin", "build_cache", "v3")
]


@pytest.mark.parametrize(
    ("below", "kind", "layout", "found"),
    [
        ("tree", "install tree", "", TREE),
        ("tree/.spack-db", "install tree", "", TREE),
        ("padded", "install tree", "", [f"{PADDED}/.spack-db/index.json"]),
        ("env", "environment", "", ENV),
        ("env/.spack-env", "environment", "", ENV),
        ("deep/down/v2", "mirror", "v2", V2),
        ("deep/down/v2/build_cache", "mirror", "v2", V2),
        ("deep", "mirror", "v2", V2),
        ("v3mirror", "mirror", "v3", V3),
        ("v3mirror/v3", "mirror", "v3", V3),
        ("v3mirror/v3/manifests/index/index.manifest.json", "mirror", "v3", V3),
        ("specs", "mirror", "spec files", SPECS),
        ("pages", "pages", "", PAGES),
        ("pages/v3", "pages", "", PAGES[-1:]),
        ("pages/.spack-env", "pages", "", PAGES[:1]),
        (
            "",
            "directory",
            "spec files and v2 and v3",
            [*PAGES, *SPECS, *V2, *ENV, f"{PADDED}/.spack-db/index.json", *TREE, *V3],
        ),
    ],
)
def test_what_spack_made_is_found(
    below: str, kind: str, layout: str, found: list[str], site: Path
) -> None:
    discovered = discover_one(site / below)

    assert (discovered.kind, discovered.layout, discovered.problems) == (kind, layout, ())
    assert names(discovered, site) == found
    for document in discovered.documents:
        assert document.origin == document.path
        assert document.cached is any(name in document.path for name in ("specs/", "v2", "blobs"))
        assert document.kind == ("candidate" if document.path.endswith(".md") else "known")


@pytest.mark.parametrize(
    ("files", "failure"),
    [
        ({".spack-db/x": b""}, "{top}/.spack-db/index.json cannot be read: no such"),
        ({".spack-db": b""}, "cannot be read: "),
        ({"spack.yaml": b""}, "it has no spack.lock; create one with `spack -e {top} concretize`"),
        ({"bin/spack": b"", "lib/spack/spack/x": b""}, "no install database in {top}/opt/spack"),
    ],
)
def test_what_spack_made_and_cannot_be_read_hides_nothing_else(
    files: Files, failure: str, tmp_path: Path
) -> None:
    top = write_files(tmp_path / "bad", files)
    write_files(tmp_path / "good", mirror_v2(ONE))
    alone, both = discover_one(top), discover_one(tmp_path)

    assert failure.format(top=top) in alone.failure
    assert contents(both) == [ONE]
    assert failure.format(top=top) in problem_text(both)


def test_a_spack_is_the_install_trees_that_it_uses(spack: SpackRoot) -> None:
    tree = spack.install("elsewhere")
    spack.write("spack/etc/spack/config.yaml", f"config: {{install_tree: {{root: {tree}}}}}")

    discovered = discover_one(spack.root, {"HOME": str(spack.home)})

    (document,) = discovered.documents
    assert (discovered.kind, document.origin) == ("install tree", f"{tree}/.spack-db/index.json")


def test_files_that_spack_wrote_are_recognised_among_others(tmp_path: Path) -> None:
    spec = SPEC_FILES[0].read_bytes()
    write_page(tmp_path, [record()])
    known = {
        "develop.index.json": (ONE, False),
        "packed/index.json.gz": (gzip.compress(TWO), False),
        "site.lock": (LOCK, False),
        "x/zlib.spec.json": (spec, True),
        "x/signed.spec.json.sig": (b"-----BEGIN PGP SIGNED MESSAGE-----\n\n" + spec, True),
        "x/spec.yaml": (as_yaml({"spec": [{"zlib": node()}]}), True),
    }
    write_files(tmp_path, {name: data for name, (data, _) in known.items()})
    write_files(tmp_path, {"index.json": b"{}", "other.json": b'{"keys": {}}', "README.md": b"#"})

    documents = discover_one(tmp_path).documents
    kinds = {document.kind: set[tuple[str, bool]]() for document in documents}
    for document in documents:
        name = os.path.relpath(document.path, tmp_path)
        kinds[document.kind].add((name, document.cached))
    others = ("index.json", "other.json", "README.md", "develop/zlib/specs.md")
    assert kinds == {
        "known": {(name, cached) for name, (_, cached) in known.items()},
        "candidate": {(name, False) for name in others},
    }


def test_the_kind_of_a_folder_or_file_is_known_without_reading_it(
    site: Path, tmp_path: Path
) -> None:
    write_files(tmp_path, {"site.lock": LOCK, "other.lock": b"{}", "some.json": ONE})
    for path in ("tree", "env", "v3mirror", "deep/down/v2"):
        assert kind_of(str(site / path)) == discover_one(site / path).kind
    kinds = {each.name: kind_of(str(each)) for each in tmp_path.glob("*.*")}
    assert kinds == {"site.lock": "environment", "other.lock": "", "some.json": "file"}
    assert kind_of(str(site / "pages")) == kind_of(str(tmp_path / "gone")) == ""


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


def test_a_configuration_that_is_unread_is_why_there_is_no_mirror(spack: SpackRoot) -> None:
    spack.write("home/.spack/mirrors.yaml", "mirrors: [")
    assert "mirrors.yaml: " in discover_one("spack:", spack.environ).failure


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

    with serving(script) as server:
        discovered = discover([f"{server.url}/{number}" for number in range(4)], Session({}))

    assert ["has no index" in result.failure for result in discovered] == [True] * 4


def test_waiting_ends_as_soon_as_it_is_cancelled() -> None:
    with (
        serving(is_silent) as server,
        pytest.raises(Cancelled),
        cancelled_when(lambda: server.waiting > 0),
    ):
        discover([server.url, f"{server.url}/other"], Session({}))


def test_sources_that_differ_only_in_secrets_are_numbered(tmp_path: Path) -> None:
    walk = {"a/index.json": ONE, "b/index.json": TWO}

    def script(exchange: Exchange) -> None:
        top = parse_qs(urlsplit(exchange.request.target).query)["sig"][0]
        data = walk.get(top + exchange.request.path)
        exchange.respond(404) if data is None else exchange.respond(200, data)

    with serving(script) as server:
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

    def failing(source: str, *args: Any, **options: Any) -> DiscoveredSource:
        if source in broken:
            raise broken[source]
        return discover_directory(source, *args, **options)

    monkeypatch.setattr(discover_module, "discover_directory", failing)
    discovered = discover([*broken, str(tmp_path / "m"), "http://127.0.0.1:1"], Session({}))

    for result, (source, error) in zip(discovered, broken.items(), strict=False):
        said = (
            f"the source {source} cannot be read: unexpected {type(error).__name__} (test_discover"
        )
        assert result.failure.startswith(said)
        assert "hunter2" not in result.failure
    assert contents(discovered[len(broken)]) == [ONE]

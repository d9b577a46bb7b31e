"""Needs are the closures that Spack fetches: its own answers are in `closures.jsonl.xz`."""

import json
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spackscope.model.analysis.needs import NeededSpec, Needs, add_sizes, read_needs
from spackscope.model.core.columns import sizes_text
from spackscope.model.index.catalog import Catalog
from spackscope.model.sources.session import Session
from tests.builders.catalogs import catalog_of
from tests.builders.manifests import ARCHIVE_TYPE, entry, manifest
from tests.builders.mirrors import mirror_v3, serve_files
from tests.builders.nodes import GCC, GLIBC, ZLIB, edge, leaf, node, zlib_nodes
from tests.builders.pages import record, write_page
from tests.builders.spack import SPACK_DATA, write_index, zlib_index

CLOSURES = SPACK_DATA / "analysis" / "closures.jsonl.xz"


def needs_of(catalog: Catalog, hash_: str) -> Needs:
    needs = read_needs(catalog, [catalog.by_hash(hash_)[0].id], to_build=True)
    assert needs is not None
    return needs


def hashes(specs: Iterable[NeededSpec]) -> list[str]:
    return [each.spec.hash for each in specs]


def cut(specs: Iterable[NeededSpec]) -> str:
    return " ".join(sorted(hash_[:7] for hash_ in hashes(specs)))


def test_needs_are_those_of_spack(whole_catalogs: dict[str, Catalog]) -> None:
    for line in lzma.decompress(CLOSURES.read_bytes()).splitlines():
        case: dict[str, Any] = json.loads(line)
        catalog = whole_catalogs[case["index"]]
        (hash_,) = catalog.hashes.first(case["hash"], limit=2)
        needs = needs_of(catalog, hash_)
        assert {
            "needs": cut(needs.specs),
            "externals": cut(needs.externals),
            "build_only": cut(needs.build_only),
            "not_cached": cut(each for each in needs.specs if not each.spec.cached),
            "external_paths": sorted({each.spec.external for each in needs.externals}),
        } == {key: case[key] for key in case if key not in ("index", "hash")}, hash_
        assert needs.specs[0].spec.hash == hash_
        assert not needs.is_unknown


def sizes_of(needs: Needs) -> str:
    return sizes_text([each.spec.size for each in needs.to_fetch])


def test_what_another_source_has_counts_once(tmp_path: Path) -> None:
    glibc = leaf(GLIBC, "glibc", "2.39")
    sources = (
        write_index(tmp_path / "cache.json", *zlib_nodes()),
        write_index(tmp_path / "tree.json", glibc, installed=True, path="/opt/glibc"),
        write_page(tmp_path / "v1.md", [record(1), record(3)], tag="v1"),
    )
    needs = needs_of(catalog_of(*sources), ZLIB)
    assert hashes(needs.specs) == [ZLIB, GLIBC]
    assert [each.spec.installed for each in needs.specs] == [False, True]
    assert (hashes(needs.to_fetch), sizes_of(needs)) == ([ZLIB], "size unknown")


def test_an_external_has_its_prefix_and_its_modules(tmp_path: Path) -> None:
    external = {"path": "/usr", "module": ["glibc/2.39"], "extra_attributes": {}}
    glibc = node(GLIBC, name="glibc", dependencies=..., external=external)
    zlib = node(dependencies=[edge("glibc", GLIBC, ["link"], ["libc"])])
    (needed,) = needs_of(catalog_of(write_index(tmp_path, zlib, glibc)), ZLIB).externals
    assert (needed.spec.external, needed.spec.external_modules) == ("/usr", ("glibc/2.39",))
    assert (needed.is_direct, needed.virtuals) == (True, ("libc",))


def test_an_absent_dependency_leaves_the_rest_unknown(tmp_path: Path) -> None:
    for deptype, is_unknown in (("link", True), ("build", False)):
        zlib = node(dependencies=[edge("gcc", GCC, [deptype])])
        needs = needs_of(catalog_of(write_index(tmp_path, zlib)), ZLIB)
        assert needs.is_unknown == is_unknown
        (gcc,) = [spec for spec in (*needs.specs, *needs.build_only) if spec.is_absent]
        assert (gcc.spec.package, gcc.spec.hash, gcc.spec.states) == ("gcc", GCC, ())


def test_sizes_are_fetched_from_a_remote_mirror(tmp_path: Path) -> None:
    name = f"v3/manifests/spec/zlib/zlib-1.3.1-{ZLIB}.spec.manifest.json"
    archive = entry(ARCHIVE_TYPE, b"", contentLength=1234)
    with serve_files(mirror_v3(zlib_index()) | {name: manifest(archive)}) as server:
        session = Session({"XDG_CACHE_HOME": str(tmp_path)})
        catalog = catalog_of(server.url)
        needs = needs_of(catalog, ZLIB)
        offline = add_sizes(needs, catalog, session, [server.url], is_offline=True)
        assert sizes_of(offline) == "size unknown"
        fetched = add_sizes(needs, catalog, session, [server.url])
        kept = add_sizes(needs, catalog, session, [server.url], is_offline=True)
    assert sizes_of(fetched) == "1.2 kB + 1 unknown"
    assert kept == fetched

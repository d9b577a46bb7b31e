"""Summaries of packages: the newest version, and what runs on the host."""

from pathlib import Path

import pytest

from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.parser import parse
from spackscope.model.report.titles import PackageSummary, Summaries, package_summaries
from tests.builders.catalogs import catalog_of, on_host
from tests.builders.nodes import node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import write_index


@pytest.fixture(scope="module")
def catalog(whole_catalogs: dict[str, Catalog]) -> Catalog:
    return on_host(whole_catalogs["spack1"], "target=x86_64_v3 glibc=2.35 os=ubuntu22.04")


def summaries_of(catalog: Catalog, text: str, *names: str) -> dict[str, PackageSummary]:
    """Return the summaries that are whole, by the names of the packages."""
    query = parse(text)
    packages = [p for p in catalog.packages(query) if not names or p.name in names]
    whole: Summaries = {}
    for some in package_summaries(catalog, query, packages):
        whole.update(some)
    return {package.name: whole[package.id] for package in packages}


@pytest.mark.parametrize("text", ["", "+mpi", "target=:x86_64_v3", "target=neoverse_v2"])
def test_what_matches_of_a_package_is_summarised(catalog: Catalog, text: str) -> None:
    query = parse(text)
    for name, summary in summaries_of(catalog, text, "hdf5", "zlib-ng", "mpich").items():
        ids = catalog.match(query.with_package(name))
        specs = [row.spec for row in catalog.rows(list(ids))]
        if not specs:
            continue
        assert summary.is_whole
        assert summary.newest == max((spec.version for spec in specs), key=version_key)
        assert summary.running == catalog.count(query.with_package(name).plus(parse("fits")))


def test_pages_do_not_tell_what_runs(tmp_path: Path) -> None:
    write_page(tmp_path, [record(n, versions=["1.9", "1.10"][n : n + 1]) for n in range(2)])
    catalog = catalog_of(tmp_path)
    host = "target=zen3 glibc=2.35"
    for on, running in ((catalog, None), (on_host(catalog, host), None)):
        (summary,) = summaries_of(on, "").values()
        assert (summary.newest, summary.running) == ("1.10", running)
    arch = {"platform": "linux", "platform_os": "rocky9", "target": "zen3"}
    index = write_index(tmp_path / "index.json", node(hash_of(9), arch=arch, dependencies=[]))
    (summary,) = summaries_of(on_host(catalog_of(tmp_path / "develop", index), host), "").values()
    assert summary.running == 1

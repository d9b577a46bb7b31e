"""The host of a session, and the externals of its Spack."""

from pathlib import Path

import pytest

from spackscope.model.analysis.host import Host, detect_host
from spackscope.model.analysis.session_fit import attach_fit, fit_of, host_of
from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import replace
from spackscope.model.core.machine import Libc
from spackscope.model.core.records import RECIPES
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import ZLIB, node
from tests.builders.spack import SpackRoot, environment, write_index
from tests.model.analysis.cases import named

AT = "prefix: /opt/zlib, modules: [zlib/1]"


def test_the_host_is_described_or_this_machine() -> None:
    zen3 = Host("linux", "", "zen3", Libc("glibc", "2.34"))
    session = Session({"SPACKSCOPE_HOST": "target=zen3 glibc=2.34"})
    assert host_of(session) == zen3
    assert host_of(session).where == "on zen3"
    assert host_of(replace(session, host="target=m1")) == Host("darwin", "", "m1")
    assert host_of(Session({})) == detect_host()
    assert host_of(Session({})).where == "here"
    with pytest.raises(QueryError):
        host_of(replace(session, host="rhel8"))


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """Index a zlib for this machine that was not built by Spack."""
    host = detect_host()
    arch = {"platform": host.platform, "platform_os": host.os, "target": host.target}
    external = {"path": "/opt/zlib", "module": ["zlib/1"], "extra_attributes": {}}
    zlib = node(arch=arch, external=external, dependencies=[])
    return catalog_of(write_index(tmp_path, zlib))


def environ_of(path: Path, external: str) -> dict[str, str]:
    """Return the environment of a Spack whose packages.yaml lists an external."""
    spack = SpackRoot(path)
    text = f"packages:\n  zlib:\n    externals:\n    - {external}\n"
    spack.write("home/.spack/packages.yaml", text)
    return spack.environ


@pytest.mark.parametrize(
    ("entry", "is_listed"),
    [
        *((f"{{spec: {spec}, {AT}}}", True) for spec in ("zlib@1.3.1 +shared", "'zlib@1.3%gcc'")),
        *((f"{{spec: {spec}, {AT}}}", False) for spec in ("zlib@1.2", "zlib-ng", "'@@'")),
        ("{spec: zlib@1.3.1, prefix: /opt/zlib}", False),
        ("{spec: zlib@1.3.1, prefix: /usr, modules: [zlib/1]}", False),
        *(("{prefix: /opt/zlib}", False), ("zlib", False)),
    ],
)
def test_an_external_is_reused_if_packages_yaml_lists_it(
    entry: str, is_listed: bool, catalog: Catalog, tmp_path: Path
) -> None:
    attach_fit(catalog, Session(environ_of(tmp_path, entry)))
    (id_,) = catalog.match(parse(f"/{ZLIB}"))
    fit = fit_of(catalog, id_)
    assert fit is not None
    assert (fit.fits, fit.reusable) == (True, is_listed)
    assert [reason.rule.name for reason in fit.reasons] == [] if is_listed else ["external"]


def test_the_configuration_declares_systems_compatible(spack: SpackRoot, tmp_path: Path) -> None:
    arch = {"platform": "darwin", "platform_os": "tahoe", "target": "m1"}
    index = write_index(tmp_path, node(arch=arch, dependencies=[]))
    text = "concretizer: {os_compatible: {sonoma: [sequoia], sequoia: [tahoe]}}"
    for configuration, is_reusable in (("concretizer: {}", False), (text, True)):
        spack.write("home/.spack/concretizer.yaml", configuration)
        catalog = attach_fit(catalog_of(index), Session(spack.environ, host="os=sonoma target=m1"))
        fit = fit_of(catalog, 0)
        assert fit is not None
        assert (fit.fits, fit.reusable) == (False, is_reusable)


def test_the_externals_of_this_machine_are_not_those_of_another(
    catalog: Catalog, tmp_path: Path
) -> None:
    host, environ = detect_host(), environ_of(tmp_path, f"{{spec: zlib, {AT}}}")
    described = f"target={host.target} platform={host.platform}"
    attach_fit(catalog, Session(environ, host=described))
    fit = fit_of(catalog, 0)
    assert fit is not None
    assert fit.reusable is False


def test_nothing_is_checked_before_it_is_asked_for(catalog: Catalog) -> None:
    assert fit_of(catalog, 0) is None
    attach_fit(catalog, Session({}))
    assert catalog.rows([0])[0].spec.fit is None
    assert catalog.count(parse("fits")) == 1
    fit = catalog.rows([0])[0].spec.fit
    assert fit is not None
    assert fit.fits is True


@pytest.mark.parametrize(
    ("version", "of_formats"),
    [
        ("0.23.1", {4: "", 5: "1.0", 6: "1.3"}),
        *(("0.20.3", {3: "", 4: "0.21"}), ("1.1.0", {4: "", 5: ""})),
        *(("1.2.1", {5: "", 6: "1.3"}), ("1.3.0.dev0", {5: "", 6: ""})),
        ("1.2.0.dev0", {4: "before", 5: ""}),
    ],
)
def test_the_formats_are_those_of_the_spack(
    spack: SpackRoot, tmp_path: Path, version: str, of_formats: dict[int, str]
) -> None:
    spack.write("spack/lib/spack/spack/__init__.py", f'__version__ = "{version}"\n')
    for number, since in of_formats.items():
        zlib = node(dependencies=[], annotations={"original_specfile_version": number})
        # Of a database its own version counts.
        path = tmp_path / "spack.lock"
        path.write_bytes(environment([zlib], ZLIB))
        catalog = catalog_of(path)
        attach_fit(catalog, Session(spack.environ, host="zen3"))
        fit = fit_of(catalog, catalog.by_hash(ZLIB)[0].id)
        assert fit is not None
        reasons = [f"{named(r)}: {r.sentence}" for r in fit.reasons if "format" in r.rule.name]
        refused = {
            "": "",
            "before": "old-format: built before Spack 1.0, in format 4 (Spack since 2026 needs 5)",
        }.get(
            since,
            f"newer-format: built by Spack {since} or later, which Spack {version} cannot read",
        )
        assert "".join(reasons) == refused


@pytest.mark.parametrize(
    ("version", "uses_rules", "is_said"),
    [("1.2.1", True, False), ("1.3.0.dev0", True, True), ("1.3.0", False, False)],
)
def test_deprecated_versions_are_unknown_where_spack_does_not_reuse_them(
    catalog: Catalog, spack: SpackRoot, version: str, uses_rules: bool, is_said: bool
) -> None:
    spack.write("spack/lib/spack/spack/__init__.py", f'__version__ = "{version}"\n')
    attach_fit(catalog, Session(spack.environ, host="zen3", uses_rules=uses_rules))
    gaps = [(gap.ground, gap.problem.reason) for gap in catalog.gaps()]
    sentence = "only recipes tell which versions are deprecated; this Spack does not reuse those"
    assert gaps == [(RECIPES, sentence)] * is_said
    assert catalog.gaps(with_configuration=False) == []

"""What the configuration keeps from being reused is held to what Spack selects."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.host import parse_host
from spackscope.model.analysis.reuse import find_kept_out
from spackscope.model.core.rules import PACKAGES, PREFERRED, REUSE, Rule
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.parser import parse
from spackscope.model.sources.spack_config import ConfiguredExternal, ReuseRules, read_reuse_rules
from tests.builders.catalogs import catalog_of
from tests.builders.mirrors import write_files
from tests.builders.nodes import GCC, ZLIB, edge, leaf, node
from tests.builders.pages import hash_of
from tests.builders.spack import SPACK_DATA, SpackRoot, environment, write_index
from tests.examples import some_and_all
from tests.model.analysis.cases import ids_in, named

RULES = json.loads((SPACK_DATA / "analysis" / "reuse_rules.json").read_text())
"""For values of concretizer:reuse how many hashes are selected from a source, and their digest.

`ReusableSpecsSelector` selected them from all that is cached: that of Spack 1.2.0.dev0 (9cf66332)
from spack1, and that of 0.23.1 from spack0.
"""

SOLVED = json.loads((SPACK_DATA / "analysis" / "packages_rules.json").read_text())
"""For values of `packages` how hashes begin that Spack reuses, and that it refuses.

The solver of Spack 1.2.0.dev0 (`spack.solver.asp.Solver().solve`) was asked for `NAME@=VERSION`,
with `concretizer:reuse:include` of the spec and all that it depends on, and `buildable: false` for
every package. That Spack pushed packages_rules.index.json.gz, an index of packages without code:
tiny-app links tiny-mid, tiny-both and a provider of xapi, runs tiny-run, and builds with tiny-tool
and a provider of xgen; tiny-mid links tiny-deep.
"""

RUNTIMES = json.loads((SPACK_DATA / "analysis" / "runtime_rules.json").read_text())
"""For compilers and values of `packages` how hashes begin that Spack reuses, and that it refuses.

Spack 1.2.0.dev0 was asked for each `NAME@=VERSION` (`spack.concretize.concretize_one`), with the
gcc of these versions in packages.yaml and with runtime_rules.index.json.gz as its only mirror: its
specs were concretized with a gcc 11.4.0 and a gcc 12.2.0, and tiny-data with none.
"""

PREFERENCES = json.loads((SPACK_DATA / "analysis" / "preferences.json").read_text())
"""For values of `packages` how hashes begin that Spack reuses for `NAME`, and that it does not.

Spack 1.2.0.dev0 was asked for each `NAME`, with gcc 12.2.0 and 13.2.0 in packages.yaml and with
preferences.index.json.gz as its only mirror: tiny-bb in it links a tiny-aa that is ~shared, and
both were built with the gcc 13.2.0.
"""

IMPOSSIBLE = ['{"tiny-aa": {"prefer": ["@9"]}}', '{"tiny-aa": {"prefer": ["%gcc@11"]}}']
"""The values of `packages` in PREFERENCES of which only recipes and compilers say that."""

VERSIONS = {"spack0": "0.23.1", "spack1": "1.2.0.dev0"}

UNDECIDED = [
    '{tiny-app: {conflict: ["^xapi@1"]}}',
    '{tiny-app: {require: ["^xapi@1"]}}',
    '{tiny-app: {conflict: [{spec: "@1:", when: "^xapi@1"}]}}',
    '{tiny-app: {conflict: ["+nothing"]}}',
    '{xapi: {conflict: [{spec: "tiny-one", when: "%gcc"}]}}',
    '{xapi: {conflict: ["@2:"]}}',
    '{c: {require: [{spec: "gcc@13", when: "%gcc"}]}}',
    '{c: {conflict: [{spec: "gcc@12", when: "os=debian12"}]}}',
    '{all: {require: ["^nothing"]}}',
    '{all: {require: ["%nothing"]}}',
]
"""The values of `packages` in SOLVED that only recipes decide."""

SELECTING = {"under-development", "compiler-wrapper", "external", "compiler-runtime"}
SELECTING |= {"old-format", "newer-format", "newer-index", "concretizer-reuse", "mirror-filter"}
"""The rules of `ReusableSpecsSelector`."""

REUSED = "concretizer-reuse"

HOST = parse_host("target=zen3 glibc=2.35")
MPI, HDF5 = hash_of(8), hash_of(9)


def rules_of(spack: SpackRoot) -> ReuseRules:
    return read_reuse_rules(spack.config())


def fit_of(
    catalog: Catalog,
    rules: ReuseRules,
    spack_version: str = "",
    externals: Sequence[ConfiguredExternal] = (),
) -> HostFit:
    found = find_kept_out(catalog, rules, externals=externals)
    return HostFit(catalog, HOST, find_kept_out=lambda: found, spack_version=spack_version)


def selected(catalog: Catalog, rules: ReuseRules, spack_version: str) -> set[str]:
    """Return the hashes of what is cached and is selected."""
    fit = fit_of(catalog, rules, spack_version)
    codes, fits = fit.coded()
    refused = [any(named(r) in SELECTING for r in each.reasons) for each in fits]
    rows = catalog.rows(range(catalog.total))
    return {r.spec.hash for r in rows if r.spec.cached and not refused[codes[r.id]]}


def solved_index(name: str) -> Catalog:
    """Index the specs of which Spack was asked."""
    index = SPACK_DATA / "analysis" / f"{name}.index.json.gz"
    return catalog_of(index, dependency_only=True)


def refused_by(rule: Rule, case: dict[str, str], catalog: Catalog, fit: HostFit) -> set[str]:
    """Return how the hashes of a case begin that a rule refuses."""
    asked, ids = f"{case['reused']} {case['refused']}".split(), ids_in(catalog)
    return {h for h in asked if any(reason.rule is rule for reason in fit.of(ids[h]).reasons)}


@some_and_all(12)
def test_spack_selects_the_same(
    whole_catalogs: dict[str, Catalog], spack: SpackRoot, step: int
) -> None:
    for case in RULES[::step]:
        catalog, version = whole_catalogs[case["source"]], VERSIONS[case["source"]]
        # JSON is YAML. Of a text that ends in a colon Spack drops one, unless it has a @.
        text = json.dumps({"concretizer": {"reuse": case["reuse"]}})
        text = re.sub(r'"([^"@]*:)"(?!:)', r'"\1:"', text)
        spack.write("home/.spack/concretizer.yaml", text)
        hashes = selected(catalog, rules_of(spack), version)
        digest = hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()
        assert (len(hashes), digest[:16]) == (case["count"], case["digest"]), case["reuse"]


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """Index a cache with gcc, zlib, and hdf5 that links it and an mpich."""
    by_gcc = edge("gcc", GCC, ["build"], ["c"])
    edges = [by_gcc, edge("zlib", ZLIB, ["link"]), edge("mpich", MPI, ["link"], ["mpi"])]
    nodes = [
        leaf(GCC, "gcc", "13.2.0"),
        node(ZLIB, dependencies=[by_gcc]),
        node(MPI, name="mpich", version="4.2", dependencies=[by_gcc]),
        node(HDF5, name="hdf5", version="1.14", dependencies=edges),
    ]
    return catalog_of(write_index(tmp_path, *nodes))


@pytest.mark.parametrize(
    ("packages", "refused"),
    [
        ("{hdf5: {require: '@1.12'}}", "hdf5 packages-yaml requires @1.12"),
        ("{hdf5: {require: '@1.14'}}", ""),
        ("{hdf5: {require: [{any_of: ['@1.12', '@1.14']}]}}", ""),
        ("{hdf5: {require: [{one_of: ['@1.14', '^zlib']}]}}",
         "hdf5 packages-yaml requires @1.14 or ^zlib"),
        ("{hdf5: {require: [{spec: '@1.12', when: '^openmpi'}]}}", ""),
        ("{zlib: {require: [{spec: '@2', when: '%gcc'}]}}",
         ""),
        ("{hdf5: {require: [{spec: '@1.12', when: '^mpich'}]}}",
         "hdf5 packages-yaml requires @1.12"),
        ("{mpi: {require: mpich@4}}", ""),
        ("{mpi: {require: openmpi}}", "hdf5 packages-yaml requires openmpi for mpi"),
        # A compiler has none, and what does not have the variant cannot have it.
        ("{all: {require: '%gcc@13'}}", ""),
        ("{all: {require: +nothing}}", ""),
        ("{all: {require: '@9'}, hdf5: {require: '@1'}, zlib: {require: '@1'}, mpich: "
         "{require: '@4'}}",
         "gcc packages-yaml requires @9"),
        ("{all: {require: '%clang'}, hdf5: {require: '@1.14'}, mpich: {require: '@4'}}",
         "hdf5 ^packages-yaml requires %clang, zlib packages-yaml requires %clang"),
        ("{hdf5: {buildable: false, prefer: ['@1.12']}}", ""),
        # A default counts only as far as a package can match it.
        ("{all: {require: [{any_of: ['+nothing', '%gcc']}]}}", ""),
        ("{zlib: {conflict: ['@2', '%gcc@13']}}", ""),
        ("{hdf5: {conflict: ['^zlib']}}", "hdf5 packages-yaml conflicts with ^zlib"),
        ("{hdf5: {conflict: [{spec: '@1.14', when: '^mpich', message: 'use 1.12'}]}}",
         "hdf5 packages-yaml conflicts with @1.14: use 1.12"),
        ("{hdf5: {conflict: [{spec: '@1.14', when: '^openmpi'}]}}", ""),
        ("{all: {conflict: ['%gcc'], require: '@1:'}, hdf5: {conflict: ['+nothing']}, "
         "zlib: {conflict: ['@9']}}",
         ""),
        ("{mpi: {conflict: [mpich@4]}}", "hdf5 packages-yaml conflicts with mpich@4 for mpi"),
        ("{mpi: {conflict: [mpich@3]}}", ""),
        # What is a query, but not a spec of Spack's, is no rule.
        ("{hdf5: {require: ['!hdf5', '@1|@2', 'hdf5 zlib', 'py-*', '@1.1*']}}", ""),
        ("{hdf5: {conflict: [cached, any=hdf5, name=hdf5], require: cached}}",
         "hdf5 packages-yaml requires cached"),
    ],
)  # fmt: skip
def test_requirements_rule_out_what_is_there(
    packages: str, refused: str, catalog: Catalog, spack: SpackRoot
) -> None:
    spack.write("home/.spack/packages.yaml", f"packages: {packages}")
    fit, found = fit_of(catalog, rules_of(spack)), list[str]()
    for row in catalog.rows(range(catalog.total)):
        for reason in fit.of(row.id).reasons:
            if reason.rule is PACKAGES:
                said = reason.label.removeprefix("packages.yaml ")
                found.append(f"{row.spec.package} {named(reason)} {said}")
                assert reason.place.endswith("packages.yaml:1")
    assert ", ".join(sorted(found)) == refused


def test_rules_of_packages_mean_what_the_solver_makes_of_them(spack: SpackRoot) -> None:
    catalog, undecided = solved_index("packages_rules"), list[str]()
    for case in SOLVED:
        spack.write("home/.spack/packages.yaml", f"packages: {case['packages']}")
        rules = rules_of(spack)
        refused = refused_by(PACKAGES, case, catalog, fit_of(catalog, rules))
        if find_kept_out(catalog, rules).problems:
            undecided.append(case["packages"])
            assert not refused, case
        else:
            assert refused == {*case["refused"].split()}, case
    assert undecided == UNDECIDED


def test_a_gcc_runtime_is_required_as_by_the_solver(spack: SpackRoot) -> None:
    catalog = solved_index("runtime_rules")
    for case in RUNTIMES:
        gccs = [{"spec": f"gcc@{each}", "prefix": "/usr"} for each in case["compilers"].split()]
        packages = {**json.loads(case["packages"]), "gcc": {"externals": gccs}}
        spack.write("home/.spack/packages.yaml", json.dumps({"packages": packages}))
        config = spack.config()
        fit = fit_of(catalog, read_reuse_rules(config), externals=config.externals)
        assert refused_by(PACKAGES, case, catalog, fit) == {*case["refused"].split()}, case


def test_a_gcc_that_spack_may_find_itself_is_no_refusal(spack: SpackRoot) -> None:
    index = SPACK_DATA / "analysis" / "runtime_rules.index.json.gz"
    catalog = catalog_of(index)
    file = spack.write("home/.spack/packages.yaml", "packages: {gcc-runtime: {require: '@13'}}\n")
    kept, problems, _ = find_kept_out(catalog, rules_of(spack))
    # These are the gcc-runtime themselves.
    assert [each.reason.label for each in kept] == ["packages.yaml requires @13"]
    assert [*map(str, problems)] == [
        f"{file}: line 1: it requires gcc-runtime@13, and no gcc has this version here: "
        "Spack refuses to concretize, unless it finds one"
    ]


def test_spack_passes_over_what_it_does_not_prefer(spack: SpackRoot) -> None:
    catalog = solved_index("preferences")
    for case in PREFERENCES:
        spack.write("home/.spack/packages.yaml", f"packages: {case['packages']}")
        rules = rules_of(spack)
        fit = fit_of(catalog, rules)
        assert not find_kept_out(catalog, rules).problems
        assert not refused_by(PACKAGES, case, catalog, fit)
        passed_over = refused_by(PREFERRED, case, catalog, fit)
        if case["packages"] in IMPOSSIBLE:
            assert passed_over
            assert not case["refused"]
        else:
            assert passed_over == {*case["refused"].split()}, case


def test_why_a_rule_does_not_apply_is_told_with_its_line(
    catalog: Catalog, spack: SpackRoot
) -> None:
    file = spack.write(
        "home/.spack/packages.yaml",
        "packages:\n  hdf5:\n    conflict:\n    - '%gcc'\n    - spec: '@1:'\n      when: '%gcc'\n",
    )
    kept, problems, not_applied = find_kept_out(catalog, rules_of(spack))
    assert not kept
    assert not problems
    assert [*map(str, not_applied["hdf5"])] == [
        f"{file}: line 4: the conflict %gcc of hdf5 does not apply to all that match: "
        "Spack reuses specs without applying conflicts with %",
        f"{file}: line 6: the condition %gcc of hdf5 does not apply to all that match: "
        "Spack sees only the direct link and run dependencies of what it reuses",
    ]


def test_what_needs_something_that_is_kept_out_is_kept_out(
    catalog: Catalog, spack: SpackRoot
) -> None:
    # What only builds a spec is not needed, and what is no spec keeps nothing out.
    for excluded, kept_out in (
        ("zlib, gcc", {"gcc": REUSED, "zlib": REUSED, "hdf5": f"^{REUSED}"}),
        ("'@@'", {}),
    ):
        text = f"concretizer: {{reuse: {{exclude: [{excluded}]}}}}"
        spack.write("home/.spack/concretizer.yaml", text)
        fit, broken = fit_of(catalog, rules_of(spack)), dict[str, str]()
        for row in catalog.rows(range(catalog.total)):
            for reason in fit.of(row.id).reasons:
                if reason.rule is REUSE:
                    broken[row.spec.package] = named(reason)
        assert broken == kept_out


def test_a_filter_of_a_mirror_keeps_out_what_no_other_source_has(
    spack: SpackRoot, tmp_path: Path
) -> None:
    index = write_index(tmp_path, leaf(GCC, "gcc", "13.2.0"), node(ZLIB, dependencies=[]))
    spack.write(
        "home/.spack/mirrors.yaml",
        f"mirrors:\n  site:\n    url: {index}\n    fetch:\n      exclude_binary: [zlib, '@@']\n"
        f"    exclude_binary: [gcc]\n",
    )
    catalog = catalog_of(index)
    kept, problems, _ = find_kept_out(catalog, rules_of(spack))
    (reason,) = [each.reason for each in kept]
    assert reason.label == "its mirror excludes zlib"
    assert reason.place.endswith("mirrors.yaml:5")
    (problem,) = map(str, problems)
    assert problem.endswith(
        "mirrors.yaml: line 5: @@ is not considered: Expected a version after @"
    )


ODD = (["local"], {"a": "b"}, [["a"]], [{"a": ["b"]}], "x", None)
"""Values, of which most are of another type than that of any place."""

SECTIONS: dict[str, object] = {
    "mirrors": {
        "site": {"fetch": {"url": "/c", "view": "a"}, "binary": True, "exclude_binary": ["zlib"]},
        "own": {"url": "/d", "signed": True, "pull": "/e", "include_binary": "zlib"},
    },
    "concretizer": {
        "os_compatible": {"sonoma": ["tahoe"]},
        "reuse": {
            "roots": True,
            "include": ["zlib"],
            "exclude": ["gcc"],
            "from": [{"type": "local", "include": ["zlib"]}, {"type": "buildcache"}],
        },
    },
    "packages": {
        "zlib": {
            "require": [{"spec": "@1", "when": "@1", "message": "a"}, {"any_of": ["@1", "@2"]}],
            "conflict": [{"spec": "@1", "when": "@1", "message": "a"}, "@2"],
            "prefer": [{"spec": "@1"}, "@2"],
            "buildable": True,
            "externals": [{"spec": "zlib@1", "prefix": "/usr", "modules": ["zlib"]}],
        },
    },
    "repos": {"a": "/r", "b": {"git": "https://x", "destination": "/s"}},
    "config": {
        "environments_root": "/e",
        "install_tree": {"root": "/opt"},
    },
    "upstreams": {"site": {"install_tree": "/u"}},
    "include": [
        {"path": "/none", "when": "false", "name": "a", "path_override_env_var": "A"},
        "/n",
    ],
}


def with_odd(value: object) -> Iterator[object]:
    """Yield a value once for each odd value in the place of each of its parts."""
    yield from ODD
    if isinstance(value, dict):
        for key, part in value.items():
            yield from ({**value, key: other} for other in with_odd(part))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from ([*value[:number], o, *value[number + 1 :]] for o in with_odd(part))


@pytest.mark.parametrize("section", SECTIONS)
@some_and_all(5)
def test_a_value_of_another_type_is_a_problem(
    section: str, catalog: Catalog, spack: SpackRoot, step: int
) -> None:
    for value in [*with_odd(SECTIONS[section])][::step]:
        # JSON is YAML.
        spack.write(f"home/.spack/{section}.yaml", json.dumps({section: value}))
        config = spack.config()
        kept, problems, _ = find_kept_out(catalog, read_reuse_rules(config))
        assert all(reason.place for reason, _ in kept)
        assert all(isinstance(each.spec, str) for each in config.externals)
        for problem in (*problems, *config.problems):
            assert problem.place == "include" or problem.place == "line 1", problem


@pytest.mark.parametrize(
    ("section", "value", "why"),
    [
        ("concretizer", {"reuse": {"from": [{"type": ["local"]}]}},
         "type has to be a string, not a list"),
        ("concretizer", {"reuse": ["a"]}, "reuse has to be a string, not a list"),
        ("concretizer", {"reuse": {"include": ["!hdf5"]}}, "!hdf5 is not considered"),
        ("concretizer", {"reuse": {"from": [{"type": "local", "exclude": ["a b"]}]}},
         "a b is not considered: Expected one spec, found another"),
        ("packages", {"zlib": {"require": [{"spec": "@1", "when": ["@1"]}]}},
         "when has to be a string, not a list"),
        ("packages", {"zlib": {"conflict": "@1"}}, "conflict has to be a list, not a string"),
        ("packages", {"zlib": {"externals": [{"spec": {}}]}},
         "spec has to be a string, not a mapping"),
        ("packages", {"zlib": {"require": "!zlib"}},
         'the requirement !zlib of zlib is not considered: Unexpected "!"'),
        ("packages", {"zlib": {"require": [{"spec": "+x", "when": "@@"}]}},
         "the condition @@ of zlib is not considered"),
        ("packages", {"zlib": {"conflict": [")"]}},
         "the conflict ) of zlib is not considered"),
        ("packages", {"zlib": {"externals": [{"spec": "a|b"}]}},
         'a|b is not considered: Unexpected "|"'),
        ("packages", {"mpi": {"require": "@4"}},
         "the requirement @4 of mpi is not considered: Expected the name of a package"),
        ("mirrors", {"site": ["/c"]}, "url has to be a string, not a list"),
        ("mirrors", {"site": {"url": "s3://b", "profile": ["p"]}},
         "profile has to be a string, not a list"),
        ("mirrors", {"site": {"url": "s3://b", "access_pair": "secret"}},
         "access_pair has to be a list, not a string"),
        ("mirrors", {"site": {"url": "s3://b", "access_pair": {"id": ["a"]}}},
         "id has to be a string, not a list"),
        ("upstreams", {"site": "/c"}, "site has to be a mapping, not a string"),
        ("upstreams", {"site": {"install_tree": "${PROJECT}/spack"}}, "${PROJECT} is not set"),
        ("config", {"install_tree": {"root": "$PROJECT/spack"}}, "$PROJECT is not set"),
        ("config", {"environments_root": "$PROJECT/env"}, "$PROJECT is not set"),
        ("include", ["/nowhere"], "the configuration /nowhere that it includes does not exist"),
        ("include", [{"path": "x", "name": ["user"]}], "name has to be a string, not a list"),
        ("include", [{"path": "x", "when": {"a": "b"}}], "when has to be a string, not a mapping"),
    ],
)  # fmt: skip
def test_what_spack_refuses_is_named_with_its_line(
    section: str, value: object, why: str, catalog: Catalog, spack: SpackRoot
) -> None:
    file = spack.write(f"home/.spack/{section}.yaml", f"\n{json.dumps({section: value})}")
    config = spack.config()
    kept, problems, _ = find_kept_out(catalog, read_reuse_rules(config))
    # A `from` without a valid entry takes nothing.
    assert not kept or section == "concretizer"
    assert not config.externals
    texts = {str(problem) for problem in (*problems, *config.problems)}
    assert all(text.startswith(f"{file}: line 2: ") for text in texts)
    assert any(why in text for text in texts), texts


TOOLCHAINS = """\
toolchains:
  gcc12: '%gcc@12'
  of-c: [{spec: '%c=gcc@12', when: '%c'}, {spec: '%cxx=gcc@12', when: '%cxx'}]
  gcc11: [{spec: '%gcc@11', when: '%c'}]
  fast: 'cflags=-O3'
"""


@pytest.mark.parametrize(
    ("package", "name", "is_reused"),
    # As Spack 1.2 solves them; a recipe that had changed told what is reused from what is built.
    [
        *(("tiny-app", "gcc12", True), ("tiny-app", "of-c", False), ("tiny-app", "gcc11", False)),
        *(("tiny-app", "fast", False), ("all", "gcc12", True), ("all", "gcc11", False)),
    ],
)
def test_a_requirement_may_name_a_toolchain(
    package: str, name: str, is_reused: bool, spack: SpackRoot, tmp_path: Path
) -> None:
    spack.write("home/.spack/toolchains.yaml", TOOLCHAINS)
    spack.write("home/.spack/packages.yaml", f"packages: {{{package}: {{require: '%{name}'}}}}")
    app = leaf("a" * 32, "tiny-app", "2.0")
    app["dependencies"] = [edge("gcc", "g" * 32, ["build"], ["c"])]
    nodes = [app, leaf("g" * 32, "gcc", "12.2.0")]
    catalog = catalog_of(write_index(tmp_path, *nodes))
    fit = fit_of(catalog, rules_of(spack))
    (row,) = catalog.match(parse("tiny-app")).ids()
    reasons = [reason.label for reason in fit.of(row).reasons if reason.rule is PACKAGES]
    assert (not reasons) is is_reused, reasons


@pytest.mark.parametrize("place", ["path", "name", "active", "excluded", "missing", "odd"])
def test_what_an_environment_has_is_reused(place: str, spack: SpackRoot, tmp_path: Path) -> None:
    """As `ReusableSpecsSelector` of lib/spack/spack/solver/reuse.py."""
    nodes = [leaf(letter * 32, "app", f"{number}") for number, letter in enumerate("abc", 1)]
    write_index(tmp_path, *nodes)
    folder = spack.root / "var" / "spack" / "environments" / "mine"
    inner = json.loads(environment(nodes[1:2]))
    lock = json.loads(environment(nodes[:1])) | {"include_concrete": {"/other": inner}}
    if place == "odd":
        lock = {"concrete_specs": [{}], "include_concrete": {"/x": [5]}}
    if place != "missing":
        write_files(folder, {"spack.lock": json.dumps(lock).encode(), "spack.yaml": b"spack: {}"})
    path = {"name": "mine", "active": ""}.get(place, str(folder))
    entry: dict[str, Any] = {"type": "environment"} | ({"path": path} if path else {})
    if place == "excluded":
        entry |= {"exclude": ["app@1"]}
    reuse = json.dumps({"concretizer": {"reuse": {"from": [entry]}}})
    spack.write("home/.spack/concretizer.yaml", reuse)
    config = spack.config(**{"SPACK_ENV": str(folder)} if place == "active" else {})
    catalog = catalog_of(tmp_path / "index.json")
    findings = find_kept_out(catalog, read_reuse_rules(config))
    kept_out = {id_ for each in findings.kept_out for span in each.spans for id_ in range(*span)}
    reused = {row.spec.version for row in catalog.rows(range(catalog.total))} - {
        row.spec.version for row in catalog.rows(sorted(kept_out))
    }
    assert reused == {"excluded": {"2"}, "missing": set(), "odd": set()}.get(place, {"1", "2"})
    assert any("spack.lock: " in str(p) for p in config.problems) is (place == "missing")

"""`audit` lists the deprecated versions that specs contain, and queries ask for them."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.builders import (
    SPACK_DATA,
    SpackRoot,
    edge,
    environment,
    hash_of,
    leaf,
    node,
    whole_index,
    write_index,
)
from tests.builders.recipes import commit, recipe, recipes, write_repository
from tests.program import Program

OLD, NEW, XZ, HDF5, VTK, CMAKE, HOST_ZLIB = (letter * 32 for letter in "onxhvce")
DEPRECATED = json.loads((SPACK_DATA / "deprecated_versions.json").read_text())
ZLIB = """
    version("1.3", sha256="a")
    version("1.2", sha256="a")
    deprecated("@:1.2", reason="vuln", severity="high", labels=["CVE-2022-1"], msg="use @1.3")
    """


@pytest.fixture
def home(program: Program) -> Path:
    """Write a cache: vtk links hdf5 and that an old zlib; an old cmake only builds it."""
    below = [edge("zlib", OLD, ["link"]), edge("cmake", CMAKE, ["build"])]
    external: dict[str, object] = {"path": "/usr", "module": None, "extra_attributes": {}}
    write_index(
        program.home,
        leaf(OLD, "zlib", "1.2"),
        leaf(NEW, "zlib", "1.3"),
        leaf(XZ, "xz", "5.2"),
        leaf(CMAKE, "cmake", "3.1"),
        node(HDF5, name="hdf5", version="1.14", dependencies=below),
        node(VTK, name="vtk", version="9.2", dependencies=[edge("hdf5", HDF5, ["link"])]),
        node(HOST_ZLIB, version="1.2", dependencies=[], external=external),
    )
    texts = {
        "zlib": recipe("zlib", ZLIB),
        "cmake": recipe("cmake", "version('3.1', deprecated=True)"),
        "hdf5": recipe("hdf5", "deprecated('@1.14 +shared', reason='rename', severity='low')"),
        "vtk": recipe("vtk", "version(read(), deprecated=True)"),
    }
    write_repository(program.home / "site", texts)
    return program.home


AUDIT = ("audit", "-f", "index.json", "--recipes", "site")


def rows(program: Program, *words: str) -> list[dict[str, Any]]:
    result = program(*words, "--json")
    assert result.returncode == 0, result.stderr
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    return rows


def test_a_row_says_why_through_which_roots_and_what_clears_it(
    program: Program, home: Path
) -> None:
    assert [list(row.values()) for row in rows(program, *AUDIT)] == [
        ["cmake", "3.1", "critical", "unspecified", [], 1, None, ["cmake@3.1"], None, CMAKE],
        [
            *("zlib", "1.2", "high", "vuln", ["CVE-2022-1"], 3, "1.3", ["vtk@9.2"], "use @1.3"),
            OLD,
        ],
        ["hdf5", "1.14", "low", "rename", [], 2, None, ["vtk@9.2"], None, HDF5],
    ]


def test_people_see_the_same_and_what_is_not_known(program: Program, home: Path) -> None:
    words = (*AUDIT, "--columns", "package,version,severity,labels,specs,newest,roots,message")
    _, text = program.on_terminal(*words, columns=120, changes={"NO_COLOR": "1"})
    lines = [line.rstrip() for line in text.replace("\r", "\n").splitlines()]
    assert [line for line in lines if line and "Ctrl-C" not in line] == [
        f"spackscope: {home}/site/packages/vtk/package.py: line 9: "
        "cannot be known without running the "
        "recipe: version(read(), deprecated=True)",
        "spackscope: Unknown of xz: there is no recipe",
        "spackscope: Unknown of vtk: the recipe cannot be read completely",
        "3 deprecated versions in 4 of 7 specs",
        "package  version  severity  labels      specs  newest  roots      message",
        "cmake    3.1      critical                  1          cmake@3.1",
        "zlib     1.2      high      CVE-2022-1      3  1.3     vtk@9.2    use @1.3",
        "hdf5     1.14     low                       2          vtk@9.2",
    ]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 0),
        (("--fail-on", "critical"), 1),
        (("zlib", "--fail-on", "high"), 1),
        (("zlib", "--fail-on", "critical"), 0),
        (("zlib", "--fail-on", "deprecated=high"), 1),
        (("zlib", "--fail-on", "deprecated=critical"), 0),
        (("zlib", "--fail-on", "deprecated"), 1),
        (("vtk", "--fail-on", "medium"), 1),
        (("vtk", "--fail-on", "critical"), 3),
        (("vtk",), 0),
        (("zlib@1.3", "--fail-on", "low"), 0),
        (("nothing",), 1),
        (("--fail-on", "none"), 2),
        (("--fail-on", "worst"), 2),
    ],
)
def test_the_exit_code_is_that_of_a_gate(
    program: Program, home: Path, words: tuple[str, ...], code: int
) -> None:
    assert program(*AUDIT, *words).returncode == code


def test_a_lock_file_has_roots_and_the_cache_what_clears_it(program: Program, home: Path) -> None:
    zlib = leaf(OLD, "zlib", "1.2")
    tool = node(hash_of(1), name="tool", version="1", dependencies=[edge("zlib", OLD, ["link"])])
    lib = node(
        hash_of(2), name="lib", version="2", dependencies=[edge("tool", hash_of(1), ["run"])]
    )
    (home / "spack.lock").write_bytes(environment([zlib, tool, lib], hash_of(1), hash_of(2)))
    (row,) = rows(program, *AUDIT, "spack.lock")
    assert (row["specs"], row["roots"], row["newest"]) == (3, ["lib@2", "tool@1"], "1.3")
    # A cache that cannot be read does not keep a gate from closing.
    result = program("audit", "spack.lock", "-f", "none", "--recipes", "site", "--fail-on", "high")
    assert (result.returncode, result.stdout.count("\nzlib")) == (1, 1)
    assert "The newest versions are unknown: " in result.stderr


def test_a_cache_without_deprecated_versions_says_so(program: Program, home: Path) -> None:
    result = program(*AUDIT, "xz")
    assert result.returncode == 0
    assert "No known deprecated version in 1 spec\n" in result.stderr


def test_without_recipes_it_is_unknown_and_said_where_to_get_them(
    program: Program, home: Path
) -> None:
    result = program("audit", "-f", "index.json")
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.startswith(
        "spackscope: it is unknown which versions are deprecated: no recipes were found. "
    )
    assert "`spack repo update`" in result.stderr
    result = program("audit", "-f", "index.json", "--recipes", "nowhere")
    assert f"deprecated: {home}/nowhere: there is no such directory" in result.stderr
    result = program("find", "-f", "index.json", "deprecated")
    assert result.stderr == (
        "spackscope: no recipes were found: deprecated versions are unknown. "
        "`spack repo update` fetches those of Spack, or clone "
        "https://github.com/spack/spack-packages and name the directory: --recipes\n"
        "spackscope: No spec is known to have a deprecated version\n"
        "  deprecated=unknown instead of deprecated  7\n"
    )


@pytest.mark.parametrize(
    ("query", "hashes"),
    [
        ("deprecated", {OLD, CMAKE, HDF5}),
        ("!deprecated", {NEW, XZ, VTK, HOST_ZLIB}),
        ("deprecated=unknown", {XZ, VTK}),
        ("deprecated=high", {OLD}),
        ("deprecated=CVE-*", {OLD}),
        ("deprecated=rename", {HDF5}),
        ("^deprecated", {HDF5, VTK}),
        ("^deprecated=no", set()),
        ("^zlib deprecated", {HDF5, VTK}),
        ("^zlib deprecated=critical", set()),
        ("vtk !^deprecated", set()),
        ("!^deprecated", {OLD, NEW, XZ, CMAKE, HOST_ZLIB}),
        ("%deprecated", {HDF5, VTK}),
    ],
)
def test_a_query_asks_for_deprecated_versions(
    program: Program, home: Path, query: str, hashes: set[str]
) -> None:
    result = program("find", *AUDIT[1:], query, "--hashes")
    assert set(result.stdout.split()) == hashes


def test_table_and_detail_have_a_sign(program: Program, home: Path) -> None:
    words = ("find", *AUDIT[1:], "deprecated", "zlib", "--flat")
    _, text = program.on_terminal(*words, columns=100, changes={"NO_COLOR": "1"})
    assert "! high vuln" in text
    (spec,) = rows(program, "find", *AUDIT[1:], "zlib deprecated")
    words_of_recipe = ["yes", "high", "vuln", "CVE-2022-1"]
    assert spec["deprecated"] == words_of_recipe
    shown = program("show", *AUDIT[1:], "vtk").stdout.splitlines()
    assert "deprecated    hdf5@1.14 ! low rename  zlib@1.2 ! high vuln CVE-2022-1" in shown, shown


def test_a_patch_of_a_build_clears_the_labels_that_it_fixes(
    program: Program, tmp_path: Path
) -> None:
    # As `to_node_dict` of Spack's spec.py: the digests are a variant, and listed in their order.
    digest = sha256(b"+1\n").hexdigest()
    patched = {"parameters": {"patches": [digest]}, "patches": [digest]}
    write_index(
        program.home,
        node(OLD, version="1.0", dependencies=[]),
        node(NEW, version="1.0", dependencies=[], **patched),
        node(XZ, version="0.9", dependencies=[], **patched),
    )
    body = """
        deprecated("@1.0", reason="vuln", severity="high", labels=["CVE-1"])
        deprecated("@0.9", reason="vuln", severity="high", labels=["CVE-1", "CVE-2"])
        patch("a.patch", when="@:1.0", fixes=["CVE-1"])
        """
    site = write_repository(program.home / "site", {"zlib": recipe("zlib", body)})
    (site / "packages" / "zlib" / "a.patch").write_text("+1\n")
    found = [(row["hash"], row["labels"]) for row in rows(program, *AUDIT)]
    assert sorted(found) == [(OLD, ["CVE-1"]), (XZ, ["CVE-2"])]
    spack = SpackRoot(tmp_path)
    spack.write("spack/lib/spack/spack/__init__.py", '__version__ = "1.3.0"\n')
    spack.write("spack/etc/spack/repos.yaml", f"repos:\n  site: {site}\n")
    allowed = "packages: {zlib: {deprecation: {allow: [{labels: [CVE-2]}]}}}\n"
    spack.write("spack/etc/spack/packages.yaml", allowed)
    words = ("find", "-f", "index.json", "--host", "zen3", "reusable=no", "--hashes")
    assert program(*words, SPACK_ROOT=str(spack.root)).stdout.split() == [OLD]


def test_specs_of_a_real_cache_have_what_the_recipes_of_spack_deprecate(program: Program) -> None:
    data = json.loads(whole_index("spack1"))
    (program.home / "index.json").write_text(json.dumps(data))
    tree = program.home / "tree"
    write_repository(tree / "repos" / "spack_repo" / "builtin", recipes())
    commit(tree, program.home / "bare.git")
    nodes = {hash_: entry["spec"] for hash_, entry in data["database"]["installs"].items()}
    below: dict[str, frozenset[tuple[str, str]]] = {}

    def contained(hash_: str) -> frozenset[tuple[str, str]]:
        """Return the deprecated versions that a spec links or runs, as Spack's answers tell."""
        if hash_ not in below:
            its = nodes[hash_]
            own = its["version"] in DEPRECATED.get(its["name"], ()) and "external" not in its
            run = (
                edge["hash"]
                for edge in its.get("dependencies", ())
                if not {"link", "run"}.isdisjoint(edge["parameters"]["deptypes"])
            )
            found = {(its["name"], its["version"])} if own else set()
            below[hash_] = frozenset(found.union(*map(contained, run)))
        return below[hash_]

    cached = [h for h, each in data["database"]["installs"].items() if each.get("in_buildcache")]
    counts = Counter(version for hash_ in cached for version in contained(hash_))
    words = ("audit", "-f", "index.json", "--recipes", "bare.git")
    found = {(row["package"], row["version"]): row["specs"] for row in rows(program, *words)}
    assert len(found) > 15
    assert found == counts


@pytest.mark.parametrize(
    ("version", "packages", "refused"),
    [
        ("1.3.0.dev0", "{}", {OLD: "A", HDF5: "A", VTK: "a", CMAKE: "A"}),
        ("1.2.0", "{}", {}),
        ("1.3.0", "{all: {deprecation: {allow: [{severity: critical}]}}}", {}),
        (
            "1.3.0",
            "{all: {deprecation: {allow: [{severity: low}]}}}",
            {OLD: "A", HDF5: "a", VTK: "a", CMAKE: "A"},
        ),
        (
            "1.3.0",
            "{all: {deprecation: {allow: [{reason: [rename, unspecified]}]}},"
            " zlib: {deprecation: {allow: [{labels: [CVE-2022-1]}]}}}",
            {},
        ),
        (
            "1.3.0",
            "{all: {deprecation: {allow: [{severity: critical}]}},"
            " zlib: {deprecation: {allow: [{labels: [CVE-2022-1], severity: low}]}}}",
            {OLD: "A", HDF5: "a", VTK: "a"},
        ),
        (
            "1.3.0",
            "{all: {deprecation: {allow: [{severity: high}], scope: all}}}",
            {CMAKE: "A", HDF5: "A", VTK: "A"},
        ),
        (
            "1.3.0",
            "{all: {allowed_deprecation_severity: high}}",
            {CMAKE: "A"},
        ),
    ],
)
def test_spack_1_3_reuses_no_deprecated_spec_that_is_not_allowed(
    program: Program,
    home: Path,
    tmp_path: Path,
    version: str,
    packages: str,
    refused: dict[str, str],
) -> None:
    spack = SpackRoot(tmp_path)
    spack.write("spack/lib/spack/spack/__init__.py", f'__version__ = "{version}"\n')
    spack.write("spack/etc/spack/packages.yaml", f"packages: {packages}\n")
    spack.write("spack/etc/spack/repos.yaml", f"repos:\n  site: {home}/site\n")
    words = ("find", "-f", "index.json", "--host", "zen3", "--json")
    found = json.loads(program(*words, SPACK_ROOT=str(spack.root)).stdout)
    letters = {
        spec["hash"]: "a" if reason["of_dependency"] else "A"
        for spec in found
        for reason in spec["reasons"]
        if reason["rule"] == "deprecated"
    }
    assert letters == refused
    why = program("why", "-f", "index.json", "zlib@1.2", SPACK_ROOT=str(spack.root)).stdout
    change = "use a newer version, or allow it in packages:zlib:deprecation:allow"
    assert (change in why) == (OLD in refused)


def test_an_older_switch_allows_all(program: Program, home: Path, tmp_path: Path) -> None:
    spack = SpackRoot(tmp_path)
    spack.write("spack/lib/spack/spack/__init__.py", '__version__ = "1.3.0"\n')
    spack.write("spack/etc/spack/repos.yaml", f"repos:\n  site: {home}/site\n")
    words = ("find", "-f", "index.json", "--host", "zen3", f"/{OLD} reusable=no", "--hashes")
    assert program(*words, SPACK_ROOT=str(spack.root)).stdout.split() == [OLD]
    spack.write("spack/etc/spack/config.yaml", "config:\n  deprecated: true\n")
    assert program(*words, SPACK_ROOT=str(spack.root)).stdout.split() == []

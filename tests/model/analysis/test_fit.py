"""Tests of `fit`, which is held to the letters that Spack's own rules give."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.host import Host, parse_host
from spackscope.model.core.machine import Libc
from spackscope.model.core.records import ANSWERS, Fit
from spackscope.model.index.by_host import RANKS_OF_FITS
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.run_sets import read_run_sets
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import GCC, GLIBC, ZLIB, Node, edge, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import SPACK_DATA, write_index
from tests.examples import some_and_all
from tests.model.analysis.cases import ids_in, named

REUSE = json.loads(lzma.decompress((SPACK_DATA / "analysis" / "reuse.json.xz").read_bytes()))
RUN = set("PTLOptlo")
LETTERS = {"external": "X", "compiler-wrapper": "W", "old-format": "F", "platform": "P"}
LETTERS |= {"target": "T", "libc": "L", "os": "O"}
LETTERS |= {f"^{name}": letter.lower() for name, letter in LETTERS.items()}
"""The letters of rules in `REUSE`."""

DIGITS = 7
"""Characters of the hashes in `REUSE`, which are enough to tell them apart."""

HOST = parse_host("target=zen3 glibc=2.34 os=rocky9")
BUILT = {"platform": "linux", "platform_os": "rocky9", "target": "zen3"}
OLD_GLIBC = {
    **leaf(GLIBC, "glibc", "2.28"),
    "arch": BUILT,
    "external": {"path": "/usr", "module": None, "extra_attributes": {}},
}


def letters_of(fit: Fit) -> str:
    return "".join(LETTERS[named(reason)] for reason in fit.reasons)


def hosts() -> Iterator[tuple[int, Host]]:
    """Yield the hosts of `REUSE` with their numbers, and check their targets."""
    for number, host in enumerate(REUSE["hosts"]):
        libc = Libc(*host["libc"]) if host["libc"] else None
        built = Host(host["platform"], host["os"], host["target"], libc)
        assert built.targets == set(host["targets_that_run"])
        yield number, built


@pytest.mark.parametrize("name", ["spack0", "spack1"])
@some_and_all(4)
def test_the_letters_are_those_of_spack(
    name: str, whole_catalogs: dict[str, Catalog], step: int
) -> None:
    catalog = whole_catalogs[name]
    ids = ids_in(catalog)
    for number, host in [*hosts()][::step]:
        fit = HostFit(catalog, host)
        codes, fits = fit.coded()
        answers = [(letters_of(answer), answer.fits, answer.reusable) for answer in fits]
        assert fit.ranks == bytes(RANKS_OF_FITS[fits[code].fits] for code in codes)
        for letters, hashes in REUSE["letters"][name].items():
            expected = letters.split("/")[number]
            answer = expected.replace("lx", "xl"), not RUN & set(expected), not expected
            for start in range(0, len(hashes), DIGITS):
                hash_ = hashes[start : start + DIGITS]
                assert answers[codes[ids[hash_]]] == answer, (hash_, host)


def test_spack_takes_what_no_rule_of_its_time_refuses(whole_catalogs: dict[str, Catalog]) -> None:
    by_id = {host["id"]: built for host, (_, built) in zip(REUSE["hosts"], hosts(), strict=True)}
    for solve in REUSE["solve"]:
        catalog = whole_catalogs[solve["db"]]
        fit = HostFit(catalog, by_id[solve["host"]]).of(catalog.by_hash(solve["hash"])[0].id)
        letters = letters_of(fit).replace("F", "")
        assert letters == solve["letters"]
        # The Spack of these solves does not have the rule F yet.
        assert solve["taken"] is not bool(letters)


def test_one_spec_is_checked_like_all(whole_catalogs: dict[str, Catalog]) -> None:
    catalog = whole_catalogs["spack1"]
    everything = HostFit(catalog, HOST)
    assert not everything.is_ready
    codes, fits = everything.coded()
    assert (everything.is_ready, len(codes)) == (True, 9007)
    one_by_one = HostFit(catalog, HOST)
    for id_ in range(0, len(codes), 97):
        alone, among_all = one_by_one.of(id_), fits[codes[id_]]
        assert [r._replace(sentence="") for r in alone.reasons] == [*among_all.reasons]
        assert (alone.fits, alone.reusable) == (among_all.fits, among_all.reusable)
        assert all(reason.sentence for reason in alone.reasons)


def fit_of(path: Path, *nodes: Node, host: Host = HOST) -> Fit:
    """Check the zlib among some nodes."""
    path /= "index.json"
    write_index(path, *nodes)
    catalog = catalog_of(path, dependency_only=True)
    checked = HostFit(catalog, host)
    ids = range(catalog.edges.count)
    assert checked.ranks == bytes(RANKS_OF_FITS[checked.of(id_).fits] for id_ in ids)
    return checked.of(catalog.by_hash(ZLIB)[0].id)


def zlib(*edges: Node, **fields: Any) -> Node:
    return node(**{"arch": BUILT, "dependencies": [*edges], **fields})


LINKED = edge("glibc", GLIBC, ["link"], ["libc"])
LIB, OTHER, LIBC = map(hash_of, (8, 9, 10))
EXTERNAL = {"path": "/opt", "module": ["zlib"], "extra_attributes": {}}
NOT_IN_PACKAGES = "external at /opt, which is not in the host's packages.yaml"
NEWER = {**BUILT, "target": "zen4"}
OF_GCC = edge("gcc", GCC, ["build"], ["c"])


def on_mac(os: str, *edges: Node, **fields: Any) -> Node:
    arch = {"platform": "darwin", "platform_os": os, "target": "aarch64"}
    return zlib(*edges, arch=arch, **fields)


def libc(hash_: str, version: str) -> Node:
    return {**OLD_GLIBC, "hash": hash_, "version": version}


MAC = "os=sonoma target=m1"
WITH_LIBC = [zlib(LINKED), OLD_GLIBC]
CASES: list[tuple[list[Node], str, str]] = [
    (WITH_LIBC, "", ""),
    ([zlib(arch=NEWER)], "", "target: target zen4 > zen3"),
    *(
        ([zlib(arch={**BUILT, "target": target})], "", f"target: target {target} {why}")
        for target, why in (
            ("icelake", "needs more than zen3 has"),
            ("neoverse_v1", "is for another family than zen3"),
            ("zen9", "is not known to run on zen3"),
        )
    ),
    ([zlib(arch={**BUILT, "platform": "darwin"})], "", "platform: platform darwin, not linux"),
    (
        [zlib(name="compiler-wrapper")],
        "",
        "compiler-wrapper: Spack never reuses the compiler wrapper",
    ),
    (
        [zlib(parameters={"dev_path": "/home/me"})],
        "",
        "under-development: it was built from sources under development (dev_path)",
    ),
    ([zlib(external=EXTERNAL)], "", f"external: {NOT_IN_PACKAGES}"),
    (
        [zlib(annotations={"original_specfile_version": 4})],
        "",
        "old-format: built before Spack 1.0, in format 4 (Spack since 2026 needs 5)",
    ),
    (WITH_LIBC, "target=zen3 glibc=2.17", "libc: glibc 2.28 > 2.17"),
    (WITH_LIBC, "target=zen3 glibc=2.34:/opt", "libc: glibc at /usr, not at /opt"),
    (WITH_LIBC, "target=zen3 musl=1.2", "libc: glibc, not musl"),
    ([on_mac("sonoma")], MAC, ""),
    ([on_mac("catalina")], MAC, ""),
    ([on_mac("sequoia")], MAC, "os: os sequoia > sonoma"),
    ([on_mac("rhel9")], MAC, "os: os rhel9"),
    # What runs, but is not reused, may need what does not run.
    (
        [on_mac("mojave", edge("lib", LIB, ["link"])), on_mac("tahoe", hash_=LIB, name="lib")],
        MAC,
        "os: os mojave, ^os: lib: os tahoe > sonoma",
    ),
    # A dependency that refuses is named, and of several C libraries the newest.
    (
        [
            zlib(edge("lib", LIB, ["link"])),
            zlib(edge("mpich", OTHER, ["link"], ["mpi"]), hash_=LIB, name="lib"),
            zlib(hash_=OTHER, name="mpich", external=EXTERNAL),
        ],
        "",
        f"^external: mpich: {NOT_IN_PACKAGES}",
    ),
    (
        [
            zlib(edge("a", LIB, ["link"]), edge("b", OTHER, ["run"])),
            zlib(edge("glibc", LIBC, ["link"], ["libc"]), hash_=LIB, name="a"),
            zlib(edge("glibc", GLIBC, ["link"], ["libc"]), hash_=OTHER, name="b"),
            *(libc(LIBC, "2.39"), libc(GLIBC, "2.35")),
        ],
        "",
        "^libc: a: glibc 2.39 > 2.34",
    ),
    # Neither build tools nor the runtime of gcc count, but a compiler without it does.
    (
        [
            zlib(OF_GCC, edge("gcc-runtime", LIB, ["link"])),
            {**leaf(GCC, "gcc", "14"), "arch": NEWER},
            {**leaf(LIB, "gcc-runtime", "14"), "arch": NEWER},
        ],
        "",
        "",
    ),
    (
        [zlib(OF_GCC), {**leaf(GCC, "gcc", "14"), "arch": BUILT}],
        "",
        "compiler-runtime: a compiler it depends on comes without its runtime"
        " (Spack up to January 2026)",
    ),
    ([zlib(edge("cmake", LIB, ["build"]))], "", ""),
    ([zlib(edge("lib", LIB, ["link"]))], "", "^unknown-dependency: lib: dependency not described"),
    ([zlib(LINKED)], "", "unknown-dependency: dependency not described"),
    (WITH_LIBC, "target=zen3", "unknown-host-libc: libc of the host unknown"),
    (WITH_LIBC, "glibc=2.34", "unknown-host-target: target of the host unknown"),
    ([on_mac("sonoma")], "target=m1", "unknown-host-os: release of the host unknown"),
]


@pytest.mark.parametrize(("nodes", "host", "told"), CASES, ids=str)
def test_each_reason_says_why(nodes: list[Node], host: str, told: str, tmp_path: Path) -> None:
    fit = fit_of(tmp_path, *nodes, host=parse_host(host) if host else HOST)
    assert ", ".join(f"{named(reason)}: {reason.sentence}" for reason in fit.reasons) == told
    rule, is_unknown = told.partition(":")[0], "unknown-" in told
    runs = None if is_unknown else RUN.isdisjoint(LETTERS.get(rule, ""))
    assert (fit.fits, fit.reusable) == (runs, None if is_unknown else not told)
    for values in (fit.fits_values, fit.reusable_values):
        assert values[0] in ANSWERS
        assert (len(values) > 1) == (values[0] != "yes")


@pytest.mark.parametrize("count", [1_000, 1_001])
def test_all_run_alike_however_many_their_targets(count: int, tmp_path: Path) -> None:
    nodes = [
        zlib(
            edge("zlib", hash_of(n - 1), ["link"]),
            hash_=hash_of(n),
            arch={**BUILT, "target": f"odd{n}"},
        )
        for n in range(11, 10 + count)
    ]
    catalog = catalog_of(write_index(tmp_path, zlib(hash_=hash_of(10)), *nodes))
    assert bool(read_run_sets(catalog)[1]) is (count == 1_000)
    checked = HostFit(catalog, HOST)
    assert checked.ranks.count(RANKS_OF_FITS[True]) == 1
    assert checked.ranks.count(RANKS_OF_FITS[False]) == count - 1


def test_a_cycle_of_dependencies_is_checked_spec_by_spec(tmp_path: Path) -> None:
    nodes = [
        zlib(edge("lib", LIB, ["link"])),
        zlib(edge("zlib", ZLIB, ["link"]), hash_=LIB, name="lib", arch=NEWER),
    ]
    fit_of(tmp_path, *nodes)
    assert not read_run_sets(catalog_of(tmp_path / "index.json", dependency_only=True))[1]


@pytest.mark.parametrize(
    ("os", "host", "fits", "reusable"),
    [
        # As solver/os_compatibility.lp of Spack 1.2: a chain that begins with catalina.
        ("catalina", "sonoma", True, True),
        ("mojave", "sonoma", True, False),
        ("mojave", "mojave", True, True),
        ("tahoe", "sonoma", False, True),
        ("sequoia", "sonoma", False, True),
        ("bigsur", "monterey", True, True),
    ],
)
def test_releases_of_macos_are_compatible_as_in_spack(
    os: str, host: str, fits: bool, reusable: bool, tmp_path: Path
) -> None:
    write_index(tmp_path, on_mac(os))
    described = parse_host(f"os={host} target=m1")
    fit = HostFit(catalog_of(tmp_path), described, os_compatible={"sonoma": ("tahoe",)}).of(0)
    assert (fit.fits, fit.reusable) == (fits, reusable)


@pytest.mark.parametrize(
    ("fields", "edges", "fits"),
    [
        ({}, [OF_GCC], None),
        ({}, [OF_GCC, LINKED], True),
        ({"arch": {**BUILT, "platform_os": "ubuntu22.04"}}, [OF_GCC], True),
        ({}, [], True),
        ({"external": {**EXTERNAL, "module": None}}, [OF_GCC], True),
    ],
)
def test_what_lists_no_c_library_may_not_run_on_another_system(
    fields: Node, edges: list[Node], fits: bool | None, tmp_path: Path
) -> None:
    host = parse_host("target=zen3 glibc=2.34 os=ubuntu22.04")
    runtime = edge("gcc-runtime", LIB, ["link"])
    arch = {**BUILT, "platform_os": "sles15"}
    leaves = [leaf(GCC, "gcc", "14"), leaf(LIB, "gcc-runtime", "14"), OLD_GLIBC]
    nodes = [zlib(*edges, *[runtime] * bool(edges), **{"arch": arch, **fields}), *leaves]
    fit = fit_of(tmp_path, *nodes, host=host)
    assert fit.fits is fits
    # Spack asks for no C library either, and takes no external that is not listed.
    assert fit.reusable is ("external" not in fields)


def test_pages_tell_the_target_and_nothing_more(tmp_path: Path) -> None:
    records = [
        record(number, target=target, os="ubuntu24.04")
        for number, target in enumerate(("zen3", "zen4", "x86_64_v3"))
    ]
    catalog = catalog_of(write_page(tmp_path, records))
    fit = HostFit(catalog, HOST)
    answers = {row.spec.target: fit.of(row.id) for row in catalog.rows(range(3))}
    assert {target: answer.fits for target, answer in answers.items()} == {
        "zen3": None,
        "zen4": False,
        "x86_64_v3": None,
    }
    assert answers["zen3"].fits_values == ("unknown", "dependencies not listed")
    assert answers["x86_64_v3"].reasons[-1].sentence == (
        "dependencies not listed; target x86_64_v3 runs on zen3"
    )
    assert answers["zen4"].fits_values == ("no", "target too new")
    assert answers["zen3"].reusable is None


def test_endless_different_reasons_are_not_told_apart(tmp_path: Path) -> None:
    nodes = (
        zlib(hash_=hash_of(n), arch={**BUILT, "platform": f"odd{n}"}, dependencies=[])
        for n in range(300)
    )
    fit = HostFit(catalog_of(write_index(tmp_path, *nodes)), HOST)
    reasons = [reason for each in fit.coded()[1] for reason in each.reasons]
    assert {named(reason) for reason in reasons} == {"platform"}
    assert {"platform odd1", "other platform"} < {reason.label for reason in reasons}
    assert len({reason.label for reason in reasons}) < 250


def test_c_libraries_that_need_each_other_are_checked_as_rows_are_read(tmp_path: Path) -> None:
    glibc = node(GLIBC, name="glibc", dependencies=[edge("musl", ZLIB, ["link"], ["libc"])])
    musl = node(ZLIB, name="musl", dependencies=[LINKED])
    write_index(tmp_path, glibc, musl)
    catalog = catalog_of(tmp_path / "index.json", dependency_only=True)
    catalog.by_host.connect(lambda: HostFit(catalog, HOST))
    catalog.by_host.fills_rows = True
    assert [row.spec.fit is not None for row in catalog.rows(range(2))] == [True, True]

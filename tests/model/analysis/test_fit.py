"""Tests of `fit`, which is held to the letters that Spack's own rules give."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from typing import Any

import pytest

from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.host import Host, Libc, parse_host
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import Fit
from tests.builders import (
    GCC,
    GLIBC,
    SPACK_DATA,
    ZLIB,
    Node,
    catalog_of,
    database,
    edge,
    hash_of,
    installs,
    leaf,
    node,
    record,
    write_page,
)

REUSE = json.loads(lzma.decompress((SPACK_DATA / "analysis" / "reuse.json.xz").read_bytes()))
RUN = set("PTLOptlo")
DIGITS = 7
"""Characters of the hashes in `REUSE`, which are enough to tell them apart."""

HOST = parse_host("target=zen3 glibc=2.34 os=rocky9")
BUILT = {"platform": "linux", "platform_os": "rocky9", "target": "zen3"}
OLD_GLIBC = {
    **leaf(GLIBC, "glibc", "2.28"),
    "arch": BUILT,
    "external": {"path": "/usr", "module": None, "extra_attributes": {}},
}


def hosts() -> Iterator[tuple[int, Host]]:
    """Yield the hosts of `REUSE` with their numbers, and check their targets."""
    for number, host in enumerate(REUSE["hosts"]):
        libc = Libc(*host["libc"]) if host["libc"] else None
        built = Host(host["platform"], host["os"], host["target"], libc)
        assert built.targets == set(host["targets_that_run"])
        yield number, built


def ids_by_prefix(catalog: Catalog) -> dict[str, int]:
    ids = range(catalog.spec_count)
    hashes = catalog.hashes_of(ids)
    return {hash_[:DIGITS]: id_ for id_, hash_ in zip(ids, hashes, strict=True)}


@pytest.mark.parametrize("name", ["spack0", "spack1"])
def test_the_letters_are_those_of_spack(name: str, whole_catalogs: dict[str, Catalog]) -> None:
    catalog = whole_catalogs[name]
    ids = ids_by_prefix(catalog)
    for number, host in hosts():
        fit = HostFit(catalog, host)
        codes = fit.codes()
        answers = [
            ("".join(reason.letter for reason in answer.reasons), answer.fits, answer.reusable)
            for answer in fit.fits()
        ]
        for letters, hashes in REUSE["letters"][name].items():
            expected = letters.split("/")[number]
            answer = expected, not RUN & set(expected), not expected
            for start in range(0, len(hashes), DIGITS):
                hash_ = hashes[start : start + DIGITS]
                assert answers[codes[ids[hash_]]] == answer, (hash_, host)


def test_spack_takes_what_no_rule_of_its_time_refuses(whole_catalogs: dict[str, Catalog]) -> None:
    by_id = {host["id"]: built for host, (_, built) in zip(REUSE["hosts"], hosts(), strict=True)}
    for solve in REUSE["solve"]:
        catalog = whole_catalogs[solve["db"]]
        fit = HostFit(catalog, by_id[solve["host"]]).of(catalog.by_hash(solve["hash"])[0].id)
        letters = "".join(reason.letter for reason in fit.reasons).replace("F", "")
        assert letters == solve["letters"]
        # The Spack of these solves does not have the rule F yet.
        assert solve["taken"] is not bool(letters)


def test_one_spec_is_checked_like_all(whole_catalogs: dict[str, Catalog]) -> None:
    catalog = whole_catalogs["spack1"]
    everything = HostFit(catalog, HOST)
    codes, fits = everything.codes(), everything.fits()
    one_by_one = HostFit(catalog, HOST)
    for id_ in range(0, len(codes), 97):
        alone, among_all = one_by_one.of(id_), fits[codes[id_]]
        assert [reason[:2] for reason in alone.reasons] == [r[:2] for r in among_all.reasons]
        assert (alone.fits, alone.reusable) == (among_all.fits, among_all.reusable)
        assert all(reason.sentence for reason in alone.reasons)


def index(*nodes: Node) -> bytes:
    return database(installs(*nodes))


def fit_of(data: bytes, tmp_path: Any, host: Host = HOST, hash_: str = ZLIB) -> Fit:
    path = tmp_path / "index.json"
    path.write_bytes(data)
    catalog = catalog_of(path, dependency_only=True)
    return HostFit(catalog, host).of(catalog.by_hash(hash_)[0].id)


def zlib(**fields: Any) -> Node:
    edges = [edge("glibc", GLIBC, ["link"], ["libc"])]
    return node(**{"arch": BUILT, "dependencies": edges, **fields})


def told(fit: Fit) -> list[tuple[str, str]]:
    return [(reason.letter, reason.sentence) for reason in fit.reasons]


def test_what_runs(tmp_path: Any) -> None:
    assert fit_of(index(zlib(), OLD_GLIBC), tmp_path) == Fit(True, True)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"arch": {**BUILT, "target": "zen4"}}, ("T", "target zen4 > zen3")),
        (
            {"arch": {**BUILT, "target": "icelake"}},
            ("T", "target icelake needs more than zen3 has"),
        ),
        (
            {"arch": {**BUILT, "target": "neoverse_v1"}},
            ("T", "target neoverse_v1 is for another family than zen3"),
        ),
        ({"arch": {**BUILT, "platform": "darwin"}}, ("P", "platform darwin, not linux")),
        ({"name": "compiler-wrapper"}, ("W", "Spack never reuses the compiler wrapper")),
        (
            {"parameters": {"dev_path": "/home/me"}},
            ("D", "it was built from sources under development (dev_path)"),
        ),
        (
            {"external": {"path": "/opt", "module": None, "extra_attributes": {}}},
            ("X", "external at /opt, which is not in the host's packages.yaml"),
        ),
        (
            {"annotations": {"original_specfile_version": 4}},
            ("F", "built before Spack 1.0, in format 4 (Spack since 2026 needs 5)"),
        ),
    ],
)
def test_each_refusal_says_why(fields: Any, reason: tuple[str, str], tmp_path: Any) -> None:
    fit = fit_of(index(zlib(**fields), OLD_GLIBC), tmp_path)
    assert told(fit) == [reason]
    assert fit.fits is (reason[0] not in RUN)
    assert fit.reusable is False


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("target=zen3 glibc=2.17", "glibc 2.28 > 2.17"),
        ("target=zen3 glibc=2.34:/opt", "glibc at /usr, not at /opt"),
        ("target=zen3 musl=1.2", "glibc, not musl"),
    ],
)
def test_another_c_library(host: str, reason: str, tmp_path: Any) -> None:
    fit = fit_of(index(zlib(), OLD_GLIBC), tmp_path, parse_host(host))
    assert (told(fit), fit.fits) == ([("L", reason)], False)


def test_macos_runs_what_was_built_for_older_releases(tmp_path: Any) -> None:
    host = parse_host("os=sonoma target=m1")
    letters = {}
    for os in ("sonoma", "catalina", "sequoia", "rhel9"):
        arch = {"platform": "darwin", "platform_os": os, "target": "aarch64"}
        fit = fit_of(index(node(arch=arch, dependencies=[])), tmp_path, host)
        letters[os] = told(fit)
    assert letters == {
        "sonoma": [],
        "catalina": [],
        "sequoia": [("O", "os sequoia > sonoma")],
        "rhel9": [("O", "os rhel9")],
    }


def test_a_dependency_that_refuses_is_named(tmp_path: Any) -> None:
    mpi, lib = hash_of(8), hash_of(9)
    external = {"path": "/opt/cray", "module": ["cray-mpich"], "extra_attributes": {}}
    nodes = (
        zlib(dependencies=[edge("lib", lib, ["link"])]),
        zlib(hash_=lib, name="lib", dependencies=[edge("mpich", mpi, ["link"], ["mpi"])]),
        zlib(hash_=mpi, name="mpich", dependencies=[], external=external),
    )
    fit = fit_of(index(*nodes), tmp_path)
    sentence = "mpich: external at /opt/cray, which is not in the host's packages.yaml"
    assert told(fit) == [("x", sentence)]
    assert (fit.fits, fit.reusable) == (True, False)
    assert fit.reusable_values == ("no", "external dependency")


def test_of_several_c_libraries_the_newest_is_named(tmp_path: Any) -> None:
    newer, newest, first, second = map(hash_of, (10, 11, 12, 13))
    libc = {"2.35": newer, "2.39": newest}
    nodes = [
        zlib(dependencies=[edge("a", first, ["link"]), edge("b", second, ["run"])]),
        *(
            zlib(hash_=hash_, name=name, dependencies=[edge("glibc", libc[v], ["link"], ["libc"])])
            for hash_, name, v in ((second, "b", "2.35"), (first, "a", "2.39"))
        ),
        *({**OLD_GLIBC, "hash": hash_, "version": v} for v, hash_ in libc.items()),
    ]
    fit = fit_of(index(*nodes), tmp_path)
    assert told(fit) == [("l", "a: glibc 2.39 > 2.34")]


def test_build_tools_and_the_runtime_of_gcc_do_not_count(tmp_path: Any) -> None:
    runtime = hash_of(8)
    newer = {**BUILT, "target": "zen4"}
    nodes = (
        zlib(
            dependencies=[
                edge("gcc", GCC, ["build"], ["c"]),
                edge("gcc-runtime", runtime, ["link"]),
            ]
        ),
        {**leaf(GCC, "gcc", "14"), "arch": newer},
        {**leaf(runtime, "gcc-runtime", "14"), "arch": newer},
    )
    assert fit_of(index(*nodes), tmp_path) == Fit(True, True)


def test_a_compiler_without_its_runtime(tmp_path: Any) -> None:
    nodes = (
        zlib(dependencies=[edge("gcc", GCC, ["build"], ["c"])]),
        {**leaf(GCC, "gcc", "14"), "arch": BUILT},
    )
    fit = fit_of(index(*nodes), tmp_path)
    assert ("".join(reason.letter for reason in fit.reasons), fit.fits) == ("R", True)


def test_absent_dependencies_leave_it_unknown(tmp_path: Any) -> None:
    fit = fit_of(index(zlib(dependencies=[edge("lib", hash_of(8), ["link"])])), tmp_path)
    assert (fit.fits, fit.reusable) == (None, None)
    assert told(fit) == [("", "lib: dependency not described")]
    assert fit.fits_values == ("unknown", "dependency not described")
    only_built_with = zlib(dependencies=[edge("cmake", hash_of(8), ["build"])])
    assert fit_of(index(only_built_with), tmp_path).fits is True
    without_libc = index(zlib(dependencies=[edge("glibc", GLIBC, ["link"], ["libc"])]))
    assert fit_of(without_libc, tmp_path).fits is None


def test_what_is_unknown_of_the_host_leaves_it_unknown(tmp_path: Any) -> None:
    answers = {}
    for text in ("target=zen3", "glibc=2.34", "target=zen2", "os=sequoia target=m1"):
        answers[text] = fit_of(index(zlib(), OLD_GLIBC), tmp_path, parse_host(text)).fits
    assert answers == {
        "target=zen3": None,
        "glibc=2.34": None,
        "target=zen2": False,
        "os=sequoia target=m1": False,
    }
    assert fit_of(index(zlib(), OLD_GLIBC), tmp_path, Host()).fits is None


def test_pages_tell_the_target_and_nothing_more(tmp_path: Any) -> None:
    records = [
        record(number, target=target, os="ubuntu24.04")
        for number, target in enumerate(("zen3", "zen4", "x86_64_v3"))
    ]
    write_page(tmp_path, records)
    catalog = catalog_of(tmp_path)
    fit = HostFit(catalog, HOST)
    answers = {row.spec.target: fit.of(row.id) for row in catalog.rows(range(3))}
    assert {target: answer.fits for target, answer in answers.items()} == {
        "zen3": None,
        "zen4": False,
        "x86_64_v3": None,
    }
    assert answers["zen3"].fits_values == ("unknown", "dependencies not listed")
    assert told(answers["x86_64_v3"])[-1] == (
        "",
        "dependencies not listed; target x86_64_v3 runs on zen3",
    )
    assert answers["zen4"].fits_values == ("no", "target too new")
    assert answers["zen3"].reusable is None


def test_endless_different_reasons_are_not_told_apart(tmp_path: Any) -> None:
    nodes = (
        zlib(hash_=hash_of(n), arch={**BUILT, "platform": f"odd{n}"}, dependencies=[])
        for n in range(300)
    )
    path = tmp_path / "index.json"
    path.write_bytes(index(*nodes))
    fit = HostFit(catalog_of(path), HOST)
    fit.codes()
    reasons = [reason for each in fit.fits() for reason in each.reasons]
    assert {reason.letter for reason in reasons} == {"P"}
    assert {"platform odd1", "other platform"} < {reason.label for reason in reasons}
    assert len({reason.label for reason in reasons}) < 250


def test_a_cycle_ends(tmp_path: Any) -> None:
    other = hash_of(8)
    nodes = (
        zlib(dependencies=[edge("other", other, ["link"])]),
        zlib(hash_=other, name="other", dependencies=[edge("zlib", ZLIB, ["link"])]),
    )
    assert fit_of(index(*nodes), tmp_path).fits is True


def test_checking_all_specs_can_be_cancelled(whole_catalogs: dict[str, Catalog]) -> None:
    fit = HostFit(whole_catalogs["spack1"], HOST)
    with pytest.raises(Cancelled):
        fit.codes(lambda: True)
    assert not fit.is_ready
    assert len(fit.codes()) == 9007
    assert fit.is_ready


def test_c_libraries_that_need_each_other_are_checked_in_rows(tmp_path: Any) -> None:
    glibc = node(GLIBC, name="glibc", dependencies=[edge("musl", ZLIB, ["link"], ["libc"])])
    musl = node(ZLIB, name="musl", dependencies=[edge("glibc", GLIBC, ["link"], ["libc"])])
    path = tmp_path / "index.json"
    path.write_bytes(index(glibc, musl))
    catalog = catalog_of(path, dependency_only=True)
    catalog.by_host.connect(lambda: HostFit(catalog, HOST))
    catalog.by_host.fills_rows = True
    assert [row.spec.fit is not None for row in catalog.rows(range(2))] == [True, True]

"""The detail of a record has all its values and relations, and only clean text."""

from collections.abc import Sequence
from typing import Any

import pytest

from spackscope.model.analysis.differences import Difference
from spackscope.model.analysis.needs import NeededSpec, Needs
from spackscope.model.answers.show import detail_lines
from spackscope.model.core.columns import COLUMNS
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import NO_COMPILER, Dependency, Fit, Spec, absent_spec
from spackscope.model.core.rules import LIBC, NOT_LISTED, OLD_FORMAT, TARGET
from spackscope.model.core.text import is_clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.order import View
from spackscope.model.query.ast import Term, query_of
from spackscope.model.query.parser import MAX_QUERY_LENGTH, parse
from spackscope.model.report.detail import (
    DetailLine,
    Members,
    detail,
    fit_lines,
    needs_line,
    needs_values,
)
from spackscope.model.report.differences import difference_values
from spackscope.model.report.paste import install_command, spec_string
from spackscope.model.report.report import text_of
from spackscope.model.report.table_columns import variants_cell
from tests.builders.catalogs import all_records
from tests.builders.pages import hash_of
from tests.evaluator import satisfies
from tests.model.report.test_differences import row

SPEC = Spec(
    package="hdf5",
    hash="23r4fq5ly72u3bfmbi3o3unokk4d5ipr",
    version="1.14.5",
    compiler="gcc@13.2.0/5o2zn6vqwerthjkl",
    platform="linux",
    os="ubuntu24.04",
    target="x86_64_v3",
    variants=("api=default", "build_type=Release", "~cxx", "+mpi", "libs:=shared,static"),
    stacks=("e4s", "hep", "root"),
    size=5_100_000,
    tag="develop",
    origin="mirror/specs.md",
    source="mirror",
)


def lines(spec: Spec, **options: Any) -> list[DetailLine]:
    defaults: dict[str, Any] = {"varying": {}, "alike": 1, "shown": 1}
    return detail(spec, **(defaults | options))


def labelled(result: list[DetailLine]) -> dict[str, str]:
    return {line.label: line.text for line in reversed(result) if line.label}


def test_what_a_record_lacks_has_no_line() -> None:
    found = labelled(lines(replace(SPEC, tag="", size=None, stacks=())))

    assert not {"tag", "size", "stacks", "state", "namespace"} & found.keys()
    assert labelled(lines(replace(SPEC, size=None, cached=True)))["size"] == "not known"
    assert labelled(lines(replace(SPEC, package="", os="")))["package"] == "not known"
    without = labelled(lines(replace(SPEC, compiler=NO_COMPILER)))
    assert without["compiler"] == "no compiler"


def test_several_values_are_listed_under_one_label() -> None:
    spec = replace(SPEC, cached=True, installed=True, listed_in=("mirror", "tree"))

    text_lines = [*map(text_of, detail_lines(lines(spec), None))]
    assert "state         cached  installed" in text_lines
    assert "source        mirror  tree" in text_lines


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (replace(SPEC, cached=True, installed=True), install_command(SPEC)),
        (replace(SPEC, installed=True), "installed, but in no build cache"),
        (replace(SPEC, in_cache=False), "no binary: none of your caches has the archive"),
        (replace(SPEC, installed=True, external="/usr"), "nothing to install: external at /usr"),
    ],
)
def test_an_install_command_is_shown_where_it_would_work(spec: Spec, expected: str) -> None:
    assert labelled(lines(spec))["install"] == expected


def test_variants_that_differ_come_first_in_the_detail() -> None:
    result = lines(SPEC, varying={"libs": 1, "mpi": 0})

    variants = [(line.label, line.text) for line in result if line.style in ("differs", "same")]
    assert variants == [
        ("variants", "+mpi"),
        ("variants", "libs:=shared,static"),
        ("same in all", "api=default"),
        ("same in all", "build_type=Release"),
        ("same in all", "~cxx"),
    ]


def test_look_alikes_are_counted() -> None:
    counted = [labelled(lines(SPEC, alike=n, shown=1_200)).get("look-alikes") for n in (1, 38)]
    assert counted == [None, "38 of 1,200 builds look the same"]


def test_the_hash_of_a_row_is_one_of_all_its_builds() -> None:
    assert [
        Members((1, 2), 0).choice,
        Members((1, 2, 3)).choice,
        Members(tuple(range(1_200)), 4, "most used").choice,
    ] == ["one of 2 builds", "any of 3 builds", "most used of 1,200 builds"]


def terms(result: list[DetailLine]) -> list[Term]:
    return [line.term for line in result if line.term is not None]


def test_every_term_of_the_detail_finds_its_record(sample: Catalog, mixed: Catalog) -> None:
    for catalog in (sample, mixed):
        for spec in all_records(catalog)[::7]:
            query = query_of(*terms(lines(spec)))
            assert satisfies(spec, query)
            assert parse(str(query)) == query
            listing = catalog.listing(View(query))
            assert {one.hash for one in catalog.records(listing.ids)} == {spec.hash}


def test_hostile_text_is_presented_clean_and_can_be_asked_for(hostile: Catalog) -> None:
    for spec in all_records(hostile):
        result = lines(spec, varying={"k": 0}, alike=2, shown=3)
        strings = {part for line in result for part in (line.text, line.label)}
        strings |= {column.cell(column.value(spec)) for column in COLUMNS}
        strings |= {spec_string(spec), install_command(spec), *variants_cell(spec.variants, {})}

        assert [shown for shown in strings if not is_clean(shown)] == []
        for term in terms(result):
            assert satisfies(spec, query_of(term))
            if len(str(term)) <= MAX_QUERY_LENGTH:
                assert parse(str(term)) == query_of(term)


def spec(
    number: int, package: str, *, virtuals: tuple[str, ...] | None = None, **fields: Any
) -> NeededSpec:
    bare = absent_spec(Dependency(hash_of(number), package))
    described = replace(bare, **{"version": "1.0", **fields})
    return NeededSpec(number, described, is_direct=virtuals is not None, virtuals=virtuals or ())


HDF5 = spec(0, "hdf5", cached=True, size=2_000_000)
MPICH = spec(1, "mpich", cached=True, size=1_000_000, virtuals=("mpi",))
ZLIB = spec(2, "zlib", installed=True, virtuals=())
RUNTIME = spec(3, "gcc-runtime", cached=True, virtuals=())
LIBXML2 = spec(4, "libxml2")
GLIBC = spec(5, "glibc", external="/usr", virtuals=("libc",))


@pytest.mark.parametrize(
    ("needs", "line"),
    [
        (None, "This source lists no dependencies"),
        (Needs((HDF5,), (), ()), "1 spec, 2.0 MB"),
        (Needs((ZLIB,), (), ()), "1 spec, 1 installed"),
        (Needs((RUNTIME,), (), ()), "1 spec, size unknown"),
        (
            Needs((HDF5, MPICH, ZLIB, RUNTIME, LIBXML2), (GLIBC,), (), is_unknown=True),
            "at least 5 specs, 1 installed, 1 not cached, 3.0 MB + 2 unknown",
        ),
    ],
)
def test_needs_are_counted_in_a_line(needs: Needs | None, line: str) -> None:
    assert needs_line(needs) == line


def test_the_most_telling_dependencies_come_first() -> None:
    needs = Needs((HDF5, RUNTIME, ZLIB, LIBXML2, MPICH), (), ())
    first, virtuals, *others, last, download = needs_values(needs)
    assert [each.text for each in others] == ["zlib@1.0", "gcc-runtime@1.0"]
    assert (first.text, first.label, first.total) == ("mpich@1.0", "needs", 4)
    assert (virtuals.text, virtuals.style) == ("(mpi)", "virtual")
    assert (last.text, last.id) == ("libxml2@1.0", LIBXML2.id)
    assert download.text == needs_line(needs)
    (nothing, _) = needs_values(Needs((HDF5,), (), ()))
    assert nothing.text == "nothing else"


def test_hostile_texts_are_cleaned() -> None:
    hostile = spec(0, "a\x1b[31m", version="\n", external="\x1b]0;x\x07", virtuals=("\t",))
    needs = Needs((hostile, hostile), (hostile,), ())
    texts = [value.text for value in needs_values(needs)]
    for text in texts:
        assert text.isprintable()


def test_two_differences_are_named_and_the_rest_counted() -> None:
    rows = [row(f"p{n}", "version", ("1",), ("2",)) for n in range(4)]
    tools = [each._replace(part="build") for each in rows]
    names = ["p0 1 ≠ 2", "p1 1 ≠ 2", "and 2 more"]

    def lines(differences: Sequence[Difference], **known: bool) -> list[DetailLine]:
        known = {"is_known": True, "runs_the_same": False, **known}
        return [*difference_values("h" * 32, 5, differences, **known)]

    for differences, told in (
        *((rows, names), (tools, names), ([], ["no known difference"])),
        (rows[:1] + tools[1:], ["p0 1 ≠ 2", "p1 1 ≠ 2", "and 2 more"]),
    ):
        assert [line.text for line in lines(differences)] == ["hhhhhhh", *told]
    assert lines([], is_known=False)[-1].text.startswith("Dependencies are not listed")
    alike = lines(tools[:1], runs_the_same=True)
    assert "".join(f"{line.lead or ' '}{line.text}" for line in alike) == (
        " hhhhhhh runs the same · build dependencies: p0 1 ≠ 2"
    )


TOO_NEW = TARGET.with_label("target too new", sentence="target zen4 > zen3")
NEWER_LIBC = LIBC.with_label("glibc 2.39 > 2.34", sentence="zlib: glibc 2.39 > 2.34")
OLD = OLD_FORMAT.with_label(
    "built before Spack 1.0", sentence="built before Spack 1.0, in format 4"
)
NO_EDGES = NOT_LISTED.with_label("not listed", sentence="not listed; target x86_64 runs")


@pytest.mark.parametrize(
    ("fit", "sentences"),
    [
        (Fit(True, True), ["✓ runs here"]),
        (
            Fit(False, False, (TOO_NEW, NEWER_LIBC)),
            ["does not run here: target zen4 > zen3", "zlib: glibc 2.39 > 2.34"],
        ),
        (
            Fit(True, False, (OLD,)),
            ["✓ runs here", "Spack does not reuse it: built before Spack 1.0, in format 4"],
        ),
        (Fit(None, None, (NO_EDGES,)), ["unknown: not listed; target x86_64 runs"]),
        (Fit(False, False, (TOO_NEW, NO_EDGES)), ["does not run here: target zen4 > zen3"]),
    ],
)
def test_sentences_on_one_spec(fit: Fit, sentences: list[str]) -> None:
    assert [line.text for line in fit_lines(fit)] == sentences


def test_each_sentence_has_the_filter_for_it() -> None:
    lines = fit_lines(Fit(False, False, (OLD, TOO_NEW)))
    assert [line.term for line in lines] == [
        Term("fits", "target too new"),
        Term("reusable", "built before Spack 1.0"),
    ]
    (line,) = fit_lines(Fit(True, True), "on zen3")
    assert (line.text, line.term) == ("✓ runs on zen3", Term("fits", "yes"))

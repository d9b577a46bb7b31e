"""Tests of the sentences on what runs on a host."""

import pytest

from spackscope.model.core.records import Fit
from spackscope.model.core.rules import LIBC, NOT_LISTED, OLD_FORMAT, TARGET
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Term
from spackscope.model.query.parser import parse
from spackscope.model.report.detail import fit_lines
from spackscope.model.report.titles import hidden_by_host
from tests.builders.catalogs import on_host

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


@pytest.fixture(scope="module")
def catalog(whole_catalogs: dict[str, Catalog]) -> Catalog:
    return on_host(whole_catalogs["spack1"], "target=x86_64_v3 glibc=2.28")


def test_what_a_filter_hides_is_counted(catalog: Catalog) -> None:
    assert hidden_by_host(catalog, parse("zlib-ng")) == ""
    hidden = hidden_by_host(catalog, parse("zlib-ng fits"))
    total, shown = catalog.count(parse("zlib-ng")), catalog.count(parse("zlib-ng fits"))
    assert hidden.startswith(f"fits hides {total - shown} of {total}: ")
    newer = catalog.count(parse("zlib-ng fits='glibc 2.35 > 2.28'"))
    assert f"glibc 2.35 > 2.28: {newer}" in hidden
    others = hidden_by_host(catalog, parse("zlib-ng !fits"))
    assert others == f"!fits hides {shown} of {total}: yes {shown}"


def test_of_several_specs_each_may_hide_some(catalog: Catalog) -> None:
    both, hdf5 = hidden_by_host(catalog, parse("hdf5 fits zlib-ng")), parse("hdf5")
    hides = catalog.count(hdf5) - catalog.count(parse("hdf5 fits"))
    total = catalog.count(hdf5) + catalog.count(parse("zlib-ng"))
    assert both.startswith(f"fits hides {hides} of {total}: ")

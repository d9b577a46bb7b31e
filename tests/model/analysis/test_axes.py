"""Each column with a dictionary and each variant is something to count by."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.analysis.frequency import COUNTABLE, axis_names, find_axis, frequency
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.records import ANSWERS
from spackscope.model.query.ast import Query, query_of
from spackscope.model.query.parser import parse
from tests.builders import catalog_of, on_host, record, write_page
from tests.hostile import HOSTILE_TEXT
from tests.model.query.test_spack_answers import DATA

EXACT = ("package", "os", "target", "platform", "arch", "stack", "tag", "state", "mpi", "shared")


@pytest.fixture(scope="module")
def spack1() -> Catalog:
    return catalog_of(DATA / "spack1.index.json.gz")


def test_columns_and_variants_have_names(mixed: Catalog) -> None:
    names = axis_names(mixed)

    assert {"os", "target", "stack", "shared", "libs", "cflags"} <= set(names)
    assert not {"hash", "size", "", "+shared"} & set(names)
    assert names[: len(COUNTABLE)] == list(COUNTABLE)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("os", "os"),
        ("operating_system", "os"),
        ("stacks", "stack"),
        ("architecture", "arch"),
        ("mpi", "mpi"),
        ("+mpi", "mpi"),
        ("~mpi", "mpi"),
        ("hash", None),
        ("size", None),
        ("nosuch", None),
        ("", None),
    ],
)
def test_a_name_is_a_column_before_a_variant(mixed: Catalog, name: str, found: str | None) -> None:
    axis = find_axis(mixed, name)
    assert (axis.name if axis is not None else None) == found


def test_flags_that_no_page_lists_are_not_counted_as_none(mixed: Catalog) -> None:
    with pytest.raises(Unanswerable, match="pages list none"):
        find_axis(mixed, "flags")


def test_the_term_of_a_value_finds_what_was_counted(mixed: Catalog, spack1: Catalog) -> None:
    for catalog in (mixed, spack1):
        unlisted = {"fits", "reusable"}
        if not catalog.dictionaries.lists_dependencies:
            unlisted.add("flags")
        names = [*COUNTABLE, "shared", "libs", "mpi", "build_type", "cflags"]
        for name in set(names) - unlisted:
            axis = find_axis(catalog, name)
            if axis is None:
                continue
            facets = frequency(catalog, Query(), [axis]).facets[0]
            for facet in facets[:: 1 + len(facets) // 100]:
                term = axis.term(facet.value)
                found = catalog.count(query_of(term))
                # A version, compiler or variant may be written in several ways that mean the same.
                is_exact = "?" not in term.pattern and name in EXACT
                assert found == facet.count or (not is_exact and found > facet.count), term
                assert catalog.count(parse(str(query_of(term)), packages=())) == found, term


def test_what_depends_on_the_host_is_counted_spec_by_spec(
    whole_catalogs: dict[str, Catalog],
) -> None:
    with pytest.raises(Unanswerable, match="the host, which is not known"):
        find_axis(whole_catalogs["spack1"], "fits")
    catalog = on_host(whole_catalogs["spack1"], "target=x86_64_v3 glibc=2.28 os=rocky8")
    fits, target = find_axis(catalog, "fits"), find_axis(catalog, "target")
    assert fits is not None
    assert target is not None
    counts = frequency(catalog, parse("hdf5"), [target, fits])
    assert counts.total == catalog.count(parse("hdf5"))
    for (architecture, answer), count in counts.cells.items():
        conditions = target.term(architecture), fits.term(answer)
        assert catalog.count(parse("hdf5").plus(query_of(*conditions))) == count
    assert sum(f.count for f in counts.facets[1] if f.value in ANSWERS) == counts.total


def test_hostile_values_are_counted_and_found(tmp_path: Path) -> None:
    texts = [text for _, text in HOSTILE_TEXT]
    records = [record(n, os=text, variants=[f"x={text}"]) for n, text in enumerate(texts)]
    write_page(tmp_path, records)
    catalog = catalog_of(tmp_path)

    for name in ("os", "x"):
        axis = find_axis(catalog, name)
        assert axis is not None
        counts = frequency(catalog, Query(), [axis])
        assert counts.total == catalog.total
        for facet in counts.facets[0]:
            assert catalog.count(query_of(axis.term(facet.value))) >= facet.count

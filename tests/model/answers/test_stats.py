"""Records are counted by columns and variants."""

from collections import Counter
from itertools import combinations, product
from typing import Any

import pytest

from spackscope.model.answers.stats import Axis, Frequency, find_axis, frequency
from spackscope.model.assist.completion import COUNTABLE, axis_names
from spackscope.model.core.columns import FIELDS
from spackscope.model.core.errors import Unanswerable, WrongQuestion
from spackscope.model.core.records import ANSWERS, Spec, split_variant
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, Term, query_of
from spackscope.model.query.parser import parse
from tests.builders.catalogs import all_records, on_host
from tests.evaluator import satisfies

EXACT = ("package", "os", "target", "platform", "arch", "stack", "tag", "state", "mpi", "shared")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        *(("os", "os"), ("operating_system", "os"), ("stacks", "stack"), ("architecture", "arch")),
        *(("mpi", "mpi"), ("+mpi", "mpi"), ("~mpi", "mpi")),
        *((name, None) for name in ("hash", "size", "nosuch", "")),
    ],
)
def test_a_name_is_a_column_before_a_variant(mixed: Catalog, name: str, found: str | None) -> None:
    if found is None:
        with pytest.raises(WrongQuestion):
            find_axis(mixed, name)
    else:
        assert find_axis(mixed, name).name == found
    is_one = found is not None and found == name
    assert (name in axis_names(mixed)) == is_one
    assert axis_names(mixed)[: len(COUNTABLE)] == list(COUNTABLE)


QUERIES = ["", "os=linux", "zlib +shared", "libs=static | os=centos7", "/2", "os=nosuch"]
NOT_ON_PAGES = ("flags", "fits", "reusable")
NAMES = [name for name in COUNTABLE if name not in NOT_ON_PAGES]
NAMES += ["shared", "libs", "mpi", "build_type"]


def count(catalog: Catalog, text: str, *names: str) -> Frequency:
    return frequency(catalog, parse(text), [find_axis(catalog, name) for name in names])


def values(spec: Spec, name: str) -> set[str]:
    """All that a record has of a column or a variant, read from the record itself."""
    if name == "arch":
        return {f"{spec.platform}-{spec.os}-{spec.target}"}
    if name == "namespace":
        return {spec.namespace or "builtin"}
    if name in FIELDS:
        value: Any = FIELDS[name].value(spec)
        return set(value) if isinstance(value, tuple) and value else {value or ""}
    texts = set()
    for variant in spec.variants:
        its_name, its_values = split_variant(variant)
        if its_name == name:
            flags = variant[:1] in ("+", "~")
            texts |= {variant} if flags else {f"{name}={value}" for value in its_values}
    return texts or {""}


def test_the_term_of_a_value_finds_what_was_counted(
    mixed: Catalog, small_catalogs: dict[str, Catalog]
) -> None:
    for catalog in (mixed, small_catalogs["spack1"]):
        unlisted = {"fits", "reusable"}
        if not catalog.lists_dependencies:
            unlisted.add("flags")
        names = [*COUNTABLE, "shared", "libs", "mpi", "build_type", "cflags"]
        for name in set(names) - unlisted:
            if name not in axis_names(catalog):
                continue
            axis = find_axis(catalog, name)
            counts = [*frequency(catalog, Query(), [axis]).cells.items()]
            for (value,), number in counts[:: 1 + len(counts) // 100]:
                term = axis.term(value)
                found = catalog.count(query_of(term))
                # A version, compiler or variant may be written in several ways that mean the same.
                is_exact = "?" not in term.pattern and name in EXACT
                assert found == number or (not is_exact and found > number), term
                assert catalog.count(parse(str(query_of(term)), packages=())) == found, term


def test_what_depends_on_the_host_is_counted_spec_by_spec(
    whole_catalogs: dict[str, Catalog],
) -> None:
    with pytest.raises(Unanswerable, match="the host, which is unknown"):
        find_axis(whole_catalogs["spack1"], "fits")
    catalog = on_host(whole_catalogs["spack1"], "target=x86_64_v3 glibc=2.28 os=rocky8")
    fits, target = find_axis(catalog, "fits"), find_axis(catalog, "target")
    counts = frequency(catalog, parse("hdf5"), [target, fits])
    assert counts.total == catalog.count(parse("hdf5"))
    for (architecture, answer), count in counts.cells.items():
        conditions = target.term(architecture), fits.term(answer)
        assert catalog.count(parse("hdf5").plus(query_of(*conditions))) == count
    assert sum(count for (_, value), count in counts.cells.items() if value in ANSWERS) == (
        counts.total
    )


@pytest.mark.parametrize("text", QUERIES)
def test_axes_count_records(mixed: Catalog, text: str) -> None:
    query = parse(text)
    specs = [spec for spec in all_records(mixed) if satisfies(spec, query)]
    for name in NAMES:
        expected = Counter(value for spec in specs for value in values(spec, name))
        counts, axis = count(mixed, text, name), find_axis(mixed, name)
        assert {value: number for (value,), number in counts.cells.items()} == expected, name
        order = [
            (axis.is_absent(value), -number, axis.sort_key(value))
            for (value,), number in counts.cells.items()
        ]
        assert order == sorted(order), name
        assert counts.has_lists == (expected.total() > len(specs)), name
    for first, second in combinations(["compiler", "target", "stack", "libs", "shared"], 2):
        expected_cells = Counter(
            cell for spec in specs for cell in product(values(spec, first), values(spec, second))
        )
        counts = count(mixed, text, first, second)
        assert counts.total == len(specs)
        assert counts.cells == expected_cells, (first, second)
        numbers = [n for cell, n in counts.cells.items() if not {*cell} & {"", "none"}]
        assert numbers == sorted(numbers, reverse=True)


def test_versions_are_counted_in_their_order(mixed: Catalog) -> None:
    counts = count(mixed, "zlib", "version").cells
    ties = [[value for (value,), n in counts.items() if n == tie] for tie in {*counts.values()}]
    order = ["1.9", "1.10rc1", "1.10", "develop", ""]
    assert any(len(tie) > 1 for tie in ties)
    for tie in ties:
        known = [value for value in tie if value in order]
        assert known == sorted(known, key=order.index)


def test_an_axis_of_each_record_is_counted_beside_one_of_look_alikes(mixed: Catalog) -> None:
    codes, values = [id_ % 3 for id_ in range(mixed.total)], [("yes",), ("no",), ()]
    every_third = Axis(
        "third", "third", codes, values, lambda value: Term("package", value), by_record=True
    )
    counts = frequency(mixed, parse("os=linux"), [every_third, find_axis(mixed, "target")])
    expected = Counter(
        ({0: "yes", 1: "no"}[number % 3], spec.target)
        for number, spec in enumerate(all_records(mixed))
        if spec.os == "linux" and number % 3 < 2
    )
    assert counts.cells == expected

"""What is offered instead of a query without a match has the matches that it claims."""

import contextlib
from random import Random

import pytest

from spackscope.model.assist.advice import MAX_RELAXATIONS, nearest_versions, relaxations
from spackscope.model.assist.offers import Relaxation
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import is_clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.order import View
from spackscope.model.query.ast import Query
from spackscope.model.query.lexer import in_quotes
from spackscope.model.query.parser import parse
from tests.builders.catalogs import all_records
from tests.evaluator import satisfies
from tests.hostile import HOSTILE_TEXT
from tests.random_queries import random_query


@pytest.fixture
def spack1(small_catalogs: dict[str, Catalog]) -> Catalog:
    return small_catalogs["spack1"]


def offered(catalog: Catalog, text: str) -> dict[str, int]:
    return {each.label: each.count for each in relaxations(catalog, parse(text))}


def labels(catalog: Catalog, text: str) -> list[str]:
    return list(offered(catalog, text))


def check(catalog: Catalog, query: Query) -> tuple[Relaxation, ...]:
    """Check what holds of the relaxations of any query without a match."""
    found = relaxations(catalog, query)
    assert found, f"nothing is offered for {query}"
    assert len(found) <= MAX_RELAXATIONS
    assert len({each.query for each in found}) == len(found)
    for each in found:
        assert each.query != query
        assert is_clean(each.label)
        written = parse(str(each.query), packages=())
        listing = catalog.listing(View(written))
        assert listing.shown == each.count > 0, f"{query}: {each}"
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_counts_are_those_of_the_rows_and_of_the_evaluator(
    mixed: Catalog, spack1: Catalog, seed: int
) -> None:
    catalog = mixed if seed == 1 else spack1
    specs, random, checked = all_records(mixed), Random(seed), 0
    while checked < 20:
        with contextlib.suppress(QueryError, Unanswerable):
            query = parse(random_query(random))
            if not catalog.count(query):
                checked += 1
                for each in check(catalog, query):
                    if catalog is mixed:
                        expected = sum(satisfies(spec, each.query) for spec in specs)
                        assert each.count == expected, f"{query}: {each}"


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("hdf5@1.99:", ["@=1.14.6 instead of @1.99:", "without @1.99:"]),
        ("hdf5@:1.2", ["@=1.8.23 instead of @:1.2", "without @:1.2"]),
        ("hdf5 %gcc@99", ["%gcc instead of %gcc@99", "%gcc@=14.2.0 instead of %gcc@99"]),
        ("apple-clang@1:", ["%apple-clang@1: instead of apple-clang@1:"]),
        ("zen4", ["target=:zen4 instead of zen4"]),
        ("hdf5 target=zen3", ["target=:zen3 instead of target=zen3", "without target=zen3"]),
        ("hdf5 target=zen33", ["target=:zen3 instead of target=zen33"]),
        ("hdf5 target=:x86_64", ["target=:x86_64_v3 instead of target=:x86_64"]),
        ("hdf5 +mpi os=nosuch", ["without os=nosuch"]),
        ("hdf5 os=ubuntu24", ["os=ubuntu22.04 instead of os=ubuntu24"]),
        ("hdf5 ^mpich@99", ["^mpich instead of ^mpich@99", "without ^mpich@99"]),
        ("hdf5 %gcc@11.4.0: +hl", ["+hl before %gcc@11.4.0:"]),
        ("hdf5 ^zlib-ng +mpi~hl", ["+mpi ~hl before ^zlib-ng"]),
        ("hdf", ["hdf5 instead of hdf"]),
        ("hdf5 build_type=Fast", ["build_type=* instead of build_type=Fast"]),
        ("hdf5 ~mpi ^mpich", ["without ~mpi", "without ^mpich"]),
    ],
)
def test_the_nearest_comes_first(text: str, best: list[str], spack1: Catalog) -> None:
    found = labels(spack1, text)
    assert found[: len(best)] == best or set(best) <= set(found[: len(best) + 1]), found


def test_a_target_without_builds_stays_as_what_runs_there(spack1: Catalog) -> None:
    found = labels(spack1, "hdf5 +mpi target=zen3 %gcc@12")
    assert found[0] == "%gcc instead of %gcc@12, target=:zen3"
    assert all(label.endswith(", target=:zen3") for label in found)
    # Where builds are for the very target, that is what was asked for.
    assert not any(":" in label for label in labels(spack1, "hdf5 target=x86_64_v3 os=nosuch"))


def test_more_is_dropped_only_where_less_does_not_help(spack1: Catalog) -> None:
    for text, only in (
        ("hdf5 +nosuch os=nosuch", "without +nosuch and os=nosuch"),
        ("hdf5 +nosuch os=nosuch target=nosuch", "only hdf5"),
        ("nosuch +nosuch os=nosuch", "without any filter"),
    ):
        assert labels(spack1, text) == [only]
    # One is dropped and another widened where neither helps alone.
    found = labels(spack1, "hdf5@1.14:1.14.2 %gcc@99")
    assert "%gcc instead of %gcc@99, without @1.14:1.14.2" in found
    assert found.index("without @1.14:1.14.2 and %gcc@99") > 0


def test_a_query_of_very_many_conditions_is_relaxed(spack1: Catalog) -> None:
    query = parse(" ".join(f"!os=nosuch{number}" for number in range(200)) + " os=nosuch")
    (only, *_) = check(spack1, query)
    assert only.label == "without os=nosuch"


def test_the_longest_prefix_of_a_hash_is_offered(spack1: Catalog) -> None:
    hash_ = all_records(spack1)[0].hash
    typed = hash_[:9] + "".join("b" if letter == "a" else "a" for letter in hash_[9:12])
    found = relaxations(spack1, parse(f"/{typed}"))
    assert found[0].label == f"/{hash_[:9]} instead of /{typed}"
    (word, *_) = relaxations(spack1, parse(hash_[:7]))
    assert (word.label, word.count) == (f"/{hash_[:7]} instead of {hash_[:7]}", 1)


def test_each_of_several_specs_is_relaxed(spack1: Catalog) -> None:
    found = offered(spack1, "hdf5@1.99 zlib-ng@1.0")
    of_hdf5, of_zlib = (spack1.count(parse(name)) for name in ("hdf5", "zlib-ng"))
    assert (found["without @1.99"], found["without @1.0"]) == (of_hdf5, of_zlib)
    for text, rest in (
        ("hdf5@1.14 nosuch zlib-ng@2.2", "hdf5@: @1.14 zlib-ng@: @2.2"),
        ("builtin.hdf5 nosuch", "package=hdf5 namespace=builtin"),
    ):
        first, *_ = relaxations(spack1, parse(text))
        assert (first.label, str(first.query)) == ("without nosuch", rest)
    shared = replace(parse("hdf5@1.14 zlib-ng"), groups=parse("os=nosuch").groups)
    assert relaxations(spack1, shared)[0].label == "without the conditions of all specs"


def test_what_cannot_be_answered_is_not_offered(mixed: Catalog) -> None:
    found = labels(mixed, "os=nosuch ^zlib")
    assert found == ["without os=nosuch and ^zlib"] or "^zlib" not in " ".join(found)


def test_hostile_conditions_are_clean(hostile: Catalog) -> None:
    for _, text in HOSTILE_TEXT:
        if 0 < len(text) < 999:
            query = parse(f"os={in_quotes(text)} gcc@1.99")
            assert not hostile.count(query)
            check(hostile, query)


def test_the_versions_next_to_the_bounds_are_nearest() -> None:
    versions = ["1.10", "1.2", "2.0", "1.12"]
    constraints = ("1.14:", ":1.1", "=1.13", "1.3:1.9", "9:", ":")
    assert [nearest_versions(constraint, versions) for constraint in constraints] == [
        ["1.12", "2.0"], ["1.2"], ["1.12", "2.0"], ["1.2", "1.10"], ["2.0"], []
    ]  # fmt: skip

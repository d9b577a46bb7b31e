"""A query finds in a whole index what Spack itself finds, record by record.

`tests/data/spack/whole_answers.json` has Spack's answers over all records of its two indexes, as
`find --all` lists them: computed by running Spack, with queries of every kind and random ones.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from functools import lru_cache
from typing import Any

import pytest

from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.parser import parse
from tests.builders import SPACK_DATA, all_records

DEPARTURES = {
    ("spack1", "golang"): "no edge of the index says who provides golang",
    ("spack1", "^uuid build_type=RelWithDebInfo,RelWithDebInfo"): (
        "conditions after a virtual apply to its provider"
    ),
    ("spack0", "py-wheel\t%c"): "only the recipe of a compiler tells its languages",
    ("spack0", "py-requests %fortran"): "only the recipe of a compiler tells its languages",
}
"""Where the language departs from Spack's on purpose; docs/query-language.md tells users."""


def answers_by_kind() -> dict[str, list[dict[str, Any]]]:
    by_kind = defaultdict(list)
    for answer in json.loads((SPACK_DATA / "whole_answers.json").read_text()):
        by_kind[answer["kind"]].append(answer)
    return dict(by_kind)


ANSWERS = answers_by_kind()


@pytest.mark.parametrize("kind", sorted(ANSWERS))
def test_a_whole_answer_is_that_of_spack(whole_catalogs: dict[str, Catalog], kind: str) -> None:
    departing = set()
    for answer in ANSWERS[kind]:
        expected = "refused" if "refused" in answer else (answer["count"], answer["sha256"])
        if our_answer(whole_catalogs[answer["index"]], answer["query"]) != expected:
            departing.add((answer["index"], answer["query"].strip()))

    assert departing == {
        (answer["index"], answer["query"].strip())
        for answer in ANSWERS[kind]
        if (answer["index"], answer["query"].strip()) in DEPARTURES
    }


@pytest.mark.parametrize(
    ("index", "text", "count"),
    [
        ("spack0", "patches=''", 487),
        ("spack1", "patches=''", 957),
        ("spack1", "build_system='=generic'", 0),
        ("spack1", "build_system==''", 0),
        ("spack1", "%[ ] cmake", 1391),
        ("spack1", "%[virtuals=cxx virtuals=c] gcc", 5574),
        ("spack1", "cmake -\xa0doc", 167),
        ("spack1", "^zlib-ng %zlib-ng", 1762),
        ("spack1", "hdf5 ^mpich %mpich", 34),
        ("spack1", "^gcc@13 %gcc@11", 0),
    ],
)
def test_an_odd_query_finds_as_many(
    whole_catalogs: dict[str, Catalog], index: str, text: str, count: int
) -> None:
    """The counts of a second reading of Spack's rules, which gives the answers above too."""
    assert our_answer(whole_catalogs[index], text)[0] == count


def our_answer(catalog: Catalog, text: str) -> str | tuple[int, str]:
    try:
        ids = catalog.match(parse(text))
    except QueryError:
        return "refused"
    except Unanswerable:
        return "undecided"
    known = all_hashes(catalog)
    hashes = sorted({known[id_] for id_ in ids})
    return len(hashes), hashlib.sha256("\n".join(hashes).encode()).hexdigest()


@lru_cache
def all_hashes(catalog: Catalog) -> list[str]:
    return [spec.hash for spec in all_records(catalog)]


def test_every_departure_is_among_the_answers() -> None:
    known = {(a["index"], a["query"].strip()) for answers in ANSWERS.values() for a in answers}

    assert DEPARTURES.keys() <= known
    assert sum(map(len, ANSWERS.values())) == 436


@pytest.mark.parametrize("kind", sorted(ANSWERS))
def test_every_query_is_spelled_so_that_it_is_read_again(kind: str) -> None:
    for answer in ANSWERS[kind]:
        if "refused" not in answer:
            query = parse(answer["query"])
            assert parse(str(query)) == parse(str(query), packages=()) == query

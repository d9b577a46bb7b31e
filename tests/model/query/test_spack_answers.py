"""A query means what Spack says that it means: the answers were computed by running Spack.

`tests/data/spack` holds the answers, and of Spack's two indexes the records that they ask for,
without what no query looks at.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.records import Spec
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.view import View
from spackscope.model.query.parser import parse
from spackscope.model.readers.formats import read_document
from tests.builders import catalog_of, split_problems, write_page

DATA = Path(__file__).parents[2] / "data" / "spack"

Answer = dict[str, Any]


def answers_by_category() -> dict[str, list[Answer]]:
    by_category = defaultdict(list)
    for answer in json.loads((DATA / "spec_satisfies.json").read_text()):
        by_category[answer["category"]].append(answer)
    return dict(by_category)


ANSWERS = answers_by_category()

UNDECIDED = {
    # Whether the one compiler that an old record states provides C is known from its recipe.
    ("compiler_lang", "openssh %c"),
}
"""What an index alone cannot decide, by its category and constraint."""

UNLIKE_SPACK = {
    "hdf?": "a wildcard in a name",
    "hdf5 ?": "a wildcard in a name",
    "hdf5|zlib": "| stands between alternatives",
    "hdf5 ^zlib@1.2 ^zlib@1.3": "one may be a dependency to build with",
    "hdf5*": "a wildcard in a name, not two specs",
    "h*5": "a wildcard in a name, not three specs",
    "hdf5^": "a name is still to come",
    "hdf5 %[when='+mpi'] gcc": "conditions on edges belong to recipes",
}
"""Where the language departs from Spack's on purpose, or waits for more to be typed."""


@lru_cache
def records(index: str) -> dict[str, Spec]:
    items = read_document((DATA / f"{index}.index.json.gz").read_bytes(), origin=index)
    return {spec.hash: spec for spec in split_problems(items)[0]}


@pytest.mark.parametrize("category", sorted(ANSWERS))
def test_every_answer_agrees(whole_catalogs: dict[str, Catalog], category: str) -> None:
    undecided = set()
    for answer in ANSWERS[category]:
        catalog, constraint = whole_catalogs[answer["index"]], answer["constraint"]
        (row,) = catalog.by_hash(answer["hash"])
        try:
            is_match = row.id in catalog.match(parse(constraint))
        except Unanswerable:
            undecided.add((category, constraint))
            continue
        assert is_match == answer["satisfies"], answer

    assert undecided == {pair for pair in UNDECIDED if pair[0] == category}


def test_hardly_anything_is_left_undecided() -> None:
    assert sum(map(len, ANSWERS.values())) == 1_161
    assert len(UNDECIDED) == 1


NOT_ON_PAGES = {
    "combo": 8, "compiler_lang": 1, "dep_hash": 7, "dep_name": 4, "dep_variant": 2,
    "dep_version": 12, "dep_version_variant": 4, "deptypes": 1, "direct_dep": 4, "flags": 7,
    "propagated": 2, "virtual_assign": 2, "virtual_bracket": 2, "virtual_dep": 3,
    "virtual_direct": 1, "whitespace": 6,
}  # fmt: skip
"""How many of the questions ask for dependencies or flags, of which pages say nothing."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Index the pages that the site made of the records of Spack 0.23."""
    directory = tmp_path_factory.mktemp("pages")
    for line in (DATA / "pages.jsonl").read_text().splitlines():
        package = json.loads(line)
        write_page(directory, package["records"], title=package["name"])
    return catalog_of(directory)


def test_pages_give_the_same_answers_as_far_as_they_go(pages: Catalog) -> None:
    not_told: Counter[str] = Counter()
    for category, answers in ANSWERS.items():
        for answer in answers:
            if answer["index"] != "spack0":
                continue
            try:
                listing = pages.listing(View(parse(answer["constraint"])))
            except Unanswerable:
                not_told[category] += 1
                continue
            hashes = {spec.hash for spec in pages.records(listing.ids)}
            assert (answer["hash"] in hashes) == answer["satisfies"], answer

    assert not_told == NOT_ON_PAGES


@pytest.mark.parametrize("category", sorted(ANSWERS))
def test_every_constraint_is_written_and_parsed_again(category: str) -> None:
    for answer in ANSWERS[category]:
        query = parse(answer["constraint"])
        assert parse(str(query)) == parse(str(query), packages=()) == query


def cases(name: str) -> list[Any]:
    return [pytest.param(case, id=case["input"]) for case in json.loads((DATA / name).read_text())]


@pytest.mark.parametrize("case", cases("parse_rejected.json"))
def test_what_spack_refuses_is_refused_at_the_same_offset(case: dict[str, str]) -> None:
    text = case["input"]
    if text in UNLIKE_SPACK:
        assert parse(text)
        return
    with pytest.raises(QueryError) as refusal:
        parse(text)

    assert str(refusal.value)
    caret = case["message"].split("\n")[-1]
    if "^" in caret and text not in ("hdf5 foo=@1", "hdf5 %[virtuals=c gcc"):
        assert refusal.value.offset == caret.index("^")


@pytest.mark.parametrize("case", cases("parse_accepted.json"))
def test_what_spack_accepts_is_parsed_into_as_many_specs(case: dict[str, Any]) -> None:
    text = case["input"]
    try:
        query = parse(text)
    except QueryError:
        assert text in UNLIKE_SPACK
        return

    if text not in UNLIKE_SPACK:
        names = query.of_column("package")
        assert max(1, len(query.specs), *map(len, names)) == case["n_specs"]
    assert parse(str(query)) == query

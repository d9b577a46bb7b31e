"""A query means what Spack says that it means: the answers were computed by running Spack.

Those of `spec_satisfies.json` are on single records of Spack's two indexes, and those of
`whole_answers.json` on all of them, as `find --all` lists them.
"""

import hashlib
import json
from functools import lru_cache
from typing import Any

import pytest

from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.parser import parse
from tests.builders.catalogs import catalog_of
from tests.builders.pages import write_page
from tests.builders.spack import SPACK_DATA
from tests.examples import some_and_all

SINGLE, WHOLE, ACCEPTED, REJECTED = (
    json.loads((SPACK_DATA / f"{name}.json").read_text())
    for name in ("spec_satisfies", "whole_answers", "parse_accepted", "parse_rejected")
)

UNDECIDED = "openssh %c"
"""Whether the one compiler that an old record states provides C is known from its recipe."""

DEPARTURES = {
    ("spack1", "golang"): "no edge of the index says who provides golang",
    ("spack1", "^uuid build_type=RelWithDebInfo,RelWithDebInfo"): (
        "conditions after a virtual apply to its provider"
    ),
    ("spack0", "py-wheel\t%c"): "only the recipe of a compiler tells its languages",
    ("spack0", "py-requests %fortran"): "only the recipe of a compiler tells its languages",
}
"""Where the language departs from Spack's on purpose; docs/query-language.md tells users."""

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
"""What is parsed unlike in Spack on purpose, or waits for more to be typed."""


def test_there_are_as_many_answers_as_were_computed() -> None:
    assert (len(SINGLE), len(WHOLE)) == (1_161, 436)
    assert {a["constraint"] for a in SINGLE} > {UNDECIDED}
    assert {(a["index"], a["query"].strip()) for a in WHOLE} > DEPARTURES.keys()


@some_and_all(3)
def test_every_answer_on_a_record_agrees(whole_catalogs: dict[str, Catalog], step: int) -> None:
    for answer in SINGLE[::step]:
        catalog, constraint = whole_catalogs[answer["index"]], answer["constraint"]
        (row,) = catalog.by_hash(answer["hash"])
        try:
            is_match = row.id in catalog.match(parse(constraint))
        except Unanswerable:
            assert constraint == UNDECIDED
        else:
            assert is_match == answer["satisfies"], answer


@some_and_all(3)
def test_every_answer_on_an_index_agrees(whole_catalogs: dict[str, Catalog], step: int) -> None:
    for answer in WHOLE[::step]:
        expected = "refused" if "refused" in answer else (answer["count"], answer["sha256"])
        is_same = our_answer(whole_catalogs[answer["index"]], answer["query"]) == expected
        departs = (answer["index"], answer["query"].strip()) in DEPARTURES
        assert is_same is not departs, answer


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
    return catalog.hashes.of(range(catalog.total))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Index the pages that the site made of the records of Spack 0.23."""
    directory = tmp_path_factory.mktemp("pages")
    for line in (SPACK_DATA / "pages.jsonl").read_text().splitlines():
        package = json.loads(line)
        write_page(directory, package["records"], title=package["name"])
    return catalog_of(directory)


def test_pages_give_the_same_answers_as_far_as_they_go(pages: Catalog) -> None:
    not_told = 0
    for answer in SINGLE:
        if answer["index"] == "spack0":
            try:
                ids = pages.match(parse(answer["constraint"]))
            except Unanswerable:
                # It asks for dependencies or flags, of which pages say nothing.
                not_told += 1
                continue
            is_match = any(row.id in ids for row in pages.by_hash(answer["hash"]))
            assert is_match == answer["satisfies"], answer

    assert not_told == 66


@pytest.mark.parametrize("case", REJECTED, ids=lambda case: case["input"])
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


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case["input"])
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

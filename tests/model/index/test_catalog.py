"""Hashes and rows are read from an index, and a question can be stopped."""

from pathlib import Path

import pytest

from spackscope.model.core.columns import BY_NAME, COLUMNS
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.tasks import cancelled_when
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.order import View
from spackscope.model.query.ast import Term, query_of
from spackscope.model.query.parser import parse
from tests.builders.catalogs import all_records, catalog_of
from tests.builders.pages import hash_of, record, write_page


def test_hashes_are_found_by_their_beginning(small: Catalog) -> None:
    everyone = sorted(spec.hash for spec in all_records(small))

    assert small.hashes.first("", limit=10) == everyone
    assert small.hashes.first("", limit=2) == everyone[:2]
    assert small.hashes.first(everyone[3], limit=10) == [everyone[3]]
    assert small.hashes.first(everyone[0][:31], limit=10) == [
        h for h in everyone if h[:31] == "2" * 31
    ]
    assert small.hashes.first("z", limit=10) == []


@pytest.mark.parametrize(
    "prefix", ["*", "?", "A", "1", "2%", "2_", "2' OR 1", "\0", "\ud800", "é", "2" * 33, "7QYOKW"]
)
def test_what_begins_no_hash_finds_none(prefix: str, small: Catalog) -> None:
    assert small.hashes.first(prefix, limit=10) == []
    assert not small.hashes.with_prefix(prefix)
    assert small.by_hash(prefix) == []


@pytest.mark.parametrize("name", [column.name for column in COLUMNS if column.has_dictionary])
def test_every_value_of_a_column_is_in_its_dictionary(name: str, mixed: Catalog) -> None:
    there = {BY_NAME[name].value(spec) for spec in all_records(mixed)}

    assert set(mixed.values(name)) == there


def test_another_letter_that_changes_nothing_is_not_summarised_again(mixed: Catalog) -> None:
    views = [View(parse(text)) for text in ("shar", "share", "os=*", "share", "shared")]
    first, again, other, *others = map(mixed.listing, views)
    assert again.values is first.values
    assert other.values is not first.values
    assert all(each.values.specs is first.values.specs for each in others)
    assert all([*each.ids] == [*first.ids] for each in (again, *others))


def test_a_question_can_be_stopped_in_its_middle(tmp_path: Path) -> None:
    records = [record(number, variants=[f"v={number}"]) for number in range(6_000)]
    catalog = catalog_of(write_page(tmp_path, records))
    hard = query_of(Term("hash", "*2*2*2*2*3*4*5*6*7*"))

    for ask in (lambda: catalog.packages(hard), lambda: catalog.listing(View(hard))):
        answers = iter([False] + [True] * 9)
        with pytest.raises(Cancelled), cancelled_when(answers.__next__):
            ask()

    assert catalog.by_hash(hash_of(1))

"""Records of a page are read by their texts; that makes no difference to what is read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.records import Records
from spackscope.model.readers.pages import read_page
from tests.builders import Record, hash_of, page, record
from tests.hostile import any_json

TEXTS = ["-", "", "hash", "12", "1.5 MB", 'a "quote"', "}, {", '"hash": "', "\\", "\n", "ä", "@="]

some_value = st.sampled_from(TEXTS) | st.sampled_from([True, None, 12, -1, 1e300, 0.5, [], ["a"]])
some_fields = st.dictionaries(
    st.sampled_from([*sorted(record()), "hash ", "si\\ze"]), some_value | any_json, max_size=3
)
some_record = st.builds(
    lambda number, alike, fields, order: dict(
        sorted((record(number, **alike) | fields).items(), reverse=order)
    ),
    st.integers(0, 4),
    st.fixed_dictionaries(
        {
            "size": st.sampled_from(["-", 7, "8 MiB", 0.25]),
            "stacks": st.sampled_from([["e4s"], ["root"], ["e4s", "root"]]),
            "versions": st.sampled_from([["1"], ["=1"], ["2"]]),
        }
    ),
    st.just({}) | st.just({}) | some_fields,
    st.booleans(),
)


def items(text: str) -> list[Any]:
    data = page([], meta={"num_specs": 3}).replace(b"[]", text.encode("utf-8", "replace"))
    return list(read_page(data, origin="document"))


@given(st.lists(some_record, max_size=6))
def test_a_page_without_spaces_is_read_record_by_record_and_gives_the_same(
    records: list[Record],
) -> None:
    usual = items(json.dumps(records, ensure_ascii=False))

    assert items(json.dumps(records, ensure_ascii=False, separators=(",", ":"))) == usual


@given(st.lists(some_record, min_size=1, max_size=4), st.data())
def test_a_text_that_is_damaged_anywhere_is_read_as_record_by_record(
    records: list[Record], data: st.DataObject
) -> None:
    text = json.dumps(records, ensure_ascii=False)
    start = data.draw(st.integers(1, len(text) - 1))
    stop = data.draw(st.integers(start, min(start + 40, len(text))))
    damaged = text[:start] + data.draw(st.sampled_from(["", *TEXTS])) + text[stop:]

    def read(text: str) -> list[str]:
        # Where the error is differs by the space.
        return [re.sub(r"(column|char) \d+", "", repr(item)) for item in items(text)]

    # A list that ends with a space is read record by record.
    spaced = re.sub(r"\}\]$", "} ]", damaged := damaged.replace("\n", " "))
    assert read(damaged) == read(spaced)


@pytest.mark.parametrize(
    "sizes", [range(100), ["-"] * 100, ["-", "5 MB"] * 50, [...] * 100], ids=lambda s: str(s[:2])
)
def test_look_alikes_share_what_is_read(sizes: Sequence[object]) -> None:
    records = [record(number, size=size) for number, size in enumerate(sizes)]
    records[40]["os"] = "sequoia"

    its, *problems = items(json.dumps(records))

    assert isinstance(its, Records)
    assert not problems[1:]
    assert len(its.looks) == 2
    assert its.hashes == [hash_of(number) for number in range(100)]
    assert its.sizes[:2] in ([0, 1], [None, None], [None, 5_000_000])
    assert [number for number, look in enumerate(its.numbers) if look] == [40]


@pytest.mark.parametrize("size", ["-", 12, "3 kB", ...])
def test_a_later_record_that_is_unusual_is_read_with_its_problem(size: object) -> None:
    records = [record(number, size=size) for number in range(3)]
    records[1]["versions"] = ["1", "2"]

    its, problem, *_ = items(json.dumps(records))

    assert len(its.hashes) == 3
    assert str(problem) == "document: record 2: versions has 2 items, expected one"

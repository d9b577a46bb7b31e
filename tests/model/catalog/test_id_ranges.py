"""Ranges of ids behave like the sequence of those ids."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.catalog.arrays import IdRanges

ids = st.lists(st.integers(0, 40), unique=True).map(sorted)


@given(ids)
def test_they_are_a_sequence(given_ids: list[int]) -> None:
    ranges = IdRanges.of(given_ids)

    assert list(ranges) == given_ids == list(ranges[:])
    assert len(ranges) == len(given_ids)
    assert ranges[2:9] == given_ids[2:9]
    assert ranges[::-3] == given_ids[::-3]
    assert list(reversed(ranges)) == given_ids[::-1]
    for position, id_ in enumerate(given_ids):
        assert ranges[position] == ranges[position - len(given_ids)] == id_
        assert ranges.index(id_) == position
    for number in range(-1, 42):
        assert (number in ranges) == (number in given_ids)
        assert ranges.count(number) == given_ids.count(number)
    assert None not in ranges
    with pytest.raises(IndexError):
        ranges[len(given_ids)]
    with pytest.raises(ValueError, match="99"):
        ranges.index(99)


@given(ids, st.integers(-1, 42), st.integers(-1, 42))
def test_a_part_of_them_is_cut_out_and_counted(
    given_ids: list[int], first: int, behind: int
) -> None:
    part = [id_ for id_ in given_ids if first <= id_ < behind]
    ranges = IdRanges.of(given_ids)

    assert list(ranges.within(first, behind)) == part
    if first <= behind:
        assert ranges.count(first, behind) == len(part)


@given(ids, st.dictionaries(st.integers(0, 40), st.booleans()))
def test_ids_are_taken_in_and_out(given_ids: list[int], flags: dict[int, bool]) -> None:
    expected = [i for i in range(41) if flags.get(i, i in given_ids)]

    assert list(IdRanges.of(given_ids).changed(sorted(flags.items()))) == expected


@given(ids)
def test_touching_ranges_are_one(given_ids: list[int]) -> None:
    pairs = list(IdRanges.of(given_ids).pairs())

    assert all(start < stop for start, stop in pairs)
    assert all(one[1] < two[0] for one, two in itertools.pairwise(pairs))

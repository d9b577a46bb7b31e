"""Tests of the rows of opened look-alikes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.view import RowRole, Sort, View, find_row, opened_rows

SPEC, GROUP, KIND, OPEN_KIND, MEMBER = RowRole


def shown(kinds: Sequence[Sequence[int]], *opened: int) -> list[tuple[int, RowRole, int]]:
    rows = opened_rows([1, 2, 3, 4], kinds, frozenset(opened))
    return [(row.id, row.role, row.count) for row in rows]


def test_a_group_is_shown_kind_by_kind() -> None:
    assert shown([(3, 1), (2,), (4,)]) == [
        (1, GROUP, 4),
        (3, KIND, 2),
        (2, KIND, 1),
        (4, KIND, 1),
    ]


def test_a_kind_is_opened_by_any_of_its_specs() -> None:
    rows = [(1, GROUP, 4), (3, OPEN_KIND, 2), (3, MEMBER, 1), (1, MEMBER, 1), (4, KIND, 2)]

    assert shown([(3, 1), (4, 2)], 1) == rows
    assert shown([(3, 1), (4, 2)], 3, 1) == rows


def test_one_kind_has_no_row_besides_the_head() -> None:
    assert shown([(3, 1, 2, 4)]) == [
        (1, GROUP, 4),
        *((id_, MEMBER, 1) for id_ in (3, 1, 2, 4)),
    ]


def test_without_kinds_there_are_single_specs() -> None:
    assert shown([]) == [(id_, SPEC, 1) for id_ in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("id_", "role", "number"),
    [
        (3, GROUP, 0),
        (1, GROUP, 0),
        (3, OPEN_KIND, 1),
        (1, OPEN_KIND, 1),
        (1, SPEC, 3),
        (4, KIND, 4),
        (2, KIND, 4),
        (2, SPEC, 4),
        (9, SPEC, None),
    ],
)
def test_the_row_of_a_spec_is_that_with_its_role_or_the_smallest(
    id_: int, role: RowRole, number: int | None
) -> None:
    rows = opened_rows([1, 2, 3, 4], [(3, 1), (4, 2)], frozenset({1}))

    assert find_row(rows, id_, role) == number


@pytest.mark.parametrize("sort", [None, Sort("hash", descending=True), Sort("version")])
def test_opened_groups_are_put_where_their_folded_rows_were(
    sample: Catalog, sort: Sort | None
) -> None:
    folded = sample.listing(View(sort=sort, folded=True))
    rows = sample.rows(folded.ids, folded.counts)
    opened = [row for row in rows if row.count > 2][:3]
    view = View(sort=sort, folded=True, opened=frozenset(row.look_alike for row in opened))

    def halves(ids: Sequence[int]) -> list[Sequence[int]]:
        return [ids[1:], ids[:1]]

    listing = sample.listing(view, partition=halves)
    assert listing.roles is not None
    shown = sample.rows(listing.ids, listing.counts, listing.roles)

    expected = []
    for row in rows:
        head = row in opened
        expected.append((row.id, GROUP if head else SPEC, row.count))
        if head:
            ids = listing.look_alike_ids(row.look_alike)
            expected += [(ids[1], KIND, row.count - 1), (ids[0], KIND, 1)]
    assert [(row.id, row.role, row.count) for row in shown] == expected
    for number, row in enumerate(shown):
        assert listing.row_of(row.id, row.look_alike, row.role) == number


def test_without_a_partition_groups_open_into_single_specs(sample: Catalog) -> None:
    folded = sample.listing(View(folded=True))
    opened = (row.look_alike for row in sample.rows(folded.ids, folded.counts) if row.count > 1)
    view = View(folded=True, opened=frozenset(opened))

    listing = sample.listing(view, partition=lambda ids: ())
    assert list(listing.ids) == list(sample.listing(view).ids)
    assert set(listing.roles or ()) == {SPEC}

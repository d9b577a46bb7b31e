"""Look-alikes are listed by package, the newest version first, then the most used."""

from __future__ import annotations

from array import array
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.index.preferred_order import preferred_order

numbers = st.integers(0, 2)
look_alikes = st.lists(
    st.tuples(numbers, numbers, numbers, st.lists(st.integers(0, 3), min_size=1, max_size=3)),
    max_size=12,
).map(sorted)
"""Whether they are unlisted, their packages and versions, and the users of each of their specs."""


@given(look_alikes)
def test_the_order_is_that_of_their_packages_versions_and_users(
    given: list[tuple[int, int, int, list[int]]],
) -> None:
    columns = {
        "unlisted": array("I", [unlisted for unlisted, _, _, _ in given]),
        "package": array("I", [package for _, package, _, _ in given]),
        "version": array("I", [version for _, _, version, _ in given]),
        "first": array("I", accumulate((len(row[3]) for row in given), initial=0)),
    }
    users = [count for row in given for count in row[3]]

    order = preferred_order(columns, array("I", accumulate(users, initial=0)))

    def key(number: int) -> tuple[int, ...]:
        unlisted, package, version, of_specs = given[number]
        return unlisted, package, -version, -sum(of_specs), number

    assert list(order) == sorted(range(len(given)), key=key)

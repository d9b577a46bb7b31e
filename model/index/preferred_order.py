"""Order look-alikes by what is likely wanted: the newest, then the most used."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import groupby


def preferred_order(columns: Mapping[str, array[int]], up_first: array[int]) -> array[int]:
    """Return the look-alikes in the order in which they are listed by default.

    Packages are in the order of their names. Of one the newest version comes first, and then what
    most specs depend on. `columns` are those of the look-alikes in display order, and `up_first`
    says where the edges to each spec begin.
    """
    packages, versions, unlisted = columns["package"], columns["version"], columns["unlisted"]
    first = columns["first"]
    has_users = bool(up_first[-1])

    def users(look_alike: int) -> int:
        return up_first[first[look_alike + 1]] - up_first[first[look_alike]]

    def package(look_alike: int) -> tuple[int, int]:
        return unlisted[look_alike], packages[look_alike]

    order = array("I")
    for _, look_alikes in groupby(range(len(packages)), package):
        by_version = [list(group) for _, group in groupby(look_alikes, versions.__getitem__)]
        for group in reversed(by_version):
            if has_users:
                group.sort(key=users, reverse=True)
            order.extend(group)
    return order

"""Ids with the same hash are known as a group by their first one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.analysis.dag import SameHash


@given(st.lists(st.integers(0, 5)))
def test_ids_are_grouped_by_their_hashes(hashes: list[int]) -> None:
    first = {hash_: hashes.index(hash_) for hash_ in hashes}
    pairs = ((first[hash_], id_) for id_, hash_ in enumerate(hashes) if first[hash_] != id_)

    same = SameHash(len(hashes), sorted(pairs))

    assert list(same.first) == [first[hash_] for hash_ in hashes]
    for hash_, id_ in first.items():
        assert list(same.ids(id_)) == [n for n, other in enumerate(hashes) if other == hash_]

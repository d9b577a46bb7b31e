"""Sum up, for each spec of an index, what decides whether it runs on a host.

Only a host makes an answer of it, but what it depends on is the same for all hosts: few different
facts of the specs themselves, and few different sets of these in their closures.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from spackscope.model.core.records import is_run
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.index.edges import Adjacency
from spackscope.model.index.index_file import ranked
from spackscope.model.index.rows import IndexData

LIBC = "libc"
"""The virtual that a C library provides; what it needs itself does not count."""

_MOST_FACTS = 1_000
"""Different facts of specs with dependencies; a real index has some twenty."""
_MOST_PLACES = 1_000_000
"""Facts in all sets; a real index has some thousand."""

_CHECK_INTERVAL = 4096


class StatedLibc(NamedTuple):
    """A C library that a spec needs: its package, its version, and its prefix if external."""

    name: str
    version: str
    prefix: str


class RunFacts(NamedTuple):
    """What decides whether a spec runs on a host, but for its dependencies.

    `is_compiled` is true if a compiler is stated, and `lists` if the document lists dependencies.
    `libcs` are the C libraries that it needs, None in place of one that no document describes;
    instead of all, None means that it should state one and does not.
    """

    platform: str
    os: str
    target: str
    is_compiled: bool
    lists: bool
    libcs: Sequence[StatedLibc | None] | None


def read_run_sets(data: IndexData) -> tuple[Sequence[int], Sequence[Sequence[RunFacts | None]]]:
    """Return the code of each spec by its id, and by code the different facts of its closure.

    Ids after the last spec are of absent dependencies. Without sets the index has no answer.
    """
    return data.column("run_set"), data.columns.lists("run_sets", _restored_facts)


def _restored_facts(row: Any) -> RunFacts | None:
    """Return what was written as a row of JSON; None for an absent dependency."""
    if row is None:
        return None
    facts = RunFacts(*row)
    if facts.libcs is None:
        return facts
    libcs = tuple(None if libc is None else StatedLibc(*libc) for libc in facts.libcs)
    return facts._replace(libcs=libcs)


def follows_run(deptypes: Collection[str], virtuals: Collection[str]) -> bool:
    """Check whether what an edge leads to must run where the spec runs: but for C libraries."""
    return is_run(deptypes) and LIBC not in virtuals


def libcs_of(up: Adjacency) -> dict[int, tuple[int, ...]]:
    """Return the C libraries that specs need, by the specs, from the edges to C libraries."""
    needed = defaultdict[int, tuple[int, ...]](tuple)
    for child in range(len(up.first) - 1) if up.nodes else ():
        for parent in up.of(child):
            needed[parent] += (child,)
    return needed


def unite_closures(
    masks: list[int], up: Adjacency, left_out: Collection[int] = ()
) -> Collection[int]:
    """Add to the mask of each node the bits of all that it depends on, in place.

    `masks` has a mask for each spec and each absent dependency, and `up` the edges to dependents;
    nothing is added of nodes that are `left_out`. Returns the nodes on a cycle, or above one,
    whose masks lack some; only damaged documents have cycles. Raises Cancelled.
    """
    waiting = Counter(up.nodes)
    done = [node for node in range(len(masks)) if node not in waiting]
    for number, node in enumerate(done):
        if number % _CHECK_INTERVAL == 0:
            check_cancelled()
        mask = 0 if node in left_out else masks[node]
        for parent in up.of(node):
            masks[parent] |= mask
            waiting[parent] -= 1
            if not waiting[parent]:
                done.append(parent)
    return [node for node, count in waiting.items() if count]


def run_sets(
    facts: array[int], up: Adjacency, left_out: Collection[int]
) -> tuple[array[int], list[list[int]]]:
    """Return the set of facts in the link/run closure of each spec: its number, and all sets.

    `facts` has a number for each spec and each absent dependency, `up` the edges to those that
    link or run them, and `left_out` the specs that count only for themselves. Both results are
    empty if the facts are too many, or if there is a cycle. Raises Cancelled.
    """
    if not up.nodes:
        numbers = sorted({*facts})
        return ranked(facts, numbers, max(numbers, default=0) + 1), [[fact] for fact in numbers]
    nothing = array("I"), list[list[int]]()
    if max(facts) >= _MOST_FACTS:
        return nothing
    masks = [1 << fact for fact in facts]
    are_damaged = unite_closures(masks, up, left_out)
    numbers_of = {mask: number for number, mask in enumerate(sorted({*masks}))}
    if are_damaged or sum(map(int.bit_count, numbers_of)) > _MOST_PLACES:
        return nothing
    every = range(reduce(or_, numbers_of).bit_length())
    sets = [[fact for fact in every if mask >> fact & 1] for mask in numbers_of]
    return array("I", map(numbers_of.__getitem__, masks)), sets

"""Sum up, for each spec of an index, what decides whether it runs on a host.

Only a host makes an answer of it, but what it depends on is the same for all hosts: few different
facts of the specs themselves, and few different sets of these in their closures.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain, compress, count, islice, repeat
from operator import or_, sub
from typing import TYPE_CHECKING, Any, NamedTuple

from spackscope.model.core.records import is_run
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.index.index_file import ranked

if TYPE_CHECKING:
    from spackscope.model.index.rows import IndexData

LIBC = "libc"
"""The virtual that a C library provides; what it needs itself does not count."""

GCC_RUNTIME = "gcc-runtime"
"""A package that Spack leaves out when it checks which target the dependencies of a spec need."""

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


class RunEdges(NamedTuple):
    """All edges by dependency: node i is the child of the edges first[i]:first[i + 1].

    `parents` and `kinds` have an item for each edge; `deptypes` and `virtuals` one for each kind.
    """

    first: array[int]
    parents: array[int]
    kinds: Sequence[int]
    deptypes: Sequence[Collection[str]]
    virtuals: Sequence[Collection[str]]

    def mask(self, is_meant: Callable[[Collection[str], Collection[str]], bool]) -> bytearray:
        """Mark the edges with some deptypes and virtuals."""
        of_kind = list(map(is_meant, self.deptypes, self.virtuals))
        return bytearray(map(of_kind.__getitem__, self.kinds))

    def pairs(self, mask: bytes | bytearray) -> Iterator[tuple[int, int]]:
        """Yield the parents and the children of marked edges."""
        sizes = map(sub, islice(self.first, 1, None), self.first)
        children = chain.from_iterable(map(repeat, count(), sizes))
        return zip(compress(self.parents, mask), compress(children, mask), strict=True)


def follows_run(deptypes: Collection[str], virtuals: Collection[str]) -> bool:
    """Check whether what an edge leads to must run where the spec runs: but for C libraries."""
    return is_run(deptypes) and LIBC not in virtuals


def libcs_of(edges: RunEdges) -> dict[int, list[int]]:
    """Return the C libraries that specs need, by the specs; as everywhere here by their ids."""
    needed = defaultdict[int, list[int]](list)
    mask = edges.mask(lambda _, virtuals: LIBC in virtuals)
    for parent, child in edges.pairs(mask) if 1 in mask else ():
        needed[parent].append(child)
    return needed


def unite_closures(
    masks: list[int], edges: RunEdges, follows: bytearray, left_out: Iterable[int] = ()
) -> Collection[int]:
    """Add to the mask of each node the bits of all that it depends on, in place.

    `masks` has a mask for each spec and each absent dependency. Edges are followed where `follows`
    has 1, but none to nodes that are `left_out`. Returns the nodes on a cycle, or above one, whose
    masks lack some; only damaged documents have cycles. Raises Cancelled.
    """
    for child in left_out:
        start, stop = edges.first[child], edges.first[child + 1]
        follows[start:stop] = bytes(stop - start)
    waiting = Counter(compress(edges.parents, follows))
    done = [node for node in range(len(masks)) if node not in waiting]
    for number, node in enumerate(done):
        if number % _CHECK_INTERVAL == 0:
            check_cancelled()
        of_node = slice(edges.first[node], edges.first[node + 1])
        mask = masks[node]
        for parent in compress(edges.parents[of_node], follows[of_node]):
            masks[parent] |= mask
            waiting[parent] -= 1
            if not waiting[parent]:
                done.append(parent)
    return [node for node, count in waiting.items() if count]


def run_sets(
    facts: array[int], edges: RunEdges, left_out: Iterable[int]
) -> tuple[array[int], list[list[int]]]:
    """Return the set of facts in the link/run closure of each spec: its number, and all sets.

    `facts` has a number for each spec and each absent dependency, and `left_out` the specs that
    count only for themselves. Both results are empty if the facts are too many, or if there is a
    cycle. Raises Cancelled.
    """
    follows = edges.mask(follows_run)
    if 1 not in follows:
        numbers = sorted({*facts})
        return ranked(facts, numbers, max(numbers, default=0) + 1), [[fact] for fact in numbers]
    nothing = array("I"), list[list[int]]()
    if max(facts) >= _MOST_FACTS:
        return nothing
    masks = [1 << fact for fact in facts]
    are_damaged = unite_closures(masks, edges, follows, left_out)
    numbers_of = {mask: number for number, mask in enumerate(sorted({*masks}))}
    if are_damaged or sum(map(int.bit_count, numbers_of)) > _MOST_PLACES:
        return nothing
    every = range(reduce(or_, numbers_of).bit_length())
    sets = [[fact for fact in every if mask >> fact & 1] for mask in numbers_of]
    return array("I", map(numbers_of.__getitem__, masks)), sets

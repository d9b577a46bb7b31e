"""Fold equal differences at many nodes into one, and leave out what follows from others."""

from __future__ import annotations

from collections.abc import Iterable

from spackscope.model.analysis.differences.changes import OF_EDGES, Change
from spackscope.model.analysis.differences.differences import Cause, Difference
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import is_run


class FoldedDifference(Frozen):
    """A difference with all causes that have it, the first one first.

    `difference` is that of the first. `package` is empty for attributes that packages share, such
    as the os, and for a dependency that several packages lack.
    """

    difference: Difference
    package: str
    causes: tuple[Cause, ...]

    @property
    def nodes(self) -> int:
        """The number of nodes that differ so."""
        return len(self.causes)

    @property
    def run(self) -> bool:
        """Whether what is linked or run differs by it, not only what builds that.

        The version of a compiler counts, which what it compiled depends on.
        """
        if _is_of_build(self.difference):
            return False
        counts = self.difference.attribute == "version"
        return any(cause.run or (cause.compiles and counts) for cause in self.causes)

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages of the nodes, each once."""
        return tuple(dict.fromkeys(cause.package for cause in self.causes))


def fold_differences(causes: Iterable[Cause]) -> tuple[FoldedDifference, ...]:
    """Return the differences that follow from no other, in the order of their first causes."""
    folded: dict[Change, list[tuple[Difference, Cause]]] = {}
    for cause in causes:
        if not cause.follows:
            for difference in cause.differences:
                if not difference.follows:
                    change = Change.of(cause.package, difference)
                    folded.setdefault(change, []).append((difference, cause))
    return tuple(
        FoldedDifference(
            items[0][0],
            change.package or _only_package(change, items),
            tuple(cause for _, cause in items),
        )
        for change, items in folded.items()
    )


def _is_of_build(difference: Difference) -> bool:
    """Check whether a node differs only in dependencies that are needed to build it."""
    if difference.attribute == "dependency":
        return not is_run(difference.deptypes)
    if difference.attribute == "deptypes":
        a, b = (
            [deptype for deptype in deptypes if is_run([deptype])]
            for deptypes in (difference.a, difference.b)
            if isinstance(deptypes, tuple)
        )
        return a == b
    return False


def _only_package(change: Change, items: list[tuple[Difference, Cause]]) -> str:
    is_of_edge = change.difference.attribute in OF_EDGES
    return items[0][1].package if is_of_edge and len(items) == 1 else ""

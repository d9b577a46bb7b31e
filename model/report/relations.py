"""Describe the specs that a spec needs, and its users."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from spackscope.model.analysis.dag import Dag
from spackscope.model.core.columns import sizes_text, spec_name
from spackscope.model.core.text import clean, counted
from spackscope.model.report.detail import DetailLine

# The browser shows placeholders before it imports the modules that read the lines.
if TYPE_CHECKING:
    from spackscope.model.analysis.needs import NeededSpec, Needs

NEXT_TO, NEEDS, USED_BY = "next to", "needs", "used by"
DIFFER_IN, DOWNLOAD = "differ in", "download"
"""The labels of the lines."""

COMPARE_HINTS = (("diff", "diff"),)
TREE_HINTS, USERS_HINTS = (("tree", "tree"),), (("users", "users"),)

UNLISTED = "This source lists no dependencies"

_RUNTIMES = ("libc", "gcc-runtime", "compiler-wrapper", "intel-oneapi-runtime")
"""Packages and virtuals that nearly all specs need: they come last."""

_MAX_NAMED = 60
"""The most values of a line: the tree has all of them."""


def pending_lines(labels: Iterable[str]) -> list[DetailLine]:
    """Return placeholders for lines still to be read, so that lines below them move little."""
    return [DetailLine("…", label, style="dim") for label in labels]


def needs_line(needs: Needs | None) -> str:
    """Count the specs that a spec needs: `12 specs, 3 installed, 210 MB + 4 unknown`."""
    if needs is None:
        return UNLISTED
    parts = [("at least " if needs.is_unknown else "") + counted(len(needs.specs), "spec")]
    if installed := len(needs.specs) - len(needs.to_fetch):
        parts.append(f"{installed:,} installed")
    if not_cached := sum(not each.spec.cached for each in needs.to_fetch):
        parts.append(f"{not_cached:,} not cached")
    if sizes := [each.spec.size for each in needs.to_fetch]:
        parts.append(sizes_text(sizes))
    return ", ".join(parts)


def _rank(needed: NeededSpec) -> tuple[bool, bool, bool]:
    """Return a key by which direct dependencies come first, then providers of a virtual."""
    names = (needed.spec.package, *needed.virtuals)
    return not needed.is_direct, any(name in _RUNTIMES for name in names), not needed.virtuals


def needs_values(needs: Needs) -> Iterator[DetailLine]:
    """Yield the link/run closure of a spec besides itself, and the download."""
    specs = sorted(needs.specs[1:], key=_rank)
    if not specs:
        yield DetailLine("nothing else", NEEDS, style="dim", hints=TREE_HINTS)
    for spec in specs[:_MAX_NAMED]:
        name = spec_name(spec.spec.package, spec.spec.version)
        yield DetailLine(name, NEEDS, id=spec.id, style="link", hints=TREE_HINTS, total=len(specs))
        if spec.virtuals:
            virtuals = clean(", ".join(spec.virtuals))
            yield DetailLine(f"({virtuals})", style="virtual", lead=" ")
    yield DetailLine(needs_line(needs), DOWNLOAD)


def user_values(graph: Dag, users: Sequence[int], total: int) -> Iterator[DetailLine]:
    """Yield some dependents of a spec; `total` counts all of them."""
    if not users:
        yield DetailLine("nothing here", USED_BY, style="dim")
    for user in users:
        version = graph.version(user)
        yield DetailLine(
            clean(graph.name(user)) or "(no name)",
            USED_BY,
            style="link",
            id=user,
            suffix=clean(f"@{version}") if version else "",
            hints=USERS_HINTS,
            total=total,
        )


def kinds_line(packages: str) -> DetailLine:
    """Return the packages in which the kinds of a folded row differ."""
    return DetailLine(packages, DIFFER_IN, style="differs")

"""Describe what a spec needs to run in a line, and order it by what is of interest."""

from __future__ import annotations

from spackscope.model.analysis.needs import NeededSpec, Needs
from spackscope.model.core.columns import sizes_text
from spackscope.model.core.text import counted

UNLISTED = "This source lists no dependencies"

_RUNTIMES = ("libc", "gcc-runtime", "compiler-wrapper", "intel-oneapi-runtime")
"""Packages and virtuals that nearly all specs need: they come last."""


def needs_line(needs: Needs | None) -> str:
    """Count what a spec needs: `12 specs, 3 installed, 210 MB + 4 unknown`."""
    if needs is None:
        return UNLISTED
    parts = [("at least " if needs.is_unknown else "") + counted(len(needs.specs), "spec")]
    if installed := len(needs.specs) - len(needs.to_fetch):
        parts.append(f"{installed:,} installed")
    if not_cached := sum(not each.spec.cached for each in needs.to_fetch):
        parts.append(f"{not_cached:,} not cached")
    if count := len(needs.to_fetch):
        parts.append(sizes_text(needs.size, count, needs.unknown_sizes))
    return ", ".join(parts)


def by_interest(needs: Needs) -> list[NeededSpec]:
    """Return what a spec needs besides itself.

    Dependencies of the spec itself come first, those that provide a virtual before others.
    """
    return sorted(needs.specs[1:], key=_rank)


def _rank(needed: NeededSpec) -> tuple[bool, bool, bool]:
    names = (needed.spec.package, *needed.virtuals)
    return not needed.is_direct, any(name in _RUNTIMES for name in names), not needed.virtuals

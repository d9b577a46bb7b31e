"""Say of each source what it is: plain, clean strings for the command line and the screen."""

from __future__ import annotations

from collections.abc import Iterable

from spackscope.model.records import SourceState
from spackscope.model.text import clean

HEADS = ("source", "kind", "specs", "problems", "checked")
"""The heads of the columns."""

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def source_cells(state: SourceState, now: float) -> tuple[str, ...]:
    """Give the texts of a source under `HEADS`; `now` is in seconds since 1970."""
    kind = f"{state.kind} {state.layout}".strip() if not state.failure else "unreadable"
    checked = "-" if state.checked is None else age(now - state.checked)
    return clean(state.name), clean(kind), f"{state.specs:,}", f"{state.problems:,}", checked


def source_remarks(states: Iterable[SourceState]) -> list[str]:
    """Give a sentence for each source that fails, or of which an older copy serves."""
    found = []
    for state in states:
        if state.failure:
            found.append(clean(state.failure))
        elif state.remark:
            found.append(clean(f"{state.name}: {state.remark}"))
    return found


def age(seconds: float) -> str:
    """Say how long ago something was, in the largest unit that fits."""
    for length, unit in _UNITS:
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"

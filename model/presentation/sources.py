"""Say of each source what it is: plain, clean strings for the command line and the screen."""

from __future__ import annotations

from collections.abc import Iterable

from spackscope.model.core.records import SourceState
from spackscope.model.core.text import clean

HEADS = ("source", "kind", "specs", "problems", "checked")
"""The heads of the columns."""

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def source_cells(state: SourceState, now: float) -> tuple[str, ...]:
    """Give the texts of a source under `HEADS`; `now` is in seconds since 1970."""
    kind = f"{state.kind} {state.layout}".strip() if not state.failure else "unreadable"
    checked = "-" if state.checked is None else age(now - state.checked)
    return clean(state.name), clean(kind), f"{state.specs:,}", f"{state.problems:,}", checked


def failures(states: Iterable[SourceState]) -> list[str]:
    """Give a sentence for each source that cannot be read."""
    return [clean(state.failure) for state in states if state.failure]


def old_copies(states: Iterable[SourceState], now: float) -> list[str]:
    """Give a sentence for each source of which an older copy serves, with its age."""
    return [
        clean(f"{state.name}: its copy of {_since(state, now)} serves: {state.remark}")
        for state in states
        if state.remark and not state.failure
    ]


def _since(state: SourceState, now: float) -> str:
    return "before" if state.checked is None else age(now - state.checked)


def age(seconds: float) -> str:
    """Say how long ago something was, in the largest unit that fits."""
    for length, unit in _UNITS:
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"

"""How old cached copies of sources are."""

from __future__ import annotations

from collections.abc import Iterable

from spackscope.model.core.records import SourceStatus
from spackscope.model.core.text import clean, counted

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def stale_copies(sources: Iterable[SourceStatus], now: float) -> list[str]:
    """Return a sentence for each source whose cached copy is used as it is, with its age."""
    sentences = []
    for source in sources:
        if source.remark and not source.failure:
            checked = "" if source.checked is None else f", checked {age(now - source.checked)}"
            sentence = f"{source.name}: using its cached copy{checked}: {source.remark}"
            sentences.append(clean(sentence))
    return sentences


def age(seconds: float) -> str:
    """Return how long ago something was, in the largest unit that fits."""
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{counted(int(seconds // length), unit)} ago"
    return "just now"

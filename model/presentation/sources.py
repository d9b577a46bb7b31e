"""Describe sources in plain, clean strings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spackscope.model.core.records import SourceStatus
from spackscope.model.core.text import clean, counted
from spackscope.model.sources.source_name import PREFIX, SAMPLE

HEADS = ("source", "kind", "specs", "problems", "checked")
"""The heads of the columns."""

SIGNED_HEAD = "signed"
"""The head of the column after these: what of the source is signed."""

NOT_SIGNED = "-"
"""The cell of a source that has nothing to sign."""

_NAMED = 3
"""Mirrors that are named."""

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def source_cells(source: SourceStatus, now: float) -> tuple[str, ...]:
    """Return the cells of a source under `HEADS`; `now` is in seconds since 1970."""
    kind = f"{source.kind} {source.layout}".strip() if not source.failure else "unreadable"
    checked = "-" if source.checked is None else age(now - source.checked)
    return clean(source.name), clean(kind), f"{source.specs:,}", f"{source.problems:,}", checked


def sources_note(sources: Sequence[str]) -> str:
    """Return what a new user needs to know of sources that were found, not named; or "".

    The sample is only a sample; the mirrors of a Spack are named.
    """
    if SAMPLE in sources and PREFIX in sources:
        return (
            "Sample data: your Spack has no mirror of binaries. To add one: spackscope sources · "
            "without: spackscope -f public"
        )
    if SAMPLE in sources:
        return "Sample data. Your own cache: spackscope -f URL · spackscope sources"
    names = [clean(s.removeprefix(PREFIX)) for s in sources if s.startswith(PREFIX)]
    if not names:
        return ""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    mirrors = "Mirror" if len(names) == 1 else "Mirrors"
    return f"{mirrors} of your Spack: {', '.join(names[:_NAMED])}{more}. Others: spackscope -f URL"


def failures(sources: Iterable[SourceStatus]) -> list[str]:
    """Return a sentence for each source that cannot be read."""
    return [clean(source.failure) for source in sources if source.failure]


def stale_copies(sources: Iterable[SourceStatus], now: float) -> list[str]:
    """Return a sentence for each source whose cached copy is used as it is, with its age."""
    return [
        clean(f"{source.name}: using its cached copy{_checked(source, now)}: {source.remark}")
        for source in sources
        if source.remark and not source.failure
    ]


def _checked(source: SourceStatus, now: float) -> str:
    return "" if source.checked is None else f", checked {age(now - source.checked)}"


def age(seconds: float) -> str:
    """Return how long ago something was, in the largest unit that fits."""
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{counted(int(seconds // length), unit)} ago"
    return "just now"

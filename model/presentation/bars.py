"""Spell counted values, and draw their counts as bars of eighths of a cell."""

from __future__ import annotations

from spackscope.model.core.text import clean

_EIGHTHS = " ▏▎▍▌▋▊▉"
_FULL = "█"


def value_text(value: str) -> str:
    """Return a counted value in clean text; `none` where a spec has no value."""
    return clean(value) or "none"


def bar(count: int, most: int, cells: int) -> str:
    """Return a bar for a count, `cells` long for the greatest one; a count above 0 has some.

    Example: `bar(5, 8, 4) == "██▌"`.
    """
    if count <= 0 or most <= 0 or cells <= 0:
        return ""
    full, eighths = divmod(max(1, round(8 * count * cells / most)), 8)
    return _FULL * full + _EIGHTHS[eighths].strip()

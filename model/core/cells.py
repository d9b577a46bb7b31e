"""Spell the values of columns as the cells of a table: clean text on one line."""

from __future__ import annotations

from spackscope.model.core.columns import Column, Value
from spackscope.model.core.text import cell_width, clean, shorten

SHORT_HASH = 7
"""Characters of a hash that Spack shows in lists."""


WIDEST_SIZE = len("1000 MB")
"""Cells that a size takes at the most."""


_PLACE = 20
"""Cells of a source in the table; they are told apart by their ends."""


def cell(column: Column, value: Value) -> str:
    """Give the text of a value in a table: clean, on one line, as long as it is."""
    if column.name == "hash":
        return clean(str(value))[:SHORT_HASH]
    if column.name == "size":
        return size_text(value if isinstance(value, int | float) else None)
    if column.name == "source" and isinstance(value, tuple):
        return ", ".join(brief_place(clean(place), _PLACE) for place in value)
    if column.name in ("stack", "state") and isinstance(value, tuple):
        return clean(", ".join(without_root(value) if column.name == "stack" else value))
    if isinstance(value, tuple):
        return clean(" ".join(value))
    text = str(value or "")
    if column.name == "compiler" and "/" in text:
        compiler, _, hash_ = text.partition("/")
        text = f"{compiler}/{hash_[:SHORT_HASH]}"
    return clean(text) or "-"


def brief_place(name: str, cells: int) -> str:
    """Fit a path or an address into some cells, in whole parts from its end where one fits."""
    parts = name.split("/")
    if cell_width(name) > cells:
        for first in range(1, len(parts)):
            tail = "…/" + "/".join(parts[first:])
            if cell_width(tail) <= cells and parts[-1]:
                return tail
    return shorten(name, cells)


def without_root(stacks: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out the stack `root`, the union of a tag, where another stack says more."""
    return tuple(stack for stack in stacks if stack != "root") or stacks


def size_text(size: float | None) -> str:
    """Give a size in the unit that suits it, in three digits at most; `-` where none is known."""
    if size is None:
        return "-"
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        # 999.96 MB would be shown as 1000 MB, and 99.96 MB as 100.0 MB.
        if size >= factor * 0.9995:
            number = size / factor
            return f"{number:.0f} {unit}" if number >= 99.95 else f"{number:.1f} {unit}"
    return f"{size:.0f} B"

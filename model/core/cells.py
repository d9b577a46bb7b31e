"""Spell values as the cells of a table: clean text on one line."""

from __future__ import annotations

from typing import Any

from spackscope.model.core.text import cell_width, clean, shorten

SHORT_HASH = 7
"""Characters of a hash that Spack shows in lists."""

MAX_SIZE_WIDTH = len("1000 MB")
"""Cells that a size takes at most."""

_SOURCE_WIDTH = 20
"""Cells of a source in the table; sources differ at their ends."""


def text_cell(value: Any) -> str:
    """Return a text, or several texts separated by blanks; `-` for an empty text."""
    return clean(" ".join(value)) if isinstance(value, tuple) else clean(str(value or "")) or "-"


def compiler_cell(value: str) -> str:
    """Return a compiler, its hash as short as any other."""
    compiler, slash, hash_ = value.partition("/")
    return text_cell(compiler + slash + hash_[:SHORT_HASH])


def stacks_cell(stacks: tuple[str, ...]) -> str:
    """Return stacks separated by commas, without `root`, the union of all, if there are others."""
    return clean(", ".join([stack for stack in stacks if stack != "root"] or stacks))


def sources_cell(sources: tuple[str, ...]) -> str:
    """Return sources, each cut to whole parts of its path."""
    return ", ".join(shorten_path(clean(source), _SOURCE_WIDTH) for source in sources)


def shorten_path(name: str, cells: int) -> str:
    """Fit a path or an address into some cells: whole parts from its end where they fit."""
    parts = name.split("/")
    if cell_width(name) > cells:
        for first in range(1, len(parts)):
            tail = "/".join(parts[first:])
            if cell_width(tail) <= cells and parts[-1]:
                return tail
    return shorten(name, cells)


def size_text(size: float | None) -> str:
    """Return a size in bytes in a fitting unit with at most three digits; `-` for None."""
    if size is None:
        return "-"
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        # 999.96 MB would be shown as 1000 MB, and 99.96 MB as 100.0 MB.
        if size >= factor * 0.9995:
            number = size / factor
            return f"{number:.0f} {unit}" if number >= 99.95 else f"{number:.1f} {unit}"
    return f"{size:.0f} B"

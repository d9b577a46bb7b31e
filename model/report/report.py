"""An answer, and the one place where text for a terminal and JSON are made from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.text import aligned

if TYPE_CHECKING:
    from spackscope.model.query.ast import Query

_INDENT = "  "


class Row(NamedTuple):
    """The clean cells of a row, and what is known of the spec or thing that it is about.

    `note` is a sentence on it, in the last cell, or on a line of its own where it is about what
    the row `leads_to`, by its hash. `key` is the hash of the row itself, and `group` what rows of
    the same kind have in common. `style` is that of the last cell on the screen.
    `queries` find the specs that it is about, the most exact first.
    """

    cells: tuple[str, ...]
    note: str = ""
    key: str = ""
    leads_to: str = ""
    group: str = ""
    style: str = ""
    queries: tuple[Query, ...] = ()

    @property
    def printed(self) -> tuple[str, ...]:
        """The cells as they are printed."""
        if not self.note or self.leads_to:
            return self.cells
        return (*self.cells[:-1], ", ".join(filter(None, (self.cells[-1], self.note))))


class Section(NamedTuple):
    """A heading, and below it rows and further sections.

    Rows with equally many cells that follow each other are one table. What `is_apart` has a blank
    line before it. Nothing is printed of a section without heading and rows.
    """

    heading: str
    rows: Iterable[Row | Section] = ()
    is_apart: bool = True


class Report(Frozen):
    """An answer: its title, its sections, and a function that returns its data for JSON.

    Sections may be a generator, which is not run for JSON, and once for anything else.
    """

    title: str
    sections: Iterable[Section]
    data: Callable[[], object]

    def json(self) -> str:
        """Return the data as JSON on one line."""
        return json.dumps(self.data())

    def lines(self) -> Iterator[str]:
        """Yield the text: headings are not indented, all else is."""
        yield self.title
        for section in self.sections:
            if section.is_apart:
                yield ""
            yield from section_lines(section)

    def read(self) -> Report:
        """Return the report with its sections read from the index."""
        return replace(self, sections=tuple(self.sections))

    def rows(self, heading: str) -> Sequence[Row]:
        """Return the rows below a heading; none if there is no such section."""
        found = (section.rows for section in self.sections if section.heading == heading)
        return [row for row in next(found, ()) if isinstance(row, Row)]


def section_lines(section: Section, indent: str = "") -> Iterator[str]:
    """Yield the heading of a section and, indented further, what is below it."""
    if section.heading:
        yield indent + section.heading
    indent += _INDENT
    for columns, parts in groupby(section.rows, _columns):
        if not columns:
            for part in parts:
                assert isinstance(part, Section)
                yield from section_lines(part, indent)
            continue
        rows = [part for part in parts if isinstance(part, Row)]
        cells = [row.printed for row in rows]
        texts = aligned(cells) if columns > 1 else (text for (text,) in cells)
        for row, text in zip(rows, texts, strict=True):
            yield indent + text
            if row.note and row.leads_to:
                yield f"{indent}{' ' * len(row.cells[0])}{_INDENT}{row.note}"


def _columns(part: Row | Section) -> int:
    """Return the number of cells of a row; 0 for a section."""
    return len(part.cells) if isinstance(part, Row) else 0


def cut(rows: Sequence[Row], limit: int | None) -> list[Row]:
    """Return at most some rows, and after them how many more there are."""
    more = len(rows) - len(rows[:limit])
    return [*rows[:limit], *([Row((f"and {more:,} more; --all lists all",))] if more else [])]

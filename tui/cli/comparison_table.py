"""Lay out what varies between several specs as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from spackscope.model.analysis.varying import ComparedRow, Part
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import Spec
from spackscope.model.core.text import cell_width, counted, pad, shorten
from spackscope.model.report.comparison import (
    ComparedTable,
    Rank,
    ranks,
    row_label,
    row_path,
    value_texts,
)
from spackscope.model.report.differences import NOT_LISTED
from spackscope.tui.cli import table as spec_table
from spackscope.tui.cli.colours import Colours

_GAP = "  "
_MAX_ROWS = 200
_MAX_LABEL = 32
_MAX_CELL = 20
_MIN_PATH = 12
_USED_BY = "used by"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class TableOptions(Frozen):
    """What a table shows, and how wide it may be; without a width it is not folded."""

    shows_build: bool
    shows_all: bool
    width: int | None
    colours: Colours


def column_lines(
    table: ComparedTable, specs: Mapping[int, Spec], colours: Colours
) -> Iterator[str]:
    """Yield a line for each spec, after the letter of its column."""
    letters = [
        (letter, specs[id_])
        for letter, column in zip(_LETTERS, table.specs, strict=False)
        for id_ in column.alike or (column.id,)
    ]
    lines = spec_table.candidates([spec for _, spec in letters], SHORT_HASH)
    for (letter, _), line in zip(letters, lines, strict=True):
        hash_, rest = line[:SHORT_HASH], line[SHORT_HASH:]
        yield f"{colours.bold(letter)}{_GAP}{colours.link(hash_)}{rest}"


def kinds_line(table: ComparedTable) -> str:
    """Return how many run-time kinds there are, or that they are not told."""
    if not all(table.lists_dependencies):
        return NOT_LISTED
    if table.runs_the_same:
        return f"build tools only: all {table.total:,} run the same"
    kinds = counted(len(table.specs), "run-time kind")
    same = ": those with one letter run the same" if len(table.specs) < table.total else ""
    return f"{counted(table.total, 'spec')}, {kinds}{same}"


def table_lines(table: ComparedTable, options: TableOptions) -> Iterator[str]:
    """Yield the rows that vary, with those of what only builds counted or listed."""
    rows = [row for row in table.rows or () if _is_shown(row, options)]
    build = [row for row in table.build_rows or () if _is_shown(row, options)]
    shows_build = options.shows_build or not rows
    shown = [*rows, *(build if shows_build else ())]
    if not shown:
        yield "Nothing that is listed differs"
        return
    users = _user_texts(table)
    layout = _Layout.of(shown, users, options)
    for columns in layout.blocks():
        yield from layout.lines(shown, columns)
        if any(users):
            yield layout.users_line(users, columns)
    packages = {row.package for row in build if not row.is_equal}
    if packages and not shows_build:
        verb, them = ("differs", "it") if len(packages) == 1 else ("differ", "them")
        count = counted(len(packages), "package")
        yield f"to build only: {count} {verb}; --build shows {them}"


def _user_texts(table: ComparedTable) -> Sequence[str]:
    """Return how many specs use those of each column, nothing if none do."""
    if not any(spec.users for spec in table.specs):
        return [""] * len(table.specs)
    return ["?" if spec.users is None else str(spec.users or "-") for spec in table.specs]


def _is_shown(row: ComparedRow, options: TableOptions) -> bool:
    if row.is_equal:
        return options.shows_all and row.part == "own"
    return options.shows_all or not row.follows


class _Layout(Frozen):
    """The widths of the columns, and of the labels before them."""

    label_width: int
    widths: Sequence[int]
    options: TableOptions

    @classmethod
    def of(
        cls, rows: Sequence[ComparedRow], users: Sequence[str], options: TableOptions
    ) -> _Layout:
        """Measure what is shown."""
        cells = [*map(value_texts, rows), users]
        widths = [
            min(_MAX_CELL, max(1, *(cell_width(each[column]) for each in cells)))
            for column in range(len(users))
        ]
        labels = [*map(row_label, rows), *([_USED_BY] if any(users) else [])]
        label = max(map(cell_width, labels))
        return cls(min(_MAX_LABEL, label + len(_GAP)), widths, options)

    def blocks(self) -> Iterator[range]:
        """Yield ranges of columns that fit side by side."""
        room = self.options.width
        start, used = 0, self.label_width
        for column, width in enumerate(self.widths):
            if room is not None and column > start and used + len(_GAP) + width > room:
                yield range(start, column)
                start, used = column, self.label_width
            used += len(_GAP) + width
        yield range(start, len(self.widths))

    def lines(self, rows: Sequence[ComparedRow], columns: range) -> Iterator[str]:
        """Yield the heads of some columns, and the rows under them by the part they belong to."""
        bold = self.options.colours.bold
        heads = (pad(_LETTERS[column], self.widths[column]) for column in columns)
        yield bold(_GAP.join((" " * self.label_width, *heads)).rstrip())
        part: Part | None = None
        for row in islice(rows, _MAX_ROWS):
            if row.part != part:
                part = row.part
                yield bold(_HEADS[part])
            yield self._line(row, columns)
        if len(rows) > _MAX_ROWS:
            yield f"and {counted(len(rows) - _MAX_ROWS, 'more row')}"

    def users_line(self, users: Sequence[str], columns: range) -> str:
        """Return how many specs use those of some columns: what most use is the one to take."""
        cells = (pad(users[column], self.widths[column]) for column in columns)
        return _GAP.join((pad(_USED_BY, self.label_width), *cells)).rstrip()

    def _line(self, row: ComparedRow, columns: range) -> str:
        texts, ranked = value_texts(row), ranks(row.values)
        cells = [
            self._styled(pad(texts[column], self.widths[column]), ranked[column])
            for column in columns
        ]
        label = pad(_GAP + shorten(row_label(row), self.label_width), self.label_width)
        used = self.label_width + sum(self.widths[column] + len(_GAP) for column in columns)
        path = row_path(row)
        room = None if self.options.width is None else self.options.width - used - len(_GAP)
        if room is not None:
            path = shorten(path, room) if room >= _MIN_PATH else ""
        return _GAP.join((label, *cells, self.options.colours.dim(path))).rstrip()

    def _styled(self, text: str, rank: Rank) -> str:
        colours = self.options.colours
        return {"common": colours.dim, "rare": colours.differs}.get(rank, str)(text)


_HEADS: dict[Part, str] = {
    "own": "the specs themselves",
    "run": "linked or run",
    "build": "to build only",
}

"""A report over the whole screen: sources and problems, counts, coverage, comparison, a path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Generic

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import cell_width, counted
from spackscope.model.report.frame import position
from spackscope.model.report.highlight import DrawnPiece, filter_needles, highlight
from spackscope.model.report.report import (
    Cell,
    Line,
    Report,
    Row,
    Section,
    Style,
    TableLayout,
    restyled,
    styled,
    text_of,
)
from spackscope.tui.dialogs.base import STILL_LOADING, Dialog, Result
from spackscope.tui.dialogs.pick import LIST_BINDINGS, SearchDialog
from spackscope.tui.keymap import REPORTS, Hint, bindings, first_key, shown_key
from spackscope.tui.widgets.drawing import CURRENT_STYLES, draw
from spackscope.tui.widgets.virtual_list import VirtualList

CopyText = Callable[[str, str, Callable[..., object]], object]
"""Copies a text, which has a name, and says what came of it with a function."""

_MARK = 2
"""Cells of the mark before the row under the cursor."""
_NAMES: dict[Style, str] = {"bold": "strong", "link": "hash"}
"""The names that widgets have for styles of reports, if they are others."""


class ReportRows(VirtualList):
    """The rows of sections, each a table, with a cursor on a row.

    There is a cursor on a column, too, where columns are scrolled: `column` is one of these, and
    `before` and `after` count those that do not fit on each side.
    """

    def __init__(self) -> None:
        super().__init__()
        self.column = self.before = self.after = 0
        self._sections: Sequence[Section] = ()
        self._layouts: Sequence[TableLayout] = ()
        self._lines: Sequence[tuple[int, Row]] = ()
        """The rows, each with the number of its section."""
        self._search, self._needles = "", list[str]()

    @property
    def row(self) -> Row | None:
        """The row under the cursor; None if there is none."""
        return self._lines[self.cursor][1] if self.length else None

    @property
    def text(self) -> str:
        """The row under the cursor in full, each cell after the head of its column."""
        if not self.length:
            return ""
        number, row = self._lines[self.cursor]
        if len(row.cells) == 1:
            return row.texts[0].strip()
        heads = (column.head for column in self._sections[number].columns)
        cells = zip_longest(heads, row.texts, fillvalue="")
        return "  ".join(f"{head} {text}".strip() for head, text in cells if text)

    @property
    def rows(self) -> Sequence[Row]:
        """All rows with a key."""
        return [row for _, row in self._lines if row.key]

    def show_sections(
        self,
        sections: Sequence[Section],
        fitting: Sequence[Sequence[Row]],
        search: str = "",
        *,
        empty: str = "",
    ) -> None:
        """Show those rows of sections that fit a search, in tables that are as wide as for all.

        The cursor stays on its row, or goes to the first with a key. For another search it goes
        there, too: the best match is what the user is after.
        """
        old = self.row if search == self._search else None
        self._search, self._needles = search, filter_needles(search)
        if sections is not self._sections:
            self._sections, self._layouts = sections, ()
        self._lines = [
            (number, row)
            for number, (section, rows) in enumerate(zip(sections, fitting, strict=True))
            for row in (*(_heading(section.heading) if rows or not search else ()), *rows)
        ]
        rows = [row for _, row in self._lines]
        name = _name(old) if old is not None else ""
        same = [n for n, row in enumerate(rows) if name and _name(row) == name]
        start = [n for n, row in enumerate(rows) if row.key]
        self._lay_out()
        self.show(len(rows), next(iter([*same, *start]), 0), empty=empty)
        self.post_message(self.Highlighted(self, self.cursor))

    def _lay_out(self) -> None:
        """Fit the tables into the width, with the current column in view."""
        width = max(1, self.size.width - _MARK)
        self.before = self.after = 0
        if not self._layouts or self._layouts[0].width != width:
            self._layouts = [
                TableLayout((row.cells for row in _rows(section)), section.columns, width)
                for section in self._sections
            ]
        for section, layout in zip(self._sections, self._layouts, strict=True):
            if section.scrolled:
                self.column = min(self.column, len(section.scrolled) - 1)
                current = section.scrolled[self.column]
                self.before, self.after = layout.scroll(section.scrolled, current)

    def on_resize(self) -> None:
        """Fit the tables into the new width."""
        self.show_column(self.column)

    def show_column(self, column: int) -> None:
        """Move the cursor to a column, or to the nearest one there is."""
        self.column = max(0, column)
        self._lay_out()
        self.refresh()
        self.post_message(self.Highlighted(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked column; the list moves it to the row."""
        at = _MARK
        for section, layout in zip(self._sections, self._layouts, strict=True):
            for number, cell in layout.cells([""] * len(layout.columns)):
                at += cell_width(text_of(cell))
                if event.x < at and number in section.scrolled:
                    self.show_column(section.scrolled.index(number))
                    return

    def heads(self) -> list[DrawnPiece]:
        """Return the heads of the columns, the current one marked; none if there are none."""
        for section, layout in zip(self._sections, self._layouts, strict=True):
            if any(column.head for column in section.columns):
                heads = [styled(column.head, "dim") for column in section.columns]
                return self._cells(section, layout, heads, "current")
        return []

    def pieces(self, row: int, width: int) -> list[DrawnPiece]:
        """Return the mark of the cursor and the cells."""
        number, line = self._lines[row]
        is_cursor = row == self.cursor
        mark: DrawnPiece = ("▸ " if is_cursor else "  ", "accent")
        if len(line.cells) == 1:
            return [mark, *self._styled(restyled(line.cells[0], line.texts[0]))]
        section, layout = self._sections[number], self._layouts[number]
        return [mark, *self._cells(section, layout, line.cells, "match" * is_cursor)[1:]]

    def _cells(
        self, section: Section, layout: TableLayout, cells: Sequence[Cell], current: str
    ) -> list[DrawnPiece]:
        """Return cells after blanks for the mark; the current one in a style of its own."""
        pieces: list[DrawnPiece] = [(" " * _MARK, "")]
        for number, cell in layout.cells(cells):
            of_cell = self._styled(cell)
            if section.scrolled and number == section.scrolled[self.column]:
                # The tint of a whole column would drown what differs.
                of_cell = [
                    (text, f"{style.replace('dim', '')} {current * bool(text.strip())}".strip())
                    for text, style in of_cell
                ]
            pieces += of_cell
        # The gap after the last column may have no room.
        while pieces and not pieces[-1][0].strip():
            pieces.pop()
        return pieces

    def _styled(self, line: Line) -> list[DrawnPiece]:
        return [
            each
            for text, style, _ in line
            for each in highlight(text, self._needles, _NAMES.get(style, style))
        ]


def _heading(heading: Cell) -> Sequence[Row]:
    """Return a heading as a row."""
    text = styled(heading, "bold") if isinstance(heading, str) else heading
    return [Row((text,))] if heading else []


def _rows(section: Section) -> list[Row]:
    return [row for row in section.rows if isinstance(row, Row)]


def _name(row: Row) -> str:
    """Return what tells a row from others, also in a newer report; empty if it is only text."""
    return row.key or row.group


class ReportHead(Widget):
    """The heads of the columns; a click goes to a column."""

    COMPONENT_CLASSES = CURRENT_STYLES

    def __init__(self, rows: ReportRows) -> None:
        super().__init__()
        self._rows = rows

    def on_click(self, event: events.Click) -> None:
        """Make the clicked column the current one."""
        self._rows.on_click(event)

    def render_line(self, y: int) -> Strip:
        """Draw the heads."""
        return draw(self, self._rows.heads(), self.size.width, "row")


class ReportDialog(SearchDialog[Result], Generic[Result], inherit_bindings=False):
    """A report over the whole screen: a search, its rows, and the row under the cursor in full.

    The report may arrive before the dialog is on the screen, and newer ones follow. `heading` and
    `noun` say what its rows are. Subclasses return with `result` what choosing a row means.
    """

    BINDINGS = [*LIST_BINDINGS, *Dialog.BINDINGS]
    AUTO_FOCUS = "SearchInput, ReportRows"
    report: Report | None = None
    heading = noun = ""

    def __init__(self) -> None:
        self.list = ReportRows()
        self.list.can_focus = not self.HAS_SEARCH
        super().__init__("", self.list)
        self._head, self._reading = Static(classes="report-head"), Static(classes="report")
        self._columns = ReportHead(self.list)
        self._failure = self._empty = self._progress = ""
        self._sections: Sequence[Section] = ()
        self._shown_head = Content()
        self._is_composed = False

    def compose(self) -> ComposeResult:
        """Lay out the summary, the search, the heads, the rows, and the text of one."""
        yield self._head
        if self.HAS_SEARCH:
            yield Horizontal(Static("› "), self.input, classes="search-line")
        yield self._columns
        yield self.list
        yield self._reading

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next must wait for the report."""
        return self.report is None and not (self._failure or self.goes_back(event))

    def show_report(
        self, report: Report, empty: str = "There are none.", progress: str = ""
    ) -> None:
        """Show a report; `empty` says why it has no rows, `progress` what is still missing."""
        self.report, self._failure, self._empty, self._progress = report, "", empty, progress
        self.refill()

    def show_failure(self, sentence: str) -> None:
        """Show why there is no report."""
        self.report, self._failure, self._progress = None, sentence, ""
        self.refill()

    def show_progress(self, progress: str) -> None:
        """Show below the title how far what is read has come."""
        self._progress = progress
        if self._is_composed:
            self.show_head()

    def show_loading(self, is_loading: bool) -> None:
        """Show in the first line whether sources are still being read."""
        self.is_loading = is_loading
        if self._is_composed:
            self.show_head()

    def on_mount(self) -> None:
        """Show the report if it arrived before."""
        self._is_composed = True
        self.refill()

    @on(events.Resize)
    def refill(self) -> None:
        """Show what changed, if the dialog is on the screen already."""
        if self._is_composed:
            self._sections = self.sections()
            self.find()

    def sections(self) -> Sequence[Section]:
        """Return the sections to show, as they are without a search."""
        return list(self.report.sections) if self.report is not None else ()

    @property
    def width(self) -> int:
        """The cells of a row."""
        return max(1, self.app.size.width - _MARK)

    def searched(self, row: Row) -> str:
        """Return what a search looks at."""
        return " ".join((*row.texts, row.note, row.group, row.key))

    def find(self) -> None:
        """Show the rows that fit the search, or why there are none."""
        close = shown_key(first_key("dialogs-close", is_letter_typed=self.HAS_SEARCH))
        empty = f"reading…\n{close} stops it"
        if self.report is not None and self.search:
            empty = self.why_empty(self.noun)
        elif self._failure or self.report is not None:
            empty = f"{self._failure or self._empty}\n{close} closes"
        rows = [(n, row) for n, section in enumerate(self._sections) for row in _rows(section)]
        # Those that fit badly are left out where one fits better, also in another section.
        found = matching(self.search, rows, lambda row: self.searched(row[1]))
        fitting = [[row for n, row in found if n == m] for m in range(len(self._sections))]
        self.list.show_sections(self._sections, fitting, self.search, empty=empty)
        self.show_head()

    def summary(self) -> str:
        """Return what stands beside the heading: the title, or how many rows fit the search."""
        if self.report is None or not self.noun:
            return ""
        if self.report.title and not self.search:
            return self.report.title
        count = sum(bool(row.key) for section in self._sections for row in _rows(section))
        fitting = f"{len(self.list.rows):,} of " if self.search else ""
        return f"{fitting}{counted(count, self.noun)}"

    def notes(self) -> Sequence[str]:
        """Return lines for below the title: the progress."""
        return [self._progress] if self._progress else []

    @on(VirtualList.Highlighted)
    def show_head(self) -> None:
        """Show the title, what does not fit, and whether sources are still being read."""
        rows = self.list
        parts = [
            self.heading,
            f"‹ {rows.before:,}" if rows.before else "",
            f"{counted(rows.after, 'more column')} ›" if rows.after else "",
            self.summary(),
        ]
        title, *rest = [*filter(None, parts), ""]
        beside = "".join(f" · {part}" for part in rest[:-1])
        loading = f" · {STILL_LOADING}" * self.is_loading
        notes = "".join(f"\n{note}" for note in self.notes())
        head = Content.assemble(
            (title, "bold"), (loading, "$text-warning bold"), beside, (notes, "dim")
        )
        if head != self._shown_head:
            self._shown_head = head
            self._head.update(head)
        self._columns.display = bool(rows.heads())
        self._columns.refresh()
        self.status.show_position(position(rows.cursor, rows.length))

    def show_reading(self) -> None:
        """Show below the list what is to be read of the row under the cursor."""
        self._reading.update(Content(self.reading()))

    def reading(self) -> str:
        """Return the note of the row under the cursor."""
        return self.list.row.note if self.list.row is not None else ""

    def result(self, row: Row) -> Result | None:
        """Return what choosing a row means; None if the dialog stays."""
        raise NotImplementedError

    def action_column(self, step: int) -> None:
        """Go some columns to the right, or to the left."""
        self.list.show_column(self.list.column + step)

    @on(VirtualList.Chosen)
    def action_take(self) -> None:
        """Do what choosing the row under the cursor means."""
        row = self.list.row
        if row is not None and (result := self.result(row)) is not None:
            self.dismiss(result)


class ReportsDialog(ReportDialog[Row]):
    """Sources, problems or changes, each with its whole text; the result is the row to open.

    `copy` is called to copy a text.
    """

    PANE = REPORTS
    BINDINGS = bindings(REPORTS)

    def __init__(self, noun: str, copy: CopyText) -> None:
        super().__init__()
        self.noun, self._copy = noun, copy

    def key_hints(self) -> Iterable[Hint]:
        """Return the keys of the dialog, without that to go on where the row leads nowhere."""
        leads_on = self.list.row is not None and self.result(self.list.row) is not None
        go_on = first_key("reports-choose", is_letter_typed=True)
        return [each for each in super().key_hints() if leads_on or each.key != go_on]

    def reading(self) -> str:
        """Return the note of the row under the cursor, or its text, which the list may cut."""
        return super().reading() or self.list.text

    def result(self, row: Row) -> Row | None:
        """Return the row to open, if it is about some specs."""
        return row if row.queries else None

    def action_copy(self) -> None:
        """Copy the whole text of the row."""
        if text := self.reading():
            self._copy(text, f"the text of the {self.noun}", self.say)

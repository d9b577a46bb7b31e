"""The side column: the packages with matches, and the values that the rows have.

Packages have counts or an overview, values have bars, counts and marks; each list has a filter.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import cell_width, clean, cut_apart, pad, shorten
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import PackageCount
from spackscope.model.query.ast import Query, exact_term
from spackscope.model.report.progress import bar
from spackscope.model.report.report import LinePart, Piece, filter_needles, highlight
from spackscope.model.report.table_columns import Layout, TableColumn
from spackscope.model.report.titles import (
    MIN_WIDTH,
    ValueLine,
    overview_cell,
    overview_layout,
    value_lines,
)
from spackscope.tui.keymap import PACKAGES, VALUES, bindings, shown, written_key
from spackscope.tui.widgets.drawing import RULE_MARGIN, RuleLine, dashes, ruled
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.virtual_list import Browse, VirtualList

if TYPE_CHECKING:
    from spackscope.model.index.value_counts import SectionKey, SectionValue, ValueSection, Verb
    from spackscope.model.report.titles import PackageSummary

    Place = tuple[SectionKey, str | None]
    """A section, and one of its values; None for its first value."""


class FilteredPane(Vertical):
    """A list under a filter, which is shown while it has the focus or a text."""

    filter = getters.query_one(FilterInput)
    rule = getters.query_one(RuleLine)

    def open_filter(self) -> FilterInput:
        """Show the filter, and return it."""
        self.filter.display = True
        return self.filter

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def fit_filter(self) -> None:
        """Hide the filter without a text, unless it, or another window, has the focus."""
        is_typed_in = self.screen.focused is self.filter or not self.app.app_focus
        self.filter.display = bool(self.filter.value) or (self.filter.display and is_typed_in)

    @abstractmethod
    def refill(self, *, is_typed: bool = False) -> None:
        """Show what fits the filter; with `is_typed` its text was typed just now."""

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.refill(is_typed=True)

    @on(FilterInput.Done)
    def _go_to_list(self, event: FilterInput.Done) -> None:
        event.stop()
        self.query("VirtualList").focus()


ALL = "all packages"


class PackageRows(VirtualList):
    """A row for all packages, and a row for each package.

    The summaries of packages are requested as their rows come into view; a summary of an older
    query stays until the new one replaces it.
    """

    BINDINGS = bindings(PACKAGES)

    packages: Sequence[PackageCount] = ()
    shown = 0
    needles: Sequence[str] = ()
    runs_head = ""
    widest = MIN_WIDTH
    """The greatest width of the overview: wider, its numbers would be far from the names."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._summaries: dict[int, PackageSummary] = {}
        self._asked: set[int] = set()
        self._is_asking = False

    @property
    def overview(self) -> Layout | None:
        """The columns of the overview, or None where there is only room for names."""
        width = self.size.width
        if width < MIN_WIDTH:
            return None
        return overview_layout(min(width, self.widest), self.runs_head)

    @property
    def keeps_cursor(self) -> bool:
        """Whether the cursor is on a package, which is chosen."""
        return self.cursor > 0

    def forget_summaries(self, *, is_other_catalog: bool) -> None:
        """Request all summaries again; drop the old ones if the catalog is another."""
        self._asked.clear()
        if is_other_catalog:
            self._summaries.clear()
        self.refresh()

    def take_summaries(self, summaries: Mapping[int, PackageSummary]) -> None:
        """Show some summaries."""
        self._summaries.update(summaries)
        first = max(0, self.top - 1)
        seen = enumerate(self.packages[first:][: self.size.height + 1], first + 1)
        self.refresh_rows(*(row for row, package in seen if package.id in summaries))

    def fit(self) -> None:
        """Draw the columns that fit; without room for an overview, request no more summaries."""
        super().fit()
        if self.overview is None and self._asked:
            self._asked.clear()
            self.post_message(Browse("summarize", ()))

    def _ask(self) -> None:
        """Request the summaries of the packages on the screen."""
        self._is_asking = False
        first = max(0, self.top - 1)
        seen = self.packages[first : first + self.size.height + 1]
        if any(package.id not in self._asked for package in seen):
            self._asked = {package.id for package in seen}
            self.post_message(Browse("summarize", seen))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the name, and the number of specs or the overview."""
        package = self.package_of(row)
        if (layout := self.overview) is not None:
            return self._overview_pieces(layout, package)
        count = f"{package.shown if package else self.shown:,}"
        room = max(0, width - len(count) - 4)
        name = self._shown_name(package, room)
        blank = " " * (room - cell_width(name) + 1)
        pieces = [*self._name_pieces(package, name), (blank, "")]
        return [*pieces, (count, "dim"), (" ", "")]

    def package_of(self, row: int) -> PackageCount | None:
        """Return the package of a row; None for the row of all packages."""
        return self.packages[row - 1] if row else None

    def _shown_name(self, package: PackageCount | None, width: int) -> str:
        name = (clean(package.name) or "(no name)") if package is not None else ALL
        return shorten(name, width)

    def _name_pieces(self, package: PackageCount | None, name: str) -> list[Piece]:
        if package is None:
            return [("  ", ""), (name, "dim")]
        return [("  ", ""), *highlight(name, self.needles, is_fuzzy=True)]

    def _overview_pieces(self, layout: Layout, package: PackageCount | None) -> list[Piece]:
        names, *others = layout.placed
        name = self._shown_name(package, names.width)
        pieces = self._name_pieces(package, name)
        pieces.append((" " * (names.width - cell_width(name)), ""))
        summary = self._summaries.get(package.id) if package is not None else None
        if package is not None and package.id not in self._asked and not self._is_asking:
            self._is_asking = True
            self.call_later(self._ask)
        for column in (placed.column for placed in others):
            builds = package.shown if package is not None else self.shown
            cell = overview_cell(column, builds, summary)
            text = pad(cell, column.width - 1, right=column.aligns_right)
            pieces.append((f"  {text}", _style(column, cell, package is None)))
        return pieces


def _style(column: TableColumn, cell: str, is_all: bool) -> str:
    if column.name == "runs" and cell not in ("", "0", "-"):
        return "good"
    return "" if column.name in ("newest", "builds") and not is_all else "dim"


class PackageList(FilteredPane):
    """The packages below a filter on their names; `selected` is a name, or None for all."""

    FILTER = "names"
    """The name of the filter input."""

    packages: Sequence[PackageCount] = ()
    selected: str | None = None
    title = "packages"
    _content: tuple[Catalog, Query] | None = None
    _height: int | None = None

    rows = getters.query_one(PackageRows)

    def compose(self) -> ComposeResult:
        """Lay out the rule and the filter above the rows."""
        yield RuleLine(self._texts)
        yield FilterInput("filter…", name=self.FILTER)
        yield PackageRows(id="package-rows")

    def show_packages(
        self,
        catalog: Catalog,
        packages: Sequence[PackageCount],
        selected: PackageCount | None,
        query: Query,
    ) -> None:
        """Show other packages or counts, with the cursor on the package that a query names.

        A query may write two odd names alike: then the package selected before stays selected.
        """
        term, current = query.package_term, self.selected
        is_same = current is not None and term == exact_term("package", current)
        if selected is None or not is_same:
            self.selected = selected.name if selected is not None else None
        content = catalog, query.with_package(None)
        if content != self._content:
            is_other = self._content is None or self._content[0] is not catalog
            self._content = content
            self.rows.forget_summaries(is_other_catalog=is_other)
        if packages != self.packages:
            self.packages = packages
            self.refill()
        elif (row := self._row_of(self.selected)) != self.rows.cursor:
            self.rows.show(self.rows.length, row, empty=self.rows.empty)

    def filter_by(self, text: str) -> None:
        """Show the packages whose names match a text; the cursor stays on the selected package."""
        self.filter.reflect(text)
        self.refill()

    def reveal(self, name: str) -> None:
        """Remove the filter if it hides a package."""
        input_ = self.filter
        if not matching(input_.value, [name], str):
            input_.value = ""

    def refill(self, *, is_typed: bool = False) -> None:
        """Show the packages that fit the filter; the best one is chosen while it is typed."""
        rows = self.rows
        text = self.filter.value
        packages = matching(text, self.packages, lambda package: package.name)
        rows.packages, rows.needles = packages, filter_needles(text)
        rows.shown = sum(package.shown for package in packages)
        length = len(packages) + 1 if packages or not text else 0
        empty = f"no package matches {clean(text)}\n{written_key('⌫')} removes letters"
        if not self.packages:
            empty = "no package matches the query"
        rows.show(length, self._row_of(self.selected), empty=empty)
        self.fit_filter()
        # The list takes no more lines than its rows need, and leaves the others to the values.
        height = length + 1 + self.filter.display if length else None
        if height != self._height:
            self._height = height
            self.styles.height = height
        count = f"{len(packages):,} of {len(self.packages):,}" if text else f"{len(packages):,}"
        self.title = f"packages {count}"
        self.rule.refresh()
        best = packages[0].name if is_typed and text and packages else self.selected
        if best != self.selected:
            rows.move_to(self._row_of(best))

    def _texts(self, width: int) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
        """Return the number of packages, and the heads of the overview over its columns."""
        placed = layout.placed if (layout := self.rows.overview) is not None else ()
        title = shorten(self.title, placed[0].width if placed else width)
        pieces, at = [(title, "")], cell_width(title)
        for column, end in ((each.column, each.end) for each in placed[1:]):
            head = cell_width(column.label)
            begin = end - (head if column.aligns_right else column.width - 1)
            pieces += [(dashes(begin - at), "rule"), (column.label, "plain dim")]
            at = begin + head
        return [LinePart(pieces)], []

    def show_overview(self, runs_head: str, width: int) -> None:
        """Set the head of the overview: where the builds run, and its maximum width."""
        self.rows.runs_head, self.rows.widest = runs_head, width
        self.rows.refresh()
        self.rule.refresh()

    def _row_of(self, name: str | None) -> int:
        if name is None:
            return 0
        numbers = (n for n, package in enumerate(self.rows.packages, 1) if package.name == name)
        return next(numbers, 0)

    @on(PackageRows.Highlighted)
    def _highlighted(self, event: PackageRows.Highlighted) -> None:
        event.stop()
        package = self.rows.package_of(event.row)
        self.selected = package.name if package is not None else None
        self.post_message(Browse("select_package", self.selected))

    @on(PackageRows.Chosen)
    def _chosen(self, event: PackageRows.Chosen) -> None:
        event.stop()
        self.post_message(Browse("specs"))


_SIGNS = {None: (" ", ""), True: ("✓", "good"), False: ("✗", "error")}
_STYLES = {None: "", True: "strong", False: "dim"}
_SHOWN = ((19, 5), (11, 4), (0, 3))
"""Heights of the list, each with the values of a section that are shown before it is opened."""
_MAX_BAR, _MIN_BAR = 6, 3
"""Cells of the bars: as many as the names and counts leave, or none."""


class ValueRows(VirtualList):
    """The lines of all sections."""

    lines: Sequence[ValueLine] = ()
    needles: Sequence[str] = ()
    _count_width = 0

    class Clicked(Message):
        """Posted when the line under the cursor was clicked."""

    def show_lines(
        self, lines: Sequence[ValueLine], cursor: int, needles: Sequence[str], empty: str
    ) -> None:
        """Show other lines, with the cursor on the given line."""
        self.lines, self.needles = lines, needles
        values = [line.value for line in lines if line.value is not None]
        self._count_width = max((len(f"{value.count:,}") for value in values), default=1)
        self.show(len(lines), cursor, empty=empty)

    @property
    def keeps_cursor(self) -> bool:
        """Whether the cursor is shown while the list is not in use: it chooses nothing."""
        return False

    @property
    def position(self) -> tuple[int, int]:
        """The number of the value under or above the cursor, and the number of values."""
        values = [n for n, line in enumerate(self.lines) if line.value is not None]
        return max(0, sum(n <= self.cursor for n in values) - 1), len(values)

    @property
    def heads_in_view(self) -> list[int]:
        """The lines of the list with the heads of sections."""
        rows = range(self.top, min(self.length, self.top + self.size.height))
        return [row - self.top for row in rows if self._is_drawn_head(row)]

    def _is_drawn_head(self, row: int) -> bool:
        """Check whether a line is a head with a value below it on the screen."""
        is_last = self.top <= row == self.top + self.size.height - 1
        return self.lines[row].is_head and not is_last

    def is_heading(self, row: int) -> bool:
        """Check whether a line is the head of a section."""
        return self.lines[row].is_head

    def _put_at_top(self, top: int) -> bool:
        # The name of the section at the top is in the rule above the list.
        return super()._put_at_top(top + (top + 1 < self.length and self.is_heading(top)))

    def head(self) -> LinePart:
        """Return the name of the section at the top."""
        label = self.lines[self.top].section.key.label if self.length else "values"
        return self._head(clean(label), self.size.width)

    def _head(self, label: str, width: int) -> LinePart:
        return LinePart(highlight(shorten(label, width), self.needles))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the head of a section, or the mark, text, bar and count of a value."""
        line = self.lines[row]
        if line.value is not None:
            return self._value_pieces(line, line.value, width)
        if line.is_head:
            if not self._is_drawn_head(row):
                return []
            parts, _ = ruled([self._head(line.text, width - RULE_MARGIN)], [], width)
            return [piece for part in parts for piece in part.pieces]
        return [("  ", ""), (line.text, "dim")]

    def _value_pieces(self, line: ValueLine, value: SectionValue, width: int) -> list[Piece]:
        sign, sign_style = _SIGNS[value.mark]
        room = max(0, width - 4 - self._count_width)
        text, texts = value.text, tuple(each.text for each in line.section.values)
        bar_at = max(map(cell_width, texts)) + 1
        bar_width = min(room - bar_at, max(_MAX_BAR, width // 4))
        if cell_width(text) > room:
            # Values of a section stay different.
            text = cut_apart(texts, room)[text]
        drawn = ""
        if bar_width >= _MIN_BAR:
            drawn = bar(value.count, max(line.most, value.count), bar_width)
        blanks = " " * (bar_at - cell_width(text) if drawn else 0)
        rest = " " * (room - cell_width(text + blanks + drawn))
        return [
            (sign, sign_style),
            (" ", ""),
            *highlight(text, self.needles, _STYLES[value.mark]),
            (blanks, ""),
            (drawn, "bar"),
            (f"{rest} {value.count:>{self._count_width},}", "" if value.count else "dim"),
            (" ", ""),
        ]

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked line, and include its value."""
        # Else the base class would choose the value at a double click.
        event.prevent_default()
        row = self.top + event.y
        if row < self.length and not self.is_heading(row):
            self.move_to(row)
            if event.chain == 1:
                self.post_message(self.Clicked())


def nearest_line(lines: Sequence[ValueLine], current: ValueLine, row: int) -> int:
    """Return the number of the same line, of the first in its section, or of a line near `row`."""

    def place(line: ValueLine) -> tuple[SectionKey, str | None, bool]:
        value = line.value.value if line.value is not None else None
        return line.section.key, value, line.is_switch

    rows = [n for n, line in enumerate(lines) if not line.is_head]
    same = (n for n in rows if place(lines[n]) == place(current))
    first = (n for n in rows if lines[n].section.key == current.section.key)
    return next(same, next(first, min(rows, key=lambda n: abs(n - row), default=0)))


class ValuesPane(FilteredPane):
    """The sections below a filter; it posts the marks that the user sets on values.

    When the sections change, the cursor stays on the same value.
    """

    BINDINGS = bindings(VALUES)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.rows = ValueRows(id="value-rows")
        self.sections: Sequence[ValueSection] = ()
        self._opened: set[SectionKey] = set()
        self._place: Place | None = None
        self._empty = ""
        self.on_heads: Callable[[], object] = lambda: None
        """Called when the heads of sections may have moved."""

    def compose(self) -> ComposeResult:
        """Lay out the rule and the filter above the rows."""
        yield RuleLine(lambda width: ([self.rows.head()], []))
        yield FilterInput("filter…", name="values")
        yield self.rows

    @on(VirtualList.Scrolled)
    def _show_heads(self) -> None:
        self.rule.refresh()
        self.on_heads()

    @property
    def line(self) -> ValueLine | None:
        """The line under the cursor."""
        return self.rows.lines[self.rows.cursor] if self.rows.length else None

    @property
    def place(self) -> Place | None:
        """The section under the cursor, and the value under the cursor."""
        line = self.line
        if line is None:
            return None
        is_value = line.value is not None and line.value.condition is None
        return line.section.key, line.value.value if line.value is not None and is_value else None

    def expect(self) -> None:
        """Request counts if the pane is on the screen."""
        if self.is_on_screen:
            self.post_message(Browse("count_values"))

    def on_resize(self) -> None:
        """Request counts when the pane is shown, and show as many values as its height allows."""
        self.expect()
        if self.sections:
            self.refill()

    def show_sections(
        self,
        sections: Sequence[ValueSection],
        *,
        empty: str,
        place: Place | None = None,
        is_last: bool = True,
    ) -> None:
        """Show other sections; the cursor goes to `place` once its section is read."""
        self.sections, self._empty = sections, empty
        if place is not None:
            self._place = place
            self.filter.reflect("")
        self.refill()
        if is_last:
            self._place = None

    def _lines(self) -> list[ValueLine]:
        """Return the lines, with fewer values of each section in a low pane."""
        most = next(most for least, most in _SHOWN if self.rows.size.height >= least)
        return value_lines(self.sections, self.filter.value, self._opened, most)

    def refill(self, *, is_typed: bool = False) -> None:
        """Show the values that fit the filter; the cursor stays on its value if it can."""
        typed = self.filter.value
        self.fit_filter()
        current = self.line
        lines = self._lines()
        empty = f"no value matches {clean(typed)}\n{shown('back')} removes the filter"
        if not typed.strip():
            empty = self._empty
        cursor = next((n for n, line in enumerate(lines) if line.value is not None), 0)
        if not is_typed and current is not None:
            cursor = nearest_line(lines, current, self.rows.cursor)
        if self._place is not None and (place := _find(self.sections, *self._place)):
            self._place = None
            section, value = place
            if not _has(lines, section, value):
                self._opened.add(section.key)
                lines = self._lines()
            cursor = next(
                n
                for n, line in enumerate(lines)
                if line.section is section and line.value is value and not line.is_switch
            )
        self.rows.show_lines(lines, cursor, filter_needles(typed), empty)
        self._show_heads()
        # The position of the cursor is another one.
        self.post_message(VirtualList.Scrolled(self.rows, cursor))

    def action_mark(self, verb: Verb) -> None:
        """Include or exclude the value, or unmark it; or remove the filters of the section."""
        line = self.line
        if line is None:
            return
        if line.value is None and verb != "clear":
            self._switch(line)
        else:
            self.post_message(Browse("choose_value", verb, line.section, line.value))

    def _switch(self, line: ValueLine) -> None:
        """Show all values of a section, or only its first values."""
        self._opened ^= {line.section.key}
        row = self.rows.cursor
        self.refill()
        if line.is_switch and line.section.key in self._opened:
            self.rows.move_to(row)

    def action_leave(self) -> None:
        """Close the filter; if it is closed, go back to the table."""
        if not self._close_filter():
            self.post_message(Browse("leave_values"))

    def action_focus_filter(self) -> None:
        """Go to the filter."""
        self.open_filter().focus()

    def action_only(self) -> None:
        """Include only this value, and go to the table; on other lines switch the section."""
        line = self.line
        self.action_mark("only")
        if line is not None and line.value is not None:
            self.post_message(Browse("leave_values"))

    @on(ValueRows.Clicked)
    def _click(self, event: ValueRows.Clicked) -> None:
        event.stop()
        self.action_mark("include")

    @on(FilterInput.Pressed)
    def _press(self, event: FilterInput.Pressed) -> None:
        event.stop()
        if event.key == "take":
            self.rows.focus()
        elif event.key == "give_up":
            self._close_filter()

    def _close_filter(self) -> bool:
        """Close the filter; return False if it is closed already."""
        if not (self.filter.value or self.filter.has_focus):
            return False
        self.filter.reflect("")
        self.rows.focus()
        self.refill()
        return True


def _find(
    sections: Sequence[ValueSection], key: SectionKey, value: str | None
) -> tuple[ValueSection, SectionValue] | None:
    """Return a section and its value; for the variants column, the first variant's section."""
    for section in sections:
        values = section.values
        is_it = section.key == key or (not key.variant and section.key.column == key.column)
        if values and is_it:
            found = next((v for v in values if v.value == value and v.condition is None), None)
            marked = next((v for v in values if v.mark is not None), None)
            return section, found or marked or values[0]
    return None


def _has(lines: Sequence[ValueLine], section: ValueSection, value: SectionValue) -> bool:
    return any(line.section is section and line.value is value for line in lines)

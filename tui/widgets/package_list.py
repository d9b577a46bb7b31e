"""The packages with matches: names and counts or an overview, and a filter for their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.widgets import Input

from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import cell_width, clean, pad, shorten
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import PackageCount
from spackscope.model.query.ast import Query, exact_term
from spackscope.model.report.report import LinePart, Piece, filter_needles, highlight
from spackscope.model.report.table_columns import Layout, TableColumn
from spackscope.model.report.titles import MIN_WIDTH, overview_cell, overview_layout
from spackscope.tui.keymap import PACKAGES, bindings, written_key
from spackscope.tui.widgets.drawing import RuleLine, dashes
from spackscope.tui.widgets.query_line import FilteredPane, FilterInput
from spackscope.tui.widgets.virtual_list import Browse, VirtualList

if TYPE_CHECKING:
    from spackscope.model.analysis.package_summary import PackageSummary


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
        self.on_fit: Callable[[], None] = lambda: None
        """Called when the width of the rows has changed, and with it the columns."""

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

    def set_packages(self, packages: Sequence[PackageCount], needles: Sequence[str]) -> None:
        """Set the packages of the rows, and the texts to highlight in their names."""
        self.packages, self.needles = packages, needles
        self.shown = sum(package.shown for package in packages)

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
        self.on_fit()
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
        rows = PackageRows(id="package-rows")
        rows.on_fit = self.show_title
        yield rows

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
            self._refill()
        elif (row := self._row_of(self.selected)) != self.rows.cursor:
            self.rows.show(self.rows.length, row, empty=self.rows.empty)

    def filter_by(self, text: str) -> None:
        """Show the packages whose names match a text; the cursor stays on the selected package."""
        self.filter.reflect(text)
        self._refill()

    def reveal(self, name: str) -> None:
        """Remove the filter if it hides a package."""
        input_ = self.filter
        if not matching(input_.value, [name], str):
            input_.value = ""

    def _refill(self) -> None:
        rows = self.rows
        text = self.filter.value
        packages = matching(text, self.packages, lambda package: package.name)
        rows.set_packages(packages, filter_needles(text))
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
        self.show_title()

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
        self.show_title()

    def _row_of(self, name: str | None) -> int:
        if name is None:
            return 0
        numbers = (n for n, package in enumerate(self.rows.packages, 1) if package.name == name)
        return next(numbers, 0)

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self._refill()
        rows = self.rows
        # While a name is typed the best match is what the user is after.
        selected = rows.packages[0].name if event.value and rows.packages else self.selected
        if selected != self.selected:
            rows.move_to(self._row_of(selected))

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

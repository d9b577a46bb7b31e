"""The packages with matches, each with its count, and a filter for their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Input, Static

from spackscope.model.catalog.packages import PackageCount
from spackscope.model.core.fuzzy import matching
from spackscope.model.core.text import cell_width, clean, pad, shorten
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import exact_term
from spackscope.tui.keymap import PACKAGES, bindings
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.highlight import filter_needles, highlight
from spackscope.tui.widgets.virtual_list import VirtualList

ALL = "all packages"


class PackageRows(VirtualList):
    """A row for all packages, and one for each package."""

    BINDINGS = bindings(PACKAGES)

    packages: Sequence[PackageCount] = ()
    shown = 0
    needles: Sequence[str] = ()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of rows: where other panes need the room, it takes no more."""
        return max(1, self.length)

    def show(self, length: int, cursor: int = 0, *, empty: str = "") -> None:
        """Show some number of rows, and take as many lines."""
        is_resized = length != self.length
        super().show(length, cursor, empty=empty)
        if is_resized:
            self.refresh(layout=True)

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the mark of the cursor, the name and the number of specs."""
        package = self.packages[row - 1] if row else None
        count = f"{package.shown if package else self.shown:,}"
        room = max(0, width - len(count) - 4)
        name = shorten(clean(package.name) or "(no name)" if package else ALL, room)
        pieces = [("▸ " if row == self.cursor else "  ", "accent")]
        pieces += highlight(name, self.needles) if package else [(name, "dim")]
        blank = " " * (room - cell_width(name) + 1)
        return [*pieces, (blank, ""), (pad(count, len(count)), "dim"), (" ", "")]


class PackageList(Vertical):
    """The packages with a filter on their names, and the one that is selected; None for all."""

    @dataclass
    class Selected(Message):
        """Posted when the cursor comes to a package; None stands for all."""

        package: str | None

    @dataclass
    class Opened(Message):
        """Posted when the user goes on to the specs."""

    FILTER = "names"
    """The name of the input for its filter."""

    packages: Sequence[PackageCount] = ()
    selected: str | None = None
    title = "packages"

    _rows = getters.query_one(PackageRows)

    def compose(self) -> ComposeResult:
        """Lay out the title and the filter above the rows."""
        yield Static("packages", id="packages-title", classes="pane-title")
        yield FilterInput("filter…", name=self.FILTER, id="names")
        yield PackageRows(id="package-rows")

    def focus_filter(self) -> None:
        """Go to the filter."""
        self.query_one(FilterInput).focus()

    def say_instead_of_rows(self, text: str) -> None:
        """Show a text while there are no packages."""
        self._rows.show(0, empty=text)

    def show_packages(
        self, packages: Sequence[PackageCount], selected: PackageCount | None, query: Query
    ) -> None:
        """Show other packages or counts, with the cursor on the one that a query names.

        Odd names may be written alike in a query: then the present one stays selected.
        """
        term, current = query.package_term, self.selected
        is_same = current is not None and term == exact_term("package", current)
        if selected is None or not is_same:
            self.selected = selected.name if selected is not None else None
        if packages != self.packages:
            self.packages = packages
            self._refill()
        elif (row := self._row_of(self.selected)) != self._rows.cursor:
            self._rows.show(self._rows.length, row, empty=self._rows.empty)

    def filter_by(self, text: str) -> None:
        """Show the packages that fit a text, with the cursor where it is."""
        self.query_one(FilterInput).reflect(text)
        self._refill()

    def reveal(self, name: str) -> None:
        """Remove the filter if it hides a package."""
        input_ = self.query_one(FilterInput)
        if not matching(input_.value, [name], str):
            input_.value = ""

    def _refill(self) -> None:
        rows = self._rows
        text = self.query_one(FilterInput).value
        packages = matching(text, self.packages, lambda package: package.name)
        rows.packages, rows.needles = packages, filter_needles(text)
        rows.shown = sum(package.shown for package in packages)
        length = len(packages) + 1 if packages or not text else 0
        empty = f"no package matches {clean(text)}\n⌫ removes letters"
        rows.show(length, self._row_of(self.selected), empty=empty)
        count = f"{len(packages):,} of {len(self.packages):,}" if text else f"{len(packages):,}"
        self.title = f"packages {count}"
        self.query_one("#packages-title", Static).update(Content(self.title), layout=False)

    def _row_of(self, name: str | None) -> int:
        numbers = (n for n, package in enumerate(self._rows.packages, 1) if package.name == name)
        return next(numbers, 0)

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self._refill()
        rows = self._rows
        # While a name is typed the best match is what the user is after.
        selected = rows.packages[0].name if event.value and rows.packages else self.selected
        if selected != self.selected:
            rows.move_to(self._row_of(selected))

    @on(FilterInput.Done)
    def _done(self, event: FilterInput.Done) -> None:
        event.stop()
        self._rows.focus()

    @on(PackageRows.Highlighted)
    def _highlighted(self, event: PackageRows.Highlighted) -> None:
        event.stop()
        self.selected = self._rows.packages[event.row - 1].name if event.row else None
        self.post_message(self.Selected(self.selected))

    @on(PackageRows.Chosen)
    def _chosen(self, event: PackageRows.Chosen) -> None:
        event.stop()
        self.post_message(self.Opened())

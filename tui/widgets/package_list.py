"""The packages with matches, each with its count, and a filter for their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import clean, pad
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import PackageCount
from spackscope.model.query.ast import Query, exact_term
from spackscope.tui.keymap import written_key
from spackscope.tui.widgets.drawing import filter_needles
from spackscope.tui.widgets.package_rows import PackageRows
from spackscope.tui.widgets.query_line import FilterInput

if TYPE_CHECKING:
    from spackscope.model.analysis.package_summary import Summaries


class PackageList(Vertical):
    """The packages with a filter on their names, and the one that is selected; None for all."""

    class Selected(Message):
        """Posted when the cursor comes to a package; None stands for all."""

        def __init__(self, package: str | None) -> None:
            super().__init__()
            self.package = package

    class Opened(Message):
        """Posted when the user goes on to the specs."""

    FILTER = "names"
    """The name of the input for its filter."""

    packages: Sequence[PackageCount] = ()
    selected: str | None = None
    title = "packages"
    _content: tuple[Catalog, Query] | None = None
    _height: int | None = None

    rows = getters.query_one(PackageRows)

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
        self.rows.show(0, empty=text)

    def show_packages(
        self,
        catalog: Catalog,
        packages: Sequence[PackageCount],
        selected: PackageCount | None,
        query: Query,
    ) -> None:
        """Show other packages or counts, with the cursor on the one that a query names.

        Odd names may be written alike in a query: then the present one stays selected.
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
        """Show the packages that fit a text, with the cursor where it is."""
        self.query_one(FilterInput).reflect(text)
        self._refill()

    def take_summaries(self, summaries: Summaries) -> None:
        """Show some summaries in the overview."""
        self.rows.take_summaries(summaries)

    def reveal(self, name: str) -> None:
        """Remove the filter if it hides a package."""
        input_ = self.query_one(FilterInput)
        if not matching(input_.value, [name], str):
            input_.value = ""

    def _refill(self) -> None:
        rows = self.rows
        text = self.query_one(FilterInput).value
        packages = matching(text, self.packages, lambda package: package.name)
        rows.set_packages(packages, filter_needles(text))
        length = len(packages) + 1 if packages or not text else 0
        empty = f"no package matches {clean(text)}\n{written_key('⌫')} removes letters"
        rows.show(length, self._row_of(self.selected), empty=empty)
        # It takes no more lines than it needs, and the facets the others.
        height = length + len(self.children) - 1 if length else None
        if height != self._height:
            self._height = height
            self.styles.height = height
        count = f"{len(packages):,} of {len(self.packages):,}" if text else f"{len(packages):,}"
        self.title = f"packages {count}"
        self._show_title()

    @on(PackageRows.Resized)
    def _show_title(self) -> None:
        """Show the number of packages, and the heads of the overview."""
        layout = self.rows.overview
        title = Content(self.title)
        if layout is not None:
            name = pad(self.title, layout.name_width + 1)
            heads = (pad(c.head, c.width, right=c.is_number) for c in layout.columns)
            title = Content.assemble(name, ("  " + "  ".join(heads), "not bold dim"))
        self.query_one("#packages-title", Static).update(title, layout=False)

    def show_machine(self, runs_head: str) -> None:
        """Show in the head of the overview where the builds run."""
        self.rows.runs_head = runs_head
        self.rows.refresh()
        self._show_title()

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

    @on(FilterInput.Done)
    def _done(self, event: FilterInput.Done) -> None:
        event.stop()
        self.rows.focus()

    @on(PackageRows.Highlighted)
    def _highlighted(self, event: PackageRows.Highlighted) -> None:
        event.stop()
        self.selected = self.rows.packages[event.row - 1].name if event.row else None
        self.post_message(self.Selected(self.selected))

    @on(PackageRows.Chosen)
    def _chosen(self, event: PackageRows.Chosen) -> None:
        event.stop()
        self.post_message(self.Opened())

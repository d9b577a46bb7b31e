"""The widgets of the browser in their places."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from spackscope.tui.browser.state import QUERY
from spackscope.tui.widgets.completion_popup import CompletionPopup
from spackscope.tui.widgets.detail_pane import DetailPane
from spackscope.tui.widgets.facets import FacetPane
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.marks_line import MarksLine
from spackscope.tui.widgets.package_list import PackageList
from spackscope.tui.widgets.query_bar import QueryBar
from spackscope.tui.widgets.rules import DetailRule, Divider
from spackscope.tui.widgets.spec_table import SpecTable
from spackscope.tui.widgets.status_line import StatusLine
from spackscope.tui.widgets.title_line import TitleLine
from spackscope.tui.widgets.toast import Toast


class Frame:
    """All widgets of the browser; `note` is a text below the packages."""

    def __init__(self, note: str = "") -> None:
        self.note = Static(Content(note), id="packages-note", classes="" if note else "-empty")
        self.popup = CompletionPopup(id="completion-popup")
        self.toast = Toast(id="toast")
        self.title = TitleLine(id="title")
        self.query_bar = QueryBar(id="query")
        self.names = PackageList(id="packages", classes="pane")
        self.facets = FacetPane(id="facets", classes="pane")
        self.table = SpecTable(id="specs", classes="pane")
        self.detail = DetailPane(id="detail", classes="pane")
        self.marks = MarksLine(id="marks")
        self.status = StatusLine(id="status")
        lists = Vertical(self.names, self.note, self.facets, id="lists")
        self.side = Horizontal(lists, Divider(id="divider"), id="side", classes="step-packages")
        rule = DetailRule(id="detail-rule")
        self.work = Vertical(self.table, rule, self.detail, id="work", classes="step-specs")

    def compose(self) -> ComposeResult:
        """Lay out title and query above the panes, marks and status below.

        The side column is packages and facets, beside the table above the detail.
        """
        # Last in the order of widgets the popup would move all others in it whenever it comes or
        # goes, and Textual draws again what has moved.
        yield self.popup
        yield self.toast
        yield self.title
        yield self.query_bar
        yield Container(self.side, self.work, id="panes")
        yield self.marks
        yield self.status

    def input(self, name: str) -> FilterInput:
        """Return the query line, or the filter of a column."""
        if name == QUERY:
            return self.query_bar.input
        return next(i for i in self.table.query(FilterInput) if i.name == name)

"""The pane below the table: the values of the selected spec, or the tree of its dependencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.records import DEPTYPES
from spackscope.model.core.text import cell_width, clean, shorten
from spackscope.model.query.ast import Term
from spackscope.model.report.report import Piece
from spackscope.tui.widgets.detail_lines import DetailLines
from spackscope.tui.widgets.drawing import RowPainter
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.tree_rows import TreeRows, search_request
from spackscope.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from spackscope.model.index.tree import Tree, TreeNode
    from spackscope.model.report.detail import DetailLine

LEGEND = "  ".join(f"{name[0]} {name}" for name in DEPTYPES)
"""What the letters before the lines of a tree mean."""


_STYLES = ("strong", "hash")
_PATIENCE, _SHORT_PATIENCE = 0.25, 0.1
"""Seconds that old values stay as they are: dimmed at every key they would flicker."""


class TreeHead(Widget):
    """The line above a tree: its spec, the dependencies left out, and the key to the letters."""

    _pieces: reactive[Sequence[Piece]] = reactive(())

    def __init__(self) -> None:
        super().__init__(id="tree-head")
        self._painter = RowPainter(self)

    def show_title(self, values: Sequence[DetailLine], tree: Tree | None, *remarks: str) -> None:
        """Show the title of a spec, what its tree leaves out, and remarks on it."""
        parts = [
            "run-time dependencies only" if tree is not None and tree.run_only else "",
            f"names containing {clean(tree.search)}" if tree is not None and tree.search else "",
            *remarks,
        ]
        title = [line.text for line in values if line.style == "title"]
        title += [f"/{line.text[:SHORT_HASH]}" for line in values if line.style == "hash"]
        pieces = [(f"{text}  ", style) for text, style in zip(title, _STYLES, strict=False)]
        self._pieces = [*pieces, *((f"{part}  ", "dim") for part in parts if part)]

    def render_line(self, y: int) -> Strip:
        """Draw the title at the left and the legend at the right."""
        width = self.size.width
        used = sum(cell_width(text) for text, _ in self._pieces) + 1
        legend = shorten(LEGEND, max(0, width - used - 3), keep="start")
        blank = " " * (width - used - cell_width(legend) - 1)
        return self._painter.row([(" ", ""), *self._pieces, (blank, ""), (legend, "dim")], width)

    def notify_style_update(self) -> None:
        """Drop the cached styles when the theme changes."""
        super().notify_style_update()
        self._painter.forget_styles()


class DetailPane(Vertical):
    """The values of one spec, or the tree of its dependencies with a search for names."""

    opened_from = "specs"
    """The pane that the tree was opened from."""
    is_low = False
    """Whether the tree has the whole screen because the pane is low."""
    # Whether the search is about to get the focus: until then nothing may hide it.
    _opens_search = False
    _key: object = None

    lines = getters.query_one(DetailLines)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._head, self.tree_rows = TreeHead(), TreeRows(id="tree-rows")
        self._search_input = FilterInput(name="tree", id="tree-input")
        # By their seconds, each begun once while values are waited for.
        self._waits: dict[float, Timer] = {}

    def compose(self) -> ComposeResult:
        """Lay out the values; the tree takes their place once it is first shown."""
        yield DetailLines(id="detail-lines")

    def _add_tree(self) -> None:
        """Add the tree to the pane, unless it is there."""
        if not self.tree_rows.is_attached:
            find = Static("find ", id="tree-find")
            search = Horizontal(find, self._search_input, id="tree-search")
            self.mount(self._head, search, self.tree_rows)

    @property
    def shows_tree(self) -> bool:
        """Whether the tree is shown in place of the values."""
        return self.has_class("-tree")

    @property
    def shown_list(self) -> VirtualList:
        """The values or the tree."""
        return self.tree_rows if self.shows_tree else self.lines

    @property
    def dependency_tree(self) -> Tree | None:
        """The tree of the spec, shown or not; None if its source lists no dependencies."""
        return self.tree_rows.dependency_tree

    @property
    def term(self) -> Term | None:
        """The filter of the value under the cursor."""
        value = None if self.shows_tree else self.lines.value
        return value.term if value is not None else None

    @property
    def node(self) -> TreeNode | None:
        """The line of the tree with the cursor, while the tree is shown."""
        return self.tree_rows.node if self.shows_tree else None

    @property
    def tree_row(self) -> int | None:
        """The number of that line."""
        return self.tree_rows.cursor if self.shows_tree else None

    @property
    def position(self) -> tuple[int, int]:
        """The row with the cursor, and the one at the top."""
        return self.shown_list.cursor, self.shown_list.top

    def show_details(
        self,
        values: Sequence[DetailLine],
        tree: Tree | None,
        *,
        key: object = None,
        shows_tree: bool = False,
        differing: Mapping[int, str] = {},
        compared_with: str = "",
        at: tuple[int, int] | None = None,
        beside: str = "",
    ) -> None:
        """Show a spec, whose `key` tells it from others; `at` is the place of the cursor.

        `differing` is what of the tree a spec has not that it is `compared_with`.
        """
        is_same = key == self._key
        self._key = key
        self._end_wait()
        shows_tree = shows_tree and tree is not None
        before = self.shown_list
        if shows_tree:
            self._add_tree()
        self.set_class(shows_tree, "-tree")
        self.lines.show_values(values, is_same=is_same)
        self.tree_rows.show_tree(tree, differing, at if shows_tree else None, is_same=is_same)
        if at is not None and not shows_tree:
            self.lines.go_to(*at)
        self._head.show_title(values, tree, f"≠ {compared_with}" * bool(differing), beside)
        self._show_search(tree)
        if before.has_focus and self.shown_list is not before:
            self.call_after_refresh(self._keep_focus, before)

    def wait(self, *, is_other: bool) -> None:
        """Dim the values soon while another spec is read; sooner where all of it `is_other`."""
        patience = _SHORT_PATIENCE if is_other else _PATIENCE
        if patience not in self._waits:
            self._waits[patience] = self.set_timer(patience, self._dim)

    def _dim(self) -> None:
        # A timer that was stopped may have sent its call before.
        self.set_class(bool(self._waits), "-pending")

    def _end_wait(self) -> None:
        if self._waits:
            for timer in self._waits.values():
                timer.stop()
            self._waits.clear()
            self.remove_class("-pending")

    def _keep_focus(self, before: VirtualList) -> None:
        """Move the focus to the visible list if the focused one was hidden."""
        if self.screen.focused in (None, before):
            self.shown_list.focus()

    def _show_search(self, tree: Tree | None) -> None:
        """Show the search while there is one, or one is typed."""
        input_ = self._search_input
        self._opens_search &= not input_.has_focus
        is_open = input_.has_focus or self._opens_search
        is_shown = is_open or bool(tree is not None and tree.search)
        self.set_class(is_shown, "-search")
        if not (input_.has_focus or self.tree_rows.is_waiting):
            input_.reflect(tree.search if tree is not None else "")

    def show_search_input(self) -> FilterInput:
        """Show the input of the search for names, and return it."""
        self._opens_search = True
        self._add_tree()
        self.add_class("-search")
        return self._search_input

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        event.stop()
        tree = self.dependency_tree
        if tree is not None and (request := search_request(tree, event.value)) is not None:
            # Textual stops a message that the parent has a child post.
            self.post_message(request)

    @on(FilterInput.Done)
    def _done(self, event: FilterInput.Done) -> None:
        """Go to the first line that was found."""
        event.stop()
        self._opens_search = False
        self.tree_rows.focus()
        self.call_after_refresh(lambda: self._show_search(self.dependency_tree))

    @on(FilterInput.Pressed)
    def _press(self, event: FilterInput.Pressed) -> None:
        """Remove the search; complete nothing, since names are found while they are typed."""
        event.stop()
        if event.key in ("give_up", "empty"):
            event.input.value = ""
            event.input.finish()

"""The pane below the table: the values of the selected spec, or the tree of its dependencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Input, Static

from spackscope.model.core.text import wrap_cut
from spackscope.model.index.tree import Tree, TreeNode, TreeSection
from spackscope.model.query.ast import Term
from spackscope.model.report.detail import DetailLine
from spackscope.model.report.report import LinePart, Piece, part_at
from spackscope.tui.keymap import DETAIL, TREE, bindings, first_key
from spackscope.tui.widgets.detail_layout import (
    LayoutRow,
    layout,
    rule_texts,
    tree_pieces,
    tree_rule_texts,
)
from spackscope.tui.widgets.drawing import RuleLine
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.virtual_list import Browse, VirtualList


class TreeRows(VirtualList):
    """The lines of a tree; a change is a request for another tree, which `take_tree` shows."""

    BINDINGS = bindings(TREE)

    dependency_tree: Tree | None = None
    # Whether lines are being read.
    is_waiting = False
    differing: Mapping[int, str] = {}
    _place = 0, 0

    @property
    def node(self) -> TreeNode | None:
        """The line under the cursor."""
        tree = self.dependency_tree
        return tree.lines[self.cursor] if tree is not None and self.length else None

    def show_tree(
        self,
        tree: Tree | None,
        differing: Mapping[int, str],
        at: tuple[int, int] | None = None,
        *,
        is_same: bool = False,
    ) -> None:
        """Show a tree; `at` is the line of the cursor and the line at the top.

        Without `at` the cursor stays if the spec of the tree is the same, even after a reload.
        """
        if tree is self.dependency_tree and at is None:
            if differing != self.differing:
                self.differing = differing
                self.refresh()
            return
        if self.dependency_tree is not None:
            # While another catalog is read there is no tree.
            self._place = self.cursor, self.top
        self.is_waiting &= tree is self.dependency_tree
        self.dependency_tree, self.differing = tree, differing
        if not is_same:
            self._place = 0, 0
        cursor, self.top = at or self._place
        self.show(len(tree.lines) if tree is not None else 0, cursor)

    def take_tree(self, old: Tree, new: Tree) -> None:
        """Show a tree in place of the tree it was read from, if its spec is still shown.

        The tree on the screen may be from an older request: a search is typed while trees are
        read. If nothing could be read, `new` is the old tree.
        """
        shown = self.dependency_tree
        ids = old.catalog, old.id, old.members
        if shown is None or ids != (shown.catalog, shown.id, shown.members):
            return
        self.is_waiting = False
        if new is old:
            return
        is_filtered = new.search != old.search or new.run_only != old.run_only
        self.dependency_tree = new
        self.show(len(new.lines), _first_match(new) if is_filtered else self.cursor)
        self.post_message(Browse("take_tree", new))
        if self.cursor < len(new.lines):
            self.show_to(new.end(self.cursor) - 1)

    def go_to(self, section: TreeSection) -> None:
        """Move the cursor to the head of a section, and unfold it."""
        if (tree := self.dependency_tree) is not None:
            self.move_to(tree.head(section))
            self.show_to(tree.end(self.cursor) - 1)
            if tree.can_unfold(tree.head(section)):
                self.action_unfold()

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a line."""
        if self.dependency_tree is None:
            return []
        return [(" ", ""), *tree_pieces(self.dependency_tree, row, width - 2, self.differing)]

    @on(VirtualList.Chosen)
    def _choose(self, event: VirtualList.Chosen) -> None:
        """Choose the spec of a line; unfold or fold the head of a section."""
        event.stop()
        if (node := self.node) is None:
            return
        if node.edge is not None:
            self.post_message(Browse("jump_to", node))
        elif node.is_unfolded:
            self.action_fold()
        else:
            self.action_unfold()

    def _request(self, read: Callable[[], Tree]) -> None:
        if self.dependency_tree is not None:
            self.is_waiting = True
            self.post_message(Browse("read_tree", self.dependency_tree, read))

    def action_unfold(self) -> None:
        """Unfold the line, or move to the unfolded line of its spec, or to its first child."""
        row, tree = self.cursor, self.dependency_tree
        if tree is None:
            return
        if tree.can_unfold(row):
            self._request(lambda: tree.read_unfolded(row))
        elif tree.is_repeated(row):
            self.move_to(tree.original(row))
        elif tree.lines[row].is_unfolded:
            self.move_to(row + 1)

    def action_fold(self) -> None:
        """Fold the line, or move to its parent; leave the tree from a folded head."""
        row, tree = self.cursor, self.dependency_tree
        if tree is None:
            return
        if tree.lines[row].is_unfolded:
            self.take_tree(tree, tree.fold(row))
        elif (parent := tree.parent(row)) is not None:
            self.move_to(parent)
        else:
            self.post_message(Browse("close_tree"))

    def action_fold_all(self) -> None:
        """Unfold all lines of the section, or fold all lines but the direct dependencies."""
        tree, node = self.dependency_tree, self.node
        if tree is None or node is None or tree.search:
            # What a search shows is unfolded as far as it matches.
            return
        section = node.section
        head = tree.head(section)
        lines = tree.lines[head + 1 : tree.end(head)]
        self.move_to(head)
        if any(line.is_unfolded for line in lines):
            folded = tree.fold(head)
            self._request(lambda: folded.read_unfolded(head))
        else:
            self._request(lambda: tree.read_all_unfolded(section))

    def action_run_only(self) -> None:
        """Show run-time dependencies only, or again all dependencies."""
        if (tree := self.dependency_tree) is None:
            return

        def read() -> Tree:
            again = tree.read_again(run_only=not tree.run_only)
            return again.read_matching(tree.search) if tree.search else again

        self._request(read)

    def action_close(self) -> None:
        """Remove the search; without a search, leave the tree."""
        tree = self.dependency_tree
        self.post_message(
            (search_request(tree, "") if tree is not None else None) or Browse("close_tree")
        )


def search_request(tree: Tree, text: str) -> Browse | None:
    """Return the request for the lines whose names contain a text, or for all lines.

    None if the tree has this search already.
    """
    if text == tree.search:
        return None
    if text:
        return Browse("read_tree", tree, lambda: tree.read_matching(text))
    return Browse("read_tree", tree, lambda: tree.read_again(run_only=tree.run_only))


def _first_match(tree: Tree) -> int:
    """Return the number of the first line that matches the search; 0 if none does."""
    wanted = tree.search.casefold()
    names = ((n, line.spec.name) for n, line in enumerate(tree.lines) if line.spec is not None)
    return next((n for n, name in names if wanted and wanted in name.casefold()), 0)


_MARGIN = 1


class DetailLines(VirtualList):
    """The values of one spec in rows; the cursor is on one value of a row."""

    BINDINGS = bindings(DETAIL)
    CURSOR_IS_ROW = False

    stop = 0
    all: Sequence[DetailLine] = ()
    """All values, also those in the rule above the rows."""
    _rows: Sequence[LayoutRow] = ()
    _texts: Sequence[str] = ()

    @property
    def row(self) -> LayoutRow:
        """The row under the cursor, if there is one."""
        # While fewer rows are laid out, the cursor may be below the last one.
        return self._rows[self.cursor] if self.cursor < len(self._rows) else ()

    @property
    def _part(self) -> LinePart:
        """The part under the cursor; the last value of the row if the row has fewer values."""
        stops = _stops(self.row)
        return stops[min(self.stop, len(stops) - 1)] if stops else LinePart(())

    @property
    def value(self) -> DetailLine | None:
        """The value under the cursor."""
        return self._part.target or None

    @property
    def values(self) -> Sequence[Sequence[DetailLine]]:
        """The values of each row."""
        return [[stop.target for stop in _stops(row)] for row in self._rows]

    def show_values(self, values: Sequence[DetailLine], *, is_same: bool) -> None:
        """Show other values; the cursor keeps its place if the spec is the same."""
        if values == self.all:
            return
        self.all = values
        here = self.value if is_same else None
        if not is_same:
            if self.top:
                # All rows move, also those that both specs have.
                self.refresh()
            self.cursor = self.top = self.stop = 0
        self._lay_out(here)

    def show_texts(self, texts: Sequence[str]) -> None:
        """Show texts in place of values, each cut to leave a line for every text after it."""
        self._texts, lines = texts, list[str]()
        for left, text in zip(reversed(range(len(texts))), texts, strict=True):
            lines += wrap_cut(
                text, max(1, self.size.width - 3), self.size.height - len(lines) - left
            )
        self.show(0, empty="\n".join(lines))

    def go_to(self, cursor: int, top: int) -> None:
        """Put the cursor on a row, and another row on top."""
        self.stop = 0
        self.top = top
        self.show(len(self._rows), cursor)

    def fit(self) -> None:
        """Lay out the values for the new size; the cursor stays on its value."""
        super().fit()
        self._lay_out(self.value)
        if not self.all:
            self.show_texts(self._texts)

    def _lay_out(self, value: DetailLine | None) -> None:
        """Lay out the values with the cursor on an equal value, if there is one.

        Only rows that changed are drawn: a terminal may be far away.
        """
        if not (self.all or self._rows):
            return
        before, below_top = self._rows, self.cursor - self.top
        self._rows = layout(self.all, max(8, self.size.width - 2 * _MARGIN), self.size.height)
        at = self.cursor, self.stop
        if value is not None and self.value != value:
            at = _place_of(value, self._rows) or at
        if len(self._rows) == len(before) and at == (self.cursor, self.stop):
            self.refresh_rows(*(n for n, row in enumerate(self._rows) if row != before[n]))
            return
        row, self.stop = at
        self.top = max(0, row - below_top)
        self.show(len(self._rows), row)

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a row; the value under the cursor stands out."""
        here = self._part if row == self.cursor and self.has_focus else None
        pieces = [(" " * _MARGIN, "")]
        for part in self._rows[row]:
            pieces += ((text, "cursor" if part is here else style) for text, style in part.pieces)
        return pieces

    def move_to(self, row: int) -> None:
        """Move the cursor to the value of another row that is nearest to its column."""
        here, before = _starts(self.row)[: self.stop + 1], self.cursor
        super().move_to(row)
        if self.cursor != before:
            x, there = [0, *here][-1], _starts(self.row)
            self.stop = min(range(len(there)), key=lambda n: abs(there[n] - x), default=0)

    def action_step(self, step: int) -> None:
        """Move to the next or previous value; from the first value of a row go to the specs."""
        count = len(_stops(self.row))
        stop = min(self.stop, max(0, count - 1)) + step
        if stop < 0:
            self.post_message(Browse("specs"))
        elif stop < count:
            self.stop = stop
            self.refresh_rows(self.cursor)
        elif self.cursor + 1 < self.length:
            self.move_to(self.cursor + 1)
            self.stop = 0
            self.refresh_rows(self.cursor)

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked value; choose a value clicked again; press a hint."""
        row, x = self.top + event.y, event.x - _MARGIN
        if not 0 <= row < self.length or x < 0:
            return
        part = part_at(self._rows[row], x)
        if isinstance(key := part.target, str) and key:
            self.app.simulate_key(key)
            return
        stops = [n for n, stop in enumerate(_stops(self._rows[row])) if stop is part]
        is_there = stops == [self.stop] and row == self.cursor
        self.move_to(row)
        if stops:
            (self.stop,) = stops
            self.refresh_rows(row)
            if is_there or event.chain == 2:
                self.action_choose()

    def action_choose(self) -> None:
        """Filter by the value, jump to its spec, or press the key of a count of omitted values."""
        if (value := self.value) is None:
            return
        if value.hints and not value.label:
            if key := first_key(value.hints[0][0]):
                self.app.simulate_key(key)
        elif value.id is not None:
            self.post_message(Browse("jump", value.id))
        else:
            self.post_message(Browse("add_term", value.term))


def _place_of(value: DetailLine, rows: Sequence[LayoutRow]) -> tuple[int, int] | None:
    """Return the row of an equal value, and its number among the values of the row."""
    for number, row in enumerate(rows):
        for stop, part in enumerate(_stops(row)):
            if part.target == value:
                return number, stop
    return None


def _stops(row: LayoutRow) -> list[LinePart]:
    """Return the parts of a row that are values; others are blank, labels or keys."""
    return [part for part in row if not isinstance(part.target, str)]


def _starts(row: LayoutRow) -> list[int]:
    """Return the columns at which the values of a row begin."""
    starts = accumulate((part.width for part in row), initial=0)
    return [at for at, part in zip(starts, row, strict=False) if not isinstance(part.target, str)]


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
        self.rule, self.tree_rows = RuleLine(self._texts), TreeRows(id="tree-rows")
        self._remarks: Sequence[str] = ()
        self._search_input = FilterInput(name="tree", id="tree-input")
        self._wait: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out the rule above the values; the tree takes their place once it is first shown."""
        yield self.rule
        yield DetailLines(id="detail-lines")

    def _add_tree(self) -> None:
        """Add the tree to the pane, unless the pane has it."""
        if not self.tree_rows.is_attached:
            find = Static("find ", id="tree-find")
            search = Horizontal(find, self._search_input, id="tree-search")
            self.mount(search, self.tree_rows)

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
        """The line of the tree under the cursor, while the tree is shown."""
        return self.tree_rows.node if self.shows_tree else None

    @property
    def position(self) -> tuple[int, int]:
        """The row under the cursor, and the row at the top."""
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
        """Show a spec, identified by its `key`; `at` is the row of the cursor and the top row.

        `differing` has the dependencies that differ from the spec `compared_with`, by record id.
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
        self._remarks = f"≠ {compared_with}" if differing else "", beside
        self.rule.refresh()
        if self.tree_rows.is_attached:
            self._show_search(tree)
        if before.has_focus and self.shown_list is not before:
            self.call_after_refresh(self.keep_focus, before)

    def _texts(self, width: int) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
        """Return the title of the spec and its state; above a tree its filters, and the legend."""
        if not self.lines.all:
            return (), ()
        if self.shows_tree and (tree := self.dependency_tree) is not None:
            return tree_rule_texts(self.lines.all, tree, self._remarks, width)
        return rule_texts(self.lines.all, width)

    def wait(self, seconds: float) -> None:
        """Dim the values after some seconds in which no other spec is shown."""
        if self._wait is None:
            self._wait = self.set_timer(seconds, self._dim)

    def _dim(self) -> None:
        # A timer that was stopped may have sent its call before.
        self.set_class(self._wait is not None, "-pending")

    def _end_wait(self) -> None:
        if self._wait is not None:
            self._wait.stop()
            self._wait = None
            self.remove_class("-pending")

    def keep_focus(self, before: VirtualList) -> None:
        """Move the focus to the visible list if the focused one was hidden."""
        if self.screen.focused in (None, before):
            # At once: a focus that was asked for meanwhile comes later, and is to stay.
            self.screen.set_focus(self.shown_list)

    def _show_search(self, tree: Tree | None) -> None:
        """Show the search input while it has a text or is typed in."""
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
        """Go from the search to the lines of the tree."""
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

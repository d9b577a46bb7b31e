"""The query line, the inputs of filters, and the box of completions under them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.highlighter import Highlighter
from rich.text import Text
from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from spackscope.model.assist.offers import Completion
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import cell_width, clean, cut_words, pad, wrap
from spackscope.model.query import lexer
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import ParsedInput, parse_input
from spackscope.model.report.report import Piece
from spackscope.tui.keymap import FILTERS, bindings, shown
from spackscope.tui.widgets.drawing import draw, part_style
from spackscope.tui.widgets.virtual_list import Browse

MAX_LENGTH = 2000
"""Characters of a pasted text that are kept: a pasted file is not a filter."""


class FilterInput(Input):
    """An input that posts how the user leaves it, and the keys that its owner handles.

    The owner sets `is_wrong` if the text is not a filter; Enter does not leave the input then.
    """

    BINDINGS = [*bindings(FILTERS), Binding("backspace", "delete_or_drop", show=False)]

    class Done(Message):
        """Posted when the user goes on to the rows; `given_up` says that the key was Escape."""

        def __init__(self, input: FilterInput, given_up: bool = False) -> None:
            super().__init__()
            self.input, self.given_up = input, given_up

    class Pressed(Message):
        """Posted for a key that the owner handles, and when the cursor `moved`.

        `give_up` is Escape, after which `finish` leaves the input, `reject` Enter on a text that
        is not a filter, `empty` Backspace without a text. `take` accepts the marked completion,
        `next` and `previous` mark another completion. In the query line `older` and `newer` ask
        for a query of the history.
        """

        def __init__(self, input: FilterInput, key: str) -> None:
            super().__init__()
            self.input, self.key = input, key

    is_wrong = False
    _is_new = True
    """Whether the input had no text yet: Textual does not scroll to the end of the first text."""

    def __init__(self, placeholder: str = "", *, name: str = "", id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, name=name, id=id, select_on_focus=False)
        # Each blink sends some hundred bytes, all the time.
        self.cursor_blink = False

    def reflect(self, text: str) -> None:
        """Show a text that was set elsewhere, without a message."""
        text = clean(text)
        if text != self.value:
            with self.prevent(Input.Changed):
                self.value = text
            self.cursor_position = len(text)
            if not self.has_focus:
                self._scroll_to_start()

    def on_focus(self) -> None:
        """Scroll to the cursor."""
        x = (self.cursor_screen_offset - self.content_region.offset + self.scroll_offset).x
        self.scroll_to_region(Region(x, 0, 1, 1), force=True, animate=False)

    def on_resize(self) -> None:
        """Keep the cursor in view while the count beside the text takes more room."""
        if self.has_focus:
            self.on_focus()

    def on_blur(self) -> None:
        """Show the text from its start."""
        self._scroll_to_start()

    def _scroll_to_start(self) -> None:
        self.scroll_to(x=0, animate=False, force=True)

    def on_paste(self, event: events.Paste) -> None:
        """Insert a pasted text as one line, cleaned and cut."""
        event.prevent_default()
        event.stop()
        lines = event.text[: MAX_LENGTH * 4].replace("\t", " ").splitlines()
        pasted = " ".join(line for line in lines if line)
        self.insert_text_at_cursor(clean(pasted)[:MAX_LENGTH])

    def watch_selection(self) -> None:
        """Post that the cursor moved."""
        if self._is_new:
            self._is_new = False
            self.on_focus()
        self.action_press("moved")

    def recall(self, text: str) -> None:
        """Replace the text as if it had been typed."""
        self.value = clean(text)
        self.cursor_position = len(self.value)

    def finish(self, *, given_up: bool = False) -> None:
        """Go on to the rows, even if the text is not a filter."""
        # Textual stops a message that a parent has its child post.
        self.post_message(self.Done(self, given_up).set_sender(self))

    def action_done(self) -> None:
        """Go on to the rows if the text is a filter."""
        if self.is_wrong:
            self.action_press("reject")
        else:
            self.finish()

    def action_press(self, key: str) -> None:
        """Post a key, which the owner handles."""
        self.post_message(self.Pressed(self, key))

    def action_older(self) -> None:
        """Do nothing: only queries have a history."""

    def action_newer(self) -> None:
        """Go on to the rows: only queries have a history."""
        self.action_done()

    def action_delete_or_drop(self) -> None:
        """Delete the character to the left, or post that the text is empty."""
        if self.value:
            self.action_delete_left()
        else:
            self.action_press("empty")


_MAX_TEXTS = 500
"""Queries that are shown again as they were typed; others are spelled anew."""
_COUNT_MARGIN = 2
"""Cells between the query and the count."""


_EXAMPLES = ("hdf5", "+mpi", "target=:zen3")
"""The words of an example of a query, of which as many are shown as fit."""


class _QueryHighlighter(Highlighter):
    """Style each token of a query by its kind."""

    def __init__(self, input_: QueryInput) -> None:
        self._input = input_

    def highlight(self, text: Text) -> None:
        for start, end, kind in lexer.highlights(self._input.parsed.tokens):
            style = part_style(self._input, f"query--{kind}")
            text.stylize(style, start, end)


class QueryInput(FilterInput):
    """An input for a query; Up and Down walk through the history.

    `packages` are the packages that the words of the text may name.
    """

    def __init__(self, *, name: str = "", id: str | None = None) -> None:
        super().__init__(name=name, id=id)
        self.packages: frozenset[str] = frozenset()
        self._parsed = parse_input("", 0)
        self.highlighter = _QueryHighlighter(self)

    def render_line(self, y: int) -> Strip:
        """Draw the text; without the focus a text that is too long ends in …."""
        line, width = super().render_line(y), self.size.width
        if self.has_focus or cell_width(self.value) <= width:
            return line
        return Strip.join([line.crop(0, width - 1), draw(self, [("…", "")], 1)])

    def on_resize(self) -> None:
        """Show an example, as much as fits, while the text is empty."""
        super().on_resize()
        ends = range(len(_EXAMPLES), 0, -1)
        texts = (f"for example: {' '.join(_EXAMPLES[:end])}" for end in ends)
        self.placeholder = next((text for text in texts if len(text) <= self.size.width), "")

    @property
    def parsed(self) -> ParsedInput:
        """The parsed text of the line; each text is parsed once."""
        text, cursor = self.value, self.cursor_position
        if self._parsed.text != text or self._parsed.packages is not self.packages:
            self._parsed = parse_input(text, cursor, packages=self.packages)
        elif self._parsed.cursor != cursor:
            self._parsed = replace(self._parsed, cursor=cursor)
        return self._parsed

    def action_older(self) -> None:
        """Request the previous query."""
        self.action_press("older")

    def action_newer(self) -> None:
        """Request the next query."""
        self.action_press("newer")


class Count(NamedTuple):
    """The count of the matches in several forms, the longest first; or an error in its place."""

    forms: Sequence[str] = ()
    error: str = ""


class QueryCount(Widget):
    """The count of the matches, which leaves most of the line to the query; or an error."""

    _width = 0

    def __init__(self, read: Callable[[], Count]) -> None:
        super().__init__(id="query-count")
        self._read = read

    @property
    def text(self) -> str:
        """The longest form of the count that fits, or the error cut to fit."""
        width, count = self.screen.size.width, self._read()
        if count.error:
            return cut_words(clean(count.error), width * 3 // 5 - _COUNT_MARGIN)
        room = width * 2 // 5 - _COUNT_MARGIN
        return next((text for text in count.forms if cell_width(text) <= room), "")

    def fit(self) -> None:
        """Take as many cells as the text needs, and draw the text."""
        width = cell_width(self.text) + _COUNT_MARGIN
        if self._width != width:
            self._width = width
            self.styles.width = width
        self.refresh()

    def on_mount(self) -> None:
        """Begin without a text."""
        self.fit()

    def render_line(self, y: int) -> Strip:
        """Draw the text after a gap."""
        width = self.size.width
        style = "error" if self._read().error else "dim"
        return draw(self, [("  ", ""), (self.text, style)], width)


class QueryBar(Horizontal):
    """The query line and the count of its matches, or the command of a sheet in their place.

    `read` returns the count.
    """

    _sheet = ""

    def __init__(self, read: Callable[[], Count], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._read = read
        self._texts: dict[Query, str] = {}

    def compose(self) -> ComposeResult:
        """Lay out the sign, the line and the count side by side."""
        yield Static(Content("›"), id="query-sign")
        yield QueryInput(name="query", id="query-input")
        yield Static(id="query-sheet")
        yield QueryCount(self._read)

    input = getters.query_one(QueryInput)

    def show_sheet(self, label: str) -> None:
        """Show the words of a sheet in place of the query; show the query if they are empty."""
        self._sheet = label
        self.query_one("#query-sheet", Static).update(Content(label))
        self._show_line()

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _show_line(self) -> None:
        """Show the query while it is typed, else the words of a sheet."""
        self.set_class(bool(self._sheet) and not self.input.has_focus, "-sheet")

    def focus_input(self) -> None:
        """Go to the query line."""
        input_ = self.input
        if input_.value and not input_.value.endswith(" "):
            # The next word must not run into the last one.
            input_.reflect(f"{input_.value} ")
        self.remove_class("-sheet")
        input_.focus()

    def reflect(self, query: Query, typed_in: Widget | None) -> None:
        """Show a query as it was typed, except in the line that is typed in."""
        input_ = self.input
        if input_ is typed_in:
            return
        is_shown = input_.parsed.query == query
        text = input_.parsed.settled_text if is_shown else self._texts.get(query) or str(query)
        input_.reflect(text)
        if input_.parsed.query != query:
            input_.reflect(str(query))
        self._texts[query] = input_.value.strip()
        if len(self._texts) > _MAX_TEXTS:
            del self._texts[next(iter(self._texts))]

    @on(events.Resize)
    def fit(self) -> None:
        """Show the count in the longest form that leaves room."""
        self.query_one(QueryCount).fit()


_MAX_ITEMS, _MAX_ITEMS_TALL, _TALL = 6, 8, 40
"""Completions on a screen of fewer lines than `_TALL`, and on any other."""
_GAP = "  "


def _mark() -> str:
    """Return the sign of the marked completion: the key that accepts it."""
    return f"{shown('filters-complete')} "


class PopupLine(NamedTuple):
    """A line of the box: its first column of the screen, and its pieces."""

    column: int
    pieces: Sequence[Piece]

    @property
    def end(self) -> int:
        """The column after the line."""
        return self.column + sum(cell_width(text) for text, _ in self.pieces)


class CompletionPopup(Widget):
    """A box that floats under an input, with a note and completions, one of them marked."""

    _items: Sequence[Completion] = ()
    _marked = 0
    _chosen = ""
    _row = _column = _left = 0
    _notes: Sequence[PopupLine] = ()
    _lines: reactive[Sequence[PopupLine]] = reactive(())

    def on_mount(self) -> None:
        """Begin hidden."""
        self.display = False

    @property
    def marked(self) -> Completion | None:
        """The marked completion, which Tab accepts."""
        return self._items[self._marked] if self._items else None

    def hide(self) -> None:
        """Hide the box."""
        self.display = False
        self._items = self._notes = self._lines = ()
        self._chosen = ""

    def show(
        self,
        row: int,
        column: int,
        items: Sequence[Completion],
        note: str = "",
        caret: int | None = None,
    ) -> None:
        """Show a note and completions below a row of the screen, from a column on.

        The note is beside a caret in the column `caret`, if any. A mark that the user moved stays
        on its completion while that completion is listed; else the mark is on the first one.
        """
        width, height = self.screen.size
        # The border takes a line, and the status line stays free.
        room = height - row - 3
        self._notes = note_lines(clean(note), caret, width)[: max(0, room)] if note else []
        max_items = _MAX_ITEMS_TALL if height >= _TALL else _MAX_ITEMS
        self._items = items[: max(0, min(max_items, room - len(self._notes)))]
        texts = [item.text for item in self._items]
        self._marked = texts.index(self._chosen) if self._chosen in texts else 0
        self._row, self._column = row, column - len(_mark())
        self.display = bool(self._items or self._notes)
        self._draw()

    def mark(self, step: int) -> bool:
        """Mark the next or previous completion; return False without completions."""
        if self._items:
            self._marked = (self._marked + step) % len(self._items)
            self._chosen = self._items[self._marked].text
            self._draw()
        return bool(self._items)

    def _draw(self) -> None:
        """Lay out the lines, and draw them if they changed."""
        width = self.screen.size.width
        lines = [*self._notes, *item_lines(self._items, self._marked, self._column, width)]
        self._lines = lines
        if lines:
            self._left = min(line.column for line in lines)
            self.styles.width = max(line.end for line in lines) - self._left + 2
            self.styles.height = len(lines) + 1
            self.styles.offset = (self._left - 1, self._row + 1)

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        pieces: list[Piece] = []
        if y < len(self._lines):
            line = self._lines[y]
            pieces = [(" " * (line.column - self._left), ""), *line.pieces]
        return draw(self, pieces, self.size.width)

    def on_click(self, event: events.Click) -> None:
        """Mark the clicked completion, and accept it."""
        event.stop()
        number = event.y - len(self._notes)
        if 0 <= number < len(self._items) and self.mark(number - self._marked):
            self.post_message(Browse("take_completion"))


def note_lines(note: str, caret: int | None, width: int) -> list[PopupLine]:
    """Place a note beside its caret, on the side where it fits, else under it."""
    texts = wrap(note, max(1, width - 4))
    length = max(map(cell_width, texts))
    caret = max(1, min(caret, width - 3)) if caret is not None else 0
    if caret and len(texts) == 1:
        if caret + length + 3 < width:
            return [PopupLine(caret, [("^ ", "error"), (f"{note} ", "")])]
        if caret - length - 2 > 0:
            return [PopupLine(caret - length - 2, [(f" {note} ", ""), ("^ ", "error")])]
    column = max(1, min(caret - 1, width - length - 3))
    lines = [PopupLine(column, [(f" {text} ", "")]) for text in texts]
    return [PopupLine(caret, [("^ ", "error")]), *lines] if caret else lines


def item_lines(
    items: Sequence[Completion], marked: int, column: int, width: int
) -> list[PopupLine]:
    """Align the texts left and the counts right, all within the screen."""
    texts = [clean(item.text) for item in items]
    # A note stands for a count that is not known.
    counts = [f"{item.count:,}" if item.note is None else item.note for item in items]
    count_width = max(map(len, counts), default=0)
    rest = len(_mark()) + len(_GAP) + count_width + 1
    text_width = max(1, min(max(map(cell_width, texts), default=0), width - 2 - rest))
    column = max(1, min(column, width - 1 - rest - text_width))
    return [
        PopupLine(
            column,
            [
                (_mark() if number == marked else " " * len(_mark()), "key"),
                (pad(text, text_width), "key" if number == marked else ""),
                (_GAP + pad(count, count_width, right=True) + " ", "dim"),
            ],
        )
        for number, (text, count) in enumerate(zip(texts, counts, strict=True))
    ]

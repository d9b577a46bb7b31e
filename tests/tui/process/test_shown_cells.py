"""Only the cells that changed are written, and the screen is the one that was drawn."""

from collections.abc import Sequence
from io import StringIO

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from spackscope.tui.process.shown_cells import CellLook, ScreenLine, ShownCells
from spackscope.tui.process.stdio import in_ascii
from spackscope.tui.process.textual_internals import ChopsUpdate, CompositorUpdate, LayoutUpdate
from tests.textual_internals import InlineUpdate

WIDTH, HEIGHT = 30, 3
STYLES = [
    Style.parse(text)
    for text in (
        *("default on default", "red", "bold cyan on default", "dim", "reverse", "bold reverse"),
        *("underline", "on blue", "#102030 on color(39)", "dim white on default"),
    )
]
Pieces = Sequence[tuple[str, Style]]


def console(system: str = "truecolor") -> Console:
    return Console(file=StringIO(), force_terminal=True, color_system=system)  # type: ignore[arg-type]


def strip(pieces: Pieces, width: int = WIDTH) -> Strip:
    return Strip([Segment(*piece) for piece in pieces]).adjust_cell_length(width, STYLES[0])


def whole(lines: Sequence[Pieces]) -> LayoutUpdate:
    strips = [[strip(pieces)] for pieces in lines]
    return LayoutUpdate([*strips], Region(0, 0, WIDTH, len(lines)))


def part(line: int, start: int, end: int, pieces: Pieces) -> ChopsUpdate:
    """An update of some cells of one line."""
    cuts = sorted({0, start, end, WIDTH})
    chops: list[dict[int, Strip | None]] = [dict.fromkeys(cuts[:-1]) for _ in range(HEIGHT)]
    chops[line][start] = strip(pieces, end - start)
    return ChopsUpdate(chops, [(line, start, end)], [cuts[1:]] * HEIGHT)


class Terminal:
    """A terminal that gets only what changed, and one that gets all that is drawn."""

    def __init__(self, height: int = HEIGHT) -> None:
        self.console = console()
        self.cells = ShownCells()
        self.screens = [pyte.Screen(WIDTH, height) for _ in range(2)]
        self._streams = [pyte.Stream(screen) for screen in self.screens]

    def draw(self, update: CompositorUpdate) -> str:
        """Draw an update; return what is written for it."""
        changes = self.cells.changes(update, self.console)
        text = ""
        if changes is not None:
            assert isinstance(changes, CompositorUpdate)
            text = changes.render_segments(self.console)
        for stream, written in zip(
            self._streams, (text, update.render_segments(self.console)), strict=True
        ):
            # Textual puts the cursor back after each update; pyte takes a line feed for one.
            stream.feed(written.replace("\n", "") + "\x1b[1;1H")
        return text

    def seen(self, number: int) -> list[list[tuple[object, ...]]]:
        """Return the cells of a screen, those that look the same as equal ones."""
        buffer = self.screens[number].buffer
        lines = ((buffer[y][x] for x in range(WIDTH)) for y in range(self.screens[number].lines))
        return [[_look(cell) for cell in line] for line in lines]


def _look(cell: pyte.screens.Char) -> tuple[object, ...]:
    is_blank = cell.data == " " and not (cell.reverse or cell.underscore)
    letter = ("default", False) if is_blank else (cell.fg, cell.bold)
    return (cell.data, *letter, cell.bg, cell.reverse, cell.underscore)


letters = st.text("ab  /@.…▸│好e", max_size=12)
pieces = st.lists(st.tuples(letters, st.sampled_from(STYLES)), max_size=5)
screens = st.lists(pieces, min_size=HEIGHT, max_size=HEIGHT).map(whole)
parts = st.builds(
    lambda line, columns, pieces: part(line, columns[0], columns[1], pieces),
    st.integers(0, HEIGHT - 1),
    st.sampled_from([(0, 7), (7, WIDTH), (0, WIDTH), (5, 6)]),
    pieces,
)


@given(st.lists(st.one_of(screens, parts), max_size=8))
def test_the_screen_is_the_one_that_was_drawn(updates: list[CompositorUpdate]) -> None:
    terminal = Terminal()
    for update in updates:
        terminal.draw(update)
        assert terminal.seen(0) == terminal.seen(1)
        assert terminal.draw(update) == "" or "好" in str(update.render_segments(console()))


PLAIN, CYAN, DIM, REVERSE, UNDERLINE = (
    STYLES[0], Style.parse("cyan"), STYLES[3], STYLES[4], STYLES[6]
)  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "written"),
    [
        # A word is written whole, and what is like it before and after is not.
        ([("one 2/11 two", PLAIN)], [("one 3/11 two", PLAIN)], "\x1b[1;5H3/11"),
        # Short gaps are written again, long ones are moved over.
        ([("a b", PLAIN)], [("c d", PLAIN)], "\x1b[1;1Hc d"),
        ([("a", PLAIN), ("      b", PLAIN)], [("c      d", PLAIN)], "\x1b[1;1Hc\x1b[6Cd"),
        # Codes are added where that is enough, and the default colours are none.
        (
            [("abc", PLAIN)],
            [("a", REVERSE), ("b", REVERSE + UNDERLINE), ("c", DIM)],
            "\x1b[1;1H\x1b[7ma\x1b[4mb\x1b[0;2mc\x1b[m",
        ),
        # What cannot be seen on a blank is not written for it.
        ([("a b", PLAIN)], [("a", CYAN), (" ", DIM), ("b", CYAN)], "\x1b[1;1H\x1b[36ma b\x1b[m"),
        ([("a b", PLAIN)], [("a", PLAIN), (" ", DIM), ("b", PLAIN)], ""),
        (
            [("a b", PLAIN)],
            [("a", PLAIN), (" ", REVERSE), ("b", PLAIN)],
            "\x1b[1;2H\x1b[7m \x1b[m",
        ),
        # The rest of a line is cleared.
        ([("a long line", CYAN)], [("a", CYAN)], "\x1b[1;2H\x1b[K"),
        ([("a long line", CYAN)], [("b", CYAN)], "\x1b[1;1H\x1b[36mb\x1b[K\x1b[m"),
        # A colour takes the place of another one.
        (
            [("ab", PLAIN)],
            [("a", CYAN), ("b", Style.parse("bold red")), ("c", Style.parse("red"))],
            "\x1b[1;1H\x1b[36ma\x1b[1;31mb\x1b[0;31mc\x1b[m",
        ),
        # A line is cleared before what is written between its new blanks.
        (
            [("all of it, written", PLAIN)],
            [("all           it", PLAIN)],
            "\x1b[1;4H\x1b[K\x1b[11Cit",
        ),
        ([("a word             |", PLAIN)], [("a                  |", PLAIN)], "\x1b[1;3H    "),
        # Text that moved is moved, with all that is behind it.
        (
            [("left     | some text, and more", PLAIN)],
            [("left | some text, and more", PLAIN)],
            "\x1b[1;5H\x1b[4P",
        ),
        (
            [("left | some text, or", CYAN), (" no", PLAIN)],
            [("left     | some text, or", CYAN), (" A", PLAIN)],
            "\x1b[1;5H\x1b[4@\x1b[21CA ",
        ),
    ],
)
def test_little_is_written(before: Pieces, after: Pieces, written: str) -> None:
    terminal = Terminal(1)
    terminal.draw(whole([before]))
    assert terminal.draw(whole([after])) == written


def test_no_more_cells_are_inserted_than_move() -> None:
    def line(start: int) -> ScreenLine:
        return ScreenLine(f"{' ' * start}abcdefghijklmn".ljust(60), [CellLook()] * 60)

    assert [line(start).shift_from(line(0)) for start in (12, 30, 33)] == [(0, 12), (0, 30), None]


def test_nothing_but_letters_is_written_beside_letters_of_other_widths() -> None:
    terminal = Terminal()
    terminal.draw(whole([[("styled text, and more of it", STYLES[1])]]))
    strips = [strip([("好e", STYLES[0])], 12), strip([("beside", STYLES[1])], WIDTH - 12)]

    written = terminal.draw(LayoutUpdate([strips], Region(0, 0, WIDTH, 1)))

    assert "\0" not in written
    assert terminal.seen(0) == terminal.seen(1)


def test_an_update_that_is_not_written_changes_nothing() -> None:
    terminal = Terminal(1)
    terminal.draw(whole([[("a", PLAIN)]]))
    terminal.cells.changes(whole([[("b", PLAIN)]]), terminal.console)
    assert terminal.draw(whole([[("b", PLAIN)]])) == "\x1b[1;1Hb"


def test_a_cell_that_a_cut_took_comes_back_without_signs() -> None:
    cells, screen = ShownCells(in_ascii), pyte.Screen(WIDTH, 1)
    stream = pyte.Stream(screen)
    for text, shown in (("next to…", "next t.."), ("next to us", "next to us")):
        changes = cells.changes(whole([[(text, PLAIN)]]), console())
        assert isinstance(changes, CompositorUpdate)
        stream.feed(changes.render_segments(console()))
        assert screen.display[0].rstrip() == shown


@pytest.mark.parametrize("system", ["standard", "256", "truecolor"])
def test_the_colours_of_the_terminal_stay_what_they_are(system: str) -> None:
    lines = [[("a", CYAN), ("b", Style.parse("bright_black on red"))]]
    changes = ShownCells().changes(whole(lines), console(system))
    assert isinstance(changes, CompositorUpdate)
    text = changes.render_segments(console(system))
    assert text == "\x1b[2J\x1b[1;1H\x1b[36ma\x1b[90;41mb\x1b[m"


def test_everything_is_written_for_another_size_and_after_others_wrote() -> None:
    terminal = Terminal()
    lines = [[("abc", PLAIN)]] * HEIGHT
    first = terminal.draw(whole(lines))
    assert terminal.draw(whole(lines)) == ""
    terminal.cells.forget()
    assert terminal.draw(whole(lines)) == first
    terminal.cells.changes(whole(lines[1:]), terminal.console)
    assert terminal.draw(whole(lines)) == first


def test_textual_writes_what_it_draws_in_another_form() -> None:
    terminal = Terminal()
    terminal.draw(whole([[("abc", PLAIN)]] * HEIGHT))
    update = whole([[("other", PLAIN)]] * HEIGHT)
    del update.region
    assert terminal.cells.changes(update, terminal.console) is update
    assert "\x1b[2J" in terminal.draw(whole([[("abc", PLAIN)]] * HEIGHT))


def test_what_has_no_place_on_the_screen_is_written_as_it_is() -> None:
    update = InlineUpdate([strip([("abc", PLAIN)])])
    assert ShownCells().changes(update, console()) is update

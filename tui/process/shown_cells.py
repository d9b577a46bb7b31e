"""Write only the cells that changed on the screen: the terminal may be far away.

Textual writes whole lines of a widget, each piece with all of its colours. Here cells that the
terminal shows already are left out, and the rest is written with few control sequences.

On 120x40 a step of the cursor takes 450 bytes in place of 2,100, the help 4,100 in place of
34,000, and opening the table of the sample 500 in place of 25,000. Steps are counted by
`make bench ARGS='bytes --specs 4000'`; without `SpackscopeApp.changes` all is written by Textual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from rich.cells import get_character_cell_size
from rich.color import ColorSystem
from rich.console import COLOR_SYSTEMS, Console, RenderableType
from rich.style import Style
from textual.strip import Strip

from spackscope.tui.process.textual_internals import ChopsUpdate, CompositorUpdate, LayoutUpdate

_MAX_GAP = 4
"""Unchanged cells that are written again between changed ones: moving over them takes as much."""
_UNKNOWN = "\0"
"""A cell of which nothing is known."""

_CLEAR_LINE, _CLEAR_SCREEN = "\x1b[K", "\x1b[2J"
_ALIKE = 12
"""Cells by which text is found that has moved in a line."""
_MAX_SHIFTS = 4
"""Times that cells are inserted into a line, or deleted, before it is written."""
_WORD = frozenset(map(chr, range(ord("!"), ord("~") + 1)))

_ATTRIBUTES = {
    "bold": "1", "dim": "2", "italic": "3", "underline": "4", "blink": "5", "reverse": "7",
    "strike": "9", "underline2": "21", "overline": "53",
}  # fmt: skip
_SEEN_ON_BLANKS = {"4", "7", "9", "21", "53"}
_DEFAULT_COLOURS = {"39", "49"}


class CellLook(NamedTuple):
    """The look of a cell: the codes for any letter, and the codes that show on a blank.

    The terminal's own colour is an empty text.
    """

    attributes: tuple[str, ...] = ()
    foreground: str = ""
    background: str = ""
    on_blank: tuple[str, ...] = ()

    def after(self, old: CellLook) -> str:
        """Return the fewest codes that change the look `old` to this one."""
        added = {*old.attributes} <= {*self.attributes}
        added &= bool(self.foreground or not old.foreground)
        added &= bool(self.background or not old.background)
        if not added:
            codes = ["0", *self.attributes, self.foreground, self.background]
            return ";".join(filter(None, codes)) if any(codes[1:]) else ""
        codes = [code for code in self.attributes if code not in old.attributes]
        if self.foreground != old.foreground:
            codes.append(self.foreground)
        if self.background != old.background:
            codes.append(self.background)
        return ";".join(codes)


_PLAIN = CellLook()


class ScreenLine(NamedTuple):
    """The cells of a line of the screen."""

    text: str
    looks: Sequence[CellLook]

    def put(self, x: int, text: str, looks: Sequence[CellLook]) -> ScreenLine:
        """Return the line with other cells from a column on."""
        end = x + len(text)
        return ScreenLine(
            self.text[:x] + text + self.text[end:],
            [*self.looks[:x], *looks, *self.looks[end:]],
        )

    def changed(self, old: ScreenLine) -> list[int]:
        """Return the columns whose look changes."""
        if self == old:
            return []
        return [
            x
            for x, (letter, before, look, look_before) in enumerate(
                zip(self.text, old.text, self.looks, old.looks, strict=True)
            )
            if letter != _UNKNOWN
            and (
                letter != before
                or (
                    look is not look_before and look.on_blank != look_before.on_blank
                    if letter == " "
                    else look != look_before
                )
            )
        ]

    def shifted(self, x: int, cells: int) -> ScreenLine:
        """Return the line after blanks were inserted at a column, or with -1 a cell deleted."""
        text, looks, width = self.text, self.looks, len(self.text)
        blanks = abs(cells)
        if cells > 0:
            return ScreenLine(
                (text[:x] + " " * blanks + text[x:])[:width],
                [*looks[:x], *[_PLAIN] * blanks, *looks[x:]][:width],
            )
        return ScreenLine(
            text[:x] + text[x + blanks :] + " " * blanks,
            [*looks[:x], *looks[x + blanks :], *[_PLAIN] * blanks],
        )

    def shift_from(self, old: ScreenLine) -> tuple[int, int] | None:
        """Return where to insert or delete cells, and how many, for a text to be in its place."""
        text, before = self.text, old.text
        if _UNKNOWN in text or _UNKNOWN in before:
            return None
        for x in range(0, len(text) - _ALIKE, _ALIKE // 4):
            part = text[x : x + _ALIKE]
            if len(set(part)) <= _ALIKE // 2 or before.startswith(part, x):
                continue
            if (at := before.find(part)) >= 0:
                while min(x, at) > 0 and text[x - 1] == before[at - 1]:
                    x, at = x - 1, at - 1
                # Where fewer cells move than are inserted, tmux leaves old ones between.
                if x - at <= len(text) - x:
                    return min(x, at), x - at
        return None

    def clear_from(self, old: ScreenLine) -> int:
        """Return the column from which to clear the line before the rest of it is written.

        The new blanks of the line are left out then, but unchanged cells are written again. The
        column is the end of the line where clearing saves nothing.
        """
        column = x = len(self.text)
        saved, most, run, is_saving = 0, len(_CLEAR_LINE), _MAX_GAP, True
        cells = zip(self.text, old.text, self.looks, old.looks, strict=True)
        for letter, before, look, look_before in reversed([*cells]):
            x -= 1
            if letter == _UNKNOWN:
                break
            is_blank = letter == " " and not look.on_blank
            is_same = letter == before and (
                look.on_blank == look_before.on_blank if letter == " " else look == look_before
            )
            if is_blank is is_same:
                # The cell is left out, or written, in any case; a written letter ends a run.
                run *= is_blank
                continue
            run = run + 1 if is_blank is is_saving else 1
            is_saving = is_blank
            saved += (1 if is_saving else -1) * (run > _MAX_GAP)
            if saved > most:
                column, most = x, saved
        # The cursor need not move over blanks to come there.
        while (
            0 < column < len(self.text)
            and self.text[column - 1] == " "
            and not self.looks[column - 1].on_blank
        ):
            column -= 1
        return column


class ShownCells:
    """The cells that the terminal is known to show.

    `spell` replaces the signs of a text that the terminal does not have, cell by cell.
    """

    def __init__(self, spell: Callable[[str], str] = str) -> None:
        self._lines: list[ScreenLine] = []
        self._spell = spell

    def forget(self) -> None:
        """Forget the shown cells, since others wrote to the terminal: all is written anew."""
        self._lines = []

    def changes(
        self, update: RenderableType | CompositorUpdate | None, console: Console
    ) -> RenderableType | CompositorUpdate | None:
        """Return the cells of an update that change on the screen, or None if none do.

        An update without a place on the screen is returned as it is.
        """
        is_whole = isinstance(update, LayoutUpdate)
        try:
            if isinstance(update, ChopsUpdate):
                width, height = update.chop_ends[0][-1], len(update.chops)
                strips = [*_partial(update)]
            elif isinstance(update, LayoutUpdate):
                width, height = update.region.size
                strips = [*_whole(update)]
            else:
                if update is not None:
                    self.forget()
                return update
        except (AttributeError, TypeError, ValueError):
            # Textual has changed inside, and writes all of it itself.
            self.forget()
            return update
        writer = _Writer()
        is_new = len(self._lines) != height or len(self._lines[0].text) != width
        if is_new:
            self._lines = [ScreenLine(_UNKNOWN * width, [_PLAIN] * width)] * height
        before = self._lines
        if is_new and is_whole:
            writer.clear_screen()
            before = [ScreenLine(" " * width, [_PLAIN] * width)] * height
        lines = self._write(strips, before, writer, console)
        written = writer.end()
        return _Changes(written, self._lines, lines) if written else None

    def _write(
        self,
        strips: Sequence[tuple[int, int, Strip]],
        before: Sequence[ScreenLine],
        writer: _Writer,
        console: Console,
    ) -> dict[int, ScreenLine]:
        """Write the changes of strips in the lines that were shown before; return new lines."""
        system = COLOR_SYSTEMS.get(console.color_system or "", ColorSystem.TRUECOLOR)
        lines = dict[int, ScreenLine]()
        for x, y, strip in strips:
            text, looks = self._spell(strip.text), list[CellLook]()
            if _is_narrow(text):
                for segment in strip:
                    looks += [_look(segment.style, system)] * len(segment.text)
            else:
                # Terminals differ in how wide such letters are: the strip is written as a whole.
                writer.write_text(x, y, strip.render(console))
                text, looks = _UNKNOWN * strip.cell_length, [_PLAIN] * strip.cell_length
            lines[y] = lines.get(y, before[y]).put(x, text, looks)
        for y, line in lines.items():
            writer.write_line(y, line, before[y])
        return lines


class _Changes(CompositorUpdate):
    """The text to write, and the lines that the terminal shows afterwards."""

    def __init__(self, text: str, shown: list[ScreenLine], lines: dict[int, ScreenLine]) -> None:
        self._text, self._shown, self._lines = text, shown, lines

    def render_segments(self, console: Console) -> str:
        """Return the text, and take its lines as shown, since Textual writes it now."""
        for y, line in self._lines.items():
            self._shown[y] = line
        return self._text


class _Writer:
    """Collects text and control sequences."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._look = _PLAIN
        # The line and the column of the cursor; None while it is elsewhere.
        self._at: tuple[int, int | None] = 0, None

    def clear_screen(self) -> None:
        """Have all cells blank."""
        self._parts.append(_CLEAR_SCREEN)

    def write_text(self, x: int, y: int, text: str) -> None:
        """Write text that has control sequences of its own."""
        self._set_look(_PLAIN)
        self._parts += f"\x1b[{y + 1};{x + 1}H", text

    def write_line(self, y: int, line: ScreenLine, old: ScreenLine) -> None:
        """Write the cells of a line that changed, and at most a few between them."""
        self._at, changed = (y, None), line.changed(old)
        for _ in range(_MAX_SHIFTS):
            letters = sum(line.text[x] != " " for x in changed)
            if letters < _ALIKE or (shift := line.shift_from(old)) is None:
                break
            shifted = old.shifted(*shift)
            left = line.changed(shifted)
            if sum(line.text[x] != " " for x in left) > letters - _ALIKE:
                break
            old, changed = shifted, left
            self._move_to(shift[0])
            self._put("", _PLAIN)
            self._parts.append(f"\x1b[{abs(shift[1])}{'@' if shift[1] > 0 else 'P'}")
        if not changed:
            return
        clear = len(line.text) if old.text.isspace() else line.clear_from(old)
        self._write_cells(line, [x for x in changed if x < clear])
        if (room := len(line.text) - clear) > 0:
            self._move_to(clear)
            self._put("", _PLAIN)
            self._parts.append(_CLEAR_LINE)
            cleared = line.put(clear, " " * room, [_PLAIN] * room)
            self._write_cells(line, line.changed(cleared))

    def _move_to(self, x: int) -> None:
        y, at = self._at
        if at is None or at > x:
            self._parts.append(f"\x1b[{y + 1};{x + 1}H")
        elif at < x:
            self._parts.append(f"\x1b[{x - at}C")
        self._at = y, x

    def _write_cells(self, line: ScreenLine, columns: Sequence[int]) -> None:
        text, looks = line
        for start, end in _runs(text, columns):
            self._move_to(start)
            while start < end:
                look, first = looks[start], start
                while start < end and looks[start] is look:
                    start += 1
                self._put(text[first:start], look)
            self._at = self._at[0], end

    def _put(self, text: str, look: CellLook) -> None:
        """Write text, and before it its look, unless blanks look the same without."""
        if text.strip(" ") or look.on_blank != self._look.on_blank:
            self._set_look(look)
        self._parts.append(text)

    def _set_look(self, look: CellLook) -> None:
        if look != self._look:
            self._parts.append(f"\x1b[{look.after(self._look)}m")
            self._look = look

    def end(self) -> str:
        """Return everything."""
        self._set_look(_PLAIN)
        return "".join(self._parts)


def _partial(update: ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    """Yield the strips of an update of some lines, each with its place."""
    for y, first, last in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=True):
            if strip is not None and x < last and end > first:
                yield x, y, strip


def _whole(update: LayoutUpdate) -> Iterator[tuple[int, int, Strip]]:
    """Yield the strips of an update of the screen, each with its place."""
    for y, strips in enumerate(update.strips, update.region.y):
        x = update.region.x
        for strip in strips:
            yield x, y, strip
            x += strip.cell_length


def _runs(text: str, changed: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each run of cells to write; runs near each other are joined.

    Words are written whole: a screen reader reads them out, and a script looks for them.
    """
    start = end = -1
    for x in changed:
        if x < end:
            continue
        first = x
        while first > max(end, 0) and text[first] in _WORD and text[first - 1] in _WORD:
            first -= 1
        if start < 0:
            start = first
        elif first - end > _MAX_GAP or _UNKNOWN in text[end:first]:
            yield start, end
            start = first
        end = x + 1
        while end < len(text) and text[end - 1] in _WORD and text[end] in _WORD:
            end += 1
    if start >= 0:
        yield start, end


def _is_narrow(text: str) -> bool:
    """Check whether each letter of a text has one cell."""
    if text.isascii():
        return True
    return all(get_character_cell_size(letter) == 1 for letter in set(text))


@lru_cache(maxsize=1024)
def _look(style: Style | None, system: ColorSystem) -> CellLook:
    if style is None:
        return _PLAIN
    attributes = [code for name, code in _ATTRIBUTES.items() if getattr(style, name)]
    colours = ["", ""]
    for number, colour in enumerate((style.color, style.bgcolor)):
        if colour is not None:
            codes = colour.downgrade(system).get_ansi_codes(foreground=not number)
            colours[number] = ";".join(codes)
    foreground, background = ("" if code in _DEFAULT_COLOURS else code for code in colours)
    on_blank: tuple[str, ...] = (background,) if background else ()
    if not _SEEN_ON_BLANKS.isdisjoint(attributes):
        on_blank = (*attributes, foreground, background)
    return CellLook(tuple(attributes), foreground, background, on_blank)

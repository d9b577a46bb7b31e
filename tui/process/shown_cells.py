"""Write only the cells that changed on the screen: the terminal may be far away.

Textual writes whole lines of a widget, each piece with all of its colours. Here what the terminal
shows already is left out, and the rest is written with few control sequences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from rich.cells import get_character_cell_size
from rich.color import ColorSystem
from rich.console import COLOR_SYSTEMS, Console, RenderableType
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip

_MAX_GAP = 4
"""Unchanged cells that are written again between changed ones: moving over them takes as much."""
_UNKNOWN = "\0"
"""A cell of which nothing is known."""

_CLEAR_LINE = "\x1b[K"
_BLANKS = ("", _CLEAR_LINE)
_WORD = frozenset(map(chr, range(ord("!"), ord("~") + 1)))

_ATTRIBUTES = {
    "bold": "1", "dim": "2", "italic": "3", "underline": "4", "blink": "5", "reverse": "7",
    "strike": "9", "underline2": "21", "overline": "53",
}  # fmt: skip
_SEEN_ON_BLANKS = {"4", "7", "9", "21", "53"}
_DEFAULT_COLOURS = {"39", "49"}


class CellLook(NamedTuple):
    """How a cell looks: the codes for any letter, and those that can be seen on a blank."""

    codes: tuple[str, ...] = ()
    on_blank: tuple[str, ...] = ()


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
        """Return the columns that are to look other than before."""
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

    @property
    def blank_from(self) -> int:
        """The column from which on nothing is to be seen."""
        start = len(self.text.rstrip(" "))
        seen = (x for x in range(len(self.text), start, -1) if self.looks[x - 1].on_blank)
        return next(seen, start)


class ShownCells:
    """The cells that the terminal shows, as far as they are known."""

    def __init__(self) -> None:
        self._lines: list[ScreenLine] = []

    def forget(self) -> None:
        """Write everything that is drawn from now on: others wrote to the terminal."""
        self._lines = []

    def changes(
        self, update: RenderableType | CompositorUpdate | None, console: Console
    ) -> RenderableType | CompositorUpdate | None:
        """Return what an update changes on the screen, or None if that is nothing.

        What has no place on the screen is returned as it is.
        """
        if isinstance(update, ChopsUpdate):
            width, height = update.chop_ends[0][-1], len(update.chops)
            strips = _partial(update)
        elif isinstance(update, LayoutUpdate):
            width, height = update.region.size
            strips = _whole(update)
        else:
            if update is not None:
                self.forget()
            return update
        if len(self._lines) != height or len(self._lines[0].text) != width:
            self._lines = [ScreenLine(_UNKNOWN * width, [_PLAIN] * width)] * height
        return self._compare(strips, console)

    def _compare(
        self, strips: Iterator[tuple[int, int, Strip]], console: Console
    ) -> CompositorUpdate | None:
        system = COLOR_SYSTEMS.get(console.color_system or "", ColorSystem.TRUECOLOR)
        writer, lines = _Writer(), dict[int, ScreenLine]()
        for x, y, strip in strips:
            text, looks = strip.text, list[CellLook]()
            if _is_narrow(text):
                for segment in strip:
                    looks += [_look(segment.style, system)] * len(segment.text)
            else:
                # Terminals differ in how wide such letters are: the strip is written as a whole.
                writer.write_text(x, y, strip.render(console))
                text, looks = _UNKNOWN * strip.cell_length, [_PLAIN] * strip.cell_length
            lines[y] = lines.get(y, self._lines[y]).put(x, text, looks)
        for y, line in lines.items():
            if changed := line.changed(self._lines[y]):
                writer.write_cells(y, line, changed)
        written = writer.end()
        return _Changes(written, self._lines, lines) if written else None


class _Changes(CompositorUpdate):
    """What is to be written, and the lines that the terminal shows afterwards."""

    def __init__(self, text: str, shown: list[ScreenLine], lines: dict[int, ScreenLine]) -> None:
        self._text, self._shown, self._lines = text, shown, lines

    def render_segments(self, console: Console) -> str:
        """Return the text: it is written now."""
        for y, line in self._lines.items():
            self._shown[y] = line
        return self._text


class _Writer:
    """Collects text and control sequences."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._look = _PLAIN

    def write_text(self, x: int, y: int, text: str) -> None:
        """Write text that has control sequences of its own."""
        self._set_look(_PLAIN)
        self._parts += f"\x1b[{y + 1};{x + 1}H", text

    def write_cells(self, y: int, line: ScreenLine, changed: Sequence[int]) -> None:
        """Write the cells of a line that changed, and at most a few between them."""
        blank_from, at = line.blank_from, None
        for start, end in _runs(line.text, changed):
            move = f"\x1b[{y + 1};{start + 1}H" if at is None else f"\x1b[{start - at}C"
            self._parts.append(move)
            clears = end - max(start, blank_from) > _MAX_GAP
            self._write_run(line, start, blank_from if clears else end)
            if clears:
                self._put(_CLEAR_LINE, _PLAIN)
                return
            at = end

    def _write_run(self, line: ScreenLine, start: int, end: int) -> None:
        text, looks = line
        while start < end:
            look, first = looks[start], start
            while start < end and looks[start] is look:
                start += 1
            self._put(text[first:start], look)

    def _put(self, text: str, look: CellLook) -> None:
        """Write letters, blanks, or what clears the rest of a line."""
        if text.strip(" ") not in _BLANKS or look.on_blank != self._look.on_blank:
            self._set_look(look)
        self._parts.append(text)

    def _set_look(self, look: CellLook) -> None:
        old, new = self._look.codes, look.codes
        if old == new:
            return
        self._look = look
        if set(old) <= set(new):
            codes = [code for code in new if code not in old]
        else:
            codes = ["0", *new] if new else []
        self._parts.append(f"\x1b[{';'.join(codes)}m")

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
    """Yield the start and end of each run of cells to write; those nearby are joined.

    A word is written whole: that is what a screen reader reads out, and a script looks for.
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
    codes = tuple(filter(None, (*attributes, foreground, background)))
    if _SEEN_ON_BLANKS.isdisjoint(attributes):
        return CellLook(codes, (background,) if background else ())
    return CellLook(codes, codes)

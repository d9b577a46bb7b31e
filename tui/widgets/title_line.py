"""The first line: the sources, the machine that specs are to run on, and the problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.analysis.fit.host import Host as Machine
from spackscope.model.core.text import cell_width, clean, shorten
from spackscope.model.presentation.titles import SourceChip
from spackscope.tui.widgets.drawing import Piece, draw

_NAME = "spackscope"
_CACHE, _LIST = "●", "○"
_GAP = "  "
_PROBLEMS = "!"
"""What a click on the number of problems is about."""


class Part(NamedTuple):
    """Some cells of the line, and what a click on them is about."""

    pieces: Sequence[Piece]
    target: str = ""

    @property
    def width(self) -> int:
        """The number of cells."""
        return sum(cell_width(text) for text, _ in self.pieces)


class TitleLine(Widget):
    """Sources as chips, the machine, and the number of problems; all can be clicked."""

    COMPONENT_CLASSES = {"title--name", "title--cache", "title--dim", "title--problems"}

    @dataclass
    class SourceClicked(Message):
        """Posted when the chip of a source is clicked."""

        source: str

    class ProblemsClicked(Message):
        """Posted when the number of problems is clicked."""

    _chips: Sequence[SourceChip] = ()
    _notes = ""
    _machine: Machine | None = None
    _problems = 0

    def show_catalog(self, chips: Sequence[SourceChip], notes: str, problems: int) -> None:
        """Show where the records come from, and how many could not be read."""
        self._chips, self._notes, self._problems = chips, clean(notes), problems
        self.refresh()

    def show_machine(self, machine: Machine) -> None:
        """Show what specs are to run on."""
        self._machine = machine
        self.refresh()

    @property
    def text(self) -> str:
        """What the line shows."""
        return self.render_line(0).text

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        pieces = [piece for part in self._parts(self.size.width) for piece in part.pieces]
        return draw(self, pieces, self.size.width, "title")

    def _parts(self, width: int) -> list[Part]:
        """Return the parts in the widest form that fits."""
        return lay_out(self._chips, self._notes, self._machine, self._problems, width)

    def on_click(self, event: events.Click) -> None:
        """Post what is under the mouse."""
        at = event.x
        for part in self._parts(self.size.width):
            if 0 <= at < part.width and part.target == _PROBLEMS:
                self.post_message(self.ProblemsClicked())
            elif 0 <= at < part.width and part.target:
                self.post_message(self.SourceClicked(part.target))
            at -= part.width


def lay_out(
    chips: Sequence[SourceChip], notes: str, machine: Machine | None, problems: int, width: int
) -> list[Part]:
    """Return the parts of the line, in the widest of its forms that fits into a width.

    First the names of the machine are left out, then counts, the name of the program, and notes;
    at last the names of sources are cut.
    """
    long_machine = f"this machine{_GAP}{machine}" if machine else ""
    short_machine = machine.short if machine else ""
    words = f"▲ {problems:,} problem{'' if problems == 1 else 's'}" if problems else ""
    sign = f"▲ {problems:,}" if problems else ""
    forms = (
        (True, True, notes, long_machine, words),
        (True, True, notes, short_machine, words),
        (True, False, notes, short_machine, words),
        (False, True, notes, short_machine, sign),
        (False, False, notes, short_machine, sign),
        (False, False, "", short_machine, sign),
    )
    for has_name, has_counts, note, host, trouble in forms:
        left = _left(chips, note, has_name=has_name, has_counts=has_counts)
        right = _right(host, trouble)
        room = width - sum(part.width for part in (*left, *right))
        if room >= 0:
            return [*left, Part([(" " * room, "")]), *right]
    right = _right("", sign)
    room = max(0, width - sum(part.width for part in right) - 1)
    for shown in range(len(chips), 0, -1):
        more = f" +{len(chips) - shown}" if shown < len(chips) else ""
        each = (room - len(more)) // shown - 2 - len(_GAP)
        if each >= 8 or shown == 1:
            short = [
                chip._replace(name=shorten(chip.name, max(1, each))) for chip in chips[:shown]
            ]
            left = _left(short, "", has_name=False, has_counts=False)
            left.append(Part([(more, "dim")]))
            blank = width - sum(part.width for part in (*left, *right))
            return [*left, Part([(" " * max(0, blank), "")]), *right]
    return right


def _left(
    chips: Sequence[SourceChip], notes: str, *, has_name: bool, has_counts: bool
) -> list[Part]:
    name: list[Piece] = [(_NAME, "name"), (_GAP, "")] if has_name or not chips else []
    parts = [Part([(" ", ""), *name])]
    for chip in chips:
        count = f" {chip.specs:,}" if has_counts else ""
        sign: Piece = (_CACHE, "cache") if chip.is_cache else (_LIST, "dim")
        parts.append(Part([sign, (f" {chip.name}", ""), (count, "dim")], chip.source))
        parts.append(Part([(_GAP, "")]))
    return [*parts, Part([(f"{notes}{_GAP}", "dim")])] if notes else parts


def _right(machine: str, problems: str) -> list[Part]:
    parts = [Part([(machine, "dim"), (_GAP, "")])] if machine else []
    return [*parts, Part([(f"{problems} ", "problems")], _PROBLEMS)] if problems else parts

"""The first line: the sources, the machine that specs are to run on, and the problems."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.text import cell_width, clean, counted, shorten
from spackscope.model.query.ast import Condition, Term
from spackscope.model.report.frame import SourceChip
from spackscope.tui.widgets.drawing import Piece, draw

if TYPE_CHECKING:
    from spackscope.model.analysis.host import Host as Machine

_NAME = "spackscope"
_CACHE, _LIST, _TROUBLE = "●", "○", "▲"
_GAP = "  "
_WIDE = 104
"""Columns from which on there is room for more than the names of the sources."""

_MIN_NAME_WIDTH = 8
"""Cells that the names of sources are not cut below; before that some are left out."""

PROBLEMS, SOURCES = "show_problems", "show_sources"
"""What a click on the number of problems, and on that of further sources, does."""


class Title(Frozen):
    """What the line shows; `active` are the conditions on sources in the query."""

    chips: Sequence[SourceChip] = ()
    notes: str = ""
    problems: int = 0
    machine: Machine | None = None
    active: Collection[Condition] = ()


class Part(NamedTuple):
    """Some cells of the line, and what a click on them does: an action, or a condition."""

    pieces: Sequence[Piece]
    target: Term | str = ""

    @property
    def width(self) -> int:
        """The number of cells."""
        return sum(cell_width(text) for text, _ in self.pieces)


class Form(NamedTuple):
    """How much of the title is shown."""

    has_name: bool = False
    has_counts: bool = False
    has_notes: bool = False
    machine: str = ""
    problems: str = ""


class TitleLine(Widget):
    """Sources as chips, the machine, and the number of problems; all can be clicked."""

    class SourceClicked(Message):
        """Posted when the chip of a source is clicked."""

        def __init__(self, term: Term) -> None:
            super().__init__()
            self.term = term

    class ActionClicked(Message):
        """Posted when something else is clicked; `action` is that of a key."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    _title = Title()

    def show_catalog(self, chips: Sequence[SourceChip], notes: str, problems: int) -> None:
        """Show where the records come from, and how many could not be read."""
        self._show(replace(self._title, chips=chips, notes=clean(notes), problems=problems))

    def show_machine(self, machine: Machine) -> None:
        """Show what specs are to run on."""
        self._show(replace(self._title, machine=machine))

    def show_active(self, active: Collection[Condition]) -> None:
        """Show which sources the query names."""
        self._show(replace(self._title, active=active))

    def _show(self, title: Title) -> None:
        if title != self._title:
            self._title = title
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        width = self.size.width
        pieces = [piece for part in lay_out(self._title, width) for piece in part.pieces]
        return draw(self, pieces, width, "row")

    def on_click(self, event: events.Click) -> None:
        """Post what is under the mouse."""
        end = 0
        for part in lay_out(self._title, self.size.width):
            end += part.width
            if event.x < end:
                if isinstance(part.target, Term):
                    self.post_message(self.SourceClicked(part.target))
                elif part.target:
                    self.post_message(self.ActionClicked(part.target))
                return


def lay_out(title: Title, width: int) -> list[Part]:
    """Return the parts of the line, in the longest form that fits into a width.

    At last sources are cut, and then left out, before the number of problems is.
    """
    for form in _forms(title, width):
        left, right = _left(title, form), _right(form)
        room = width - sum(part.width for part in (*left, *right))
        if room >= 0:
            return [*left, Part([(" " * room, "")]), *right]
    right = _right(Form(problems=_problems(title, with_noun=False)))
    left = _shortened(title, width - sum(part.width for part in right))
    room = width - sum(part.width for part in (*left, *right))
    return [*left, Part([(" " * room, "")]), *right]


def _forms(title: Title, width: int) -> Iterator[Form]:
    machine = title.machine
    short = machine.short if machine is not None else ""
    long = f"this machine{_GAP}{machine}" if machine is not None else ""
    words, number = (_problems(title, with_noun=noun) for noun in (True, False))
    if width >= _WIDE:
        yield Form(True, True, True, long, words)
        yield Form(True, True, True, short, words)
        yield Form(True, False, True, short, number)
    yield Form(False, False, True, short, number)
    yield Form(False, False, False, short, number)


def _problems(title: Title, *, with_noun: bool) -> str:
    if not title.problems:
        return ""
    number = counted(title.problems, "problem") if with_noun else f"{title.problems:,}"
    return f"{_TROUBLE} {number}"


def _left(title: Title, form: Form) -> list[Part]:
    name: list[Piece] = [(_NAME, "strong"), (_GAP, "")] if form.has_name else []
    parts = [Part([(" ", ""), *name])]
    for chip in title.chips:
        sign = (_LIST, "dim") if not chip.is_cache else (_CACHE, "good")
        if chip.has_failed:
            sign = (_TROUBLE, "error")
        style = "accent strong" if chip.term in title.active else ""
        count = f" {chip.specs:,}" if form.has_counts else ""
        parts.append(Part([sign, (f" {chip.name}", style), (count, "dim")], chip.term))
        parts.append(Part([(_GAP, "")]))
    return [*parts, Part([(title.notes, "dim"), (_GAP, "")])] if form.has_notes else parts


def _right(form: Form) -> list[Part]:
    parts = [Part([(form.machine, "dim"), (_GAP if form.problems else " ", "")])]
    if form.problems:
        parts.append(Part([(f"{form.problems} ", "differs")], PROBLEMS))
    return parts


def _shortened(title: Title, width: int) -> list[Part]:
    """Return as many sources as fit, their names cut, and how many more there are."""
    for shown in range(len(title.chips), 0, -1):
        hidden = len(title.chips) - shown
        more = f"+{hidden} " if hidden else ""
        room = (width - 1 - len(more)) // shown - len(f"{_CACHE} {_GAP}")
        if room >= _MIN_NAME_WIDTH or (shown == 1 and room > 0):
            chips = [c._replace(name=shorten(c.name, room)) for c in title.chips[:shown]]
            left = _left(replace(title, chips=chips), Form())
            return [*left, Part([(more, "dim")], SOURCES)]
    return []

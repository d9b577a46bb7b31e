"""The lines around the panes: title, rules, marks and hints, and messages over them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.text import cell_width, clean, counted, shorten, wrap_cut
from spackscope.model.query.ast import Condition, Term
from spackscope.model.report.report import LinePart, Piece
from spackscope.model.report.titles import SourceChip
from spackscope.tui.keymap import Hint, hint, key_names, with_written_keys, written_key
from spackscope.tui.process.stdio import is_plain
from spackscope.tui.widgets.drawing import PartLine, draw
from spackscope.tui.widgets.table_rows import MARKED
from spackscope.tui.widgets.virtual_list import Browse

if TYPE_CHECKING:
    from spackscope.model.analysis.host import Host as Machine
    from spackscope.tui.widgets.table_rows import MarkedSpec


_NAME, _PLAIN_MODE = "spackscope", "plain mode"
_CACHE, _LIST, _TROUBLE = "●", "○", "▲"
_GAP = "  "
_WIDE = 96
"""The width from which the title shows the number of specs of each source."""

_MIN_NAME_WIDTH = 8
"""Cells that the name of a source keeps; if the names do not fit, sources are left out."""

PROBLEMS, SOURCES, OPEN = "show_problems", "sources", "open"
"""The actions of a click on the number of problems, the number of further sources, the key."""


class Title(Frozen):
    """The content of the title line; `active` are the conditions on sources in the query.

    With `is_sample` the line names the key that opens other sources. A `purpose` stands in the
    place of the name of the program.
    """

    chips: Sequence[SourceChip] = ()
    notes: str = ""
    problems: int = 0
    machine: Machine | None = None
    active: Collection[Condition] = ()
    is_sample: bool = False
    purpose: str = ""


class TitleForm(NamedTuple):
    """The parts of the title that a form of the line shows."""

    has_name: bool = False
    has_counts: bool = False
    has_notes: bool = False
    machine: str = ""
    problems: str = ""
    opens: Sequence[Hint] = ()


class TitleLine(PartLine[Callable[[], Title]]):
    """Sources as chips, the machine, the number of problems; chips and number can be clicked."""

    def parts(self, width: int) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
        """Return the sources on the left, the machine and the problems on the right."""
        mode = [LinePart([(_PLAIN_MODE, "strong")])] * is_plain()
        left, right = lay_out(self.read(), width - sum(part.width for part in mode))
        return [*mode, *left], right

    def take(self, target: Term | str) -> None:
        """Filter by the clicked source, or do the action of a number or key."""
        action = (target,) if isinstance(target, str) else ("toggle_term", target)
        self.post_message(Browse(*action))


def lay_out(title: Title, width: int) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
    """Return the left and right parts of the line, in the longest form that fits a width.

    If none fits, sources are cut, and then left out; the number of problems stays, and half of
    the width for the purpose.
    """
    title = replace(title, purpose=shorten(title.purpose, width // 2))
    for form in _forms(title, width):
        left, right = _left(title, form), _right(form)
        if sum(part.width for part in (*left, *right)) <= width:
            return left, right
    right = _right(TitleForm(problems=_problems(title, with_noun=False)))
    return _shortened(title, width - sum(part.width for part in right)), right


def _forms(title: Title, width: int) -> Iterator[TitleForm]:
    machine = title.machine
    short = machine.short if machine is not None else ""
    where = "this machine" if machine is not None and machine.is_this_machine else "host"
    long, middle = (f"{where}: {text}" if machine is not None else "" for text in (machine, short))
    words, number = (_problems(title, with_noun=noun) for noun in (True, False))
    opens = [*hint("open", "open yours")] if title.is_sample else []
    if width >= _WIDE:
        yield TitleForm(True, True, True, long, words, opens)
        yield TitleForm(True, True, True, middle, words, opens)
    yield TitleForm(True, False, True, middle, number, opens)
    yield TitleForm(True, False, False, middle, number, opens)
    yield TitleForm(True, False, False, short, number, opens)
    yield TitleForm(True, False, False, "", number, opens)
    yield TitleForm(False, False, False, short, number)


def _problems(title: Title, *, with_noun: bool) -> str:
    if not title.problems:
        return ""
    number = counted(title.problems, "problem") if with_noun else f"{title.problems:,}"
    return f"{_TROUBLE} {number}"


def _left(title: Title, form: TitleForm) -> list[LinePart]:
    first = title.purpose or (_NAME if form.has_name else "")
    name: list[Piece] = [(first, "strong"), (_GAP, "")] if first else []
    parts = [LinePart([(" ", ""), *name])]
    for chip in title.chips:
        sign = (_LIST, "dim") if not chip.is_cache else (_CACHE, "good")
        if chip.has_failed:
            sign = (_TROUBLE, "error")
        style = "accent strong" if chip.term in title.active else ""
        # The number of the only source is beside the query.
        count = f" {chip.specs:,}" if form.has_counts and len(title.chips) > 1 else ""
        parts.append(LinePart([sign, (f" {chip.name}", style), (count, "dim")], chip.term))
        parts.append(LinePart([(_GAP, "")]))
    return [*parts, LinePart([(title.notes, "dim"), (_GAP, "")])] if form.has_notes else parts


def _right(form: TitleForm) -> list[LinePart]:
    between = _GAP if form.problems or form.opens else " "
    parts = [LinePart([(form.machine, "dim"), (between, "")])]
    for key in form.opens:
        end = _GAP if form.problems else " "
        parts.append(LinePart([(key.shown, "accent strong"), (f" {key.word}{end}", "")], OPEN))
    if form.problems:
        parts.append(LinePart([(f"{form.problems} ", "error")], PROBLEMS))
    return parts


def _shortened(title: Title, width: int) -> list[LinePart]:
    """Return as many sources as fit, their names cut, and the number of further sources."""
    width -= cell_width(title.purpose) + len(_GAP) * bool(title.purpose)
    for shown in range(len(title.chips), 0, -1):
        hidden = len(title.chips) - shown
        more = f"+{hidden} " if hidden else ""
        room = (width - 1 - len(more)) // shown - len(f"{_CACHE} {_GAP}")
        if room >= _MIN_NAME_WIDTH or (shown == 1 and room > 0):
            chips = [c._replace(name=shorten(c.name, room)) for c in title.chips[:shown]]
            left = _left(replace(title, chips=chips), TitleForm())
            return [*left, LinePart([(more, "dim")], SOURCES)]
    return _left(Title(purpose=title.purpose), TitleForm()) if title.purpose else []


_DOWN, _UP = "┬", "┴"
_JOINTS = {(False, False): "│", (True, False): "┤", (False, True): "├", (True, True): "┼"}
"""The signs of the divider between rules at its left, at its right, or both."""


class Divider(Widget):
    """The line right of the side column, which joins the rules at its sides.

    `read` returns the lines of the screen with rules at its left, and at its right.
    """

    def __init__(
        self, read: Callable[[], tuple[Collection[int], Collection[int]]], *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._read = read
        self._rules: tuple[Collection[int], Collection[int]] = (), ()

    def on_mount(self) -> None:
        """Draw the joints again when rules have moved."""
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self.follow())

    def follow(self) -> None:
        """Draw the joints again if rules have moved: most letters and keys move none."""
        rules = self._read()
        if rules != self._rules:
            self._rules = rules
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one cell of the line."""
        line = self.region.y + y
        left, right = (line in lines for lines in self._rules)
        sign = {0: _DOWN, self.size.height - 1: _UP}.get(y, _JOINTS[left, right])
        return draw(self, [(sign, "rule")], self.size.width)


_KEYS = (("diff", "diff"), ("copy", "copy"), ("unmark", "clear"))
"""The names of the keys for marked specs, each with its word."""
_KEY_GAP = 2
_ENOUGH = 43
"""Cells kept for names of specs; with less room, the words after the keys are left out."""
_NAME_WIDTH = 22
"""Cells kept for the name of a spec before the number of marks has words."""


def mark_pieces(marks: Marks, width: int) -> list[Piece]:
    """Name as many marked specs as fit into a width: specs in sight first, then others, dim.

    Specs with the same name and version share it: `hdf5@1.14.6 /uehz56w /wuqgt3p  and 3 more`.
    Without room for a name the pieces are hashes only.
    """
    total = marks.total
    in_sight = marks.in_sight
    specs = [*in_sight, *(spec for spec in marks.marked if spec not in in_sight)]
    is_narrow = width < _ENOUGH
    least = SHORT_HASH + 2 + cell_width(_more(total, is_narrow)) + _NAME_WIDTH * (not is_narrow)
    head = _head(total, total - len(in_sight), width - least)
    pieces: list[Piece] = [(head, "mark")]
    room = width - cell_width(head)
    has_names = all(
        cell_width(f"  {spec.title}{_hash(spec)}{_more(total, is_narrow)}") <= room
        for spec in specs[:1]
    )
    title = ""
    for number, spec in enumerate(specs):
        name = f"  {spec.title}" if has_names and spec.title != title else ""
        left = total - number - 1
        rest = _more(left, is_narrow) if left else ""
        if left == 1 and all(each.title == spec.title for each in specs[number + 1 :]):
            rest = min(rest, _hash(spec), key=cell_width)
        needed = cell_width(f"{name}{_hash(spec)}{rest}")
        if needed > room:
            return [*pieces, (_more(total - number, is_narrow), "dim")] if number else pieces
        title = spec.title
        is_shown = number < len(in_sight)
        pieces += [(name, "" if is_shown else "dim")]
        pieces += [(_hash(spec), "hash" if is_shown else "dim")]
        room -= cell_width(f"{name}{_hash(spec)}")
    return pieces


def _head(total: int, hidden: int, room: int) -> str:
    """Return the number of marked specs, in the longest form that fits, or else the shortest."""
    short = f"{MARKED} {total:,}"
    if hidden:
        forms = (f"{short} marked, {hidden:,} out of sight", f"{short} ({hidden:,} hidden)", short)
    else:
        forms = (f"{short} marked", short, short)
    return next((form for form in forms if cell_width(form) <= room), short)


def _hash(spec: MarkedSpec) -> str:
    return f" /{spec.hash[:SHORT_HASH]}"


def _more(number: int, is_narrow: bool) -> str:
    return f" +{number:,}" if is_narrow else f" and {number:,} more"


class Marks(NamedTuple):
    """The number of marked specs, the marked specs that are known, and those in sight.

    `unused` are the names of keys that act on something else where the focus is.
    """

    total: int
    marked: Sequence[MarkedSpec]
    in_sight: Sequence[MarkedSpec]
    unused: Collection[str] = ()


class MarksLine(PartLine[Callable[[], Marks]]):
    """The marked specs and their keys; hidden while no spec is marked."""

    def _keys(self, unused: Collection[str]) -> list[Hint]:
        """Return the keys, without words where the words leave too little room for names."""
        words = [key for key in _KEYS if key[0] not in unused]
        keys = [each for name, word in words for each in hint(name, word)]
        width = sum(cell_width(f"  {key.shown} {key.word}") for key in keys)
        is_narrow = self.size.width - width < _ENOUGH
        return [key._replace(word="") for key in keys] if is_narrow else keys

    def parts(self, width: int) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
        """Return the names on the left, and the keys on the right."""
        marks, keys = self.read(), list[LinePart]()
        for shown, word, key in self._keys(marks.unused):
            keys.append(LinePart([(" " * _KEY_GAP, "")]))
            keys.append(LinePart([(shown, "key"), (f" {word}" if word else "", "")], key))
        keys.append(LinePart([(" ", "")]))
        room = width - sum(part.width for part in keys) - 1
        names = mark_pieces(marks, room)
        return [LinePart([(" ", ""), *names])], keys


_HINT_GAP = 2
"""Blanks after a hint."""


def fitting_hints(hints: Iterable[Hint], width: int) -> list[Hint]:
    """Return the hints that fit into a width: the last hints go first.

    Quit goes after them, then copying and Enter; help never goes.
    """
    fitting, helps = list(hints), key_names("help", "dialogs-help")
    excess = sum(map(_hint_width, fitting)) - _HINT_GAP - width
    most = helps | key_names("copy") | {"enter"}
    for kept in (most | key_names("quit"), most, helps):
        for each in fitting[::-1]:
            if excess > 0 and each.key not in kept:
                fitting.remove(each)
                excess -= _hint_width(each)
    return fitting


def _hint_width(hint: Hint) -> int:
    return cell_width(f"{written_key(hint.shown)} {hint.word}") + _HINT_GAP


class StatusLine(PartLine[Callable[[], tuple[Iterable[Hint], str]]]):
    """Hints of keys, and at the right the position of the cursor.

    A click on a hint presses its key. Messages are in the Toast above the line, so that they
    hide no key.
    """

    def parts(self, width: int) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
        """Return the hints that fit on the left, and the position on the right."""
        hints, position = self.read()
        corner = LinePart([(f"  {position} " if position else "", "")])
        parts = [LinePart([(" ", "")])]
        for each in fitting_hints(hints, width - corner.width - 1):
            parts.append(
                LinePart([(written_key(each.shown), "key"), (f" {each.word}", "")], each.key)
            )
            parts.append(LinePart([(" " * _HINT_GAP, "")]))
        return parts, [corner]


_SECONDS, _ERROR_SECONDS = 6, 10
_MAX_TOAST_WIDTH, _MAX_TOAST_LINES = 160, 4
"""Cells and lines of a message: one long line covers only the rule above the hints."""
_TOAST_MARGIN = 2
"""Cells on each side of the text: one in the style of the message, and a blank one."""
_ERROR_SIGN = "! "
"""The sign before an error, which sets errors apart without colour too."""


class Toast(Widget):
    """The last message and the progress of a long task, drawn over the panes.

    The toast floats: nothing else moves when it comes or goes.
    """

    message = _progress = ""
    lines_below = 1
    """The number of lines at the bottom that stay free: the hints, and the lines above them."""
    _is_error = False
    _timer: Timer | None = None
    _lines: tuple[tuple[str, str], ...] = ()

    def on_mount(self) -> None:
        """Begin hidden, unless there is a message already."""
        self.place()

    def say(self, message: str, *, error: bool = False) -> None:
        """Show a message for some seconds or until the next message; an empty text hides it."""
        self.message, self._is_error = with_written_keys(clean(message)), error
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if message and not is_plain():
            seconds = _ERROR_SECONDS if error else _SECONDS
            self._timer = self.set_timer(seconds, self.hush)
        self.place()

    def hush(self) -> None:
        """Hide the message."""
        self.say("")

    def show_progress(self, text: str) -> None:
        """Show the progress of a long task, besides messages; an empty text ends it."""
        if clean(text) != self._progress:
            self._progress = clean(text)
            self.place()

    def place(self) -> None:
        """Put the message above the free lines at the bottom, but not over the cursor."""
        width, height = self.screen.size
        room = max(1, min(_MAX_TOAST_WIDTH, width) - 2 * _TOAST_MARGIN)
        style = "error reversed" if self._is_error else "key reversed"
        message = f"{_ERROR_SIGN}{self.message}" if self._is_error else self.message
        texts = [(self._progress, "reversed"), (message, style)]
        lines, most = list[tuple[str, str]](), max(1, min(_MAX_TOAST_LINES, height - 2))
        for text, name in texts:
            lines += ((line, name) for line in wrap_cut(text, room, most - len(lines)))
        self._lines = tuple(lines)
        self.display = bool(self._lines)
        if self._lines:
            widest = max(cell_width(line) for line, _ in self._lines) + 2 * _TOAST_MARGIN
            self.styles.width, self.styles.height = widest, len(self._lines)
            top = height - self.lines_below - len(self._lines)
            cursor = self.app.cursor_position.y
            if top <= cursor < top + len(self._lines):
                above = cursor - len(self._lines)
                top = above if above >= 0 else cursor + 1
            self.styles.offset = (max(0, width - widest), max(0, top))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        text, style = self._lines[y] if y < len(self._lines) else ("", "key reversed")
        width = self.size.width
        padded = f" {text}{' ' * (width - cell_width(text) - _TOAST_MARGIN - 1)}"
        return draw(self, [(" ", ""), (padded, style), (" ", "")], width)

    def on_click(self) -> None:
        """Hide the clicked message."""
        self.hush()

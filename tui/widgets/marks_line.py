"""The line above the hints that names the marked specs, and the keys for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.text import cell_width
from spackscope.tui.keymap import Hint, hint
from spackscope.tui.widgets.drawing import Piece, draw
from spackscope.tui.widgets.row_marks import MARKED

if TYPE_CHECKING:
    from spackscope.model.index.listing import Listing, MarkedSpec

_KEYS = (("compare", "compare"), ("copy", "copy"), ("unmark", "clear"))
"""The names of the keys for marked specs, each with its word."""
_GAP = 2
_ENOUGH = 44
"""Cells of names for which the words after the keys are left out."""


def mark_pieces(
    marked: Sequence[MarkedSpec], listing: Listing | None, total: int, width: int
) -> list[Piece]:
    """Name as many marked specs as fit into a width, those in sight first, the others dim.

    Specs with the same name and version share it: `hdf5@1.14.6 /uehz56w /wuqgt3p  and 3 more`.
    Where there is no room for a name there are hashes only.
    """
    in_sight = [spec for spec in marked if spec.is_in(listing)]
    others = [spec for spec in marked if not spec.is_in(listing)]
    is_narrow = width < _ENOUGH
    least = SHORT_HASH + 2 + cell_width(_more(total, is_narrow)) + _ENOUGH // 2 * (not is_narrow)
    head = _head(total, total - len(in_sight), width - least)
    pieces: list[Piece] = [(head, "differs")]
    room = width - cell_width(head)
    has_names = all(
        cell_width(f"  {spec.title}{_hash(spec)}{_more(total, is_narrow)}") <= room
        for spec in [*in_sight, *others][:1]
    )
    title = ""
    for number, spec in enumerate([*in_sight, *others]):
        name = f"  {spec.title}" if has_names and spec.title != title else ""
        left = total - number - 1
        needed = cell_width(f"{name}{_hash(spec)}") + (
            cell_width(_more(left, is_narrow)) if left else 0
        )
        if needed > room:
            return [*pieces, (_more(total - number, is_narrow), "dim")] if number else pieces
        title = spec.title
        is_shown = number < len(in_sight)
        pieces += [(name, "" if is_shown else "dim")]
        pieces += [(_hash(spec), "hash" if is_shown else "dim")]
        room -= cell_width(f"{name}{_hash(spec)}")
    return pieces


def _head(total: int, hidden: int, room: int) -> str:
    """Return how many are marked, in the longest form that fits, or else the shortest."""
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


class MarksLine(Widget):
    """The marked specs and the keys for them; hidden while none are marked."""

    _marked: Sequence[MarkedSpec] = ()
    _listing: Listing | None = None
    _total = 0
    _copies = True

    @property
    def text(self) -> str:
        """The text of the line without its sign and its keys; empty without marks."""
        pieces = mark_pieces(self._marked, self._listing, self._total, self.size.width)
        return "".join(text for text, _ in pieces).removeprefix(f"{MARKED} ") * bool(self._total)

    def show(
        self,
        marks: Sequence[str],
        marked: Sequence[MarkedSpec],
        listing: Listing | None,
        *,
        copies: bool,
    ) -> None:
        """Show the marked specs; `copies` if `y` copies them where the focus is."""
        self._total, self._marked = len(marks), marked
        self._listing, self._copies = listing, copies
        self.display = bool(marks)
        self.refresh()

    def _keys(self) -> list[Hint]:
        """Return the keys, without their words where these leave too little room for names."""
        words = dict(_KEYS if self._copies else [key for key in _KEYS if key[0] != "copy"])
        keys = [each for name, word in words.items() for each in hint(name, word)]
        width = sum(cell_width(f"  {key.shown} {key.word}") for key in keys)
        is_narrow = self.size.width - width < _ENOUGH
        return [key._replace(word="") for key in keys] if is_narrow else keys

    def _key_pieces(self) -> list[tuple[Piece, str]]:
        """Return the pieces of the keys, each with the key that a click on it presses."""
        pieces: list[tuple[Piece, str]] = []
        for shown, word, key in self._keys():
            pieces += [((" " * _GAP, ""), ""), ((shown, "key"), key)]
            pieces += [((f" {word}", ""), key)] if word else []
        return [*pieces, ((" ", ""), "")]

    def render_line(self, y: int) -> Strip:
        """Draw the names on the left, and the keys on the right."""
        width, keys = self.size.width, [piece for piece, _ in self._key_pieces()]
        room = width - sum(cell_width(text) for text, _ in keys)
        pieces = mark_pieces(self._marked, self._listing, self._total, room - 1)
        left = draw(self, [(" ", ""), *pieces], max(0, room), "row")
        return Strip.join([left, draw(self, keys, width - left.cell_length, "row")])

    def on_click(self, event: events.Click) -> None:
        """Press the key that was clicked."""
        keys = self._key_pieces()
        at = self.size.width - sum(cell_width(text) for (text, _), _ in keys)
        for (text, _), key in keys:
            if at <= event.x < at + cell_width(text) and key:
                self.app.simulate_key(key)
            at += cell_width(text)

"""The cells of the rows of a listing, and the notes after them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spackscope.model.catalog.listing import Listing
from spackscope.model.catalog.opened_rows import RowRole
from spackscope.model.catalog.rows import Row
from spackscope.model.core.column import Column
from spackscope.model.core.text import cell_width, pad, shorten
from spackscope.model.presentation.column_layout import GAP, Placed
from spackscope.model.presentation.detail import variants_cell
from spackscope.model.presentation.kinds import ALL_RUN_THE_SAME, BUILD_TOOLS_ONLY, UNLISTED
from spackscope.model.presentation.row_notes import NoteKey, RowNote, note_key
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Term
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.highlight import highlight
from spackscope.tui.widgets.note_columns import NoteColumns

_SIGNS = {RowRole.GROUP: "▾ ", RowRole.OPEN_KIND: "├▾"}
_GAP: Piece = (" " * GAP, "")


class RowCells:
    """Draws rows of a listing; `notes` are those that were computed so far."""

    def __init__(self, listing: Listing) -> None:
        self.notes: dict[NoteKey, RowNote] = {}
        self._listing = listing
        self._needles = _needles(listing.view.query)

    def _note(self, row: Row) -> RowNote:
        return self.notes.get(note_key(row), RowNote())

    def is_noted(self, row: Row) -> bool:
        """Check whether the note on a row was computed whole."""
        note = self.notes.get(note_key(row))
        return note is not None and note.is_whole

    def sign(self, row: Row | None, below: Row | None) -> str:
        """Return the sign of a row; empty if no group of the listing is opened."""
        if self._listing.roles is None:
            return ""
        if row is None or row.role is RowRole.SPEC:
            return "  "
        if row.role in _SIGNS:
            return _SIGNS[row.role]
        if row.role is RowRole.MEMBER and self._listing.opened_kind(row.id, row.look_alike):
            return "│ "
        is_last = below is None or below.role in (RowRole.SPEC, RowRole.GROUP)
        return "└ " if is_last else "├ "

    def pieces(
        self, row: Row, placed: Sequence[Placed], columns: NoteColumns, above: Iterable[Row]
    ) -> list[Piece]:
        """Return the cells of a row and its note, given the rows in view above it.

        Those of a kind have only the hash: the others are those of its head, and leave their room
        to the note.
        """
        if row.role >= RowRole.KIND and placed[0].column.name == "hash":
            columns = columns.widened(placed[-1].at + placed[-1].width - placed[0].width)
            placed = placed[:1]
        pieces: list[Piece] = []
        for number, each in enumerate(placed):
            pieces += [_GAP] if number else []
            pieces += self._cell(each.column, each.width, row)
        if columns.users:
            users = self._note(row).users
            text = "" if users is None else f"{users:,}" if users else "-"
            pieces += [_GAP, (pad(text, columns.users, right=True), "")]
        return pieces + self._differs(row, columns.differs, above) if columns.differs else pieces

    def _differs(self, row: Row, width: int, above: Iterable[Row]) -> list[Piece]:
        """Return what the specs of a row differ in."""
        text = self._note(row).differs
        if text == UNLISTED and any(self._note(each).differs == UNLISTED for each in above):
            text = ""
        is_constant = text in (UNLISTED, BUILD_TOOLS_ONLY, ALL_RUN_THE_SAME)
        text = pad(shorten(text, width, keep="start"), width)
        return [_GAP, (text, "dim" if is_constant else "")]

    def _cell(self, column: Column, width: int, row: Row) -> list[Piece]:
        if row.role >= RowRole.KIND and column.has_dictionary:
            # It is that of the head.
            return [(" " * width, "")]
        if column.name == "variants":
            return self._variants(row, width)
        if column.name == "hash" and (kinds := self._note(row).kinds):
            return [(pad(shorten(kinds, width, keep="start"), width), "strong")]
        text = shorten(column.cell(column.value(row.spec)), width)
        style = "dim" if column.name in self._listing.constants and len(self._listing) > 1 else ""
        if column.align_right:
            return [(pad(text, width, right=True), style)]
        return highlight(pad(text, width), self._needles.get(column.name, ()), style)

    def _variants(self, row: Row, width: int) -> list[Piece]:
        """Return the variants, differing ones first; the others are cut at the end."""
        differing, rest = variants_cell(row.spec.variants, self._listing.varying_variants)
        differing = shorten(differing, width, keep="start")
        needles = self._needles.get("variants", ())
        pieces = highlight(differing, needles)
        room = width - cell_width(differing)
        between = " " if differing and room > 1 else ""
        rest = shorten(rest, room - len(between), keep="start") if room > 1 else ""
        return [*pieces, *highlight(pad(between + rest, room), needles, "dim")]


def _needles(query: Query) -> dict[str, list[str]]:
    """Return by column the texts to highlight: those that the query asks for."""
    needles: dict[str, list[str]] = {}
    for term in query.conditions:
        if not isinstance(term, Term):
            continue
        needle = term.pattern.strip("*").removeprefix("/").lower()
        if term.negated or not needle or "*" in needle or "?" in needle:
            continue
        for column in term.columns:
            needles.setdefault(column.name, []).append(needle)
    return needles

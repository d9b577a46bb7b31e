"""Draw the cells of the rows of a listing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import variant_key
from spackscope.model.core.text import cell_width, cut_name, cut_words, pad
from spackscope.model.index.catalog import Listing, Row
from spackscope.model.index.order import USED_BY, RowRole
from spackscope.model.query.ast import Query, Term
from spackscope.model.report.report import Piece, highlight
from spackscope.model.report.row_notes import BETWEEN, NoteKey, RowNote, note_key
from spackscope.model.report.table_columns import (
    UNLIKE_OTHERS,
    Placed,
    TableColumn,
    cut_value,
    flowing_variants,
    variant_cell,
    variants_by_name,
)

_VARIANT_STYLES = {"+": "good", "~": "dim"}


class RowCells:
    """Draws rows of a listing with the `notes` that were computed so far."""

    def __init__(self, listing: Listing) -> None:
        self.notes: dict[NoteKey, RowNote] = {}
        # Keys of notes for the placed columns; older notes stay until then.
        self.noted: set[NoteKey] = set()
        self._listing = listing
        self._needles = _needles(listing.view.query)
        self._usual: dict[str, str] = {}
        # The texts of columns that are cut.
        self._texts: dict[str, tuple[str, ...]] = {}

    def _note(self, row: Row) -> RowNote:
        return self.notes.get(note_key(row), RowNote())

    def is_noted(self, row: Row) -> bool:
        """Check whether the note on a row was computed for the placed columns."""
        return note_key(row) in self.noted

    def take_notes(self, notes: Mapping[NoteKey, RowNote]) -> None:
        """Draw rows with notes that were computed."""
        self.notes.update(notes)
        self.noted.update(notes)

    def lead(self, row: Row, below: Row | None) -> str:
        """Return the sign of a row and the number of its specs, as in `▸12`."""
        count = f"{row.count:,}" if row.count > 1 else ""
        if row.role is RowRole.SPEC:
            return f"▸{count}" if count else ""
        if row.role is RowRole.GROUP:
            return f"▾{count}"
        if row.role is RowRole.OPEN_KIND:
            return f"├▾{count}"
        if row.role is RowRole.MEMBER and self._listing.opened_kind(row.id, row.look_alike):
            return "│"
        is_last = below is None or below.role in (RowRole.SPEC, RowRole.GROUP)
        return f"{'└' if is_last else '├'}{count and f'▸{count}'}"

    def pieces(self, row: Row, placed: Sequence[Placed], current: str = "") -> list[Piece]:
        """Return the cells of a row.

        A kind has a hash and notes: its other cells are the same as in its head, and have room for
        a long note before the hash.
        """
        if row.role >= RowRole.KIND:
            placed = self._placed_of_kind(row, placed)
        pieces: list[Piece] = []
        at, is_dim = 0, bool(self._note(row).misfit)
        for each in placed:
            pieces.append((" " * (each.at - at), ""))
            at = each.end
            for text, style in self._cell(each, row):
                # A build that does not run here is dim as a whole.
                style = "dim" if is_dim and style != "match" else style
                tinted = f"{style} current" if each.column.name == current else style
                pieces.append((text, tinted.strip()))
        return pieces

    def _placed_of_kind(self, row: Row, placed: Sequence[Placed]) -> list[Placed]:
        """Return the cells of a kind; a note that its column would cut comes before the hash."""
        cells = [each for each in placed if each.column.name == "hash" or each.column.is_note]
        note_width = cell_width(BETWEEN.join(self._note(row).unlike))
        for number, each in enumerate(cells):
            # The cells before the first one are blank.
            room = cells[0].at - 1
            if each.column.name == UNLIKE_OTHERS and each.width < min(note_width, room):
                return [replace(each, at=0, width=room), *cells[:number], *cells[number + 1 :]]
        return cells

    def _cell(self, placed: Placed, row: Row) -> list[Piece]:
        column, width = placed.column, placed.width
        if column.name == UNLIKE_OTHERS:
            phrases = self._note(row).unlike
            return [(pad(cut_phrases(phrases, width), width), "value")]
        if column.name == USED_BY:
            users = self._note(row).users
            text = "" if users is None else f"{users:,}"
            if users and cell_width(text) > width:
                text = f"{users // 1000:,}k"
            return [(pad(text, width, right=True), "" if users else "dim")]
        if column.name == "variants":
            return self._variants(row, width)
        text = column.cell(row.spec)
        if column.variant:
            style = _VARIANT_STYLES.get(text) or self._value_style(column.variant, row)
            return [(pad(self._cut(column, text, width), width), style)]
        style = "hash" if column.name == "hash" else ""
        if column.name in self._listing.values.constants and len(self._listing) > 1:
            style = "dim"
        if column.aligns_right:
            return [(pad(text, width, right=True), style)]
        text = self._cut(column, text, width)
        return highlight(pad(text, width), self._needles.get(column.name, ()), style)

    def _cut(self, column: TableColumn, text: str, width: int) -> str:
        """Shorten a text; different texts of a column stay different."""
        if cell_width(text) <= width:
            return text
        if column.name not in self._texts:
            values, field = self._listing.values, column.field
            if column.variant:
                texts = set(map(variant_cell, values.variants.get(column.variant, ())))
            elif field is not None and (field.has_dictionary or field.is_by_host):
                texts = set(map(field.cell, values.shown_values(field.name)))
            else:
                texts = set()
            self._texts[column.name] = tuple(sorted(texts))
        return cut_value(column.name, text, width, self._texts[column.name])

    def _value_style(self, variant: str, row: Row) -> str:
        """Return the style of a value: the most common value is dim."""
        if variant not in self._usual:
            counts = self._listing.values.variants.get(variant, {})
            self._usual[variant] = max(counts, key=counts.__getitem__, default="")
        text = variants_by_name(row.spec.variants).get(variant, "")
        return "dim" if variant_key(text) == self._usual[variant] else "value"

    def _variants(self, row: Row, width: int) -> list[Piece]:
        """Return the variants that vary in the package, the rarest first."""
        values = self._listing.values.of_package(row.look_alike)
        rare, usual = flowing_variants(row.spec.variants, values.varying_variants, values.variants)
        text = pad(cut_words(f"{rare} {usual}".strip(), width), width)
        needles, end = self._needles.get("variants", ()), min(len(rare), len(text))
        return [*highlight(text[:end], needles), *highlight(text[end:], needles, "dim")]


def cut_phrases(phrases: Sequence[str], width: int) -> str:
    """Return as many whole phrases as fit, and the number of the others.

    If none fits, the first one is cut: a single sentence and a list of flags between words, a name
    in the middle, since its end may be all that sets it apart.

    >>> cut_phrases(["+hl", "~cxx", "libxml2"], 12)
    '+hl … 2'
    """
    phrases = [each for phrase in phrases for each in phrase.split(BETWEEN)]
    for shown in range(len(phrases), 0, -1):
        text, left = BETWEEN.join(phrases[:shown]), len(phrases) - shown
        counted = f"{text} … {left}" if left else text
        if cell_width(counted) <= width:
            return counted
    first, *others = phrases or [""]
    is_list = " " in first and (not others or all("=" in word for word in first.split(" ")))
    return cut_words(first, width) if is_list else cut_name(first, width)


def _needles(query: Query) -> dict[str, list[str]]:
    """Return the texts of the query to highlight, by column."""
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

"""Choose the columns of the table from its rows; what all rows share goes into the head line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.catalog.view import USED_BY
from spackscope.model.core.columns import BY_NAME, COLUMNS, Column
from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.core.records import Spec
from spackscope.model.core.text import cell_width, clean
from spackscope.model.core.variants import split_variant

if TYPE_CHECKING:
    from spackscope.model.catalog.listing import Listing

DIFFERS_IN = "differs in"
"""The column of what the specs of a row differ in."""

MISSING = "-"
"""Stands in a slot for a variant that a spec does not have."""

MAX_SLOTS = 40
"""Variants that have a column: others are read in the detail."""

MAX_SLOT_WIDTH = 16
_MIN_VALUE_WIDTH, _MAX_SHORT_LABEL = 6, 4
_MAX_HASH_OR_KINDS = len("99 kinds")
_CORE = tuple(column.name for column in COLUMNS if column.shown == "always")
_NOT_FIELDS = ("package", "hash", "variants")
_FROZEN = ("package", "version")
_PROVENANCE = ("state", "source", "tag")
"""Columns that follow the variants, unless they are filtered: they say where a spec is from."""

_SIGNS = {"version": "@", "compiler": "%", "fits": "fits=", "reusable": "reusable="}
"""What is before values that could be anything without it."""


class TableColumn(Frozen):
    """A column of the table: a field of the registry, a variant, or a note on the rows.

    `name` is that of the registry, `+x` for the variant `x`, or that of a note. A column is at
    most `width` cells wide, and not less than `min_width`.
    """

    name: str
    label: str
    width: int
    min_width: int
    field: Column | None = None

    @property
    def variant(self) -> str:
        """The name of the variant of a slot; empty for other columns."""
        return self.name[1:] if self.name.startswith("+") else ""

    @property
    def is_note(self) -> bool:
        """Whether its cells are computed after the rows are shown."""
        return self.name in (USED_BY, DIFFERS_IN)

    @property
    def aligns_right(self) -> bool:
        """Whether its cells are numbers."""
        return self.name == USED_BY or (self.field is not None and self.field.align_right)

    def cell(self, spec: Spec) -> str:
        """Return the clean cell of a spec; empty for a note."""
        if self.field is not None:
            return self.field.cell(self.field.value(spec))
        if self.variant:
            return slot_cell(variant_texts(spec.variants).get(self.variant, ""))
        return ""


class HeadText(NamedTuple):
    """A value that all rows share, and the name of its column."""

    column: str
    text: str


class ColumnChoices(Frozen):
    """What a user chose for columns, by their names: which are hidden, and how wide some are."""

    hidden: frozenset[str] = frozenset()
    widths: Mapping[str, int] = field(default_factory=dict)

    def resized(self, column: TableColumn) -> TableColumn:
        """Return a column as wide as the user made it."""
        width = self.widths.get(column.name)
        return column if width is None else replace(column, width=width, min_width=width)


class TableColumns(NamedTuple):
    """The columns of a table: frozen ones, those that scroll, and the last, which always fit.

    `head` are the values that all rows share, in the order of the head line.
    """

    frozen: tuple[TableColumn, ...] = ()
    scrolled: tuple[TableColumn, ...] = ()
    last: tuple[TableColumn, ...] = ()
    head: tuple[HeadText, ...] = ()

    @property
    def all(self) -> tuple[TableColumn, ...]:
        """All columns from left to right."""
        return self.frozen + self.scrolled + self.last

    @property
    def names(self) -> list[str]:
        """The names of all columns from left to right."""
        return [column.name for column in self.all]

    def without(self, names: Collection[str]) -> TableColumns:
        """Return the columns without some, which are not in the head line either."""
        frozen, scrolled, last = (
            tuple(column for column in part if column.name not in names) for part in self[:3]
        )
        return TableColumns(frozen, scrolled, last, self.head)


@lru_cache(4096)
def variant_texts(variants: tuple[str, ...]) -> Mapping[str, str]:
    """Return the variants of a spec by their names."""
    return {split_variant(text)[0]: text for text in variants}


def slot_cell(text: str) -> str:
    """Return the cell of a variant in its slot, such as `+`, `~` or `ofi,verbs`."""
    if not text:
        return MISSING
    if text[0] in "+~":
        return text[0]
    return clean(text.partition("=")[2]) or clean(text)


def choose_columns(
    listing: Listing,
    shared: Iterable[tuple[str, str]],
    filtered: Collection[str] = (),
    choices: ColumnChoices | None = None,
) -> TableColumns:
    """Return the columns for the rows of a listing that was summarised (`Listing.precompute`).

    `shared` are the values that all rows share, as `titles.shared_texts` returns them. Columns
    that were `filtered` under their heads stay, even where all rows have the same value.
    """
    choices = choices or ColumnChoices()
    fields = _fields(listing, filtered, choices)
    variants = [v for v in listing.values.varying_variants if f"+{v}" not in choices.hidden]
    stay = [name[1:] for name in filtered if name[:1] == "+" and name[1:] not in variants]
    slots = [_slot(listing, variant) for variant in [*stay, *variants][:MAX_SLOTS]]
    behind = [name for name in _PROVENANCE if name not in filtered]
    columns = TableColumns(
        tuple(column for column in fields if column.name in _FROZEN),
        (
            *(column for column in fields if column.name not in (*_FROZEN, *behind)),
            *slots,
            *(column for column in fields if column.name in behind),
        ),
        (_hash(listing), *_notes(listing, choices)),
    )
    frozen, scrolled, last = (tuple(map(choices.resized, part)) for part in columns[:3])
    return TableColumns(frozen, scrolled, last, _head(listing, dict(shared), set(columns.names)))


def _fields(
    listing: Listing, filtered: Collection[str], choices: ColumnChoices
) -> list[TableColumn]:
    is_single, varying = listing.shown <= 1, listing.values.varying_columns
    return [
        _field(listing, column)
        for column in COLUMNS
        if column.name not in ("hash", "variants")
        # The name of an operating system implies its platform.
        if not (column.name == "platform" and "os" in varying)
        if column.name in filtered
        or (
            column.name not in choices.hidden
            and (column.name in varying or (is_single and column.name in _CORE))
        )
    ]


def _field(listing: Listing, column: Column) -> TableColumn:
    width = max(listing.values.widths[column.name], len(column.label))
    return TableColumn(
        column.name, column.label, width, min(width, column.min_width), field=column
    )


def _slot(listing: Listing, variant: str) -> TableColumn:
    cells = [cell_width(slot_cell(text)) for text in listing.values.variants.get(variant, ("",))]
    width, label = min(max(cells), MAX_SLOT_WIDTH), clean(variant)
    return TableColumn(
        f"+{variant}",
        label,
        max(width, cell_width(label)),
        max(min(width, _MIN_VALUE_WIDTH), min(cell_width(label), _MAX_SHORT_LABEL)),
    )


def _hash(listing: Listing) -> TableColumn:
    column = BY_NAME["hash"]
    width = column.width
    if listing.max_count > 1 and listing.lists_dependencies:
        # In place of the hash of folded rows is the number of their kinds.
        width = max(width, min(len(f"{listing.max_count} kinds"), _MAX_HASH_OR_KINDS))
    return TableColumn("hash", column.label, width, width, field=column)


def _notes(listing: Listing, choices: ColumnChoices) -> list[TableColumn]:
    """Return the columns of what is read from dependencies, if any are listed."""
    notes = []
    if listing.lists_dependencies:
        notes.append(TableColumn(USED_BY, USED_BY, len(USED_BY), len("used")))
        if listing.max_count > 1:
            notes.append(TableColumn(DIFFERS_IN, DIFFERS_IN, 56, 12))
    return [note for note in notes if note.name not in choices.hidden]


def _head(
    listing: Listing, shared: Mapping[str, str], columns: Collection[str]
) -> tuple[HeadText, ...]:
    """Return what all rows share: fields, then variants with `+`, with `~`, and with values.

    The source is last: it does not describe the specs.
    """
    texts = [
        HeadText(name, _SIGNS.get(name, "") + text)
        for name, text in shared.items()
        if text and name not in columns and name not in _NOT_FIELDS
    ]
    if "package" in shared and "package" not in columns:
        has_version = bool(texts) and texts[0].column == "version"
        version = texts.pop(0).text if has_version else ""
        name = "version" if has_version else "package"
        texts.insert(0, HeadText(name, shared["package"] + version))
    constant = sorted(
        (text for texts in listing.values.variants.values() if len(texts) == 1 for text in texts),
        key=lambda text: ("+~".find(text[:1]) % 3, split_variant(text)[0]),
    )
    variants = [HeadText(f"+{split_variant(text)[0]}", clean(text)) for text in constant]
    sources = [head for head in texts if head.column == "source"]
    texts = [head for head in texts if head.column != "source"]
    return (*texts, *(head for head in variants if head.column not in columns), *sources)

"""Spell the cells of specs side by side: values, labels, paths and users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.text import cell_width, clean, shorten
from spackscope.model.core.variants import spell_signs, spell_variant
from spackscope.model.presentation.comparison import (
    MISSING,
    UNKNOWN,
    ComparedRow,
    ComparedSpec,
    ComparedTable,
    TableLine,
)
from spackscope.model.presentation.differences import ATTRIBUTE_LABELS, path_text
from spackscope.model.presentation.spec_string import short_digests

Rank = Literal["common", "rare", "missing", "unknown"]
"""How a value compares with the others of its row."""

_DIGESTS = ("package_hash", "patches")
_MAX_VARYING_VALUES = 2
_MAX_NAME_IN_CELL = 6
"""Characters of the name of a variant that is in the cells; a longer one is in the label."""

_MAX_USERS = 12
"""Names of users that are shown in a row; the row is cut at the width of the screen anyway."""


def ranks(values: Sequence[str]) -> list[Rank]:
    """Compare the values of a row: the most common one, of several the first, and the others."""
    known = [value for value in values if value not in (MISSING, UNKNOWN)]
    # A Counter keeps the order of those that are equally common.
    common = Counter(known).most_common(1)[0][0] if known else MISSING
    kinds: dict[str, Rank] = {common: "common", UNKNOWN: "unknown", MISSING: "missing"}
    return [kinds.get(value, "rare") for value in values]


def value_texts(row: ComparedRow) -> list[str]:
    """Spell the values of a row as Spack does where the row names the package only.

    `+rxm`, `api=v18`; of a variant with several values those that not all have.
    """
    is_named = _is_named_in_cells(row)
    if row.attribute.startswith("variant:") and any("," in value for value in row.values):
        sets = [
            frozenset(value.split(",")) if value not in (MISSING, UNKNOWN) else None
            for value in row.values
        ]
        known = [each for each in sets if each is not None]
        varying = sorted(frozenset().union(*known).difference(known[0].intersection(*known)))
        if 0 < len(varying) <= _MAX_VARYING_VALUES:
            return [
                value_text(row.attribute, value, is_named=is_named)
                if each is None
                else clean(spell_signs(varying, each))
                for each, value in zip(sets, row.values, strict=True)
            ]
    return [value_text(row.attribute, value, is_named=is_named) for value in row.values]


def value_text(attribute: str, value: str, *, is_named: bool = True) -> str:
    """Spell a value in full, but for digests."""
    if value == MISSING:
        return "-"
    kind, _, name = attribute.partition(":")
    if value == UNKNOWN:
        return value
    if attribute in _DIGESTS:
        return clean(",".join(digest[:SHORT_HASH] for digest in value.split(",")))
    if kind == "variant" and is_named:
        value = spell_variant(name, (value,))
    return clean(short_digests(value))


def _is_named_in_cells(row: ComparedRow) -> bool:
    """Check for a variant whose name is in the cells: a long one would make all columns wide."""
    kind, _, name = row.attribute.partition(":")
    return kind == "variant" and row.part != "own" and len(name) <= _MAX_NAME_IN_CELL


def row_label(row: ComparedRow) -> str:
    """Return the package of a row, and its attribute where the values do not name it.

    Of the specs themselves it is the attribute alone.
    """
    kind, _, name = row.attribute.partition(":")
    label = name or ATTRIBUTE_LABELS.get(kind, kind) or kind
    if row.part == "own":
        return clean(label)
    others = f" and {row.others:,} more" if row.others else ""
    if kind in ("version", "present", "provider") or _is_named_in_cells(row):
        label = ""
    return clean(f"{row.package}{others} {label}").rstrip()


def row_path(row: ComparedRow, width: int | None = None) -> str:
    """Spell the path to a package; empty for a direct dependency and for the spec itself.

    Names in its middle are left out where it is wider than some cells.
    """
    names = row.path if len(row.path) > 1 else ()
    for last in range(len(names) - 1, -1, -1) if width is not None and len(names) > 2 else ():
        shorter = names if last == len(names) - 1 else (*names[:last], "…", names[-1])
        if cell_width(text := path_text(shorter)) <= (width or 0):
            return text
    text = path_text(names)
    return text if width is None else shorten(text, width)


def path_in(row: ComparedRow, column: int) -> tuple[str, ...]:
    """Return the path to what a row is about in one column: each may have another provider."""
    if row.attribute != "provider" or row.values[column] in (MISSING, UNKNOWN):
        return row.path
    return (*row.path[:-1], row.values[column].partition("@")[0])


def users_text(spec: ComparedSpec) -> str:
    """Return the packages that use the specs of a column."""
    names = dict.fromkeys(spec.user_names)
    more = len(names) - _MAX_USERS
    return clean(" ".join([*names][:_MAX_USERS])) + (f" and {more:,} more" if more > 0 else "")


def cell_sentence(table: ComparedTable, line: TableLine, column: int) -> str:
    """Describe a cell in full, since its column may be too narrow for it."""
    spec = table.specs[column]
    hash_ = spec.hash[:SHORT_HASH]
    if line.kind == "users":
        return f"{hash_}: {users_text(spec) or 'used by nothing here'}"
    if (row := line.row) is None:
        return ""
    value = row.values[column]
    if value == UNKNOWN:
        return f"{hash_}: not told by its source"
    text = "has no such package" if value == MISSING else value_text(row.attribute, value)
    if value == MISSING and row.attribute not in ("version", "present"):
        text = "has none"
    same = f"{row.values.count(value):,} of {len(row.values):,} the same"
    subject = clean(row.package) if row.attribute.startswith("variant:") else row_label(row)
    parts = [f"{hash_}: {subject} {text}", row_path(row), same]
    return " · ".join(part for part in parts if part)

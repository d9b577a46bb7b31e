"""Lay out specs side by side: a column for each spec, a row for each attribute that differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from spackscope.model.core.cells import SHORT_HASH
from spackscope.model.core.text import clean
from spackscope.model.presentation.titles import counted

Part = Literal["own", "run", "build"]
"""Where a row belongs: to the specs themselves, to what they link or run, to what builds them."""
Rank = Literal["common", "rare", "missing", "unknown"]
"""How a value compares with the others of its row."""
LineKind = Literal["head", "fold", "note", "row", "users"]

MISSING = ""
"""The value of a spec that lacks what the row is about."""
NOT_TOLD = "?"
"""The value of a spec whose source does not tell it."""

_MAX_USERS = 12
"""Names of users that are shown in a row; the row is cut at the width of the screen anyway."""


@dataclass(frozen=True, slots=True)
class ComparedSpec:
    """A column: a spec, how many of those compared run the same (itself included), its users.

    `users` counts the specs that use one of these; it is None until it is known.
    """

    id: int
    hash: str
    alike: int = 1
    users: int | None = None
    user_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """An attribute of a package, with its value in each spec.

    `path` has the packages from the spec down to this one, which is its last.
    """

    part: Part
    package: str
    attribute: str
    values: tuple[str, ...]
    path: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        """Whether no two values that are told differ."""
        return len(set(self.values) - {NOT_TOLD}) < 2


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """Specs side by side.

    `total` counts the hashes that were compared, and `left_out` those that were not, because
    there are too many. `rows` are those of the specs and of what they link or run, `build_rows`
    those of what only builds them; each is None until it is read, or if no source tells it.
    `tells` says of each spec whether its source lists dependencies.
    """

    title: str
    specs: tuple[ComparedSpec, ...]
    total: int
    tells: tuple[bool, ...] = ()
    rows: tuple[ComparedRow, ...] | None = None
    build_rows: tuple[ComparedRow, ...] | None = None
    left_out: int = 0
    is_by_kind: bool = True

    @property
    def summary(self) -> str:
        """How many of the hashes have a column, and which columns stand for several."""
        count = len(self.specs)
        parts = [f"{count:,} of {self.total:,}" if count < self.total else counted(count, "spec")]
        folded = sorted((s for s in self.specs if s.alike > 1), key=lambda s: -s.alike)
        for spec in folded[:2]:
            others = spec.alike - 1
            verb = "is" if others == 1 else "are"
            parts.append(f"{others:,} more {verb} like {spec.hash[:SHORT_HASH]}")
        if len(folded) > 2:
            parts.append("…")
        if self.left_out:
            parts.append(f"{self.left_out:,} not compared")
        return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line under the heads of the columns: a heading, a sentence, or a row with its values."""

    kind: LineKind
    text: str = ""
    row: ComparedRow | None = None


def table_lines(
    table: ComparedTable, *, shows_build: bool = False, shows_equal: bool = False
) -> list[TableLine]:
    """Return the lines of a table: own values, what is linked or run, what only builds, users."""
    lines = [*_own_lines(table, shows_equal), *_run_lines(table, shows_equal)]
    lines += _build_lines(table, shows_equal, is_open=shows_build)
    if any(spec.users is not None for spec in table.specs):
        lines.append(TableLine("users", "used by"))
    return lines


def _own_lines(table: ComparedTable, shows_equal: bool) -> Iterator[TableLine]:
    rows = _shown(table.rows or (), "own", shows_equal)
    if rows:
        yield TableLine("head", "the specs themselves")
        yield from (TableLine("row", row=row) for row in rows)
    elif table.rows is not None and not any(table.tells):
        yield TableLine("head", "the specs themselves")
        yield TableLine("note", "nothing differs that is told here")


def _run_lines(table: ComparedTable, shows_equal: bool) -> Iterator[TableLine]:
    yield TableLine("head", "linked or run")
    if table.rows is None:
        yield TableLine("note", "comparing…")
        return
    rows = _shown(table.rows, "run", shows_equal)
    yield from (TableLine("row", row=row) for row in rows)
    if not any(table.tells):
        yield TableLine("note", "not told here: this source lists no dependencies")
    elif not all(table.tells):
        yield TableLine("note", f"{NOT_TOLD} the source of this spec lists no dependencies")
    elif all(row.is_equal for row in rows):
        has_own = any(row.part == "own" and not row.is_equal for row in table.rows)
        yield TableLine("note", "nothing differs" if has_own else "nothing: all run the same")


def _build_lines(table: ComparedTable, shows_equal: bool, *, is_open: bool) -> Iterator[TableLine]:
    if table.build_rows is None:
        if table.rows is not None and any(table.tells):
            yield TableLine("fold", "to build only …")
        return
    differing = {row.package for row in table.build_rows if not row.is_equal}
    count = f"({counted(len(differing), 'package')})" if differing else "nothing differs"
    rows = _shown(table.build_rows, "build", shows_equal)
    sign = f" {'▾' if is_open else '▸'}" if rows else ""
    yield TableLine("fold", f"to build only {count} {sign}".rstrip())
    if is_open:
        yield from (TableLine("row", row=row) for row in rows)


def _shown(rows: Sequence[ComparedRow], part: Part, shows_equal: bool) -> list[ComparedRow]:
    """Return the rows of a part, those that are equal at the end."""
    rows = [row for row in rows if row.part == part]
    equal = [row for row in rows if row.is_equal] if shows_equal else []
    return [*(row for row in rows if not row.is_equal), *equal]


def ranks(values: Sequence[str]) -> list[Rank]:
    """Compare the values of a row: the most common one, of several the first, and the others."""
    told = [value for value in values if value not in (MISSING, NOT_TOLD)]
    # A Counter keeps the order of those that are equally common.
    common = Counter(told).most_common(1)[0][0] if told else MISSING
    kinds: dict[str, Rank] = {common: "common", NOT_TOLD: "unknown", MISSING: "missing"}
    return [kinds.get(value, "rare") for value in values]


def value_text(attribute: str, value: str) -> str:
    """Spell a value as Spack does where its row tells the package only: `+rxm`, `api=v18`."""
    if value == MISSING:
        return "-"
    kind, _, name = attribute.partition(":")
    if value == NOT_TOLD or kind not in ("variant", "flags"):
        return clean(value)
    return clean(f"{value}{name}" if value in ("+", "~") else f"{name}={value}")


def row_label(row: ComparedRow) -> str:
    """Return the package of a row, and its attribute where the values do not tell it."""
    kind = row.attribute.partition(":")[0]
    if kind in ("version", "present", "variant", "flags"):
        return clean(row.package)
    return clean(f"{row.package} {_ATTRIBUTE_NAMES.get(kind, kind)}")


_ATTRIBUTE_NAMES = {
    "package_hash": "recipe",
    "external_module": "module",
    "platform_os": "os",
}


def path_text(row: ComparedRow) -> str:
    """Spell the path to a package; empty for a direct dependency and for the spec itself."""
    return clean(" › ".join(row.path)) if len(row.path) > 1 else ""


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
    if value == NOT_TOLD:
        return f"{hash_}: not told by its source"
    text = "has no such package" if value == MISSING else value_text(row.attribute, value)
    if value == MISSING and row.attribute not in ("version", "present"):
        text = "has none"
    path = clean(" › ".join(row.path)) if row.path else "its own"
    same = row.values.count(value)
    return f"{hash_}: {row_label(row)} {text} · {path} · {same:,} of {len(row.values):,} the same"

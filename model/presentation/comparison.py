"""Lay out specs side by side: a column for each spec, a row for each attribute that differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import counted
from spackscope.model.presentation.differences import NOT_LISTED

Part = Literal["own", "run", "build"]
"""Where a row belongs: to the specs themselves, to what they link or run, to what builds them."""
LineKind = Literal["head", "fold", "note", "row", "users"]

MISSING = ""
"""The value of a spec that lacks what the row is about."""
UNKNOWN = "?"
"""The value of a spec whose source does not tell it."""


class ComparedSpec(Frozen):
    """A column: a spec, and the ids of those compared that run the same if it stands for them.

    `users` counts the specs that use one of these; None if no source lists them.
    """

    id: int
    hash: str
    alike: tuple[int, ...] = ()
    users: int | None = None
    user_names: tuple[str, ...] = ()


class ComparedRow(Frozen):
    """An attribute of a package, with its value in each spec.

    `path` has the packages from the spec down to this one, which is its last. A row that `follows`
    another attribute normally changes with it. `others` counts other packages with these values.
    """

    part: Part
    package: str
    attribute: str
    values: tuple[str, ...]
    path: tuple[str, ...] = ()
    follows: str = ""
    others: int = 0

    @property
    def is_equal(self) -> bool:
        """Whether no two listed values differ."""
        return len(set(self.values) - {UNKNOWN}) < 2


class ComparedTable(Frozen):
    """Specs side by side.

    `total` counts the hashes that were compared, `left_out` those that were not, because there
    are too many, and `kinds` the run-time kinds. `rows` are those of the specs and of what they
    link or run, `build_rows` those of what only builds them; each is None until it is read, or if
    no source lists it. `lists_dependencies` is for each spec whether its source does.
    """

    title: str
    specs: tuple[ComparedSpec, ...]
    total: int
    lists_dependencies: tuple[bool, ...] = ()
    rows: tuple[ComparedRow, ...] | None = None
    build_rows: tuple[ComparedRow, ...] | None = None
    left_out: int = 0
    kinds: int = 1
    is_by_kind: bool = True

    @property
    def runs_the_same(self) -> bool:
        """Whether it is known that all run the same."""
        return self.kinds == 1 and bool(self.lists_dependencies) and all(self.lists_dependencies)

    def column_of(self, id_: int) -> int:
        """Return the column that stands for a spec; the first one if none does."""
        numbers = (n for n, spec in enumerate(self.specs) if id_ in (spec.id, *spec.alike))
        return next(numbers, 0)

    @property
    def summary(self) -> str:
        """How many of the hashes have a column, and which columns stand for several."""
        count = len(self.specs)
        parts = [f"{count:,} of {self.total:,}" if count < self.total else counted(count, "spec")]
        folded = sorted((s for s in self.specs if len(s.alike) > 1), key=lambda s: -len(s.alike))
        for spec in folded[:2]:
            others = len(spec.alike) - 1
            verb = "is" if others == 1 else "are"
            parts.append(f"{others:,} more {verb} like {spec.hash[:SHORT_HASH]}")
        if len(folded) > 2:
            parts.append("…")
        if self.left_out:
            parts.append(f"{self.left_out:,} not compared")
        return " · ".join(parts)


class TableLine(Frozen):
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
    lines = list(_row_lines(table.rows or (), "own", shows_equal))
    if lines:
        yield TableLine("head", "the specs themselves")
        yield from lines
    elif table.rows is not None and not any(table.lists_dependencies):
        yield TableLine("head", "the specs themselves")
        yield TableLine("note", "nothing that is listed differs")


def _run_lines(table: ComparedTable, shows_equal: bool) -> Iterator[TableLine]:
    yield TableLine("head", "linked or run")
    if table.rows is None:
        yield TableLine("note", "comparing…")
        return
    yield from _row_lines(table.rows, "run", shows_equal)
    if not any(table.lists_dependencies):
        yield TableLine("note", NOT_LISTED)
    elif not all(table.lists_dependencies):
        yield TableLine("note", f"{UNKNOWN} stands where a source lists no dependencies")
    elif table.runs_the_same:
        yield TableLine("note", "nothing differs: all run the same")
    elif not any(row.part == "run" and not row.is_equal for row in table.rows):
        yield TableLine("note", "nothing differs")


def _build_lines(table: ComparedTable, shows_equal: bool, *, is_open: bool) -> Iterator[TableLine]:
    if table.build_rows is None:
        if table.rows is not None and any(table.lists_dependencies):
            yield TableLine("fold", "to build only …")
        return
    differing = {row.package for row in table.build_rows if not row.is_equal}
    count = f"({counted(len(differing), 'package')})" if differing else "nothing differs"
    lines = list(_row_lines(table.build_rows, "build", shows_equal))
    sign = f" {'▾' if is_open else '▸'}" if lines else ""
    yield TableLine("fold", f"to build only {count} {sign}".rstrip())
    if is_open:
        yield from lines


def _row_lines(rows: Sequence[ComparedRow], part: Part, shows_equal: bool) -> Iterator[TableLine]:
    """Yield the rows of a part that differ; if asked to, then what follows, and what is equal."""
    rows = [row for row in rows if row.part == part]
    differing = [row for row in rows if not row.is_equal]
    following = [row for row in differing if row.follows]
    shown = [row for row in differing if not row.follows]
    if shows_equal:
        shown += [*following, *(row for row in rows if row.is_equal)]
    yield from (TableLine("row", row=row) for row in shown)
    if following and not shows_equal:
        verb = "follows" if len(following) == 1 else "follow"
        yield TableLine("note", f"{len(following):,} more {verb} from these (= shows all)")

"""Order the rows of what varies, fold equal ones, and find the fewest that tell columns apart."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.core.frozen import Frozen, replace

Cell = tuple[str, ...] | None
"""The values of an attribute in one column: None without the package, empty if it is unset."""

_FOLDED = ("compiler", "platform", "os", "target", "namespace", "spec_format")
"""Attributes that are one row where many packages have the same values."""


class VaryingRow(Frozen):
    """An attribute of a package with its value in each column.

    `package` is the virtual of a `provider`, and `path` the packages from below the root to it.
    `is_run` if the values differ in what is linked or run, not only in what is built with.
    `follows` names the attribute or package that it normally changes with. `tells` is True for
    the fewest rows that tell all columns apart. `packages` are all packages with these values.
    """

    package: str
    path: tuple[str, ...]
    attribute: str
    values: tuple[Cell, ...]
    is_run: bool = True
    follows: str = ""
    tells: bool = False
    packages: tuple[str, ...] = ()


def fold(rows: Sequence[VaryingRow]) -> list[VaryingRow]:
    """Join rows of packages that have the same values: another os everywhere is one row."""
    folded: list[VaryingRow] = []
    for row in rows:
        candidates = enumerate(folded) if row.attribute in _FOLDED else ()
        joined = None
        for number, other in candidates:
            if _may_join(row, other) and (joined := _joined(other, _without_languages(row))):
                folded[number] = joined
                break
        if joined is None:
            folded.append(_without_languages(row))
    return folded


def _may_join(row: VaryingRow, other: VaryingRow) -> bool:
    return (row.attribute, row.is_run, row.follows) == (
        other.attribute,
        other.is_run,
        other.follows,
    )


def _joined(row: VaryingRow, other: VaryingRow) -> VaryingRow | None:
    """Return a row for the packages of two, unless their values differ in a column."""
    values: list[Cell] = []
    for a, b in zip(row.values, other.values, strict=True):
        if a is not None and b is not None and a != b:
            return None
        values.append(b if a is None else a)
    return replace(row, values=tuple(values), packages=(*row.packages, *other.packages))


def _without_languages(row: VaryingRow) -> VaryingRow:
    """Return the compilers alone if they compile the same languages in all columns."""
    cells = [cell for cell in row.values if cell]
    languages = {text.partition("=")[0] for cell in cells for text in cell}
    is_one_each = row.attribute == "compiler" and all(len(cell) == 1 for cell in cells)
    if not is_one_each or len(languages) > 1 or not all("=" in cell[0] for cell in cells):
        return row
    values = (cell and (cell[0].partition("=")[2],) for cell in row.values)
    return replace(row, values=tuple(values))


def fewest_telling(rows: Sequence[VaryingRow], columns: int) -> list[int] | None:
    """Return the numbers of the fewest rows that tell all columns apart.

    The rows are in tiers: what is run before what is built with, and what only follows from
    something else last. In a tier the row that splits most columns comes first. None if columns
    are left that no row tells apart.
    """
    telling: list[int] = []
    classes: list[tuple[Cell, ...]] = [()] * columns
    for tier in range(4):
        numbers = [n for n, row in enumerate(rows) if _tier(row) == tier]
        while len(set(classes)) < columns:
            gains = [
                (len(set(zip(classes, rows[number].values, strict=True))), -number)
                for number in numbers
            ]
            most, number = max(gains, default=(0, 0))
            if most <= len(set(classes)):
                break
            telling.append(-number)
            values = rows[-number].values
            classes = [(*each, value) for each, value in zip(classes, values, strict=True)]
    return telling if len(set(classes)) == columns else None


def _tier(row: VaryingRow) -> int:
    return 2 * bool(row.follows) + (not row.is_run)

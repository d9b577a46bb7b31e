"""Describe run-time kinds by what they differ in, in one line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spackscope.model.core.text import clean
from spackscope.model.core.variants import spell_signs, spell_variant

if TYPE_CHECKING:
    from spackscope.model.analysis.kinds.varying_rows import Cell, VaryingRow

BUILD_TOOLS_ONLY = "build tools only"
ALL_RUN_THE_SAME = f"{BUILD_TOOLS_ONLY}: all run the same"
UNLISTED = "not listed"
"""Stands for what a source does not list, as pages do not list dependencies."""

MAX_PHRASES = 5
"""Differences that a line names; the others are counted."""

_SHORT_DIGEST = 7


def differing_lines(rows: Sequence[VaryingRow], sizes: Sequence[int]) -> list[str]:
    """Return a line for each column: how it differs from most of the others.

    `sizes` has the number of specs that each column stands for. A column that has what most have
    says so of its builds, if there are several, or else what tells the others apart.
    """
    rows = [row for row in rows if row.tells or not row.follows]
    usual = [_usual(row, sizes) for row in rows]
    lines: list[str] = []
    before: list[str] = []
    for column, size in enumerate(sizes):
        phrases = _phrases(rows, usual, column)
        if not phrases:
            lines.append(ALL_RUN_THE_SAME if size > 1 else _own_values(rows, column))
        elif before and len(phrases) > len(before) and set(before) <= set(phrases):
            more = [phrase for phrase in phrases if phrase not in before]
            lines.append(f"the same, and {_listed(more)}")
        else:
            lines.append(_listed(phrases) + _others(rows, usual, column, phrases))
        before = phrases
    return lines


def telling_packages(rows: Sequence[VaryingRow]) -> str:
    """Return the packages, or virtuals, by which kinds are told apart."""
    return ", ".join(dict.fromkeys(clean(row.package) for row in rows if row.tells))


def _usual(row: VaryingRow, sizes: Sequence[int]) -> Cell:
    """Return the value that most specs have, of equally many the first."""
    counts: Counter[Cell] = Counter()
    for value, size in zip(row.values, sizes, strict=True):
        counts[value] += size
    return counts.most_common(1)[0][0]


def _phrases(rows: Sequence[VaryingRow], usual: Sequence[Cell], column: int) -> list[str]:
    phrases: dict[str, None] = {}
    for row, most in zip(rows, usual, strict=True):
        if row.values[column] != most and _is_said(row, column):
            phrases[phrase(row, column, most)] = None
    return list(map(clean, phrases))


def _is_said(row: VaryingRow, column: int) -> bool:
    """Check whether a value says more than that a package is missing, which has a row."""
    return row.values[column] is not None or row.attribute in ("present", "provider")


def _own_values(rows: Sequence[VaryingRow], column: int) -> str:
    telling = [row for row in rows if row.tells and _is_said(row, column)]
    return _listed([clean(phrase(row, column)) for row in telling])


def _listed(phrases: Sequence[str]) -> str:
    """Join phrases, of which those of one package name it once."""
    values: dict[str, list[str]] = {}
    for phrase_ in phrases[:MAX_PHRASES]:
        first, _, rest = phrase_.partition(" ")
        is_package = first not in ("with", "without", "no")
        values.setdefault(first if is_package else phrase_, []).append(rest if is_package else "")
    texts = [" ".join(filter(None, (name, *rest))) for name, rest in values.items()]
    more = len(phrases) - MAX_PHRASES
    return ", ".join([*texts, f"{more} more"] if more > 0 else texts)


def _others(
    rows: Sequence[VaryingRow], usual: Sequence[Cell], column: int, phrases: Sequence[str]
) -> str:
    """Return the version that all others have, where that is the only difference."""
    if len(phrases) != 1:
        return ""
    for row, most in zip(rows, usual, strict=True):
        value = row.values[column]
        others = {each for number, each in enumerate(row.values) if number != column}
        if row.attribute == "version" and value and value != most and others == {most} and most:
            return f", others {clean(', '.join(most))}"
    return ""


def phrase(row: VaryingRow, column: int, usual: Cell = None) -> str:
    """Return the value of a column with its package, as in `mpich +hwloc`; not cleaned.

    Of several values of a variant only those are named that the usual ones lack, or have besides.
    """
    cell, package = row.values[column], row.package
    attribute = row.attribute.removeprefix("variant:")
    if attribute == "present":
        return f"without {package}" if cell is None else f"with {package} {', '.join(cell)}"
    if attribute == "provider":
        return f"no {package}" if not cell else ", ".join(cell).replace("@", " ")
    if cell is None:
        return f"no {package}"
    if not cell:
        return f"{package} without {attribute}"
    text = ",".join(cell)
    if attribute == "version":
        return f"{package} {text}"
    if row.attribute.startswith("variant:"):
        return f"{package} {_variant_text(attribute, cell, usual or ())}"
    if len(row.packages) > 1:
        return f"{attribute} {text}"
    if attribute in ("package_hash", "patches"):
        digests = ",".join(digest[:_SHORT_DIGEST] for digest in cell)
        return f"{package} {'recipe' if attribute == 'package_hash' else attribute} {digests}"
    return f"{package} {attribute.replace('_', ' ')} {text}"


def _variant_text(name: str, values: tuple[str, ...], usual: tuple[str, ...]) -> str:
    """Return a variant, or of several values those that differ from the usual ones."""
    differing = [value for value in values if value not in usual]
    differing += (value for value in usual if value not in values)
    if usual and len(differing) <= len(values) > 1:
        return f"{name} {spell_signs(differing, values)}"
    return spell_variant(name, values)

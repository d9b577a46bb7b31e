"""Write the differences between two specs as short lines for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.analysis.dag import Dag
from spackscope.model.analysis.differences import OF_MANY_PACKAGES, UNKNOWN, Cell, Difference
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.records import spell_signs, spell_value
from spackscope.model.core.text import clean, counted, shorten
from spackscope.model.report.detail import COMPARE_HINTS, DIFFERS, NEXT_TO, DetailLine
from spackscope.model.report.report import path_text

if TYPE_CHECKING:
    from spackscope.model.analysis.cover import CoveredSpec

NOTHING_DIFFERS = "no known difference"
NOT_LISTED = "Dependencies are not listed, so not compared"
WITHOUT = "without"
"""Stands for the value that a spec does not have: of a variant, a flag, a dependency."""
_MAX_VALUE_WIDTH = 60
_MAX_VARYING_VALUES = 2
"""Values of a variant that are spelled one by one."""
_MAX_IN_DETAIL = 2
"""Differences that the detail of a spec names."""
_MAX_CHANGED = 3
"""The most variants that are named for a spec that differs."""
_MAX_NAMED = 2
"""Packages of a line that are named instead of counted."""
_LABELS = {
    "version": "",
    "present": "",
    "provider": "",
    "package_hash": "recipe",
    "external_module": "module",
    "external_extra": "external attributes",
    "spec_format": "spec format",
    "provided_virtuals": "provides",
}


def attribute_label(attribute: str) -> str:
    """Return the name of an attribute in a word or two; a variant has its own."""
    kind, _, name = attribute.partition(":")
    return name or _LABELS.get(kind) or kind


class DifferenceLine(NamedTuple):
    """One line on a difference: `libiconv 1.17 ≠ 1.18`, and its place.

    `where` is the path to the package, or the number of packages. The line `runs` if one of these
    is linked or run; else they are used for building only.
    """

    values: str
    where: str = ""
    runs: bool = True

    @property
    def text(self) -> str:
        """The line as a sentence: `libiconv 1.17 ≠ 1.18, through mpich › libiconv`."""
        between = " " if self.where.startswith("at ") else ", "
        return self.values + (between + self.where if self.where else "")


def difference_lines(differences: Iterable[Difference]) -> list[DifferenceLine]:
    """Return the differences between two specs, the most telling line first.

    Consequences of others are left out. Lines on run-time dependencies come before lines on build
    dependencies.
    """
    lines = []
    for difference in differences:
        if difference.follows and not difference.tells:
            continue
        packages, path, where = difference.packages, difference.path, ""
        if len(packages) > _MAX_NAMED:
            where = f"at {counted(len(packages), 'package')}"
        elif len(packages) > 1:
            where = f"at {', '.join(map(clean, packages))}"
        elif len(path) > 1:
            where = f"through {path_text(path)}"
        lines.append(DifferenceLine(pair_text(difference), where, difference.part != "build"))
    return sorted(lines, key=lambda line: not line.runs)


def pair_text(difference: Difference) -> str:
    """Return a difference between two specs without its place: `libiconv 1.17 ≠ 1.18`."""
    label, a, b = pair_texts(difference)
    return " ".join(filter(None, (_subject(difference), label, a, DIFFERS, b)))


def _subject(difference: Difference) -> str:
    """Return the package of a difference; "" where it is clear, or several packages have it."""
    attribute, is_own = difference.attribute, difference.part == "own"
    is_clear = attribute == "provider" or (is_own and attribute in OF_MANY_PACKAGES)
    return "" if is_clear or len(difference.packages) != 1 else clean(difference.package)


def changes_text(changes: Iterable[Difference], between: str) -> str:
    """Name changes from one spec to another: `zlib-ng 2.2.4 → 2.3.2`, grouped by package."""
    by_package: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        label, a, b = pair_texts(change)
        by_package[_subject(change)].append(" ".join(filter(None, (label, a, between, b))))
    return " · ".join(
        f"{package} {', '.join(texts)}".lstrip() for package, texts in by_package.items()
    )


def pair_texts(difference: Difference) -> tuple[str, str, str]:
    """Return what of its package two specs differ in, and both values, all clean and short."""
    label, (a, b) = value_texts(difference)
    if difference.attribute == "provider":
        label = clean(f"{difference.package}:")
    name, is_word, _ = a.partition("=")
    # Of two words only the first names the variant.
    b = b.removeprefix(f"{name}=") if is_word else b
    label, a, b = (shorten(text, _MAX_VALUE_WIDTH) for text in (label, a, b))
    return label, a, b


def value_texts(
    difference: Difference, *, are_named: bool = True, between: str = " "
) -> tuple[str, list[str]]:
    """Return what of its package specs differ in, and the value of each, all clean.

    The label is empty where the values say what they are, as of a variant if they `are_named`:
    `api=v18`. Of several values of a variant only a few that not all have are spelled: `+rxm`.
    """
    attribute = difference.attribute
    kind, _, name = attribute.partition(":")
    label, varying = _LABELS.get(kind, kind), list[str]()
    if kind == "variant":
        # A cell of several specs has lists as one text.
        known = [_values_in(cell) for cell in difference.values if cell and cell != UNKNOWN]
        if any(len(values) > 1 for values in known):
            varying = sorted(set[str]().union(*known) - known[0].intersection(*known))
        varying *= len(varying) <= _MAX_VARYING_VALUES
        label = "" if are_named and not varying else name

    def text(cell: Cell) -> str:
        if not cell or cell == UNKNOWN:
            return cell[0] if cell else WITHOUT
        if varying:
            return spell_signs(varying, _values_in(cell))
        if kind == "variant":
            return spell_value(attribute, cell) if are_named else ",".join(cell)
        # One spec may have a package in several versions.
        joined = "," if kind == "version" else between
        return joined.join(spell_value(attribute, [value]) for value in cell)

    return clean(label), [clean(text(cell)) for cell in difference.values]


def _values_in(cell: Sequence[str]) -> set[str]:
    return set(",".join(cell).split(","))


RUN_DEPENDENCIES, BUILD_DEPENDENCIES = "run-time dependencies", "build dependencies"
"""The heads of differences at run time, and of differences only in building."""


def differences_from_nearest(spec: CoveredSpec) -> list[str]:
    """Return the differences of a missing spec from the nearest build, the most telling first."""
    if spec.differences is not None:
        texts = [line.text for line in difference_lines(spec.differences)]
    else:
        # Only the text of a version needs the name of the package.
        packages = (spec.package,)
        named = (
            each._replace(packages=packages * (each.attribute == "version"))
            for each in spec.nearest.differences
        )
        texts = list(map(pair_text, named))
    return texts or ["only dependencies differ"]


def difference_values(
    hash_: str, id_: int, differences: Sequence[Difference], *, is_known: bool, runs_the_same: bool
) -> Iterator[DetailLine]:
    """Yield the differences between a spec and another with the hash `hash_` and id `id_`.

    It `is_known` whether dependencies differ if the sources of both list them.
    """
    short = clean(hash_)[:SHORT_HASH]
    yield DetailLine(short, NEXT_TO, style="link", id=id_, hints=COMPARE_HINTS)
    lines = difference_lines(differences)
    running = [line for line in lines if line.runs]
    building = [line for line in lines if not line.runs]
    values = [*_values(running, _MAX_IN_DETAIL)]
    if runs_the_same:
        values.append(DetailLine("runs the same"))
    lead = f" · {BUILD_DEPENDENCIES}: " if values else f" {BUILD_DEPENDENCIES}: "
    values += _values(building, 1 if running else _MAX_IN_DETAIL, lead)
    if not is_known:
        values.append(DetailLine(NOT_LISTED, style="dim"))
    yield from values or [DetailLine(NOTHING_DIFFERS, style="dim")]


def _values(lines: Sequence[DifferenceLine], most: int, lead: str = "") -> Iterator[DetailLine]:
    """Yield the first differences in short, and the number of others."""
    for number, line in enumerate(lines[:most]):
        yield DetailLine(
            line.values,
            style="differs" if line.runs else "same",
            lead="" if number else lead,
        )
        if where := line.where.removeprefix("through "):
            yield DetailLine(f"({where})", style="dim", lead=" ")
    if more := len(lines[most:]):
        yield DetailLine(f"and {more:,} more", style="dim", lead=" ")


def differing_below(
    graph: Dag, id_: int, other: int, differences: Iterable[Difference]
) -> dict[int, str]:
    """Return the specs below one spec that are not below `other`, each with its counterpart there.

    The text is "" for a spec that differs only in its dependencies.
    """
    by_package = defaultdict[str, list[Difference]](list)
    for difference in differences:
        for package in difference.packages:
            by_package[package].append(difference)
    theirs = set(map(graph.identity, graph.reached([other])))
    below = (each for each in graph.reached([id_]) - {id_} if graph.identity(each) not in theirs)
    return {each: _in_place_of(by_package.get(graph.name(each), ())) for each in below}


def _in_place_of(differences: Iterable[Difference]) -> str:
    """Return the differing values of the second spec; "" if only dependencies differ."""
    values = {difference.attribute: difference.values[1] for difference in differences}
    if "present" in values:
        return "missing there"
    if version := values.get("version"):
        return ", ".join(version)
    changed = (
        spell_value(n, cell) for n, cell in values.items() if n.startswith("variant:") and cell
    )
    return " ".join(islice(changed, _MAX_CHANGED)) or ("differs" if values else "")

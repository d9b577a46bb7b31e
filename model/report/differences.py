"""Write the differences between two specs as short lines for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from spackscope.model.analysis.compare import Cause, Comparison, Difference, fold_differences
from spackscope.model.analysis.dag import AttributeValue, texts
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import is_run, spell_signs, spell_variant
from spackscope.model.core.text import clean, counted, cut_list, shorten
from spackscope.model.report.detail import COMPARE_HINTS, DIFFERS, NEXT_TO, DetailLine
from spackscope.model.report.report import path_text

if TYPE_CHECKING:
    from spackscope.model.analysis.cover import Missing

NOTHING_DIFFERS = "no known difference"
NOT_LISTED = "Dependencies are not listed, so not compared"
WITHOUT = "without"
"""Stands for the value that a spec does not have: of a variant, a flag, a dependency."""
_MAX_VALUE_WIDTH = 60
_MAX_IN_DETAIL = 2
"""Differences that the detail of a spec names."""
_MAX_NAMED = 2
"""Packages of a line that are named instead of counted."""
_LABELS = {
    "version": "",
    "package_hash": "recipe",
    "external_module": "module",
    "external_extra": "external attributes",
    "spec_format": "spec format",
    "provided_virtuals": "provides",
}
_OF_EDGES = {"deptypes": "used to", "virtuals": "as"}


def attribute_label(attribute: str) -> str:
    """Return the name of an attribute in a word or two; a variant has its own."""
    kind, _, name = attribute.partition(":")
    return name or _LABELS.get(kind) or kind


class DifferenceLine(Frozen):
    """One line on a difference: its subject, two values, and place.

    `subject` is a package, an attribute, or both; `where` is the path to the package, or the
    number of packages. `packages` are the names of the nodes with this difference. The line `runs`
    if one of these is linked or run; else they are used for building only.
    """

    subject: str
    a: str
    b: str
    where: str = ""
    runs: bool = True
    packages: Sequence[str] = ()

    @property
    def values(self) -> str:
        """The line without its place: `libiconv 1.17 ≠ 1.18`."""
        return " ".join(part for part in (self.subject, self.a, DIFFERS, self.b) if part)

    @property
    def text(self) -> str:
        """The line as a sentence: `libiconv 1.17 ≠ 1.18, through mpich › libiconv`."""
        between = " " if self.where.startswith("at ") else ", "
        return self.values + (between + self.where if self.where else "")


def difference_lines(comparison: Comparison) -> list[DifferenceLine]:
    """Return the differences between two specs, the most telling line first.

    Equal differences at many nodes are one line, and consequences of others are left out. Lines on
    run-time dependencies come before lines on build dependencies.
    """
    lines = []
    for difference, causes in fold_differences(comparison.causes):
        # Few people read the JSON of an external whose prefix differs, too.
        if difference.attribute == "external_extra" and all(
            any(item.attribute == "external" for item in cause.differences) for cause in causes
        ):
            continue
        packages = list(dict.fromkeys(clean(cause.package) for cause in causes))
        path, where = shown_path(causes[0]), f"at {', '.join(packages)}"
        if len(causes) == 1 and len(path) > 1:
            where = f"through {path_text(path)}"
        elif len(causes) == 1 and (difference.package or not path):
            where = ""
        elif len(causes) > 1 and difference.package:
            where = f"{len(causes):,} builds of it"
        elif len(packages) > _MAX_NAMED:
            where = f"at {counted(len(packages), 'package')}"
        # The version of a compiler counts: the specs that it compiled depend on it.
        counts = difference.attribute == "version"
        runs = _may_run(difference) and any(c.run or (c.compiles and counts) for c in causes)
        parts = _parts(difference, difference.package)
        lines.append(DifferenceLine(*parts, where, runs, packages))
    return sorted(lines, key=lambda line: not line.runs)


def _may_run(difference: Difference) -> bool:
    """Check whether a difference may matter at run time: build dependencies do not."""
    if difference.attribute == "dependency":
        return is_run(difference.deptypes)
    if difference.attribute != "deptypes":
        return True
    both = (value for value in (difference.a, difference.b) if isinstance(value, tuple))
    a, b = ([deptype for deptype in deptypes if is_run([deptype])] for deptypes in both)
    return a != b


def difference_line(difference: Difference, package: str = "") -> DifferenceLine:
    """Return one difference of a package, or of any package, without its place."""
    return DifferenceLine(*_parts(difference, package))


def changes_text(changes: Iterable[Difference], between: str = "≠") -> str:
    """Name changes: `zlib-ng 2.2.4 ≠ 2.3.2`, grouped by package."""
    by_package: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        line = difference_line(change)
        parts = (line.subject, line.a, between, line.b)
        by_package[change.package].append(" ".join(part for part in parts if part))
    return " · ".join(
        f"{clean(package)} {', '.join(texts)}".lstrip() for package, texts in by_package.items()
    )


def shown_path(cause: Cause) -> tuple[str, ...]:
    """Return the path over run-time dependencies if it exists, else over any dependencies."""
    return cause.run_path or cause.path


def unexplained_text(comparison: Comparison) -> str:
    """Return a sentence on differences that the sources do not list, or ""."""
    if not comparison.lists_dependencies:
        return NOT_LISTED
    if not comparison.unexplained:
        return "There are too many dependencies to compare all" if comparison.is_cut else ""
    names = map(clean, cut_list(comparison.unexplained, _MAX_NAMED))
    return f"The sources do not list why {', '.join(names)} differ"


def _parts(difference: Difference, package: str) -> tuple[str, str, str]:
    """Return the subject of a difference and its values, all of them clean and short."""
    kind, _, name = difference.attribute.partition(":")
    label, values = _LABELS.get(kind, kind), (difference.a, difference.b)
    digits = SHORT_HASH if kind in ("package_hash", "patches") else None
    between = "," if kind in _OF_EDGES else " "
    spelled = [between.join(text[:digits] for text in texts(v)) or WITHOUT for v in values]
    if kind == "variant":
        label, *spelled = _variant_texts(name, *values)
    elif kind == "dependency":
        label, spelled = "", [text if text == WITHOUT else f"with {text}" for text in spelled]
    elif kind == "provider":
        label = f"{', '.join(difference.virtuals)}:"
    elif kind in _OF_EDGES:
        label = f"{difference.dependency} {_OF_EDGES[kind]}"
    subject = (shorten(clean(part), _MAX_VALUE_WIDTH) for part in (package, label))
    a, b = (shorten(clean(text), _MAX_VALUE_WIDTH) for text in spelled)
    return " ".join(filter(None, subject)), a, b


def _variant_texts(name: str, a: AttributeValue, b: AttributeValue) -> tuple[str, str, str]:
    """Return the subject of a difference between the values of a variant, and the values."""
    if isinstance(a, tuple) and isinstance(b, tuple) and (shared := {*a} & {*b}):
        of_a, of_b = (
            spell_signs((value for value in (*its, *others) if value not in shared), its)
            for its, others in ((a, b), (b, a))
        )
        return name, of_a, of_b

    def text(value: AttributeValue) -> str:
        return WITHOUT if value is None else spell_variant(name, texts(value))

    # If both values are words, only the first names the variant.
    is_named_once = not (isinstance(a, bool) or isinstance(b, bool) or None in (a, b))
    return "", text(a), ",".join(texts(b)) if is_named_once else text(b)


RUN_DEPENDENCIES, BUILD_DEPENDENCIES = "run-time dependencies", "build dependencies"
"""The heads of differences at run time, and of differences only in building."""


def differences_from_nearest(spec: Missing) -> list[str]:
    """Return the differences of a missing spec from the nearest build, the most telling first."""
    if spec.comparison is not None:
        lines = difference_lines(spec.comparison)
    else:
        best = spec.nearest.best
        # Only the text of a version needs the name of the package.
        named = (
            (each, spec.package if each.attribute == "version" else "")
            for each in (best.differences if best is not None else ())
        )
        lines = [difference_line(*each) for each in named]
    return [line.text for line in lines] or ["only dependencies differ"]


def difference_values(
    hash_: str, id_: int, comparison: Comparison, *, runs_the_same: bool
) -> Iterator[DetailLine]:
    """Yield the differences between a spec and a look-alike with the hash `hash_` and id `id_`."""
    short = clean(hash_)[:SHORT_HASH]
    yield DetailLine(short, NEXT_TO, style="link", id=id_, hints=COMPARE_HINTS)
    lines = difference_lines(comparison)
    running = [line for line in lines if line.runs]
    building = [line for line in lines if not line.runs]
    values = [*_values(running, _MAX_IN_DETAIL)]
    if runs_the_same:
        values.append(DetailLine("runs the same"))
    lead = f" · {BUILD_DEPENDENCIES}: " if values else f" {BUILD_DEPENDENCIES}: "
    values += _values(building, 1 if running else _MAX_IN_DETAIL, lead)
    if rest := unexplained_text(comparison):
        values.append(DetailLine(rest, style="dim"))
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

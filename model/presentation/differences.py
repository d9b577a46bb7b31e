"""Write the differences between two specs as short lines for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from spackscope.model.analysis.compare import (
    Cause,
    Comparison,
    Difference,
    FoldedDifference,
    Replaced,
    Value,
    fold_differences,
)
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import Spec
from spackscope.model.core.text import clean, counted, shorten
from spackscope.model.core.variants import spell_signs, spell_variant
from spackscope.model.presentation.detail import DIFFERS
from spackscope.model.presentation.export import exported

BETWEEN_NAMES = " › "
"""Between the names on a path from a spec to a dependency."""

NOT_LISTED = "Dependencies not listed: not compared"

_MISSING = "-"
_MAX_VALUE_WIDTH = 60
_MAX_NAMED = 2
"""Packages of a line that are named instead of counted."""
_MAX_PATH = 8
ATTRIBUTE_LABELS = {
    "version": "",
    "package_hash": "recipe",
    "external_module": "module",
    "external_extra": "external attributes",
    "spec_format": "spec format",
}


class DifferenceLine(Frozen):
    """One line: what differs, its two values, and where.

    `subject` is a package, an attribute, or both; `where` the path to the package, or at how
    many of them. `nodes` is the number of nodes that differ so, `packages` are their names. It
    `runs` if one of them is linked or run; the others are used for building only.
    """

    subject: str
    a: str
    b: str
    where: str = ""
    nodes: int = 1
    runs: bool = True
    packages: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The line as a sentence: `libiconv 1.17 ≠ 1.18, through mpich › libiconv`."""
        what = " ".join(part for part in (self.subject, self.a, DIFFERS, self.b) if part)
        if not self.where:
            return what
        return f"{what}{'' if self.where.startswith('at ') else ','} {self.where}"


def splice_lines(specs: Iterable[Spec], replaced: Sequence[Replaced]) -> list[str]:
    """Return which of two specs is spliced, from what, and what it has in place of what."""
    a, b = specs
    first, second = (spec.hash[:SHORT_HASH] for spec in (a, b))
    if a.build_spec and a.build_spec == b.build_spec:
        built = a.build_spec[:SHORT_HASH]
        lines = [f"{first} and {second} are both {built}, spliced with other dependencies"]
    elif b.hash == a.build_spec:
        lines = [f"{first} is {second}, spliced with other dependencies"]
    elif a.hash == b.build_spec:
        lines = [f"{second} is {first}, spliced with other dependencies"]
    else:
        lines = [
            f"{spec.hash[:SHORT_HASH]} is spliced: it was built as {spec.build_spec[:SHORT_HASH]}"
            for spec in (a, b)
            if spec.is_spliced
        ]
    return lines + [
        f"  {clean(each.package)} {each.a[:SHORT_HASH]} {DIFFERS} {each.b[:SHORT_HASH]}"
        for each in replaced
    ]


def difference_lines(comparison: Comparison) -> list[DifferenceLine]:
    """Return what makes two specs different, the most telling line first.

    Equal differences at many nodes are one line, and what follows from others is left out. Lines
    about what is linked or run come before those about what is used for building only.
    """
    lines = []
    for folded in fold_differences(comparison.causes):
        if not _follows_prefix(folded):
            lines.append(_folded_line(folded))
    return sorted(lines, key=lambda line: not line.runs)


def difference_line(difference: Difference, package: str = "") -> DifferenceLine:
    """Return one difference of a package, or of any, without where it is."""
    return DifferenceLine(*_parts(difference, package))


def cause_lines(cause: Cause) -> list[DifferenceLine]:
    """Return all differences of a cause, those last that normally come with another one."""
    lines = []
    for difference in sorted(cause.differences, key=lambda item: bool(item.follows)):
        subject, a, b = _parts(difference, "")
        with_ = f"comes with {_attribute_text(difference.follows)}" if difference.follows else ""
        lines.append(DifferenceLine(subject, a, b, with_, 1, cause.run, (clean(cause.package),)))
    return lines


def shown_path(cause: Cause) -> tuple[str, ...]:
    """Return the path over what is linked or run, if there is one: else it would mislead."""
    return cause.run_path or cause.path


def path_text(path: Sequence[str]) -> str:
    """Return the names on a path; the middle of a long one is left out."""
    names = list(map(clean, path))
    if len(names) > _MAX_PATH:
        names[_MAX_PATH // 2 : -_MAX_PATH // 2] = ["…"]
    return BETWEEN_NAMES.join(names)


def build_only_count(lines: Sequence[DifferenceLine]) -> int:
    """Return the number of packages that are used for building only and differ."""
    return len({name for line in lines if not line.runs for name in line.packages})


def build_only_text(lines: Sequence[DifferenceLine]) -> str:
    """Return how many packages differ that are used for building only, "" if none do."""
    count = build_only_count(lines)
    verb = "differs" if count == 1 else "differ"
    return f"to build only: {counted(count, 'package')} {verb}" if count else ""


def unexplained_text(comparison: Comparison) -> str:
    """Return what the sources do not list about a difference, or ""."""
    if not comparison.lists_dependencies:
        return NOT_LISTED
    if not comparison.unexplained:
        return "Not all is compared: there are too many dependencies" if comparison.is_cut else ""
    names = ", ".join(map(clean, comparison.unexplained[:_MAX_NAMED]))
    more = len(comparison.unexplained) - _MAX_NAMED
    others = f" and {more:,} more" if more > 0 else ""
    return f"Not listed here: what differs in {names}{others}"


def _folded_line(folded: FoldedDifference) -> DifferenceLine:
    subject, a, b = _parts(folded.difference, folded.package)
    packages = tuple(map(clean, folded.packages))
    where = _where(folded, packages)
    return DifferenceLine(subject, a, b, where, len(folded.causes), folded.run, packages)


def _where(folded: FoldedDifference, packages: Sequence[str]) -> str:
    path = shown_path(folded.causes[0])
    if len(folded.causes) == 1:
        if len(path) > 1:
            return f"through {path_text(path)}"
        return "" if folded.package or not path else f"at {packages[0]}"
    if folded.package:
        return f"{len(folded.causes):,} builds of it"
    if len(packages) <= _MAX_NAMED:
        return f"at {', '.join(packages)}"
    return f"at {counted(len(packages), 'package')}"


def _follows_prefix(folded: FoldedDifference) -> bool:
    """Check for attributes of an external whose prefix differs: few people read that JSON."""
    return folded.difference.attribute == "external_extra" and all(
        any(item.attribute == "external" for item in cause.differences) for cause in folded.causes
    )


def _parts(difference: Difference, package: str) -> tuple[str, str, str]:
    """Return the subject of a difference and its values."""
    kind, _, name = difference.attribute.partition(":")
    named = (clean(package), *_VALUES.get(kind, _other_values)(difference, name or kind))
    *subject, a, b = (shorten(part, _MAX_VALUE_WIDTH) for part in named)
    return " ".join(part for part in subject if part), a, b


_Parts = tuple[str, str, str]


def _variant_values(difference: Difference, name: str) -> _Parts:
    a, b = difference.a, difference.b
    if isinstance(a, tuple) and isinstance(b, tuple) and (shared := set(a) & set(b)):
        return clean(name), _without(a, shared, b), _without(b, shared, a)
    is_keyed = not (isinstance(a, bool) or isinstance(b, bool) or None in (a, b))
    if is_keyed:
        return "", f"{clean(name)}={_value_text(a)}", _value_text(b)
    return "", _variant_text(name, a), _variant_text(name, b)


def _without(values: tuple[str, ...], shared: set[str], others: tuple[str, ...]) -> str:
    """Return which of several values are not shared, and which are missing."""
    return clean(spell_signs((v for v in (*values, *others) if v not in shared), values))


def _variant_text(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return clean(spell_variant(name, "+" if value else "~"))
    return _MISSING if value is None else f"{clean(name)}={_value_text(value)}"


def _provider_values(difference: Difference, _: str) -> _Parts:
    virtuals = ", ".join(difference.virtuals)
    return clean(f"{virtuals}:"), _value_text(difference.a), _value_text(difference.b)


def _dependency_values(difference: Difference, _: str) -> _Parts:
    label = _value_text(difference.b if difference.a is None else difference.a)
    return (
        ("", "without", f"with {label}")
        if difference.a is None
        else ("", f"with {label}", "without")
    )


def _edge_values(difference: Difference, kind: str) -> _Parts:
    how = "used to" if kind == "deptypes" else "as"
    subject = clean(f"{difference.dependency} {how}")
    return subject, _value_text(difference.a), _value_text(difference.b)


def _digest_values(difference: Difference, kind: str) -> _Parts:
    def text(value: Value) -> str:
        digests = (value,) if isinstance(value, str) else value or ()
        assert isinstance(digests, tuple)
        return clean(" ".join(digest[:SHORT_HASH] for digest in digests)) or _MISSING

    return ATTRIBUTE_LABELS.get(kind, kind), text(difference.a), text(difference.b)


def _other_values(difference: Difference, kind: str) -> _Parts:
    label = ATTRIBUTE_LABELS.get(kind, kind)
    return clean(label), _value_text(difference.a, " "), _value_text(difference.b, " ")


_VALUES: dict[str, Callable[[Difference, str], _Parts]] = {
    "variant": _variant_values,
    "provider": _provider_values,
    "dependency": _dependency_values,
    "deptypes": _edge_values,
    "virtuals": _edge_values,
    "package_hash": _digest_values,
    "patches": _digest_values,
}


def _value_text(value: Value, between: str = ",") -> str:
    if value is None or value == () or value == "":
        return _MISSING
    return clean(between.join(value) if isinstance(value, tuple) else str(value))


def _attribute_text(attribute: str) -> str:
    kind, _, name = attribute.partition(":")
    return clean(name or ATTRIBUTE_LABELS.get(kind) or kind)


class Kinds(NamedTuple):
    """The hashes of each run-time kind, and those whose kind is unknown.

    `all_same` is whether all run the same; None if unknown.
    """

    known: Sequence[Sequence[str]]
    unknown: Sequence[str]
    all_same: bool | None


def comparison_json(
    specs: Sequence[Spec], kinds: Kinds, comparison: Comparison | None, hashes: Mapping[int, str]
) -> str:
    """Return a comparison as a JSON object on one line.

    The comparison is that of two specs, and `hashes` has those of the nodes in its causes.
    """
    document: dict[str, Any] = {
        "specs": [exported(spec) for spec in specs],
        "kinds": kinds.known,
        "unknown": kinds.unknown,
        "same_at_run_time": kinds.all_same,
    }
    if comparison is not None:
        document |= {
            "pairs": comparison.pairs,
            "replaced": [each._asdict() for each in comparison.replaced],
            "causes": [cause_json(cause, hashes) for cause in comparison.causes],
            "untold": comparison.unexplained,
            "lists_dependencies": comparison.lists_dependencies,
            "complete": not (comparison.is_cut or comparison.unexplained)
            and comparison.lists_dependencies,
        }
    return json.dumps(document)


def cause_json(cause: Cause, hashes: Mapping[int, str]) -> dict[str, Any]:
    """Return a cause as an object; `hashes` has those of its two nodes."""
    return {
        "package": cause.package,
        "path": cause.path,
        "a": hashes[cause.a],
        "b": hashes[cause.b],
        "run": cause.run,
        "deepest": cause.deepest,
        "above": cause.above,
        "follows": cause.follows or None,
        "differences": list(map(difference_json, cause.differences)),
    }


def difference_json(difference: Difference) -> dict[str, Any]:
    """Return a difference as an object: the details of a dependency only where there is one."""
    more = {
        "dependency": difference.dependency,
        "virtuals": difference.virtuals,
        "deptypes": difference.deptypes,
    }
    return {
        "attribute": difference.attribute,
        "a": difference.a,
        "b": difference.b,
        "follows": difference.follows or None,
        **{key: value for key, value in more.items() if value},
    }

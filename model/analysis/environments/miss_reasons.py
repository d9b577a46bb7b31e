"""Group missing specs by how they differ from the nearest candidate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from spackscope.model.analysis.differences.differences import Cause, Difference
from spackscope.model.analysis.differences.folded_differences import fold_differences
from spackscope.model.analysis.environments.coverage import Missing
from spackscope.model.core.records import LANGUAGES, is_compiler

_SHARED = ("compiler", "os", "platform", "target")
"""Attributes whose values many packages have in common."""

_OF_EDGES = ("dependency", "deptypes", "provider", "virtuals")


class Reason(NamedTuple):
    """Why a spec is missing.

    `attributes` are kinds of attributes in which the nearest candidate differs itself; they are
    the `only` ones if nothing else differs below, which is None if that is not known. If it does
    not differ itself, the `package` of a dependency `below` is another. There may be no build of
    the `package`, or nothing known of the spec, or of its dependencies.
    """

    kind: Literal["attributes", "below", "package", "unknown", "unexplained"]
    attributes: tuple[str, ...] = ()
    only: bool | None = None
    package: str = ""


class ReasonGroup(NamedTuple):
    """The missing specs with one reason, in build order, and the difference that all of them have.

    There is none where values are of single packages, such as versions.
    """

    reason: Reason
    missing: tuple[Missing, ...]
    difference: Difference | None


def group_reasons(missing: Iterable[Missing]) -> list[ReasonGroup]:
    """Return the reasons why specs are missing, the most frequent first."""
    groups: dict[Reason, list[Missing]] = {}
    differences: dict[Reason, set[Difference | None]] = {}
    for spec in missing:
        reason, difference = reason_of(spec)
        groups.setdefault(reason, []).append(spec)
        differences.setdefault(reason, set()).add(difference)
    return [
        ReasonGroup(
            reason,
            tuple(specs),
            next(iter(differences[reason])) if len(differences[reason]) == 1 else None,
        )
        for reason, specs in sorted(groups.items(), key=lambda item: -len(item[1]))
    ]


def reason_of(missing: Missing) -> tuple[Reason, Difference | None]:
    """Return why a spec is missing, with a difference that other specs may share."""
    if not missing.package:
        return Reason("unknown"), None
    if not missing.nearest.total:
        return Reason("package"), None
    if not missing.nearest.candidates:
        return Reason("unknown"), None
    causes = missing.comparison.causes if missing.comparison is not None else ()
    differences = list(missing.nearest.candidates[0].differences)
    if causes and not causes[0].path:
        differences += (d for d in causes[0].differences if not d.follows)
    kinds = tuple(sorted({_kind(difference) for difference in differences}))
    if kinds:
        shared = differences[0] if len(kinds) == 1 and kinds[0] in _SHARED else None
        only = _are_all(causes, kinds) if missing.comparison is not None else None
        return Reason("attributes", kinds, only), shared
    folded = fold_differences(causes)
    if not folded:
        return Reason("unexplained"), None
    first = folded[0]
    return Reason("below", package=first.package or first.packages[0]), first.difference


def _kind(difference: Difference) -> str:
    """Return the kind of an attribute, so that one variant is as good as another."""
    name = difference.attribute
    if name == "provider" and not set(LANGUAGES).isdisjoint(difference.virtuals):
        return "compiler"
    if name in _OF_EDGES:
        return "dependencies"
    if name.endswith("flags") or name == "ldlibs":
        return "flags"
    return "variants" if name.startswith("variant:") else name


def _are_all(causes: Iterable[Cause], kinds: Iterable[str]) -> bool:
    """Check whether nothing differs but attributes of some kinds."""
    for cause in causes:
        own = {"compiler"} if is_compiler(cause.package) else set()
        for difference in cause.differences:
            is_folded = difference.follows or cause.follows
            if not is_folded and {_kind(difference), *own}.isdisjoint(kinds):
                return False
    return True

"""Write a comparison of specs as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from spackscope.model.analysis.differences.differences import Cause, Comparison, Difference
from spackscope.model.core.records import Spec
from spackscope.model.presentation.export import exported


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

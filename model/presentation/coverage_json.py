"""Write what caches have of an environment as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from spackscope.model.analysis.cover import Coverage, Missing, ReasonGroup, group_reasons
from spackscope.model.presentation.coverage import reason_text
from spackscope.model.presentation.differences import cause_json, difference_json


def coverage_json(coverage: Coverage) -> str:
    """Return a coverage as a JSON object on one line; lists of hashes are in build order."""
    groups = group_reasons(coverage.missing)
    reasons = {spec.hash: reason_text(group) for group in groups for spec in group.missing}
    hashes = _node_hashes(coverage.missing, coverage)
    return json.dumps(
        {
            "total": coverage.total,
            "hits": [hit.hash for hit in coverage.hits],
            "sources": {hit.hash: hit.location.sources for hit in coverage.hits},
            "installed": [hit.hash for hit in coverage.hits if hit.location.is_installed],
            "missing": [
                _missing_object(spec, reasons[spec.hash], hashes) for spec in coverage.missing
            ],
            "reasons": list(map(_reason_object, groups)),
            "externals": [external.hash for external in coverage.externals],
            "needs": coverage.needs,
            "fetch": coverage.plan.fetch,
            "build": coverage.plan.build,
            "lists_dependencies": not coverage.unlisted,
        }
    )


def _node_hashes(missing: Sequence[Missing], coverage: Coverage) -> dict[int, str]:
    ids: dict[int, None] = {}
    for spec in missing:
        ids.update(dict.fromkeys(candidate.id for candidate in spec.nearest.candidates))
        for cause in spec.comparison.causes if spec.comparison is not None else ():
            ids[cause.a] = ids[cause.b] = None
    return dict(zip(ids, coverage.environment.graph.hashes(ids), strict=True))


def _missing_object(spec: Missing, reason: str, hashes: dict[int, str]) -> dict[str, Any]:
    comparison = spec.comparison
    return {
        "hash": spec.hash,
        "package": spec.package,
        "version": spec.version,
        "root": spec.role == "root",
        "build_only": spec.role == "build",
        "needed": spec.is_needed,
        "recorded": spec.is_recorded,
        "holds_up": spec.holds_up,
        "candidates": spec.nearest.total,
        "tied": spec.nearest.tied,
        "nearest": [
            {
                "hash": hashes[candidate.id],
                "attributes": candidate.attributes,
                "differences": list(map(difference_json, candidate.differences)),
                "causes": candidate.causes,
            }
            for candidate in spec.nearest.candidates
        ],
        "causes": (
            None
            if comparison is None
            else [cause_json(cause, hashes) for cause in comparison.causes]
        ),
        "reason": reason,
    }


def _reason_object(group: ReasonGroup) -> dict[str, Any]:
    return {"reason": reason_text(group), "count": len(group.missing)}

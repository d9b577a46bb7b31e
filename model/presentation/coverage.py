"""Describe what caches have of an environment, as text, as hashes and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from spackscope.model.analysis.compare import Difference
from spackscope.model.analysis.cover import Coverage, Missing, ReasonGroup, group_reasons
from spackscope.model.analysis.dag import Attributes
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import cell_width, clean, counted, pad, shorten
from spackscope.model.presentation.differences import (
    ATTRIBUTE_LABELS,
    cause_json,
    difference_json,
    difference_line,
    difference_lines,
)
from spackscope.model.presentation.fit import LEFT_OUT

WHY = "why, by the nearest that is there"
MISSING = "missing, in build order"
PRESENT = "there, or external"

_GAP = "  "
_BETWEEN = " · "
_MAX_NAME_WIDTH = 60
_MAX_LINES = 2
"""Differences of a missing spec that are written out."""


def summary(coverage: Coverage) -> str:
    """Return one line: `318 of 342 cached · 24 missing · … · to fetch 300, to build 24`."""
    cached = sum(hit.location.is_cached for hit in coverage.hits)
    installed = len(coverage.hits) - cached
    total = f"{coverage.total:,}"
    parts = [f"{cached:,} of {total} cached"] if cached or not installed else []
    if installed:
        parts.append(
            f"{installed:,} installed" if parts else f"{installed:,} of {total} installed"
        )
    if coverage.missing:
        parts.append(f"{len(coverage.missing):,} missing")
    holding = sum(spec.holds_up and spec.is_needed for spec in coverage.missing)
    if holding:
        parts.append(f"{holding:,} of them {'hold' if holding > 1 else 'holds'} up the rest")
    at_hand = {hit.hash for hit in coverage.hits if hit.location.is_installed}
    to_fetch = sum(hash_ not in at_hand for hash_ in coverage.plan.fetch)
    parts.append(f"to fetch {to_fetch:,}, to build {len(coverage.plan.build):,}")
    if coverage.externals:
        parts.append(f"{len(coverage.externals):,} external")
    return _BETWEEN.join(parts)


class MissingLine(NamedTuple):
    """A missing spec in clean texts: its role, and how it differs from the nearest that is there.

    `nearest` is the hash of that, or empty.
    """

    hash: str
    name: str
    role: str
    reason: str
    nearest: str
    differs: str


class PresentLine(NamedTuple):
    """A spec that need not be built, in clean texts: where it is."""

    hash: str
    name: str
    where: str


class CoverageReport(Frozen):
    """A coverage in clean texts: the summary, notes on it, reasons, what is missing and present.

    `reasons` say how many specs are missing for which reason; there are none until the nearest
    candidates are known.
    """

    summary: str
    notes: tuple[str, ...]
    reasons: tuple[tuple[str, str], ...]
    missing: tuple[MissingLine, ...]
    present: tuple[PresentLine, ...]


def read_report(coverage: Coverage, *, knows_nearest: bool = True) -> CoverageReport:
    """Describe a coverage; this reads hashes from the index."""
    total = f"{len(coverage.missing):,}"
    groups = group_reasons(coverage.missing) if knows_nearest else []
    reasons = {spec.hash: reason_text(group) for group in groups for spec in group.missing}
    best = [s.nearest.candidates[0].id for s in coverage.missing if s.nearest.candidates]
    hashes = dict(zip(best, coverage.environment.graph.hashes(best), strict=True))
    return CoverageReport(
        summary(coverage),
        tuple(_notes(coverage)),
        tuple(
            (f"{len(group.missing):>{len(total)},} of {total}", reason_text(group))
            for group in groups
        ),
        tuple(
            _missing_line(spec, reasons.get(spec.hash, ""), hashes) for spec in coverage.missing
        ),
        tuple(_present_lines(coverage)),
    )


def report_lines(report: CoverageReport, *, shows_present: bool = False) -> Iterator[str]:
    """Yield the summary, why specs are missing, each missing one, and what is present."""
    yield report.summary
    yield from (f"  {note}" for note in report.notes)
    if report.missing:
        yield ""
        yield WHY
        yield from (f"  {count}  {reason}" for count, reason in report.reasons)
        yield ""
        yield MISSING
        yield from missing_lines(report)
    if shows_present and report.present:
        yield ""
        yield PRESENT
        yield from present_lines(report)


def missing_lines(report: CoverageReport) -> Iterator[str]:
    """Yield what is missing in build order, each with its role, and with the nearest below it."""
    width = max((cell_width(spec.name) for spec in report.missing), default=0)
    for spec in report.missing:
        about = ", ".join(filter(None, (spec.role, spec.differs if not spec.nearest else "")))
        yield f"  {spec.hash[:SHORT_HASH]}{_GAP}{pad(spec.name, width)}{_GAP}{about}".rstrip()
        if spec.nearest:
            yield f"  {' ' * SHORT_HASH}{_GAP}{spec.differs}"


def present_lines(report: CoverageReport) -> Iterator[str]:
    """Yield what need not be built in build order, each with where it is."""
    width = max((cell_width(spec.name) for spec in report.present), default=0)
    for spec in report.present:
        yield f"  {spec.hash[:SHORT_HASH]}{_GAP}{pad(spec.name, width)}{_GAP}{spec.where}"


def _present_lines(coverage: Coverage) -> Iterator[PresentLine]:
    graph = coverage.environment.graph
    for hit in coverage.hits:
        state = "cached" if hit.location.is_cached else "installed"
        where = f"{state} in {', '.join(hit.location.sources)}"
        yield PresentLine(hit.hash, _name(graph.attributes(hit.id)), clean(where))
    for external in coverage.externals:
        attributes = graph.attributes(external.id)
        where = f"external at {attributes.external}"
        yield PresentLine(external.hash, _name(attributes), clean(where))


def _name(spec: Attributes | Missing) -> str:
    version = f"@{spec.version}" if spec.version else ""
    return shorten(clean(f"{spec.package}{version}"), _MAX_NAME_WIDTH) or "(not described)"


def _missing_line(spec: Missing, reason: str, hashes: Mapping[int, str]) -> MissingLine:
    nearest = differs = ""
    if spec.nearest.candidates:
        nearest = hashes[spec.nearest.candidates[0].id]
        tied = f", one of {spec.nearest.tied:,}" if spec.nearest.tied > 1 else ""
        texts = _BETWEEN.join(_difference_texts(spec))
        differs = f"nearest {nearest[:SHORT_HASH]}{tied}: {texts}"
    elif reason:
        differs = reason
    return MissingLine(spec.hash, _name(spec), _role(spec), reason, nearest, differs)


def _notes(coverage: Coverage) -> Iterator[str]:
    """Yield the sources with hits, notes on missing specs, and the settings not considered."""
    if len(locations := _source_counts(coverage)) > 1:
        yield from (f"{count:>7,}  in {clean(source)}" for source, count in locations)
    if recorded := sum(spec.is_recorded for spec in coverage.missing):
        yield f"{recorded:>7,}  missing, although an index lists them"
    if idle := sum(not spec.is_needed for spec in coverage.missing):
        yield f"{idle:>7,}  missing, but not needed: they only build what is there"
    if any(s.nearest.candidates and s.comparison is None for s in coverage.missing):
        yield "Dependencies are compared only where both sources list them alike"
    if coverage.unlisted:
        count = counted(coverage.unlisted, "spec")
        yield f"What else {count} of it may need is not told: no source lists it"
    if coverage.is_cut:
        yield "Not all is compared: there are too many dependencies"
    if coverage.total:
        yield LEFT_OUT


def _source_counts(coverage: Coverage) -> list[tuple[str, int]]:
    """Return the sources that hits are in, each with their number, the most first."""
    sources = (source for hit in coverage.hits for source in hit.location.sources)
    return Counter(sources).most_common()


def reason_text(group: ReasonGroup) -> str:
    """Return why specs are missing: `os only: rhel8 ≠ ubuntu22.04`."""
    reason, difference = group.reason, group.difference
    if reason.kind == "package":
        return "no build of the package"
    if reason.kind == "unknown":
        return "nothing else is known of it"
    if reason.kind == "unexplained":
        return "only dependencies, which are not compared"
    if reason.kind == "below":
        if difference is None:
            return f"below: {clean(reason.package)}"
        return f"below: {difference_line(difference, reason.package).text}"
    names = ", ".join(clean(ATTRIBUTE_LABELS.get(name) or name) for name in reason.attributes)
    if reason.only is not None:
        names += " only" if reason.only else " and more below"
    if difference is None:
        return names
    line = difference_line(difference)
    return f"{names}: {line.a} ≠ {line.b}"


def _role(spec: Missing) -> str:
    roles = {"root": "root", "run": "", "build": "build only"}
    notes = [roles[spec.role]]
    if not spec.is_needed:
        notes.append("not needed")
    elif spec.holds_up:
        notes.append("holds up others")
    return ", ".join(filter(None, notes))


def _difference_texts(spec: Missing) -> list[str]:
    """Return how a missing spec differs from the nearest, the most telling first."""
    if spec.comparison is not None:
        lines = difference_lines(spec.comparison)
    else:
        differences = spec.nearest.candidates[0].differences
        lines = [difference_line(each, _named(spec, each)) for each in differences]
    texts = [line.text for line in lines[:_MAX_LINES]]
    if len(lines) > _MAX_LINES:
        texts.append(f"{len(lines) - _MAX_LINES:,} more")
    return texts or ["only dependencies differ"]


def _named(spec: Missing, difference: Difference) -> str:
    """Return the package that a difference is to name, if its attribute does not do."""
    return spec.package if difference.attribute == "version" else ""


def hash_lines(coverage: Coverage, *, missing: bool) -> Iterator[str]:
    """Yield the full hashes of what is missing, or else of what is there, in build order."""
    return (spec.hash for spec in (coverage.missing if missing else coverage.hits))


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

"""Describe what caches have of an environment, as text, as hashes and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from spackscope.model.analysis.compare import Difference
from spackscope.model.analysis.cover import Coverage, Missing, Present, ReasonGroup, group_reasons
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.text import clean, counted, shorten
from spackscope.model.presentation.differences import (
    ATTRIBUTE_LABELS,
    cause_json,
    difference_json,
    difference_line,
    difference_lines,
)
from spackscope.model.presentation.fit import LEFT_OUT
from spackscope.model.presentation.report import Report, Row, Section

WHY = "why, by the nearest that is there"
MISSING = "missing, in build order"
PRESENT = "there, or external"

_BETWEEN = " · "
_MAX_NAME_WIDTH = 60
_MAX_LINES = 2
"""Differences of a missing spec that are written out."""


def coverage_report(coverage: Coverage, *, knows_nearest: bool = True) -> Report:
    """Report a coverage: notes on it, reasons, what is missing and present, in build order.

    A missing spec leads to the nearest that is there, and its row has the reason as its group.
    There are no reasons until the nearest candidates are known. Reads hashes from the index.
    """
    return Report(_summary(coverage), _sections(coverage, knows_nearest), lambda: _data(coverage))


def _summary(coverage: Coverage) -> str:
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
    to_fetch = sum(hash_ not in at_hand for hash_ in coverage.fetch)
    parts.append(f"to fetch {to_fetch:,}, to build {len(coverage.build):,}")
    if coverage.externals:
        parts.append(f"{len(coverage.externals):,} external")
    return _BETWEEN.join(parts)


def _sections(coverage: Coverage, knows_nearest: bool) -> Iterator[Section]:
    groups = group_reasons(coverage.missing) if knows_nearest else []
    if notes := [Row((note,)) for note in _notes(coverage)]:
        yield Section("", notes, is_apart=False)
    if groups:
        total = f"{len(coverage.missing):,}"
        counts = (f"{len(group.missing):>{len(total)},} of {total}" for group in groups)
        texts = map(reason_text, groups)
        rows = [Row(cells, group=cells[1]) for cells in zip(counts, texts, strict=True)]
        yield Section(WHY, rows)
    if coverage.missing:
        reasons = {spec.hash: reason_text(group) for group in groups for spec in group.missing}
        best = [s.nearest.candidates[0].id for s in coverage.missing if s.nearest.candidates]
        hashes = dict(zip(best, coverage.graph.hashes(best), strict=True))
        rows = [_missing_row(s, reasons.get(s.hash, ""), hashes) for s in coverage.missing]
        yield Section(MISSING, rows)
    if present := list(_present_rows(coverage)):
        yield Section(PRESENT, present)


def _present_rows(coverage: Coverage) -> Iterator[Row]:
    graph = coverage.graph

    def row(spec: Present, where: str) -> Row:
        name = _name(graph.name(spec.id), graph.version(spec.id))
        return Row((spec.hash[:SHORT_HASH], name, clean(where)), key=spec.hash, style="good")

    for hit in coverage.hits:
        state = "cached" if hit.location.is_cached else "installed"
        yield row(hit, f"{state} in {', '.join(hit.location.sources)}")
    for external in coverage.externals:
        yield row(external, f"external at {graph.external(external.id)}")


def _name(package: str, version: str) -> str:
    text = f"{package}@{version}" if version else package
    return shorten(clean(text), _MAX_NAME_WIDTH) or "(not described)"


def _missing_row(spec: Missing, reason: str, hashes: Mapping[int, str]) -> Row:
    nearest, note = "", reason
    if spec.nearest.candidates:
        nearest = hashes[spec.nearest.candidates[0].id]
        tied = f", one of {spec.nearest.tied:,}" if spec.nearest.tied > 1 else ""
        note = f"nearest {nearest[:SHORT_HASH]}{tied}: {_BETWEEN.join(_difference_texts(spec))}"
    cells = (spec.hash[:SHORT_HASH], _name(spec.package, spec.version), _role(spec))
    return Row(cells, note, spec.hash, leads_to=nearest, group=reason)


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
    role = {"root": "root", "run": "", "build": "build only"}[spec.role]
    note = "not needed" if not spec.is_needed else "holds up others" if spec.holds_up else ""
    return ", ".join(filter(None, (role, note)))


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


def _data(coverage: Coverage) -> dict[str, Any]:
    """Return a coverage for JSON; lists of hashes are in build order."""
    groups = group_reasons(coverage.missing)
    reasons = {spec.hash: reason_text(group) for group in groups for spec in group.missing}
    ids: dict[int, None] = {}
    for spec in coverage.missing:
        ids.update(dict.fromkeys(candidate.id for candidate in spec.nearest.candidates))
        for cause in spec.comparison.causes if spec.comparison is not None else ():
            ids[cause.a] = ids[cause.b] = None
    hashes = dict(zip(ids, coverage.graph.hashes(ids), strict=True))
    return {
        "total": coverage.total,
        "hits": [hit.hash for hit in coverage.hits],
        "sources": {hit.hash: hit.location.sources for hit in coverage.hits},
        "installed": [hit.hash for hit in coverage.hits if hit.location.is_installed],
        "missing": [_missing_data(s, reasons[s.hash], hashes) for s in coverage.missing],
        "reasons": [{"reason": reason_text(g), "count": len(g.missing)} for g in groups],
        "externals": [external.hash for external in coverage.externals],
        "needs": coverage.needs,
        "fetch": coverage.fetch,
        "build": coverage.build,
        "lists_dependencies": not coverage.unlisted,
    }


def _missing_data(spec: Missing, reason: str, hashes: dict[int, str]) -> dict[str, Any]:
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

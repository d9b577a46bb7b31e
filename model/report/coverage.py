"""Describe what caches have of an environment, as text, as hashes and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spackscope.model.analysis.build_time import BuildTime
from spackscope.model.analysis.compare import Difference, fold_differences
from spackscope.model.analysis.cover import Coverage, Missing, Present
from spackscope.model.analysis.dag import Dag
from spackscope.model.analysis.reuse import MIRROR
from spackscope.model.core.columns import SHORT_HASH, spec_name
from spackscope.model.core.frozen import asdict
from spackscope.model.core.records import LANGUAGES, is_compiler
from spackscope.model.core.text import clean, counted, cut_list, shorten
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.differences import (
    ATTRIBUTE_LABELS,
    cause_json,
    difference_json,
    difference_line,
    difference_lines,
)
from spackscope.model.report.report import Column, Report, Row, Section, of_total, path_text
from spackscope.model.sources.reuse_rules import ReuseRules
from spackscope.model.sources.spack_config import Selection

WHY = "why, by the nearest that is there"
MISSING = "missing, in build order"
PRESENT = "there, or external"

MISSING_COLUMNS = (
    Column(most=36, floors=(12,)),
    Column(most=80, keep="start", floors=(40, 20)),
    Column(keep="start", floors=(16,), may_go=True),
    Column(floors=(SHORT_HASH,), may_go=True, is_right=False),
)
"""Name, reason, role and hash on the screen, where the reason is cut last."""
PRESENT_COLUMNS = (MISSING_COLUMNS[0], Column(floors=(20,)), MISSING_COLUMNS[-1])

_BETWEEN = " · "
_MAX_NAME_WIDTH = 60
MAX_LACKING = 2
"""Differences of a missing spec from the nearest that are written out in its row."""

_SHARED = ("compiler", "os", "platform", "target")
"""Attributes whose values many packages have in common."""


def coverage_report(
    coverage: Coverage,
    *,
    knows_nearest: bool = True,
    remarks: Iterable[str] = (),
    build_time: BuildTime | None = None,
) -> Report:
    """Report a coverage: notes on it, reasons, what is missing and present, in build order.

    The notes begin with `remarks`. A missing spec leads to the nearest that is there, and its row
    has the reason as its group. There are no reasons until the nearest candidates are known. With
    a `build_time` the notes tell how long the missing took to build. Reads hashes from the index.
    """
    times = _times(build_time) if build_time is not None else ()
    sections = _sections(coverage, (*remarks, *_notes(coverage), *times), knows_nearest)

    def data() -> dict[str, Any]:
        times = {} if build_time is None else {"build_time": asdict(build_time)}
        return _data(coverage) | times

    return Report(_summary(coverage), sections, data)


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
    first = sum(spec.needed_by > 0 and spec.is_needed for spec in coverage.missing)
    if first:
        parts.append(f"{first:,} of them needed by the rest")
    at_hand = {hit.hash for hit in coverage.hits if hit.location.is_installed}
    to_fetch = sum(hash_ not in at_hand for hash_ in coverage.fetch)
    parts.append(f"to fetch {to_fetch:,}, to build {len(coverage.build):,}")
    if coverage.externals:
        parts.append(f"{len(coverage.externals):,} external")
    return _BETWEEN.join(parts)


def _sections(coverage: Coverage, notes: Sequence[str], knows_nearest: bool) -> Iterator[Section]:
    graph, missing = coverage.graph, coverage.missing
    reasons = reasons_of(missing) if knows_nearest else {}
    if notes:
        yield Section("", [Row((note,)) for note in notes])
    if reasons:
        rows = [
            Row((of_total(len(specs), len(missing)), text), group=text)
            for text, specs in reasons.items()
        ]
        yield Section(WHY, rows, is_apart=True)
    if missing:
        reason_of = {spec.hash: text for text, specs in reasons.items() for spec in specs}
        nearest = coverage.nearest_hashes()
        rows = [
            _missing_row(spec, reason_of.get(spec.hash, ""), nearest.get(spec.hash, ""))
            for spec in missing
        ]
        yield Section(MISSING, rows, is_apart=True)

    def present(spec: Present, where: str) -> Row:
        name = _name(graph.name(spec.id), graph.version(spec.id))
        return Row((spec.hash[:SHORT_HASH], name, clean(where)), key=spec.hash)

    rows = []
    for hit in coverage.hits:
        state = "cached" if hit.location.is_cached else "installed"
        rows.append(present(hit, f"{state} in {', '.join(hit.location.sources)}"))
    for spec in coverage.externals:
        rows.append(present(spec, f"external at {graph.external(spec.id)}"))
    if rows:
        yield Section(PRESENT, rows, is_apart=True)


def _name(package: str, version: str) -> str:
    return shorten(spec_name(package, version), _MAX_NAME_WIDTH) if package else "(not described)"


def _missing_row(spec: Missing, reason: str, nearest: str) -> Row:
    role = {"root": "root", "run": "", "build": "build only"}[spec.role]
    about = f"needed by {spec.needed_by:,} missing" if spec.needed_by else ""
    about = about if spec.is_needed else "not needed"
    cells = (
        spec.hash[:SHORT_HASH],
        _name(spec.package, spec.version),
        ", ".join(filter(None, (role, about))),
    )
    if spec.nearest.best is None:
        return Row(cells, reason, spec.hash, group=reason)
    texts = cut_list(lacking(spec), MAX_LACKING)
    tied = f", one of {spec.nearest.tied:,}" if spec.nearest.tied > 1 else ""
    note = f"{_BETWEEN.join(texts)} (nearest {nearest[:SHORT_HASH]}{tied})"
    return Row(cells, note, spec.hash, leads_to=nearest, group=reason)


def lacking(spec: Missing) -> list[str]:
    """Return how a missing spec differs from the nearest build, the most telling first."""
    if spec.comparison is not None:
        lines = difference_lines(spec.comparison)
    else:
        best = spec.nearest.best
        # Only a version does not say what it is of.
        named = (
            (each, spec.package if each.attribute == "version" else "")
            for each in (best.differences if best is not None else ())
        )
        lines = [difference_line(*each) for each in named]
    return [line.text for line in lines] or ["only dependencies differ"]


def _notes(coverage: Coverage) -> Iterator[str]:
    """Yield the sources with hits, and notes on missing specs."""
    sources = Counter(source for hit in coverage.hits for source in hit.location.sources)
    if len(sources) > 1:
        yield from (f"{count:>7,}  in {clean(source)}" for source, count in sources.most_common())
    if recorded := sum(spec.is_recorded for spec in coverage.missing):
        yield f"{recorded:>7,}  missing, although an index lists them"
    if idle := sum(not spec.is_needed for spec in coverage.missing):
        yield f"{idle:>7,}  missing, but not needed: they only build what is there"
    if any(s.nearest.candidates and s.comparison is None for s in coverage.missing):
        yield "Dependencies are compared only where both sources list them alike"
    if coverage.unlisted:
        count = counted(coverage.unlisted, "spec")
        yield f"What else {count} of it may need is unknown: no source lists it"
    if coverage.is_cut:
        yield "Not all is compared: there are too many dependencies"


def _times(its: BuildTime) -> Iterator[str]:
    """Yield how long what is missing took to build, and the longest chain of it."""
    nearest = f", {len(its.by_nearest):,} of them as the nearest" if its.by_nearest else ""
    known = f"{len(its.seconds):,} of {its.total:,} to build"
    yield f"{known} took {minutes(sum(its.seconds.values()))} when they were built{nearest}"
    if its.path:
        unknown = f", {its.path_unknown:,} of them unknown" if its.path_unknown else ""
        path = path_text(its.path)
        yield f"the longest chain takes {minutes(its.path_seconds)}: {path}{unknown}"


def minutes(seconds: float) -> str:
    """Return a time: `43 s`, `12 min` or `3 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"


def reasons_of(missing: Iterable[Missing]) -> dict[str, Sequence[Missing]]:
    """Return why specs are missing, such as `os only: rhel8 ≠ ubuntu22.04`, the most first.

    A reason has values only if they are those of all its specs.
    """
    groups: dict[str, list[tuple[str, Missing]]] = {}
    for spec in missing:
        reason, whole = _reason(spec)
        groups.setdefault(reason, []).append((whole, spec))
    wholes = ({whole for whole, _ in group} for group in groups.values())
    named = [
        (whole.pop() if len(whole) == 1 else reason, [spec for _, spec in group])
        for (reason, group), whole in zip(groups.items(), wholes, strict=True)
    ]
    return dict(sorted(named, key=lambda item: -len(item[1])))


def _reason(spec: Missing) -> tuple[str, str]:
    """Return why a spec is missing, without values that only it may have, and with them."""
    causes = spec.comparison.causes if spec.comparison is not None else ()
    best = spec.nearest.best
    if not spec.package or (spec.nearest.total and best is None):
        return ("nothing else is known of it",) * 2
    if best is None:
        return ("no build of the package",) * 2
    differences = list(best.differences)
    if causes and not causes[0].path:
        differences += (each for each in causes[0].differences if not each.follows)
    if kinds := sorted(set(map(_kind, differences))):
        reason = ", ".join(clean(ATTRIBUTE_LABELS.get(kind) or kind) for kind in kinds)
        if spec.comparison is not None:
            is_all = all(
                difference.follows
                or cause.follows
                or _kind(difference) in kinds
                or (is_compiler(cause.package) and "compiler" in kinds)
                for cause in causes
                for difference in cause.differences
            )
            reason += " only" if is_all else " and more below"
        if len(kinds) > 1 or kinds[0] not in _SHARED:
            return reason, reason
        line = difference_line(differences[0])
        return reason, f"{reason}: {line.a} ≠ {line.b}"
    if not (folded := fold_differences(causes)):
        return ("only dependencies, which are not compared",) * 2
    first, its = folded[0]
    package = first.package or its[0].package
    reason = f"because of {clean(package)}"
    return reason, f"because of {difference_line(first, package).text}"


def _kind(difference: Difference) -> str:
    """Return the kind of an attribute, so that one variant is as good as another."""
    name = difference.attribute
    if name == "provider" and not set(LANGUAGES).isdisjoint(difference.virtuals):
        return "compiler"
    if name in ("dependency", "deptypes", "provider", "virtuals"):
        return "dependencies"
    if name.endswith("flags") or name == "ldlibs":
        return "flags"
    return "variants" if name.startswith("variant:") else name


def _data(coverage: Coverage) -> dict[str, Any]:
    """Return a coverage for JSON; lists of hashes are in build order."""
    reasons = reasons_of(coverage.missing)
    reason_of = {spec.hash: text for text, specs in reasons.items() for spec in specs}
    return {
        "total": coverage.total,
        "hits": [hit.hash for hit in coverage.hits],
        "sources": {hit.hash: hit.location.sources for hit in coverage.hits},
        "installed": [hit.hash for hit in coverage.hits if hit.location.is_installed],
        "missing": [
            _missing_data(coverage.graph, spec, reason_of[spec.hash]) for spec in coverage.missing
        ],
        "reasons": [{"reason": text, "count": len(specs)} for text, specs in reasons.items()],
        "externals": [external.hash for external in coverage.externals],
        "needs": coverage.needs,
        "fetch": coverage.fetch,
        "build": coverage.build,
        "lists_dependencies": not coverage.unlisted,
    }


def _missing_data(graph: Dag, spec: Missing, reason: str) -> dict[str, Any]:
    comparison = spec.comparison
    return {
        "hash": spec.hash,
        "package": spec.package,
        "version": spec.version,
        "root": spec.role == "root",
        "build_only": spec.role == "build",
        "needed": spec.is_needed,
        "recorded": spec.is_recorded,
        "needed_by": spec.needed_by,
        "candidates": spec.nearest.total,
        "tied": spec.nearest.tied,
        "nearest": [
            {
                "hash": graph.hash(candidate.id),
                "attributes": [each.attribute for each in candidate.differences],
                "differences": list(map(difference_json, candidate.differences)),
                "causes": candidate.causes,
            }
            for candidate in spec.nearest.candidates
        ],
        "causes": (
            None
            if comparison is None
            else [cause_json(graph, cause) for cause in comparison.causes]
        ),
        "reason": reason,
    }


def filtered_remarks(
    coverage: Coverage, catalog: Catalog, rules: ReuseRules | None
) -> Iterator[str]:
    """Yield how many cached specs of an environment the filters of mirrors exclude.

    A lock file is concretized already: no other rule applies.
    """
    if rules is None or all(each == Selection() for each in rules.mirrors.values()):
        return
    counts: Counter[tuple[str, str]] = Counter()
    for hit in coverage.hits:
        if hit.location.is_cached and not hit.location.is_installed:
            fit = catalog.by_host.answers.brief(catalog.by_hash(hit.hash)[0].id)
            counts.update(
                (reason.label, reason.place)
                for reason in fit.reasons
                if reason.letter == "C" and reason.label.startswith(MIRROR)
            )
    for (label, place), count in counts.most_common():
        yield f"{count:>7,}  cached, but {label} ({place})"

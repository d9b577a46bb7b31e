"""Say how much of an environment caches have, and why they lack the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from spackscope.model.analysis.build_time import BuildTime
from spackscope.model.analysis.compare import Difference, fold_differences
from spackscope.model.analysis.cover import Coverage, Missing
from spackscope.model.analysis.reuse import MIRROR
from spackscope.model.core.records import LANGUAGES, is_compiler
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.differences import ATTRIBUTE_LABELS, difference_line, difference_lines
from spackscope.model.report.report import path_text
from spackscope.model.sources.spack_config import ReuseRules, Selection

_BETWEEN = " · "
MAX_LACKING = 2
"""Differences of a missing spec from the nearest that are written out in its row."""

_SHARED = ("compiler", "os", "platform", "target")
"""Attributes whose values many packages have in common."""


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
    first = sum(spec.needed_by > 0 and spec.is_needed for spec in coverage.missing)
    if first:
        parts.append(f"{first:,} of them needed by the rest")
    at_hand = {hit.hash for hit in coverage.hits if hit.location.is_installed}
    to_fetch = sum(hash_ not in at_hand for hash_ in coverage.fetch)
    parts.append(f"to fetch {to_fetch:,}, to build {len(coverage.build):,}")
    if coverage.externals:
        parts.append(f"{len(coverage.externals):,} external")
    return _BETWEEN.join(parts)


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


def coverage_notes(coverage: Coverage, build_time: BuildTime | None = None) -> Iterator[str]:
    """Yield the sources with hits, notes on missing specs, and how long they took to build."""
    sources = Counter(source for hit in coverage.hits for source in hit.location.sources)
    if len(sources) > 1:
        yield from (f"{count:,} in {clean(source)}" for source, count in sources.most_common())
    if recorded := sum(spec.is_recorded for spec in coverage.missing):
        yield f"{recorded:,} missing, although an index lists them"
    if idle := sum(not spec.is_needed for spec in coverage.missing):
        yield f"{idle:,} missing, but not needed: they only build what is there"
    if any(s.nearest.candidates and s.comparison is None for s in coverage.missing):
        yield "Dependencies are compared only where both sources list them alike"
    if coverage.unlisted:
        count = counted(coverage.unlisted, "spec")
        yield f"What else {count} of it may need is unknown: no source lists it"
    if coverage.is_cut:
        yield "Not all is compared: there are too many dependencies"
    if (its := build_time) is None:
        return
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
        yield f"{count:,} cached, but {label} ({place})"

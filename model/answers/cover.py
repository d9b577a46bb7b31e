"""The specs of an environment that caches have, and why others are missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from spackscope.model.analysis.compare import Difference, fold_differences
from spackscope.model.analysis.cover import Coverage, Missing, Present, cover, find_nearest
from spackscope.model.analysis.dag import post_order
from spackscope.model.analysis.reuse import MIRROR
from spackscope.model.answers.asked import Asked
from spackscope.model.core.errors import Unreadable, WrongQuestion
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import CONFIGURATION, LANGUAGES, is_compiler, is_run
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.core.text import clean, counted, cut_list
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import exact_query
from spackscope.model.report.differences import ATTRIBUTE_LABELS, difference_line
from spackscope.model.report.progress import minutes
from spackscope.model.report.relations import lacking
from spackscope.model.report.report import of_total, path_text
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column, version_column
from spackscope.model.sources.build_times import build_seconds
from spackscope.model.sources.resolve import find_environment
from spackscope.model.sources.source_name import SAMPLE, STANDARD_INPUT
from spackscope.model.sources.spack_config import ReuseRules, Selection

_MAX_LACKING = 2
"""Differences of a missing spec from the nearest that are written out in its row."""

_SHARED = ("compiler", "os", "platform", "target")
"""Attributes whose values many packages have in common."""


def answer(asked: Asked) -> Sheet[CoveredSpec]:
    """Return the specs of an environment, the missing ones first; not good if there are some."""
    name = asked.words[0] if asked.words else asked.session.environ.get("SPACK_ENV", "")
    if not name:
        raise WrongQuestion(
            "cover needs an environment, and none is active: name a directory or a spack.lock; "
            "see `spackscope cover --help`"
        )
    if SAMPLE in asked.sources and not asked.options.get("sources"):
        raise WrongQuestion(
            "cover needs caches to compare with, such as -f public; none is configured"
        )
    asked.grounds.add(CONFIGURATION)
    shown = "standard input" if name == STANDARD_INPUT else name
    path = asked.session.piped.get(name)
    listed = asked.read_hashes(path, shown) if path else None
    if listed is None:
        environment, caches = asked.load([find_environment(name, asked.session)], asked.sources)
        coverage = cover(environment, caches)
    else:
        hashes, others = listed
        if others and not hashes:
            raise Unreadable(f"{shown} has no hashes")
        (caches,) = asked.load(asked.sources)
        coverage = cover(hashes, caches)
    is_missing_only = bool(asked.options.get("missing"))
    if asked.options.get("format") == "hashes":
        # They need no reasons, which take most of the time.
        its = coverage.missing if is_missing_only else coverage.hits
        rows = [CoveredSpec(each.hash) for each in its]
        return Sheet("", (), rows, hash=lambda row: row.hash, is_good=not coverage.missing)
    should_stop = asked.session.should_stop
    asked.show(coverage_sheet(coverage, {}, ["comparing with the nearest builds…"]))
    coverage = find_nearest(coverage, on_progress=asked.on_progress, should_stop=should_stop)
    remarks = filtered_remarks(coverage, caches, asked.session.reuse_rules)
    seconds, by_nearest = _read_seconds(coverage, caches, should_stop)
    notes = [*remarks, *coverage_notes(coverage), *_time_notes(coverage, seconds, by_nearest)]
    sheet = coverage_sheet(coverage, seconds, notes)
    if is_missing_only:
        return replace(sheet, rows=[row for row in sheet.rows if row.missing is not None])
    return sheet


class CoveredSpec(NamedTuple):
    """A spec of an environment: cached, installed, external or missing, and where or why.

    `places` are the sources that have it, or where it is external. What is `missing` has a reason,
    its place in the order of builds, and the seconds that it took to build somewhere. An install
    fetches a spec or builds it, as `to` says.
    """

    hash: str
    state: str = ""
    package: str = ""
    version: str = ""
    to: str | None = None
    places: Sequence[str] = ()
    missing: Missing | None = None
    nearest: str = ""
    reason: str = ""
    heading: str = ""
    order: int | None = None
    seconds: float | None = None


def coverage_sheet(
    coverage: Coverage, seconds: Mapping[str, float], notes: Sequence[str]
) -> Sheet[CoveredSpec]:
    """Return the specs of an environment: the missing ones by reason, then the others.

    What is missing for one reason is in the order of its builds, with the `seconds` that they
    took elsewhere. Reads hashes from the index.
    """
    return Sheet(
        summary(coverage),
        _COLUMNS,
        list(_rows(coverage, seconds)),
        hash=lambda row: row.hash,
        beside=lambda row: row.nearest,
        query=lambda row: exact_query("hash", row.nearest or row.hash),
        group=lambda row: row.heading,
        told=("state", "reason"),
        notes=notes,
        remarks=list(coverage_doubts(coverage)),
        exports={"hashes": lambda: iter([hit.hash for hit in coverage.hits])},
        is_good=not coverage.missing,
    )


def _rows(coverage: Coverage, seconds: Mapping[str, float]) -> Iterator[CoveredSpec]:
    graph, total, nearest = coverage.graph, len(coverage.missing), coverage.nearest_hashes()
    order = {spec.hash: number for number, spec in enumerate(coverage.missing)}
    steps = dict.fromkeys(coverage.fetch, "fetch") | dict.fromkeys(coverage.build, "build")

    def row(spec: Missing | Present, state: str) -> CoveredSpec:
        named = graph.name(spec.id), graph.version(spec.id)
        return CoveredSpec(spec.hash, state, *named, steps.get(spec.hash), heading=state)

    for reason, specs in reasons_of(coverage.missing).items():
        heading = f"{of_total(len(specs), total).strip()} missing: {reason}"
        for spec in specs:
            yield row(spec, "missing")._replace(
                missing=spec,
                nearest=nearest.get(spec.hash, ""),
                reason=reason,
                heading=heading,
                order=order[spec.hash],
                seconds=seconds.get(spec.hash),
            )
    for hit in coverage.hits:
        state = "cached" if hit.location.is_cached else "installed"
        yield row(hit, state)._replace(places=hit.location.sources)
    for external in coverage.externals:
        yield row(external, "external")._replace(places=[graph.external(external.id)])


def _role(spec: Missing) -> str:
    """Return how the environment needs a missing spec."""
    if not spec.is_needed:
        return "not needed"
    return {"root": "root", "run": "run", "build": "build"}[spec.role]


_COLUMNS: list[SheetColumn[CoveredSpec]] = [
    SheetColumn(
        "package",
        lambda row: row.package or None,
        text=lambda package: clean(package or "(not described)"),
        style="bold",
    ),
    version_column(lambda row: row.version or None),
    hash_column(lambda row: row.hash),
    SheetColumn("state", lambda row: row.state),
    SheetColumn("reason", lambda row: row.reason or None),
    SheetColumn("role", lambda row: row.missing and _role(row.missing)),
    SheetColumn(
        "differs_in",
        lambda row: lacking(row.missing) if row.missing and row.nearest else [],
        "differs in",
        text=lambda texts: " · ".join(cut_list(texts, _MAX_LACKING)),
        wraps=True,
    ),
    hash_column(lambda row: row.nearest or None, "nearest"),
    SheetColumn("tied", lambda row: row.missing and row.missing.nearest.tied, drawn=False),
    SheetColumn(
        "needed_by",
        lambda row: row.missing and row.missing.needed_by,
        "needed by",
        text=lambda count: f"{count:,}" if count else "",
    ),
    SheetColumn("recorded", lambda row: row.missing and row.missing.is_recorded, drawn=False),
    SheetColumn("order", lambda row: row.order, drawn=False),
    SheetColumn("to", lambda row: row.to, drawn=False),
    SheetColumn(
        "build_seconds",
        lambda row: row.seconds,
        "took",
        text=lambda time: "" if time is None else minutes(time),
        is_right=True,
    ),
    SheetColumn("where", lambda row: row.places, style="good", wraps=True),
]


def summary(coverage: Coverage) -> str:
    """Return one line: `318 of 342 cached · 24 missing · … · 300 to fetch, 24 to build`."""
    installed_only = sum(not hit.location.is_cached for hit in coverage.hits)
    counts = {
        "cached": len(coverage.hits) - installed_only,
        "installed": installed_only,
        "missing": len(coverage.missing),
    }
    first = "cached" if counts["cached"] or not installed_only else "installed"
    parts = [
        f"{count:,} of {coverage.total:,} {what}" if what == first else f"{count:,} {what}"
        for what, count in counts.items()
        if count or what == first
    ]
    if needed := sum(spec.needed_by > 0 and spec.is_needed for spec in coverage.missing):
        parts[-1] += f" ({needed:,} needed by others)"
    at_hand = {hit.hash for hit in coverage.hits if hit.location.is_installed}
    to_fetch = sum(hash_ not in at_hand for hash_ in coverage.fetch)
    parts.append(f"{to_fetch:,} to fetch, {len(coverage.build):,} to build")
    if coverage.externals:
        parts.append(f"{len(coverage.externals):,} external")
    return " · ".join(parts)


def coverage_notes(coverage: Coverage) -> Iterator[str]:
    """Yield the sources with hits, and notes on missing specs."""
    sources = Counter(source for hit in coverage.hits for source in hit.location.sources)
    if len(sources) > 1:
        yield from (f"{count:,} in {clean(source)}" for source, count in sources.most_common())
    if recorded := sum(spec.is_recorded for spec in coverage.missing):
        yield f"{recorded:,} missing: an index lists them, but no cache has the archives"
    if idle := sum(not spec.is_needed for spec in coverage.missing):
        yield f"{idle:,} missing, but not needed: only cached or installed specs build with them"


def coverage_doubts(coverage: Coverage) -> Iterator[str]:
    """Yield what could not be compared or is unknown."""
    if any(s.nearest.best is not None and s.comparison is None for s in coverage.missing):
        yield "Not all dependencies are compared: the sources list different types of them"
    if coverage.unlisted:
        count = counted(coverage.unlisted, "spec")
        yield f"The dependencies of {count} are unknown: no source lists them"
    if coverage.is_cut:
        yield "There are too many dependencies to compare all"


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


def _read_seconds(
    coverage: Coverage, caches: Catalog, should_stop: ShouldStop
) -> tuple[Mapping[str, float], int]:
    """Return how long needed specs took to build, by their hashes, in install trees of the caches.

    Second comes how many of these are known of the nearest candidate only. Raises Cancelled.
    """
    trees = [source.name for source in caches.sources if source.kind == "install tree"]
    nearest = coverage.nearest_hashes()
    hashes = {spec.hash for spec in coverage.missing} | set(nearest.values())
    known = build_seconds(trees, hashes, should_stop) if trees and hashes else {}
    needed = [spec.hash for spec in coverage.missing if spec.is_needed]
    own = {hash_: known[hash_] for hash_ in needed if hash_ in known}
    others = [h for h in needed if h not in own and nearest.get(h) in known]
    return own | {hash_: known[nearest[hash_]] for hash_ in others}, len(others)


def _time_notes(
    coverage: Coverage, seconds: Mapping[str, float], by_nearest: int
) -> Iterator[str]:
    """Yield how long the builds took together, and the longest chain of them."""
    if not seconds:
        return
    total = sum(spec.is_needed for spec in coverage.missing)
    nearest = f" ({by_nearest:,} by the nearest build)" if by_nearest else ""
    known = f"{len(seconds):,} of {total:,} specs to build"
    yield f"{known} took {minutes(sum(seconds.values()))} before{nearest}"
    longest, chain = _longest_chain(coverage, seconds)
    if chain:
        unknown = sum(spec.hash not in seconds for spec in chain)
        path = path_text([spec.package for spec in chain])
        rest = f" ({unknown:,} of unknown time)" if unknown else ""
        yield f"The longest chain of builds takes {minutes(longest)}: {path}{rest}"


def _longest_chain(
    coverage: Coverage, seconds: Mapping[str, float]
) -> tuple[float, tuple[Missing, ...]]:
    """Return the longest chain of builds that wait for each other, the first to be built first.

    It may lead through cached specs that link or run missing ones.
    """
    graph = coverage.graph
    by_identity = {graph.identity(spec.id): spec for spec in coverage.missing if spec.is_needed}
    present = {graph.identity(spec.id): spec.id for spec in coverage.hits}
    ids = {graph.identity(spec.id): spec.id for spec in coverage.missing} | present

    def below(identity: int) -> list[int]:
        """Return the dependencies to build before a spec; a cached one needs no build tools."""
        is_built = identity not in present
        used = [
            id_
            for id_, kind in graph.links(ids[identity])
            if is_run(kind.deptypes) or (is_built and "build" in kind.deptypes)
        ]
        return [child for child in map(graph.identity, used) if child in ids]

    longest: dict[int, tuple[float, tuple[Missing, ...]]] = {}
    for identity in post_order(by_identity, below):
        chains = (longest[child] for child in below(identity) if child in longest)
        before, chain = max(chains, key=lambda each: (each[0], len(each[1])), default=(0.0, ()))
        if (spec := by_identity.get(identity)) is not None:
            before, chain = before + seconds.get(spec.hash, 0.0), (*chain, spec)
        longest[identity] = before, chain
    return max(longest.values(), key=lambda each: each[0])


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
        return ("no source describes it",) * 2
    if best is None:
        return ("no build of the package",) * 2
    differences = list(best.differences)
    if causes and not causes[0].path:
        differences += (each for each in causes[0].differences if not each.follows)
    if kinds := sorted(set(map(_kind, differences))):
        reason = ", ".join(clean(ATTRIBUTE_LABELS.get(kind) or kind) for kind in kinds)
        only = more = ""
        if spec.comparison is not None:
            is_all = all(
                difference.follows
                or cause.follows
                or _kind(difference) in kinds
                or (is_compiler(cause.package) and "compiler" in kinds)
                for cause in causes
                for difference in cause.differences
            )
            if is_all:
                only = " only"
            elif "dependencies" not in kinds:
                more = ", and dependencies differ"
        without_values = reason + only + more
        if len(kinds) > 1 or kinds[0] not in _SHARED:
            return without_values, without_values
        line = difference_line(differences[0])
        return without_values, f"{reason}{only}: {line.a} ≠ {line.b}{more}"
    if not (folded := fold_differences(causes)):
        return ("only dependencies differ (not compared)",) * 2
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

"""Compare environments with caches: which specs are cached, which are missing, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from spackscope.model.analysis.cover import Coverage, CoveredSpec, cover, find_nearest, percentage
from spackscope.model.analysis.dag import post_order
from spackscope.model.analysis.differences import Difference
from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.host import Host, parse_host
from spackscope.model.analysis.session_fit import host_of
from spackscope.model.answers import Asked
from spackscope.model.core.columns import size_text
from spackscope.model.core.commands import (
    CACHES,
    CONFIG,
    SHEET,
    SOURCES_WITHOUT_ALL,
    Command,
    flag,
    value,
    values,
)
from spackscope.model.core.errors import QueryError, Unreadable, WrongQuestion
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import LANGUAGES, is_compiler
from spackscope.model.core.rules import MIRROR
from spackscope.model.core.tasks import run_parallel
from spackscope.model.core.text import clean, counted, cut_list
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, exact_query
from spackscope.model.report.differences import (
    attribute_label,
    differences_from_nearest,
    pair_text,
    pair_texts,
)
from spackscope.model.report.progress import minutes
from spackscope.model.report.report import of_total, path_text
from spackscope.model.report.sheet import (
    Sheet,
    SheetColumn,
    hash_column,
    package_column,
    version_column,
)
from spackscope.model.sources.file_lists import FileLists
from spackscope.model.sources.resolve import find_environment
from spackscope.model.sources.source_name import SAMPLE, STANDARD_INPUT
from spackscope.model.sources.spack_config import ReuseRules, Selection

COMMAND = Command(
    "cover",
    "list what of environments is cached and what is missing",
    (
        "[-f CACHE]... [--missing] [--host HOST]... [--fail-under N] [OUTPUT] [CACHE]... "
        "[ENVIRONMENT...]",
    ),
    """\
Print how much of an environment is cached or installed, why the rest is
missing, and what an install would fetch and build. Missing specs are grouped
by reason, each with its role (root, to run, build only) and how the nearest
cached spec differs from it. The ENVIRONMENT is a spack.lock, the directory or
name of an environment, or - for hashes on standard input; by default it is the
one among the sources, else the active one. With an install tree among the
caches, the answer estimates how long the builds take. `spackscope why` says
why the concretizer did not reuse a cached build.

For several environments, and with --host, print a row for each environment and
host: how many of its specs are cached or installed, how many run there, the
size of their archives, and what is missing, most needed first. Without an
environment you get a row for each stack of the caches.""",
    (
        flag(
            "missing",
            "print only what is missing; without it, --hashes prints what is cached or installed",
        ),
        values(
            "host",
            "a host to run on, such as zen3 or 'target=zen4 glibc=2.28'; may be repeated",
            "HOST",
            "host",
            "hosts",
        ),
        value(
            "fail-under",
            "exit with 1 if less than this percentage of an environment is cached, or with "
            "--host runs on that host. Default: 100",
            "N",
            "number",
        ),
        *SHEET,
        CONFIG,
        *SOURCES_WITHOUT_ALL,
    ),
    words="environment",
    codes={0: "nothing is missing", 1: "less is cached than --fail-under"},
    examples="""\
spackscope cover spack.lock -f public
spackscope cover climate ocean --host zen3 --host zen4 --fail-under 90
spackscope cover climate --missing --hashes > to-push
spackscope find -f ~/tree --hashes | spackscope cover - -f spack:site""",
    group=CACHES,
)


_MAX_ARCHIVES = 50
"""Archives that are looked into for the times of builds."""

_MAX_LACKING = 2
"""The most differences from the nearest build in the row of a missing spec."""

_SHARED = ("compiler", "os", "platform", "target")
"""Attributes whose values many packages have in common."""


def answer(asked: Asked) -> Sheet[Any]:
    """Return the specs of an environment, missing ones first, or a row for each environment.

    Without an environment each stack has a row, and with hosts each host, too. The sheet is not
    good where less than `fail_under` percent are cached, or run on a host that is asked for.
    """
    limit = _limit(asked.options.get("fail_under", "100"))
    try:
        hosts = [parse_host(text) for text in asked.options.get("hosts", ())]
    except QueryError as error:
        raise WrongQuestion(f"--host: {error}") from None
    names = asked.words or [*filter(None, [asked.session.environ.get("SPACK_ENV", "")])]
    if names and SAMPLE in asked.sources and not asked.are_sources_chosen:
        raise WrongQuestion(
            "cover needs a cache to compare with, such as public; none is configured"
        )
    asked.rests_on_configuration = True
    caches, coverages = _cover(asked, names)
    is_missing_only = bool(asked.options.get("missing"))
    if coverages and asked.options.get("format") == "hashes":
        # Hashes need no reasons, which take most of the time.
        rows = [
            each
            for coverage in coverages.values()
            for each in (coverage.missing if is_missing_only else coverage.hits)
        ]
        is_good = all(each.percent >= limit for each in coverages.values())
        return Sheet("", (), rows, hash=lambda row: row.hash, is_good=is_good)
    if hosts or len(coverages) != 1:
        return _totals_sheet(asked, caches, coverages, hosts, limit)
    (coverage,) = coverages.values()
    asked.show(coverage_sheet(coverage, {}, ["comparing with the nearest builds…"]))
    coverage = find_nearest(coverage)
    remarks = filtered_remarks(coverage, caches, asked.session.reuse_rules)
    seconds = _read_seconds(asked, coverage, caches)
    notes = [*remarks, *coverage_notes(coverage), *_time_notes(coverage, seconds)]
    sheet = replace(coverage_sheet(coverage, seconds, notes), is_good=coverage.percent >= limit)
    if is_missing_only:
        return replace(sheet, rows=[row for row in sheet.rows if row.state == "missing"])
    return sheet


def _cover(asked: Asked, names: Sequence[str]) -> tuple[Catalog, dict[str, Coverage]]:
    """Return the caches, and the coverage of each environment, or list of hashes, by its name."""
    lists = dict[str, list[str]]()
    for name in names:
        shown = "standard input" if name == STANDARD_INPUT else name
        path = asked.session.piped.get(name)
        if path and (listed := asked.read_hashes(path, shown)) is not None:
            lists[name], others = listed
            if others and not lists[name]:
                raise Unreadable(f"{shown} has no hashes")
    documents = [name for name in dict.fromkeys(names) if name not in lists]
    sources = [[find_environment(name, asked.session)] for name in documents]
    *catalogs, caches = asked.load(*sources, asked.sources)
    catalog_of = dict(zip(documents, catalogs, strict=True))
    environments = {name: lists[name] if name in lists else catalog_of[name] for name in names}
    return caches, {name: cover(its, caches) for name, its in environments.items()}


def _limit(text: str) -> float:
    try:
        limit = float(text)
    except ValueError:
        limit = -1.0
    if not 0 <= limit <= 100:
        message = f"--fail-under takes a percentage from 0 to 100, not {clean(text)}"
        raise WrongQuestion(message)
    return limit


def coverage_sheet(
    coverage: Coverage, seconds: Mapping[str, float], notes: Sequence[str]
) -> Sheet[CoveredSpec]:
    """Return the specs of an environment: the missing ones by reason, then the others.

    Specs that are missing for one reason are in build order, with the `seconds` that they took
    elsewhere. Reads hashes from the index.
    """
    reasons, total = reasons_of(coverage.missing), len(coverage.missing)
    reason_of = {spec.hash: reason for reason, specs in reasons.items() for spec in specs}
    missing = [spec for specs in reasons.values() for spec in specs]
    nearest = coverage.nearest_hashes()

    def heading(row: CoveredSpec) -> str:
        if (reason := reason_of.get(row.hash)) is None:
            return row.state
        return f"{of_total(len(reasons[reason]), total).strip()} missing: {reason}"

    return Sheet(
        summary(coverage),
        list(_columns(coverage, reason_of, seconds)),
        [*missing, *coverage.hits, *coverage.externals],
        row="a spec of the environment",
        hash=lambda row: row.hash,
        beside=lambda row: nearest.get(row.hash, ""),
        query=lambda row: exact_query("hash", nearest.get(row.hash) or row.hash),
        group=heading,
        redundant=("state", "reason"),
        notes=notes,
        remarks=list(coverage_doubts(coverage)),
    )


def _columns(
    coverage: Coverage, reason_of: Mapping[str, str], seconds: Mapping[str, float]
) -> Iterator[SheetColumn[CoveredSpec]]:
    """Yield the columns of the specs of an environment; most are of missing specs alone."""
    nearest = coverage.nearest_hashes()
    order = {spec.hash: number for number, spec in enumerate(coverage.missing)}
    steps = dict.fromkeys(coverage.fetch, "fetch") | dict.fromkeys(coverage.build, "build")
    yield package_column(
        lambda row: row.package or None,
        text=lambda package: clean(package or "(not described)"),
        style="strong",
    )
    yield version_column(lambda row: row.version or None)
    yield hash_column(lambda row: row.hash)
    yield SheetColumn(
        "state", lambda row: row.state, meaning="cached, installed, external or missing"
    )
    yield SheetColumn("reason", lambda row: reason_of.get(row.hash), meaning="why it is missing")
    yield SheetColumn(
        "role",
        lambda row: (row.role or None) if row.is_needed or not row.role else "not needed",
        meaning="root, run, build or not needed",
    )
    yield SheetColumn(
        "differs_in",
        lambda row: differences_from_nearest(row) if row.hash in nearest else [],
        "differs in",
        text=lambda texts: " · ".join(cut_list(texts, _MAX_LACKING)),
        wraps=True,
        meaning="how the nearest build differs",
    )
    yield hash_column(
        lambda row: nearest.get(row.hash), "nearest", meaning="the hash of the nearest cached spec"
    )
    yield SheetColumn(
        "tied",
        lambda row: row.nearest.tied if row.role else None,
        drawn=False,
        meaning="how many specs are equally near",
    )
    yield SheetColumn(
        "needed_by",
        lambda row: row.needed_by if row.role else None,
        "needed by",
        text=lambda count: _count_text(count or 0),
        meaning="how many specs need it",
    )
    yield SheetColumn(
        "recorded",
        lambda row: row.is_recorded if row.role else None,
        drawn=False,
        meaning="whether an index describes it, without a binary",
    )
    yield SheetColumn(
        "order",
        lambda row: order.get(row.hash),
        drawn=False,
        meaning="the position in which it can be built",
    )
    yield SheetColumn(
        "to",
        lambda row: steps.get(row.hash),
        drawn=False,
        meaning="fetch or build: what an install does",
    )
    yield SheetColumn(
        "build_seconds",
        lambda row: seconds.get(row.hash),
        "took",
        text=lambda time: "" if time is None else minutes(time),
        is_right=True,
        meaning="how long the build took, in an install tree",
    )
    yield SheetColumn(
        "where",
        partial(_places, coverage),
        style="good",
        wraps=True,
        meaning="the sources that have it, or the prefix of an external",
    )


def _places(coverage: Coverage, row: CoveredSpec) -> Sequence[str]:
    """Return the sources that have a spec, or the prefix of an external."""
    if row.state == "external":
        return [coverage.graph.external(row.id)]
    return () if row.state == "missing" else row.location.sources


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
    """Yield sentences on dependencies that are unknown or could not be compared."""
    if any(s.nearest.id is not None and s.differences is None for s in coverage.missing):
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
                if reason.rule is MIRROR and not reason.of_dependency
            )
    for (label, place), count in counts.most_common():
        yield f"{count:,} cached, but {label} ({place})"


def _read_seconds(asked: Asked, coverage: Coverage, caches: Catalog) -> dict[str, float]:
    """Return the seconds that the nearest candidates of needed specs took to build, by hash.

    They are read from prefixes in install trees, else from archives. Raises Cancelled.
    """
    nearest = coverage.nearest_hashes()
    needed = {
        spec.hash: nearest[spec.hash]
        for spec in coverage.missing
        if spec.is_needed and spec.hash in nearest
    }
    lists = FileLists(caches.sources, asked.session, asked.sources)
    known: dict[str, float] = {}
    for in_archives in (False, True):
        unknown = [hash_ for hash_ in dict.fromkeys(needed.values()) if hash_ not in known]
        unknown = unknown[:_MAX_ARCHIVES] if in_archives else unknown
        tasks = []
        for hash_ in unknown:
            rows = caches.by_hash(hash_)
            records = [caches.with_provenance(row.id, row.spec) for row in rows]
            tasks.append(partial(lists.build_seconds, records, in_archives=in_archives))
        times = zip(unknown, run_parallel(tasks), strict=True)
        known |= {hash_: time for hash_, time in times if time is not None}
    return {hash_: known[its] for hash_, its in needed.items() if its in known}


def _time_notes(coverage: Coverage, seconds: Mapping[str, float]) -> Iterator[str]:
    """Yield how long the nearest builds took together, and the longest chain of them."""
    if not seconds:
        return
    total = sum(spec.is_needed for spec in coverage.missing)
    known = f"{len(seconds):,} of {total:,} specs to build"
    yield f"{known} took {minutes(sum(seconds.values()))} before, by the nearest builds"
    longest, chain = _longest_chain(coverage, seconds)
    if chain:
        unknown = sum(spec.hash not in seconds for spec in chain)
        path = path_text([spec.package for spec in chain])
        rest = f" ({unknown:,} of unknown time)" if unknown else ""
        yield f"The longest chain of builds takes {minutes(longest)}: {path}{rest}"


def _longest_chain(
    coverage: Coverage, seconds: Mapping[str, float]
) -> tuple[float, tuple[CoveredSpec, ...]]:
    """Return the longest chain of builds that wait for each other, in build order, with its time.

    The chain may lead through cached specs that link or run missing ones.
    """
    graph = coverage.graph
    needed = {graph.identity(spec.id): spec for spec in coverage.missing if spec.is_needed}
    longest: dict[int, tuple[float, tuple[CoveredSpec, ...]]] = {}
    for identity in post_order(needed, coverage.awaited.__getitem__):
        chains = (longest[child] for child in coverage.awaited[identity] if child in longest)
        before, chain = max(chains, key=lambda each: (each[0], len(each[1])), default=(0.0, ()))
        if (spec := needed.get(identity)) is not None:
            before, chain = before + seconds.get(spec.hash, 0.0), (*chain, spec)
        longest[identity] = before, chain
    return max(longest.values(), key=lambda each: each[0])


def reasons_of(missing: Iterable[CoveredSpec]) -> dict[str, Sequence[CoveredSpec]]:
    """Return missing specs by reason, such as `os only: rhel8 ≠ ubuntu22.04`, the most first.

    A reason has values only if all its specs have the same.
    """
    groups: dict[str, list[tuple[str, CoveredSpec]]] = {}
    for spec in missing:
        reason, whole = _reason(spec)
        groups.setdefault(reason, []).append((whole, spec))
    wholes = ({whole for whole, _ in group} for group in groups.values())
    named = [
        (whole.pop() if len(whole) == 1 else reason, [spec for _, spec in group])
        for (reason, group), whole in zip(groups.items(), wholes, strict=True)
    ]
    return dict(sorted(named, key=lambda item: -len(item[1])))


def _reason(spec: CoveredSpec) -> tuple[str, str]:
    """Return why a spec is missing, without values that only it may have, and with them."""
    nearest = spec.nearest
    if not spec.package or (nearest.total and nearest.id is None):
        return ("no source describes it",) * 2
    if nearest.id is None:
        return ("no build of the package",) * 2
    causes = [each for each in spec.differences or () if not each.follows]
    own = [*nearest.differences, *(each for each in causes if each.part == "own")]
    if kinds := sorted({_kind(each) for each in own}):
        reason = ", ".join(clean(attribute_label(kind)) for kind in kinds)
        only = more = ""
        if spec.differences is not None:
            is_all = all(
                _kind(each) in kinds or ("compiler" in kinds and is_compiler(each.package))
                for each in causes
            )
            if is_all:
                only = " only"
            elif "dependencies" not in kinds:
                more = ", and dependencies differ"
        without_values = reason + only + more
        if len(kinds) > 1 or kinds[0] not in _SHARED:
            return without_values, without_values
        _, a, b = pair_texts(own[0])
        return without_values, f"{reason}{only}: {a} ≠ {b}{more}"
    if not causes:
        return ("only dependencies differ (not compared)",) * 2
    return f"because of {clean(causes[0].package)}", f"because of {pair_text(causes[0])}"


def _kind(difference: Difference) -> str:
    """Return the kind of an attribute, so that one variant is as good as another."""
    name = difference.attribute
    if name == "provider" and difference.package in LANGUAGES:
        return "compiler"
    if name in ("present", "provider", "dependencies", "hash"):
        return "dependencies"
    if name.endswith("flags") or name == "ldlibs":
        return "flags"
    return "variants" if name.startswith("variant:") else name


# Several environments, stacks or hosts


class Total(NamedTuple):
    """How many specs of an environment or a stack are cached, and run on a host.

    `there` counts the specs that are cached or installed. `runs` of them run on the host, and
    `unknown` may or may not. `size` is the bytes of their archives, without the archives of
    `unknown_sizes` specs. `wanted` has missing specs.
    """

    name: str
    host: str
    total: int
    there: int
    runs: int
    unknown: int
    size: float
    unknown_sizes: int
    wanted: Sequence[str] = ()


def _totals_sheet(
    asked: Asked,
    caches: Catalog,
    coverages: Mapping[str, Coverage],
    hosts: Sequence[Host],
    limit: float,
) -> Sheet[Total]:
    """Return a row for each environment, or each stack of the caches, and each host."""
    if not (coverages or caches.total):
        raise asked.no_match(caches, Query())
    fits = [HostFit(caches, host) for host in hosts or [host_of(asked.session)]]
    rows = list(_environments(caches, coverages, fits) or _stacks(caches, fits))
    worst = min(percentage(row.runs if hosts else row.there, row.total) for row in rows)
    if asked.options.get("missing"):
        rows = [row for row in rows if row.there < row.total]
    return Sheet(
        counted(len(coverages), "environment") if coverages else "",
        [
            SheetColumn(
                "environment" if coverages else "stack",
                lambda row: row.name,
                meaning="the environment, or the stack",
            ),
            *_TOTAL_COLUMNS,
        ],
        rows,
        row="an environment or a stack, and a host",
        query=lambda row: exact_query("stack", row.name),
        limit=None,
        is_good=worst >= limit,
    )


def _totals(
    caches: Catalog, name: str, total: int, ids: Sequence[int], fits: Iterable[HostFit]
) -> Iterator[Total]:
    """Yield for each host how many specs of the caches run there."""
    sizes = [spec.size for spec in caches.records(ids)]
    size = sum(size or 0 for size in sizes)
    for fit in fits:
        answers = Counter(fit.brief(id_).fits for id_ in ids)
        counts = len(ids), answers[True], answers[None]
        yield Total(name, fit.host.short, total, *counts, size, sizes.count(None))


def _environments(
    caches: Catalog, coverages: Mapping[str, Coverage], fits: Sequence[HostFit]
) -> list[Total]:
    """Return the rows of environments."""
    rows = []
    for name, coverage in coverages.items():
        ids = [caches.by_hash(hit.hash)[0].id for hit in coverage.hits]
        wanted = _most_wanted(coverage)
        for row in _totals(caches, name, coverage.total, ids, fits):
            rows.append(row._replace(wanted=wanted))
    return rows


def _stacks(caches: Catalog, fits: Sequence[HostFit]) -> Iterator[Total]:
    """Yield a row for each stack and host, or for all specs where caches have no stacks."""
    values = caches.values("stack")
    names = sorted({name for value in values if isinstance(value, tuple) for name in value})
    ids_of = {name: caches.match(exact_query("stack", name)).ids() for name in names}
    for name, ids in (ids_of or {"all": range(caches.total)}).items():
        yield from _totals(caches, name, len(ids), ids, fits)


def _most_wanted(coverage: Coverage) -> list[str]:
    """Return missing specs with the number of specs that need each, the most needed first."""
    needed = [spec for spec in coverage.missing if spec.is_needed]
    needed.sort(key=lambda spec: -spec.needed_by)
    counts = (f" ({spec.needed_by:,})" if spec.needed_by else "" for spec in needed)
    return [f"{s.package}@{s.version}{count}" for s, count in zip(needed, counts, strict=True)]


def _percent_column(
    name: str, part: Callable[[Total], int | None], head: str, meaning: str
) -> SheetColumn[Total]:
    """Return a column of parts in percent, drawn rounded down, so that only all is 100 %."""

    def percent(row: Total) -> float | None:
        its = part(row)
        return None if its is None else round(percentage(its, row.total), 2)

    def text(percent: float | None) -> str:
        if percent is None:
            return "unknown"
        return "<1 %" if 0 < percent < 1 else f"{int(percent)} %"

    return SheetColumn(name, percent, head, text=text, is_right=True, meaning=meaning)


def _runs(row: Total) -> int | None:
    """Return how many specs run on the host; None if that is known of none."""
    return None if row.there == row.unknown > 0 else row.runs


def _count_text(count: int) -> str:
    return f"{count:,}" if count else ""


_TOTAL_COLUMNS: list[SheetColumn[Total]] = [
    SheetColumn("specs", lambda row: row.total, meaning="how many specs"),
    SheetColumn(
        "cached",
        lambda row: row.there,
        drawn=False,
        meaning="how many specs are cached or installed",
    ),
    _percent_column(
        "percent", lambda row: row.there, "cached", meaning="the same as a percentage"
    ),
    SheetColumn("host", lambda row: row.host, meaning="a host"),
    _percent_column("runs", _runs, "runs there", meaning="the percentage that runs on it"),
    SheetColumn(
        "unknown",
        lambda row: row.unknown,
        text=_count_text,
        meaning="how many specs may or may not run there",
    ),
    SheetColumn(
        "archives",
        lambda row: row.size,
        "download",
        text=lambda size: size_text(size) if size else "",
        is_right=True,
        meaning="the bytes of all archives",
    ),
    SheetColumn(
        "unknown_sizes",
        lambda row: row.unknown_sizes,
        text=_count_text,
        meaning="how many archives have no known size",
    ),
    SheetColumn(
        "most_needed",
        lambda row: row.wanted,
        "missing, most needed first",
        is_list=True,
        meaning="missing specs that most others need",
    ),
]

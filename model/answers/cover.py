"""What caches have of an environment, and why they lack the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from spackscope.model.analysis.build_time import BuildTime, read_build_time
from spackscope.model.analysis.cover import Coverage, Missing, cover, find_nearest
from spackscope.model.answers.asked import Asked
from spackscope.model.core.errors import Unreadable, WrongQuestion
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import clean, cut_list
from spackscope.model.query.ast import exact_query
from spackscope.model.report.coverage import (
    MAX_LACKING,
    coverage_notes,
    filtered_remarks,
    lacking,
    minutes,
    reasons_of,
    summary,
)
from spackscope.model.report.report import of_total
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column, version_column
from spackscope.model.sources.resolve import find_environment
from spackscope.model.sources.source_name import SAMPLE, STANDARD_INPUT


class CoveredSpec(NamedTuple):
    """A spec of an environment: cached, installed, external or missing, and where or why.

    `places` are the sources that have it, or where it is external. What is `missing` has a reason.
    """

    hash: str
    package: str
    version: str
    state: str
    places: Sequence[str] = ()
    missing: Missing | None = None
    reason: str = ""


def answer(asked: Asked) -> Sheet[CoveredSpec]:
    """Return the specs of an environment, the missing ones first; not good if there are some."""
    name = asked.words[0] if asked.words else asked.session.environ.get("SPACK_ENV", "")
    if not name:
        raise WrongQuestion(
            "cover needs an environment, as none is active: name its directory or a spack.lock; "
            "see `spackscope cover --help`"
        )
    if SAMPLE in asked.sources and not asked.options.get("sources"):
        raise WrongQuestion(
            "cover needs caches to compare with, such as -f public; none is configured"
        )
    shown = "standard input"
    is_input = name == STANDARD_INPUT
    listed = asked.read_hashes(asked.session.stdin_path, shown) if is_input else None
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
        rows = [CoveredSpec(each.hash, "", "", "") for each in its]
        return Sheet("", (), rows, hash=lambda row: row.hash, is_good=not coverage.missing)
    should_stop = asked.session.should_stop
    coverage = find_nearest(coverage, on_progress=asked.on_progress, should_stop=should_stop)
    remarks = list(filtered_remarks(coverage, caches, asked.session.reuse_rules))
    sheet = coverage_sheet(coverage, read_build_time(coverage, caches, should_stop), remarks)
    if is_missing_only:
        return replace(sheet, rows=[row for row in sheet.rows if row.missing is not None])
    return sheet


def coverage_sheet(
    coverage: Coverage, build_time: BuildTime | None = None, remarks: Sequence[str] = ()
) -> Sheet[CoveredSpec]:
    """Return the specs of an environment: what is missing by its reason, then what is there.

    What is missing for one reason is in the order of its builds. Reads hashes from the index.
    """
    order = {spec.hash: number for number, spec in enumerate(coverage.missing)}
    graph, reasons, total = coverage.graph, reasons_of(coverage.missing), len(coverage.missing)
    nearest = coverage.nearest_hashes()
    steps = dict.fromkeys(coverage.fetch, "fetch") | dict.fromkeys(coverage.build, "build")

    def rows() -> Iterator[CoveredSpec]:
        for reason, specs in reasons.items():
            for each in specs:
                found = each.package, each.version
                yield CoveredSpec(each.hash, *found, "missing", missing=each, reason=reason)
        for hit in coverage.hits:
            state = "cached" if hit.location.is_cached else "installed"
            found = graph.name(hit.id), graph.version(hit.id)
            yield CoveredSpec(hit.hash, *found, state, hit.location.sources)
        for spec in coverage.externals:
            found = graph.name(spec.id), graph.version(spec.id)
            yield CoveredSpec(spec.hash, *found, "external", [graph.external(spec.id)])

    def heading(row: CoveredSpec) -> str:
        if row.missing is None:
            return row.state
        return f"{of_total(len(reasons[row.reason]), total).strip()} missing: {row.reason}"

    def seconds(row: CoveredSpec) -> float | None:
        return build_time.seconds.get(row.hash) if build_time is not None else None

    columns: list[SheetColumn[CoveredSpec]] = [
        SheetColumn("package", lambda row: row.package or None, text=_package, style="bold"),
        version_column(lambda row: row.version or None),
        hash_column(lambda row: row.hash),
        SheetColumn("state", lambda row: row.state),
        SheetColumn("reason", lambda row: row.reason or None),
        SheetColumn("role", lambda row: row.missing and _role(row.missing)),
        SheetColumn(
            "unlike_nearest",
            lambda row: lacking(row.missing) if row.hash in nearest and row.missing else [],
            "unlike the nearest",
            text=lambda texts: " · ".join(cut_list(texts, MAX_LACKING)),
            wraps=True,
        ),
        hash_column(lambda row: nearest.get(row.hash), "nearest"),
        SheetColumn("tied", lambda row: row.missing and row.missing.nearest.tied, drawn=False),
        SheetColumn(
            "needed_by",
            lambda row: row.missing and row.missing.needed_by,
            "wait for it",
            text=lambda count: f"{count:,}" if count else "",
        ),
        SheetColumn("recorded", lambda row: row.missing and row.missing.is_recorded, drawn=False),
        SheetColumn("order", lambda row: order.get(row.hash), drawn=False),
        SheetColumn("to", lambda row: steps.get(row.hash), drawn=False),
        SheetColumn(
            "build_seconds",
            seconds,
            "took",
            text=lambda time: "" if time is None else minutes(time),
            is_right=True,
        ),
        SheetColumn("where", lambda row: row.places, style="good", wraps=True),
    ]
    return Sheet(
        summary(coverage),
        columns,
        list(rows()),
        hash=lambda row: row.hash,
        beside=lambda row: nearest.get(row.hash, ""),
        query=lambda row: exact_query("hash", nearest.get(row.hash, row.hash)),
        group=heading,
        told=("state", "reason"),
        notes=[*remarks, *coverage_notes(coverage, build_time)],
        exports={"hashes": lambda: iter([hit.hash for hit in coverage.hits])},
        is_good=not coverage.missing,
    )


def _package(package: str | None) -> str:
    return clean(package) if package else "(not described)"


def _role(spec: Missing) -> str:
    """Return what a missing spec is to the environment."""
    if not spec.is_needed:
        return "not needed"
    return {"root": "root", "run": "to run", "build": "build only"}[spec.role]

"""Report why Spack does not reuse specs, with what to change so that it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from spackscope.model.analysis.cover import Coverage, cover, find_nearest
from spackscope.model.analysis.reuse import MIRROR, find_kept_out
from spackscope.model.analysis.session_fit import host_phrase
from spackscope.model.analysis.why import Candidate, find_candidates
from spackscope.model.core.columns import SHORT_HASH, spec_name
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import UNKNOWN, Fit
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean, cut_list
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, exact_query
from spackscope.model.report.coverage import MAX_LACKING, lacking
from spackscope.model.report.report import (
    Column,
    Report,
    Row,
    Section,
    cut,
    folded,
    hash_cell,
    of_total,
)
from spackscope.model.sources.reuse_rules import ALL, ReuseRules, place_of
from spackscope.model.sources.session import Session
from spackscope.model.sources.spack_config import Selection

MAX_CANDIDATES = 20
"""Candidates that are listed, unless all are."""

_OF_DEPENDENCY = "a dependency: "
_MISSING, _RECORDED = "no cache has it", "an index lists it, but without its binary"
_BUILD = "build it, or open a cache that has it"

_CHANGES = {
    "I": "create it: spack buildcache update-index {place}",
    "V": "create it with a Spack before 1.0: spack buildcache update-index {place}",
    "D": "nothing to change: Spack takes no build of sources under development",
    "W": "nothing to change: Spack always builds its compiler wrapper",
    "X": "list it with this prefix in packages.yaml",
    "R": "build it again with Spack 1.0 or later",
    "F": "build it again with Spack 1.0 or later",
    "P": "change the machine",
    "T": "change the machine or the target",
    "L": "change the machine or the os",
    "O": "change the machine or the os",
}
"""What to do so that a spec is taken, by the letters of rules that are in no file."""

_REASON_COLUMNS = (
    Column(is_right=False),
    Column(keep="start", floors=(36, 20)),
    Column(floors=(36, 12)),
)
_COLUMNS = (
    Column(),
    Column(),
    Column(most=40, floors=(20, 12)),
    Column(most=60, floors=(40, 12)),
    Column(most=60, keep="start", floors=(20, 12)),
)


class Verdict(NamedTuple):
    """Why a spec is not taken: the reason, the file and line of a rule, and what to change.

    Without a reason nothing rules it out. `reusable` is the value of this column, if it has one.
    """

    reason: str = ""
    place: str = ""
    change: str = ""
    reusable: str = ""


class Judged(NamedTuple):
    """A spec, and the verdicts on its candidate: the spec itself, or the build nearest to it.

    `about` describes the candidate, whose hash is empty if there is none. `missing` is why the
    spec itself is not there, "" if it is, and then it `lacks` what the nearest has otherwise.
    `unmet` counts the conditions of the query that it does not match.
    """

    hash: str
    package: str
    version: str
    about: str
    verdicts: tuple[Verdict, ...]
    candidate: str
    unmet: int = 0
    missing: str = ""
    lacks: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The first verdict, or one without a reason."""
        return self.verdicts[0] if self.verdicts else Verdict()


def verdicts(fit: Fit, rules: ReuseRules | None, unmet: Sequence[str] = ()) -> Iterator[Verdict]:
    """Yield all reasons against a spec, in the order in which Spack checks.

    `unmet` are the conditions of the query that it does not match.
    """
    if unmet:
        yield Verdict(f"not {' '.join(map(clean, unmet))}", change="change what you ask for")
    if rules is not None and rules.only_dependencies and rules.reuse is not None:
        place = place_of(rules.reuse)
        text = "concretizer:reuse takes only dependencies of what is asked for"
        yield Verdict(text, place, f"change {place}")
    for reason in fit.reasons:
        if reason.letter:
            text = f"{_OF_DEPENDENCY * reason.letter.islower()}{reason.sentence or reason.label}"
            change = _CHANGES.get(reason.letter.upper(), "change {place}")
            change = change.replace("{place}", reason.place)
            if reason.letter.upper() == "N":
                change = reason.label.replace("built by", "use")
            yield Verdict(text, reason.place, change, reason.label)
    if fit.reusable is None:
        text = ", ".join(reason.label for reason in fit.reasons)
        yield Verdict(text, reusable=UNKNOWN)


def judge_query(
    catalog: Catalog, query: Query, rules: ReuseRules | None, *, should_stop: ShouldStop = never
) -> list[Judged]:
    """Return the verdicts on the builds that a query names; empty if it matches no spec.

    Of what no cache has they are those on the nearest builds. Raises Cancelled, and Unanswerable
    for conditions that the index cannot answer.
    """
    if candidates := find_candidates(catalog, query, should_stop=should_stop):
        return list(_judge_candidates(catalog, candidates, rules))
    ids = catalog.match(query, should_stop=should_stop).ids()
    hashes = list(dict.fromkeys(catalog.hashes.of(ids)))
    coverage = find_nearest(cover(hashes, catalog), should_stop=should_stop)
    # What is not missing is external.
    externals = () if coverage.missing else map(Candidate, ids)
    missing = judge_missing(coverage, catalog, rules)
    return [*missing, *_judge_candidates(catalog, externals, rules)]


def _judge_candidates(
    catalog: Catalog, candidates: Iterable[Candidate], rules: ReuseRules | None
) -> Iterator[Judged]:
    fits = catalog.by_host.answers
    for each in candidates:
        spec = catalog.rows([each.id])[0].spec
        about = clean(" ".join(filter(None, (spec.compiler, spec.os, spec.target))))
        its = tuple(verdicts(fits.brief(each.id), rules, each.unmet))
        named = spec.hash, spec.package, spec.version
        yield Judged(*named, about, its, spec.hash, len(each.unmet))


def judge_missing(
    coverage: Coverage, catalog: Catalog, rules: ReuseRules | None
) -> Iterator[Judged]:
    """Yield the verdicts on the nearest build of each missing spec.

    A lock file is concretized already: rules on what is asked for do not apply.
    """
    nearest, fits = coverage.nearest_hashes(), catalog.by_host.answers
    of_dependency = rules and replace(rules, only_dependencies=False)
    for spec in coverage.missing:
        its, lacks = [Verdict("no build of the package", change="it has to be built")], list[str]()
        if (best := spec.nearest.best) is not None:
            its, lacks = list(verdicts(fits.brief(best.id), of_dependency)), lacking(spec)
        about, named = " · ".join(cut_list(lacks, MAX_LACKING)), (spec.hash, spec.package)
        missing = _RECORDED if spec.is_recorded else _MISSING
        candidate = nearest.get(spec.hash, "")
        yield Judged(*named, spec.version, about, tuple(its), candidate, 0, missing, tuple(lacks))


def _configuration_notes(
    session: Session, catalog: Catalog, packages: Collection[str]
) -> Iterator[str]:
    """Yield what else the configuration says of packages, and the rules that cannot be read."""
    spack, rules = session.spack, session.reuse_rules
    if spack is None:
        return
    if rules is None:
        yield "The configuration of Spack is left out"
        return
    for name in (*packages, ALL):
        if place := rules.not_buildable.get(name):
            where = place_of(place)
            yield f"{where}: {name} is not buildable: Spack only takes what there is"
        for spec in rules.preferred.get(name, ()):
            yield f"{place_of(spec)}: the solver prefers {clean(spec)}, if it can"
    for external in spack.externals:
        if external.spec.partition("@")[0] in packages:
            where = external.prefix or ", ".join(external.modules)
            yield clean(f"The solver may take the external {external.spec} at {where} instead")
    yield from map(str, (*spack.problems, *find_kept_out(catalog, rules)[1]))
    allowed = [rules.deprecation[n] for n in (*packages, ALL) if n in rules.deprecation]
    severity = "".join(f"; {clean(each)} is allowed ({place_of(each)})" for each in allowed[:1])
    yield f"Recipes are not read: which versions are deprecated is unknown{severity}"


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


def why_report(
    what: str, judged: Sequence[Judged], session: Session, catalog: Catalog, *, shows_all: bool
) -> Report:
    """Report verdicts, those that rule out nothing first, then by their reasons.

    The reasons that are nearest to the query come first, and of these what keeps out most. Long
    lists are cut, unless all is shown.
    """
    total, counts = len(judged), Counter(each.verdict for each in judged)
    free, unknown = counts[Verdict()], sum(e.verdict.reusable == UNKNOWN for e in judged)
    judged = sorted(
        judged, key=lambda e: (bool(e.verdict.reason), e.unmet, -counts[e.verdict], e.verdict)
    )
    limit = None if shows_all else MAX_CANDIDATES

    def nearest(its: Judged) -> str:
        """Return what a verdict on the build nearest to a missing spec begins with."""
        return f"nearest {its.candidate[:SHORT_HASH]}: " if its.missing and its.candidate else ""

    def reason_rows() -> Iterator[Row]:
        """Yield the first reasons of several specs; of one all, and what the nearest lacks."""
        for its in dict.fromkeys(each.verdict for each in judged if each.verdict.reason):
            if total > 1:
                count = of_total(counts[its], total)
                yield Row((count, its.reason, its.change), key=f"{its.reason} {its.place}")
        for each in judged if total == 1 else ():
            texts = [(each.missing, _BUILD)] if each.missing else []
            texts += [(nearest(each) + its.reason, its.change) for its in each.verdicts]
            for cells in (*texts, *((nearest(each) + text,) for text in each.lacks)):
                yield Row(cells, key=cells[0])

    def candidate_row(its: Judged, count: str) -> Row:
        verdict = nearest(its) + (its.verdict.reason or "can be reused")
        name = spec_name(its.package, its.version)
        queries = (exact_query("hash", its.candidate),) if its.candidate else ()
        cells = (count, hash_cell(its.hash), name, verdict, its.about)
        return Row(cells, key=its.hash, leads_to=its.candidate, queries=queries)

    def sections() -> Iterator[Section]:
        packages = dict.fromkeys(each.package for each in judged)
        notes = _configuration_notes(session, catalog, packages)
        yield Section("", [Row((note,)) for note in notes])
        if rows := cut(list(reason_rows()), limit):
            columns = _REASON_COLUMNS[total == 1 :]
            yield Section("why not", rows, is_apart=True, columns=columns)
        # A missing spec names the nearest build, which is then part of what is alike.
        alike = folded(
            judged, lambda e: e.hash if shows_all else (e.missing and e.candidate, *e[1:5])
        )
        if rows := cut([candidate_row(*each) for each in alike], limit):
            noun = "missing, with the nearest builds" if judged[0].missing else "builds"
            order = ", those that can be reused first" if 0 < free < total else ""
            yield Section(noun + order, rows, is_apart=True, columns=_COLUMNS)

    def data() -> dict[str, Any]:
        return {
            "total": total,
            "candidates": [
                {"hash": each.hash, "candidate": each.candidate or None, "about": each.about}
                | {"missing": each.missing or None, "lacks": each.lacks}
                | each.verdict._asdict()
                for each in judged
            ],
        }

    def answer() -> str:
        here, is_missing = host_phrase(session), judged[0].missing
        if total == 1:
            can = "may or may not" if unknown else "can" if free else "cannot"
            return is_missing or f"Spack {can} reuse it {here}"
        of = f"the nearest build of {free:,}" if is_missing else f"{free:,} of {total:,} builds"
        return f"Spack can reuse {of} {here}" + (f", {unknown:,} unknown" if unknown else "")

    return Report(f"{what}: {answer()}" if total else what, sections(), data)

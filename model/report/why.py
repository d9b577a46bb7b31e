"""Report why Spack does not take specs from the caches, by what rules each candidate out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from spackscope.model.analysis.cover import Coverage
from spackscope.model.analysis.reuse import MIRROR, find_kept_out
from spackscope.model.analysis.why import Candidate
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Fit, Spec
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import exact_query
from spackscope.model.report.differences import difference_line
from spackscope.model.report.report import Column, Report, Row, Section, cut, styled
from spackscope.model.sources.reuse_rules import ALL, ReuseRules, place_of
from spackscope.model.sources.session import Session
from spackscope.model.sources.spack_config import Selection

MAX_CANDIDATES = 20
"""Candidates that are listed, unless all are."""

RULED_OUT, CANDIDATES = "ruled out", "candidates, nearest first"

NOTHING = "nothing: the solver decides"
"""What rules a candidate out that may be taken."""

_OF_DEPENDENCY = "a dependency: "

_CHANGES = {
    "D": "nothing: Spack takes no build of sources under development",
    "W": "nothing: Spack always builds its compiler wrapper",
    "X": "packages.yaml: list it with this prefix",
    "R": "the build: do it again with Spack 1.0 or later",
    "F": "the build: do it again with Spack 1.0 or later",
    "N": "Spack: 1.0 and later read it",
    "C": "that line",
    "Q": "that line",
    "P": "the machine",
    "T": "the machine, or ask for a target that it runs",
    "L": "the machine, or take a build for its C library",
    "O": "the machine, or take a build for its system",
}
"""What to change so that a spec is taken, by the letters of rules."""

_REASON_COLUMNS = (
    Column(is_right=False),
    Column(keep="start", floors=(40, 20)),
    Column(floors=(20,)),
    Column(keep="start", floors=(20,), may_go=True),
)
_COLUMNS = (
    Column(),
    Column(is_right=False),
    Column(most=40, floors=(20, 12)),
    Column(most=60, floors=(20,), may_go=True),
    Column(keep="start", floors=(30,)),
)


class Verdict(NamedTuple):
    """Why a spec is not taken: the first reason, where that is written, and what to change.

    Without a reason nothing rules it out. It `is_told` unless a source leaves open whether, and
    `is_rule` where it is a value of the column `reusable`.
    """

    reason: str = ""
    place: str = ""
    change: str = ""
    is_told: bool = True
    is_rule: bool = False


class Judged(NamedTuple):
    """A spec by its hash, what else is to be said about it, and the verdicts on its candidate.

    The candidate is the spec itself, or what comes nearest to it.
    """

    hash: str
    name: str
    about: str
    verdicts: tuple[Verdict, ...]
    candidate: str

    @property
    def verdict(self) -> Verdict:
        """The first verdict, or one without a reason."""
        return self.verdicts[0] if self.verdicts else Verdict()


def verdicts(fit: Fit, rules: ReuseRules | None, unmet: Sequence[str] = ()) -> Iterator[Verdict]:
    """Yield all that rules a spec out, in the order in which Spack checks.

    `unmet` are the conditions that were asked for and that it does not match.
    """
    if unmet:
        yield Verdict(f"not {' '.join(map(clean, unmet))}", change="what you ask for")
    if rules is not None and rules.only_dependencies and rules.reuse is not None:
        text = "concretizer:reuse takes only dependencies of what is asked for"
        yield Verdict(text, place_of(rules.reuse), _CHANGES["C"])
    for reason in fit.reasons:
        if reason.letter:
            label = f"{_OF_DEPENDENCY * reason.letter.islower()}{reason.label}"
            yield Verdict(label, reason.place, _CHANGES[reason.letter.upper()], is_rule=True)
    if fit.reusable is None:
        yield Verdict(", ".join(reason.label for reason in fit.reasons), is_told=False)


def judge_candidates(
    catalog: Catalog, candidates: Iterable[Candidate], rules: ReuseRules | None
) -> Iterator[Judged]:
    """Yield the verdicts on candidates."""
    fits = catalog.by_host.answers
    for each in candidates:
        spec = catalog.rows([each.id])[0].spec
        about = " ".join(filter(None, (spec.compiler, spec.os, spec.target)))
        its = verdicts(fits.brief(each.id), rules, each.unmet)
        yield Judged(spec.hash, spec_name(spec), clean(about), tuple(its), spec.hash)


def judge_missing(
    coverage: Coverage, catalog: Catalog, rules: ReuseRules | None
) -> Iterator[Judged]:
    """Yield for all that is missing the verdict on the nearest that is there.

    What has been concretized is not taken anew: rules on what is asked for do not apply.
    """
    graph, fits = coverage.graph, catalog.by_host.answers
    for spec in coverage.missing:
        name = clean(f"{spec.package}@{spec.version}")
        if not spec.nearest.candidates:
            its = Verdict("no build of the package", change="nothing: it has to be built")
            yield Judged(spec.hash, name, "", (its,), "")
            continue
        best = spec.nearest.candidates[0]
        texts = [difference_line(each).text for each in best.differences]
        of_dependency = rules and replace(rules, only_dependencies=False)
        of_best = tuple(verdicts(fits.brief(best.id), of_dependency))
        (hash_,) = graph.hashes([best.id])
        about = ", ".join(texts) or "only dependencies differ"
        yield Judged(spec.hash, name, f"/{hash_[:SHORT_HASH]}: {about}", of_best, hash_)


def spec_name(spec: Spec) -> str:
    """Return the package and the version of a spec."""
    return clean(f"{spec.package}@{spec.version}" if spec.version else spec.package)


def configuration_notes(
    session: Session, catalog: Catalog, packages: Iterable[str]
) -> Iterator[str]:
    """Yield what else the configuration says of packages, and what of it is not considered."""
    if (rules := session.reuse_rules) is None:
        if session.spack is not None:
            yield "The configuration of Spack is left out"
        return
    for name in (*packages, ALL):
        if place := rules.not_buildable.get(name):
            where = place_of(place)
            yield f"{where}: {name} is not buildable: Spack only takes what there is"
        for spec in rules.preferred.get(name, ()):
            yield f"{place_of(spec)}: the solver prefers {clean(spec)}, if it can"
    for external in session.spack.externals if session.spack is not None else ():
        if external.spec.partition("@")[0] in packages:
            where = external.prefix or ", ".join(external.modules)
            yield clean(f"The solver may take the external {external.spec} at {where} instead")
    for problem in (
        *(session.spack.problems if session.spack else ()),
        *find_kept_out(catalog, rules)[1],
    ):
        yield str(problem)
    allowed = [rules.deprecation[n] for n in (*packages, ALL) if n in rules.deprecation]
    severity = "".join(
        f", of which {clean(each)} ones are allowed ({place_of(each)})" for each in allowed[:1]
    )
    yield f"Not told: which versions the recipes deprecate{severity}"


def filtered_remarks(
    coverage: Coverage, catalog: Catalog, rules: ReuseRules | None
) -> Iterator[str]:
    """Yield how much of an environment is cached, but not fetched by the filters of mirrors.

    What is concretized already is fetched by its hash, so nothing else of the rules applies.
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
    what: str, judged: Sequence[Judged], notes: Iterable[str] = (), *, shows_all: bool = False
) -> Report:
    """Report verdicts, first by their reasons; long lists are cut, unless all is shown."""
    total = len(judged)
    free = sum(not each.verdict.reason for each in judged)
    # Of one spec every reason is told, of several the first of each.
    count_of = 1 if total > 1 else None
    reasons = Counter(its for each in judged for its in each.verdicts[:count_of])

    def row(its: Judged, *more: Judged) -> Row:
        count = f"×{1 + len(more)}" if more else ""
        hash_ = styled(its.hash[:SHORT_HASH], "link")
        cells = (count, hash_, its.name, its.about, its.verdict.reason or NOTHING)
        query = exact_query("hash", its.candidate or its.hash)
        return Row(cells, key=its.hash, leads_to=its.candidate, queries=(query,))

    def sections() -> Iterator[Section]:
        yield Section("", [Row((note,)) for note in notes])
        rows = []
        for its, count in reasons.most_common():
            text = its.reason if its.is_told else f"not told: {its.reason}"
            of_total = f"{count:>{len(str(total))},} of {total:,}"
            change = its.change and f"change {its.change}"
            label = its.reason.removeprefix(_OF_DEPENDENCY)
            others = (exact_query("reusable", label),) if its.is_rule else ()
            cells = (of_total, text, its.place, change)
            rows.append(Row(cells, key=f"{text} {its.place}", queries=others))
        yield Section(
            RULED_OUT if rows else "", rows, is_apart=bool(rows), columns=_REASON_COLUMNS
        )
        alike = groupby(judged, lambda its: (its.name, its.about, its.verdict))
        rows = [row(*its) for _, its in alike]
        shown = cut(rows, None if shows_all else MAX_CANDIDATES)
        yield Section(CANDIDATES if rows else "", shown, is_apart=bool(rows), columns=_COLUMNS)

    def data() -> dict[str, Any]:
        return {
            "total": total,
            "candidates": [
                {"hash": each.hash, "candidate": each.candidate or None, "about": each.about}
                | each.verdict._asdict()
                for each in judged
            ],
        }

    verdicts = f"{free:,} of {total:,} may be taken" if total else "nothing to rule out"
    return Report(f"{what}: {verdicts}", sections(), data)

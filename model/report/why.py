"""Report why Spack does not take specs from the caches, by what rules each candidate out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from spackscope.model.analysis.cover import Coverage
from spackscope.model.analysis.reuse import find_kept_out
from spackscope.model.analysis.why import Candidate
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Fit, Spec
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.differences import difference_line
from spackscope.model.report.report import Column, Report, Row, Section, cut, styled
from spackscope.model.sources.reuse_rules import ALL, ReuseRules, place_of
from spackscope.model.sources.session import Session

MAX_CANDIDATES = 20
"""Candidates that are listed, unless all are."""

RULED_OUT, CANDIDATES = "ruled out", "candidates, nearest first"

NOTHING = "nothing: the solver decides"
"""What rules a candidate out that may be taken."""

_CHANGES = {
    "D": "nothing: Spack takes no build of sources under development",
    "W": "nothing: Spack always builds its compiler wrapper",
    "X": "list it with this prefix in packages.yaml",
    "R": "build it again with Spack 1.0 or later",
    "F": "build it again with Spack 1.0 or later",
    "C": "that line",
    "Q": "that line",
    "P": "the machine",
    "T": "the machine, or ask for a target that it runs",
    "L": "the machine, or take a build for its C library",
    "O": "the machine, or take a build for its system",
}
"""What to change so that a spec is taken, by the letters of rules."""

_COLUMNS = (
    Column(),
    Column(is_right=False),
    Column(most=40, floors=(20, 12)),
    Column(most=60, floors=(20,), may_go=True),
    Column(keep="start", floors=(30,)),
)


class Verdict(NamedTuple):
    """Why a spec is not taken: the first reason, where that is written, and what to change.

    Without a reason nothing rules it out. It `is_told` unless a source leaves open whether.
    """

    reason: str = ""
    place: str = ""
    change: str = ""
    is_told: bool = True


class Judged(NamedTuple):
    """A spec by its hash, what else is to be said about it, and the verdict on its candidate.

    The candidate is the spec itself, or what comes nearest to it.
    """

    hash: str
    name: str
    about: str
    verdict: Verdict
    candidate: str


def verdict(fit: Fit, rules: ReuseRules | None, unmet: Sequence[str] = ()) -> Verdict:
    """Return the first reason that rules a spec out, in the order in which Spack checks.

    `unmet` are the conditions that were asked for and that it does not match.
    """
    if unmet:
        return Verdict(f"not {' '.join(map(clean, unmet))}", change="what you ask for")
    if rules is not None and rules.only_dependencies and rules.reuse is not None:
        text = "concretizer:reuse takes only dependencies of what is asked for"
        return Verdict(text, place_of(rules.reuse), _CHANGES["C"])
    if reason := next((reason for reason in fit.reasons if reason.letter), None):
        label = f"a dependency: {reason.label}" if reason.letter.islower() else reason.label
        return Verdict(label, reason.place, _CHANGES[reason.letter.upper()])
    if fit.reusable is None:
        return Verdict(", ".join(reason.label for reason in fit.reasons), is_told=False)
    return Verdict()


def judge_candidates(
    catalog: Catalog, candidates: Iterable[Candidate], rules: ReuseRules | None
) -> Iterator[Judged]:
    """Yield the verdicts on candidates."""
    fits = catalog.by_host.answers
    for each in candidates:
        spec = catalog.rows([each.id])[0].spec
        about = " ".join(filter(None, (spec.compiler, spec.os, spec.target)))
        its = verdict(fits.brief(each.id), rules, each.unmet)
        yield Judged(spec.hash, spec_name(spec), clean(about), its, spec.hash)


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
            yield Judged(spec.hash, name, "", its, "")
            continue
        best = spec.nearest.candidates[0]
        texts = [difference_line(each).text for each in best.differences]
        its = verdict(fits.brief(best.id), rules and replace(rules, only_dependencies=False))
        (hash_,) = graph.hashes([best.id])
        about = ", ".join(texts) or "only dependencies differ"
        yield Judged(spec.hash, name, f"/{hash_[:SHORT_HASH]}: {about}", its, hash_)


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
    yield "Not told: which versions the recipes deprecate"


def why_report(
    what: str, judged: Sequence[Judged], notes: Iterable[str] = (), *, shows_all: bool = False
) -> Report:
    """Report verdicts, first by their reasons; long lists are cut, unless all is shown."""
    total = len(judged)
    reasons = Counter(each.verdict for each in judged if each.verdict != Verdict())
    free = total - reasons.total()

    def row(its: Judged, *more: Judged) -> Row:
        count = f"×{1 + len(more)}" if more else ""
        hash_ = styled(its.hash[:SHORT_HASH], "link")
        cells = (count, hash_, its.name, its.about, its.verdict.reason or NOTHING)
        return Row(cells, key=its.hash, leads_to=its.candidate)

    def sections() -> Iterator[Section]:
        parts = []
        for its, count in reasons.most_common():
            text = its.reason if its.is_told else f"not told: {its.reason}"
            change = its.change and f"to change: {its.change}"
            rows = [
                Row((line,)) for line in [" · ".join(filter(None, (its.place, change)))] if line
            ]
            parts.append(Section(f"{count:>{len(str(total))},} of {total:,}  {text}", rows))
        yield Section("", [Row((note,)) for note in notes])
        yield Section(RULED_OUT if parts else "", parts, is_apart=bool(parts))
        alike = groupby(judged, lambda its: (its.name, its.about, its.verdict))
        rows = [row(*its) for _, its in alike]
        shown = cut(rows, None if shows_all else MAX_CANDIDATES)
        yield Section(CANDIDATES, shown, is_apart=True, columns=_COLUMNS)

    def data() -> dict[str, Any]:
        return {
            "total": total,
            "candidates": [
                {"hash": each.hash, "candidate": each.candidate or None, "about": each.about}
                | each.verdict._asdict()
                for each in judged
            ],
        }

    verdicts = f"{free:,} of {total:,} may be taken" if total else "there is no build"
    return Report(f"{what}: {verdicts}", sections(), data)

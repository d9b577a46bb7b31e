"""Report why Spack does not reuse specs, with what to change so that it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from spackscope.model.analysis.cover import Coverage
from spackscope.model.analysis.reuse import MIRROR, find_kept_out
from spackscope.model.analysis.why import Candidate
from spackscope.model.core.columns import SHORT_HASH, spec_name
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import UNKNOWN, Fit
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import exact_query
from spackscope.model.report.differences import difference_line
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

_CHANGES = {
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
    Column(most=60, floors=(30, 12)),
    Column(keep="start", floors=(20, 12)),
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

    `about` says what the candidate is, or how it differs; `candidate` is its hash, or "".
    """

    hash: str
    package: str
    version: str
    about: str
    verdicts: tuple[Verdict, ...]
    candidate: str

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
            change = _CHANGES.get(reason.letter.upper()) or f"change {reason.place}"
            if reason.letter.upper() == "N":
                change = reason.label.replace("built by", "use")
            yield Verdict(text, reason.place, change, reason.label)
    if fit.reusable is None:
        text = ", ".join(reason.label for reason in fit.reasons)
        yield Verdict(text, reusable=UNKNOWN)


def judge_candidates(
    catalog: Catalog, candidates: Iterable[Candidate], rules: ReuseRules | None
) -> Iterator[Judged]:
    """Yield the verdicts on candidates."""
    fits = catalog.by_host.answers
    for each in candidates:
        spec = catalog.rows([each.id])[0].spec
        about = clean(" ".join(filter(None, (spec.compiler, spec.os, spec.target))))
        its = tuple(verdicts(fits.brief(each.id), rules, each.unmet))
        yield Judged(spec.hash, spec.package, spec.version, about, its, spec.hash)


def judge_missing(
    coverage: Coverage, catalog: Catalog, rules: ReuseRules | None
) -> Iterator[Judged]:
    """Yield the verdicts on the nearest build of each missing spec.

    A lock file is concretized already: rules on what is asked for do not apply.
    """
    nearest, fits = coverage.nearest_hashes(), catalog.by_host.answers
    of_dependency = rules and replace(rules, only_dependencies=False)
    for spec in coverage.missing:
        none = Verdict("no build of the package", change="nothing to change: it has to be built")
        about, hash_, its = "", "", [none]
        if (best := spec.nearest.best) is not None:
            its = list(verdicts(fits.brief(best.id), of_dependency))
            hash_ = nearest[spec.hash]
            texts = [difference_line(each).text for each in best.differences]
            differences = ", ".join(texts) or "only dependencies differ"
            about = f"/{hash_[:SHORT_HASH]}: {differences}"
        yield Judged(spec.hash, spec.package, spec.version, about, tuple(its), hash_)


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
    """Report verdicts, first by their reasons; long lists are cut, unless all is shown."""
    total = len(judged)
    # All reasons of a single spec, the first one of each of several.
    count_of = 1 if total > 1 else None
    reasons = Counter(its for each in judged for its in each.verdicts[:count_of])

    def reason_row(its: Verdict, count: int) -> Row:
        queries = (exact_query("reusable", its.reusable),) if its.reusable else ()
        cells = (of_total(count, total), its.reason, its.change)
        return Row(cells, key=f"{its.reason} {its.place}", queries=queries)

    def candidate_row(its: Judged, count: str) -> Row:
        name, reason = spec_name(its.package, its.version), its.verdict.reason or "may be taken"
        cells = (count, hash_cell(its.hash), name, its.about, reason)
        query = exact_query("hash", its.candidate or its.hash)
        return Row(cells, key=its.hash, leads_to=its.candidate, queries=(query,))

    def sections() -> Iterator[Section]:
        packages = dict.fromkeys(each.package for each in judged)
        notes = _configuration_notes(session, catalog, packages)
        yield Section("", [Row((note,)) for note in notes])
        if rows := [reason_row(*each) for each in reasons.most_common()]:
            yield Section("reasons", rows, is_apart=True, columns=_REASON_COLUMNS)
        candidates = folded(judged, lambda its: (its.package, its.version, its.about, its.verdict))
        rows = [candidate_row(*each) for each in candidates]
        if shown := cut(rows, None if shows_all else MAX_CANDIDATES):
            yield Section("candidates, nearest first", shown, is_apart=True, columns=_COLUMNS)

    def data() -> dict[str, Any]:
        return {
            "total": total,
            "candidates": [
                {"hash": each.hash, "candidate": each.candidate or None, "about": each.about}
                | each.verdict._asdict()
                for each in judged
            ],
        }

    free = sum(not each.verdict.reason for each in judged)
    unknown = sum(each.verdict.reusable == UNKNOWN for each in judged)
    others = f", {unknown:,} unknown" if unknown else ""
    answer = f"{free:,} of {total:,} may be taken{others}" if total else "nothing to rule out"
    return Report(f"{what}: {answer}", sections(), data)

"""Explain why Spack does not reuse specs, and suggest changes so that it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from spackscope.model.analysis.cover import Coverage, cover, find_nearest
from spackscope.model.analysis.session_fit import host_of
from spackscope.model.answers import Asked
from spackscope.model.core.columns import SHORT_HASH, spec_name
from spackscope.model.core.commands import FIT, SHEET, SOURCES_WITHOUT_ALL, Command
from spackscope.model.core.errors import WrongQuestion
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import UNKNOWN, Fit
from spackscope.model.core.rules import PREFERRED
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Group, Query, Term, exact_query, format_group, join_words
from spackscope.model.report.differences import differences_from_nearest
from spackscope.model.report.report import of_total
from spackscope.model.report.sheet import (
    Sheet,
    SheetColumn,
    hash_column,
    package_column,
    version_column,
)
from spackscope.model.sources.resolve import find_environment, names_source
from spackscope.model.sources.session import Session
from spackscope.model.sources.spack_config import ALL, ReuseRules, place_of

COMMAND = Command(
    "why",
    "list what keeps Spack from reusing a build",
    ("[-f CACHE]... [OUTPUT] HASH | QUERY...", "[-f CACHE]... [OUTPUT] LOCK"),
    """\
List the builds of a package in caches and install trees: first those that
Spack can reuse, then the others by the reason why it does not: the query, the
host, or the configuration of your Spack, with the file and line to change. The
command reads no recipes, and so cannot say which versions are deprecated;
Spack 1.3 or later does not reuse those. For specs that no cache has, such as
the missing specs of a LOCK (a spack.lock or the directory of an environment),
it names the nearest build and how that differs. The solver may still prefer
another spec to a build that it can reuse.""",
    (*SHEET, *FIT, *SOURCES_WITHOUT_ALL),
    words="spec or environment",
    least=1,
    wrong_count="needs a query, a hash or a lock file",
    codes={0: "one can be reused", 1: "none"},
    examples="""\
spackscope why hdf5@1.14 +mpi target=zen4
spackscope why uehz56w --config none
spackscope why spack.lock -f public""",
)


_OF_DEPENDENCY = "a dependency: "
_MISSING, _RECORDED = "no cache has it", "a source lists it without a binary"
_BUILD = "build it, or open a cache that has it"


def answer(asked: Asked) -> Sheet[Judged]:
    """Return the verdicts on builds that a query names, or on the builds nearest to a lock file's.

    The sheet is not good if Spack can reuse no build.
    """
    words, session = asked.words, asked.session
    asked.rests_on_configuration = True
    if len(words) == 1 and names_source(words[0]):
        name = find_environment(words[0], session)
        environment, caches = asked.load([name], asked.sources)
        coverage = find_nearest(cover(environment, caches))
        missing = list(judge_missing(coverage, caches))
        what = f"{clean(words[0])}, {len(missing):,} of {coverage.total:,} missing"
        return replace(why(what, missing, session, caches), is_good=not missing)
    query, what = asked.query(words), clean(join_words(words))
    if not names_specs(query):
        raise WrongQuestion(f"why needs a package, a hash or a lock file: {what}")
    (catalog,) = asked.load(asked.sources)
    judge = partial(judge_query, catalog, rules=session.reuse_rules)
    judged = judge(query)
    if not judged and (prefix := asked.hash_prefix()):
        judged = judge(asked.query([f"/{prefix}"]))
    if not judged:
        raise asked.no_match(catalog, query)
    if query.columns == {"hash"}:
        # Hashes say less than what they have in common.
        names = {spec_name(each.package, each.version) for each in judged}
        packages = {clean(each.package) for each in judged}
        what = counted(len(packages), "package")
        if len(packages) == 1:
            (what,) = names if len(names) == 1 else packages
        if len(judged) == 1:
            what += f" /{judged[0].hash[:SHORT_HASH]}"
    return why(what, judged, session, catalog)


_NAMING = ("package", "hash")
"""Columns whose conditions each candidate matches."""

_AVAILABLE = (Term("state", "cached"), Term("state", "installed"))


def names_specs(query: Query) -> bool:
    """Check whether a query names a package or a hash, so that it has candidates."""
    return all(any(group[0].column in _NAMING for group in groups) for groups in query.whole_specs)


def find_candidates(catalog: Catalog, query: Query) -> dict[int, tuple[str, ...]]:
    """Return the cached or installed builds of the packages or hashes that a query names.

    Maps the id of each build to the conditions of the query that it does not match.

    Builds with the fewest unmet conditions come first, and of these the newest; an unknown package
    has no builds. Raises Cancelled, and Unanswerable for conditions that the index cannot answer.

        list(find_candidates(catalog, parse("hdf5@1.14 +mpi")).values())  # [(), ("+mpi",)]
    """

    def ids(*groups: Group) -> set[int]:
        return {*catalog.match(Query(groups)).ids()}

    nearest: dict[int, tuple[str, ...]] = {}
    if catalog.virtuals.unknown(query):
        return {}
    for groups in query.whole_specs:
        naming = [group for group in groups if all(c.column in _NAMING for c in group)]
        of_name = ids(*naming, _AVAILABLE)
        unmet = {id_: list[str]() for id_ in of_name}
        for group in groups:
            for id_ in of_name - ids(*naming, group):
                unmet[id_].append(format_group(group))
        for id_, texts in unmet.items():
            if id_ not in nearest or len(texts) < len(nearest[id_]):
                nearest[id_] = tuple(texts)
    # Ids are in the order of versions.
    return dict(sorted(nearest.items(), key=lambda item: (len(item[1]), -item[0])))


class Verdict(NamedTuple):
    """Why Spack does not reuse a spec: the reason, the file and line of a rule, and the change.

    Without a reason, Spack can reuse the spec. `reusable` is the value in the column of this name,
    if it has one, and `rule` the name of the rule of `core.rules` that the spec breaks.
    """

    reason: str = ""
    place: str = ""
    change: str = ""
    reusable: str = ""
    rule: str = ""


class Judged(NamedTuple):
    """A spec, and the verdicts on its candidate: the spec itself, or the build nearest to it.

    `built_with` has the compiler, os and target of the candidate, and `candidate` its hash, "" if
    there is none. `missing` says why the spec itself is missing, or is ""; `lacks` has the
    differences of a missing spec from the nearest build. `unmet` counts the conditions of the
    query that the candidate does not match. A row has one verdict: the first one of each of
    several specs, or each verdict on a single spec.
    """

    hash: str
    package: str
    version: str
    built_with: str
    verdicts: tuple[Verdict, ...]
    candidate: str
    unmet: int = 0
    missing: str = ""
    lacks: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The first verdict, or one without a reason."""
        return self.verdicts[0] if self.verdicts else Verdict()

    @property
    def nearest(self) -> str:
        """The hash of the nearest build of a missing spec; "" if there is none."""
        return self.candidate if self.missing else ""


def verdicts(fit: Fit) -> Iterator[Verdict]:
    """Yield all reasons against a spec, in the order in which Spack checks."""
    for reason in fit.reasons:
        if reason.is_reuse and not reason.rule.is_unknown:
            text = f"{_OF_DEPENDENCY * reason.of_dependency}{reason.sentence or reason.label}"
            yield Verdict(text, reason.place, reason.change, reason.label, reason.rule.name)
    if fit.reusable is None:
        text = ", ".join(reason.label for reason in fit.reasons if reason.is_reuse)
        yield Verdict(text, reusable=UNKNOWN)
    elif fit.reusable and not fit.fits:
        # Spack reuses a spec whose C library is not listed.
        labels = ", ".join(reason.label for reason in fit.reasons if reason.is_run)
        yield Verdict(change=f"can be reused, but may not run: {labels}")
    elif fit.reusable:
        for reason in fit.reasons:
            if reason.rule is PREFERRED:
                of = _OF_DEPENDENCY * reason.of_dependency
                first = "Spack takes or builds such a one first, if it can"
                change = f"can be reused, but {of}{reason.label}: {first}"
                yield Verdict(place=reason.place, change=change)


def judge_query(catalog: Catalog, query: Query, rules: ReuseRules | None) -> list[Judged]:
    """Return the verdicts on the builds that a query names; empty if it matches no spec.

    For specs that no cache has, the nearest builds are judged. Raises Cancelled, and Unanswerable
    for conditions that the index cannot answer.
    """
    if candidates := find_candidates(catalog, query):
        return list(_judge_candidates(catalog, candidates, rules))
    ids = catalog.match(query).ids()
    hashes = list(dict.fromkeys(catalog.hashes.of(ids)))
    coverage = find_nearest(cover(hashes, catalog))
    # Specs that are not missing are external.
    externals = dict.fromkeys(() if coverage.missing else ids, ())
    missing = judge_missing(coverage, catalog)
    return [*missing, *_judge_candidates(catalog, externals, rules)]


def _judge_candidates(
    catalog: Catalog, candidates: Mapping[int, tuple[str, ...]], rules: ReuseRules | None
) -> Iterator[Judged]:
    fits, refused = catalog.by_host.answers, list[Verdict]()
    if rules is not None and rules.only_dependencies and rules.reuse is not None:
        place = place_of(rules.reuse)
        text = "concretizer:reuse allows only dependencies of the requested specs"
        refused.append(Verdict(text, place, f"change {place}"))
    for id_, unmet in candidates.items():
        spec = catalog.rows([id_])[0].spec
        about = clean(" ".join(filter(None, (spec.compiler, spec.os, spec.target))))
        text = f"does not match {' '.join(map(clean, unmet))}"
        of_query = [Verdict(text, change="change the query")] if unmet else []
        its = (*of_query, *refused, *verdicts(fits.brief(id_)))
        named = spec.hash, spec.package, spec.version
        yield Judged(*named, about, its, spec.hash, len(unmet))


def judge_missing(coverage: Coverage, catalog: Catalog) -> Iterator[Judged]:
    """Yield the verdicts on the nearest build of each missing spec.

    A lock file is concretized already: rules on requested specs do not apply.
    """
    nearest, fits = coverage.nearest_hashes(), catalog.by_host.answers
    for spec in coverage.missing:
        its, lacks = [Verdict("no build of the package", change="build it")], list[str]()
        if (best := spec.nearest.id) is not None:
            its, lacks = list(verdicts(fits.brief(best))), differences_from_nearest(spec)
        named = spec.hash, spec.package, spec.version
        missing = _RECORDED if spec.is_recorded else _MISSING
        candidate = nearest.get(spec.hash, "")
        yield Judged(*named, "", tuple(its), candidate, 0, missing, tuple(lacks))


def _configuration_notes(
    session: Session, catalog: Catalog, packages: Collection[str]
) -> Iterator[str]:
    """Yield other entries of the configuration on packages, and rules that do not apply."""
    spack, rules = session.spack, session.reuse_rules
    if spack is None:
        return
    if rules is None:
        yield "Your Spack configuration is ignored"
        return
    for name in (*packages, ALL):
        if place := rules.not_buildable.get(name):
            where = place_of(place)
            yield f"{where}: {name} is not buildable: Spack only uses existing builds"
        for spec in (spec for rule in rules.preferred.get(name, ()) for spec in rule.specs):
            yield f"{place_of(spec)}: the solver prefers {clean(spec)}"
    for external in spack.externals:
        if external.spec.partition("@")[0] in packages:
            where = external.prefix or ", ".join(external.modules)
            yield clean(f"The solver may use the external {external.spec} at {where} instead")
    known = catalog.texts("package")
    for name, notes in catalog.by_host.answers.not_applied.items():
        if name in packages or name not in known:
            yield from map(str, notes)


def why(what: str, judged: Sequence[Judged], session: Session, catalog: Catalog) -> Sheet[Judged]:
    """Return the verdicts: reusable builds first, then the others by reason.

    Reasons of the builds that match most of the query come first, then reasons of the most builds.
    The sheet is not good if every spec is missing or ruled out.
    """
    total, counts = len(judged), Counter(each.verdict for each in judged)
    free = sum(not each.verdict.reason for each in judged)
    unknown = sum(each.verdict.reusable == UNKNOWN for each in judged)
    judged = sorted(
        judged, key=lambda e: (bool(e.verdict.reason), e.unmet, -counts[e.verdict], e.verdict)
    )
    rows = [
        each._replace(verdicts=(verdict,))
        for each in judged
        for verdict in (each.verdicts if total == 1 else ()) or (each.verdict,)
    ]

    def heading(row: Judged) -> str:
        if total == 1:
            return ""
        its = row.verdict
        reason = "; ".join(filter(None, (its.reason, its.change))) or "can be reused"
        nearest = "the nearest build: " if row.nearest else ""
        return f"{of_total(counts[its], total).strip()}: {nearest}{reason}"

    def title() -> str:
        here, is_missing = host_of(session).where, judged[0].missing
        if total == 1:
            can = "may or may not" if unknown else "can" if free else "cannot"
            return is_missing or f"Spack {can} reuse it {here}"
        of = f"{free:,} of {total:,} builds"
        if is_missing:
            of = f"the nearest build of {free:,}" if free else "none of the nearest builds"
        return f"Spack can reuse {of} {here}" + (f", {unknown:,} unknown" if unknown else "")

    packages = dict.fromkeys(each.package for each in judged)
    return Sheet(
        f"{what}: {title()}" if total else what,
        _COLUMNS,
        rows,
        row="a build, and what keeps Spack from reusing it",
        hash=lambda row: row.hash,
        beside=lambda row: row.nearest,
        query=lambda row: exact_query("hash", row.candidate) if row.candidate else None,
        group=heading,
        redundant=_REDUNDANT[:1] if total == 1 else _REDUNDANT,
        notes=list(_configuration_notes(session, catalog, packages)),
        is_good=any(not each.verdict.reason and not each.missing for each in judged),
    )


_REDUNDANT = ("place", "reason", "change", "missing")
"""Columns whose values are in `change`, and in the heading of several specs."""

_COLUMNS: list[SheetColumn[Judged]] = [
    hash_column(lambda row: row.hash, meaning="the build"),
    package_column(lambda row: row.package),
    version_column(lambda row: row.version),
    SheetColumn(
        "missing",
        lambda row: row.missing or None,
        wraps=True,
        meaning="why the spec itself is missing",
    ),
    hash_column(
        lambda row: row.nearest or None, "nearest", meaning="the hash of the nearest cached spec"
    ),
    SheetColumn(
        "reason",
        lambda row: row.verdict.reason or None,
        "why not",
        wraps=True,
        meaning="why Spack does not reuse it",
    ),
    SheetColumn(
        "place", lambda row: row.verdict.place or None, meaning="the file and line of the rule"
    ),
    SheetColumn(
        "change",
        lambda row: row.verdict.change or (_BUILD if row.missing else None),
        "what to do",
        wraps=True,
        meaning="what to change",
    ),
    SheetColumn(
        "reusable",
        lambda row: row.verdict.reusable or None,
        drawn=False,
        meaning="whether Spack can reuse it, or the reason as a query has it: `aarch64 target`",
    ),
    SheetColumn(
        "rule",
        lambda row: row.verdict.rule or None,
        drawn=False,
        meaning="the name of the rule that it breaks",
    ),
    SheetColumn(
        "built_with",
        lambda row: row.built_with or None,
        "built with",
        wraps=True,
        meaning="compiler, os and target",
    ),
    SheetColumn(
        "differs_in", lambda row: row.lacks, wraps=True, meaning="how the nearest build differs"
    ),
]

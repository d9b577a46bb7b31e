"""Check whether the specs of an environment may be published."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from spackscope.model.analysis.cover import Coverage
from spackscope.model.analysis.deprecated import find_deprecated, find_restricted
from spackscope.model.core.errors import WrongQuestion
from spackscope.model.core.records import CHECKS, SEVERITIES, severity_rank
from spackscope.model.core.suggestions import listed
from spackscope.model.core.tasks import report_progress, run_parallel
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.sources.mirror_spec import MirrorEntry, Mirrors
from spackscope.model.sources.recipes import Recipes
from spackscope.model.sources.session import Session

MISSING, UNSIGNED, BY, DEPRECATED, RESTRICTED, UNKNOWN = CHECKS

_KEY = re.compile("(?:0x)?([0-9a-fA-F]{8,})")


class Checks(NamedTuple):
    """The checks of `--fail-on`: their names, the keys that may sign, and the least severity."""

    names: frozenset[str]
    keys: tuple[str, ...]
    severity: str

    @property
    def need_signatures(self) -> bool:
        """Whether signatures are to be read."""
        return not self.names.isdisjoint((UNSIGNED, BY))

    @property
    def need_recipes(self) -> bool:
        """Whether recipes are to be read."""
        return not self.names.isdisjoint((DEPRECATED, RESTRICTED))


def parse_checks(texts: Iterable[str]) -> Checks:
    """Parse the values of `--fail-on`, each with checks between commas. Raises WrongQuestion."""
    names, keys, least = set[str](), list[str](), SEVERITIES[1]
    for text in (part.strip() for each in texts for part in each.split(",")):
        name, sign, value = text.partition("=")
        key = _KEY.fullmatch(value)
        if name == BY and key:
            keys.append(key[1].lower())
        elif name == DEPRECATED and severity_rank(value) > 0:
            least = value
        elif name == BY or name not in CHECKS or sign:
            forms = {BY: f"{BY}=KEY", DEPRECATED: f"{DEPRECATED}[=SEVERITY]"}
            which = listed([forms.get(each, each) for each in CHECKS], "or")
            raise WrongQuestion(f"--fail-on takes {which}, not {clean(text) or 'nothing'}")
        names.add(name)
    return Checks(frozenset(names), tuple(keys), least)


class CheckResult(NamedTuple):
    """The checks that a spec fails, and those without an answer, each with the reason."""

    fails: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def check_specs(
    coverage: Coverage,
    described_by: Sequence[Catalog],
    recipes: Recipes | None,
    entries: Mapping[str, Sequence[MirrorEntry]],
    checks: Checks,
) -> dict[str, CheckResult]:
    """Return the result of each spec of an environment that is not external, by its hash.

    The first catalog that has a spec describes it; `entries` are those of cached specs in mirrors.
    Raises Cancelled.
    """
    missing = [spec.hash for spec in coverage.missing]
    hashes = [*missing, *(hit.hash for hit in coverage.hits)]
    fails, unknown = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for hash_ in missing if MISSING in checks.names else ():
        fails[hash_].append(MISSING)
    for hash_, its in entries.items() if checks.need_signatures else ():
        for what, is_known in _signature_failures(its, checks):
            (fails if is_known else unknown)[hash_].append(what)
    left = set(hashes) if checks.need_recipes or UNKNOWN in checks.names else set[str]()
    for catalog in described_by:
        every = catalog.hashes.of(range(catalog.total if left else 0))
        ids = {id_: hash_ for id_, hash_ in enumerate(every) if hash_ in left}
        left.difference_update(ids.values())
        for id_, what, is_known in _recipe_failures(catalog, ids, recipes, checks):
            (fails if is_known else unknown)[ids[id_]].append(what)
    for hash_ in left:
        unknown[hash_].append("no source describes it")
    for hash_ in unknown if UNKNOWN in checks.names else ():
        fails[hash_].append(UNKNOWN)
    return {
        hash_: CheckResult(*(tuple(dict.fromkeys(its.get(hash_, ()))) for its in (fails, unknown)))
        for hash_ in hashes
    }


def _signature_failures(
    entries: Sequence[MirrorEntry], checks: Checks
) -> Iterator[tuple[str, bool]]:
    """Yield what the signatures of a cached spec fail, and whether that is known."""
    if not entries:
        yield "signature: no mirror of the sources has the spec", False
    for entry in entries:
        signature = entry.signer and entry.signer.signature
        if entry.is_signed is None:
            yield clean(f"signature: {entry.problem}"), False
        elif signature is None and UNSIGNED in checks.names:
            yield UNSIGNED, True
        elif checks.keys:
            by = (signature.fingerprint or signature.key_id).lower() if signature else ""
            if not by.endswith(checks.keys):
                yield f"{BY}={'|'.join(checks.keys)}", True


def _recipe_failures(
    catalog: Catalog, ids: Collection[int], recipes: Recipes | None, checks: Checks
) -> Iterator[tuple[int, str, bool]]:
    """Yield what the recipes of records fail, and whether that is known."""
    if recipes is None:
        return
    deprecated = find_deprecated(catalog, recipes) if DEPRECATED in checks.names else ()
    for package in deprecated:
        severity = package.deprecation.severity
        if severity_rank(severity) >= severity_rank(checks.severity):
            yield from (
                (id_, f"{DEPRECATED}={severity}", True) for id_ in package.ids if id_ in ids
            )
    if RESTRICTED in checks.names:
        restricted, unclear = find_restricted(catalog, recipes)
        yield from ((id_, RESTRICTED, True) for id_ in ids if id_ in restricted)
        why = f"{RESTRICTED}: the source does not answer the condition of the recipe"
        yield from ((id_, why, False) for id_ in ids if id_ in unclear - restricted)
    for id_ in ids:
        package_name = catalog.text("package", id_)
        if package_name not in recipes.packages:
            yield id_, "there is no recipe", False
        elif package_name in recipes.unread:
            yield id_, "the recipe cannot be read completely", False


def read_entries(
    hashes: Iterable[str], caches: Catalog, session: Session, sources: Sequence[str]
) -> dict[str, list[MirrorEntry]]:
    """Return the entries of specs in all mirrors that list them, by hash. Raises Cancelled."""
    mirrors = Mirrors(caches.sources, session, sources)
    specs = {hash_: [row.spec for row in caches.by_hash(hash_)] for hash_ in hashes}

    def read(number: int, hash_: str) -> list[MirrorEntry]:
        report_progress("specs looked up in mirrors", number, len(specs))
        of_mirrors = (spec for spec in specs[hash_] if caches.has_mirror(spec))
        return [entry for spec in of_mirrors for entry in mirrors.entries(spec)]

    tasks = [partial(read, number, hash_) for number, hash_ in enumerate(specs)]
    return dict(zip(specs, run_parallel(tasks), strict=True))

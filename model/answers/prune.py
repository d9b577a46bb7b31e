"""Preview the pruning of a build cache: specs that it would remove or break, and space freed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import lru_cache, partial
from typing import NamedTuple

from spackscope.model.analysis.dag import ClosureMasks, dag_of
from spackscope.model.answers import Asked
from spackscope.model.core.columns import sizes_text, spec_name
from spackscope.model.core.errors import Unreadable, WrongQuestion
from spackscope.model.core.records import Spec
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.text import counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import nearest_first
from spackscope.model.query.ast import exact_query
from spackscope.model.query.parser import parse
from spackscope.model.report.sheet import (
    Sheet,
    SheetColumn,
    hash_column,
    size_column,
    version_column,
)
from spackscope.model.sources.resolve import names_source
from spackscope.model.sources.source_name import STANDARD_INPUT

_BY_TIME = (
    "Spack keeps what was modified after the index of the mirror; of the rest it also deletes"
    " specs that the index does not list, which are not counted here"
)
"""As `prune_buildcache` and `prune_direct` of lib/spack/spack/buildcache_prune.py."""

BROKEN, REMOVED = "broken", "removed"
_HEADINGS = {BROKEN: "would break", REMOVED: "would be removed"}


def answer(asked: Asked) -> Sheet[PrunedSpec]:
    """Return the specs that would be removed or break, chosen by a keep-list or a query."""
    if not asked.options.get("preview"):
        raise WrongQuestion("prune deletes nothing: add --preview")
    if len(asked.words) == 1 and names_source(asked.words[0]):
        hashes = _read_keep_list(asked)
        (catalog,) = asked.load(asked.sources)
        chosen = [row.id for hash_ in hashes for row in catalog.by_hash(hash_)]
        return prune(catalog, chosen, are_kept=True)
    query = asked.query(asked.words)
    (catalog,) = asked.load(asked.sources)
    ids = catalog.match(query).ids()
    if not ids:
        raise asked.no_match(catalog, query)
    return prune(catalog, ids, are_kept=False)


def _read_keep_list(asked: Asked) -> list[str]:
    """Return the hashes of a keep-list. Raises Unreadable where a line has none."""
    (name,) = asked.words
    path = asked.session.piped.get(name, name)
    shown = "standard input" if name == STANDARD_INPUT else shown_url(name)
    hashes, wrong = asked.read_hashes(path, shown) or ([], 0)
    if not hashes or wrong:
        # `spack buildcache prune` stops there, too.
        raise Unreadable(f"{shown} is not a keep-list: it needs a full hash on each line")
    return hashes


class PrunedSpec(NamedTuple):
    """A removed spec with the number of specs that need it, or a broken one with its dependency.

    The dependency of a broken spec is one that would be removed.
    """

    state: str
    hash: str
    package: str
    version: str
    size: float | None
    needs: str = ""
    needs_hash: str = ""
    needed_by: int = 0


def prune(catalog: Catalog, chosen: Collection[int], *, are_kept: bool) -> Sheet[PrunedSpec]:
    """Return the broken specs, then the removed specs, the largest first.

    The chosen specs are removed, or if `are_kept` all others. Only cached specs are removed; if a
    catalog knows none, all count as cached. A broken spec names the nearest removed dependency,
    and a removed one counts the remaining specs that link or run it directly. The sheet is not
    good if specs break. Raises Cancelled.
    """
    graph = dag_of(catalog)
    cached = catalog.match(parse("cached")).ids() or range(catalog.total)
    every = dict.fromkeys(map(graph.identity, cached))
    picked = set(map(graph.identity, chosen))
    gone = {id_: None for id_ in every if (id_ in picked) is not are_kept}
    kept = [id_ for id_ in every if id_ not in gone]

    run_dependencies = lru_cache(None)(partial(graph.dependencies, run_only=True))

    def nearest_gone(start: int) -> int:
        return next(filter(gone.__contains__, nearest_first([start], run_dependencies)))

    below = ClosureMasks(run_dependencies, lambda id_: int(id_ in gone))
    broken = {id_: nearest_gone(id_) for id_ in kept if below.whole(id_)}
    needed_by = Counter(
        child for id_ in broken for child in set(run_dependencies(id_)) if child in gone
    )
    unlisted = sum(not graph.lists_dependencies(id_) for id_ in kept)

    def row(id_: int, spec: Spec) -> PrunedSpec:
        named = spec.hash, spec.package, spec.version, spec.size
        if id_ in gone:
            return PrunedSpec(REMOVED, *named, needed_by=needed_by[id_])
        needed = broken[id_]
        needs = spec_name(graph.name(needed), graph.version(needed))
        return PrunedSpec(BROKEN, *named, needs, graph.hash(needed))

    ids = (*broken, *gone)
    rows = list(map(row, ids, catalog.records(ids)))
    sizes = [row.size for row in rows[len(broken) :]]
    rows.sort(key=lambda row: (row.state, -(row.size or 0) if row.state == REMOVED else 0))
    doubt = ", as far as dependencies are listed" if unlisted and not broken else ""
    others = f"{counted(len(broken), 'other')} would break"
    users = others if broken else "nothing else needs them to run"
    removed = f"{len(gone):,} of {counted(len(every), 'spec')}, {sizes_text(sizes)}"
    return Sheet(
        f"Prune preview: removes {removed}; {users}{doubt}",
        _COLUMNS,
        rows,
        hash=lambda row: row.hash,
        query=lambda row: exact_query("hash", row.hash),
        group=lambda row: _HEADINGS[row.state],
        told=("state",),
        notes=[
            *[f"No source lists the dependencies of {counted(unlisted, 'spec')} that would stay"]
            * bool(unlisted),
            _BY_TIME,
        ],
        is_good=not broken,
        is_certain=True,
    )


_COLUMNS: list[SheetColumn[PrunedSpec]] = [
    SheetColumn("state", lambda row: row.state),
    hash_column(lambda row: row.hash),
    SheetColumn("package", lambda row: row.package),
    version_column(lambda row: row.version),
    size_column(lambda row: row.size),
    SheetColumn("needs", lambda row: row.needs or None),
    hash_column(lambda row: row.needs_hash or None, "needs_hash"),
    SheetColumn(
        "needed_by",
        lambda row: row.needed_by,
        "still needed by",
        text=lambda count: f"{count:,}" * bool(count),
    ),
]

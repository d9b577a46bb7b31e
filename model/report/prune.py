"""Report what pruning a build cache would take away: packages, sizes, and what would break."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from spackscope.model.analysis.prune import Pruning
from spackscope.model.core.columns import SHORT_HASH, size_text
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import exact_query
from spackscope.model.report.needs import spec_name
from spackscope.model.report.report import Cell, Column, Report, Row, Section, cut, styled

MAX_LINES = 20
"""Lines of each section, unless all are asked for."""

_COLUMNS = (
    Column(),
    Column(is_right=False),
    Column(most=50, floors=(24, 12)),
    Column(floors=(24, 12)),
    Column(is_right=False, floors=(7,), may_go=True),
)
_GONE_COLUMNS = (*_COLUMNS[:3], Column(), Column(keep="start", floors=(24,), may_go=True))

BROKEN, GONE = "stays, and would break", "would go"


def prune_report(pruning: Pruning, catalog: Catalog, *, shows_all: bool = False) -> Report:
    """Report a pruning; long lists are cut, unless all is shown."""
    graph, limit = pruning.graph, None if shows_all else MAX_LINES
    specs = {id_: catalog.rows([id_])[0].spec for id_ in (*pruning.gone, *pruning.broken)}
    sizes = {id_: specs[id_].size for id_ in pruning.gone}

    def link(hash_: str) -> Cell:
        return styled(hash_[:SHORT_HASH], "link")

    def size_of(*ids: int) -> str:
        known = [size for id_ in ids if (size := sizes[id_])]
        unknown = len(ids) - len(known)
        parts = [size_text(sum(known))] if known else []
        return " + ".join([*parts, *([f"{unknown:,} unknown"] if unknown else [])])

    def sections() -> Iterator[Section]:
        if pruning.unlisted:
            count = counted(pruning.unlisted, "spec")
            yield Section("", [Row((f"What {count} that would stay need is not told",))])
        rows = []
        needs = {id_: pruning.needs(id_) for id_ in pruning.broken}
        alike = groupby(needs, lambda id_: (spec_name(specs[id_]), needs[id_]))
        for (name, needed), ids in alike:
            first, *more = ids
            (hash_,) = graph.hashes([needed])
            count = f"×{1 + len(more)}" if more else ""
            what = clean(f"needs {graph.name(needed)}@{graph.version(needed)}")
            cells: tuple[Cell, ...] = (count, link(specs[first].hash), name, what, link(hash_))
            rows.append(_row(cells, specs[first].hash))
        shown = cut(rows, limit)
        yield Section(BROKEN if rows else "", shown, is_apart=bool(rows), columns=_COLUMNS)
        rows = []
        # What frees most first.
        biggest = sorted(pruning.gone, key=lambda id_: -(sizes[id_] or 0))
        needed_by = pruning.needed_by
        groups = groupby(biggest, lambda id_: (spec_name(specs[id_]), sizes[id_], needed_by[id_]))
        for (name, size, users), ids in groups:
            first, *more = ids
            count = f"×{1 + len(more)}" if more else ""
            what = f"needed by {users:,} that would stay" if users else ""
            cells = (count, link(specs[first].hash), name, size_text(size) if size else "-", what)
            rows.append(_row(cells, specs[first].hash))
        shown = cut(rows, limit)
        yield Section(GONE if rows else "", shown, is_apart=bool(rows), columns=_GONE_COLUMNS)

    def data() -> dict[str, Any]:
        return {
            "total": pruning.total,
            "size": sum(size or 0 for size in sizes.values()),
            "unknown_sizes": sum(not size for size in sizes.values()),
            "gone": [
                {"hash": specs[id_].hash, "size": sizes[id_], "needed_by": pruning.needed_by[id_]}
                for id_ in pruning.gone
            ],
            "broken": [
                {"hash": specs[id_].hash, "needs": graph.hashes([pruning.needs(id_)])[0]}
                for id_ in pruning.broken
            ],
        }

    if not pruning.gone:
        return Report(f"nothing of {counted(pruning.total, 'spec')} would go", sections(), data)
    what = f"{len(pruning.gone):,} of {counted(pruning.total, 'spec')} would go"
    if pruning.broken:
        verb = "breaks" if len(pruning.broken) == 1 else "break"
        breaks = f"{len(pruning.broken):,} that would stay {verb}"
    else:
        breaks = f"nothing breaks{', as far as is told' * bool(pruning.unlisted)}"
    return Report(f"{what}: {size_of(*pruning.gone)}; {breaks}", sections(), data)


def _row(cells: Sequence[Cell], hash_: str) -> Row:
    """Return a row about a spec, which it leads to."""
    return Row(cells, key=hash_, queries=(exact_query("hash", hash_),))

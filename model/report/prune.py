"""Report what pruning a build cache would remove, the sizes, and what would break."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spackscope.model.analysis.prune import Pruning
from spackscope.model.core.columns import size_text, sizes_text, spec_name
from spackscope.model.core.text import counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import exact_query
from spackscope.model.report.report import Column, Report, Row, Section, cut, folded, hash_cell

MAX_LINES = 20
"""Lines of each section, unless all are asked for."""

_COLUMNS = (
    Column(),
    Column(),
    Column(most=50, floors=(24, 12)),
    Column(floors=(24, 12)),
    Column(floors=(7,), may_go=True),
)


def prune_report(pruning: Pruning, catalog: Catalog, *, shows_all: bool = False) -> Report:
    """Report a pruning; long lists are cut, unless all is shown."""
    graph, needed_by, needs = pruning.graph, pruning.needed_by, pruning.broken
    ids = (*pruning.gone, *pruning.broken)
    specs = dict(zip(ids, catalog.records(ids), strict=True))
    sizes = {id_: specs[id_].size for id_ in pruning.gone}
    total_size = sum(size or 0 for size in sizes.values())
    unknown_sizes = sum(size is None for size in sizes.values())

    def name(id_: int) -> str:
        return spec_name(specs[id_].package, specs[id_].version)

    def broken_rows() -> Iterator[Row]:
        for id_, count in folded(needs, lambda id_: (name(id_), needs[id_])):
            needed, hash_ = needs[id_], specs[id_].hash
            what = f"needs {spec_name(graph.name(needed), graph.version(needed))}"
            cells = (count, hash_cell(hash_), name(id_), what, hash_cell(graph.hash(needed)))
            yield Row(cells, key=hash_, queries=(exact_query("hash", hash_),))

    def gone_rows() -> Iterator[Row]:
        # What frees most first.
        biggest = sorted(pruning.gone, key=lambda id_: -(sizes[id_] or 0))
        for id_, count in folded(biggest, lambda id_: (name(id_), sizes[id_], needed_by[id_])):
            users, hash_ = needed_by[id_], specs[id_].hash
            what = f"still needed by {users:,}" if users else ""
            cells = (count, hash_cell(hash_), name(id_), size_text(sizes[id_]), what)
            yield Row(cells, key=hash_, queries=(exact_query("hash", hash_),))

    def sections() -> Iterator[Section]:
        if pruning.unlisted:
            count = counted(pruning.unlisted, "spec")
            yield Section("", [Row((f"Dependencies not listed for {count} that would stay",))])
        for heading, rows in (("would break", broken_rows()), ("would be removed", gone_rows())):
            if lines := cut(list(rows), None if shows_all else MAX_LINES):
                yield Section(heading, lines, is_apart=True, columns=_COLUMNS)

    def data() -> dict[str, Any]:
        return {
            "total": pruning.total,
            "size": total_size,
            "unknown_sizes": unknown_sizes,
            "gone": [
                {"hash": specs[id_].hash, "size": sizes[id_], "needed_by": needed_by[id_]}
                for id_ in pruning.gone
            ],
            "broken": [
                {"hash": specs[id_].hash, "needs": graph.hash(needed)}
                for id_, needed in needs.items()
            ],
        }

    total = counted(pruning.total, "spec")
    freed = sizes_text(total_size, len(sizes), unknown_sizes)
    doubt = ", as far as dependencies are listed" if pruning.unlisted and not needs else ""
    users = (
        f"{counted(len(needs), 'other')} would break" if needs else "no other needs them to run"
    )
    title = f"Prune preview: removes {len(sizes):,} of {total}, {freed}; {users}{doubt}"
    return Report(title, sections(), data)

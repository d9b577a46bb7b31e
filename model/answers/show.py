"""Everything about one spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from spackscope.model.analysis.needs import add_sizes, read_needs
from spackscope.model.analysis.session_fit import fit_of, host_phrase
from spackscope.model.answers.asked import Asked
from spackscope.model.core.frozen import replace
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.listing import Listing
from spackscope.model.index.rows import Row
from spackscope.model.index.tree import read_specs
from spackscope.model.index.view import View
from spackscope.model.query.ast import Query
from spackscope.model.report.detail import DetailLine, dependency_line, detail, printed_lines
from spackscope.model.report.export import full_sheet
from spackscope.model.report.relations import needs_line
from spackscope.model.report.report import Line
from spackscope.model.report.sheet import Sheet
from spackscope.model.sources.session import Session

if TYPE_CHECKING:
    from spackscope.model.sources.mirror_spec import MirrorEntry, Mirrors


def answer(asked: Asked) -> Sheet[Any]:
    """Return each record of one hash; for people a text, on a terminal or not."""
    (catalog,) = asked.load(asked.sources)
    hash_ = asked.find_hash(catalog, asked.words)
    rows, entries = _read(catalog, hash_, asked.session, asked.sources)
    sheet = full_sheet(list(map(catalog.full_record, rows)), list(map(_entries_data, entries)))
    draw = partial(_lines, catalog, rows, entries, asked.session, asked.sources)
    return replace(sheet, draw=draw, is_text=True)


def _entries_data(entries: Sequence[MirrorEntry]) -> list[dict[str, Any]]:
    if not entries:
        return []
    from spackscope.model.report.signing import entries_json

    return entries_json(entries)


def _read(
    catalog: Catalog, hash_: str, session: Session, sources: Sequence[str]
) -> tuple[list[Row], list[Sequence[MirrorEntry]]]:
    """Read the records of a hash, with their sizes, and what the mirrors of each have of it."""

    @cache
    def mirrors() -> Mirrors:
        # Where no mirror is asked nothing of it is imported.
        from spackscope.model.sources.mirror_spec import Mirrors

        return Mirrors(catalog.sources, session, sources)

    rows = []
    entries: list[Sequence[MirrorEntry]] = []
    for row in catalog.by_hash(hash_):
        spec = row.spec
        entries.append(mirrors().entries(spec) if catalog.has_mirror(spec) else ())
        # The manifest that has the size is in the cache now.
        size = mirrors().sizes([spec]).get(spec.hash) if spec.size is None else spec.size
        rows.append(replace(row, spec=replace(spec, size=size, fit=fit_of(catalog, row.id))))
    return rows, entries


def _lines(
    catalog: Catalog,
    rows: Sequence[Row],
    entries: Sequence[Sequence[MirrorEntry]],
    session: Session,
    sources: Sequence[str],
    width: int | None,
) -> Iterator[Line]:
    listings: dict[str, Listing] = {}
    trees = [source.name for source in catalog.sources if source.kind == "install tree"]
    times: Mapping[str, float] = {}
    if trees:
        from spackscope.model.sources.build_times import build_seconds

        times = build_seconds(trees, {row.spec.hash for row in rows}, session.should_stop)
    for number, (row, of_mirrors) in enumerate(zip(rows, entries, strict=True)):
        name, alike = row.spec.package, 1
        varying: Mapping[str, int] = {}
        # Dependency-only specs are not listed.
        if row.spec.in_cache:
            if name not in listings:
                listings[name] = catalog.listing(View(Query().with_package(name)))
            alike = listings[name].count_look_alikes(row.look_alike)
            varying = listings[name].values.varying_variants
        lines: Sequence[DetailLine] = detail(
            catalog.with_provenance(row.id, catalog.with_compilers(row)),
            varying=varying,
            alike=alike,
            shown=0,
            host_phrase=host_phrase(session),
        )
        if of_mirrors:
            from spackscope.model.report.signing import with_signing

            lines = with_signing(lines, of_mirrors)
        if row.spec.hash in times:
            from spackscope.model.report.progress import minutes

            lines = [*lines, DetailLine(minutes(times[row.spec.hash]), "build time")]
        needs = read_needs(catalog, row.id)
        if needs is not None:
            # Fetching all sizes may take long; `spackscope needs` does.
            needs = add_sizes(needs, catalog, session, sources, is_offline=True)
        edges = catalog.edges.of(row.id)
        specs = read_specs(catalog, (edge.child for edge in edges))
        if number:
            yield ()
        yield from printed_lines(
            lines,
            None if needs is None else needs_line(needs),
            (dependency_line(edge, specs[edge.child]) for edge in edges),
            width,
        )

"""Show everything about one spec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from spackscope.model.analysis.needs import add_sizes, read_needs
from spackscope.model.analysis.session_fit import fit_of, host_of
from spackscope.model.answers import Asked
from spackscope.model.core.commands import FIT, NEEDS_SPEC, SHEET, SOURCES, Command
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Dependency, Spec
from spackscope.model.core.text import cell_width
from spackscope.model.index.catalog import Catalog, Listing, Row
from spackscope.model.index.order import View
from spackscope.model.index.tree import read_specs
from spackscope.model.query.ast import Query
from spackscope.model.report.detail import (
    FITS,
    DetailLine,
    blocks_of,
    dependency_line,
    detail,
    entries_json,
    needs_line,
    plain_blocks,
    with_signing,
)
from spackscope.model.report.export import full_sheet
from spackscope.model.report.progress import minutes
from spackscope.model.report.report import Line, flow, styled
from spackscope.model.report.sheet import Sheet
from spackscope.model.report.table_columns import variants_line
from spackscope.model.sources.source_name import DEVELOP

if TYPE_CHECKING:
    from spackscope.model.sources.mirror_spec import MirrorEntry, Mirrors

COMMAND = Command(
    "show",
    "print everything about one spec",
    ("[-f SOURCE]... [OUTPUT] HASH | QUERY...", "-f SPEC-FILE"),
    """\
Print the spec with this hash, and the command that installs it. A unique hash
prefix is enough, and so is a query that matches one spec, or a source that has
only one. A hash that is in several tags or sources is printed for each. If
several hashes match, they are listed on stderr, and the exit code is 2.

spackscope asks the mirrors that list the spec who signed it, and whether its
archive exists. It reads the key from the signature, and verifies nothing:
Spack does that when it installs.""",
    (*SHEET, *FIT, *SOURCES),
    words="spec",
    wrong_count=NEEDS_SPEC,
    examples="""\
spackscope show 23r4fq5
spackscope show --json /23r4fq5ly72u3bfmbi3o3unokk4d5ipr
spackscope show py-build@1.2.1 os=ubuntu22.04 /pfq""",
)


_LABEL_WIDTH = 12
_GAP = "  "


def answer(asked: Asked) -> Sheet[Any]:
    """Return each record of one hash; drawn as a text where no format is asked for."""
    asked.rests_on_configuration = True
    (catalog,) = asked.load(asked.sources)
    rows, entries = _read(asked, catalog, asked.find_hash(catalog, asked.words))
    specs = [_full_record(catalog, row) for row in rows]
    sheet = full_sheet(specs, list(map(entries_json, entries)))
    draw = partial(_lines, asked, catalog, rows, entries)
    plain = partial(draw, None, is_plain=True)
    return replace(sheet, draw=draw, draw_plain=plain, is_text=True)


def _read(
    asked: Asked, catalog: Catalog, hash_: str
) -> tuple[list[Row], list[Sequence[MirrorEntry]]]:
    """Read the records of a hash, with their sizes, and the entries of each in its mirrors."""

    @cache
    def mirrors() -> Mirrors:
        # Imported only where a mirror is asked.
        from spackscope.model.sources.mirror_spec import Mirrors

        return Mirrors(catalog.sources, asked.session, asked.sources)

    rows = []
    entries: list[Sequence[MirrorEntry]] = []
    for row in catalog.by_hash(hash_):
        spec = row.spec
        entries.append(mirrors().entries(spec) if catalog.has_mirror(spec) else ())
        # The manifest that has the size is in the cache now.
        size = mirrors().sizes([spec]).get(spec.hash) if spec.size is None else spec.size
        rows.append(replace(row, spec=replace(spec, size=size, fit=fit_of(catalog, row.id))))
    return rows, entries


def _full_record(catalog: Catalog, row: Row) -> Spec:
    """Return the record of a row with its provenance and its dependencies."""
    spec = catalog.with_provenance(row.id, row.spec)
    if not catalog.edges.lists(row.id):
        return spec
    edges = catalog.edges.of(row.id)
    dependencies = {edge.child: catalog.edges.absent_at(edge.child) for edge in edges}
    for each in catalog.rows([id_ for id_, absent in dependencies.items() if absent is None]):
        dependencies[each.id] = Dependency(each.spec.hash, each.spec.package)
    return replace(
        spec,
        dependencies=tuple(
            dependency._replace(deptypes=edge.deptypes, virtuals=edge.virtuals)
            for edge in edges
            if (dependency := dependencies[edge.child]) is not None
        ),
    )


def _lines(
    asked: Asked,
    catalog: Catalog,
    rows: Sequence[Row],
    entries: Sequence[Sequence[MirrorEntry]],
    width: int | None,
    *,
    is_plain: bool = False,
) -> Iterator[Line]:
    session = asked.session
    listings: dict[str, Listing] = {}
    seconds: float | None = None
    if any(source.kind == "install tree" for source in catalog.sources):
        # Most records are in no install tree.
        from spackscope.model.sources.file_lists import FileLists

        records = [catalog.with_provenance(row.id, row.spec) for row in rows]
        lists = FileLists(catalog.sources, session, asked.sources)
        seconds = lists.build_seconds(records, in_archives=False)
    for number, (row, of_mirrors) in enumerate(zip(rows, entries, strict=True)):
        name, alike = row.spec.package, 1
        varying: Mapping[str, int] = {}
        # Dependency-only specs are not listed.
        if row.spec.in_cache:
            if name not in listings:
                listings[name] = catalog.listing(View(Query().with_package(name)))
            alike = len(listings[name].look_alike_ids(row.look_alike))
            varying = listings[name].values.varying_variants
        lines: Sequence[DetailLine] = detail(
            catalog.with_provenance(row.id, catalog.with_compilers(row)),
            varying=varying,
            alike=alike,
            shown=0,
            may_expire=catalog.is_only_in(DEVELOP, row.spec.hash),
            host_phrase=host_of(session).where,
        )
        if of_mirrors:
            lines = with_signing(lines, of_mirrors)
        if seconds is not None:
            lines = [*lines, DetailLine(minutes(seconds), "build time")]
        needs = read_needs(catalog, [row.id])
        if needs is not None:
            # Fetching all sizes may take long; `spackscope needs` does.
            needs = add_sizes(needs, catalog, session, asked.sources, is_offline=True)
            lines = [*lines, DetailLine(needs_line(needs), "needs to run")]
        if number:
            yield ()
        yield from detail_lines(lines, width, is_plain=is_plain)
        edges = catalog.edges.of(row.id)
        specs = read_specs(catalog, (edge.child for edge in edges))
        if edges and not is_plain:
            yield styled("dependencies", "dim")
        for edge in edges:
            start = "dependency: " if is_plain else _GAP
            yield ((start, ""), *dependency_line(edge, specs[edge.child]))


def detail_lines(
    lines: Iterable[DetailLine], width: int | None, *, is_plain: bool = False
) -> Iterator[Line]:
    """Yield the lines of a spec with all values of a label side by side, as many as fit.

    Plain lines are `label: value`.
    """
    for block in plain_blocks(lines) if is_plain else blocks_of(lines):
        label, blanks = block[0].label, " " * (_LABEL_WIDTH - len(block[0].label))
        if block[0].style == "title" and not is_plain:
            yield from (styled(line.text, line.style) for line in block)
            continue
        for values in _flowed(block, width):
            yield ((label, "dim"), (": " if is_plain else blanks + _GAP, ""), *values)
            label, blanks = "", " " * _LABEL_WIDTH


def _flowed(block: Sequence[DetailLine], width: int | None) -> Iterator[Line]:
    """Join values to lines."""
    room = None if width is None else width - _LABEL_WIDTH - len(_GAP)
    between = " " if block[0].style in ("differs", "same") else _GAP

    def styled_value(value: DetailLine) -> Line:
        if value.style == "same":
            return variants_line(value.text)
        # Scripts get no lead.
        lead = value.lead if width is not None else ""
        is_good = value.label == FITS and value.text.startswith("✓")
        return styled(lead + value.text, "good" if is_good else value.style)

    yield from flow(map(styled_value, block), between, room, cell_width(block[0].lead))

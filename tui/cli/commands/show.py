"""The command `show`: print everything about one spec."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from spackscope.model.assist.diagnostics import explain_no_match
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_tree import read_specs
from spackscope.model.catalog.listing import Listing, View
from spackscope.model.catalog.rows import Row
from spackscope.model.core.records import HASH_LENGTH
from spackscope.model.presentation import detail, export
from spackscope.model.presentation.dependency_tree import dependency_text
from spackscope.model.query.ast import Query
from spackscope.model.sources.archive_size import archive_size
from spackscope.model.sources.session import Session
from spackscope.tui.cli import table
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import no_match_code, parse_query, print_lines
from spackscope.tui.process.exit_codes import ExitCode, Leave

_MAX_CANDIDATES = 20
_HASH_PREFIX = re.compile(rf"/?[a-z2-7]{{1,{HASH_LENGTH}}}")


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print each record of one hash, given by its prefix or by a query that only it matches."""
    prefix = _hash_prefix(options.words)
    query = Query() if prefix.startswith("/") else parse_query(options.words)

    def lines(catalog: Catalog) -> Iterator[str]:
        rows = []
        for row in catalog.by_hash(_find_hash(catalog, prefix.removeprefix("/"), query)):
            size = archive_size(row.spec, catalog.sources, session, sources)
            rows.append(replace(row, spec=replace(row.spec, size=size)))
        if options.format:
            return export.full_json_lines(map(catalog.full_record, rows))
        return _describe(catalog, rows)

    return print_lines(options, sources, session, lines)


def _hash_prefix(words: Sequence[str]) -> str:
    """Return the hash prefix that the words may be, or "".

    A prefix after a `/` keeps it, and cannot be anything else.
    """
    word = words[0].strip().lower() if len(words) == 1 else ""
    return word if _HASH_PREFIX.fullmatch(word) else ""


def _find_hash(catalog: Catalog, prefix: str, query: Query) -> str:
    """Return the only hash with a prefix, or else that matches a query.

    Raises Leave where there is none, or with candidates where there are several.
    """
    limit = _MAX_CANDIDATES + 1
    hashes = catalog.dictionaries.hashes(prefix, limit=limit) if prefix else []
    several, none = f"Several hashes start with {prefix}:", f"No hash starts with {prefix}"
    if query and (not hashes or prefix in catalog.dictionaries.texts("package")):
        specs = catalog.specs(catalog.listing(View(query)))
        matches = list(islice(dict.fromkeys(spec.hash for spec in specs), limit))
        reason = explain_no_match(catalog, query) if not matches else ""
        if matches or not prefix:
            hashes, several, none = matches, "Several specs match:", reason
        else:
            none += f". {reason}"
    if not hashes:
        raise Leave(no_match_code(catalog), none)
    if len(hashes) == 1:
        return hashes[0]
    candidates = [catalog.by_hash(hash_)[0].spec for hash_ in hashes[:_MAX_CANDIDATES]]
    lines = [several, *(f"  {line}" for line in table.candidates(candidates))]
    if len(hashes) > _MAX_CANDIDATES:
        lines.append("  and more")
    raise Leave(ExitCode.USAGE, *lines)


def _describe(catalog: Catalog, rows: Sequence[Row]) -> Iterator[str]:
    listings: dict[str, Listing] = {}
    for number, row in enumerate(rows):
        if number:
            yield ""
        name, alike = row.spec.package, 1
        # Dependency-only specs are not listed.
        if row.spec.in_cache:
            if name not in listings:
                listings[name] = catalog.listing(View(Query().with_package(name)))
            alike = listings[name].count_look_alikes(row.look_alike)
        lines = detail.detail(
            catalog.with_compilers(row),
            varying={},
            alike=alike,
            shown=0,
            provenance=catalog.provenance(row.id),
        )
        yield from table.detail_lines(lines)
        yield from _dependencies(catalog, row)


def _dependencies(catalog: Catalog, row: Row) -> Iterator[str]:
    """Yield the direct dependencies, with deptypes as in Spack's trees."""
    edges = catalog.dependencies.of(row.id)
    specs = read_specs(catalog, (edge.child for edge in edges))
    if edges:
        yield "dependencies"
    for edge in edges:
        yield f"  {dependency_text(edge, specs[edge.child])}"

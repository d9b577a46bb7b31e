"""Answer on the command line: find, show, index. None of it loads what draws screens."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from spackscope.model.assist.no_match import explain_no_match
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_tree import read_specs
from spackscope.model.catalog.listing import Listing, View
from spackscope.model.catalog.rows import Row
from spackscope.model.core.errors import (
    IndexDamaged,
    Unanswerable,
)
from spackscope.model.core.records import (
    HASH_LENGTH,
)
from spackscope.model.loader.load import REBUILT, STILL_DAMAGED, index_path, load
from spackscope.model.presentation import detail, export
from spackscope.model.presentation.dependency_tree import dependency_text
from spackscope.model.presentation.sources import HEADS, source_cells, stale_copies
from spackscope.model.query.ast import Query
from spackscope.model.sources.archive_size import archive_size
from spackscope.model.sources.session import Session
from spackscope.tui.cli import table
from spackscope.tui.cli.progress import (
    BuildProgress,
)
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave

MOST_PROBLEMS = 20
"""Problems that are said one by one where the problems are not what was asked for."""

_MOST_CANDIDATES = 20
_FORMATS: Mapping[str, export.Export] = {
    "json": export.json_array,
    "jsonl": export.json_lines,
    "csv": export.csv_lines,
    "hashes": export.hashes,
    "tab": export.tab_lines,
}

Answer = Callable[[Catalog], Iterator[str]]
"""Gives the lines that answer a question from a catalog."""


def find(sources: Sequence[str], query: Query, wanted: str | None, session: Session) -> ExitCode:
    """Print the records that match, in a format or, where none is named, as suits stdout."""
    as_table = wanted is None and stdio.is_terminal(sys.stdout)

    def answer(catalog: Catalog) -> Iterator[str]:
        listing = catalog.listing(View(query))
        if virtuals := catalog.virtuals.sentence(query):
            stdio.say(virtuals)
        if not as_table:
            yield from _FORMATS[wanted or "tab"](catalog.specs(listing))
        elif listing:
            drawn = table.Table(
                lambda: catalog.specs(listing),
                len(listing),
                listing.constants,
                listing.varying_variants,
            )
            bold = stdio.may_colour(session.environ)
            yield from drawn.lines(stdio.width(session.environ), bold=bold)
        if not listing:
            raise Leave(_nothing(catalog), explain_no_match(catalog, query))

    _answer(sources, session, answer)
    return ExitCode.FOUND


def hash_beginning(words: Sequence[str]) -> str:
    """Give the beginning of a hash that words may stand for, or an empty text.

    It keeps the `/` in front where it has one, and then can be nothing else.
    """
    alone = words[0].strip().lower() if len(words) == 1 else ""
    return alone if re.fullmatch(rf"/?[a-z2-7]{{1,{HASH_LENGTH}}}", alone) else ""


def show(
    sources: Sequence[str],
    begin: str,
    query: Query,
    *,
    json: bool,
    session: Session,
) -> ExitCode:
    """Print each record of one hash: the one that begins so, or else the one that matches."""

    def answer(catalog: Catalog) -> Iterator[str]:
        rows = [
            replace(row, spec=replace(row.spec, size=size))
            for row in catalog.by_hash(_only_hash(catalog, begin, query))
            for size in [archive_size(row.spec, catalog.sources, session, sources)]
        ]
        if json:
            return export.full_json_lines(map(catalog.full_record, rows))
        return _described(catalog, rows)

    _answer(sources, session, answer)
    return ExitCode.FOUND


def _only_hash(catalog: Catalog, begin: str, query: Query) -> str:
    prefix, most = begin.removeprefix("/"), _MOST_CANDIDATES + 1
    hashes = catalog.dictionaries.hashes(prefix, limit=most) if prefix else []
    is_match, problem = False, f"No hash starts with {prefix}"
    if query and (not hashes or prefix in catalog.dictionaries.texts("package")):
        matching = (spec.hash for spec in catalog.specs(catalog.listing(View(query))))
        found = list(islice(dict.fromkeys(matching), most))
        if found or not prefix:
            hashes, is_match, problem = found, True, explain_no_match(catalog, query)
        else:
            problem += f". {explain_no_match(catalog, query)}"
    if not hashes:
        raise Leave(_nothing(catalog), problem)
    if len(hashes) == 1:
        return hashes[0]
    said = "several specs match:" if is_match else f"several hashes begin with {prefix}:"
    specs = [catalog.by_hash(hash_)[0].spec for hash_ in hashes[:_MOST_CANDIDATES]]
    lines = [said, *(f"  {line}" for line in table.candidates(specs))]
    if len(hashes) > _MOST_CANDIDATES:
        lines.append("  and more")
    raise Leave(ExitCode.USAGE, *lines)


def _nothing(catalog: Catalog) -> ExitCode:
    """Give the code where nothing is found: it may stand in a source that cannot be read."""
    failed = any(state.failure for state in catalog.sources)
    return ExitCode.UNREADABLE if failed else ExitCode.NOTHING


def _described(catalog: Catalog, rows: Sequence[Row]) -> Iterator[str]:
    listings: dict[str, Listing] = {}
    for number, row in enumerate(rows):
        if number:
            yield ""
        name, alike = row.spec.package, 1
        # What is there only because others depend on it has no listing.
        if row.spec.in_cache:
            if name not in listings:
                listings[name] = catalog.listing(View(Query().with_package(name)))
            alike = listings[name].alike(row.look_alike)
        told = catalog.provenance(row.id)
        spec = catalog.with_compilers(row)
        lines = detail.detail(spec, varying={}, alike=alike, shown=0, provenance=told)
        yield from table.detail_lines(lines)
        yield from _dependencies(catalog, row)


def _dependencies(catalog: Catalog, row: Row) -> Iterator[str]:
    """List the direct dependencies, with deptypes as in Spack's trees."""
    edges = catalog.dependencies.of(row.id)
    specs = read_specs(catalog, (edge.child for edge in edges))
    if edges:
        yield "dependencies"
    for edge in edges:
        yield f"  {dependency_text(edge, specs[edge.child])}"


def sources(sources: Sequence[str], *, json: bool, session: Session) -> ExitCode:
    """List what is loaded: each source with its kind, specs, problems and age."""

    def answer(catalog: Catalog) -> Iterator[str]:
        if json:
            yield from export.source_json_lines(catalog.sources)
            return
        now = time.time()
        rows = [HEADS, *(source_cells(state, now) for state in catalog.sources)]
        if stdio.is_terminal(sys.stdout):
            yield from table.aligned(rows)
        else:
            yield from ("\t".join(row) for row in rows)

    _answer(sources, session, answer)
    return ExitCode.FOUND


def index(sources: Sequence[str], *, rebuild: bool, session: Session) -> ExitCode:
    """Build or refresh the index file, and say what it holds and what could not be read."""
    path = index_path(sources, session)

    def answer(catalog: Catalog) -> Iterator[str]:
        counts: list[tuple[str, object]] = [
            ("specs", catalog.total),
            ("packages", len(catalog.packages(Query()))),
            ("tags", len(catalog.dictionaries.texts("tag"))),
            ("problems", catalog.problem_count),
        ]
        if path is not None and not catalog.notice:
            counts += [("index", path), ("size", f"{path.stat().st_size} bytes")]
        return table.labelled(counts)

    _answer(sources, session, answer, rebuild=rebuild, keep=True, most_problems=None)
    return ExitCode.FOUND


def _answer(
    sources: Sequence[str],
    session: Session,
    answer: Answer,
    *,
    rebuild: bool = False,
    keep: bool = False,
    most_problems: int | None = MOST_PROBLEMS,
) -> None:
    """Load the catalog, say its problems, and write what it answers.

    An index that turns out to be damaged is rebuilt, once; what was written stays written, for
    the new one gives the same lines again.
    """
    written = 0
    said = False

    def run(catalog: Catalog) -> None:
        nonlocal written, said
        if catalog.was_damaged:
            stdio.say(REBUILT)
        if not said:
            _say_problems(catalog, most_problems)
            said = True
        for line in islice(answer(catalog), written, None):
            stdio.write(line)
            written += 1

    def loaded(*, was_damaged: bool = False) -> Catalog:
        with BuildProgress(visible=stdio.is_terminal(sys.stderr)) as progress:
            return load(
                sources,
                replace(session, on_progress=progress),
                rebuild=rebuild,
                was_damaged=was_damaged,
                keep=keep,
            )

    try:
        run(loaded())
    except Unanswerable as error:
        raise Leave(ExitCode.USAGE, str(error)) from None
    except IndexDamaged:
        try:
            run(loaded(was_damaged=True))
        except IndexDamaged as error:
            raise Leave(ExitCode.UNREADABLE, f"{STILL_DAMAGED}: {error}") from None


def _say_problems(catalog: Catalog, most: int | None) -> None:
    if catalog.notice:
        stdio.say(catalog.notice)
    for sentence in stale_copies(catalog.sources, time.time()):
        stdio.say(sentence)
    for problem in catalog.problems[:most]:
        stdio.say(str(problem))
    if most is not None and catalog.problem_count > most:
        rest = catalog.problem_count - most
        stdio.say(f"and {rest:,} problems more: `spackscope index` lists them all")

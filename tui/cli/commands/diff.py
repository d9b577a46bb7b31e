"""The command `diff`: print how specs differ, and whether they run the same."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence

from spackscope.model.analysis.compare import compare
from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.analysis.kinds import kinds_of, run_the_same
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.model.core.tasks import never
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import Row
from spackscope.model.report.differences import Kinds, comparison_json, splice_lines
from spackscope.model.sources.resolve import names_source
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.colours import Colours
from spackscope.tui.cli.commands.common import print_lines, stdout_colours
from spackscope.tui.cli.commands.spec_argument import SpecArgument, listing_row
from spackscope.tui.cli.difference_report import all_lines, pair_lines, spec_lines
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave

_PART_OF_A_QUERY = ("+", "~", "%", "^", "@", "!")
_ALIKE = "One and the same spec: nothing differs"


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Compare the specs or the two sources that the words name; FOUND if they are alike."""
    if not options.sources and len(options.words) == 2 and all(map(names_source, options.words)):
        # Imported here, since it has much that two specs do not need.
        from spackscope.tui.cli.commands import diff_sources

        return diff_sources.run(options, *options.words, session)
    arguments = {word: SpecArgument([word], session) for word in options.words}
    colours = stdout_colours(options, session)
    code = ExitCode.FOUND

    def lines(catalog: Catalog) -> Iterator[str]:
        nonlocal code
        hints = _hints(options.words)
        rows = (_find(catalog, word, argument, hints) for word, argument in arguments.items())
        specs = {row.id: row.spec for row in rows}
        graph = dag_of(catalog)
        if len(specs) > 1:
            code = ExitCode.DIFFERENT
        if options.format:
            return _json(graph, specs)
        if len(specs) == 1:
            return iter([*spec_lines([*specs.values()], colours), _ALIKE])
        show = _pair if len(specs) == 2 else _table
        return show(graph, specs, options, colours)

    # Here --all is about differences; dependency-only specs are found by their hashes anyway.
    print_lines(options, sources, replace(session, include_dependency_only=False), lines)
    return code


def _find(catalog: Catalog, word: str, argument: SpecArgument, hints: Sequence[str] = ()) -> Row:
    """Return the record of a spec.

    Raises Leave, with candidates where a word names several, and after them the hints.
    """
    try:
        return listing_row(catalog, argument.find(catalog))
    except Leave as leave:
        first, *others = leave.lines
        # Code 1 would say that they differ.
        code = ExitCode.USAGE if leave.code == ExitCode.NOTHING else leave.code
        raise Leave(code, f"{word}: {first}", *others, *hints) from None


def _hints(words: Sequence[str]) -> list[str]:
    """Return how to write a query of several words, if some words look like parts of one."""
    if not any(word.startswith(_PART_OF_A_QUERY) for word in words[1:]):
        return []
    return [f"Each word is a spec; quote a query: {shlex.quote(' '.join(words[:2]))}"]


def _kinds(graph: Dag, specs: Mapping[int, Spec]) -> Kinds:
    """Group specs by their run-time kinds, the largest first."""
    kinds: dict[int, list[str]] = {}
    unknown = []
    codes = kinds_of(graph).codes(specs)
    for code, (id_, spec) in zip(codes, specs.items(), strict=True):
        # Whatever its source tells, a spec runs as it does itself.
        if len(specs) == 1 or graph.lists_dependencies(id_):
            kinds.setdefault(code, []).append(spec.hash)
        else:
            unknown.append(spec.hash)
    known = sorted(kinds.values(), key=len, reverse=True)
    return Kinds(known, unknown, run_the_same(graph, [*specs]))


def _json(graph: Dag, specs: Mapping[int, Spec]) -> Iterator[str]:
    ids = list(specs)
    comparison = compare(graph, ids[0], ids[-1]) if len(ids) <= 2 else None
    causes = comparison.causes if comparison is not None else ()
    nodes = list({id_ for cause in causes for id_ in (cause.a, cause.b)})
    hashes = dict(zip(nodes, graph.hashes(nodes), strict=True))
    yield comparison_json([*specs.values()], _kinds(graph, specs), comparison, hashes)


def _pair(
    graph: Dag, specs: Mapping[int, Spec], options: Options, colours: Colours
) -> Iterator[str]:
    comparison = compare(graph, *specs)
    yield from spec_lines([*specs.values()], colours)
    yield from splice_lines(specs.values(), comparison.replaced)
    yield ""
    if options.all:
        yield from all_lines(comparison, colours)
    else:
        same = run_the_same(graph, [*specs])
        yield from pair_lines(comparison, same=same, shows_build=options.build, colours=colours)


def _table(
    graph: Dag, specs: Mapping[int, Spec], options: Options, colours: Colours
) -> Iterator[str]:
    # Imported here, since two specs are compared without it.
    from spackscope.model.report.comparison import read_comparison
    from spackscope.tui.cli.comparison_table import (
        TableOptions,
        column_lines,
        kinds_line,
        table_lines,
    )

    width = stdio.width() if stdio.is_terminal(sys.stdout) else None
    table = read_comparison(graph, [*specs], by_kind=True, should_stop=never, show=lambda _: None)
    by_first = {graph.identity(id_): spec for id_, spec in specs.items()}
    rows = [*table_lines(table, TableOptions(options.build, options.all, width, colours))]
    # Without columns there is nothing that letters would name.
    if len(rows) > 1:
        yield from column_lines(table, by_first, colours)
    else:
        yield from spec_lines([*specs.values()], colours)
    yield ""
    yield colours.bold(kinds_line(table))
    yield from rows

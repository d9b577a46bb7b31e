"""The command `diff`: print how specs differ, and whether they run the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from spackscope.model.analysis.differences import Comparison, compare
from spackscope.model.analysis.run_kinds import Kind, run_kinds
from spackscope.model.analysis.spec_graph import SpecGraph, spec_graph
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.records import Spec
from spackscope.model.presentation.difference_json import comparison_json
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.colours import Colours
from spackscope.tui.cli.commands.common import print_lines
from spackscope.tui.cli.commands.spec_argument import SpecArgument, listing_row
from spackscope.tui.cli.difference_report import all_lines, pair_lines, spec_lines
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Compare the specs that the words name; ALIKE if all have the same hash."""
    arguments = {word: SpecArgument([word]) for word in options.words}
    colours = Colours(not options.no_color and stdio.supports_colour(session.environ))
    code = ExitCode.FOUND

    def lines(catalog: Catalog) -> Iterator[str]:
        nonlocal code
        compared = _read(catalog, arguments)
        if len(compared.specs) > 1:
            code = ExitCode.DIFFERENT
        return _json(compared) if options.format else _report(compared, options, colours)

    # Here --all is about differences; dependency-only specs are found by their hashes anyway.
    print_lines(options, sources, replace(session, include_dependency_only=False), lines)
    return code


@dataclass(frozen=True, slots=True)
class _Compared:
    """The specs that are compared, each hash once, and their run-time kinds."""

    graph: SpecGraph
    ids: tuple[int, ...]
    specs: tuple[Spec, ...]
    kinds: tuple[Kind, ...]

    def comparison(self) -> Comparison | None:
        """Return the differences between two specs; None if there are more."""
        if len(self.ids) > 2:
            return None
        return compare(self.graph, self.ids[0], self.ids[-1])

    @property
    def same(self) -> bool | None:
        """Whether all run the same; None if that is not told."""
        return len(self.kinds) == 1 if all(kind.is_known for kind in self.kinds) else None


def _read(catalog: Catalog, arguments: Mapping[str, SpecArgument]) -> _Compared:
    """Find the specs. Raises Leave, with candidates where an argument names several."""
    hashes = dict.fromkeys(_find(catalog, word, its) for word, its in arguments.items())
    rows = [listing_row(catalog, hash_) for hash_ in hashes]
    graph = spec_graph(catalog)
    ids = tuple(row.id for row in rows)
    kinds = run_kinds(graph, ids)
    return _Compared(graph, ids, tuple(row.spec for row in rows), kinds)


def _find(catalog: Catalog, word: str, argument: SpecArgument) -> str:
    try:
        return argument.find(catalog)
    except Leave as leave:
        first, *others = leave.lines
        # Code 1 would say that they differ.
        code = ExitCode.USAGE if leave.code == ExitCode.NOTHING else leave.code
        raise Leave(code, f"{word}: {first}", *others) from None


def _json(compared: _Compared) -> Iterator[str]:
    graph, comparison = compared.graph, compared.comparison()
    causes = comparison.causes if comparison is not None else ()
    nodes = list({id_ for cause in causes for id_ in (cause.a, cause.b)})
    kinds = [graph.hashes(kind.ids) for kind in compared.kinds if kind.is_known]
    unknown = [
        hash_ for kind in compared.kinds if not kind.is_known for hash_ in graph.hashes(kind.ids)
    ]
    hashes = dict(zip(nodes, graph.hashes(nodes), strict=True))
    yield comparison_json(compared.specs, kinds, unknown, comparison, hashes)


def _report(compared: _Compared, options: Options, colours: Colours) -> Iterator[str]:
    yield from spec_lines(compared.specs, colours)
    if len(compared.specs) == 1:
        yield "One and the same spec: nothing differs"
    elif (comparison := compared.comparison()) is not None:
        same = compared.same
        yield ""
        if options.all:
            yield from all_lines(comparison, colours)
        else:
            build = options.build
            yield from pair_lines(comparison, same=same, shows_build=build, colours=colours)

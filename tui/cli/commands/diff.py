"""The command `diff`: print how specs differ, and whether they run the same, or two sources."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from spackscope.model.analysis.compare import compare
from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.analysis.kinds import run_the_same
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.records import Spec
from spackscope.model.core.tasks import never
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import Row as Record
from spackscope.model.report.differences import (
    cause_sections,
    comparison_data,
    pair_sections,
    splice_lines,
    unexplained_text,
)
from spackscope.model.report.report import Piece, Report, Section
from spackscope.model.report.spec_list import spec_rows
from spackscope.model.sources.resolve import names_source
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import SpecArgument, loaded, print_report, terminal_width
from spackscope.tui.process.exit_codes import ExitCode, Leave

_PART_OF_A_QUERY = ("+", "~", "%", "^", "@", "!")
_ALIKE = "One and the same spec: nothing differs"


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Compare the specs or the two sources that the words name; FOUND if they are alike."""
    if not options.sources and len(options.words) == 2 and all(map(names_source, options.words)):
        return _compare_sources(options, *options.words, session)
    arguments = {word: SpecArgument([word], session) for word in options.words}
    with loaded(options, session, sources) as (catalog,):
        hints = _hints(options.words)
        rows = (_find(catalog, word, argument, hints) for word, argument in arguments.items())
        specs = {row.id: row.spec for row in rows}
        graph = dag_of(catalog)
        report = Report(
            "", _sections(graph, specs, options), partial(comparison_data, graph, specs)
        )
        print_report(report, options, session)
    return ExitCode.DIFFERENT if len(specs) > 1 else ExitCode.FOUND


def _compare_sources(options: Options, old: str, new: str, session: Session) -> ExitCode:
    """Compare two sources, each in a catalog of its own; DIFFERENT unless they are alike."""
    # It has much that specs do not need.
    from spackscope.model.analysis.source_differences import compare_sources
    from spackscope.model.core.redaction import shown_url
    from spackscope.model.report.environments import source_differences_report

    with loaded(options, session, [old], [new]) as catalogs:
        comparison = compare_sources(*catalogs, should_stop=session.should_stop)
        names = shown_url(old), shown_url(new)
        report = source_differences_report(comparison, names, shows_all=options.all)
        print_report(report, options, session)
    return ExitCode.FOUND if comparison.are_alike else ExitCode.DIFFERENT


def _find(catalog: Catalog, word: str, argument: SpecArgument, hints: Sequence[str]) -> Record:
    """Return the record of a spec.

    Raises Leave, with candidates where a word names several, and after them the hints.
    """
    try:
        return catalog.listed(argument.find(catalog))
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


def _sections(graph: Dag, specs: Mapping[int, Spec], options: Options) -> Iterator[Section]:
    if len(specs) > 2:
        # Two specs are compared without it.
        from spackscope.model.report.comparison import compared_sections, read_comparison

        table = read_comparison(
            graph, [*specs], by_kind=True, should_stop=never, show=lambda _: None
        )
        by_first = {graph.identity(id_): spec for id_, spec in specs.items()}
        yield from compared_sections(
            table, by_first, terminal_width(), shows_build=options.build, shows_all=options.all
        )
        return
    yield Section("", spec_rows(specs.values(), SHORT_HASH), indent="")
    if len(specs) == 1:
        yield Section((Piece(_ALIKE),))
        return
    comparison = compare(graph, *specs)
    for line in splice_lines(specs.values(), comparison.replaced):
        yield Section((Piece(line),))
    # A blank line.
    yield Section(is_apart=True)
    if options.all:
        yield from cause_sections(comparison)
    else:
        same = run_the_same(graph, [*specs])
        yield from pair_sections(comparison, same=same, shows_build=options.build)
    if unexplained := unexplained_text(comparison):
        yield Section((Piece(unexplained),))

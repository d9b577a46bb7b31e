"""The command `cover`: compare an environment with what caches have."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.analysis.build_time import read_build_time
from spackscope.model.analysis.cover import Coverage, cover, find_nearest
from spackscope.model.core.frozen import replace
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.coverage import MISSING, PRESENT, coverage_report, filtered_remarks
from spackscope.model.report.report import Section, section_lines
from spackscope.model.sources.resolve import find_environment
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import SAMPLE, STANDARD_INPUT
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import (
    build_progress,
    loaded,
    no_match_code,
    print_lines,
    print_report,
    read_hashes,
)
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Print what the caches have of an environment; INCOMPLETE if something is missing."""
    name = _environment_name(options, session)
    if not options.sources and SAMPLE in sources:
        message = "cover needs caches to compare with, such as -f public; none is configured"
        raise Leave(ExitCode.USAGE, message)
    is_input = name == STANDARD_INPUT
    hash_list = read_hashes(session.stdin_path, "standard input") if is_input else None
    if hash_list is not None and not hash_list[0] and hash_list[1]:
        raise Leave(ExitCode.UNREADABLE, "standard input has no hashes")
    groups = [sources] if hash_list is not None else [[find_environment(name, session)], sources]
    with loaded(options, session, *groups) as (*environments, caches):
        coverage = cover(environments[0] if hash_list is None else hash_list[0], caches)
        if options.format != "hashes":
            with build_progress(options) as progress:
                coverage = find_nearest(
                    coverage, on_progress=progress, should_stop=session.should_stop
                )
        _print(coverage, caches, options, session)
        return no_match_code(caches) if coverage.missing else ExitCode.FOUND


def _environment_name(options: Options, session: Session) -> str:
    """Return the name of the environment: the given one, or else the active one. Raises Leave."""
    name = options.words[0] if options.words else session.environ.get("SPACK_ENV", "")
    if not name:
        message = (
            "cover needs an environment, as none is active: name its directory or a spack.lock; "
            "see `spackscope cover --help`"
        )
        raise Leave(ExitCode.USAGE, message)
    return name


def _print(coverage: Coverage, caches: Catalog, options: Options, session: Session) -> None:
    if options.format == "hashes":
        for spec in coverage.missing if options.missing else coverage.hits:
            stdio.print_line(spec.hash)
        return
    build_time = read_build_time(coverage, caches, session.should_stop)
    remarks = filtered_remarks(coverage, caches, session.reuse_rules)
    report = coverage_report(coverage, remarks=remarks, build_time=build_time)
    if options.missing and not options.format:
        print_lines(section_lines(Section("", report.rows(MISSING))), options, session)
        return
    if not options.all:
        sections = (each for each in report.sections if each.heading != PRESENT)
        report = replace(report, sections=sections)
    print_report(report, options, session)

"""The command `snapshot`: record the specs that the sources have now."""

from __future__ import annotations

from spackscope.model.analysis.history import add_snapshots
from spackscope.tui.cli.commands.command_line import CommandLine
from spackscope.tui.process import ExitCode, stdio


def run(line: CommandLine) -> ExitCode:
    """Add a snapshot of each source; return UNREADABLE if a snapshot is not kept."""
    code = ExitCode.FOUND
    (catalog,) = line.load(line.sources)
    for is_kept, text in add_snapshots(catalog, line.session.environ):
        if is_kept:
            stdio.print_line(text)
        else:
            stdio.print_message(text)
            code = ExitCode.UNREADABLE
    return code

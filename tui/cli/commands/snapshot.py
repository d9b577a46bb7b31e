"""The command `snapshot`: keep which specs the sources have now."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.analysis.history import add_snapshots
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import loaded
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Add a snapshot of each source; UNREADABLE if one of them is not kept."""
    code = ExitCode.FOUND
    with loaded(options, session, sources) as (catalog,):
        for is_kept, text in add_snapshots(catalog, session.environ):
            if is_kept:
                stdio.print_line(text)
            else:
                stdio.print_message(text)
                code = ExitCode.UNREADABLE
    return code

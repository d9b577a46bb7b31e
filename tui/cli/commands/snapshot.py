"""The command `snapshot`: keep which specs the sources have now."""

from __future__ import annotations

import time
from collections.abc import Sequence

from spackscope.model.analysis.history import Snapshots, of_source
from spackscope.model.core.errors import Unreadable, Unwritable
from spackscope.model.core.text import clean, counted
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.commands.common import loaded
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode


def run(options: Options, sources: Sequence[str], session: Session) -> ExitCode:
    """Add a snapshot of each source; UNREADABLE if one of them is not kept."""
    code = ExitCode.FOUND
    with loaded(options, session, sources) as (catalog,):
        for source in catalog.sources:
            name = clean(source.name)
            if source.failure:
                code = ExitCode.UNREADABLE
                continue
            specs = of_source(catalog, source.name)
            try:
                added, removed = Snapshots(source.name, session.environ).add(specs, time.time())
            except (Unreadable, Unwritable) as error:
                stdio.print_message(f"{name}: {error}")
                code = ExitCode.UNREADABLE
            else:
                counts = f"{added:,} new, {removed:,} gone"
                stdio.print_line(f"{name}: {counted(len(specs), 'spec')}, {counts}")
    return code

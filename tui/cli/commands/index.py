"""The command `index`: build or refresh the index file."""

from __future__ import annotations

import contextlib
import os

from spackscope.model.core.commands import CACHES, SOURCES, Command, flag
from spackscope.model.core.text import clean
from spackscope.model.index.load import index_path
from spackscope.model.query.ast import Query
from spackscope.tui.cli.command_line import CommandLine
from spackscope.tui.process import ExitCode, stdio

COMMAND = Command(
    "index",
    "build or refresh the index of the sources",
    ("[-f SOURCE]... [--rebuild]",),
    """\
Build the index file of the sources, or refresh it if they changed, and print
its contents, its path and all problems. Other commands do this when they need
to.""",
    (flag("rebuild", "read all files again, even unchanged ones"), *SOURCES),
    examples="""\
spackscope index -f ~/cache/_cache
spackscope index --rebuild""",
    group=CACHES,
)


def run(line: CommandLine) -> ExitCode:
    """Build or refresh the index file; print counts of its contents, and all problems."""
    path = index_path(line.sources, line.session)
    (catalog,) = line.load(line.sources)
    counts: list[tuple[str, object]] = [
        ("specs", catalog.total),
        ("packages", len(catalog.packages(Query()))),
        ("tags", len(catalog.texts("tag"))),
        ("problems", len(catalog.problems)),
    ]
    if path is not None and not catalog.notice:
        # Another process may remove it.
        with contextlib.suppress(OSError):
            counts += [("index", path), ("size", f"{os.path.getsize(path)} bytes")]
    for label, value in counts:
        stdio.print_line(f"{label:<10}{clean(str(value))}")
    return ExitCode.FOUND

"""The command `pick`: choose specs in the browser, and print them, or a command line with them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from spackscope.model.core.commands import FIT, SOURCES, TEMPLATE, Command, flag
from spackscope.model.core.errors import SpackscopeError
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.export import full_sheet, spec_sheet
from spackscope.model.report.writers import formatted
from spackscope.tui.cli.command_line import CommandLine
from spackscope.tui.cli.commands.browse import open_browser
from spackscope.tui.cli.shell_words import shell_quoted, split_spec
from spackscope.tui.process import ExitCode, Leave, stdio

COMMAND = Command(
    "pick",
    "choose in the browser, and print the hashes",
    ("[-f SOURCE]... [--format TEXT] [--line] [QUERY...]",),
    """\
Choose in the browser, and print the full hash of the choice, or of all marked
specs, one per line. If you leave without a choice, the exit code is 130.

With --line, as a key at the prompt runs it, read a command line up to the
cursor from standard input, and print it with the choice in place of the spec
at its end, which is the query: `spack install hdf5 +mpi` becomes `spack
install hdf5/HASH`. After a blank or a command, the choice is added. See
`spackscope help completion`.""",
    (
        TEMPLATE,
        flag("line", "put the choice into the command line on standard input"),
        *FIT,
        *SOURCES,
    ),
    words="query",
    examples="""\
spack install --cache-only "/$(spackscope pick py-safetensors)"
spackscope pick py-build | tee chosen
spackscope pick --format '{package}@{version}/{hash:7}' hdf5""",
)


_MAX_LINE = 1 << 20
"""Bytes of a command line."""


def run(line: CommandLine) -> ExitCode:
    """Print the specs that are picked, one a line; with --line a command line that has them."""
    template = line.parsed.template
    if template is not None:
        # An unknown column is named before anybody chooses.
        next(formatted(full_sheet((), ()), template), None)
    if line.options.get("line"):
        try:
            return _complete_line(line, template or "{package}/{hash}")
        except SpackscopeError:
            # The cursor is in the line of the shell: the message begins below it.
            print(file=sys.stderr)
            raise
    catalog, hashes = open_browser(line, line.words)
    for text in hashes if template is None else _texts(catalog, hashes, template):
        stdio.print_line(text)
    return ExitCode.FOUND if hashes else ExitCode.INTERRUPTED


def _complete_line(line: CommandLine, template: str) -> ExitCode:
    """Print the line on stdin with the specs that are picked in place of the spec at its end."""
    data = sys.stdin.buffer.read(_MAX_LINE + 1)
    try:
        text = data.decode().removesuffix("\n")
    except UnicodeDecodeError:
        raise Leave(ExitCode.USAGE, "the command line is not UTF-8") from None
    if len(data) > _MAX_LINE:
        raise Leave(ExitCode.USAGE, "the command line is longer than 1 MiB")
    before, typed, quote = split_spec(text)
    try:
        line.query(typed)
    except Leave:
        before, typed = text, []
    # Nobody could continue it: the shell waits for it within a key.
    signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    words = [*line.words, *filter(None, typed)]
    catalog, hashes = open_browser(line, words, text.rpartition("\n")[2].strip())
    if not hashes:
        return ExitCode.INTERRUPTED
    is_glued = before.rstrip() == before != ""
    between = quote if typed else " " if is_glued else ""
    chosen = " ".join(_texts(catalog, hashes, template, partial(shell_quoted, quote=quote)))
    stdio.print_line(f"{before}{between}{chosen}")
    return ExitCode.FOUND


def _texts(
    catalog: Catalog | None,
    hashes: Sequence[str],
    template: str,
    quoted: Callable[[str], str] = str,
) -> Iterator[str]:
    """Yield the texts of specs. A mark that was made in other sources has only its hash."""
    for hash_ in hashes:
        assert catalog is not None
        ids = [row.id for row in catalog.by_hash(hash_)[:1]]
        yield next(formatted(spec_sheet(catalog, ids), template, quoted), f"/{hash_}")

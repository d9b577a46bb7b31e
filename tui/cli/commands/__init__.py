"""Run a command of the command line, each of which is a module with a function `run`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from spackscope.model.core.frozen import replace
from spackscope.tui import VERSION
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.command_table import BROWSE, COMMANDS
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave

if TYPE_CHECKING:
    from spackscope.model.sources.session import Session
    from spackscope.tui.settings import Settings


def run_command(options: Options) -> ExitCode:
    """Run a command. Raises Leave, SourceError, Cancelled, BrokenPipeError."""
    if options.help:
        from spackscope.tui.cli.help import help_text

        text = help_text(options.help, os.environ)
        stdio.print_line(text.rstrip("\n"))
        return ExitCode.FOUND
    if options.version:
        stdio.print_line(f"spackscope {VERSION}")
        return ExitCode.FOUND
    if not COMMANDS[options.command].reads_sources:
        code: ExitCode = _module(options.command).run(options, os.environ)
        return code
    # Imported here, since the help needs no source.
    from spackscope.model.sources.resolve import resolve_sources
    from spackscope.model.sources.source_name import STANDARD_INPUT
    from spackscope.tui.settings import read_settings

    settings = read_settings(os.environ, {"host": options.host})
    if settings.mistakes:
        from spackscope.tui.settings import WrongSettings

        raise WrongSettings(settings.mistakes)
    session = settings.session(os.environ, everything=options.dependency_only)
    session = replace(session, uses_rules=not options.config)
    sources = resolve_sources(options.sources, session, settings.sources)
    if STANDARD_INPUT not in (*sources, *options.words):
        return _run(options, sources, session, settings)
    is_cover = options.command == "cover"
    usage = "spackscope cover - < hashes" if is_cover else "spackscope -f - < index.json"
    with _copy_stdin(usage) as path:
        return _run(options, sources, replace(session, stdin_path=path), settings)


def _run(
    options: Options, sources: Sequence[str], session: Session, settings: Settings
) -> ExitCode:
    command = COMMANDS[options.command]
    if command.takes_host:
        _module("common").check_host(session, settings.origin("host"))
    name = "answer" if command.is_answer else command.module or command.name
    # Only the browser needs more than sources and session.
    more = (settings,) if name == BROWSE else ()
    code: ExitCode = _module(name).run(options, sources, session, *more)
    return code


def _module(name: str) -> Any:
    """Import a module of this package: no command needs what another does, least of all browse."""
    return import_module(f"{__name__}.{name}")


@contextlib.contextmanager
def _copy_stdin(usage: str) -> Iterator[str]:
    """Copy standard input to a file that exists as long as the context; return its path.

    Raises Leave where standard input is a terminal, or cannot be copied.
    """
    if stdio.is_terminal(sys.stdin):
        raise Leave(ExitCode.USAGE, f"the source - reads standard input: {usage}")
    with contextlib.ExitStack() as stack:
        try:
            file, path = _temporary_file()
            stack.enter_context(file)
            from spackscope.model.core.files import MAX_FILE_SIZE, too_large

            if (size := os.fstat(sys.stdin.fileno()).st_size) > MAX_FILE_SIZE:
                raise too_large(size, MAX_FILE_SIZE)
            while part := sys.stdin.buffer.read(1 << 20):
                file.write(part)
                if file.tell() > MAX_FILE_SIZE:
                    raise too_large(None, MAX_FILE_SIZE)
            file.flush()
        except OSError as error:
            reason = error.strerror or error
            raise Leave(ExitCode.UNREADABLE, f"standard input cannot be read: {reason}") from None
        yield path


def _temporary_file() -> tuple[IO[bytes], str]:
    """Create a file that is removed when it is closed; return it with a path to open it by.

    On Linux it has no name, and disappears with this process even where that is killed.
    """
    import tempfile

    file = tempfile.TemporaryFile()  # noqa: SIM115
    path = f"/proc/self/fd/{file.fileno()}"
    if os.path.exists(path):
        return file, path
    file.close()
    named_file = tempfile.NamedTemporaryFile(prefix="spackscope-")  # noqa: SIM115
    return named_file, named_file.name

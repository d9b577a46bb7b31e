"""The command `extension`: print the directory of the Spack extension, or register it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from spackscope.tui.cli.arguments import Options
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave
from spackscope.tui.spack_extension import extension_path


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Print the directory of the extension, register it with Spack or undo that. Raises Leave."""
    path = extension_path()
    if options.registration:
        from spackscope.tui.cli import spack_registration

    if options.registration == "remove":
        spack_registration.unregister(environ)
    elif not os.path.isdir(path):
        sentence = "this spackscope is one file, which Spack cannot load an extension from"
        raise Leave(ExitCode.UNREADABLE, f"{sentence}; install it as by pipx")
    elif options.registration:
        spack_registration.register(path, environ)
    else:
        stdio.print_line(path)
    return ExitCode.FOUND

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
    if not options.registration:
        stdio.print_line(_directory(environ))
        return ExitCode.FOUND
    from spackscope.tui.cli.spack_registration import register, unregister

    (register if options.registration == "install" else unregister)(environ)
    return ExitCode.FOUND


def _directory(environ: Mapping[str, str]) -> str:
    """Return the directory of the extension, which spackscope.pyz has to copy first."""
    if "SPACKSCOPE_PYZ" not in environ:
        return extension_path()
    from spackscope.tui.cli.extension_copy import copy_path

    copy = copy_path(environ)
    if not os.path.isdir(copy):
        sentence = "spackscope.pyz has the extension inside"
        message = f"{sentence}: `spackscope extension --install` copies it to {copy}"
        raise Leave(ExitCode.UNREADABLE, message)
    return copy

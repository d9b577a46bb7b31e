"""Copy the Spack extension to where it stays when the program is moved or removed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping

from spackscope.model.core.files import make_directories, write_atomically, xdg_dir
from spackscope.tui.process.exit_codes import ExitCode, Leave
from spackscope.tui.spack_extension import DIRECTORY, extension_path

COMMAND = os.path.join("scope", "cmd", "scope.py")
_PROGRAM = "program"
"""The file that names the program, which the command reads (spack-scope/scope/cmd/scope.py)."""


def copy_path(environ: Mapping[str, str]) -> str:
    """Return where the copy is, in XDG_DATA_HOME. Raises Leave without a home directory."""
    data = xdg_dir(environ, "data")
    if data is None:
        raise Leave(ExitCode.UNREADABLE, "there is no home directory to copy the extension to")
    return os.path.join(data, DIRECTORY)


def copy_extension(target: str, environ: Mapping[str, str]) -> None:
    """Copy the extension to a directory, with the path of the program. Raises Leave."""
    command = os.path.join(target, COMMAND)
    try:
        with open(os.path.join(extension_path(), COMMAND), "rb") as file:
            code = file.read()
        make_directories(os.path.dirname(command))
        write_atomically(os.path.join(target, _PROGRAM), os.fsencode(_program(environ)))
        write_atomically(command, code)
    except OSError as error:
        reason = error.strerror or error
        raise Leave(ExitCode.UNREADABLE, f"{target} cannot be written: {reason}") from None


def _program(environ: Mapping[str, str]) -> str:
    """Return the path of the program: spackscope.pyz, the started script, or the one of pip.

    A link is not followed, as that of pipx, which stays when its target moves.
    """
    script = os.path.join(os.path.dirname(sys.executable), "spackscope")
    started = environ.get("SPACKSCOPE_PYZ") or shutil.which(sys.argv[0])
    return os.path.abspath(started or script)

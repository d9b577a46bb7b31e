"""Copy the Spack extension out of spackscope.pyz, whose own copy may be removed at any time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from spackscope.model.core.files import make_directories, write_atomically, xdg_dir
from spackscope.tui.process.exit_codes import ExitCode, Leave
from spackscope.tui.spack_extension import DIRECTORY, extension_path

_COMMAND = os.path.join("scope", "cmd", "scope.py")
_PROGRAM = "program"
"""The file that names the program, which the command reads (spack-scope/scope/cmd/scope.py)."""


def started_file(environ: Mapping[str, str]) -> str:
    """Return the path of spackscope.pyz if the program was started from it, or an empty text."""
    return environ.get("SPACKSCOPE_PYZ", "")


def copy_path(environ: Mapping[str, str]) -> str:
    """Return where the copy is, in XDG_DATA_HOME. Raises Leave without a home directory."""
    data = xdg_dir(environ, "data")
    if data is None:
        raise Leave(ExitCode.UNREADABLE, "there is no home directory to copy the extension to")
    return os.path.join(data, DIRECTORY)


def copy_extension(environ: Mapping[str, str]) -> str:
    """Copy the extension with the path of the program; return where it is. Raises Leave."""
    target = copy_path(environ)
    command = os.path.join(target, _COMMAND)
    try:
        with open(os.path.join(extension_path(), _COMMAND), "rb") as file:
            code = file.read()
        make_directories(os.path.dirname(command))
        write_atomically(command, code)
        program = os.path.abspath(started_file(environ))
        write_atomically(os.path.join(target, _PROGRAM), os.fsencode(program))
    except OSError as error:
        reason = error.strerror or error
        raise Leave(ExitCode.UNREADABLE, f"{target} cannot be written: {reason}") from None
    return target


def remove_copy(environ: Mapping[str, str]) -> None:
    """Remove the copy, if there is one."""
    if data := xdg_dir(environ, "data"):
        shutil.rmtree(os.path.join(data, DIRECTORY), ignore_errors=True)

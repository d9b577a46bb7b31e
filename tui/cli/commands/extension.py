"""The command `extension`: copy the Spack extension, and print how Spack gets it.

The copy stays when the program is moved or removed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping

from spackscope.model.core.commands import HELP_OPTION, PROGRAM, Command
from spackscope.model.core.file_access import (
    make_directories,
    read_file,
    write_atomically,
    xdg_path,
)
from spackscope.tui.cli.arguments import Options
from spackscope.tui.process import ExitCode, Leave, stdio
from spackscope.tui.spack_extension import DIRECTORY, extension_path

COMMAND = Command(
    "extension",
    "give Spack the command `spack scope`",
    ("[--help]",),
    """\
Copy the Spack extension with the command `spack scope`, which starts
spackscope with the Spack and the environment that are active. Print the
command line that adds the copy to your configuration of Spack, and the one
that removes it. A Spack whose own Python has spackscope finds the command by
itself.

The copy is in $XDG_DATA_HOME/spackscope, else in ~/.local/share/spackscope. It
starts the program that wrote it, or one on PATH. Keep it while it is added: no
command of Spack starts once a directory that its configuration lists is gone,
but the second line still works.""",
    (HELP_OPTION,),
    wrong_count="takes no words: {first}",
    reads_sources=False,
    codes={0: "copied", 3: "the copy cannot be written"},
    examples="""\
spackscope extension
spack scope find hdf5 +mpi""",
    group=PROGRAM,
)


_COMMAND = os.path.join("scope", "cmd", "scope.py")
_PROGRAM = "program"
"""The file that names the program, which the command reads (spack-scope/scope/cmd/scope.py)."""

_SPECIAL = r"""[][{},#:"'$]"""
"""Characters that Spack does not take for a part of a path (process_config_path in config.py)."""

_NO_EXTENSIONS = "-c 'config:extensions::[]'"
"""The option with which Spack starts even if the directory of an extension is missing."""


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Copy the extension; print the lines of a shell that add it and remove it. Raises Leave."""
    if (path := xdg_path(environ, "data", DIRECTORY)) is None:
        raise Leave(ExitCode.UNREADABLE, "there is no home directory to copy the extension to")
    if re.search(_SPECIAL, path) or not path.isprintable():
        sentence = f"the path {path} has characters that Spack does not take"
        raise Leave(ExitCode.UNREADABLE, f"{sentence}; set XDG_DATA_HOME to another directory")
    try:
        _copy_extension(path, environ)
    except OSError as error:
        reason = error.strerror or error
        raise Leave(ExitCode.UNREADABLE, f"{path} cannot be written: {reason}") from None
    entry = shlex.quote(f"config:extensions:[{path}]")
    stdio.print_line(f"spack config --scope user add {entry}")
    stdio.print_line(f"spack {_NO_EXTENSIONS} config --scope user remove {entry}")
    stdio.print_message(
        f"the extension is in {path}; the first line adds it to Spack, the second removes it",
        "  Keep it while it is added: no command of Spack starts once such a directory is gone.",
    )
    return ExitCode.FOUND


def _copy_extension(target: str, environ: Mapping[str, str]) -> None:
    """Copy the extension to a directory, with the path of the program. Raises OSError."""
    with open(os.path.join(extension_path(), _COMMAND), "rb") as file:
        contents = {_PROGRAM: os.fsencode(_program(environ)), _COMMAND: file.read()}
    for name, content in contents.items():
        path = os.path.join(target, name)
        make_directories(os.path.dirname(path))
        if not os.path.isfile(path) or read_file(path) != content:
            write_atomically(path, content, keeps_rights=True)


def _program(environ: Mapping[str, str]) -> str:
    """Return the path of the program: spackscope.pyz, the started script, or the script of pip.

    A link is not followed: the link of pipx stays when its target moves.
    """
    script = os.path.join(os.path.dirname(sys.executable), "spackscope")
    started = environ.get("SPACKSCOPE_PYZ") or shutil.which(sys.argv[0])
    return os.path.abspath(started or script)

"""The command `spack scope`: start spackscope with what this Spack knows.

Spack's own Python runs this file. It may be as old as 3.6 and need not have spackscope, so the
installed program is looked for, and replaces the process.
"""

import argparse
import os
import sys
from typing import Any, Dict, List, Mapping

description = "browse and query the binaries in build caches"
# "query packages" in the help since Spack 1.1; older ones show a section that they do not know by
# its name.
section = "query"
level = "short"

_PROGRAM = "spackscope"
_NOT_FOUND = (
    "spack scope: the program spackscope is not found: install it as by `pipx install spackscope`,"
    " or add its directory to PATH"
)


def setup_parser(subparser: argparse.ArgumentParser) -> None:
    """Describe the command, without options of its own: all words go on in their order."""
    subparser.usage = "spack scope [COMMAND] [-f SOURCE]... [QUERY...]"
    subparser.epilog = (
        "All words are passed on to spackscope, which reads the mirrors, the install tree\n"
        "and the active environment of this Spack:\n\n"
        "  spack scope                            open the browser\n"
        "  spack scope find hdf5 +mpi             list matching specs\n"
        "  spack -e myenv scope cover             what caches have of an environment\n"
        "  spack scope help                       all commands and options\n"
        "  spack scope help find                  those of one command"
    )


def scope(
    parser: argparse.ArgumentParser, args: argparse.Namespace, unknown_args: List[str]
) -> int:
    """Replace the process by spackscope; return an exit code where it cannot be started."""
    program = _find_program()
    if not program:
        sys.stderr.write(_NOT_FOUND + "\n")
        return 1
    environ = _environment(os.environ)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execve(program, [program] + list(unknown_args), environ)
    except OSError as error:
        sys.stderr.write("spack scope: {0}: {1}\n".format(program, error.strerror or error))
    return 1


def _find_program() -> str:
    """Return the path of the program of this installation, else of the one on PATH, or ''."""
    here = os.path.dirname(os.path.abspath(__file__))
    candidates = [_recorded_program(os.path.dirname(os.path.dirname(here)))]
    # This file is in PACKAGES/spackscope/tui/spack_extension/spack-scope/scope/cmd. Of a
    # virtual environment, a user or a prefix PACKAGES is lib/python3.x/site-packages, and with
    # `pip install --target` any directory.
    packages = here
    for _ in range(6):
        packages = os.path.dirname(packages)
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(packages)))
    candidates += [os.path.join(directory, "bin", _PROGRAM) for directory in (prefix, packages)]
    directories = os.environ.get("PATH", "").split(os.pathsep)
    candidates += [os.path.join(directory, _PROGRAM) for directory in directories if directory]
    for program in candidates:
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return os.path.abspath(program)
    return ""


def _recorded_program(extension: str) -> str:
    """Return the program that a copy of the extension was made by, which its file names, or ''."""
    try:
        with open(os.path.join(extension, "program"), encoding="utf-8") as file:
            return file.read().strip()
    except (OSError, ValueError):
        return ""


def _environment(environ: Mapping[str, str]) -> Dict[str, str]:
    """Return the environment with this Spack and its active environment, if there is one.

    `spack -e NAME` and `spack -E` set the active environment in Spack's process only.
    """
    import spack.paths

    changed = dict(environ)
    changed["SPACK_ROOT"] = str(spack.paths.prefix)
    try:
        active = _active_environment()
    except ImportError:
        return changed
    changed.pop("SPACK_ENV", None)
    if active is not None:
        changed["SPACK_ENV"] = str(active.path)
    return changed


def _active_environment() -> Any:
    """Return the active environment of Spack, or None. Raises ImportError in an unknown Spack."""
    try:
        # After Spack 1.2.
        from spack.active_environment import active_environment
    except ImportError:
        from spack.environment import active_environment
    return active_environment()

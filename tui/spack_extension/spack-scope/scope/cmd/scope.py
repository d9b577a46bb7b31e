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

_NOT_PASSED_ON = (
    "spack scope: spackscope does not see what `spack -c` and `spack -C` configure: name a mirror"
    " with `spack scope -f URL`, or use an environment with `spack -e`"
)


def setup_parser(subparser: argparse.ArgumentParser) -> None:
    """Describe the command, without options of its own: all words go on in their order."""
    subparser.usage = "spack scope [COMMAND] [-f SOURCE]... [QUERY...]"
    subparser.epilog = (
        "All words are passed on to spackscope, which reads the mirrors, the install tree\n"
        "and the active environment of this Spack:\n\n"
        "  spack scope                            open the browser\n"
        "  spack scope find hdf5 +mpi             list matching specs\n"
        "  spack -e myenv scope cover             what of the environment is cached\n"
        "  spack scope help                       all commands and options\n"
        "  spack scope help find                  those of one command"
    )


def scope(
    parser: argparse.ArgumentParser, args: argparse.Namespace, unknown_args: List[str]
) -> int:
    """Replace the process by spackscope; return an exit code where it cannot be started."""
    # `args` has the options of the command only; those of Spack are before it.
    before = sys.argv[1 : len(sys.argv) - len(unknown_args)]
    if any(word[:2] in ("-c", "-C") or word.startswith("--conf") for word in before):
        sys.stderr.write(_NOT_PASSED_ON + "\n")
        return 2
    message = _NOT_FOUND
    environ = _environment(os.environ)
    sys.stdout.flush()
    sys.stderr.flush()
    for program in _find_programs():
        try:
            os.execve(program, [program] + list(unknown_args), environ)
        except OSError as error:
            # As where the Python of a virtual environment is gone.
            message = "spack scope: {0}: {1}".format(program, error.strerror or error)
    sys.stderr.write(message + "\n")
    return 1


def _find_programs() -> List[str]:
    """Return the paths of the program of this installation, and of those on PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        # Of a copy, which spackscope wrote with its own path (tui/cli/commands/extension.py).
        with open(os.path.join(here, "..", "..", "program"), encoding="utf-8") as file:
            candidates = [file.read().strip()]
    except (OSError, ValueError):
        # This file is in PACKAGES/spackscope/tui/spack_extension/spack-scope/scope/cmd. Of a
        # virtual environment, a user or a prefix PACKAGES is lib/python3.x/site-packages, and with
        # `pip install --target` any directory.
        packages = os.path.abspath(os.path.join(here, *[".."] * 6))
        prefix = os.path.dirname(os.path.dirname(os.path.dirname(packages)))
        candidates = [os.path.join(directory, "bin", _PROGRAM) for directory in (prefix, packages)]
    directories = os.environ.get("PATH", "").split(os.pathsep)
    candidates += [os.path.join(directory, _PROGRAM) for directory in directories if directory]
    return [
        os.path.abspath(program)
        for program in candidates
        if os.path.isfile(program) and os.access(program, os.X_OK)
    ]


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

"""Run the program in forks of a process that has imported it already.

Starting the program takes a quarter of a second, nearly all of it imports; a fork takes a tenth
of that. Each line of standard input is a request, each line of standard output an exit code.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import sys
from importlib import import_module
from typing import Any

import spackscope.model
import spackscope.tui.cli
from spackscope.tui.cli.main import main


def import_all() -> None:
    """Import what commands import only when they need it; forks have it then."""
    for package in (spackscope.model, spackscope.tui.cli):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    # Else a collection in a fork copies the memory of all of it.
    gc.freeze()


def serve() -> None:
    """Run each request in a process of its own, until there are no more."""
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            run(json.loads(line))
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def run(request: dict[str, Any]) -> None:
    """Run the program in this process, with its environment, directory and streams."""
    os.environ.clear()
    os.environ.update(request["environ"])
    os.chdir(request["directory"])
    sys.path[0] = request["directory"]  # as `python -m` does
    if request["is_terminal"]:
        # The terminal that is opened first is the one that controls a new session.
        os.setsid()
    for number, path in enumerate(request["streams"]):
        descriptor = os.open(path, os.O_WRONLY if number else os.O_RDONLY)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = ["spackscope", *request["words"]]
    raise SystemExit(main())


if __name__ == "__main__":
    import_all()
    serve()

"""Register the extension with the configuration of the user's Spack."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from spackscope.model.core.text import clean
from spackscope.model.sources.spack_config.extensions import ListedExtension, listed_extensions
from spackscope.model.sources.spack_config.paths import find_spack_root
from spackscope.model.storage.redaction import without_secrets
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave
from spackscope.tui.spack_extension import DIRECTORY

_SPECIAL = r"""[][{},#:"'$]|[^\S ]"""
"""What Spack does not take for a part of a path (process_config_path in config.py)."""

_ERROR = "==> Error: "

_PATIENCE = 120
"""Seconds after which a Spack is ended; on a slow file system it starts in some."""


_MAX_OUTPUT = 2**16
"""Bytes that are kept of what Spack prints: the last ones, where it says why it ends."""


def register(path: str, environ: Mapping[str, str]) -> None:
    """Add a directory to the configuration of the user, in place of one with its name.

    Raises Leave where there is no Spack, where its configuration cannot be changed, and where
    another scope lists another directory of this name.
    """
    spack = _find_spack(environ, path)
    listed = listed_extensions(environ, DIRECTORY)
    others = [each for each in listed if not _is_same(each.path, path)]
    if foreign := next((each for each in others if not each.is_own), None):
        state = "" if os.path.isdir(foreign.path) else ", which does not exist"
        raise Leave(
            ExitCode.NOTHING,
            f"the configuration in {foreign.directory} lists {foreign.path}{state}; "
            "Spack needs one only, so remove that first",
        )
    if re.search(_SPECIAL, path):
        sentence = f"the path {path} has characters that Spack does not take"
        raise Leave(ExitCode.UNREADABLE, f"{sentence}; install spackscope elsewhere")
    for each in others:
        _remove(spack, each, environ)
    if same := [each for each in listed if each not in others]:
        stdio.print_line(
            f"Spack has it already: {clean(path)} is listed in {clean(same[0].directory)}"
        )
        return
    _configure(spack, "add", path, environ)
    now = listed_extensions(environ, DIRECTORY)
    added = next((each for each in now if _is_same(each.path, path)), None)
    if added is None:
        raise _failed(spack, f"it does not list {path} afterwards", path)
    stdio.print_line(f"Registered {clean(path)} in {clean(added.directory)}")
    stdio.print_line(f"Type `spack scope` to start spackscope from {clean(spack)}")


def unregister(environ: Mapping[str, str]) -> None:
    """Remove every extension with this name from the configuration of the user. Raises Leave."""
    listed = listed_extensions(environ, DIRECTORY)
    own = [each for each in listed if each.is_own]
    if own:
        spack = _find_spack(environ, "")
        for each in own:
            _remove(spack, each, environ)
    if foreign := [each for each in listed if not each.is_own]:
        raise Leave(ExitCode.NOTHING, *_places(foreign))
    if not own:
        stdio.print_line("Your configuration of Spack does not list spackscope")


def _remove(spack: str, listed: ListedExtension, environ: Mapping[str, str]) -> None:
    """Remove an extension from the configuration of the user. Raises Leave."""
    _configure(spack, "remove", listed.written, environ)
    if listed in listed_extensions(environ, DIRECTORY):
        raise _failed(spack, f"it still lists {listed.path} afterwards", "")
    stdio.print_line(f"Removed {clean(listed.path)} from {clean(listed.directory)}")


def _places(listed: Iterable[ListedExtension]) -> list[str]:
    """Return a line for each scope that is not the user's, and lists the extension."""
    return [
        f"the configuration in {each.directory} lists {each.path}: "
        f"remove it by `spack config --scope NAME remove`, as only that of your user is changed"
        for each in listed
    ]


def _find_spack(environ: Mapping[str, str], path: str) -> str:
    """Return the program of the user's Spack. Raises Leave."""
    own = os.path.join(find_spack_root(environ), "bin", "spack")
    program = own if os.access(own, os.X_OK) else shutil.which("spack", path=environ.get("PATH"))
    if program:
        return program
    lines = ["no Spack is found: source its share/spack/setup-env.sh, or set SPACK_ROOT"]
    raise Leave(ExitCode.UNREADABLE, *lines, *_by_hand(path))


def _configure(
    spack: str, action: Literal["add", "remove"], entry: str, environ: Mapping[str, str]
) -> None:
    """Change the configuration of the user. Raises Leave.

    The entry is written as a list: Spack takes a text alone only where the list exists (`add` in
    lib/spack/spack/config.py).
    """
    command = [spack, "config", "--scope", "user", action, f"config:extensions:[{entry}]"]
    try:
        code, printed = _run(command, environ)
    except subprocess.TimeoutExpired:
        reason = f"it does not end after {_PATIENCE} seconds"
        raise _failed(spack, reason, entry if action == "add" else "") from None
    except OSError as error:
        raise _failed(spack, error.strerror or str(error), entry) from None
    if code:
        reason = _reason(printed) or f"exit code {code}"
        raise _failed(spack, without_secrets(reason), entry if action == "add" else "")


def _run(command: Sequence[str], environ: Mapping[str, str]) -> tuple[int, str]:
    """Return the exit code of Spack and the end of its errors. Raises TimeoutExpired, OSError."""
    kept = bytearray()
    with subprocess.Popen(
        command,
        # An environment that cannot be read would stop Spack.
        env={name: value for name, value in environ.items() if name != "SPACK_ENV"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        bufsize=0,
    ) as process:
        assert process.stderr is not None
        pipe = process.stderr.fileno()

        def keep_last() -> None:
            while part := os.read(pipe, _MAX_OUTPUT):
                kept.extend(part)
                del kept[:-_MAX_OUTPUT]

        reader = threading.Thread(target=keep_last, daemon=True)
        reader.start()
        try:
            code = process.wait(_PATIENCE)
        except BaseException:
            process.kill()
            raise
        # A process that Spack leaves behind may hold the pipe open.
        reader.join(1)
    return code, bytes(kept).decode(errors="replace")


def _reason(stderr: str) -> str:
    """Return the error that Spack printed, or the last line, as of argparse or of a traceback."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(_ERROR)]
    return [*lines, *errors[:1]][-1].removeprefix(_ERROR) if lines else ""


def _failed(spack: str, reason: str, path: str) -> Leave:
    sentence = f"{spack} cannot change its configuration: {reason}"
    return Leave(ExitCode.UNREADABLE, sentence, *_by_hand(path))


def _by_hand(path: str) -> list[str]:
    """Return what to write into a config.yaml of Spack instead."""
    if not path:
        return []
    return ["  or write into a config.yaml of Spack:", f"  config: {{extensions: [{path}]}}"]


def _is_same(first: str, second: str) -> bool:
    return os.path.realpath(first) == os.path.realpath(second)

"""Register the extension with the configuration of the user's Spack."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from spackscope.model.core.text import clean
from spackscope.model.sources.spack_config import (
    ListedExtension,
    find_spack_root,
    listed_extensions,
)
from spackscope.tui.cli.extension_copy import COMMAND, copy_extension, copy_path
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave
from spackscope.tui.spack_extension import DIRECTORY

_SPECIAL = r"""[][{},#:"'$]"""
"""What Spack does not take for a part of a path (process_config_path in config.py)."""

_NO_EXTENSIONS = "config:extensions::[]"
"""Lets Spack start where the directory of an extension is missing."""

_ERROR = "==> Error: "

_PATIENCE = 120
"""Seconds after which a Spack is ended; on a slow file system it starts in some."""


_MAX_OUTPUT = 2**16
"""Bytes that are kept of what Spack prints: the last ones, where it says why it ends."""


def register(environ: Mapping[str, str]) -> None:
    """Copy the extension, and add the copy to the configuration of the user, in place of others.

    Raises Leave where the copy cannot be written, where there is no Spack, where its
    configuration cannot be changed, and where another scope lists a directory that is missing.
    """
    path = copy_path(environ)
    if re.search(_SPECIAL, path) or not path.isprintable():
        sentence = f"the path {path} has characters that Spack does not take"
        raise Leave(ExitCode.UNREADABLE, f"{sentence}; set XDG_DATA_HOME to another directory")
    try:
        copy_extension(path, environ)
    except Leave:
        _remove(environ, [each for each in _listed(environ) if each.is_own and _is_missing(each)])
        raise
    spack = _find_spack(environ, path)
    listed = _listed(environ)
    kept = [each for each in listed if not each.is_own or _is_same(each.path, path)]
    _remove(environ, [each for each in listed if each not in kept])
    if missing := [each for each in kept if _is_missing(each)]:
        raise Leave(ExitCode.NOTHING, *_places(missing))
    if kept:
        place = clean(kept[0].directory)
        stdio.print_line(f"Spack has it already: {clean(kept[0].path)} is listed in {place}")
        return
    _configure(spack, "add", path, environ)
    added = next((each for each in _listed(environ) if _is_same(each.path, path)), None)
    if added is None:
        raise _failed(spack, f"it does not list {path} afterwards", path)
    stdio.print_line(f"Registered {clean(path)} in {clean(added.directory)}")
    stdio.print_line(f"Type `spack scope` to start spackscope from {clean(spack)}")


def unregister(environ: Mapping[str, str]) -> None:
    """Remove every extension with this name from the configuration of the user. Raises Leave.

    The copy stays, as no Spack starts that lists a missing directory, and another one may list it.
    """
    listed = _listed(environ)
    own = [each for each in listed if each.is_own]
    _remove(environ, own)
    if foreign := [each for each in listed if not each.is_own]:
        raise Leave(ExitCode.NOTHING, *_places(foreign))
    if not own:
        stdio.print_line("Your configuration of Spack does not list spackscope")
    elif os.path.isdir(copy := copy_path(environ)):
        stdio.print_line(f"{clean(copy)} is left, as another Spack may list it")


def _listed(environ: Mapping[str, str]) -> list[ListedExtension]:
    return listed_extensions(environ, DIRECTORY)


def _is_missing(listed: ListedExtension) -> bool:
    """Check whether an extension stops Spack, which lists the commands of all at each start."""
    return not os.path.isdir(os.path.join(listed.path, os.path.dirname(COMMAND)))


def _remove(environ: Mapping[str, str], listed: Sequence[ListedExtension]) -> None:
    """Remove extensions from the configuration of the user. Raises Leave."""
    for each in listed:
        spack = _find_spack(environ, "")
        _configure(spack, "remove", each.written, environ)
        if each in _listed(environ):
            raise _failed(spack, f"it still lists {each.path} afterwards", "")
        stdio.print_line(f"Removed {clean(each.path)} from {clean(each.directory)}")


def _places(listed: Iterable[ListedExtension]) -> list[str]:
    """Return a line for each scope that is not the user's, and lists the extension."""
    return [
        f"the configuration in {each.directory} lists {each.path}"
        + (", which does not exist" if _is_missing(each) else "")
        + f": remove it by `spack -c '{_NO_EXTENSIONS}' config --scope NAME remove"
        f" 'config:extensions:[{json.dumps(each.written)}]'`, as only that of your user is changed"
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
    lib/spack/spack/config.py). It is quoted, as YAML takes a `{` for more than a text.
    """
    words = ["config", "--scope", "user", action, f"config:extensions:[{json.dumps(entry)}]"]
    command = [spack, "-c", _NO_EXTENSIONS, *words]
    try:
        code, printed = _run(command, environ)
    except subprocess.TimeoutExpired:
        reason = f"it does not end after {_PATIENCE} seconds"
        raise _failed(spack, reason, entry if action == "add" else "") from None
    except OSError as error:
        raise _failed(spack, error.strerror or str(error), entry) from None
    if code:
        reason = _reason(printed) or f"exit code {code}"
        raise _failed(spack, reason, entry if action == "add" else "")


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

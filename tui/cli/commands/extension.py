"""The command `extension`: print the directory of the Spack extension, or register it.

A copy is registered, which stays when the program is moved or removed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from spackscope.model.core.file_access import (
    make_directories,
    read_file,
    write_atomically,
    xdg_path,
)
from spackscope.model.core.text import clean
from spackscope.model.sources.spack_config import (
    ListedExtension,
    find_spack_root,
    listed_extensions,
)
from spackscope.tui.cli.arguments import Options
from spackscope.tui.process import ExitCode, Leave, stdio
from spackscope.tui.spack_extension import DIRECTORY, extension_path

_COMMAND = os.path.join("scope", "cmd", "scope.py")
_PROGRAM = "program"
"""The file that names the program, which the command reads (spack-scope/scope/cmd/scope.py)."""

_SPECIAL = r"""[][{},#:"'$]"""
"""Characters that Spack does not take for a part of a path (process_config_path in config.py)."""

_NO_EXTENSIONS = "config:extensions::[]"
"""The setting with which Spack starts even if the directory of an extension is missing."""

_ERROR = "==> Error: "

_PATIENCE = 120
"""Seconds after which a Spack is ended; on a slow file system its start takes some."""

_MAX_OUTPUT = 2**16
"""Bytes of the end of Spack's output that are read, where Spack says why it ends."""


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Print the directory of the extension, or register or unregister it. Raises Leave."""
    if not options.registration:
        stdio.print_line(_directory(environ))
        return ExitCode.FOUND
    (register if options.registration == "install" else unregister)(environ)
    return ExitCode.FOUND


def _directory(environ: Mapping[str, str]) -> str:
    """Return the directory of the extension, which spackscope.pyz has to copy first."""
    if "SPACKSCOPE_PYZ" not in environ:
        return extension_path()
    copy = _copy_path(environ)
    if not os.path.isdir(copy):
        sentence = "spackscope.pyz has the extension inside"
        message = f"{sentence}: `spackscope extension --install` copies it to {copy}"
        raise Leave(ExitCode.UNREADABLE, message)
    return copy


def register(environ: Mapping[str, str]) -> None:
    """Copy the extension, and add the copy to the configuration of the user, in place of others.

    Raises Leave where the copy cannot be written, where there is no Spack, where its
    configuration cannot be changed, and where another scope lists a directory that is missing.
    """
    path = _copy_path(environ)
    if re.search(_SPECIAL, path) or not path.isprintable():
        sentence = f"the path {path} has characters that Spack does not take"
        raise Leave(ExitCode.UNREADABLE, f"{sentence}; set XDG_DATA_HOME to another directory")
    try:
        changed = _copy_extension(path, environ)
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
        first = kept[0]
        said = changed if changed and _is_same(first.path, path) else "Spack has it already:"
        stdio.print_line(f"{said} {clean(first.path)}, which {clean(first.directory)} lists")
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
    elif os.path.isdir(copy := _copy_path(environ)):
        stdio.print_line(f"{clean(copy)} stays, as another Spack may list it")


def _listed(environ: Mapping[str, str]) -> list[ListedExtension]:
    return listed_extensions(environ, DIRECTORY)


def _is_missing(listed: ListedExtension) -> bool:
    """Check whether an extension stops Spack, which lists the commands of all at each start."""
    return not os.path.isdir(os.path.join(listed.path, os.path.dirname(_COMMAND)))


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
    # A process that Spack leaves behind may hold a pipe open.
    with tempfile.TemporaryFile() as errors:
        try:
            code = subprocess.run(
                [spack, "-c", _NO_EXTENSIONS, *words],
                # An environment that cannot be read would stop Spack.
                env={name: value for name, value in environ.items() if name != "SPACK_ENV"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                timeout=_PATIENCE,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            reason = f"it does not end after {_PATIENCE} seconds"
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - _MAX_OUTPUT))
            printed = _reason(errors.read().decode(errors="replace"))
            reason = (printed or f"exit code {code}") if code else ""
    if reason:
        raise _failed(spack, reason, entry if action == "add" else "")


def _reason(stderr: str) -> str:
    """Return the error that Spack printed, or the last line, as of argparse or of a traceback."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(_ERROR)]
    return [*lines, *errors[:1]][-1].removeprefix(_ERROR) if lines else ""


def _failed(spack: str, reason: str, path: str) -> Leave:
    sentence = f"{spack} cannot change its configuration: {reason}"
    return Leave(ExitCode.UNREADABLE, sentence, *_by_hand(path))


def _by_hand(path: str) -> list[str]:
    """Return lines that a user can write into a config.yaml of Spack instead."""
    if not path:
        return []
    return ["  or write into a config.yaml of Spack:", f"  config: {{extensions: [{path}]}}"]


def _is_same(first: str, second: str) -> bool:
    return os.path.realpath(first) == os.path.realpath(second)


def _copy_path(environ: Mapping[str, str]) -> str:
    """Return the path of the copy in XDG_DATA_HOME. Raises Leave without a home directory."""
    if (path := xdg_path(environ, "data", DIRECTORY)) is None:
        raise Leave(ExitCode.UNREADABLE, "there is no home directory to copy the extension to")
    return path


def _copy_extension(target: str, environ: Mapping[str, str]) -> str:
    """Copy the extension to a directory, with the path of the program. Raises Leave.

    Return "Restored" for a copy that was not whole, "Updated" for an old one, else "".
    """
    did = ""
    try:
        with open(os.path.join(extension_path(), _COMMAND), "rb") as file:
            contents = {_PROGRAM: os.fsencode(_program(environ)), _COMMAND: file.read()}
        for name, content in contents.items():
            path = os.path.join(target, name)
            make_directories(os.path.dirname(path))
            if not os.path.isfile(path):
                did = "Restored"
            elif read_file(path) == content:
                continue
            write_atomically(path, content, keeps_rights=True)
            did = did or "Updated"
    except OSError as error:
        reason = error.strerror or error
        raise Leave(ExitCode.UNREADABLE, f"{target} cannot be written: {reason}") from None
    return did


def _program(environ: Mapping[str, str]) -> str:
    """Return the path of the program: spackscope.pyz, the started script, or the script of pip.

    A link is not followed: the link of pipx stays when its target moves.
    """
    script = os.path.join(os.path.dirname(sys.executable), "spackscope")
    started = environ.get("SPACKSCOPE_PYZ") or shutil.which(sys.argv[0])
    return os.path.abspath(started or script)

"""Copy text to the user's clipboard with the first method that works.

The methods, in order: the user's own command, tmux, a tool of the desktop, the terminal itself
(OSC 52). Over SSH, where a desktop tool would mostly be the wrong one, it comes last.
"""

import base64
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Final

from spackscope.model.core.errors import SpackscopeError
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.redaction import without_arguments

OSC52_LIMIT: Final = 74_994
"""Maximum of base64 bytes in one OSC 52 that terminals accept (from hterm's osc52.sh)."""
SCREEN_CHUNK: Final = 76
"""Base64 bytes in one DCS string: GNU screen drops a string longer than 768 bytes."""
TIMEOUT: Final = 2.0
"""Seconds that a method may take."""

_UNSAFE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


class Copied(Frozen):
    """The copied text, the method, and why each method before it failed."""

    text: str
    method: str
    failures: tuple[str, ...]


class CopyFailed(SpackscopeError):
    """All methods failed; the message and `failures` have a sentence for each."""

    def __init__(self, failures: tuple[str, ...]) -> None:
        super().__init__("Nothing was copied. " + " ".join(failures))
        self.failures = failures


class _MethodFailed(Exception):
    """A method failed; the message is a sentence without its full stop."""


class _Tool(Frozen):
    method: str
    argv: tuple[str, ...]
    own_session: bool = True
    encoding: str = "utf-8"
    hides_arguments: bool = False


_Method = tuple[str, Callable[[], None]]


def copy(
    text: str,
    *,
    write_terminal: Callable[[str], None],
    environ: Mapping[str, str],
    platform: str = sys.platform,
    command: str = "",
) -> Copied:
    """Copy a text, and return by which method.

    `write_terminal` writes a control sequence, `environ` and `platform` decide which methods are
    tried after the user's own `command`, by default from SPACKSCOPE_COPY. Each method has two
    seconds, so call this in a worker thread. A terminal never answers OSC 52: this method counts
    as working once the sequence is written.

    Raises ValueError, before anything is tried, for a text that is unsafe to paste into a shell,
    and CopyFailed if all methods fail.

    >>> copy("2ggad67", write_terminal=sys.stderr.write, environ=os.environ).method
    'tmux'
    """
    refuse_unsafe(text)
    failures: dict[str, None] = {}
    command = command or environ.get("SPACKSCOPE_COPY", "").strip()
    for method, attempt in _methods(text, write_terminal, environ, platform, command):
        try:
            attempt()
        except _MethodFailed as failure:
            failures[f"{failure}."] = None
        else:
            return Copied(text, method, tuple(failures))
    raise CopyFailed(tuple(failures))


def refuse_unsafe(text: str) -> None:
    """Raise ValueError for a text that would do more than appear when it is pasted.

    Such a text has a control, format, bidi or surrogate character, or a newline with no text
    before or after it: a pasted newline runs the command.
    """
    lines = text.split("\n")
    if not (lines[0].strip() and lines[-1].strip()):
        raise ValueError("not copied: the text is empty, or begins or ends with an empty line")
    for character in text:
        if character != "\n" and unicodedata.category(character) in _UNSAFE:
            raise ValueError(f"not copied: the text contains U+{ord(character):04X}")


def osc52(text: str, *, in_screen: bool = False) -> str:
    """Return the sequence that asks the terminal to take the text as its clipboard."""
    payload = base64.b64encode(text.encode()).decode("ascii")
    if len(payload) > OSC52_LIMIT:
        raise ValueError(f"takes {OSC52_LIMIT:,} bytes, not {len(payload):,}")
    if not in_screen:
        return f"\x1b]52;c;{payload}\x07"
    chunks = (payload[i : i + SCREEN_CHUNK] for i in range(0, len(payload), SCREEN_CHUNK))
    return "\x1bP\x1b]52;c;" + "\x1b\\\x1bP".join(chunks) + "\x07\x1b\\"


def _methods(
    text: str,
    write_terminal: Callable[[str], None],
    environ: Mapping[str, str],
    platform: str,
    command: str,
) -> Iterator[_Method]:
    def by(tool: _Tool) -> _Method:
        return tool.method, lambda: _run(tool, text, environ)

    if command:
        yield _shown(command), lambda: _run(_own_tool(command), text, environ)
    if environ.get("TMUX"):
        # -w hands the text on to the outer terminal as well; tmux before 3.2 does not know it.
        yield by(_Tool("tmux", ("tmux", "load-buffer", "-w", "-")))
        yield by(_Tool("tmux", ("tmux", "load-buffer", "-")))
    over_ssh = any(environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"))
    if not over_ssh:
        yield from map(by, _local_tools(text, environ, platform))
    yield "terminal, OSC 52", lambda: _write(text, write_terminal, environ)
    if over_ssh:
        # pbcopy and clip.exe would fill the clipboard of a machine the user does not sit at.
        yield from map(by, _display_tools(environ))


def _own_tool(command: str) -> _Tool:
    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        raise _MethodFailed(f"the copy command cannot be read: {error}") from None
    # A script that writes to /dev/tty needs the controlling terminal, hence our session.
    return _Tool(_shown(command), argv, own_session=False, hides_arguments=True)


def _local_tools(text: str, environ: Mapping[str, str], platform: str) -> Iterator[_Tool]:
    if platform == "darwin":
        yield _Tool("pbcopy", ("pbcopy",))
    yield from _display_tools(environ)
    if environ.get("WSL_DISTRO_NAME") or environ.get("WSL_INTEROP"):
        # clip.exe reads bytes in the OEM code page unless they look like UTF-16.
        encoding = "ascii" if text.isascii() else "utf-16-le"
        yield _Tool("clip.exe", ("clip.exe",), encoding=encoding)


def _display_tools(environ: Mapping[str, str]) -> Iterator[_Tool]:
    if environ.get("WAYLAND_DISPLAY"):
        # Left to guess, wl-copy offers JSON as application/json, which terminals do not paste.
        yield _Tool("wl-copy", ("wl-copy", "--type", "text/plain"))
    if environ.get("DISPLAY"):
        yield _Tool("xclip", ("xclip", "-selection", "clipboard"))
        yield _Tool("xsel", ("xsel", "-ib"))


def _write(text: str, write_terminal: Callable[[str], None], environ: Mapping[str, str]) -> None:
    term = environ.get("TERM", "")
    if term in ("", "dumb", "linux"):
        raise _MethodFailed(f"terminal (OSC 52) cannot be used with TERM={term or 'unset'}")
    try:
        write_terminal(osc52(text, in_screen=bool(environ.get("STY"))))
    except (OSError, ValueError) as error:
        raise _MethodFailed(f"terminal (OSC 52) {_clean(str(error))}") from None


def _run(tool: _Tool, text: str, environ: Mapping[str, str]) -> None:
    program = tool.argv[0]
    shown = tool.method if tool.hides_arguments else _clean(shlex.join(tool.argv))
    executable = shutil.which(program, path=environ.get("PATH", os.defpath))
    if executable is None:
        raise _MethodFailed(f"{_clean(program)} is not installed")
    with _errors_file() as errors:
        try:
            child = subprocess.Popen(
                (executable, *tool.argv[1:]),
                env=environ,
                stdin=subprocess.PIPE,
                # No pipe: the daemon that xclip and wl-copy leave behind would hold it open.
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=tool.own_session,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise _MethodFailed(f"{shown} did not start: {_clean(reason)}") from None
        try:
            child.communicate(text.encode(tool.encoding), timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            _end(child, whole_session=tool.own_session)
            raise _MethodFailed(f"{shown} did not end within {TIMEOUT:.0f} seconds") from None
        if child.returncode:
            # pread, as the file's position is shared with a daemon that may still write.
            lines = os.pread(errors.fileno(), 2_000, 0).decode(errors="replace").split("\n")
            reason = _clean(next(filter(str.strip, lines), "")) or f"exit code {child.returncode}"
            raise _MethodFailed(f"{shown} failed: {reason.rstrip('.')}")


def _end(child: subprocess.Popen[bytes], *, whole_session: bool) -> None:
    # A process stuck in a dead file system outlives SIGKILL; it is not waited for.
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        if whole_session:
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
        if child.stdin is not None:
            child.stdin.close()
        child.wait(timeout=0.5)


def _errors_file() -> IO[bytes]:
    try:
        return tempfile.TemporaryFile()
    except OSError:
        return Path(os.devnull).open("w+b", buffering=0)


def _shown(command: str) -> str:
    return _clean(without_arguments(command))


def _clean(text: str) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in text.strip())
    return shown if len(shown) <= 120 else shown[:119] + "…"

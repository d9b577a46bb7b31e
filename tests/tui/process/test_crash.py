"""Unexpected errors of the real program: one sentence, a log without data, and exit code 70."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from spackscope.model.core.errors import (
    Cancelled,
    NotFound,
    SourceError,
    Unanswerable,
    Unreadable,
    WrongQuestion,
)
from spackscope.tui.process import ExitCode
from tests.examples import cases
from tests.program import COMMAND, Program
from tests.pty.test_signals import left_on

SECRET = "hunter2-of-the-source"
BROKEN = f"""
import sys
def broken(*_args, **_kwargs):
    password = "{SECRET}"
    raise ValueError("https://user:" + password + "@host/?sig=" + password)
{{patch}}
from spackscope.tui.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
IN_MAIN = "import spackscope.tui.cli.command_line as h; h.load = broken"
IN_IMPORT = "import sys; sys.modules['spackscope.tui.cli.arguments'] = None"
IN_THREAD = (
    "import threading, spackscope.tui.cli.command_line as h\n"
    "def find(*_args):\n"
    "    thread = threading.Thread(target=broken); thread.start(); thread.join(); return 0\n"
    "h.print_answer = find"
)
IN_LIBRARY = (
    "import sys, spackscope.tui.cli.command_line as h\n"
    f"def load(*_args, **_kwargs): sys.exit('{SECRET}')\n"
    "h.load = load"
)
AFTER_THE_COMMAND = (
    "import atexit, threading\n"
    "def late(): threading.main_thread().join(); broken()\n"
    "threading.Thread(target=late).start()\n"
    "atexit.register(broken)"
)
IN_DESTRUCTOR = (
    "import spackscope.tui.cli.command_line as h; before = h.print_answer\n"
    "class Dropped: __del__ = broken\n"
    "def run(*args): Dropped(); return before(*args)\n"
    "h.print_answer = run"
)


def run(
    program: Program, patch: str, *words: str, **changes: str
) -> subprocess.CompletedProcess[str]:
    # Python knows the lines of a file.
    path = program.write("program.py", BROKEN.format(patch=patch))
    return program.run(sys.executable, path, *words, variables=changes)


def logs(program: Program) -> list[Path]:
    return sorted((program.home / "state" / "spackscope").glob("*.log"))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        *((error("why"), ExitCode.UNREADABLE) for error in (SourceError, NotFound, Unreadable)),
        (Unanswerable("why", "^zlib"), ExitCode.USAGE),
        (WrongQuestion("why"), ExitCode.USAGE),
        (Cancelled(), ExitCode.INTERRUPTED),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED),
        (BrokenPipeError(), ExitCode.FOUND),
        (SystemExit(5), 5),
        (SystemExit(None), 0),
        (MemoryError(), ExitCode.UNEXPECTED),
    ],
    ids=repr,
)
def test_each_error_has_its_exit_code(
    program: Program, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def load(*_args: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr("spackscope.tui.cli.command_line.load", load)
    message = program.refused("find", code=code)
    assert bool(logs(program)) is (code == ExitCode.UNEXPECTED)
    if not logs(program):
        assert message == ("spackscope: why\n" if code in (2, 3) else "")


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        (IN_MAIN, "ValueError"),
        (IN_IMPORT, "ModuleNotFoundError"),
        (IN_THREAD, "ValueError"),
        (IN_LIBRARY, "SystemExit"),
    ],
    ids=["main", "import", "thread", "exit"],
)
def test_an_unexpected_error_leaves_a_log_without_data(
    program: Program, patch: str, kind: str
) -> None:
    result = run(program, patch, "find", "py-build", AWS_SECRET_ACCESS_KEY=SECRET)
    (log,) = logs(program)
    assert result.returncode == ExitCode.UNEXPECTED
    assert result.stdout == ""
    assert result.stderr == f"spackscope: unexpected {kind}: see {log} (it contains no data)\n"
    text = log.read_text()
    assert kind in text
    assert '.py", line ' in text
    assert "Python 3." in text
    assert SECRET not in text
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_an_error_that_python_ignores_or_after_the_command_is_not_printed(
    program: Program,
) -> None:
    for patch in (IN_DESTRUCTOR, AFTER_THE_COMMAND):
        result = run(program, patch, "find", "--hashes", "py-build")
        assert (result.returncode, result.stderr) == (0, "")
        assert len(result.stdout.split()) == 24


def test_only_the_log_of_the_last_crash_is_kept(program: Program) -> None:
    run(program, IN_IMPORT)
    run(program, IN_MAIN, "find", "py-build")
    (log,) = logs(program)
    assert "ModuleNotFoundError" not in log.read_text()


def test_an_error_is_reported_where_no_log_can_be_written(program: Program) -> None:
    blocked = program.home / "file"
    blocked.write_text("")
    result = run(program, IN_MAIN, "find", "py-build", XDG_STATE_HOME=str(blocked))
    assert result.returncode == ExitCode.UNEXPECTED
    assert result.stderr == "spackscope: unexpected ValueError: no log could be written\n"


def test_an_endless_recursion_is_reported(program: Program) -> None:
    patch = (
        "import spackscope.tui.cli.command_line as h\n"
        "def load(*a, **k): load(*a, **k)\n"
        "h.load = load"
    )
    result = run(program, patch, "find", "py-build")
    assert result.stderr.startswith("spackscope: unexpected RecursionError: see ")
    (log,) = logs(program)
    assert " in load\n" in log.read_text()
    assert log.stat().st_size < 20_000


def test_an_error_of_the_first_import_is_reported(program: Program) -> None:
    result = run(program, "import sys; sys.modules['spackscope.tui.process.crash'] = None")
    assert result.returncode == ExitCode.UNEXPECTED
    assert result.stderr == (
        "spackscope: unexpected ModuleNotFoundError: no log could be written\n"
    )


FOLD = "import asyncio, threading, spackscope.tui.browser.screen as b\nb.ACTIONS['fold'] = "
PATCHES = {
    "action": f"{FOLD}broken",
    "driver": "import spackscope.tui.process.terminal as t\n"
    f"t.TerminalDriver.stop_application_mode = broken\n{FOLD}b.ACTIONS['quit']",
    "worker": "import spackscope.tui.browser.loading as r; r.load = broken",
    "mount": "import spackscope.tui.app as a; a.SpackscopeApp.on_mount = broken",
    "start": "import spackscope.tui.app as a; a.SpackscopeApp.__init__ = broken",
    "keyboard": "import textual._xterm_parser as x; x.XTermParser.feed = broken",
    "thread": f"{FOLD}lambda self: threading.Thread(target=broken).start()",
    "loop": f"{FOLD}lambda self: asyncio.get_running_loop().call_soon(broken)",
}
"""Where the browser fails: once it folds, or before."""
IN_TEST = ("action", "driver", "worker")


@cases("name", IN_TEST, more=[name for name in PATCHES if name not in IN_TEST])
def test_the_browser_prints_no_traceback(program: Program, name: str) -> None:
    command = (COMMAND[0], "-c", BROKEN.format(patch=PATCHES[name]))
    with program.in_terminal(changes={"SECRET_TOKEN": SECRET}, command=command) as terminal:
        before = terminal.attributes()
        while "py-safetensors" not in terminal.text and terminal.process.poll() is None:
            terminal.read()
        if terminal.process.poll() is None:
            terminal.send("z")
        assert terminal.wait() == ExitCode.UNEXPECTED
        assert terminal.attributes() == before
        text = terminal.text
    assert left_on(text) == set()
    assert SECRET not in text
    assert "Traceback" not in text
    assert text.count("unexpected ValueError: see ") == 1
    assert text.rindex("unexpected") > text.rfind("\x1b[?1049l")
    (log,) = logs(program)
    assert SECRET not in log.read_text()
    assert " in broken\n" in log.read_text()

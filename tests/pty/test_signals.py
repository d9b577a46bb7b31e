"""Signals at any moment: the terminal is left as it was found."""

import os
import re
import signal
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.examples import cases
from tests.program import COMMAND, PATIENCE, Program, Terminal, repeat_for, wait_until

pytestmark = pytest.mark.pty

ENDED_BY = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

MODES = {"1049", "1000", "1003", "1004", "1006", "1015", "2004"}
ENDING = [
    getattr(signal, name)
    for name in (
        *("SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGXCPU"),
        *("SIGABRT", "SIGSYS", "SIGIO", "SIGRTMAX"),
    )
    if hasattr(signal, name)
]
HUNG = (
    "import os, time; from spackscope.tui.browser.screen import ACTIONS\n"
    "from spackscope.tui.process import signals\n"
    "def fold(self):\n"
    "    os.write(1, b'it hangs')\n"
    "    while not signals._received: time.sleep(0.01)\n"
    "    os.write(1, b'it still hangs')\n"
    "    while True: time.sleep(0.01)\n"
    "ACTIONS['fold'] = fold\n"
    "from spackscope.tui.cli.main import main; raise SystemExit(main())"
)
# Whoever looks at this path waits as long as for a mount whose server is gone.
HUNG_PATH = "hung-mount"
WITH_HUNG_PATH = (
    "import os\n"
    "stat = os.stat\n"
    "def waiting(path, *args, **options):\n"
    f"    if {HUNG_PATH!r} in str(path): os.read(os.pipe()[0], 1)\n"
    "    return stat(path, *args, **options)\n"
    "os.stat = waiting\n"
    "from spackscope.tui.cli.main import main; raise SystemExit(main())"
)
# A function is interrupted whenever the main thread calls it while the terminal is raw.
INTERRUPTED = (
    "import os, signal, sys, termios, threading\n"
    "owner, name = {owner}, {name!r}\n"
    "call = getattr(owner, name)\n"
    "def interrupted(*args):\n"
    "    is_raw = not termios.tcgetattr(sys.__stdin__)[3] & termios.ICANON\n"
    "    if is_raw and threading.get_ident() == threading.main_thread().ident:\n"
    "        os.kill(os.getpid(), signal.{signal})\n"
    "    return call(*args)\n"
    "setattr(owner, name, interrupted)\n"
    "from spackscope.tui.cli.main import main; raise SystemExit(main())"
)


def left_on(text: str) -> set[str]:
    """Name the modes that were switched on last, and not off again."""
    states: dict[str, str] = {"25": "h"}
    for modes, state in re.findall(r"\x1b\[\?([\d;]+)([hl])", text):
        states.update(dict.fromkeys(modes.split(";"), state))
    on = {mode for mode in MODES if states.get(mode) == "h"}
    if states["25"] == "l":
        on.add("no cursor")
    if text.count("\x1b[>") > text.count("\x1b[<u"):
        on.add("Kitty keyboard")
    return on


@contextmanager
def unchanged(
    program: Program, *words: str, command: tuple[str, ...] = COMMAND
) -> Iterator[Terminal]:
    """Run the program in a terminal, and check at its end that it is as it was found."""
    with program.in_terminal(*words, command=command) as terminal:
        before = terminal.attributes()
        yield terminal
        assert terminal.attributes() == before
        assert left_on(terminal.text) == set()
        assert "Traceback" not in terminal.text


def is_handled(pid: int, number: signal.Signals) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    (caught,) = re.findall(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)
    return bool(int(caught, 16) >> (number - 1) & 1)


def signal_after(terminal: Terminal, number: signal.Signals, seconds: float) -> None:
    """Send a signal so long after the program first could handle it."""
    if sys.platform == "linux":
        wait_until(lambda: is_handled(terminal.process.pid, signal.SIGTERM))
    repeat_for(seconds, lambda: terminal.read(0.01))
    terminal.process.send_signal(number)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@cases(
    ("number", "seconds"),
    [(signal.SIGINT, 0), (signal.SIGTERM, 0.3), (signal.SIGHUP, 0.6)],
    more=[(number, tenths / 10) for number in ENDED_BY for tenths in range(0, 10, 2)],
)
def test_a_signal_during_the_start_is_obeyed(
    program: Program, number: signal.Signals, seconds: float
) -> None:
    with unchanged(program) as terminal:
        signal_after(terminal, number, seconds + 0.03 * number % 0.1)
        assert terminal.wait() == 128 + number


@cases("number", [signal.SIGTERM], more=ENDED_BY)
def test_a_signal_as_the_terminal_is_taken_is_obeyed(
    program: Program, number: signal.Signals
) -> None:
    with unchanged(program) as terminal:
        terminal.read_until("\x1b[?1049h")
        terminal.process.send_signal(number)
        assert terminal.wait() == 128 + number


@pytest.mark.parametrize(
    "number",
    [signal.SIGQUIT, signal.SIGXCPU],
    ids=lambda number: signal.Signals(number).name,
)
def test_every_signal_that_ends_programs_gives_the_terminal_back(
    program: Program, number: signal.Signals
) -> None:
    with unchanged(program) as terminal:
        terminal.read_until("py-safetensors")
        if sys.platform == "linux":
            assert [n for n in ENDING if not is_handled(terminal.process.pid, n)] == []
        terminal.process.send_signal(number)
        assert terminal.wait() == 128 + number


def test_the_program_goes_on_after_signals_that_do_not_end_it(program: Program) -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        with unchanged(program, "py-build") as terminal:
            terminal.read_until("1/11")
            # It is told to go on without having been stopped.
            terminal.process.send_signal(signal.SIGCONT)
            terminal.process.send_signal(signal.SIGCONT)
            terminal.send("jj")
            terminal.read_until("3/11")
            # A batch system stops it.
            for cursor in ("4/11", "5/11"):
                terminal.process.send_signal(signal.SIGSTOP)
                _, status = os.waitpid(terminal.process.pid, os.WUNTRACED)
                assert os.WIFSTOPPED(status)
                terminal.process.send_signal(signal.SIGCONT)
                terminal.send("j")
                terminal.read_until(cursor)
            # Who started it ignored this one.
            terminal.process.send_signal(signal.SIGUSR1)
            terminal.send("j")
            terminal.end(after="6/11")
    finally:
        signal.signal(signal.SIGUSR1, before)


@cases("number", [signal.SIGTERM], more=ENDED_BY)
def test_a_signal_together_with_sigcont_is_obeyed(
    program: Program, number: signal.Signals
) -> None:
    with unchanged(program) as terminal:
        terminal.read_until("py-safetensors")
        terminal.process.send_signal(signal.SIGSTOP)
        terminal.process.send_signal(number)
        terminal.process.send_signal(signal.SIGCONT)
        assert terminal.wait() == 128 + number


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_of_any_kind_ends_a_program_that_hangs(
    program: Program, second: signal.Signals
) -> None:
    with unchanged(program, command=(COMMAND[0], "-c", HUNG)) as terminal:
        terminal.read_until("py-safetensors")
        terminal.send("z")
        terminal.read_until("it hangs")
        terminal.process.send_signal(signal.SIGTERM)
        terminal.read_until("it still hangs")
        terminal.process.send_signal(second)
        assert terminal.wait() == -second


@pytest.mark.parametrize(
    ("owner", "name", "number"),
    [
        ("termios", "tcsetattr", signal.SIGTERM),
        ("threading.Condition", "notify_all", signal.SIGHUP),
    ],
    ids=["mode", "lock"],
)
def test_a_burst_of_signals_leaves_the_terminal_as_it_was(
    program: Program, owner: str, name: str, number: signal.Signals
) -> None:
    code = INTERRUPTED.format(owner=owner, name=name, signal=number.name)
    with unchanged(program, command=(COMMAND[0], "-c", code)) as terminal:
        terminal.read_until("\x1b[?1049h")
        terminal.process.send_signal(number)
        assert terminal.wait() in (128 + number, -number)


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN], ids=["HUP", "nohup"])
def test_the_program_ends_when_its_terminal_is_gone(
    program: Program, handler: signal.Handlers
) -> None:
    before = signal.signal(signal.SIGHUP, handler)
    try:
        with program.in_terminal() as terminal:
            terminal.read_until("py-safetensors")
            terminal.hang_up()
            assert terminal.process.wait(PATIENCE) == 128 + signal.SIGHUP
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_terminal_that_takes_no_output_does_not_keep_the_program(program: Program) -> None:
    with program.in_terminal(columns=200, lines=60) as terminal:
        terminal.read_until("py-safetensors")
        for _ in range(200):
            terminal.send("jjzz")
            time.sleep(0.01)
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.process.wait(PATIENCE) == 128 + signal.SIGTERM
        # Nothing of it can be seen, but the shell has its terminal back.
        lflag = terminal.attributes()[3]
        assert isinstance(lflag, int)
        assert lflag & termios.ICANON


def test_a_stop_from_outside_leads_to_the_shell_and_back(program: Program) -> None:
    with unchanged(program, "py-build") as terminal:
        attributes = terminal.attributes()
        terminal.read_until("1/11")
        for _ in range(10):
            terminal.process.send_signal(signal.SIGTSTP)
            terminal.read(0.002)
        _, status = os.waitpid(terminal.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        while terminal.read_more():
            pass
        assert left_on(terminal.text) == set()
        assert terminal.attributes() == attributes
        terminal.process.send_signal(signal.SIGCONT)
        wait_until(lambda: terminal.read_more() and terminal.attributes() != attributes)
        terminal.send("j")
        terminal.end(after="2/11")


def test_a_failing_source_is_reported_after_the_terminal_is_restored(program: Program) -> None:
    with unchanged(program, "-f", "http://127.0.0.1:1/m") as terminal:
        terminal.read_until("take it")
        terminal.send("q")
        assert terminal.wait() == 3
        said = terminal.text.rindex("spackscope: the source http://127.0.0.1:1/m cannot be read")
        assert said > terminal.text.rindex("\x1b[?1049l")


def test_a_source_that_hangs_hides_no_other_and_keeps_nobody_from_leaving(
    program: Program,
) -> None:
    words = "-f", HUNG_PATH, "-f", "sample"
    with unchanged(program, *words, command=(COMMAND[0], "-c", WITH_HUNG_PATH)) as terminal:
        terminal.end(after="py-safetensors")


@pytest.mark.parametrize(("key", "code"), [("q", 0), ("\x03", 130)])
def test_the_only_source_that_hangs_keeps_nobody_from_leaving(
    program: Program, key: str, code: int
) -> None:
    with unchanged(
        program, "-f", HUNG_PATH, command=(COMMAND[0], "-c", WITH_HUNG_PATH)
    ) as terminal:
        terminal.read_until("reading the sources")
        if key == "q":
            terminal.send("\x1b")
            terminal.read_until("was stopped")
        terminal.send(key)
        assert terminal.wait() == code

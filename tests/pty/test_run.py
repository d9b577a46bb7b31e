"""Commands that run in place of the browser: real ones, in a real terminal."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.browsing import INDEX
from tests.builders import SAMPLE_PAGES
from tests.program import Program, Terminal, wait_until
from tests.pty.test_screens import Shown
from tests.pty.test_signals import is_stopped, left_on

pytestmark = pytest.mark.pty

ENTER, ESCAPE, CTRL_C, CTRL_U, CTRL_Z = "\r", "\x1b", "\x03", "\x15", "\x1a"


class Browser:
    """The browser on an index, with commands of the user's own, in a terminal."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.shown = Shown(terminal, 100, 40)
        self._before = 0

    def choose(self, key: str, name: str) -> None:
        """Choose a command in the list, which then waits for Enter."""
        self.terminal.send("x")
        self.shown.until("─ run on ")
        self.terminal.send(key)
        self.shown.until(f"╭─ {name} ─", "⏎ run")

    def run(self, key: str, name: str) -> None:
        """Run a command, which has the terminal then."""
        self.choose(key, name)
        self._before = len(self.terminal.output)
        self.terminal.send(ENTER)

    def until(self, text: str) -> None:
        """Wait until a text is printed since the command was run."""
        wait_until(
            lambda: text.encode() in self.terminal.output[self._before :],
            step=self.terminal.read,
            message=lambda: self.terminal.tail,
        )

    def back(self, outcome: str, shown: str) -> None:
        """Press Enter once a command has ended, and wait for what is shown then."""
        self.until(f"{outcome}: press ⏎ to go back to spackscope")
        self.terminal.send(ENTER)
        self.shown.until(shown)

    def quit(self) -> None:
        self.terminal.send("q")
        assert self.terminal.wait() == 0


def write_commands(program: Program, **commands: str) -> None:
    """Write the user's own commands, each by its key, which is its name, too."""
    file = program.home / "config" / "spackscope" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    tables = (
        f'[[run]]\nkey = "{key}"\nname = "own {key}"\ncommand = {json.dumps(command)}\n'
        for key, command in commands.items()
    )
    file.write_text("".join(tables))


@contextmanager
def browsing(
    program: Program, source: Path = SAMPLE_PAGES, query: str = "py-build", **changes: str
) -> Iterator[Browser]:
    """Open the browser; at its end the terminal is as it was found."""
    words = [query, "-f", str(source)]
    with program.in_terminal(*words, changes=changes) as terminal:
        before = terminal.attributes()
        browser = Browser(terminal)
        browser.shown.at_rest("y copy")
        yield browser
        assert terminal.attributes() == before
        assert left_on(terminal.text) == set()
        assert "Traceback" not in terminal.text


def spack(program: Program, script: str) -> str:
    """Write a program that is called as Spack is; return the PATH with it."""
    path = program.home / "bin" / "spack"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return f"{path.parent}:/usr/bin:/bin"


def ids(program: Program, name: str = "pid") -> int:
    """Wait for the file in which a command writes its process, and return it."""
    path = program.home / name
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


def is_running(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def test_spack_gets_the_marked_hashes_once_enter_is_pressed(program: Program) -> None:
    path = spack(program, 'printf "%s\\n" "$@" > args; echo installed; exit 4')
    with browsing(program, PATH=path) as browser:
        browser.choose("i", "install from a cache")
        browser.terminal.send(ESCAPE)
        browser.shown.at_rest("y copy")
        assert not (program.home / "args").exists()
        browser.terminal.send("  ")
        browser.shown.until("2 marked")
        browser.choose("i", "install from a cache")
        browser.terminal.send(f" --fake{ENTER}")
        browser.until("installed")
        browser.back("exit code 4", "install from a cache: exit code 4")
        *words, option = (program.home / "args").read_text().splitlines()
        assert words[:2] == ["install", "--cache-only"]
        assert [len(word) for word in words[2:]] == [33, 33]
        assert option == "--fake"
        browser.quit()


def test_a_command_reads_the_keyboard_and_the_rows_are_those_of_its_source_after_it(
    program: Program,
) -> None:
    index = program.home / "index.json.gz"
    shutil.copy(INDEX, index)
    write_commands(
        program, r="printf 'sure? '; read answer; test $answer = yes && echo '{}' > index.json.gz"
    )
    with browsing(program, index, "zlib-ng") as browser:
        browser.run("r", "own r")
        browser.until("sure?")
        browser.terminal.send("yes\n")
        browser.back("exit code 0", "own r: exit code 0")
        browser.shown.until("2 problems")
        browser.quit()


def test_a_value_is_one_argument_whatever_it_contains(program: Program) -> None:
    hostile = program.home / "a'; touch bad; echo $(touch bad) \"`touch bad`"
    shutil.copytree(SAMPLE_PAGES, hostile)
    write_commands(program, v=r"printf '%s\n' {hash} /{hashes} {spec} {source} > values")
    with browsing(program, hostile) as browser:
        browser.run("v", "own v")
        browser.back("exit code 0", "own v: exit code 0")
        hash_, slash_hash, spec, source = (program.home / "values").read_text().splitlines()
        assert slash_hash == f"/{hash_}"
        assert spec.startswith("py-build@")
        assert source == str(hostile)
        assert not (program.home / "bad").exists()
        browser.quit()


def test_ctrl_c_ends_the_command_and_ctrl_z_leads_to_the_shell_and_back(program: Program) -> None:
    # A program that is being started cannot stop; this one starts none.
    write_commands(program, s="echo $$ > pid; read answer; echo $answer")
    with browsing(program) as browser:
        terminal = browser.terminal
        browser.run("s", "own s")
        command = ids(program)
        status = Path(f"/proc/{command}/status")
        for _ in range(2):
            wait_until(lambda: "\nState:\tS" in status.read_text(), step=terminal.read)
            terminal.send(CTRL_Z)
            wait_until(lambda: is_stopped(terminal.process.pid), step=terminal.read)
            terminal.process.send_signal(signal.SIGCONT)
        wait_until(lambda: "\nState:\tS" in status.read_text(), step=terminal.read)
        # It goes on without having been stopped, and later keys do not count.
        terminal.process.send_signal(signal.SIGCONT)
        terminal.send(CTRL_C * 3)
        browser.until("ended by signal 2 (Interrupt): press ⏎")
        terminal.send(CTRL_C * 3 + CTRL_Z)
        browser.back("ended by signal 2 (Interrupt)", "own s: ended by signal 2")
        assert not is_running(command)
        browser.quit()


def test_what_a_command_leaves_on_is_switched_off(program: Program) -> None:
    script = program.home / "odd"
    script.write_text(
        "printf '\\033[?1000h\\033[?2004h\\033[?25l\\033(0\\033[5;10r\\033[4h\\033[31m'\n"
        "stty raw -echo\nkill -9 $$\n"
    )
    write_commands(program, o="exec sh odd")
    with browsing(program) as browser:
        browser.run("o", "own o")
        browser.back("ended by signal 9 (Killed)", "own o: ended by signal 9 (Killed)")
        browser.quit()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_command_and_its_children_with_the_browser(
    program: Program, number: signal.Signals
) -> None:
    write_commands(
        program, s="trap '' TERM HUP; sleep 1000 & echo $! > child; echo $$ > pid; wait"
    )
    with browsing(program) as browser:
        browser.run("s", "own s")
        processes = ids(program), ids(program, "child")
        browser.terminal.process.send_signal(number)
        assert browser.terminal.wait() == 128 + number
        wait_until(lambda: not any(map(is_running, processes)))


def test_the_loss_of_the_terminal_ends_both(program: Program) -> None:
    write_commands(program, s="echo $$ > pid; sleep 1000")
    with program.in_terminal("py-build") as terminal:
        browser = Browser(terminal)
        browser.shown.at_rest("y copy")
        browser.run("s", "own s")
        command = ids(program)
        terminal.hang_up()
        assert terminal.wait() == 128 + signal.SIGHUP
        wait_until(lambda: not is_running(command))


def test_a_command_that_cannot_be_run_says_why(program: Program) -> None:
    write_commands(program, n="/no/such/program", m="true" + " {hashes}" * 200)
    with browsing(program) as browser:
        browser.run("n", "own n")
        browser.back("exit code 127", "own n: exit code 127")
        browser.terminal.send("2A")
        browser.shown.until("marked")
        browser.run("m", "own m")
        browser.until("sh: cannot be run: argument list too long")
        browser.back("exit code 126", "own m: exit code 126")
        browser.quit()


def test_the_record_is_read_by_the_pager_which_goes_back_by_itself(program: Program) -> None:
    with browsing(program, PAGER="head -n 3") as browser:
        browser.run("v", "record in $PAGER")
        browser.until('"package": "py-build"')
        browser.shown.until("record in $PAGER: exit code 0")
        browser.terminal.send("j")
        browser.shown.until(" 2/11")
        browser.choose("v", "record in $PAGER")
        browser.terminal.send(f"{CTRL_U}cat > record{ENTER}")
        browser.back("exit code 0", "record in $PAGER: exit code 0")
        assert browser.terminal.text.count("to go back to spackscope") == 1
        record = json.loads((program.home / "record").read_text())
        assert record["package"] == "py-build"
        browser.quit()


def test_a_shell_of_its_own_gives_the_terminal_back(program: Program) -> None:
    path = spack(program, 'echo "export LOADED=yes"')
    shell = program.home / "shell"
    shell.write_text("#!/bin/sh\nexec bash --norc --noprofile -i\n")
    shell.chmod(0o755)
    with browsing(program, PATH=path, SHELL=str(shell), PS1="ready> ") as browser:
        browser.run("l", "shell with it loaded")
        browser.until("ready>")
        browser.terminal.send("sh -c 'echo loaded $LOADED; read answer'\n")
        browser.until("loaded yes")
        browser.terminal.send(CTRL_Z)
        browser.until("Stopped")
        browser.terminal.send("kill %1; exec true\n")
        browser.shown.until("shell with it loaded: exit code 0")
        browser.quit()

"""Type into bash, zsh and fish, and see which words the program would be started with."""

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import pexpect
import pytest

from spackscope.tui.cli.commands.completion import SHELLS
from tests.program import COMMAND, PATIENCE, environment, write_script

INSTALLED = [shell for shell in SHELLS if shutil.which(shell)]
"""The shells that are there."""

EACH_SHELL = [
    pytest.param(
        shell,
        marks=pytest.mark.skipif(shell not in INSTALLED, reason=f"{shell} is not installed"),
    )
    for shell in SHELLS
]
"""The shells as parameters, of which those that are not there are skipped."""

PROMPT = "ready>"
_START = {
    "bash": ["--norc", "--noprofile", "-i"],
    "zsh": ["-f", "-i"],
    "fish": ["--no-config", "--interactive"],
}
_SETUP = {
    "bash": "PS1='ready''>'; bind 'set bell-style none'; bind 'set enable-bracketed-paste off';"
    " bind 'set page-completions off'; bind 'set completion-query-items 999';"
    ' eval "$(spackscope completion bash)"',
    "zsh": "autoload -U compinit; compinit -u -D; PS1='ready''>'; unsetopt beep;"
    ' LISTMAX=999; eval "$(spackscope completion zsh)"',
    "fish": "function fish_prompt; echo -n 'ready''>'; end; function fish_greeting; end;"
    " spackscope completion fish | source",
}
_WRAPPER = """\
#!/bin/sh
case $1 in complete | completion) exec {command} "$@" ;; esac
case $1 in pick) echo starting >/dev/tty; exec {command} "$@" ;; esac
exec {printing} "$@"
"""
_PRINTING = 'import json, sys; print("started" + ":", json.dumps(sys.argv[1:]), ":" + "ended")'


class CompletingShell:
    """A shell in a terminal that completes the command lines of the program.

    Instead of the program a script is started, which prints its words, unless it is to complete
    or to pick. Variables are those of the shell.
    """

    def __init__(self, shell: str, home: Path, **variables: str) -> None:
        self.name, self.home = shell, home
        folder = home / "bin"
        printing = shlex.join([sys.executable, "-SEc", _PRINTING])
        wrapper = _WRAPPER.format(command=shlex.join(COMMAND), printing=printing)
        write_script(folder / "spackscope", wrapper)
        # It has no index yet, and completes from the sample all the same.
        settings = {"TERM": "dumb" if shell != "fish" else "xterm", "SPACKSCOPE_FROM": "sample"}
        environ = environment(home, **settings | variables)
        environ["PATH"] = os.pathsep.join([str(folder), environ["PATH"]])
        self._child = pexpect.spawn(
            shell,
            _START[shell],
            env=environ,
            cwd=str(home),
            dimensions=(50, 200),
            timeout=PATIENCE,
            encoding="utf-8",
        )
        # It waits for prompts instead.
        self._child.delaybeforesend = None
        self.run(_SETUP[shell])

    def run(self, command: str) -> None:
        """Run a command of the shell."""
        self._child.sendline(command)
        self._child.sendline("echo do''ne")
        self._child.expect_exact("done")
        self._child.expect_exact(PROMPT)

    def words(self, typed: str) -> list[str]:
        """Type a line with its tabs, and Enter; return the words that the program gets."""
        self._child.send(f"{typed}\n")
        self._child.expect(r"started: (\[.*\]) :ended")
        assert self._child.match is not None
        words: list[str] = json.loads(self._child.match[1].replace("\r\n", ""))
        self._child.expect_exact(PROMPT)
        return words

    def pick(self, typed: str, shown: str, keys: str) -> None:
        """Type a line with the key that starts the browser, and keys once a text is shown."""
        self._child.send(typed)
        self._child.expect_exact(shown)
        self._child.send(keys)
        self._child.expect_exact(PROMPT)

    def close(self) -> None:
        """End the shell."""
        self._child.close(force=True)

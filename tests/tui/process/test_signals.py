from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.program import PATIENCE, Program, environment

ENDLESS = """
{patch}
from spackscope.tui.cli.main import main
raise SystemExit(main())
"""
IN_A_QUERY = """
from spackscope.model.index.catalog import Catalog
def total(catalog):
    print("begins", flush=True)
    while True: catalog.hashes.of(range(300))
Catalog.total = property(total)
"""
IN_A_BUILD = """
import spackscope.model.index.build as build
def preferred_order(*args):
    print("begins", flush=True)
    while True: pass
build.preferred_order = preferred_order
"""
UNWINDING = """
import signal, time
import spackscope.tui.cli.commands.answer as headless
from spackscope.tui.process import signals
def find(*_args):
    try:
        print("begins", flush=True)
        while True: time.sleep(0.01)
    finally:
        seen = 0
        while True:
            if len(signals._received) > seen:
                seen += 1
                print("still there", flush=True)
            time.sleep(0.01)
headless.run = find
from spackscope.tui.cli.main import main
raise SystemExit(main())
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_during_a_build_leaves_nothing_behind(
    program: Program, long_build: Path, number: signal.Signals, code: int
) -> None:
    with program.in_terminal("index", "-f", str(long_build)) as terminal:
        terminal.read_until(" a second")
        terminal.process.send_signal(number)
        assert terminal.wait() == code
        assert terminal.text.endswith("\x1b[2K")
    assert program.cache() == []


def test_ctrl_c_in_a_terminal_takes_the_progress_off_the_screen(
    program: Program, long_build: Path
) -> None:
    with program.in_terminal("index", "-f", str(long_build)) as terminal:
        terminal.read_until(" a second")
        assert "Ctrl-C c" in terminal.text, "the name of the pages may take the rest"
        terminal.send("\x03")
        assert terminal.wait() == 130
        assert terminal.text.endswith("\x1b[2K")
        # A signal that kills the program would leave the terminal without it.
        assert "\x1b[?25l" not in terminal.text
    assert program.cache() == []


def test_a_build_goes_on_after_an_ignored_signal_and_shows_its_progress_on_stderr_alone(
    program: Program, long_build: Path
) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with (
            open(program.home / "out", "w") as out,
            program.in_terminal(
                "index", "-f", str(long_build), streams={"stdout": out}
            ) as terminal,
        ):
            terminal.read_until(" a second")
            terminal.process.send_signal(signal.SIGHUP)
            assert terminal.wait() == 0
            assert re.search(r"[\d.]+ [kM]?B of [\d.]+ MB", terminal.text)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert (program.home / "out").read_text().startswith("specs     100000\npackages  1000\n")


def test_a_short_build_shows_no_progress(program: Program) -> None:
    _, text = program.on_terminal("index")
    assert text.startswith("specs     346\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("patch", [IN_A_QUERY, IN_A_BUILD], ids=["query", "build"])
def test_a_signal_ends_whatever_is_done_with_an_index(
    program: Program, number: signal.Signals, patch: str
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS.format(patch=patch), "index"],
        env=environment(program.home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begins\n"
            time.sleep(0.2)
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (128 + number, "", "")
    assert not any(name.endswith(".tmp") for name in program.cache())


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        ((signal.SIGINT, signal.SIGINT, signal.SIGHUP, signal.SIGHUP), -signal.SIGHUP),
        ((signal.SIGTERM, signal.SIGINT, signal.SIGTERM), -signal.SIGTERM),
    ],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_only_a_repeated_signal_disturbs_the_unwinding(
    program: Program, numbers: Sequence[signal.Signals], code: int
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", UNWINDING, "find", "x"],
        env=environment(program.home),
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begins\n"
            for number in numbers[:-1]:
                process.send_signal(number)
                assert process.stdout.readline() == "still there\n"
            process.send_signal(numbers[-1])
            assert process.wait(PATIENCE) == code
        finally:
            process.kill()

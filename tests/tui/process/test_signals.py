import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.builders.pages import hash_of, page, record
from tests.examples import cases
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
# A signal may come late, and the build is not to be over by then.
SLOW_BUILD = (
    sys.executable,
    "-c",
    ENDLESS.format(patch=IN_A_BUILD.replace('print("begins", flush=True)', "")),
)
UNWINDING = """
import signal, time
import spackscope.tui.cli.command_line as headless
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
headless.print_answer = find
"""


@pytest.fixture(scope="module")
def long_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a thousand pages of a hundred records, which take a second or more to read."""
    top = tmp_path_factory.mktemp("pages")
    options = [f"+option{number}" for number in range(30)]
    # Records with equal texts would be read in no time.
    records = [record(number, variants=[*options, f"number={number}"]) for number in range(100)]
    text = page(records, title="package-").decode()
    for number in range(1000):
        path = top / f"{number}.md"
        its = text.replace('"package-"', f'"package-{number}"').replace("number=", f"n{number}=")
        path.write_text(its.replace(hash_of(0)[:30], hash_of(number * 1024)[:30]))
    return top


@cases(
    ("number", "code"),
    # Without a number it is Ctrl-C.
    [(signal.SIGTERM, 143), (None, 130)],
    more=[(signal.SIGINT, 130), (signal.SIGHUP, 129)],
)
def test_a_signal_during_a_build_leaves_nothing_behind(
    program: Program, long_build: Path, number: signal.Signals | None, code: int
) -> None:
    words = ("index", "-f", str(long_build))
    with program.in_terminal(*words, columns=200, command=SLOW_BUILD) as terminal:
        terminal.read_until(" a second")
        assert "Ctrl-C c" in terminal.text, "the name of the pages may take the rest"
        if number is None:
            terminal.send("\x03")
        else:
            terminal.process.send_signal(number)
        assert terminal.wait() == code
        assert terminal.text.endswith("\x1b[2K")
        # A signal that kills the program would leave the terminal without it.
        assert "\x1b[?25l" not in terminal.text
    assert program.cache() == []


@pytest.mark.exhaustive
def test_a_build_goes_on_after_an_ignored_signal_and_shows_its_progress_on_stderr_alone(
    program: Program, long_build: Path
) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with (
            open(program.home / "out", "w") as out,
            program.in_terminal(
                "index", "-f", str(long_build), columns=200, streams={"stdout": out}
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


@contextmanager
def started(program: Program, code: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Start a patched program, and wait until it works."""
    with subprocess.Popen(
        [sys.executable, "-c", code, *words],
        env=environment(program.home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begins\n"
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("patch", "number"),
    [(IN_A_QUERY, signal.SIGINT), (IN_A_BUILD, signal.SIGTERM)],
    ids=["query", "build"],
)
def test_a_signal_ends_whatever_is_done_with_an_index(
    program: Program, patch: str, number: signal.Signals
) -> None:
    with started(program, ENDLESS.format(patch=patch), "index") as process:
        time.sleep(0.2)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (128 + number, "", "")
    assert not any(name.endswith(".tmp") for name in program.cache())


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        ((signal.SIGINT, signal.SIGINT, signal.SIGHUP), -signal.SIGHUP),
        ((signal.SIGTERM, signal.SIGINT, signal.SIGTERM), -signal.SIGTERM),
    ],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_only_a_second_signal_but_ctrl_c_disturbs_the_unwinding(
    program: Program, numbers: Sequence[signal.Signals], code: int
) -> None:
    with started(program, ENDLESS.format(patch=UNWINDING), "find", "x") as process:
        assert process.stdout is not None
        for number in numbers[:-1]:
            process.send_signal(number)
            assert process.stdout.readline() == "still there\n"
        process.send_signal(numbers[-1])
        assert process.wait(PATIENCE) == code

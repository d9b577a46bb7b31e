"""Make runs of the tests alike, whatever terminal, script or service starts them."""

import gc
import os
import signal
from importlib import import_module
from pathlib import Path
from threading import TIMEOUT_MAX

import pytest
from hypothesis import settings

from spackscope.model.storage.download import temporary_cache
from spackscope.tui.cli import command_line
from tests.builders.spack import SpackRoot
from tests.parse_counts import ParseCounts
from tests.program import PATIENCE, Program

# A shell ignores SIGINT in what it starts in the background, nohup SIGHUP: programs inherit that.
# With a handler the tests still ignore them, but the programs that they start do not.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

# What a busy machine would let run out: a test of what hangs sets its own.
for clock in (
    "model.sources.mirror_spec._GPG_TIMEOUT",
    "tui.cli.commands.complete._PATIENCE",
    "tui.clipboard.TIMEOUT",
):
    module, _, name = clock.rpartition(".")
    setattr(import_module(f"spackscope.{module}"), name, PATIENCE)

# Property tests try the same cases in every run, unless SPACKSCOPE_HYPOTHESIS asks for new ones:
# so a larger number of them finds nothing new.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("searching", deadline=None)
settings.load_profile(os.environ.get("SPACKSCOPE_HYPOTHESIS", "repeatable"))

# Nine thousand tests are a large heap, and a full collection visits all of it.
gc.set_threshold(10_000, 10, 20)


def pytest_configure() -> None:
    """Refuse to write what a service is to compare with."""
    if {"CI", "SPACKSCOPE_WRITE_GOLDEN"} <= os.environ.keys():
        raise pytest.UsageError("SPACKSCOPE_WRITE_GOLDEN is refused where CI is set")


def pytest_collection_finish() -> None:
    """Exempt the tests themselves from garbage collection: they live to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _new_downloads() -> None:
    """Begin each test without copies of files: a server gets the port of one of another test."""
    temporary_cache.cache_clear()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to the directory of the test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def spack(tmp_path: Path) -> SpackRoot:
    return SpackRoot(tmp_path)


@pytest.fixture
def parse_counts(monkeypatch: pytest.MonkeyPatch) -> ParseCounts:
    """Count how often texts are lexed and parsed in a test."""
    return ParseCounts(monkeypatch)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    # A slow machine would show the progress of any command.
    monkeypatch.setattr(command_line, "DELAY", TIMEOUT_MAX)
    return Program(tmp_path)

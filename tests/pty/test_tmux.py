"""The main task in a real tmux with its own settings: from the first key to a copied hash."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from spackscope.model.catalog.listing import View
from spackscope.model.loader.load import load
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session
from tests.program import COMMAND, PATIENCE, environment, wait_until

pytestmark = [
    pytest.mark.tmux,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]


class Tmux:
    """A tmux server of its own, with one window that runs the program."""

    def __init__(self, home: Path) -> None:
        self._socket = str(home / "socket")
        self._environment = environment(home, SHELL="/bin/sh", PS1="$ ")
        self("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", shlex.join(COMMAND))

    def __call__(self, *words: str) -> str:
        return subprocess.run(
            ["tmux", "-S", self._socket, *words],
            env=self._environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        ).stdout

    @property
    def screen(self) -> str:
        return self("capture-pane", "-p")

    def until(self, text: str) -> str:
        screens: list[str] = []

        def is_shown() -> bool:
            screens.append(self.screen)
            return text in screens[-1]

        wait_until(is_shown, message=lambda: screens[-1])
        return screens[-1]

    def type(self, *keys: str) -> None:
        self("send-keys", *keys)


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    server = Tmux(tmp_path)
    try:
        server.until("py-safetensors")
        yield server
    finally:
        server("kill-server")


@pytest.fixture(scope="module")
def hashes() -> list[str]:
    catalog = load(["sample_data"], Session({}))
    return [spec.hash for spec in catalog.specs(catalog.listing(View(parse("py-build"))))]


def test_the_copied_hash_is_in_the_buffer_of_tmux(tmux: Tmux, hashes: list[str]) -> None:
    tmux.type("j", "Enter")
    tmux.until("specs 24")
    tmux.type("j")
    tmux.until("2/24")
    tmux.type("y")
    assert f"Copied {hashes[1][:7]}… (tmux)" in tmux.until("Copied")
    assert tmux("show-buffer") == hashes[1]


def test_marked_hashes_are_copied_one_a_line(tmux: Tmux, hashes: list[str]) -> None:
    tmux.type("j", "Enter")
    tmux.until("specs 24")
    tmux.type("Space", "Space", "Space")
    tmux.until("3 marked")
    tmux.type("y")
    tmux.until("Copied 3 marked hashes (tmux)")
    assert tmux("show-buffer").split("\n") == hashes[:3]


def test_the_menu_copies_the_install_line(tmux: Tmux, hashes: list[str]) -> None:
    tmux.type("j", "Enter")
    tmux.until("specs 24")
    tmux.type("Y")
    tmux.until("install command")
    tmux.type("i")
    tmux.until("Copied ")
    assert tmux("show-buffer") == f"spack install --cache-only /{hashes[0]}"


def test_after_a_stop_and_a_return_the_whole_screen_is_there(tmux: Tmux) -> None:
    tmux("respawn-window", "-k", "/bin/sh")
    tmux.until("$")
    tmux.type(shlex.join(COMMAND), "Enter")
    tmux.until("1/346")
    before = tmux.until("Dependencies not")
    tmux.type("C-z")
    tmux.until("Stopped")
    tmux.type("fg", "Enter")
    wait_until(lambda: tmux.screen == before, message=lambda: tmux.screen)


def test_keys_that_come_all_at_once_go_where_they_are_meant(tmux: Tmux) -> None:
    tmux.type("/", "q", "u", "i", "t")
    assert "› quit" in tmux.until("› quit")
    tmux.until("No spec shows quit")

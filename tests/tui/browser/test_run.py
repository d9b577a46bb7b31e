"""The list of commands to run, without running any; tests/pty/test_run.py runs them."""

from __future__ import annotations

from pathlib import Path

from spackscope.tui.settings import Settings
from tests.browsing import browsing

RUN = {"i": ("first", "echo /{hashes}"), "z": ("wrong", "echo {hsh}"), "1": ("one", "du {hash}")}


async def test_the_list_says_what_runs_and_what_cannot_run_and_why(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}
    settings = Settings(run=RUN)
    async with browsing(environ=environ, settings=settings, folded=False) as browser:
        await browser.press("2", "x")
        hash_ = browser.current.spec.hash
        assert browser.text.count("There is no spack on PATH") == 4
        assert "v  record in $PAGER" in browser.text
        assert "open on PATH" in browser.text
        assert f"du {hash_}" in browser.text
        assert "unknown name {hsh}. Did you mean hash or hashes?" in browser.text
        await browser.press("l")
        assert browser.status == "shell with it loaded: There is no spack on PATH"
        assert browser.dialog == "MenuDialog"
        await browser.press("i")
        assert browser.dialog == "CommandDialog", "a key of one's own comes first"
        assert f"echo /{hash_}" in browser.text
        await browser.press("ctrl+u", "enter")
        assert browser.status == "Type a command, or go back"
        await browser.press("escape")
        assert browser.dialog is None


async def test_a_command_for_one_spec_is_not_run_on_several(tmp_path: Path) -> None:
    for name in ("spack", "open", "xdg-open"):
        (tmp_path / name).touch(0o755)
    environ = {"PATH": str(tmp_path)}
    async with browsing(
        environ=environ, settings=Settings(run=RUN), size=(120, 40), folded=False
    ) as browser:
        await browser.press("2", "x")
        assert "spack buildcache download --" in browser.text
        assert "open 'https://cache." in browser.text
        assert "There is no mirror" in browser.text
        await browser.press("escape", "space", "space", "x")
        assert "run on 2 marked specs" in browser.text
        assert browser.text.count("Takes one hash, not 2") == 2
        assert "Takes one page, not 2" in browser.text
        assert "spack install --cache-only " in browser.text

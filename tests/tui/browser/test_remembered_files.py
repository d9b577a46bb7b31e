"""What the browser remembers is written to the user's own files alone."""

import os
from pathlib import Path

import pytest

from tests.browsing import browsing

NAMES = ("history", "columns.json", "fold.json")
NOBODY = 65534


@pytest.mark.parametrize("is_foreign", [False, True])
async def test_no_planted_link_is_followed(is_foreign: bool, tmp_path: Path) -> None:
    state = tmp_path / "state" / "spackscope"
    state.mkdir(parents=True)
    for name in NAMES:
        (tmp_path / name).write_text("mine")
        (state / name).symlink_to(tmp_path / name)
    if is_foreign:
        if os.geteuid():
            pytest.skip("only root makes the files of another user")
        os.chown(state, NOBODY, -1)

    async with browsing(environ={"XDG_STATE_HOME": str(tmp_path / "state")}) as browser:
        await browser.press("slash", *"os=sequoia", "enter", "minus", "z", "ctrl+r", hides="mine")

    assert [(tmp_path / name).read_text() for name in NAMES] == ["mine"] * 3
    assert sorted(path.name for path in state.iterdir()) == sorted(NAMES)


async def test_the_directory_is_for_its_owner_alone(tmp_path: Path) -> None:
    state = tmp_path / "state" / "spackscope"
    state.mkdir(parents=True, mode=0o755)

    async with browsing(environ={"XDG_STATE_HOME": str(tmp_path / "state")}) as browser:
        await browser.press("slash", *"os=sequoia", "enter")

    assert (state / "history").read_text() == "os=sequoia\n"
    assert state.stat().st_mode & 0o777 == 0o700

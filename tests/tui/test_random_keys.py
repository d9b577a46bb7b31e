"""A short run of random keys: what is copied is what the screen showed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.browsing import INDEX
from tests.random_keys import press_random_keys


async def press(seed: int, directory: Path) -> Counter[str]:
    return await press_random_keys(
        [str(INDEX)], seed, lambda number: number < 50, query="hdf5", directory=directory
    )


async def test_what_is_copied_is_what_was_shown(tmp_path: Path) -> None:
    counts = await press(3, tmp_path)
    assert counts["y"] > counts["nothing copied"], "most of the time there is something to copy"


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(4, 20))
async def test_what_is_copied_is_what_was_shown_whatever_the_keys(
    seed: int, tmp_path: Path
) -> None:
    assert (await press(seed, tmp_path))["y"]

"""A short run of random keys: what is copied is what the screen showed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browsing import INDEX
from tests.random_keys import press_random_keys


@pytest.mark.parametrize(
    "seed", [3, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(4, 20))]
)
async def test_what_is_copied_is_what_was_shown(seed: int, tmp_path: Path) -> None:
    counts = await press_random_keys(
        [str(INDEX)], seed, lambda number: number < 50, query="hdf5", directory=tmp_path
    )
    assert counts["y"] > counts["nothing copied"], "most of the time there is something to copy"

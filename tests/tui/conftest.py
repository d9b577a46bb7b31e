from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.builders import record, write_page


@pytest.fixture(autouse=True)
def timing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shuffle the timing of the browser if SPACKSCOPE_TIMING is a number: see `make shake`."""
    if seed := os.environ.get("SPACKSCOPE_TIMING"):
        from tests.shuffled_timing import shuffle_timing

        shuffle_timing(f"{seed} {request.node.nodeid}", monkeypatch)


@pytest.fixture(scope="session")
def long_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages that take a second or more to read."""
    top = tmp_path_factory.mktemp("pages")
    variants = [f"+option{number}" for number in range(30)]
    for page in range(1000):
        # Records with equal texts would be read in no time.
        records = [
            record(number, variants=[*variants, f"number={number}"])
            for number in range(page * 100, page * 100 + 100)
        ]
        write_page(top / f"package-{page:03}" / "specs.md", records, title=f"package-{page:03}")
    return top

import os

import pytest


@pytest.fixture(autouse=True)
def timing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shuffle the timing of the browser if SPACKSCOPE_TIMING is a number: see `make shake`."""
    if seed := os.environ.get("SPACKSCOPE_TIMING"):
        from tests.shuffled_timing import shuffle_timing

        shuffle_timing(f"{seed} {request.node.nodeid}", monkeypatch)

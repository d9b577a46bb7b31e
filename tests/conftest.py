"""Repeat the same cases of property tests, unless SPACKSCOPE_HYPOTHESIS asks for new ones."""

import gc
import os

import pytest
from hypothesis import settings

from tests.parse_counts import ParseCounts

# Cases that are the same in every run find nothing new by their number.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("searching", deadline=None)
settings.load_profile(os.environ.get("SPACKSCOPE_HYPOTHESIS", "repeatable"))

# Nine thousand tests are a large heap, and a full collection visits all of it.
gc.set_threshold(10_000, 10, 20)


def pytest_collection_finish() -> None:
    """Exempt the tests themselves from garbage collection: they live to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def parse_counts(monkeypatch: pytest.MonkeyPatch) -> ParseCounts:
    """Count how often texts are lexed and parsed in a test."""
    return ParseCounts(monkeypatch)

"""Repeat the same cases of property tests, unless SPACKSCOPE_HYPOTHESIS asks for new ones."""

import os

import pytest
from hypothesis import settings

from tests.parse_counts import ParseCounts

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None)
settings.load_profile(os.environ.get("SPACKSCOPE_HYPOTHESIS", "repeatable"))


@pytest.fixture
def parse_counts(monkeypatch: pytest.MonkeyPatch) -> ParseCounts:
    """Count how often texts are lexed and parsed in a test."""
    return ParseCounts(monkeypatch)

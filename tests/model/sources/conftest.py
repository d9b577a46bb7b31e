"""Fixtures that several tests of sources need."""

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a cache directory that is kept between two looks."""
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}

"""Fixtures of the storage tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.model.storage.machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "cache")

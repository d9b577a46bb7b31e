"""Fixtures for the tests of the browser."""

from pathlib import Path

import pytest

from tests.clipboard import Clipboard
from tests.tui.browser.hdf5_index import write_hdf5_index
from tests.tui.browser.look_alike_index import write_look_alikes


@pytest.fixture
def clipboard(tmp_path: Path) -> Clipboard:
    return Clipboard(tmp_path)


@pytest.fixture
def hdf5_index(tmp_path: Path) -> Path:
    """Write an index in which h5py needs hdf5, and that much else."""
    return write_hdf5_index(tmp_path / "index.json")


@pytest.fixture
def look_alikes(tmp_path: Path) -> Path:
    """Write an index in which four hdf5 look the same."""
    return write_look_alikes(tmp_path / "index.json")

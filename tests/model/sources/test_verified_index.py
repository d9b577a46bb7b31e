"""The last verified index of a mirror is remembered."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.builders import contents, discover_one, mirror_v3, write_files, zlib_index

ONE, TWO = zlib_index(version="1.1"), zlib_index(version="1.2")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Give an environment with a cache directory that is kept between two looks."""
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_a_damaged_record_of_the_verified_index_is_ignored(
    tmp_path: Path, home: dict[str, str]
) -> None:
    mirror = write_files(tmp_path / "mirror", mirror_v3(ONE))
    discover_one(mirror, home)
    (kept,) = Path(home["XDG_CACHE_HOME"], "spackscope", "mirrors").iterdir()

    for spoilt in (b"", b"[]", b"{}", b'["x", 1, 2, 3]', json.dumps([None] * 4).encode()):
        kept.write_bytes(spoilt)
        assert contents(discover_one(mirror, home)) == [ONE]
    os.unlink(kept)
    kept.mkdir()
    assert contents(discover_one(mirror, home)) == [ONE]

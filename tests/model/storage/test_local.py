"""Files of this machine are used where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.core.errors import NotFound, SourceError
from spackscope.model.storage.base import LocalFolder


def test_the_size_of_a_file_is_read_from_the_directory(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "abc").write_bytes(b"four")
    folder = LocalFolder(str(tmp_path), "mirror")

    assert folder.size_of("blobs/abc") == 4
    for name, why in (
        ("blobs/none", "does not exist"),
        ("blobs/abc/none", "does not exist"),
        ("blobs", "is not a file"),
    ):
        with pytest.raises(NotFound, match=rf"^mirror/{name} {why}$"):
            folder.size_of(name)
    with pytest.raises(SourceError, match=r"^mirror/x+ .*too long"):
        folder.size_of("x" * 300)

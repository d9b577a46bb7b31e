"""Storages open by the scheme of their URL, and files of this machine are used where they are."""

from pathlib import Path

import pytest

from spackscope.model.core.errors import NotFound, SourceError
from spackscope.model.sources.session import Session
from spackscope.model.storage.base import LocalFolder, Wanted, is_remote
from tests.model.storage.machine import NEW, Machine


def test_a_remote_storage_is_recognised_by_its_scheme() -> None:
    far = ["http://x", "HTTPS://x", "s3://x", "gs://x", "oci://x", "oci+http://x"]
    assert all(map(is_remote, far))
    assert not any(map(is_remote, ["file:///x", "/x", "x", "a:b", "git://x"]))


def test_places_open_by_their_scheme(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "my cache"
    folder.mkdir()
    (folder / "index").write_bytes(NEW)
    for address in (folder.as_uri(), str(folder), f"file://localhost{tmp_path}/my%20cache/"):
        fetched = Session(machine.environ).open(address).fetch(Wanted("index"))
        assert Path(fetched.path).read_bytes() == NEW
        assert fetched.origin.startswith(address.rstrip("/"))


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

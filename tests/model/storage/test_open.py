"""Storages open by the scheme of their URL, and files of this machine are used where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.core.errors import NotFound, SourceError
from spackscope.model.sources.session import Session
from spackscope.model.storage.base import LocalFolder, Wanted, is_remote
from tests.model.storage.machine import NEW, NO_PORT, Machine
from tests.web_server import sends, serving


def test_a_remote_storage_is_recognised_by_its_scheme() -> None:
    far = ["http://x", "HTTPS://x", "s3://x", "gs://x", "oci://x", "oci+http://x"]
    assert all(map(is_remote, far))
    assert not any(map(is_remote, ["file:///x", "/x", "x", "a:b", "git://x"]))


def test_places_open_by_their_scheme(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "my cache").mkdir()
    (tmp_path / "my cache" / "index").write_bytes(NEW)
    for address in (
        tmp_path.joinpath("my cache").as_uri(),
        str(tmp_path / "my cache"),
        f"file://localhost{tmp_path}/my%20cache/",
    ):
        fetched = Session(machine.environ).open(address).fetch(Wanted("index"))
        assert Path(fetched.path).read_bytes() == NEW
        assert fetched.origin.startswith(address.rstrip("/"))
    with serving(index=sends(NEW)) as server:
        assert (
            Session(machine.environ)
            .open(server.url)
            .fetch(Wanted("index"))
            .origin.endswith("/index")
        )


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("gopher://ann:pw@host/x", "gopher://host/x: gopher:// is not supported"),
        ("file://elsewhere/x", "file://elsewhere/x names files of elsewhere, another machine"),
        ("file://u:pw@[::1/x", "file://[::1/x is not a valid URL: its host cannot be read"),
        ("file://u:pw@there/x", "file://there/x names files of there, another machine"),
        ("http://[::1", "http://[::1 is not a valid URL: its host cannot be read"),
        ("s3:///x", "s3:///x is not a valid URL: it has no bucket"),
        ("oci://h/\udcff", "oci://h/\udcff is not a valid URL: it has bytes that are not text"),
        ("gs://h:x/a", f"gs://h:x/a is not a valid URL: {NO_PORT}"),
        ("a\ud800b", "a\ud800b cannot be read: its name is not text"),
    ],
)
def test_an_address_without_a_storage_is_an_error(
    machine: Machine, address: str, sentence: str
) -> None:
    with pytest.raises(SourceError) as raised:
        Session(machine.environ).open(address)

    assert str(raised.value).startswith(sentence)


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

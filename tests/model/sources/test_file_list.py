"""Very many files are kept in little memory, and nothing of them is lost."""

from __future__ import annotations

import os
from pathlib import Path

from spackscope.model.sources.discover import discover
from spackscope.model.sources.document import FileList, document_of
from spackscope.model.sources.session import Session
from tests.builders import record, write_page


def listed(top: Path, *paths: Path) -> FileList:
    files = FileList(str(top), "shown")
    files.add([str(path) for path in paths], [path.stat() for path in paths])
    return files


def test_files_come_back_as_they_were_added(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", os.fsdecode(b"caf\xe9"), "new\nline")]
    for size, path in enumerate(paths):
        path.write_bytes(b"x" * size)

    files = listed(tmp_path, *paths)
    files.add_unreadable(f"{tmp_path}/closed", "cannot be read: permission denied")

    *readable, closed = files
    assert [path for path, *_ in readable] == [str(path) for path in paths]
    assert [numbers for _, _, *numbers, _ in readable] == [
        [path.stat().st_size, path.stat().st_mtime_ns, path.stat().st_ctime_ns] for path in paths
    ]
    assert closed == (f"{tmp_path}/closed", "shown/closed", 0, 0, 0, closed[-1])
    assert closed[-1] == "cannot be read: permission denied"
    assert (len(files), files.size) == (4, 3)


def test_times_after_the_year_2262_are_kept(tmp_path: Path) -> None:
    class Far:
        st_size, st_mtime_ns, st_ctime_ns = 1, 2**63, 2**64

    files = FileList("/", "")
    files.add(["/far"], [Far()])  # type: ignore[list-item]
    later = FileList("/", "")
    Far.st_mtime_ns += 1
    later.add(["/far"], [Far()])  # type: ignore[list-item]

    assert [*files] == [("/far", "far", 1, 2**63, 2**64, "")]
    assert files.digest != later.digest


def test_the_digest_changes_with_the_reason_of_what_is_unreadable() -> None:
    digests = set()
    for reason in ("cannot be read: a", "cannot be read: b"):
        files = FileList("/", "")
        files.add_unreadable("/x", reason)
        digests.add(files.digest)

    assert len(digests) == 2


def test_documents_of_a_directory_are_those_of_its_files(tmp_path: Path) -> None:
    paths = [write_page(tmp_path, [record(n)], title=f"p{n}") for n in range(3)]

    (source,) = discover([str(tmp_path)], Session({}))

    expected = [document_of(str(tmp_path), str(p), str(p), p.stat()) for p in paths]
    assert source.documents == expected
    assert source.documents[1] == expected[1]
    assert source.documents.size == sum(path.stat().st_size for path in paths)

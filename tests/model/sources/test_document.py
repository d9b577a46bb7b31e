"""Documents have a fingerprint that changes with their files, and very many take little memory."""

from __future__ import annotations

import os
from pathlib import Path

from spackscope.model.sources.discover import discover
from spackscope.model.sources.document import DiscoveredSource, FileList, document_of
from spackscope.model.sources.session import Session
from tests.builders import page, record, write_page


def scan(source: Path) -> DiscoveredSource:
    (discovered,) = discover([str(source)], Session({}))
    return discovered


def test_a_fingerprint_differs_after_every_change(tmp_path: Path) -> None:
    # One is kept in the list of a directory, and the other by itself.
    top = tmp_path / "top"

    def now() -> tuple[str, str]:
        alone = scan(path).documents.fingerprint if path.exists() else ""
        return scan(top).documents.fingerprint, alone

    path = write_page(top, [record(1)])
    write_page(top, [record(1)], title="other")
    seen = [now()]
    assert now() == seen[0]

    status = path.stat()
    path.write_bytes(page([record(2)]))
    assert path.stat().st_size == status.st_size
    seen.append(now())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    seen.append(now())
    path.chmod(0o640)
    seen.append(now())
    assert len({alone for _, alone in seen}) == len(seen)
    added = write_page(top, [record(3)], title="bzip2")
    seen.append(now())
    added.rename(added.with_name("other.md"))
    seen.append(now())
    path.unlink()
    seen.append(now())

    assert len({all_files for all_files, _ in seen}) == len(seen)


def test_documents_of_a_directory_are_those_of_its_files(tmp_path: Path) -> None:
    names = (
        "a",
        os.fsdecode(b"caf\xe9"),
        "new\nline",
        *(f"z{number:03}" for number in range(600)),
    )
    paths = [tmp_path / name for name in names]
    for size, path in enumerate(paths):
        path.write_bytes(b"x" * size)

    source = scan(tmp_path)

    expected = [document_of(str(tmp_path), str(p), str(p), p.stat()) for p in paths]
    assert [*source.documents] == [*source.documents] == expected
    assert len(source.documents) == len(paths)
    assert source.documents.size == sum(range(len(paths)))
    assert [document.source for document in source.documents.named("x")] == ["x"] * len(paths)


def test_times_after_the_year_2262_are_kept() -> None:
    class Far:
        st_size, st_mtime_ns, st_ctime_ns = 1, 2**63, 2**64

    def listed() -> FileList:
        files = FileList("/", "")
        files.add("/far", Far())  # type: ignore[arg-type]
        return files

    files = listed()
    Far.st_mtime_ns += 1
    later = listed()

    (far,) = files.documents("s")
    assert (far.path, far.origin, far.size, far.mtime_ns, far.ctime_ns) == (
        *("/far", "far", 1, 2**63, 2**64),
    )
    assert files.fingerprint != later.fingerprint

"""The documents of a source: local files with their fingerprints."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from spackscope.model.core.errors import Unreadable, naming
from spackscope.model.core.file_access import MAX_FILE_SIZE, read_file, sha256, times_of
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Problem

DocumentKind = Literal["candidate", "known"]
"""How a document is read.

A `candidate` was found in a directory and may not be a page; then it is skipped. A `known`
document is read whatever it looks like.
"""

PAGE_NAME = "specs.md"
"""The name of every page on the site; a file of this name that is not a page is a problem."""

_MAX_TIME = 2**63 - 1


class Document(NamedTuple):
    """One file of a source and its fingerprint: size in bytes, mtime and ctime in nanoseconds.

    The ctime changes with permissions, and with content that keeps size and mtime. `path` is the
    local file, `origin` the name that is shown: a path that begins with the source, or a URL.

    `cached` is true where the specs in the document are in a build cache. All specs of a document
    get its `tag` and `stack`, if it has them. An index has the `mirror.Mirror` whose specs it
    lists; files of a mirror on this machine determine which specs are cached. A spec file has the
    size of its archive in bytes, if it is known, or the `prefix` in which its spec is installed.
    `index_kind` is the layout and media type of an index, as `ListedIn` begins: `v3:8`, `v2:`, or
    `:` for a document that is in no mirror. With a `sha256` it is verified when it is read.
    """

    source: str
    path: str
    origin: str
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    kind: DocumentKind = "candidate"
    cached: bool = False
    tag: str = ""
    stack: str = ""
    archive_size: int | None = None
    prefix: str = ""
    mirror: Any = None
    index_kind: str = ":"
    sha256: str = ""

    @property
    def files(self) -> str:
        """A digest of the files of its mirror that say which specs are cached; "" for none."""
        return "" if self.mirror is None else str(self.mirror.files)

    @property
    def digest(self) -> bytes:
        """A digest that changes whenever the document does."""
        text = (
            f"{self.path}\0{self.size}\0{self.mtime_ns}\0{self.ctime_ns}\0{self.kind}\0{self.cached}"
            f"\0{self.tag}\0{self.stack}\0{self.index_kind}\0{self.archive_size}\0{self.files}"
        )
        return sha256(text.encode("utf-8", "surrogatepass")).digest()


class FileList:
    """Files below a directory, as bytes and numbers: 113,000 take 8 MB, as documents 70.

    `origin` is the name that is shown for the directory `top`, `size` the bytes of all files.
    """

    def __init__(self, top: str, origin: str) -> None:
        self._top, self._prefix = top, os.path.join(origin, "")
        # Each ends with a NUL, which is in no path.
        self._paths = bytearray()
        self._numbers = array("q")
        self.size = 0

    def add(self, path: str, status: os.stat_result) -> None:
        """Add a file by its path and status."""
        self._paths += os.fsencode(path) + b"\0"
        mtime, ctime = times_of(status)
        # Some file systems have times after the year 2262; all that matters is that they differ.
        self._numbers.extend((status.st_size, mtime & _MAX_TIME, ctime & _MAX_TIME))
        self.size += status.st_size

    def origin_of(self, path: str) -> str:
        """Return the name that is shown for a file."""
        return self._prefix + path[len(self._top) :].lstrip(os.sep)

    def documents(self, source: str) -> Iterator[Document]:
        """Yield the files as documents, which may be pages."""
        values, paths = iter(self._numbers), re.finditer(rb"[^\0]+", self._paths)
        for match, size, mtime, ctime in zip(paths, values, values, values, strict=True):
            path = os.fsdecode(match[0])
            yield Document(source, path, self.origin_of(path), size, mtime, ctime)

    @property
    def fingerprint(self) -> str:
        """A digest that changes whenever one of the files does."""
        digest = sha256(self._paths)
        digest.update(self._numbers)
        return digest.hexdigest()

    def __len__(self) -> int:
        return len(self._numbers) // 3


class Documents:
    """Documents in the order of reading: files that may be pages, and then others.

    The files are kept as a list that takes little memory: each iteration makes documents of it.
    """

    def __init__(
        self, others: Iterable[Document] = (), files: FileList | None = None, source: str = ""
    ) -> None:
        self._others, self._files, self._source = tuple(others), files or FileList("", ""), source

    def __iter__(self) -> Iterator[Document]:
        yield from self._files.documents(self._source)
        yield from self._others

    def __len__(self) -> int:
        return len(self._files) + len(self._others)

    @property
    def size(self) -> int:
        """The bytes of all documents."""
        return self._files.size + sum(document.size for document in self._others)

    @property
    def fingerprint(self) -> str:
        """A digest that changes whenever one of the documents does."""
        others = sha256(b"".join([document.digest for document in self._others]))
        return self._files.fingerprint + others.hexdigest()

    def named(self, source: str) -> Documents:
        """Return these documents under another source name."""
        others = (document._replace(source=source) for document in self._others)
        return Documents(others, self._files, source)

    def followed_by(self, others: Iterable[Document]) -> Documents:
        """Return these documents and others after them."""
        return Documents((*self._others, *others), self._files, self._source)


class DiscoveredSource(Frozen):
    """A source with its documents, its problems, and its state.

    `kind` is `pages`, `file`, `install tree`, `environment`, `mirror`, `public cache`,
    `standard input`, or `directory` where it contains several of these. `layout` is the layout of
    a mirror: `v2`, `v3`, `v3 and v2`, `OCI`, or one of these followed by `spec files`. `checked`
    is when the copies of a remote source were last known to be current, in seconds since 1970, and
    `remark` why an older copy is used. `failure` says why nothing can be read; a source that
    `is_late` may still answer.
    """

    source: str
    kind: str
    layout: str = ""
    documents: Documents = Documents()
    problems: tuple[Problem, ...] = ()
    checked: float | None = None
    remark: str = ""
    failure: str = ""
    is_late: bool = False


def combine(parts: Sequence[DiscoveredSource]) -> DiscoveredSource:
    """Return one source with the documents and problems of several parts of it.

    The source has the name and kind of the first part, and the oldest time of a check. Files that
    may be pages are only in the first part.
    """
    return replace(
        parts[0],
        layout=" and ".join(dict.fromkeys(part.layout for part in parts if part.layout)),
        documents=parts[0].documents.followed_by(
            document for part in parts[1:] for document in part.documents
        ),
        problems=tuple(problem for part in parts for problem in part.problems),
        checked=min((part.checked for part in parts if part.checked is not None), default=None),
        remark=join_remarks(part.remark for part in parts),
    )


def join_remarks(remarks: Iterable[str]) -> str:
    """Join the remarks that are not empty, each once."""
    return "; ".join(dict.fromkeys(filter(None, remarks)))


def document_of(
    source: str, path: str, origin: str, status: os.stat_result, kind: DocumentKind = "candidate"
) -> Document:
    """Return the document of a file whose status is known."""
    return Document(source, path, origin, status.st_size, *times_of(status), kind=kind)


def document_at(source: str, path: str, origin: str) -> Document:
    """Return the known document at a path. Raises SourceError, which names the origin."""
    with naming(origin):
        return document_of(source, path, origin, os.stat(path), "known")


def read_bytes(document: Document) -> bytes:
    """Return the content of a document, or the head of a file that cannot be a page.

    Raises Unreadable, which gives the reason alone.
    """
    is_wanted = _may_be_page if document.kind == "candidate" else None
    try:
        data = read_file(document.path, MAX_FILE_SIZE, is_wanted)
    except OSError as error:
        raise Unreadable((error.strerror or str(error)).lower()) from None
    if document.sha256:
        # For large files the faster function of OpenSSL is worth its import.
        import hashlib

        if hashlib.sha256(data).hexdigest() != document.sha256:
            raise Unreadable("it does not match its checksum")
    return data


def _may_be_page(head: bytes) -> bool:
    """Check the first bytes of a file, which may be in UTF-16."""
    return b"---" in head.replace(b"\0", b"")

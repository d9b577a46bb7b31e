"""Find the documents of a source: a page, or a directory with pages anywhere below it."""

from __future__ import annotations

import hashlib
import os
import shlex
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spackscope.model.records import Cancelled

SAMPLE = "sample_data"
"""The name of the bundled sample, the source where none is given."""

OnProgress = Callable[[str, int, int | None], None]
"""Called with what is counted, how many are done, and how many there are if that is known."""

ShouldStop = Callable[[], bool]


class SourceError(Exception):
    """Report a source that cannot be read at all, in one sentence that names it."""


@dataclass(frozen=True, slots=True)
class Document:
    """Name one file of a source and its fingerprint: size in bytes, mtime and ctime in ns.

    The ctime tells of new permissions, and of a change that kept size and mtime.
    `origin` is the path as the user would write it, beginning with the source; `unreadable` is
    the reason where the place was found and could not be looked into.
    """

    source: str
    path: str
    origin: str
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    unreadable: str = ""


def no_progress(_what: str, _done: int, _total: int | None) -> None:
    """Report progress to nobody."""


def never() -> bool:
    """Answer that nobody wants to stop."""
    return False


def chosen(given: Sequence[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Decide on the sources: those given, else SPACKSCOPE_FROM, else the bundled sample.

    SPACKSCOPE_FROM holds one source or several separated by blanks, quoted as in a shell.
    Raises SourceError where its quotes do not close.
    """
    if given:
        return tuple(dict.fromkeys(given))
    variable = environ.get("SPACKSCOPE_FROM", "").strip()
    if not variable:
        return (SAMPLE,)
    if os.path.exists(os.path.expanduser(variable)):
        return (variable,)
    try:
        return tuple(dict.fromkeys(shlex.split(variable)))
    except ValueError as error:
        raise SourceError(f"SPACKSCOPE_FROM cannot be split into sources: {error}") from None


def location(source: str) -> Path:
    """Give the absolute path of a source; `sample_data` is the sample in the installed package.

    Raises SourceError for a relative path in a directory that is no more.
    """
    if source == SAMPLE:
        from importlib.resources import files

        return Path(str(files("spackscope.sample_data")))
    try:
        return Path(os.path.abspath(os.path.expanduser(source)))
    except OSError as error:
        raise SourceError(f"the source {source} {_reason(error)}") from None


def scan(
    sources: Sequence[str],
    *,
    on_progress: OnProgress = no_progress,
    should_stop: ShouldStop = never,
) -> list[Document]:
    """List the files of all sources with their fingerprints, in the order of their paths.

    Links are followed, a directory once. Raises SourceError where a source does not exist, is
    no file or directory or holds no file, Cancelled where `should_stop` says so.
    """
    documents: list[Document] = []
    last = time.monotonic()
    for source in sources:
        before = len(documents)
        for document in _walk(source):
            if len(documents) % 256 == 0:
                if should_stop():
                    raise Cancelled
                if time.monotonic() - last > 0.1:
                    on_progress("files found", len(documents), None)
                    last = time.monotonic()
            documents.append(document)
        if len(documents) == before:
            raise SourceError(f"the source {source} holds no file")
    return documents


def fingerprint(documents: Sequence[Document]) -> str:
    """Condense all fingerprints into one text that changes when any document does."""
    digest = hashlib.sha256()
    for document in documents:
        times = f"{document.mtime_ns}\0{document.ctime_ns}"
        line = f"{document.path}\0{document.size}\0{times}\n"
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _walk(source: str) -> Iterator[Document]:
    top = location(source)
    try:
        status = os.stat(top)
    except (OSError, ValueError) as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else _reason(error)
        raise SourceError(f"the source {source} {reason}") from None
    if stat.S_ISREG(status.st_mode):
        yield _document(source, str(top), source, status)
    elif stat.S_ISDIR(status.st_mode):
        try:
            os.listdir(top)
        except OSError as error:
            raise SourceError(f"the source {source} {_reason(error)}") from None
        yield from _below(source, str(top), status)
    else:
        raise SourceError(f"the source {source} is neither a file nor a directory")


def _below(source: str, top: str, status: os.stat_result) -> Iterator[Document]:
    named = "" if Path(source) == Path() else os.path.join(Path(source), "")

    def origin(path: str) -> str:
        return named + path[len(top) :].lstrip(os.sep)

    # No recursion: directories can be nested deeper than Python's calls.
    waiting, seen = [top], {(status.st_dev, status.st_ino)}
    while waiting:
        directory = waiting.pop()
        try:
            entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
        except OSError as error:
            yield Document(source, directory, origin(directory), unreadable=_reason(error))
            continue
        found: list[str] = []
        for entry in entries:
            path = entry.path
            try:
                status = entry.stat()
            except OSError as error:
                yield Document(source, path, origin(path), unreadable=_reason(error))
                continue
            if stat.S_ISREG(status.st_mode):
                yield _document(source, path, origin(path), status)
            elif stat.S_ISDIR(status.st_mode) and (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                found.append(path)
        waiting += reversed(found)


def _document(source: str, path: str, origin: str, status: os.stat_result) -> Document:
    size, mtime_ns, ctime_ns = status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return Document(source, path, origin, size, mtime_ns, ctime_ns)


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"cannot be read: {text[:1].lower()}{text[1:]}"

"""Bring a file to this machine: the copy of before where it is still right, else a new one."""

from __future__ import annotations

import codecs
import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from spackscope.model.core.bounded_files import MAX_FILE_SIZE
from spackscope.model.core.errors import Cancelled, SourceError, WrongContent
from spackscope.model.core.progress import OnProgress, ShouldStop, never, no_progress
from spackscope.model.storage.base import FetchedFile
from spackscope.model.storage.download_cache import CachedFile, DownloadCache, open_temporary_cache

_REPORT = 0.05
_HEAD = 64


@dataclass(frozen=True, slots=True)
class FileVersion:
    """Hold what a server told of the version of a file that it gave."""

    stamp: str = ""
    last_modified: str = ""


class Writer:
    """Take the bytes of a file as they come, count them, and find their digest.

    `what` is the name that progress is reported under, `origin` that of the file. Raises
    SourceError where there are more than `max_size` bytes, and Cancelled.
    """

    def __init__(
        self,
        file: BinaryIO,
        what: str,
        origin: str,
        *,
        max_size: int = MAX_FILE_SIZE,
        on_progress: OnProgress = no_progress,
        should_stop: ShouldStop = never,
    ) -> None:
        self._file, self._what, self._origin, self._largest = file, what, origin, max_size
        self._on_progress, self._should_stop = on_progress, should_stop
        self._digest = hashlib.sha256()
        self._reported = 0.0
        self.size = 0

    def begin_anew(self) -> None:
        """Forget what was written."""
        self._file.seek(0)
        self._file.truncate()
        self._digest = hashlib.sha256()
        self.size = 0

    def expect(self, size: int | None) -> None:
        """Refuse a file that is announced as too large, before any of it is brought."""
        if size is not None and size > self._largest:
            raise SourceError(
                f"{self._origin} is too large: {size:,} bytes, and {self._largest:,} are allowed"
            )

    def write(self, part: bytes) -> None:
        """Take the next bytes."""
        self.size += len(part)
        if self.size > self._largest:
            raise self._too_large()
        self._digest.update(part)
        self._file.write(part)

    def _too_large(self) -> SourceError:
        return SourceError(f"{self._origin} is larger than the {self._largest:,} bytes allowed")

    def report(self, done: int, total: int | None) -> None:
        """Tell how many bytes have come over the wire, and how many there are if that is known.

        Of what is packed there may be too many though they unpack to few.
        """
        if done > self._largest:
            raise self._too_large()
        if self._should_stop():
            raise Cancelled
        now = time.monotonic()
        if now - self._reported >= _REPORT or done == total:
            self._reported = now
            self._on_progress(self._what, done, total)

    def is_web_page(self) -> bool:
        """Tell whether what was written is a page for people, which no file of Spack's is."""
        self._file.seek(0)
        head = self._file.read(_HEAD)
        self._file.seek(0, os.SEEK_END)
        return head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<")

    @property
    def sha256(self) -> str:
        """The hexadecimal digest of what was written."""
        return self._digest.hexdigest()


Ask = Callable[["CachedFile | None", Writer], "FileVersion | None"]
"""Asks a server for a file, unless it is still as the copy; None tells that it is.

Called with the copy of before and where the bytes go. Raises SourceErrors and Cancelled.
"""


def fetch_copy(
    ask: Ask,
    copies: DownloadCache,
    key: str,
    origin: str,
    *,
    sha256: str = "",
    immutable: bool = False,
    max_size: int = MAX_FILE_SIZE,
    on_progress: OnProgress = no_progress,
    should_stop: ShouldStop = never,
) -> FetchedFile:
    """Give the copy of a file, asking for it only where the copy may be an old one.

    `key` tells the file from all others, `origin` is what the user is told of it. A copy with
    the wanted sha256 is right, as of now, whatever the server says. Where the server fails, an
    older copy serves even if its sha256 is another, with a remark that says why; but not where
    the server says that the file is no more, or gives one that its checksum does not fit, unless
    what it gives is a web page.
    """
    wanted = sha256.lower()
    older = copies.find(key)
    copy = None if older is not None and wanted and older.sha256 != wanted else older
    if copy is not None and (wanted or immutable):
        return FetchedFile(copy.path, origin, time.time() if wanted else copy.checked)
    try:
        with copies.beginning(key) as file:
            what = f"bytes of {origin.rpartition('/')[2] or origin}"
            writer = Writer(
                file,
                what,
                origin,
                max_size=max_size,
                on_progress=on_progress,
                should_stop=should_stop,
            )
            version = ask(copy, writer)
            if version is None and copy is not None:
                kept = copies.confirm(copy)
                return FetchedFile(kept.path, origin, kept.checked)
            if version is None:
                raise SourceError(f"{origin} cannot be read: the server says it is as before")
            if writer.is_web_page():
                raise WrongContent(
                    f"{origin} cannot be read: what the server gives is a web page",
                    is_web_page=True,
                )
            if wanted and writer.sha256 != wanted:
                raise WrongContent(
                    f"{origin} is not what its checksum says: sha256 is {writer.sha256[:12]}…,"
                    f" and should be {wanted[:12]}…"
                )
            kept = copies.keep(
                key,
                file,
                url=origin,
                stamp=version.stamp,
                last_modified=version.last_modified,
                sha256=writer.sha256,
            )
            return FetchedFile(kept.path, origin, kept.checked)
    except SourceError as error:
        if older is None or not error.may_serve_stale:
            raise
        return _instead(older, origin, error)
    except OSError as error:
        failure = SourceError(f"{origin} cannot be copied to this machine: {error.strerror}")
        if older is not None:
            return _instead(older, origin, failure)
    # The disk with the cache may be full, and another one not.
    elsewhere = open_temporary_cache(copies)
    if elsewhere is None:
        raise failure
    return fetch_copy(
        ask,
        elsewhere,
        key,
        origin,
        sha256=sha256,
        immutable=immutable,
        max_size=max_size,
        on_progress=on_progress,
        should_stop=should_stop,
    )


def _instead(older: CachedFile, origin: str, failure: SourceError) -> FetchedFile:
    return FetchedFile(older.path, origin, older.checked, str(failure))

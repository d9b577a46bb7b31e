"""The documents of a source: files on this machine, with their fingerprints."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spackscope.model.core.records import Problem

Kind = Literal["found", "asked for", "sizes"]
"""How a document is read.

One that was `found` in a directory may be no page, and is passed over then; one that is `asked
for` is read whatever it looks like. Where an index lists the specs, a manifest is read only for
the `sizes` of the archives.
"""


@dataclass(frozen=True, slots=True)
class Document:
    """Name one file of a source and its fingerprint: size in bytes, mtime and ctime in ns.

    The ctime tells of new permissions, and of a change that kept size and mtime.
    `path` is where it lies on this machine, `origin` what the user is told: the path as the user
    would write it, beginning with the source, or an address. `unreadable` is the reason where
    the place was found and could not be looked into.

    `cached` tells that its specs lie in a build cache, where the document itself does not;
    `tag` and `stack` are those of all its specs, where it is listed under them.
    """

    source: str
    path: str
    origin: str
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    unreadable: str = ""
    kind: Kind = "found"
    cached: bool = False
    tag: str = ""
    stack: str = ""


@dataclass(frozen=True, slots=True)
class DiscoveredSource:
    """Hold what was found at one source: its documents, and what the user should know of it.

    `kind` is `pages`, `file`, `install tree`, `environment`, `mirror`, `public cache`,
    `standard input`, or `directory` where it holds several of these, and `layout` that of a
    mirror: `v2`, `v3`, `v3 and v2`, `OCI`, or these with `spec files` behind them. `checked`
    is when what was copied from far away was last known to be as the original, in seconds since
    1970, and `remark` why an older copy serves. `failure` says why nothing could be read.
    """

    source: str
    kind: str
    layout: str = ""
    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    checked: float | None = None
    remark: str = ""
    failure: str = ""


def document_of(
    source: str,
    path: str,
    origin: str,
    status: os.stat_result,
    *,
    kind: Kind = "found",
    cached: bool = False,
    tag: str = "",
    stack: str = "",
) -> Document:
    """Make the document of a file whose status is known."""
    size, mtime_ns, ctime_ns = status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return Document(source, path, origin, size, mtime_ns, ctime_ns, "", kind, cached, tag, stack)


def fingerprint(documents: Sequence[Document]) -> str:
    """Condense all fingerprints into one text that changes when any document does."""
    digest = hashlib.sha256()
    for document in documents:
        times = f"{document.mtime_ns}\0{document.ctime_ns}"
        role = f"{document.kind}\0{document.cached}\0{document.tag}\0{document.stack}"
        line = f"{document.path}\0{document.size}\0{times}\0{role}\n"
        digest.update(line.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()

"""Make mirrors as Spack pushes them, in a directory or behind a web server on loopback."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spackscope.model.sources.discover import discover
from spackscope.model.sources.document import DiscoveredSource
from spackscope.model.sources.session import Session
from tests.web_server import Talk, WebServer, serving

Files = dict[str, bytes]

MANIFEST = "v3/manifests/index/index.manifest.json"
DB, SPEC, ARCHIVE = (
    "application/vnd.spack.db.v8+json",
    "application/vnd.spack.spec.v5+json",
    "application/vnd.spack.install.v2.tar+gzip",
)


def entry(media_type: str, data: bytes, **fields: Any) -> dict[str, Any]:
    """Make the entry of a manifest; a field that is given as `...` is left out."""
    whole = {
        "contentLength": len(data),
        "mediaType": media_type,
        "compression": "none",
        "checksumAlgorithm": "sha256",
        "checksum": hashlib.sha256(data).hexdigest(),
        **fields,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def manifest(*entries: object) -> bytes:
    return json.dumps({"version": 3, "data": entries}).encode()


def blob(data: bytes) -> Files:
    checksum = hashlib.sha256(data).hexdigest()
    return {f"blobs/sha256/{checksum[:2]}/{checksum}": data}


def v3(index: bytes, name: str = MANIFEST) -> Files:
    """Make the index of a mirror of layout v3."""
    return {
        "v3/layout.json": b'{"signing": "gpg"}',
        name: manifest(entry(DB, index)),
        **blob(index),
    }


def v2(index: bytes, noted: str | None = "") -> Files:
    """Make the index of a mirror of layout v2, and beside it a sha256, unless it is None."""
    files = {"build_cache/index.json": index}
    if noted is not None:
        sha256 = noted or hashlib.sha256(index).hexdigest()
        files["build_cache/index.json.hash"] = sha256.encode()
    return files


def below(prefix: str, files: Files) -> Files:
    return {f"{prefix}/{name}": data for name, data in files.items()}


def written(directory: Path, files: Files) -> Path:
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return directory


def files_of(directory: Path) -> Files:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


@contextmanager
def served(files: Files) -> Iterator[WebServer]:
    """Serve files, which may change meanwhile, with an ETag each."""

    def script(talk: Talk) -> None:
        data = files.get(talk.asked.path.lstrip("/"))
        if data is None:
            talk.answer(404)
            return
        etag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
        if talk.asked.headers.get("if-none-match") == etag:
            talk.answer(304, ETag=etag)
        else:
            talk.answer(200, data, ETag=etag)

    with serving() as server:
        server.default = script
        yield server


def look(
    source: object, environ: Mapping[str, str] = {}, *, stdin_path: str = ""
) -> DiscoveredSource:
    """Discover the documents of one source."""
    (discovered,) = discover([str(source)], Session(environ, stdin_path=stdin_path))
    return discovered


def contents(discovered: DiscoveredSource, kind: str = "asked for") -> list[bytes]:
    """Read the documents of a kind."""
    return [
        Path(document.path).read_bytes()
        for document in discovered.documents
        if document.kind == kind
    ]


def reasons(discovered: DiscoveredSource) -> str:
    return "\n".join(str(problem) for problem in discovered.problems)

"""Build mirrors as Spack pushes them, and serve them on loopback."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from spackscope.model.readers.formats import read_manifest
from spackscope.model.sources.discover import discover
from spackscope.model.sources.document import DiscoveredSource
from spackscope.model.sources.session import Session
from tests.builders.manifests import (
    ARCHIVE_TYPE,
    BZIP2_ARCHIVE,
    DATABASE_TYPE,
    INDEX_TYPE,
    MANIFEST,
    SPEC_TYPE,
    Files,
    blob,
    entry,
    manifest,
    sha256,
)
from tests.builders.spack import PROJECT_KEY, SIGNED, SITE_KEY, SPACK_DATA
from tests.web_server import Exchange, WebServer, serving

KEY_TYPE, KEY_INDEX_TYPE = "application/pgp-keys", "application/vnd.spack.keyindex.v1+json"


def mirror_v3(index: bytes, name: str = MANIFEST) -> Files:
    """Build a mirror of layout v3 that has only an index."""
    return {
        "v3/layout.json": b'{"signing": "gpg"}',
        name: manifest(entry(DATABASE_TYPE, index)),
        **blob(index),
    }


def mirror_v2(index: bytes) -> Files:
    """Build a mirror of layout v2 that has only an index."""
    return {"build_cache/index.json": index}


def signed_v3() -> Files:
    """Build a mirror of layout v3 whose manifests of bzip2 and ncurses are signed, with the keys.

    The archive of bzip2 is there, and has the size that its manifest says.
    """
    files = files_in(SPACK_DATA / "mirror-v3")
    for name in [name for name in files if name.endswith(".spec.manifest.json")]:
        package = name.split("/")[3]
        files[name] = (SIGNED / f"{package}.spec.manifest.json").read_bytes()
    files[f"blobs/sha256/27/{BZIP2_ARCHIVE}"] = bytes(5636)
    keys = {SITE_KEY: "site.pub", PROJECT_KEY: "project.pub"}
    index = json.dumps({"keys": {key: {} for key in keys}}).encode()
    blobs = {"keys": (KEY_INDEX_TYPE, index)}
    for fingerprint, name in keys.items():
        blobs[f"{fingerprint}.key"] = (KEY_TYPE, (SIGNED / name).read_bytes())
    for name, (media_type, data) in blobs.items():
        files |= {f"v3/manifests/key/{name}.manifest.json": manifest(entry(media_type, data))}
        files |= blob(data)
    return files


def complete(files: Files) -> Files:
    """Add the manifests, spec files and archives that the index of a mirror needs."""
    path = next(name for name in files if name in (MANIFEST, "build_cache/index.json"))
    is_v3 = path == MANIFEST
    if is_v3:
        path = f"blobs/sha256/{(sha := json.loads(files[path])['data'][0]['checksum'])[:2]}/{sha}"
    added: Files = {}
    listed = "\n".join(files)
    for hash_, record in json.loads(files[path])["database"]["installs"].items():
        name, version = (record["spec"][key] for key in ("name", "version"))
        stem = f"{name}-{version}-{hash_}"
        if not record.get("in_buildcache"):
            continue
        if not is_v3:
            added[f"build_cache/x/{stem}.spack"] = b"archive"
            if hash_ not in listed:
                added[f"build_cache/{stem}.spec.json"] = b"{}"
        elif hash_ not in listed:
            entries = [entry(ARCHIVE_TYPE, b"", contentLength=...), entry(SPEC_TYPE, b"")]
            added[f"v3/manifests/spec/{name}/{stem}.spec.manifest.json"] = manifest(*entries)
    added |= blob(b"") if is_v3 else {}
    for name, data in [*files.items()]:
        for each in read_manifest(data).blobs if name.endswith(".spec.manifest.json") else ():
            added.setdefault(each.name, files.get(each.name, bytes(each.size or 0)))
    return {**added, **files}


def with_bzip2(data: bytes, stored: bytes | None = None) -> Files:
    """Build a mirror of layout v3 with an archive of bzip2, or another one in its place."""
    files = files_in(SPACK_DATA / "mirror-v3")
    (name,) = [each for each in files if "/bzip2-1.0.8-" in each]
    files[name] = manifest(entry(ARCHIVE_TYPE, data))
    (path,) = blob(data)
    return {**files, path: data if stored is None else stored}


def signed_v2() -> Files:
    """Build a mirror of layout v2 whose spec file of zlib-ng is signed, with the key."""
    files = files_in(SPACK_DATA / "mirror-v2")
    name = next(name for name in files if "-zlib-ng-" in name)
    del files[name]
    files[f"{name}.sig"] = (SIGNED / "zlib-ng.spec.json.sig").read_bytes()
    files["build_cache/_pgp/index.json"] = json.dumps({"keys": {SITE_KEY: {}}}).encode()
    files[f"build_cache/_pgp/{SITE_KEY}.pub"] = (SIGNED / "site.pub").read_bytes()
    return files


def under(prefix: str, files: Files) -> Files:
    """Move files into a directory."""
    return {f"{prefix}/{name}": data for name, data in files.items()}


def tag_list(files: Files, bucket: str = "spack-binaries") -> bytes:
    """List the indexes of a bucket, as cache_indexer.py of spack-infrastructure writes them.

    The URLs follow `get_index_url`, and which index of a manifest is named `get_index_blob`; tags
    and labels follow `build_json`.
    """
    tags: dict[str, list[dict[str, str]]] = {}
    for name, data in files.items():
        if name.endswith(f"/{MANIFEST}"):
            top = name.removesuffix(f"/{MANIFEST}")
            entries = json.loads(data)["data"]
            index = next(each for each in entries if each["mediaType"].startswith(INDEX_TYPE))
            algorithm, checksum = index["checksumAlgorithm"], index["checksum"]
            url = f"{top}/blobs/{algorithm}/{checksum[:2]}/{checksum}"
        elif name.endswith("/build_cache/index.json"):
            top, url = name.removesuffix("/build_cache/index.json"), name
        else:
            continue
        tag, _, stack = top.partition("/")
        tags.setdefault(tag, []).append({"label": stack or "root", "url": f"s3://{bucket}/{url}"})
    return json.dumps(tags).encode()


def write_files(directory: Path, files: Files) -> Path:
    """Write files to a directory, and return it."""
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return directory


def files_in(directory: Path) -> Files:
    """Read all files of a directory."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


@contextmanager
def serve_files(files: Files) -> Iterator[WebServer]:
    """Serve files, which may change meanwhile, each with an ETag."""

    def script(exchange: Exchange) -> None:
        data = files.get(unquote(exchange.request.path).lstrip("/"))
        if data is None:
            exchange.respond(404)
            return
        etag = f'"{sha256(data)[:16]}"'
        if exchange.request.headers.get("if-none-match") == etag:
            exchange.respond(304, ETag=etag)
        else:
            exchange.respond(200, data, ETag=etag)

    with serving(script) as server:
        yield server


def discover_one(source: object, environ: Mapping[str, str] = {}) -> DiscoveredSource:
    """Discover the documents of one source."""
    (discovered,) = discover([str(source)], Session(environ))
    return discovered


def contents(discovered: DiscoveredSource) -> list[bytes]:
    """Read the documents that Spack wrote."""
    known = (document for document in discovered.documents if document.kind == "known")
    return [Path(document.path).read_bytes() for document in known]


def problem_text(discovered: DiscoveredSource) -> str:
    """Return the problems of a source, one per line."""
    return "\n".join(str(problem) for problem in discovered.problems)

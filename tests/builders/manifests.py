"""Build the manifests and blobs of mirrors of layout v3."""

import hashlib
import json
from typing import Any

Files = dict[str, bytes]
"""The files of a mirror, by their path in it."""

MANIFEST = "v3/manifests/index/index.manifest.json"
INDEX_TYPE = "application/vnd.spack.db"
DATABASE_TYPE = f"{INDEX_TYPE}.v8+json"
SPEC_TYPE = "application/vnd.spack.spec.v5+json"
ARCHIVE_TYPE = "application/vnd.spack.install.v2.tar+gzip"
BZIP2_ARCHIVE = "27cf3e3fa6bfcb0ca4735243f802601b21f204f50ecace11e19884f749cfc140"
"""The sha256 of the archive of bzip2 in the mirror of layout v3."""


def sha256(data: bytes) -> str:
    """Return the hexadecimal sha256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def entry(media_type: str, data: bytes, **fields: Any) -> dict[str, Any]:
    """Build the entry of a manifest; a field given as `...` is left out."""
    fields = {
        "contentLength": len(data),
        "mediaType": media_type,
        "compression": "none",
        "checksumAlgorithm": "sha256",
        "checksum": sha256(data),
        **fields,
    }
    return {key: value for key, value in fields.items() if value is not ...}


def manifest(*entries: object) -> bytes:
    """Format a manifest from its entries."""
    return json.dumps({"version": 3, "data": entries}).encode()


def blob(data: bytes) -> Files:
    """Build the blob of some bytes, which is named by their checksum."""
    return {f"blobs/sha256/{sha256(data)[:2]}/{sha256(data)}": data}

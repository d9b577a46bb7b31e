"""Build pages as cache.spack.io writes them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PAGES = Path(__file__).parents[1] / "data" / "pages"
SAMPLE_PAGES = Path(__file__).parents[2] / "sample_data" / "cache" / "develop"
"""The pages of the sample, which tests count on, and not all of it."""
HASH_ALPHABET = "234567abcdefghijklmnopqrstuvwxyz"

Record = dict[str, Any]


def hash_of(number: int) -> str:
    """Return a valid hash for a number; hashes sort as their numbers do."""
    digits = ""
    for _ in range(32):
        number, digit = divmod(number, 32)
        digits = HASH_ALPHABET[digit] + digits
    return digits


def record(number: int = 0, **fields: Any) -> Record:
    """Build a page's record with the hash of a number; a field given as `...` is left out."""
    fields = {
        "compiler": "gcc@=13.2.0",
        "hash": hash_of(number),
        "os": "ubuntu24.04",
        "platform": "linux",
        "size": "-",
        "stacks": ["e4s", "root"],
        "target": "x86_64_v3",
        "variants": ["build_system=generic", "+shared"],
        "versions": ["1.3.1"],
        **fields,
    }
    return {key: value for key, value in fields.items() if value is not ...}


def page(
    records: Sequence[object],
    *,
    title: str = "zlib",
    tag: str = "develop",
    meta: Mapping[str, object] | None = None,
) -> bytes:
    """Format a page as `generate_cache.py` of cache.spack.io does."""
    lines = [f"title: {json.dumps(title)}", "layout: cache"]
    lines.append(f"categories: {json.dumps(['package', tag])}")
    if meta is not None:
        lines.append(f"meta: {json.dumps(meta)}")
    lines.append(f"spec_details: {json.dumps(records)}")
    return "\n".join(["---", *lines, "---"]).encode()


def write_page(
    path: Path, records: Sequence[object], *, title: str = "zlib", tag: str = "develop"
) -> Path:
    """Write a page and return its path.

    `path` is the page itself if it ends in `.md`, else a directory that gets TAG/TITLE/specs.md.
    """
    if path.suffix != ".md":
        path = path / tag / title / "specs.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(page(records, title=title, tag=tag))
    return path

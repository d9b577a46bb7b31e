"""Write pages as the site writes them, and read them back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.records import Problem, Spec
from spackscope.model.loader.load import load
from spackscope.model.readers.cache_pages import read_page
from spackscope.model.sources.session import Session

ALPHABET = "234567abcdefghijklmnopqrstuvwxyz"
PAGES = Path(__file__).parent / "data" / "pages"

Record = dict[str, Any]


def hash_of(number: int) -> str:
    """Make a valid hash of a number; hashes sort as their numbers do."""
    digits = ""
    for _ in range(32):
        number, digit = divmod(number, 32)
        digits = ALPHABET[digit] + digits
    return digits


def record(number: int = 0, **fields: Any) -> Record:
    """Make a record; a field that is given as `...` is left out."""
    whole: Record = {
        "compiler": "gcc@=13.2.0",
        "hash": hash_of(number),
        "os": "ubuntu24.04",
        "platform": "linux",
        "size": "-",
        "stacks": ["e4s", "root"],
        "target": "x86_64_v3",
        "variants": ["build_system=generic", "+shared"],
        "versions": ["1.3.1"],
    }
    whole |= fields
    return {key: value for key, value in whole.items() if value is not ...}


def page(
    records: Sequence[object],
    *,
    title: str = "zlib",
    tag: str = "develop",
    meta: Mapping[str, object] | None = None,
) -> bytes:
    """Spell a page as `generate_cache.py` does."""
    lines = [f"title: {json.dumps(title)}", "layout: cache"]
    lines.append(f"categories: {json.dumps(['package', tag])}")
    if meta is not None:
        lines.append(f"meta: {json.dumps(meta)}")
    lines.append(f"spec_details: {json.dumps(records)}")
    return "\n".join(["---", *lines, "---"]).encode()


def write_page(
    directory: Path, records: Sequence[object], *, title: str = "zlib", tag: str = "develop"
) -> Path:
    """Write a page to where the site has it, below a directory."""
    path = directory / tag / title / "specs.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(page(records, title=title, tag=tag))
    return path


def read(data: bytes) -> tuple[list[Spec], list[Problem]]:
    """Read a page into its records and its problems."""
    specs: list[Spec] = []
    problems: list[Problem] = []
    for item in read_page(data, origin="page"):
        if isinstance(item, Problem):
            problems.append(item)
        else:
            specs.append(item)
    return specs, problems


def catalog_of(*sources: Path | str) -> Catalog:
    """Index sources in memory."""
    return load([str(source) for source in sources], Session({}))


def everything(catalog: Catalog) -> list[Spec]:
    """Give all records of a catalog in display order."""
    return [row.spec for row in catalog.rows(range(catalog.total))]


def seal(path: Path) -> None:
    """Make the checksum of an index right again after a change, as an attacker would."""
    data = bytearray(path.read_bytes())
    data[60:64] = bytes(4)
    data[60:64] = crc32(data).to_bytes(4, "big")
    path.write_bytes(data)

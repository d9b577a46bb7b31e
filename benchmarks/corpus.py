"""Build pages of any number of specs from the records of the sample, with new names and hashes."""

from __future__ import annotations

import datetime
import json
import random
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_FLAGS = ("mpi", "cuda", "shared", "openmp", "hdf5", "fortran", "python", "pic", "static", "zlib")
_DEVELOP = 60_000
"""Specs of the tag `develop` of the public cache; all others are of dated tags."""
_OF_DATED_PAGE = 3.3
_DATED_TAGS = 99
_MANY = 1_000_000
"""Specs from which on pages are larger, so that a disk has room for their files."""


class _Page(NamedTuple):
    tag: str
    name: str
    specs: int
    number: int


def sample_records() -> list[dict[str, Any]]:
    """Return the records of the bundled sample as they are on its pages."""
    records: list[dict[str, Any]] = []
    develop = files("spackscope.sample_data") / "cache" / "develop"
    for page in sorted(develop.iterdir(), key=str):
        for line in page.joinpath("specs.md").read_text(encoding="utf-8").splitlines():
            if line.startswith("spec_details: "):
                records += json.loads(line.removeprefix("spec_details: "))
    return records


def build_pages(directory: Path, specs: int) -> Path:
    """Write pages with this many specs below a directory; the same number gives the same bytes.

    Up to 60,000 specs are 24 to a page of one tag. What is more is in dated tags, 3 to a page, as
    on cache.spack.io, so that 425,000 specs are 113,000 files. Millions are 400 to a page.
    """
    rng = random.Random(specs)
    sample = sample_records()
    for page in _pages(specs):
        records = []
        for record in rng.choices(sample, k=page.specs):
            names = _FLAGS[: 1 + page.number % len(_FLAGS)]
            flags = [f"{rng.choice('+~')}{flag}" for flag in names]
            variants = [*record["variants"], *flags]
            records.append({**record, "hash": _hash(rng), "variants": variants})
        _write(directory / page.tag / page.name / "specs.md", page, records)
    return directory


def change_pages(directory: Path, count: int, *, seed: int) -> None:
    """Give a record of some pages below a directory another hash."""
    rng = random.Random(seed)
    for path in rng.sample(sorted(directory.glob("develop/*/specs.md")), count):
        text = path.read_text(encoding="utf-8")
        start = text.index('"hash": "') + len('"hash": "')
        path.write_text(text[:start] + _hash(rng) + text[start + 32 :], encoding="utf-8")


def _pages(specs: int) -> Iterator[_Page]:
    names = random.Random(0)
    develop = specs if specs >= _MANY else min(specs, _DEVELOP)
    size = 400 if specs >= _MANY else 24
    packages = []
    for number, first in enumerate(range(0, develop, size)):
        packages.append(f"{names.choice(('py', 'lib', 'r', 'perl'))}-{number:05d}")
        yield _Page("develop", packages[-1], min(size, develop - first), number)
    left, day = specs - develop, datetime.date(2023, 5, 14)
    pages = round(left / _OF_DATED_PAGE)
    for number in range(pages):
        tag, nth = number % _DATED_TAGS, number // _DATED_TAGS
        count = left * (number + 1) // pages - left * number // pages
        date = day + datetime.timedelta(weeks=tag)
        yield _Page(f"develop-{date}", packages[nth % len(packages)], count, nth)


def _write(path: Path, page: _Page, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'---\ntitle: "{page.name}"\nlayout: cache\ncategories: [package, {page.tag}]\n'
        f"spec_details: {json.dumps(records)}\n---",
        encoding="utf-8",
    )


def _hash(rng: random.Random) -> str:
    return "".join(rng.choices(_ALPHABET, k=32))

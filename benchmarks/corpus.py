"""Build pages of any size from the records of the sample, with new names and hashes."""

from __future__ import annotations

import json
import random
from importlib.resources import files
from pathlib import Path
from typing import Any

_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_FLAGS = ("mpi", "cuda", "shared", "openmp", "hdf5", "fortran", "python", "pic", "static", "zlib")


def sample_records() -> list[dict[str, Any]]:
    """Return the records of the bundled sample as they are on its pages."""
    records: list[dict[str, Any]] = []
    for page in sorted(files("spackscope.sample_data").joinpath("develop").iterdir(), key=str):
        for line in page.joinpath("specs.md").read_text(encoding="utf-8").splitlines():
            if line.startswith("spec_details: "):
                records += json.loads(line.removeprefix("spec_details: "))
    return records


def build_pages(directory: Path, specs: int, *, per_package: int = 24) -> Path:
    """Write pages with this many specs below a directory; the same number gives the same bytes."""
    rng = random.Random(specs)
    sample = sample_records()
    for first in range(0, specs, per_package):
        name = f"{rng.choice(('py', 'lib', 'r', 'perl'))}-{first // per_package:05d}"
        records = []
        for record in rng.choices(sample, k=min(per_package, specs - first)):
            flags = [f"{rng.choice('+~')}{flag}" for flag in _FLAGS[: 1 + first % len(_FLAGS)]]
            hash_ = "".join(rng.choices(_ALPHABET, k=32))
            records.append({**record, "hash": hash_, "variants": [*record["variants"], *flags]})
        page = directory / "develop" / name / "specs.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(
            f'---\ntitle: "{name}"\nlayout: cache\ncategories: [package, develop]\n'
            f"spec_details: {json.dumps(records)}\n---",
            encoding="utf-8",
        )
    return directory

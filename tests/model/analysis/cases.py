"""Read what Spack answers on its two large indexes: `tests/data/spack/analysis`."""

from __future__ import annotations

import json
import lzma
from functools import lru_cache
from typing import Any

from tests.builders import SPACK_DATA


@lru_cache
def spack_answers(name: str) -> list[dict[str, Any]]:
    """Return the answers in a file, such as `diff_pairs`."""
    data = (SPACK_DATA / "analysis" / f"{name}.json.xz").read_bytes()
    answers: list[dict[str, Any]] = json.loads(lzma.decompress(data))
    return answers

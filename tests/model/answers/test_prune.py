from __future__ import annotations

import json

from tests.builders import record, write_page
from tests.program import Program


def test_the_largest_are_removed_first(program: Program) -> None:
    sizes = ["5 MB", "-", "7 MB", "1 MB", "12 MB"]
    write_page(program.home / "pages", [record(n, size=size) for n, size in enumerate(sizes)])
    removed = program("prune", "--preview", "--jsonl", "-f", "pages", "zlib").stdout.splitlines()
    assert [json.loads(line)["size"] for line in removed] == [
        *(size * 10**6 for size in (12, 7, 5, 1)),
        None,
    ]

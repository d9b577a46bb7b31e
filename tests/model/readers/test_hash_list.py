"""Lists of hashes are read line by line, and lines without one are reported."""

from __future__ import annotations

import gzip

import pytest

from spackscope.model.core.records import Problem
from spackscope.model.readers.formats import is_hash_list, read_hash_list
from tests.builders import hash_of

FIRST, SECOND = hash_of(1), hash_of(2)


def read(text: str) -> list[str]:
    return [str(item) for item in read_hash_list(text.encode(), origin="standard input")]


def test_hashes_are_read_as_spack_and_scripts_print_them() -> None:
    text = f"{FIRST}\n\n# kept\n/{SECOND} zlib\r\n  zlib@1.3/{hash_of(3)}\n{FIRST}\n"
    assert read(text) == [FIRST, SECOND, hash_of(3)]


def test_a_line_without_a_hash_is_named_and_the_others_are_used() -> None:
    assert read(f"{FIRST}\nzlib\n{SECOND[:7]}\n{SECOND}\n") == [
        FIRST,
        SECOND,
        "standard input: line 2: 'zlib' is not a full hash",
        f"standard input: line 3: '{SECOND[:7]}' is not a full hash",
    ]


def test_hostile_lines_are_short_problems() -> None:
    items = list(read_hash_list(b"\xff\x1b[31m" + b"x" * 10_000 + b"\n\0", origin="-"))
    assert all(isinstance(item, Problem) and len(item.reason) < 100 for item in items)
    assert len(items) == 2


@pytest.mark.parametrize("data", [b' {"_meta": 1}', b"---\n", gzip.compress(b"{}", mtime=0)])
def test_a_document_is_not_taken_for_a_list(data: bytes) -> None:
    assert not is_hash_list(data)
    assert is_hash_list(FIRST.encode())
    assert is_hash_list(b"")

"""Find the lines of keys in TOML, which parsers of TOML do not tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Path = tuple[str, ...]
"""The names that lead to a value, from the outermost table inwards."""

_TOKENS = (
    r'"""(?:\\.|[^\\])*?"{3,5}' + r"|'''.*?'{3,5}"
    r"""|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|[\[{]|[\]}]|\n"""
)
"""What decides where a statement ends: strings, comments, brackets and ends of lines."""


def key_lines(text: str, parse: Callable[[str], dict[str, Any]]) -> Mapping[Path, int]:
    """Return the line of each key and table of a text that `parse` takes as TOML, from 1.

    A table has the line of its head, or of its first key where it has none.
    """
    lines = dict[Path, int]()
    table: Path = ()
    for line, statement in _statements(text):
        parsed = parse(statement)
        paths = list(_paths(parsed))
        if statement.startswith("["):
            table = max(paths, key=len, default=())
        else:
            paths = [table + path for path in paths]
        for path in paths:
            lines.setdefault(path, line)
    return lines


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement with the line that it begins in."""
    start = depth = 0
    line = first_line = 1
    for token in re.finditer(_TOKENS, text + "\n", re.DOTALL):
        sign = token[0]
        line += sign.count("\n")
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(sign, 0)
        if sign == "\n" and not depth:
            statement = text[start : token.end()].strip()
            if statement and not statement.startswith("#"):
                yield first_line, statement
            start, first_line = token.end(), line


def _paths(value: object) -> Iterator[Path]:
    """Yield the paths to all keys in a mapping, and in the mappings that it contains."""
    while isinstance(value, list) and value and isinstance(value[0], dict):
        value = value[0]
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (name,)
            yield from ((name, *path) for path in _paths(inner))

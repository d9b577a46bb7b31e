"""Write manual pages in the language of man(7)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPECIAL = {
    "\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti",
    "’": r"\(cq", "–": r"\(en", "…": r"\&...",
}  # fmt: skip
"""Letters that roff would show as others, or take for a request."""

_WORD = re.compile(r"(--?[a-z][a-z-]*|[A-Z][A-Z-]+\b)")


def literal(text: str) -> str:
    """Return a text so that it is shown letter by letter."""
    text = "".join([_SPECIAL.get(letter, letter) for letter in text])
    return f"\\&{text}" if text.startswith(".") else text


def bold(text: str) -> str:
    """Return a text in bold."""
    return f"\\fB{literal(text)}\\fR"


def marked(text: str) -> str:
    """Return a sentence with what stands between backquotes in bold.

    >>> marked("as `--host` does")
    'as \\\\fB\\\\-\\\\-host\\\\fR does'
    """
    parts = text.split("`")
    return "".join(bold(part) if n % 2 else prose(part) for n, part in enumerate(parts))


def prose(text: str) -> str:
    """Return a part of a sentence; hyphens within words stay hyphens."""
    text = re.sub(r"(?<=[A-Za-z])-(?=[A-Za-z])", "\0", text)
    return literal(text).replace("\0", "-")


def synopsis(usage: str) -> str:
    """Return a form of a command line: names in bold, and what stands for something in italics."""
    name = re.match("[a-z ]*[a-z]", usage)
    end = name.end() if name else 0
    return bold(usage[:end]) + "".join(map(_synopsis_word, _WORD.split(usage[end:])))


def _synopsis_word(word: str) -> str:
    if not _WORD.fullmatch(word):
        return literal(word)
    return bold(word) if word.startswith("-") else f"\\fI{literal(word)}\\fR"


def entry(head: str, text: str) -> list[str]:
    """Return the lines of a definition, whose two parts are written already."""
    return [".TP", head, text]


def example(lines: Iterable[str]) -> list[str]:
    """Return lines that are shown as they are."""
    return [".PP", ".EX", *map(literal, lines), ".EE"]

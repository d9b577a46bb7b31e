"""Colour text for a terminal, with its own sixteen colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Colours:
    """Style texts, or return them unchanged where there is no colour.

    The texts are cleaned before; styling them does not change their width.
    """

    on: bool

    def bold(self, text: str) -> str:
        """Return a heading."""
        return self._styled(text, "1")

    def dim(self, text: str) -> str:
        """Return what most have, or what is said by the way."""
        return self._styled(text, "2")

    def differs(self, text: str) -> str:
        """Return a value that differs from others."""
        return self._styled(text, "33")

    def link(self, text: str) -> str:
        """Return a hash."""
        return self._styled(text, "36")

    def headings(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield lines of a report, those that are not indented as headings."""
        return (line if line.startswith(" ") else self.bold(line) for line in lines)

    def _styled(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text

"""Colour text for a terminal as the screen does, with its own sixteen colours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from spackscope.model.core.frozen import Frozen

_VARIANT = r"(?<!\S)(?:(?P<on>\+)|(?P<off>~)|(?P<value>[\w.-]+:?=))\S*"


class Colours(Frozen):
    """Style texts, or return them unchanged where there is no colour.

    The texts are cleaned before; styling them does not change their width.
    """

    on: bool

    def bold(self, text: str) -> str:
        """Return a heading."""
        return self._styled(text, "1")

    def dim(self, text: str) -> str:
        """Return a value that most have, or a remark."""
        return self._styled(text, "2")

    def differs(self, text: str) -> str:
        """Return a value that differs from others."""
        return self._styled(text, "33")

    def link(self, text: str) -> str:
        """Return a hash."""
        return self._styled(text, "36")

    def good(self, text: str) -> str:
        """Return a spec that is cached, installed or runs here."""
        return self._styled(text, "32")

    def virtual(self, text: str) -> str:
        """Return a virtual, or the kind of an edge."""
        return self._styled(text, "35")

    def error(self, text: str) -> str:
        """Return what went wrong."""
        return self._styled(text, "31")

    def variants(self, text: str, *, varying: bool = False) -> str:
        """Return variants: those that are on, those that are off, and values that vary."""

        def style(match: re.Match[str]) -> str:
            if match["on"]:
                return self.good(match[0])
            if match["off"]:
                return self.dim(match[0])
            return self.differs(match[0]) if varying else match[0]

        return re.sub(_VARIANT, style, text) if self.on else text

    def states(self, text: str) -> str:
        """Return the states of a spec, with what can be fetched as good."""
        return re.sub(r"\bcached\b", lambda match: self.good(match[0]), text)

    def headings(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield lines of a report, those that are not indented as headings."""
        return (line if line.startswith(" ") else self.bold(line) for line in lines)

    def _styled(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text

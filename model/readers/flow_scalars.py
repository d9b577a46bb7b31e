"""Scan the plain scalars of flow collections by the rules of YAML 1.2, as ruamel.yaml does.

In flow collections `:` is a part of a scalar unless a space follows: `[:1.2, 1.4:]`. The rules are
from `check_value`, `check_plain` and `scan_plain` of ruamel.yaml's scanner.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

_BLANK = "\0 \t\r\n\x85\u2028\u2029"
_PLAIN = re.compile(rf"(?::(?![{_BLANK}])|[^{_BLANK}:,\[\]{{}}])+")


class FlowScalarLoader(yaml.BaseLoader):
    """Parses YAML with a string as its stream."""

    def __init__(self, stream: str) -> None:
        self._brackets: list[str] = []
        self._values_end = 0
        super().__init__(stream)

    def fetch_flow_collection_start(self, token: Any) -> None:
        """Read the bracket that opens a flow collection."""
        self._brackets.append(self.peek())
        super().fetch_flow_collection_start(token)

    def fetch_flow_collection_end(self, token: Any) -> None:
        """Read the bracket that closes a flow collection."""
        del self._brackets[-1:]
        super().fetch_flow_collection_end(token)

    def fetch_value(self) -> None:
        """Read the colon after a key."""
        super().fetch_value()
        self._values_end = self._token_count

    @property
    def _token_count(self) -> int:
        return self.tokens_taken + len(self.tokens)

    def check_value(self) -> bool:
        """Check whether the colon at the current position separates a key from its value."""
        is_at_value = self._values_end == self._token_count
        return self.peek(1) in _BLANK or (self._brackets[-1:] == ["{"] and not is_at_value)

    def check_plain(self) -> bool:
        """Check whether a plain scalar begins at the current position."""
        is_colon = bool(self._brackets) and self.peek() == ":" and self.peek(1) not in " \t"
        return is_colon or bool(super().check_plain())

    def scan_plain(self) -> yaml.ScalarToken:
        """Read a plain scalar, which may have several lines."""
        if not self._brackets:
            return super().scan_plain()
        start = end = self.get_mark()
        words, spaces = list[str](), list[Any]()
        while self.peek() != "#" and (match := _PLAIN.match(self.buffer, self.pointer)):
            self.allow_simple_key = False
            words += [*spaces, match[0]]
            self.forward(len(match[0]))
            end = self.get_mark()
            if not (spaces := self.scan_plain_spaces(0, start) or []):
                break
        return yaml.ScalarToken("".join(words), True, start, end)

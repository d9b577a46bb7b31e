"""Parse JSON record by record, so that records before an error stay and memory is bounded."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import is_hash
from spackscope.model.core.tasks import collector_paused
from spackscope.model.readers import limits

_CONTAINERS = frozenset(
    {"database", "installs", "spec", "nodes", "roots", "concrete_specs", "include_concrete"}
)
"""Keys whose values hold records, or other containers."""
_INSTALLS = ("database", "installs")
_DATABASE = re.compile(r'[ \t\r\n]*\{[ \t\r\n]*"database"[ \t\r\n]*:[ \t\r\n]*\{')
_SPACE = re.compile(r"[ \t\r\n]*")

_FIRST_SLICE = 2**13
_SLICE_GROWTH = 2**5
# The longest token whose cut end looks like a mistake: a pair of \u escapes.
_MAX_TOKEN = 16


class Number(str):
    """A number as it is spelled: `1.10` may be a version, and long numbers cost nothing."""

    __slots__ = ()


class Parsed(NamedTuple):
    """The value of a document, and what is wrong with the document as a whole."""

    value: Any
    remarks: tuple[str, ...] = ()


KeepRecord = Callable[[str, Any], Any]
"""Called with the hash and the value of an install record; returns what to keep of it."""

StartInstalls = Callable[[], KeepRecord]

# Control characters in strings are allowed; they are made visible where they are shown.
_DECODER = json.JSONDecoder(
    parse_float=Number, parse_int=Number, parse_constant=Number, strict=False
)

# Python converts no more digits, whatever its environment says.
_MAX_DIGITS = 640


def _integer(text: str) -> int | Number:
    return int(text) if len(text) <= _MAX_DIGITS else Number(text)


AS_SPACK = json.JSONDecoder(parse_int=_integer, strict=False)
"""Decodes numbers as Spack does, so that they are written as Spack writes them."""


def parse(
    text: str,
    start_installs: StartInstalls | None = None,
    decoder: json.JSONDecoder = _DECODER,
    *,
    whole: bool = False,
) -> Parsed:
    """Parse a document; without another decoder its numbers stay as they are spelled.

    After a syntax error, the records before it are returned with a remark, unless the document has
    to be `whole`. Of a repeated key the
    last value counts, as in Spack; a remark says so where specs may be lost by it. What
    `start_installs` returns converts each record in the `installs` of a Spack database, so that a
    large one is never in memory as a whole; it is called at the beginning of the `installs`.

    Raises Unreadable if nothing can be read, and what `start_installs` and its result raise.
    """
    start = _skip_space(text, 0)
    if start == len(text):
        raise Unreadable("it is empty")
    is_database = start_installs is not None and _DATABASE.match(text) is not None
    if not is_database and (reason := too_many_values(text)):
        raise Unreadable(reason)
    parser = _Parser(text, start_installs, decoder, is_database=is_database)
    try:
        with collector_paused():
            end = parser.parse(start)
    except RecursionError:
        parser.require_records("it is nested too deeply")
        reason = f"The record at character {parser.at} is nested too deeply"
    except json.JSONDecodeError as error:
        parser.require_records(f"it is not JSON: {error.msg} at character {error.pos}")
        reason = f"File is not valid JSON at character {error.pos} ({error.msg})"
        if _is_cut(error, len(text)):
            reason = f"file is cut off at character {error.pos}"
    except Unreadable as error:
        parser.require_records(str(error))
        reason = str(error)
    else:
        end = _skip_space(text, end)
        ignored = (f"Data after the end of the document (character {end}) was ignored",)
        remarks = ignored if end < len(text) else ()
        return Parsed(parser.document, (*remarks, *parser.remarks))
    if whole:
        raise Unreadable(reason)
    remark = f"{reason}; the records before it were read"
    return Parsed(parser.document, (remark, *parser.remarks))


class _Parser:
    """Parse containers of records member by member; `document` grows on the way."""

    def __init__(
        self,
        text: str,
        start_installs: StartInstalls | None,
        decoder: json.JSONDecoder,
        *,
        is_database: bool,
    ) -> None:
        self._text = text
        self._start_installs = start_installs
        self._decoder = decoder
        self._is_database = is_database
        self._max_length = limits.MAX_RECORD_LENGTH if is_database else len(text)
        self._record_count = 0
        self.document: Any = None
        self.remarks: dict[str, None] = {}
        self.at = 0

    def parse(self, at: int) -> int:
        """Parse the document from an offset; return where it ends.

        Raises json.JSONDecodeError, RecursionError and Unreadable.
        """
        if self._text[at] in "{[":
            self.document = {} if self._text[at] == "{" else []
            return self._fill(self.document, at, ())
        self.document, at = self._decoder.raw_decode(self._text, at)
        return at

    def require_records(self, reason: str) -> None:
        """Raise Unreadable with the reason if no part of a known document was read."""
        if isinstance(self.document, list):
            is_known = any(isinstance(node, dict) and "hash" in node for node in self.document)
        else:
            is_known = isinstance(self.document, dict) and bool(_CONTAINERS & self.document.keys())
            if reason == "it is nested too deeply":
                is_known = is_known and self._record_count > 0
        if not is_known:
            raise Unreadable(reason) from None

    def _fill(self, members: dict[str, Any] | list[Any], at: int, path: tuple[str, ...]) -> int:
        """Parse the members of an object or array from its bracket on; return where it ends."""
        text = self._text
        closing = "}" if isinstance(members, dict) else "]"
        keep = None
        if path == _INSTALLS and closing == "}" and self._start_installs is not None:
            keep = self._start_installs()
        at = _skip_space(text, at + 1)
        if text.startswith(closing, at):
            return at + 1
        while True:
            key = ""
            if closing == "}":
                key, at = self._key(at)
            if keep is None and key in _CONTAINERS and text.startswith(("{", "["), at):
                inner: Any = {} if text[at] == "{" else []
                self._attach(members, key, inner)
                at = self._fill(inner, at, (*path, key))
            else:
                at = self._member(members, key, at, keep)
            at = _skip_space(text, at)
            if text.startswith(closing, at):
                return at + 1
            if not text.startswith(",", at):
                raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
            at = _skip_space(text, at + 1)

    def _key(self, at: int) -> tuple[str, int]:
        """Parse the key at an offset; return it and the offset of its value."""
        text = self._text
        if not text.startswith('"', at):
            message = "Expecting property name enclosed in double quotes"
            raise json.JSONDecodeError(message, text, at)
        key, at = self._decoder.raw_decode(text, at)
        at = _skip_space(text, at)
        if not text.startswith(":", at):
            raise json.JSONDecodeError("Expecting ':' delimiter", text, at)
        return key, _skip_space(text, at + 1)

    def _member(
        self, members: dict[str, Any] | list[Any], key: str, at: int, keep: KeepRecord | None
    ) -> int:
        """Parse one value and add it to its container; return where it ends."""
        self.at = at
        value, end = decode_at(self._decoder, self._text, at, self._max_length)
        if keep is not None:
            value = keep(key, value)
        elif self._is_database and isinstance(value, dict | list):
            # Only records and scalars of a database are used, and many others need much memory.
            value = type(value)()
        # Digits may be missing of a number at the end of the text.
        if type(value) is not Number or _skip_space(self._text, end) < len(self._text):
            self._attach(members, key, value)
        self._record_count += 1
        if self._record_count > limits.MAX_RECORDS:
            raise Unreadable(limits.TOO_MANY_RECORDS)
        return end

    def _attach(self, members: dict[str, Any] | list[Any], key: str, value: Any) -> None:
        if isinstance(members, list):
            members.append(value)
            return
        if key in members and (key in _CONTAINERS or is_hash(key)):
            remark = f'"{key}" is given twice; the last one counts'
            if len(self.remarks) >= limits.MAX_PROBLEMS:
                remark = "more keys are given twice, which are not listed"
            self.remarks[remark] = None
        members[key] = value


def too_many_values(text: str) -> str:
    """Return why a text is not parsed as a whole, or an empty string if it may be.

    Each value but the first follows a bracket, a brace or a comma. Counting these takes a
    hundredth of the time of parsing, and never yields too small a number.
    """
    if len(text) <= limits.MAX_VALUES:
        return ""
    count = text.count("[") + text.count("{") + text.count(",")
    return f"it has {count:,} values; at most {limits.MAX_VALUES:,} are read" * (
        count > limits.MAX_VALUES
    )


def decode_at(
    decoder: json.JSONDecoder, text: str, at: int, max_length: int = limits.MAX_RECORD_LENGTH
) -> tuple[Any, int]:
    """Parse the value at an offset as `raw_decode` does; return it and the offset of its end.

    Looks at slices of growing length, so that a value takes time and memory of its own size.
    Raises json.JSONDecodeError, RecursionError, and Unreadable for a value of more than
    `max_length` characters.
    """
    size = _FIRST_SLICE
    while size < len(text) - at:
        try:
            value, end = decoder.raw_decode(text[at : at + size])
        except json.JSONDecodeError as error:
            if not _is_cut(error, size):
                raise json.JSONDecodeError(error.msg, text, at + error.pos) from None
        else:
            # A number that is cut is another number.
            if end < size:
                return value, at + end
        if size >= max_length:
            raise Unreadable(
                f"The record at character {at} has more than {max_length:,} characters"
            )
        size = min(size * _SLICE_GROWTH, max_length)
    return decoder.raw_decode(text, at)


def _is_cut(error: json.JSONDecodeError, length: int) -> bool:
    """Check whether an error may come from a text that ends at this length."""
    return error.pos >= length - _MAX_TOKEN or error.msg.startswith("Unterminated")


def _skip_space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]

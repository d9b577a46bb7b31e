"""Parse JSON record by record, so that records before an error stay, and check its values.

A document is never trusted: its sizes have limits, and an unexpected value becomes a sentence, the
reason of a `Problem`.

The largest index of Spack's public build cache has some 60,000 specs. With 20 dependencies each
they are 206 MB of JSON with 14 million values, packed by gzip to 20 MB. The limits together keep
the memory for any one document below about 2.5 GB.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeGuard

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import Problem, is_hash
from spackscope.model.core.tasks import collector_paused
from spackscope.model.core.text import counted

MAX_VALUES = 10_000_000
"""The most values of JSON that are in memory at once."""

MAX_RECORDS = 2_000_000
"""The most records of a document, counted with their different dependencies and variants."""


class TooManyRecords(Unreadable):
    """A document has more records than are read; the records before may be used."""


MAX_PROBLEMS = 10_000
"""The most problems of a document that are listed; further ones are only counted."""

_RECORDS = ("installs", "concrete_specs")
_CONTAINERS = {"database", "spec", "nodes", "include_concrete", *_RECORDS}
"""Keys whose values hold records, or other containers; so do the values in `include_concrete`."""
_INCLUDED = "include_concrete"
_SPACE = re.compile(r"[ \t\r\n]*")

_SLICES = (2**13, 2**18, 2**23)
"""Lengths of the slices that are parsed, one after the other, until one holds the whole record; a
record with 10,000 dependencies has 2 million characters."""
# The longest token whose cut end looks like a mistake: a pair of \u escapes.
_MAX_TOKEN = 16

# Python converts no more digits, whatever its environment says.
_MAX_DIGITS = 640


class Number(str):
    """A number as its text: `1.10` may be a version, and long numbers take no time."""

    __slots__ = ()


# Control characters in strings are allowed; they are made visible where they are shown.
AS_SPELLED = json.JSONDecoder(
    parse_float=Number, parse_int=Number, parse_constant=Number, strict=False
)
"""Decodes numbers as their texts."""

AS_SPACK = json.JSONDecoder(
    parse_int=lambda text: int(text) if len(text) <= _MAX_DIGITS else Number(text), strict=False
)
"""Decodes numbers as Spack does, except those with too many digits."""

Keep = Callable[[str, Any], None]
"""Called with the key of a record and the record itself, as soon as it is parsed."""


def parse(
    text: str,
    keep: Mapping[str, Keep] | None = None,
    decoder: json.JSONDecoder = AS_SPELLED,
    *,
    whole: bool = False,
) -> tuple[Any, list[str]]:
    """Parse a document; return its value, and the problems of the document itself.

    After an error, the records before it are returned with a remark, unless the document has to
    be `whole`. The last value of a repeated key counts, as in Spack; a remark says so if specs may
    be lost. Records below a key of `keep` are passed to its function and not returned, so that a
    large document is never in memory as a whole; the keys `[` and `{` stand for the document.

    Raises Unreadable if no record can be read, and the exceptions of `keep`.
    """
    start = _skip_space(text, 0)
    if start == len(text):
        raise Unreadable("it is empty")
    parser = _Parser(text, keep or {}, decoder)
    try:
        with collector_paused():
            end = _skip_space(text, parser.parse(start))
    except RecursionError:
        reason = f"it is nested too deeply at character {parser.at}"
    except json.JSONDecodeError as error:
        reason = f"it is not JSON: {error.msg} at character {error.pos}"
        if error.pos > start and _is_cut(error, len(text)):
            reason = f"file is cut off at character {error.pos}"
    except Unreadable as error:
        reason = str(error)
    else:
        remark = f"Data after the end of the document (character {end}) was ignored"
        return parser.document, [*([remark] if end < len(text) else ()), *parser.remarks()]
    if whole or not parser.record_count:
        raise Unreadable(reason)
    return parser.document, [f"{reason}; the records before it were read", *parser.remarks()]


class _Parser:
    """Parses containers of records member by member; `document` grows on the way."""

    def __init__(self, text: str, keep: Mapping[str, Keep], decoder: json.JSONDecoder) -> None:
        self._text, self._keep, self._decoder = text, keep, decoder
        self.record_count = self.at = 0
        self.document: Any = None
        self._repeated: list[str] = []

    @cached_property
    def _too_many(self) -> str:
        """The reason why no values are kept; empty if they may be. Most indexes never ask."""
        return too_many_values(self._text)

    def parse(self, at: int) -> int:
        """Parse the document from an offset; return the offset of its end.

        Raises json.JSONDecodeError, RecursionError and Unreadable.
        """
        if self._text[at] in "{[":
            self.document = {} if self._text[at] == "{" else []
            return self._fill(self.document, self._text[at], at)
        self.document, end = decode_at(self._decoder, self._text, at)
        return end

    def remarks(self) -> list[str]:
        """Return a remark on repeated keys, if there are any."""
        if not self._repeated:
            return []
        more = len(self._repeated) - 1
        others = f" and {counted(more, 'more key')} are" if more else " is"
        return [f'"{self._repeated[0]}"{others} given twice']

    def _fill(self, members: dict[str, Any] | list[Any], name: str, at: int) -> int:
        """Parse a container, from its bracket at an offset on, into `members`; return its end."""
        text, key, keep = self._text, "", self._keep.get(name)
        closing = "}" if isinstance(members, dict) else "]"
        has_records = keep is not None or closing == "]" or name in _RECORDS
        at, is_first = _skip_space(text, at + 1), True
        while not text.startswith(closing, at):
            at, is_first = at if is_first else self._skip(",", at), False
            if closing == "}":
                if not text.startswith('"', at):
                    message = "Expecting property name enclosed in double quotes"
                    raise json.JSONDecodeError(message, text, at)
                key, at = self._decoder.raw_decode(text, at)
                at = self._skip(":", _skip_space(text, at))
            self.at = at
            is_container = keep is None and (key in _CONTAINERS or name == _INCLUDED)
            if is_container and text.startswith(("{", "["), at):
                value: Any = {} if text[at] == "{" else []
                self._attach(members, key, value)
                at = self._fill(value, key, at)
            else:
                # The functions of `keep` have limits of their own.
                if keep is None and key != "version" and self._too_many:
                    raise Unreadable(self._too_many)
                value, at = decode_at(self._decoder, text, at)
                if keep is not None:
                    keep(key, value)
                else:
                    self._attach(members, key, value)
                self.record_count += has_records
            at = _skip_space(text, at)
        return at + 1

    def _skip(self, delimiter: str, at: int) -> int:
        """Return the offset after a required delimiter."""
        if not self._text.startswith(delimiter, at):
            raise json.JSONDecodeError(f"Expecting '{delimiter}' delimiter", self._text, at)
        return _skip_space(self._text, at + 1)

    def _attach(self, members: dict[str, Any] | list[Any], key: str, value: Any) -> None:
        if isinstance(members, list):
            members.append(value)
            return
        if key in members and (key in _CONTAINERS or is_hash(key)):
            self._repeated.append(key)
        members[key] = value


def too_many_values(text: str, most: int = MAX_VALUES) -> str:
    """Return the reason why a text is not parsed as a whole; empty if it may be parsed.

    Each value but the first follows a bracket, a brace or a comma. Counting these characters takes
    a hundredth of the time of parsing, and never gives too small a number of values.
    """
    count = text.count("[") + text.count("{") + text.count(",") if len(text) > most else 0
    return f"it has {count:,} values; at most {most:,} are read" if count > most else ""


def decode_at(decoder: json.JSONDecoder, text: str, at: int) -> tuple[Any, int]:
    """Parse the value at an offset as `raw_decode` does; return it and the offset of its end.

    Parses slices of growing length, so that the memory depends on the length of the value. Raises
    json.JSONDecodeError, RecursionError, and Unreadable for a value over the largest slice.
    """
    for size in _SLICES:
        is_all = at + size >= len(text)
        try:
            value, end = decoder.raw_decode(text[at : at + size])
        except json.JSONDecodeError as error:
            if is_all or not _is_cut(error, size):
                raise json.JSONDecodeError(error.msg, text, at + error.pos) from None
        else:
            # A number that is cut is another number.
            if is_all or end < size:
                return value, at + end
    raise Unreadable(f"the record at character {at} has more than {_SLICES[-1]:,} characters")


def _is_cut(error: json.JSONDecodeError, length: int) -> bool:
    """Check whether an error may come from a text that ends at this length."""
    return error.pos >= length - _MAX_TOKEN or error.msg.startswith("Unterminated")


def _skip_space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


# The values of a record.

A_HASH = "32 characters of a-z2-7"
"""The expected form of a hash, in problems."""

Texts = tuple[str, ...]

_NUMBERS = (Number, int, float)


def is_number(value: object) -> TypeGuard[Number | int | float]:
    """Check whether a value is a number, of either decoder."""
    return type(value) in _NUMBERS


def member(value: object, key: str) -> Any:
    """Return the value of a key in an object; None without it, and if `value` is no object."""
    return value.get(key) if isinstance(value, dict) else None


def storable(text: str) -> str:
    """Replace lone surrogates by `?`, as files, indexes and terminals do not accept them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def shown_value(value: object) -> str:
    """Return a short form of a string or number, or the type of another value."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if is_number(value):
        return str(value)[:40]
    if isinstance(value, str):
        return repr(value)[:60]
    return "a list" if isinstance(value, list) else "an object"


def wrong_value(name: str, value: object, expected: str) -> str:
    """Return a reason: a field is missing, or has another value than expected."""
    if value is None or value == "":
        return f"{name} is missing"
    return f"{name} is {shown_value(value)}, expected {expected}"


class FieldReader:
    """Reads the fields of one record after the other, and collects their problems.

    `place` names the current record. Problems beyond MAX_PROBLEMS are only counted.
    """

    def __init__(self, origin: str) -> None:
        self.place = ""
        self._origin = origin
        self._problems: list[Problem] = []
        self.problem_count = 0

    def add_problem(
        self, reason: str, place: str | None = None, *, is_unread: bool = False
    ) -> None:
        """Report a problem of a place, or else of the current record."""
        place = self.place if place is None else place
        self.problem_count += 1
        if self.problem_count <= MAX_PROBLEMS:
            problem = Problem(self._origin, storable(place), storable(reason), is_unread)
            self._problems.append(problem)

    def add_wrong(self, name: str, value: object, expected: str) -> None:
        """Report that a field is missing, or has another value than expected."""
        self.add_problem(wrong_value(name, value, expected))

    def problems(self) -> Iterator[Problem]:
        """Yield all listed problems, and one with the number of further problems."""
        yield from self._problems
        if (count := self.problem_count - MAX_PROBLEMS) > 0:
            are = "is" if count == 1 else "are"
            yield Problem(self._origin, "", f"{counted(count, 'more problem')} {are} not listed")

    def string(self, name: str, value: object) -> str:
        """Return a required string. Other values are reported: digits for a number, else ""."""
        if type(value) is str and value:
            return sys.intern(value if value.isascii() else storable(value))
        self.add_wrong(name, value, "a string")
        return sys.intern(str(value)) if is_number(value) else ""

    def mapping(self, name: str, value: object) -> Mapping[str, Any]:
        """Return an object; an empty one for another value, which is reported."""
        if type(value) is dict:
            return value
        self.add_wrong(name, value, "an object")
        return {}

    def strings(self, name: str, value: object) -> Texts:
        """Return the strings in a list; other items, and another value, are reported."""
        if type(value) is not list:
            self.add_wrong(name, value, "a list")
            return ()
        texts = [item for item in value if type(item) is str]
        strings = tuple([sys.intern(t if t.isascii() else storable(t)) for t in texts])
        if len(strings) < len(value):
            other = next(item for item in value if type(item) is not str)
            self.add_problem(f"{name} contains {shown_value(other)}, expected strings")
        return strings

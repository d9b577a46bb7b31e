"""Parse JSON record by record, so that records before an error stay, and check its values.

A document is never trusted: its sizes have limits, and what a value is instead of what was
expected becomes a sentence, the reason of a `Problem`.

The largest index of Spack's public build cache has some 60,000 specs. With 20 dependencies each
they are 206 MB of JSON with 14 million values, of which gzip makes 20 MB. Together the limits
keep what any one document takes below about 2.5 GB.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeGuard

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import Problem, is_hash
from spackscope.model.core.tasks import collector_paused
from spackscope.model.core.text import counted

MAX_VALUES = 10_000_000
"""Values of JSON that are in memory at once: of a database no more than a record is."""

MAX_RECORD_LENGTH = 2**23
"""Characters of a record in a database; one with 10,000 dependencies has 2 million."""

MAX_RECORDS = 2_000_000
"""Records of a document, with the different dependencies and variants that they have."""

TOO_MANY_RECORDS = f"it has more than {MAX_RECORDS:,} records, dependencies and variants"

MAX_PROBLEMS = 10_000
"""Problems of a document that are listed; the others are counted."""

_CONTAINERS = frozenset(
    {"database", "installs", "spec", "nodes", "roots", "concrete_specs", "include_concrete"}
)
"""Keys whose values hold records, or other containers."""
_INSTALLS = ("database", "installs")
_DATABASE = re.compile(r'[ \t\r\n]*\{[ \t\r\n]*"database"[ \t\r\n]*:[ \t\r\n]*\{')
_SPACE = re.compile(r"[ \t\r\n]*")

_SLICES = (2**13, 2**18)
"""Characters of a record that are looked at first; few have more."""
# The longest token whose cut end looks like a mistake: a pair of \u escapes.
_MAX_TOKEN = 16
_TOO_DEEP = "is nested too deeply"

# Python converts no more digits, whatever its environment says.
_MAX_DIGITS = 640


class Number(str):
    """A number as it is spelled: `1.10` may be a version, and long numbers cost nothing."""

    __slots__ = ()


# Control characters in strings are allowed; they are made visible where they are shown.
AS_SPELLED = json.JSONDecoder(
    parse_float=Number, parse_int=Number, parse_constant=Number, strict=False
)
"""Decodes numbers as they are spelled."""

AS_SPACK = json.JSONDecoder(
    parse_int=lambda text: int(text) if len(text) <= _MAX_DIGITS else Number(text), strict=False
)
"""Decodes numbers as Spack does, so that they are written as Spack writes them."""


class Parsed(NamedTuple):
    """The value of a document, and what is wrong with the document as a whole."""

    value: Any
    remarks: tuple[str, ...] = ()


KeepRecord = Callable[[str, Any], Any]
"""Called with the hash and the value of an install record; returns what to keep of it."""


def parse(
    text: str,
    start_installs: Callable[[], KeepRecord] | None = None,
    decoder: json.JSONDecoder = AS_SPELLED,
    *,
    whole: bool = False,
) -> Parsed:
    """Parse a document; without another decoder its numbers stay as they are spelled.

    After a syntax error, the records before it are returned with a remark, unless the document has
    to be `whole`. Of a repeated key the last value counts, as in Spack; a remark says so where
    specs may be lost by it. What `start_installs` returns converts each record in the `installs`
    of a Spack database, so that a large one is never in memory as a whole; it is called at the
    beginning of the `installs`.

    Raises Unreadable if nothing can be read, and what `start_installs` and its result raise.
    """
    start = _skip_space(text, 0)
    if start == len(text):
        raise Unreadable("it is empty")
    parser = _Parser(text, decoder, start_installs)
    if not parser.is_database and (reason := too_many_values(text)):
        raise Unreadable(reason)
    try:
        with collector_paused():
            end = _skip_space(text, parser.parse(start))
    except RecursionError:
        reason = f"it {_TOO_DEEP}"
        remark = f"The record at character {parser.at} {_TOO_DEEP}"
    except json.JSONDecodeError as error:
        reason = f"it is not JSON: {error.msg} at character {error.pos}"
        remark = f"File is not valid JSON at character {error.pos} ({error.msg})"
        if _is_cut(error, len(text)):
            remark = f"file is cut off at character {error.pos}"
    except Unreadable as error:
        reason = remark = str(error)
    else:
        remark = f"Data after the end of the document (character {end}) was ignored"
        remarks = [remark] if end < len(text) else []
        return Parsed(parser.document, (*remarks, *parser.remarks))
    part = parser.document
    if isinstance(part, list):
        has_records = any(isinstance(node, dict) and "hash" in node for node in part)
    else:
        has_records = isinstance(part, dict) and bool(_CONTAINERS & part.keys())
        has_records &= parser.record_count > 0 or not reason.endswith(_TOO_DEEP)
    if not has_records:
        raise Unreadable(reason)
    if whole:
        raise Unreadable(remark)
    remark = f"{remark}; the records before it were read"
    return Parsed(part, (remark, *parser.remarks))


class _Parser:
    """Parses containers of records member by member; `document` grows on the way."""

    def __init__(
        self,
        text: str,
        decoder: json.JSONDecoder,
        start_installs: Callable[[], KeepRecord] | None,
    ) -> None:
        self._text, self._decoder, self._start_installs = text, decoder, start_installs
        self.is_database = start_installs is not None and _DATABASE.match(text) is not None
        self.record_count = self.at = 0
        self.document: Any = None
        self.remarks: dict[str, None] = {}

    def parse(self, at: int) -> int:
        """Parse the document from an offset; return where it ends.

        Raises json.JSONDecodeError, RecursionError and Unreadable.
        """
        if self._text[at] in "{[":
            self.document = {} if self._text[at] == "{" else []
            return self._fill(self.document, at, ())
        self.document, end = self._decoder.raw_decode(self._text, at)
        return end

    def _fill(self, members: dict[str, Any] | list[Any], at: int, path: tuple[str, ...]) -> int:
        """Parse the members of an object or array from its bracket on; return where it ends."""
        text, key, keep = self._text, "", None
        max_length = MAX_RECORD_LENGTH if self.is_database else len(text)
        closing = "}" if isinstance(members, dict) else "]"
        if path == _INSTALLS and closing == "}" and self._start_installs is not None:
            keep = self._start_installs()
        at = _skip_space(text, at + 1)
        is_first = True
        while not text.startswith(closing, at):
            at = at if is_first else self._skip(",", at)
            is_first = False
            if closing == "}":
                if not text.startswith('"', at):
                    message = "Expecting property name enclosed in double quotes"
                    raise json.JSONDecodeError(message, text, at)
                key, at = self._decoder.raw_decode(text, at)
                at = self._skip(":", _skip_space(text, at))
            if keep is None and key in _CONTAINERS and text.startswith(("{", "["), at):
                inner: Any = {} if text[at] == "{" else []
                self._attach(members, key, inner)
                at = self._fill(inner, at, (*path, key))
            else:
                self.at = at
                value, at = decode_at(self._decoder, text, at, max_length)
                if keep is not None:
                    value = keep(key, value)
                elif self.is_database and isinstance(value, dict | list):
                    # Only records and scalars of a database are used, and others need much memory.
                    value = type(value)()
                # Digits may be missing of a number at the end of the text.
                if type(value) is not Number or _skip_space(text, at) < len(text):
                    self._attach(members, key, value)
                self.record_count += 1
                if self.record_count > MAX_RECORDS:
                    raise Unreadable(TOO_MANY_RECORDS)
            at = _skip_space(text, at)
        return at + 1

    def _skip(self, delimiter: str, at: int) -> int:
        """Return the offset of what follows a delimiter, which has to be there."""
        if not self._text.startswith(delimiter, at):
            raise json.JSONDecodeError(f"Expecting '{delimiter}' delimiter", self._text, at)
        return _skip_space(self._text, at + 1)

    def _attach(self, members: dict[str, Any] | list[Any], key: str, value: Any) -> None:
        if isinstance(members, list):
            members.append(value)
            return
        if key in members and (key in _CONTAINERS or is_hash(key)):
            remark = f'"{key}" is given twice; the last one counts'
            if len(self.remarks) >= MAX_PROBLEMS:
                remark = "more keys are given twice, which are not listed"
            self.remarks[remark] = None
        members[key] = value


def too_many_values(text: str) -> str:
    """Return why a text is not parsed as a whole, or an empty string if it may be.

    Each value but the first follows a bracket, a brace or a comma. Counting these takes a
    hundredth of the time of parsing, and never yields too small a number.
    """
    if len(text) <= MAX_VALUES:
        return ""
    count = text.count("[") + text.count("{") + text.count(",")
    too_many = f"it has {count:,} values; at most {MAX_VALUES:,} are read"
    return too_many if count > MAX_VALUES else ""


def decode_at(
    decoder: json.JSONDecoder, text: str, at: int, max_length: int = MAX_RECORD_LENGTH
) -> tuple[Any, int]:
    """Parse the value at an offset as `raw_decode` does; return it and the offset of its end.

    Looks at slices of growing length, so that a value takes time and memory of its own size.
    Raises json.JSONDecodeError, RecursionError, and Unreadable for a value of more than
    `max_length` characters.
    """
    for size in (*(size for size in _SLICES if size < max_length), max_length):
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
    raise Unreadable(f"The record at character {at} has more than {max_length:,} characters")


def _is_cut(error: json.JSONDecodeError, length: int) -> bool:
    """Check whether an error may come from a text that ends at this length."""
    return error.pos >= length - _MAX_TOKEN or error.msg.startswith("Unterminated")


def _skip_space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


# The values of a record.

AS_UNDERSTOOD = "the records are read as far as they are understood"
"""What happens to a document of an unknown version."""

Texts = tuple[str, ...]

_NUMBERS = (Number, int, float)


def is_number(value: object) -> TypeGuard[Number | int | float]:
    """Check whether a value is a number, of either decoder."""
    return type(value) in _NUMBERS


def storable(text: str) -> str:
    """Replace lone surrogates, which no file, no index and no terminal accepts."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def kind(value: object) -> str:
    """Name the type of a JSON value, for a sentence on what is expected instead."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if is_number(value):
        return "a number"
    names: dict[type, str] = {str: "a string", list: "a list"}
    return names.get(type(value), "an object")


def mismatch(name: str, value: object, expected: str) -> str:
    """Return the sentence that a field is missing, or of another type than expected."""
    if value is None or value == "":
        return f"{name} is missing"
    return f"{name} is {kind(value)}, expected {expected}"


def wrong_value(name: str, value: object, expected: str) -> str:
    """Return the same sentence, but with the value itself if it is a string or a number."""
    if value is None or value == "":
        return f"{name} is missing"
    return f"{name} is {shown_value(value)}, expected {expected}"


def shown_value(value: object) -> str:
    """Return a short form of a string or number, or the type of another value."""
    if is_number(value):
        return str(value)[:40]
    return repr(value)[:60] if type(value) is str else kind(value)


def unknown_version(name: str, value: object, expected: str) -> str:
    """Return the sentence that a format is not one of those known."""
    return storable(f"{wrong_value(name, value, expected)}; {AS_UNDERSTOOD}")


class FieldReader:
    """Reads the fields of one record after the other, and collects their problems.

    `place` names the record that is being read. Problems beyond MAX_PROBLEMS are only counted.
    """

    def __init__(self, origin: str) -> None:
        self.place = ""
        self._origin = origin
        self._problems: list[Problem] = []
        self._problem_count = 0

    def add_problem(self, reason: str) -> None:
        """Report a problem of the current record."""
        self._problem_count += 1
        if self._problem_count <= MAX_PROBLEMS:
            self._problems.append(Problem(self._origin, storable(self.place), storable(reason)))

    def add_problem_at(self, place: str, reason: str) -> None:
        """Report a problem of another place than the current record."""
        self.place = place
        self.add_problem(reason)

    def add_wrong_hash(self, name: str, value: object) -> None:
        """Report that a hash is not one."""
        self.add_problem(wrong_value(name, value, "32 characters of a-z2-7"))

    def problems(self) -> Iterator[Problem]:
        """Yield all problems, and one with the number of those that are not listed."""
        yield from self._problems
        if (count := self._problem_count - MAX_PROBLEMS) > 0:
            are = "is" if count == 1 else "are"
            yield Problem(self._origin, "", f"{counted(count, 'more problem')} {are} not listed")

    def string(self, name: str, value: object) -> str:
        """Return a string that every record has; of a number its digits, of all else nothing."""
        if type(value) is str and value:
            return sys.intern(value if value.isascii() else storable(value))
        self.add_problem(mismatch(name, value, "a string"))
        return sys.intern(str(value)) if is_number(value) else ""

    def strings(self, name: str, value: object) -> Texts:
        """Return the strings of a list."""
        if type(value) is not list:
            self.add_problem(mismatch(name, value, "a list"))
            return ()
        texts = [item for item in value if type(item) is str]
        strings = tuple([sys.intern(t if t.isascii() else storable(t)) for t in texts])
        if len(strings) < len(value):
            other = next(item for item in value if type(item) is not str)
            self.add_problem(f"{name} contains {kind(other)}, expected strings")
        return strings

"""Check the fields of records, and collect the problems of a document."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from spackscope.model.core.records import Problem
from spackscope.model.core.text import counted
from spackscope.model.readers.json import Number
from spackscope.model.readers.limits import MAX_PROBLEMS

AS_UNDERSTOOD = "the records are read as far as they are understood"
"""What happens to a document of an unknown version."""

Texts = tuple[str, ...]

_KINDS: dict[type, str] = {Number: "a number", str: "a string", list: "a list"}


def storable(text: str) -> str:
    """Replace lone surrogates, which no file, no index and no terminal accepts."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def kind(value: object) -> str:
    """Name the type of a JSON value, for a sentence on what is expected instead."""
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else _KINDS.get(type(value), "an object")


def mismatch(name: str, value: object, expected: str) -> str:
    """Return the sentence that a field is missing, or of another type than expected."""
    if value is None or value == "":
        return f"{name} is missing"
    return f"{name} is {kind(value)}, expected {expected}"


def wrong_value(name: str, value: object, expected: str) -> str:
    """Return the same sentence, but with the value itself if it is a string or a number."""
    if type(value) is Number or (type(value) is str and value):
        return f"{name} is {shown_value(value)}, expected {expected}"
    return mismatch(name, value, expected)


def shown_value(value: object) -> str:
    """Return a short form of a string or number, or the type of another value."""
    if type(value) is Number:
        return value[:40]
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

    @property
    def has_problems(self) -> bool:
        """Whether there is a problem so far."""
        return self._problem_count > 0

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
        return sys.intern(str(value)) if type(value) is Number else ""

    def optional_string(self, name: str, value: object) -> str:
        """Return a string that records may lack."""
        return "" if value is None else self.string(name, value)

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

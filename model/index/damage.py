"""Report whatever cannot be read in an index as IndexDamaged.

Tables, codes and texts that the writer does not write raise `DAMAGE` where they are used. Values
are checked by the functions below where they would raise something else, or nothing.
"""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from types import FunctionType
from typing import Any, TypeVar

from spackscope.model.core.errors import IndexDamaged, QueryError, Unanswerable
from spackscope.model.core.records import is_hash

_GENERATOR = 0x20
"""The flag of the code of a generator function, as `inspect.CO_GENERATOR`."""

_Class = TypeVar("_Class")
_Function = TypeVar("_Function", bound=Callable[..., Any])

_DAMAGE = (sqlite3.Error, LookupError, ValueError, OverflowError, RecursionError)


def reads_index(function: _Function) -> _Function:
    """Decorate a function or generator to raise IndexDamaged for what it cannot read."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (Unanswerable, QueryError):
            raise
        except _DAMAGE as error:
            raise IndexDamaged(str(error)) from error

    @functools.wraps(function)
    def generate(*args: Any, **kwargs: Any) -> Iterator[Any]:
        try:
            yield from function(*args, **kwargs)
        except (Unanswerable, QueryError):
            raise
        except _DAMAGE as error:
            raise IndexDamaged(str(error)) from error

    # A context manager for both would take longer than many of the functions.
    return generate if function.__code__.co_flags & _GENERATOR else call  # type: ignore[return-value]


def class_reading_index(class_: type[_Class]) -> type[_Class]:
    """Apply `reads_index` to the public methods and properties of a class."""
    for name, member in list(vars(class_).items()):
        if name.startswith("_") and name != "__init__":
            continue
        guarded: Any
        if isinstance(member, functools.cached_property):
            guarded = functools.cached_property(reads_index(member.func))
            guarded.__set_name__(class_, name)
        elif isinstance(member, property):
            assert member.fget is not None
            guarded = property(reads_index(member.fget))
        elif isinstance(member, FunctionType):
            guarded = reads_index(member)
        else:
            continue
        setattr(class_, name, guarded)
    return class_


# A column of SQLite may hold values of any type, whatever its declared type.


def text(value: object) -> str:
    """Return a value of a text column."""
    if not isinstance(value, str):
        raise IndexDamaged(f"a text is a {type(value).__name__}")
    return value


def texts(value: object) -> tuple[str, ...]:
    """Return the texts of a column with a JSON array."""
    array = json.loads(text(value))
    if not isinstance(array, list):
        raise IndexDamaged("a list of texts is not a list")
    return tuple(map(text, array))


def texts_of_all(values: Sequence[object]) -> list[tuple[str, ...]]:
    """Return the texts of all values of a column with JSON arrays, in one go."""
    arrays = json.loads(f"[{','.join(map(text, values))}]")
    if len(arrays) != len(values) or not {*map(type, arrays)} <= {list}:
        raise IndexDamaged("a list of texts is not a list")
    if not {*map(type, chain.from_iterable(arrays))} <= {str}:
        raise IndexDamaged("a text is not a text")
    return list(map(tuple, arrays))


def natural(value: object, most: int = (1 << 63) - 1) -> int:
    """Return a value of a column with ids or counts."""
    if not isinstance(value, int) or not 0 <= value <= most:
        raise IndexDamaged(f"an id or count is {value!r:.20}")
    return value


def naturals(values: Sequence[object], most: int = (1 << 63) - 1) -> Sequence[int]:
    """Return the values of a column with ids or counts, checked in one go."""
    if not {*map(type, values)} <= {int} or (
        values and not 0 <= min(values) <= max(values) <= most  # type: ignore[type-var,operator]
    ):
        raise IndexDamaged("an id or count is damaged")
    return values  # type: ignore[return-value]


def number(value: object) -> float | None:
    """Return a value of a column with numbers, None where it is empty."""
    if value is not None and not (isinstance(value, int | float) and abs(value) < 1e300):
        raise IndexDamaged(f"a number is {value!r:.20}")
    return value


def checked_hash(value: object) -> str:
    """Return a value of a column with hashes."""
    if not is_hash(value):
        raise IndexDamaged(f"a hash is {value!r:.40}")
    return value

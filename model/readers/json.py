"""Parse the JSON of Spack's files, telling what is wrong with it and keeping what is not."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from spackscope.model.core.errors import FrontMatterError, Unreadable
from spackscope.model.core.records import Problem, is_hash
from spackscope.model.readers import front_matter
from spackscope.model.readers.bounded_json import too_many_values
from spackscope.model.readers.limits import MAX_PROBLEMS

_CONTAINERS = frozenset(
    {"database", "installs", "spec", "nodes", "roots", "concrete_specs", "include_concrete"}
)
_DEEPEST_CONTAINER = 6
_SPACE = re.compile(r"[ \t\r\n]*")


class Number(str):
    """Keep a number as it is spelled: `1.10` may be a version, and long ones cost nothing."""

    __slots__ = ()


class Parsed(NamedTuple):
    """Hold the value of a document, and what is to be said of the document as a whole."""

    value: Any
    remarks: tuple[str, ...] = ()


# A control character in a text spoils no document: it is made visible where it is shown.
_OPTIONS: dict[str, Any] = {
    "parse_float": Number,
    "parse_int": Number,
    "parse_constant": Number,
    "strict": False,
}
DECODER = json.JSONDecoder(**_OPTIONS)
"""Parses JSON, leaving numbers as they are spelled."""


def decode(data: bytes) -> str:
    """Decode a document: UTF-8, or UTF-16 where its byte order mark says so. Raises Unreadable."""
    try:
        return front_matter.decode(data)
    except FrontMatterError as error:
        raise Unreadable(str(error)) from None


def load(text: str) -> Parsed:
    """Parse a document whose numbers stay as they are spelled.

    Of a document that breaks off, the specs before that place are kept whole and the others not
    at all. Of a key that is given twice the last one counts, as in Spack; a remark says so where
    specs may be lost by it. Raises Unreadable.
    """
    if skip_space(text, 0) == len(text):
        raise Unreadable("it is empty")
    if reason := too_many_values(text):
        raise Unreadable(reason)
    try:
        remarks: dict[str, None] = {}
        decoder = json.JSONDecoder(object_pairs_hook=partial(_members, remarks), **_OPTIONS)
        with collector_paused():
            value = decoder.decode(text)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        return _broken(text, error)
    return Parsed(value, tuple(remarks))


def read_json(
    data: bytes,
    *,
    origin: str,
    name: str,
    fits: Callable[[Any], bool],
    records: Callable[..., Iterator[Any]],
    load: Callable[[str], Parsed] = load,
) -> Iterator[Any]:
    """Parse a document and yield its remarks as problems, then the `records` of its value.

    A value that does not fit is a Problem that calls the document no `name`.
    """
    try:
        text = decode(data)
        # A large document is not held in a second form while it is parsed into a third.
        del data
        value, remarks = load(text)
    except Unreadable as error:
        yield Problem(origin, "", f"the {name} cannot be read: {error}")
        return
    del text
    yield from (Problem(origin, "", remark) for remark in remarks)
    if fits(value):
        yield from records(value, origin=origin)
    else:
        yield Problem(origin, "", f"it is no {name}")


def storable(text: str) -> str:
    """Replace lone surrogates, which no file, no index and no terminal takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def kind(value: object) -> str:
    """Name what a value is, for a sentence about what it should be."""
    if value is None or value == "":
        return "missing"
    if isinstance(value, bool):
        return str(value).lower()
    kinds: dict[type, str] = {Number: "a number", str: "a text", list: "a list"}
    return kinds.get(type(value), "a mapping")


def more_behind(end: int) -> str:
    """Say that a document goes on behind its end."""
    return f"more follows behind its end (Extra data at character {end}), which is not read"


def note_repeated(remarks: dict[str, None], key: str, before: object, value: object) -> None:
    """Add a remark on a key that a mapping has twice, where specs may be lost by it."""
    if is_hash(key):
        how = "both times alike" if _alike(before, value) else "the last one counts"
        remark = f"the hash {key} stands in it twice, {how}"
    elif key in _CONTAINERS:
        remark = f'"{key}" is given twice; the last one counts'
    else:
        return
    if len(remarks) >= MAX_PROBLEMS:
        remark = "more keys are given twice, which are not listed"
    remarks[remark] = None


def _alike(one: object, other: object) -> bool:
    try:
        return one == other
    except RecursionError:
        return False


def skip_space(text: str, at: int) -> int:
    """Give the place behind white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the cycle collector from looking through the millions of objects of a large index.

    Parsing makes no cycles, and takes five times as long where the collector searches for some.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _broken(text: str, error: json.JSONDecodeError) -> Parsed:
    reason = f"{error.msg} at character {error.pos}"
    if error.msg == "Extra data":
        value, _ = DECODER.raw_decode(text, skip_space(text, 0))
        return Parsed(value, (more_behind(error.pos),))
    value = _before_the_break(text, skip_space(text, 0), _DEEPEST_CONTAINER)
    if isinstance(value, list):
        is_known = any(isinstance(node, dict) and "hash" in node for node in value)
    else:
        is_known = isinstance(value, dict) and bool(_CONTAINERS & value.keys())
    if not is_known:
        raise Unreadable(f"it is not JSON: {reason}")
    return Parsed(value, (f"it breaks off ({reason}); what stands before is read",))


def _before_the_break(text: str, at: int, depth: int) -> Any:
    """Read the members of a mapping or list up to the first that is not whole.

    Of that one only a container of specs is entered: half a spec would pass for another spec.
    """
    if text[at : at + 1] not in ("{", "["):
        return None
    members: dict[str, Any] = {}
    items: list[Any] = []
    is_list = text[at] == "["
    at = skip_space(text, at + 1)
    while True:
        try:
            key = ""
            if not is_list:
                key, at = DECODER.raw_decode(text, at)
                at = skip_space(text, at)
                if not isinstance(key, str) or text[at : at + 1] != ":":
                    break
                at = skip_space(text, at + 1)
            try:
                item, at = DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                if key in _CONTAINERS and depth:
                    members[key] = _before_the_break(text, at, depth - 1)
                break
        except (ValueError, RecursionError):
            break
        at = skip_space(text, at)
        if at == len(text) and type(item) is Number:
            break
        members[key] = item
        items.append(item)
        if text[at : at + 1] != ",":
            break
        at = skip_space(text, at + 1)
    return items if is_list else members


def _members(remarks: dict[str, None], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a mapping of its pairs, as `json` does, and remark on repeated keys."""
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen:
                note_repeated(remarks, key, seen[key], value)
            seen[key] = value
    return members

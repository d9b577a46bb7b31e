"""Read what look-alikes of a page share: all of a record but its hash and size."""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import Any, NamedTuple

from spackscope.model.core.records import Look
from spackscope.model.readers.fields import FieldReader, Texts
from spackscope.model.readers.front_matter import DECODER

_MAX_KNOWN, _MAX_KNOWN_LENGTH = 2**14, 2**11
"""How many texts of each kind are kept, and how many characters each may have."""


class Unusual(Exception):
    """A text of a record is not one that may stand for all that differ in hash and size."""


class LookReader:
    """Reads records of a page of a package one by one; problems are added to `fields`.

    `string_count` is the number of strings in different lists so far.
    """

    def __init__(self, fields: FieldReader, package: str = "", tag: str = "") -> None:
        self._fields = fields
        self._package, self._tag = package, tag
        # The records of a page share a few lists of variants and stacks.
        self._lists: dict[Texts, Texts] = {}
        self.string_count = 0

    def read(self, record: dict[str, Any]) -> Look:
        """Return what can be read of a record."""
        versions = self._strings(record, "versions")
        if len(versions) != 1:
            self._fields.add_problem(f"versions has {len(versions)} items, expected one")
        string = self._fields.string
        return Look(
            versions[0].removeprefix("=") if versions else "",
            spelled(string("compiler", record.get("compiler"))),
            string("platform", record.get("platform")),
            string("os", record.get("os")),
            string("target", record.get("target")),
            self._strings(record, "variants"),
            self._strings(record, "stacks"),
            self._package,
            self._tag,
        )

    def _strings(self, record: dict[str, Any], key: str) -> Texts:
        value = record.get(key)
        if type(value) is list:
            try:
                return self._lists[tuple(value)]
            except (KeyError, TypeError):
                pass
        strings = self._fields.strings(key, value)
        self.string_count += len(strings)
        return self._lists.setdefault(strings, strings)


class _Frame(NamedTuple):
    """What a record has beside its lists, and the numbers of these among all."""

    compiler: str
    platform: str
    os: str
    target: str
    versions: int
    variants: int
    stacks: int


class KnownTexts:
    """Reads records by their texts, from which hash and size are cut; for many pages.

    The text of each list, and the text around the lists, is parsed once, by the rules of
    `LookReader`: the records of all pages are combinations of a few thousand of them. A text that
    is not certain to mean that is Unusual, and so is a record that has problems.
    """

    def __init__(self) -> None:
        self._lists = _Known(_read_list)
        self._frames = _Known(_read_frame)

    def look(self, text: str, package: str, tag: str, *, has_size: bool) -> Look:
        """Return what the text of a record without backslashes means. Raises Unusual.

        Its hash is an empty string; its size, if it `has_size`, too.
        """
        # Searching for single characters takes a third of the time of an expression.
        parts = text.split("[")
        if len(parts) != 4:
            raise Unusual
        first, end_of_first, after_first = parts[1].partition("]")
        second, end_of_second, after_second = parts[2].partition("]")
        third, end_of_third, after_third = parts[3].partition("]")
        if not (end_of_first and end_of_second and end_of_third):
            raise Unusual
        around = f"{parts[0]}[]{after_first}[]{after_second}[]{after_third}"
        frame = self._frames[around, has_size]
        compiler, platform, os, target, versions, variants, stacks = frame
        lists = self._lists[first], self._lists[second], self._lists[third]
        if len(lists[versions]) != 1:
            raise Unusual
        version = lists[versions][0].removeprefix("=")
        arch = compiler, platform, os, target
        # It takes half the time of a call with arguments.
        return Look._make((version, *arch, lists[variants], lists[stacks], package, tag))


class _Known(dict[Any, Any]):
    """What texts mean that were read before; of `read`, which may raise Unusual."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, key: str | tuple[str, bool]) -> Any:
        value = self._read(key)
        if len(key if isinstance(key, str) else key[0]) <= _MAX_KNOWN_LENGTH:
            if len(self) >= _MAX_KNOWN:
                self.clear()
            self[key] = value
        return value


def _read_frame(key: tuple[str, bool]) -> _Frame:
    """Read the text around the lists of a record, which says whether size is cut from it."""
    text, has_size = key
    record = _decode(f"{{{text}}}")
    cut = ["hash", "size"] if has_size else ["hash"]
    if any(text.count(f'"{name}"') != 1 or record.get(name) != "" for name in cut):
        raise Unusual
    if not has_size and record.get("size", "-") != "-":
        raise Unusual
    # Then no empty list is in a string, and they are in the order of the text.
    lists = [name for name, value in record.items() if value == []]
    if len(lists) != text.count("[]") or not {"versions", "variants", "stacks"} <= {*lists}:
        raise Unusual
    fields = FieldReader("")
    look = LookReader(fields).read(record | {"versions": ["1"]})
    if fields.has_problems:
        raise Unusual
    numbers = map(lists.index, ("versions", "variants", "stacks"))
    return _Frame(look.compiler, look.platform, look.os, look.target, *numbers)


def _read_list(text: str) -> Texts:
    """Read the text between the brackets of a list of strings."""
    fields = FieldReader("")
    texts = fields.strings("", _decode(f"[{text}]"))
    if fields.has_problems:
        raise Unusual
    return texts


def _decode(text: str) -> Any:
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError):
        raise Unusual from None


spelled = methodcaller("replace", "@=", "@", 1)
"""Spells a compiler as Spack 1 does: `gcc@=13.2.0` and `gcc@13.2.0` are one compiler."""

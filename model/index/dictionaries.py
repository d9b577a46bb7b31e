"""Number the values of records, and write them in the order in which they are shown."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from spackscope.model.core.versions import version_key

Presence = tuple[tuple[int, ...], tuple[str, ...]]
"""The codes of the sources, and the states."""


class Dictionary(dict[Any, int]):
    """Number values in the order in which they are first seen."""

    def __missing__(self, value: Any) -> int:
        code = self[value] = len(self)
        return code


class Values:
    """Hold the dictionaries of one index."""

    def __init__(self) -> None:
        self.packages, self.versions, self.arches = Dictionary(), Dictionary(), Dictionary()
        self.variants, self.stacks, self.tags = Dictionary(), Dictionary(), Dictionary()
        self.extras, self.presences = Dictionary(), Dictionary()

    def write(
        self, connection: sqlite3.Connection, sources: Sequence[str], documents: int
    ) -> list[Sequence[int]]:
        """Write each dictionary in the order of its values; give the ranks of its codes.

        They stand in the order of `CODES`; those of documents, which are so many, stay as they
        are.
        """

        def presence(value: Presence) -> tuple[str, str]:
            names = [storable(sources[code]) for code in value[0]]
            return json.dumps(names), json.dumps(value[1])

        return [
            _written(connection, "package (id, name)", self.packages, str, _one),
            _written(connection, "version", self.versions, _by_version, _one),
            _written(connection, "arch", self.arches, _by_arch, tuple),
            _written(connection, "variant_set", self.variants, _by_name, _json),
            _written(connection, "stack_set", self.stacks, tuple, _json),
            _written(connection, "tag", self.tags, str, _one),
            range(documents),
            _written(connection, "extra", self.extras, tuple, _extra),
            _written(connection, "presence", self.presences, tuple, presence),
            range(2),
        ]


def storable(text: str) -> str:
    """Spell the undecodable bytes of a file name as question marks; SQLite takes UTF-8 only."""
    return text.encode("utf-8", "replace").decode()


def _written(
    connection: sqlite3.Connection,
    table: str,
    dictionary: Dictionary,
    order: Callable[[Any], Any],
    columns: Callable[[Any], tuple[str, ...]],
) -> Sequence[int]:
    ranks = [0] * len(dictionary)
    rows = []
    for rank, value in enumerate(sorted(dictionary, key=order)):
        ranks[dictionary[value]] = rank
        rows.append((rank, *columns(value)))
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    return ranks


def _one(text: str) -> tuple[str]:
    return (text,)


def _json(texts: tuple[str, ...]) -> tuple[str]:
    return (json.dumps(texts),)


def _extra(extra: tuple[str, tuple[str, ...]]) -> tuple[str, str]:
    namespace, flags = extra
    return namespace, json.dumps(flags)


def _by_version(version: str) -> tuple[Any, str]:
    return version_key(version), version


def _by_arch(arch: tuple[str, str, str, str]) -> tuple[Any, ...]:
    compiler, os, platform, target = arch
    name, _, version = compiler.partition("@")
    return name, version_key(version), platform, os, target, compiler


def _by_name(variants: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple((text.lstrip("+~"), text) for text in variants)

"""Read Spack's database: the `index.json` of a build cache or of an install tree.

Its versions follow lib/spack/spack/database.py; `InstallRecord.to_dict` there writes what a
record has besides its node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import Problem, Spec
from spackscope.model.core.tasks import OnCount
from spackscope.model.readers.json import (
    TOO_MANY_RECORDS,
    KeepRecord,
    Number,
    Parsed,
    kind,
    mismatch,
    parse,
    storable,
    unknown_version,
    wrong_value,
)
from spackscope.model.readers.spec_node import NodeReader

FORMATS = {"5": 1, "6": 3, "7": 4, "8": 5}
"""The specfile format of the nodes, by the version of the database."""

_COUNT_INTERVAL = 256
_NODE = '"spec":'
"""The key of the node of a record, as Spack writes it."""
_CACHED = {"cached": True}
_YEAR_10000 = 253_402_300_800
_VERSION_FIRST = re.compile(r'\s*\{\s*"database"\s*:\s*\{\s*"version"\s*:\s*"([^"\\]*)"')
_VERSION_LAST = re.compile(r'"version"\s*:\s*"([^"\\]*)"\s*\}\s*\}\s*$')


class Database:
    """A database whose records were made into specs of a specfile format while it was parsed."""

    def __init__(
        self, origin: str, version: object, on_count: OnCount | None, expected: int = 0
    ) -> None:
        self.contents: Any = None
        self._origin = origin
        self.format = _format(version)
        self._on_count, self._expected = on_count, expected
        self._count = 0
        self.nodes = NodeReader(origin, self.format)

    def start_installs(self) -> KeepRecord:
        """Forget the records so far, which a repeated key replaces; return what reads one."""
        self.nodes = NodeReader(self._origin, self.format)
        self._count = 0
        return self._read_record

    def _read_record(self, hash_: str, record: Any) -> Spec | None:
        if self.nodes.is_full:
            raise Unreadable(TOO_MANY_RECORDS)
        self._count += 1
        if self._on_count is not None and self._count % _COUNT_INTERVAL == 0:
            self._on_count(self._count, self._expected)
        fields = self.nodes.fields
        if not isinstance(record, dict):
            fields.place = f"spec/{hash_[:7]}"
            fields.add_problem(mismatch("record", record, "an object"))
            return None
        problems: list[str] = []
        state = _state(record, problems.append)
        spec = self.nodes.read(hash_, record.get("spec"), **state)
        for reason in problems if spec is not None else ():
            fields.add_problem(reason)
        return spec


def parse_json(text: str, *, origin: str, on_count: OnCount | None = None) -> Parsed:
    """Parse JSON, a database as a `Database`. Raises Unreadable, and what `on_count` raises."""
    # The version of old databases is after the records.
    stated = _VERSION_FIRST.match(text) or _VERSION_LAST.search(text, max(0, len(text) - 200))
    version: object = stated[1] if stated else None
    expected = text.count(_NODE) if on_count is not None else 0
    while True:
        database = Database(origin, version, on_count, expected)
        document, remarks = parse(text, database.start_installs)
        if not isinstance(document, dict) or "database" not in document:
            return Parsed(document, remarks)
        database.contents = document["database"]
        contents = database.contents if isinstance(database.contents, dict) else {}
        version = contents.get("version")
        if database.format == _format(version):
            return Parsed(database, remarks)


def read_database(database: Database, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the specs of a database in its order, then its problems.

    The database is emptied on the way to save memory. Format: lib/spack/spack/database.py.
    """
    contents = database.contents
    if not isinstance(contents, dict):
        yield Problem(origin, "", mismatch("database", contents, "an object"))
        return
    version = contents.get("version")
    if _format(version) is None:
        expected = f"a string from {min(FORMATS)} to {max(FORMATS)}"
        yield Problem(origin, "", unknown_version("version", version, expected))
    installs = contents.get("installs")
    if not isinstance(installs, dict):
        yield Problem(origin, "", mismatch("installs", installs, "an object"))
        return
    for hash_ in list(installs):
        if (spec := installs.pop(hash_)) is not None:
            yield database.nodes.complete(spec)
    yield from database.nodes.problems()


def _format(version: object) -> int | None:
    return FORMATS.get(version) if type(version) is str else None


def _state(record: dict[str, Any], add_problem: Callable[[str], None]) -> dict[str, Any]:
    """Return the fields of a spec that are outside its node; most records of a cache have few."""
    if record.get("in_buildcache") is True and "path" not in record:
        return _CACHED
    flags = {"in_buildcache": True, "installed": False, "explicit": False}
    for key in flags.keys() & record.keys():
        if isinstance(record[key], bool):
            flags[key] = record[key]
        else:
            add_problem(f"{key} is {kind(record[key])}, expected true or false")
    path = record.get("path")
    if path is not None and type(path) is not str:
        add_problem(mismatch("path", path, "a string"))
    in_cache = flags["in_buildcache"]
    if "in_buildcache" not in record and "installed" in record:
        in_cache = flags["installed"]
    return {
        "in_cache": in_cache,
        "cached": record.get("in_buildcache") is True,
        "installed": flags["installed"],
        "explicit": flags["explicit"],
        "path": storable(path) if isinstance(path, str) and path != "None" else "",
        "installed_at": _time(record.get("installation_time"), add_problem),
    }


def _time(time: object, add_problem: Callable[[str], None]) -> float | None:
    if type(time) is Number and 0 <= float(time) < _YEAR_10000:
        return float(time)
    if time is not None:
        add_problem(wrong_value("installation_time", time, "seconds since 1970"))
    return None

"""Read Spack's database: the `index.json` of a build cache or of an install tree.

Its versions follow lib/spack/spack/database.py; what a record holds beside its node is written by
`InstallRecord.to_dict` there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from spackscope.model.core.errors import (
    Unreadable,
)
from spackscope.model.core.records import Problem, Spec
from spackscope.model.readers.json import (
    Number,
    Parsed,
    kind,
    load,
    read_json,
    storable,
)
from spackscope.model.readers.json_members import Take, begins_a_database, load_database
from spackscope.model.readers.limits import TOO_MANY_RECORDS
from spackscope.model.readers.spec_node import NodeReader

FORMATS = {"5": 1, "6": 3, "7": 4, "8": 5}
"""The specfile format of the nodes, by the version of the database."""

Watch = Callable[[int], None]
"""Is told now and then how many records have been read, and may raise to give up."""

_MANY = 256
_CACHED = {"cached": True}
_YEAR_10000 = 253_402_300_800


_VERSION_AT_THE_END = re.compile(r'"version"\s*:\s*"([^"\\]*)"\s*\}\s*\}\s*$')


def is_database(document: Any) -> bool:
    """Tell a database from other documents by its one key."""
    return isinstance(document, Taken) or (isinstance(document, dict) and "database" in document)


def read_database(data: bytes, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the records of a database in its order, each followed by what is wrong with it."""
    return read_json(
        data,
        origin=origin,
        name="Spack database",
        fits=is_database,
        records=database_records,
        load=partial(parse, origin=origin),
    )


def unwatched(_count: int) -> None:
    """Watch nothing."""


class Taken:
    """Hold a database whose records were made into specs while it was parsed."""

    def __init__(self, origin: str, version: object, watch: Watch = unwatched) -> None:
        self._origin = origin
        self._presumed = version
        self._watch = watch
        self.count = 0
        self._format: int | None = None
        self.begin({})

    def begin(self, before: dict[str, Any]) -> Take:
        """Begin to take records, given what stands before them."""
        self._format = _format(before.get("version", self._presumed))
        self.nodes = NodeReader(self._origin, self._format)
        self.problems: dict[str, tuple[Problem, ...]] = {}
        self.database: object = None
        return self._take

    def fits(self, version: object) -> bool:
        """Tell whether the records were read as those of this version."""
        return self._format == _format(version)

    def _take(self, hash_: str, record: Any) -> Spec | None:
        """Make a spec of a record, unless it is none."""
        if self.nodes.is_full:
            raise Unreadable(TOO_MANY_RECORDS)
        self.count += 1
        if self.count % _MANY == 0:
            self._watch(self.count)
        self.problems.pop(hash_, None)
        if not isinstance(record, dict):
            reason = f"its record is {kind(record)}, and should be a mapping"
            self.nodes.tell_of(f"spec/{hash_[:7]}", reason)
            self.problems[hash_] = self.nodes.problems()
            return None
        odd: list[str] = []
        spec = self.nodes.spec(hash_, record.get("spec"), **_state(record, odd.append))
        if spec is not None:
            for reason in odd:
                self.nodes.tell(reason)
        if problems := self.nodes.problems():
            self.problems[hash_] = problems
        return spec


def parse(text: str, *, origin: str, watch: Watch = unwatched) -> Parsed:
    """Parse any document, of a database no more than a record at a time.

    Raises Unreadable, and what `watch` raises.
    """
    if not begins_a_database(text):
        return load(text)
    # Old databases tell their version behind the records.
    last = _VERSION_AT_THE_END.search(text, len(text) - 200)
    taken = Taken(origin, last[1] if last else None, watch)
    parsed = load_database(text, taken.begin)
    database = parsed.value.get("database")
    version = database.get("version") if isinstance(database, dict) else None
    if not taken.fits(version):
        taken = Taken(origin, version, watch)
        parsed = load_database(text, lambda _: taken.begin({}))
        database = parsed.value.get("database")
    taken.database = database
    return Parsed(taken, parsed.remarks)


def database_records(document: Any, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the records of a parsed database, which is emptied on the way to save memory."""
    taken = document if isinstance(document, Taken) else None
    database = taken.database if taken else document["database"]
    if not isinstance(database, dict):
        yield Problem(origin, "database", f"it is {kind(database)}, and should be a mapping")
        return
    version = database.get("version")
    if (doubt := _doubt(version)) is not None:
        yield Problem(origin, "version", doubt)
    installs = database.get("installs")
    if not isinstance(installs, dict):
        yield Problem(origin, "installs", f"it is {kind(installs)}, and should be a mapping")
        return
    if taken is None:
        taken = Taken(origin, version)
        take = taken.begin({})
        for hash_ in list(installs):
            try:
                installs[hash_] = take(hash_, installs[hash_])
            except Unreadable as error:
                yield Problem(origin, "", str(error))
                installs = dict(islice(installs.items(), taken.count))
                break
    for hash_ in list(installs):
        if (spec := installs.pop(hash_)) is not None:
            yield taken.nodes.settled(spec)
        yield from taken.problems.pop(hash_, ())
    yield from taken.nodes.absent()


def _format(version: object) -> int | None:
    return FORMATS.get(version) if type(version) is str else None


def _doubt(version: object) -> str | None:
    """Say why the version is doubtful, if it is."""
    known = f"{min(FORMATS)} to {max(FORMATS)}"
    if type(version) is str and version in FORMATS:
        return None
    if type(version) is str and version:
        told = f"the version is {version[:40]!r}, and those known are {known}"
    elif type(version) is Number:
        told = f"the version is the number {version[:40]}, and should be a text"
    else:
        told = f"the version is {kind(version)}, and should be one of {known}"
    return storable(f"{told}; the records are read as far as they are understood")


def _state(record: dict[str, Any], tell: Callable[[str], None]) -> dict[str, Any]:
    """Read what a record holds beside its node, which of most records of a cache is little."""
    if record.get("in_buildcache") is True and "path" not in record:
        return _CACHED
    flags = {"in_buildcache": True, "installed": False, "explicit": False}
    for key in flags.keys() & record.keys():
        if isinstance(record[key], bool):
            flags[key] = record[key]
        else:
            tell(f"its {key} is {kind(record[key])}, and should be true or false")
    path = record.get("path")
    if path is not None and type(path) is not str:
        tell(f"its path is {kind(path)}, and should be a text")
    in_cache = flags["in_buildcache"]
    if "in_buildcache" not in record and "installed" in record:
        in_cache = flags["installed"]
    return {
        "in_cache": in_cache,
        "cached": record.get("in_buildcache") is True,
        "installed": flags["installed"],
        "explicit": flags["explicit"],
        "path": storable(path) if isinstance(path, str) and path != "None" else "",
        "installed_at": _time(record.get("installation_time"), tell),
    }


def _time(time: object, tell: Callable[[str], None]) -> float | None:
    if type(time) is Number and 0 <= float(time) < _YEAR_10000:
        return float(time)
    if time is not None:
        shown = time[:40] if type(time) is Number else kind(time)
        tell(f"its installation_time is {shown}, and should be seconds since 1970")
    return None

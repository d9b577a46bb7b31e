"""Read Spack's database: the `index.json` of a build cache or of an install tree.

Its versions follow lib/spack/spack/database.py; what a record holds beside its node is written by
`InstallRecord.to_dict` there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from spackscope.model.readers.json_text import Number, kind, read_json, storable
from spackscope.model.readers.nodes import NodeReader
from spackscope.model.records import Problem, Spec

FORMATS = {"5": 1, "6": 3, "7": 4, "8": 5}
"""The specfile format of the nodes, by the version of the database."""

_YEAR_10000 = 253_402_300_800


def is_database(document: Any) -> bool:
    """Tell a database from other documents by its one key."""
    return isinstance(document, dict) and "database" in document


def read_database(data: bytes, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the records of a database in its order, each followed by what is wrong with it."""
    return read_json(
        data, origin=origin, name="Spack database", fits=is_database, records=database_records
    )


def database_records(document: Any, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the records of a parsed database, which is emptied on the way to save memory."""
    database = document["database"]
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
    nodes = NodeReader(origin, FORMATS.get(version) if isinstance(version, str) else None)
    for hash_, record in installs.items():
        if isinstance(record, dict):
            nodes.know(hash_, record.get("spec"))
    for hash_ in list(installs):
        record = installs.pop(hash_)
        if not isinstance(record, dict):
            place = storable(f"spec/{hash_[:7]}")
            yield Problem(origin, place, f"its record is {kind(record)}, and should be a mapping")
            continue
        if (spec := nodes.spec(hash_, record.get("spec"))) is not None:
            state = _state(record, nodes.tell)
            yield replace(spec, **state) if state else spec
        yield from nodes.problems()
    yield from nodes.absent()


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
    """Read what a record holds beside its node, but for what is as in most records of a cache."""
    if record.get("in_buildcache") is True and "path" not in record:
        return {}
    flags = {"in_buildcache": True, "installed": False, "explicit": False}
    for key in flags.keys() & record.keys():
        if isinstance(record[key], bool):
            flags[key] = record[key]
        else:
            tell(f"its {key} is {kind(record[key])}, and should be true or false")
    path = record.get("path")
    if path is not None and type(path) is not str:
        tell(f"its path is {kind(path)}, and should be a text")
    if "in_buildcache" not in record and "installed" in record:
        flags["in_buildcache"] = flags["installed"]
    return {
        "in_cache": flags["in_buildcache"],
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

"""Build records from the rows of an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.core.columns import STORED
from spackscope.model.core.records import Provenance, SourceStatus, Spec
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import checked_hash, natural, number, text

_SELECT = (
    f"SELECT spec.id, hash, size, look_alike.id, document, {', '.join(STORED)}"
    " FROM spec JOIN look_alike ON look_alike.id = look_alike WHERE spec.id IN"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a listing: a record, its ids, and how many look-alikes the row stands for."""

    id: int
    look_alike: int
    spec: Spec
    count: int = 1


def rows_of(
    ids: Sequence[int],
    counts: Sequence[int] | None,
    database: Database,
    dictionaries: Dictionaries,
) -> list[Row]:
    """Return the rows with these ids, in the order of the ids."""
    count_of = dict(zip(ids, counts, strict=True)) if counts is not None else {}
    documents = dictionaries.documents
    rows: dict[int, Row] = {}
    # The ids are numbers of this index, never text of a user.
    for id_, hash_, size, look_alike, document, *codes in database.execute(
        f"{_SELECT} ({','.join(map(str, ids))})"
    ):
        values = dict(documents[natural(document)])
        for arguments, code in zip(dictionaries.record_arguments, codes, strict=True):
            values |= arguments[natural(code)]
        spec = Spec(hash=checked_hash(hash_), size=_size(size), **values)
        rows[id_] = Row(id_, look_alike, spec, count_of.get(id_, 1))
    return [rows[id_] for id_ in ids]


def provenance_of(id_: int, database: Database) -> Provenance:
    """Return where the record with this id comes from."""
    row = database.execute(
        "SELECT package_hash, external, path, installed_at, build_spec FROM provenance"
        " WHERE spec = ?",
        (id_,),
    ).fetchone()
    return checked_provenance(row) if row is not None else Provenance()


def checked_provenance(row: Sequence[Any]) -> Provenance:
    """Build a Provenance from its columns."""
    package_hash, external, path, installed_at, build_spec = row
    return Provenance(
        text(package_hash), text(external), text(path), number(installed_at), text(build_spec)
    )


def checked_source(row: Sequence[Any]) -> SourceStatus:
    """Build a SourceStatus from its columns."""
    name, kind, layout, specs, checked, remark, failure, problems = row
    return SourceStatus(
        text(name),
        text(kind),
        text(layout),
        natural(specs),
        number(checked),
        text(remark),
        text(failure),
        natural(problems),
    )


def _size(value: object) -> float | None:
    size = number(value)
    return int(size) if size is not None and size == int(size) else size

"""Make records again of what an index has of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.core.records import Provenance, SourceStatus, Spec
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import checked_hash, natural, number, text


@dataclass(frozen=True, slots=True)
class Row:
    """Hold one row of a listing: a record, its ids, and how many look-alikes it stands for."""

    id: int
    look_alike: int
    spec: Spec
    count: int = 1


def rows_of(
    ids: Sequence[int],
    counts: Sequence[int] | None,
    database: Database,
    known: Dictionaries,
) -> list[Row]:
    """Give the rows with these ids, in the order of the ids."""
    # Ids are numbers of this index, never text of a user.
    found = {
        row[0]: row
        for row in database.execute(
            "SELECT spec.id, look_alike.id, hash, size, package, version, arch, variant_set,"
            " stack_set, tag, document, extra, presence FROM spec JOIN look_alike"
            f" ON look_alike.id = look_alike WHERE spec.id IN ({','.join(map(str, ids))})"
        )
    }
    how_many = counts if counts is not None else [1] * len(ids)
    return [_row(known, found[id_], count) for id_, count in zip(ids, how_many, strict=True)]


def _row(known: Dictionaries, columns: tuple[Any, ...], count: int) -> Row:
    id_, look_alike, hash_, size, package, version, arch, *codes = columns
    variants, stacks, tag, document, extra, presence = codes
    its_arch = known.arches[arch]
    origin, source = known.documents[document]
    sources, states = known.presences[presence]
    spec = Spec(
        package=known.package_names[package],
        hash=checked_hash(hash_),
        version=known.versions[version],
        compiler=its_arch.compiler,
        platform=its_arch.platform,
        os=its_arch.os,
        target=its_arch.target,
        variants=known.variant_sets[variants],
        stacks=known.stack_sets[stacks],
        size=_whole(number(size)),
        tag=known.tags[tag],
        origin=origin,
        source=source,
        namespace=known.extras[extra][0],
        flags=known.extras[extra][1],
        in_cache="needed" not in states,
        cached="cached" in states,
        installed="installed" in states,
        explicit="explicit" in states,
        listed_in=sources,
    )
    return Row(id_, look_alike, spec, count)


def provenance_of(id_: int, database: Database) -> Provenance:
    """Give where the record with this id comes from."""
    row = database.execute(
        "SELECT package_hash, external, path, installed_at, build_spec FROM provenance"
        " WHERE spec = ?",
        (id_,),
    ).fetchone()
    return checked_provenance(row) if row is not None else Provenance()


def checked_provenance(row: tuple[Any, ...]) -> Provenance:
    """Make a Provenance of the columns that hold one."""
    package_hash, external, path, installed_at, build_spec = row
    return Provenance(
        text(package_hash), text(external), text(path), number(installed_at), text(build_spec)
    )


def checked_source(*row: Any) -> SourceStatus:
    """Make a SourceStatus of the columns that hold one."""
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


def _whole(size: float | None) -> float | None:
    return int(size) if size is not None and size == int(size) else size

"""Read from an index what its sources are, and what could not be read of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spackscope.model.core.records import Problem, SourceStatus
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import natural, number, text
from spackscope.model.sources.document import DiscoveredSource


def read_sources(database: Database) -> list[SourceStatus]:
    """Return the status of each source as of when the index was written, in the order given."""
    rows = database.execute(
        "SELECT name, kind, layout, coalesce(sum(specs), 0), checked, remark, failure,"
        " (SELECT count(*) FROM problem WHERE problem.source = source.id)"
        " FROM source LEFT JOIN document ON source.id = document.source"
        " GROUP BY source.id ORDER BY source.id"
    )
    return [
        SourceStatus(
            name=text(name),
            kind=text(kind),
            layout=text(layout),
            specs=natural(specs),
            checked=number(checked),
            remark=text(remark),
            failure=text(failure),
            problems=natural(problems),
        )
        for name, kind, layout, specs, checked, remark, failure, problems in rows
    ]


def update_sources(
    sources: Sequence[SourceStatus], discovered: Sequence[DiscoveredSource]
) -> list[SourceStatus]:
    """Return the status of sources with what was last discovered about them."""
    newest = {source.source: source for source in discovered}
    return [
        replace(source, checked=newest[source.name].checked, remark=newest[source.name].remark)
        if source.name in newest
        else source
        for source in sources
    ]


def count_problems(database: Database) -> int:
    """Return the number of problems."""
    return int(database.execute("SELECT count(*) FROM problem").fetchone()[0])


def read_problems(database: Database) -> list[Problem]:
    """Return what could not be read, in the order of reading."""
    rows = database.execute("SELECT origin, place, reason FROM problem")
    return [Problem(*map(text, row)) for row in rows]

"""Take what an index has of documents that did not change, instead of reading them again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import cached_property

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.rows import checked_provenance
from spackscope.model.core.records import Dependency, Problem, Provenance, Spec
from spackscope.model.index.damage import checked_hash, class_reading_index, text
from spackscope.model.sources.document import Document, fingerprint

_BATCH = 512


@class_reading_index
class OldIndex:
    """Give the records of documents as an index has them; their order is that of the index.

    Raises IndexDamaged.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    @cached_property
    def _known(self) -> dict[str, tuple[int, bool]]:
        """Know the documents that can be told apart: their codes, and whether they are pages."""
        rows = self._catalog.database.execute(
            "SELECT fingerprint, id, page FROM document WHERE merged = 0"
        )
        return {known: (code, bool(page)) for known, code, page in rows}

    def find(self, document: Document) -> tuple[int, bool] | None:
        """Give the code of a document and whether it is a page; None where it is to be read."""
        return self._known.get(fingerprint([document]))

    def records(self, code: int) -> Iterator[Spec | Problem]:
        """Give the records and problems of the document with this code."""
        yield from self._problems[code]
        ids = [id_ for start, stop in self._spans[code] for id_ in range(start, stop)]
        if not self._lists[code]:
            # A page has nothing that the table of specs does not show.
            for batch in _batches(ids):
                yield from (row.spec for row in self._catalog.rows(batch))
            return
        for batch in _batches(ids):
            told = self._told(batch)
            for row in self._catalog.rows(batch):
                spec = replace(row.spec, dependencies=self._dependencies(row.id))
                yield replace(spec, **asdict(told[row.id])) if row.id in told else spec

    @cached_property
    def _spans(self) -> dict[int, list[tuple[int, int]]]:
        columns = self._catalog.column_arrays
        spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for look_alike, document in enumerate(columns.column("document")):
            spans[document].append(columns.specs(look_alike))
        return spans

    @cached_property
    def _problems(self) -> dict[int, list[Problem]]:
        problems: dict[int, list[Problem]] = defaultdict(list)
        for document, *texts in self._catalog.database.execute(
            "SELECT document, origin, place, reason FROM problem WHERE document IS NOT NULL"
        ):
            problems[document].append(Problem(*map(text, texts)))
        return problems

    def _told(self, ids: Sequence[int]) -> dict[int, Provenance]:
        rows = self._catalog.database.execute(
            "SELECT spec, package_hash, external, path, installed_at, build_spec FROM provenance"
            f" WHERE spec IN ({','.join(map(str, ids))})"
        )
        return {spec: checked_provenance(told) for spec, *told in rows}

    def _dependencies(self, id_: int) -> tuple[Dependency, ...]:
        return tuple(
            Dependency(*self._nodes[edge.child], edge.deptypes, edge.virtuals)
            for edge in self._catalog.dependencies.of(id_)
        )

    @cached_property
    def _lists(self) -> list[bool]:
        rows = self._catalog.database.execute("SELECT dependencies FROM document ORDER BY id")
        return [bool(dependencies) for (dependencies,) in rows]

    @cached_property
    def _nodes(self) -> list[tuple[str, str]]:
        """Hold the hash and name of each spec, and behind them of what is absent."""
        names = self._catalog.dictionaries.texts("package")
        found = self._catalog.database.execute(
            "SELECT hash, package FROM spec JOIN look_alike ON look_alike.id = look_alike"
            " ORDER BY spec.id"
        )
        absent = self._catalog.database.execute("SELECT hash, name FROM absent ORDER BY id")
        nodes = [(checked_hash(hash_), names[package]) for hash_, package in found]
        return nodes + [(text(hash_), text(name)) for hash_, name in absent]


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH))

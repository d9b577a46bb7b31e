"""Read the records of unchanged documents from an index instead of from the documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.frozen import asdict, replace
from spackscope.model.core.records import Dependency, Problem, Records, Spec
from spackscope.model.index.damage import checked_hash, class_reading_index, natural, text
from spackscope.model.sources.document import Document, fingerprint

_BATCH = 512


class KnownDocument(NamedTuple):
    """A document of an index: its code, whether it is a page, and lists dependencies."""

    code: int
    is_page: bool
    lists_dependencies: bool


@class_reading_index
class OldIndex:
    """Reads the records of documents from an index, in its order. Raises IndexDamaged."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    @cached_property
    def _documents(self) -> dict[str, KnownDocument]:
        """The documents by their fingerprints, except those with records merged into others."""
        rows = self._catalog.database.execute(
            "SELECT fingerprint, id, page, dependencies FROM document WHERE merged = 0"
        )
        return {
            key: KnownDocument(natural(code), bool(is_page), bool(dependencies))
            for key, code, is_page, dependencies in rows
        }

    def find(self, document: Document) -> KnownDocument | None:
        """Return what the index has of a document, or None if it has to be read."""
        return self._documents.get(fingerprint([document]))

    def records(self, document: KnownDocument) -> Iterator[Records | Problem]:
        """Yield the problems and records of a document."""
        for item in self._items(document):
            if isinstance(item, Problem):
                yield item
            else:
                yield Records([item], [0], [item.hash], [item.size])

    def _items(self, document: KnownDocument) -> Iterator[Spec | Problem]:
        yield from self._problems[document.code]
        ids = [id_ for start, stop in self._spans[document.code] for id_ in range(start, stop)]
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            rows = self._catalog.rows(batch)
            if not document.lists_dependencies:
                # A page has nothing that the table of specs does not have.
                yield from (row.spec for row in rows)
                continue
            for row, provenance in zip(rows, self._catalog.provenances(batch), strict=True):
                dependencies = self._dependencies(row.id)
                yield replace(row.spec, dependencies=dependencies, **asdict(provenance))

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

    def _dependencies(self, id_: int) -> tuple[Dependency, ...]:
        return tuple(
            Dependency(*self._nodes[edge.child], edge.deptypes, edge.virtuals)
            for edge in self._catalog.dependencies.of(id_)
        )

    @cached_property
    def _nodes(self) -> list[tuple[str, str]]:
        """The hash and name of each spec by its id, and after them of absent dependencies."""
        names = self._catalog.dictionaries.texts("package")
        specs = self._catalog.database.execute(
            "SELECT hash, package FROM spec JOIN look_alike ON look_alike.id = look_alike"
            " ORDER BY spec.id"
        )
        absent = self._catalog.database.execute("SELECT hash, name FROM absent ORDER BY id")
        nodes = [(checked_hash(hash_), names[package]) for hash_, package in specs]
        return nodes + [(text(hash_), text(name)) for hash_, name in absent]

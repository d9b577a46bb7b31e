"""Collect the records of an index in any order; `finish` writes them in display order."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, repeat
from operator import attrgetter
from typing import Any

from spackscope.model.core.frozen import fields, replace
from spackscope.model.core.records import NodeFacts, Problem, Provenance, Records, Spec
from spackscope.model.index.dictionaries import Dictionaries, Dictionary
from spackscope.model.index.edges import EdgeWriter
from spackscope.model.index.finish import Finisher
from spackscope.model.index.kept import Kept
from spackscope.model.index.old_index import OldIndex
from spackscope.model.index.overlaps import Overlaps
from spackscope.model.index.staged import Staged, StagedDocument
from spackscope.model.readers.fields import storable
from spackscope.model.sources.document import DiscoveredSource, Document, fingerprint

_node = attrgetter(*NodeFacts._fields)
_provenance = attrgetter(*(f.name for f in fields(Provenance) if f.name not in NodeFacts._fields))


class IndexWriter:
    """Writes one index: add sources and their documents in any order, then `finish`.

    `include_dependency_only` lists dependency-only specs with all others. All methods raise
    sqlite3.Error.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        include_dependency_only: bool = False,
        old: OldIndex | None = None,
    ) -> None:
        self._connection = connection
        self._old = old
        self._include_dependency_only = include_dependency_only
        self._sources = Dictionary()
        self._dictionaries = Dictionaries()
        self._staged = Staged()
        self._edges = EdgeWriter()
        # What pages state of a node, which is nothing, has the code 0.
        self._nodes = Dictionary({NodeFacts(): 0})
        self._documents: dict[int, StagedDocument] = {}
        self._next_document = 0

    def add_source(self, discovered: DiscoveredSource) -> None:
        """Add a source."""
        code = self._sources[discovered.source]
        self._connection.execute(
            "INSERT INTO source VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                code,
                storable(discovered.source),
                discovered.kind,
                discovered.layout,
                discovered.checked,
                storable(discovered.remark),
                storable(discovered.failure),
            ),
        )

    def add_document(
        self, document: Document, items: Iterable[Records | Problem], *, is_page: bool = False
    ) -> bool:
        """Stage the records of a document, and add its problems.

        Returns whether its format is known: then it has records, or no problem either.
        """
        staged = StagedDocument(
            self._sources[document.source],
            storable(document.origin),
            fingerprint([document]),
            is_page,
        )
        code, before = self._next_document, len(self._staged)
        self._next_document += 1
        has_problem = False
        # Look-alikes have the code of their document, so that those of others are different.
        look_alikes = Dictionary()
        self._documents[code] = staged
        for item in items:
            if isinstance(item, Problem):
                has_problem = True
                self.add_problem(item, document.source, code)
            else:
                self._add_records(item, code, document, look_alikes)
        return len(self._staged) > before or not has_problem

    def keep_document(self, document: Document) -> bool:
        """Keep the records and problems of a document that the old index has unchanged."""
        key = fingerprint([document])
        if self._old is None or not self._old.keep(self._connection, key, self._next_document):
            return False
        self._next_document += 1
        return True

    def add_problem(
        self, problem: Problem, source: str | None = None, document: int | None = None
    ) -> None:
        """Add what could not be read, of a source and a document if it belongs to them."""
        self._connection.execute(
            "INSERT INTO problem (source, document, origin, place, reason) VALUES (?, ?, ?, ?, ?)",
            (
                self._sources[source] if source is not None else None,
                document,
                storable(problem.origin),
                problem.place,
                storable(problem.reason),
            ),
        )

    def add_failure(self, source: str, failure: str, *, is_reported: bool = False) -> None:
        """Add why nothing of a source can be read, also as a problem unless one reports it."""
        self._connection.execute(
            "UPDATE source SET failure = ? WHERE id = ?",
            (storable(failure), self._sources[source]),
        )
        if not is_reported:
            self.add_problem(Problem("", "", failure), source)

    def add_archive(self, hash_: str, size: float) -> None:
        """Add the size of an archive, for all records of its hash without one."""
        self._staged.archives.setdefault(hash_, size)

    def _add_records(
        self, records: Records, code: int, document: Document, look_alikes: Dictionary
    ) -> None:
        """Stage records of a document, whose look-alikes so far are numbered by their codes."""
        looks, numbers, staged = records.looks, records.numbers, self._staged
        its = self._documents[code]
        is_listed = [look.in_cache or self._include_dependency_only for look in looks]
        its.specs += len(numbers) if all(is_listed) else sum(map(is_listed.__getitem__, numbers))
        before = len(look_alikes)
        codes = self._codes(looks, is_listed, code, document)
        its_numbers = list(map(look_alikes.__getitem__, codes))
        first = staged.add_look_alikes(list(islice(look_alikes, before, None))) - before
        its_numbers = [first + number for number in its_numbers]
        number_of_first = len(staged)
        # What states no dependencies states nothing else beside the columns, as pages do.
        states_more = any(look.dependencies is not None for look in looks)
        nodes = [self._nodes[_node(look)] for look in looks] if states_more else [0] * len(looks)
        staged.add_records(
            map(its_numbers.__getitem__, numbers),
            records.hashes,
            records.sizes,
            map(nodes.__getitem__, numbers),
        )
        if states_more:
            its.lists_dependencies = True
            self._add_stated(records, number_of_first, code)

    def _codes(
        self, looks: Sequence[Spec], is_listed: Sequence[bool], code: int, document: Document
    ) -> Iterator[tuple[int, ...]]:
        """Yield the codes of look-alikes; some values come from the document."""
        if document.cached:
            looks = [
                replace(look, cached=True) if look.in_cache and not look.cached else look
                for look in looks
            ]
        stacks = (document.stack,) if document.stack else ()
        sources = (self._sources[document.source],)
        values: dict[str, Iterable[Any]] = {
            "stack_set": [look.stacks or stacks for look in looks],
            "tag": [look.tag or document.tag for look in looks],
            "presence": [(sources, look.states) for look in looks],
            "document": repeat(code),
            "unlisted": [not listed for listed in is_listed],
        }
        return self._dictionaries.codes(looks, values)

    def _add_stated(self, records: Records, first: int, code: int) -> None:
        """Add dependencies and provenance of records, which are numbered from the first on."""
        pairs = zip(records.numbers, records.hashes, strict=True)
        for number, (look_number, hash_) in enumerate(pairs, first):
            look = records.looks[look_number]
            if look.dependencies is not None:
                self._edges.add(number, code, hash_, look.dependencies)
            if any(provenance := _provenance(look)):
                self._staged.provenance[number] = provenance

    def drop_overlaps(self) -> bool:
        """Check whether a record of a kept document may have to be merged with staged ones.

        Then it cannot be kept: the old index knows such documents no longer.
        """
        if self._old is None:
            return False
        overlaps = Overlaps(self._staged, self._documents, self._dictionaries)
        is_overlapping = self._old.drop_pages_like(self._connection, overlaps.pages())
        if self._is_mixed:
            is_overlapping |= self._old.drop_records_like(self._connection, overlaps.records())
        return is_overlapping

    @property
    def _is_mixed(self) -> bool:
        """Whether there are several sources, or documents other than pages."""
        documents = self._documents.values()
        sources = {document.source if document.is_page else -1 for document in documents}
        if self._old is not None:
            sources |= self._old.page_sources
        return len(sources) > 1 or -1 in sources

    def finish(self, **meta: object) -> None:
        """Merge repeated records, assign ids in display order, write all tables, and commit."""
        kept = self._old.kept(self._connection) if self._old else Kept(self._connection)
        Finisher(
            self._connection,
            list(self._sources),
            self._documents,
            self._dictionaries,
            self._staged,
            self._nodes,
            self._edges,
            kept,
            self._is_mixed,
        ).finish(meta)

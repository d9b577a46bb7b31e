"""Show one row for a hash that several documents list."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from math import nan
from typing import NamedTuple

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import STATES
from spackscope.model.index.dictionaries import Codes, Dictionaries, Dictionary
from spackscope.model.index.staged import GONE, Staged, StagedDocument


class _Row(Frozen):
    """One staged record."""

    number: int
    codes: Codes
    size: float | None
    node: int


_PageGroup = tuple[int, int, int]
"""The source, tag and package of pages that should not repeat each other."""


class _PageRecord(NamedTuple):
    """A look-alike of a page, and a number for its codes without the document."""

    group: _PageGroup
    document: int
    content: int


class Deduplicator:
    """Merges the staged records of an index; problems are added through the connection."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        staged: Staged,
        documents: Mapping[int, StagedDocument],
        dictionaries: Dictionaries,
    ) -> None:
        self._connection = connection
        self._staged = staged
        self._documents = documents
        self._dictionaries = dictionaries
        self._merged: dict[int, int] = {}

    def drop_repeated_pages(self) -> None:
        """Drop records that other pages of the same source, tag and package repeat.

        A hash that they list with different content stays in every form, and is a Problem.
        """
        records = self._records_of_shared_pages()
        if not records:
            return
        first_documents: dict[tuple[_PageGroup, int, str, float | None], int] = {}
        documents: defaultdict[tuple[_PageGroup, str], set[int]] = defaultdict(set)
        look_alikes = self._staged.look_alikes
        counts: Counter[int] = Counter()
        for number, look_alike in enumerate(look_alikes):
            if (record := records.get(look_alike)) is None:
                continue
            hash_ = self._staged.hash_at(number)
            key = (record.group, record.content, hash_, self._staged.size_at(number))
            if key not in first_documents:
                first_documents[key] = record.document
                documents[record.group, hash_].add(record.document)
                continue
            look_alikes[number] = GONE
            counts[record.document] += 1
            self._mark_merged(record.document, first_documents[key])
        where = "of the same source, tag and package"
        for document, count in sorted(counts.items()):
            are = "is" if count == 1 else "are"
            reason = f"{count:,} of its records {are} also in another page {where}; shown once"
            self._add_problem(document, reason)
        for (_, hash_), listing in documents.items():
            if len(listing) > 1:
                self._mark_merged(*listing)
                reason = f"hash {hash_} has different content in {len(listing)} pages {where}"
                self._add_problem(min(listing), reason)

    def _records_of_shared_pages(self) -> dict[int, _PageRecord]:
        """Return the look-alikes of pages that share source, tag and package with others."""
        # All records of a page have the same tag and package.
        codes = self._staged.codes
        pages = zip(codes["document"], codes["tag"], codes["package"], strict=True)
        groups = {
            document: (self._documents[document].source, tag, package)
            for document, tag, package in pages
            if self._documents[document].is_page
        }
        sizes = Counter(groups.values())
        if len(sizes) == len(groups):
            return {}
        contents = Dictionary()
        records: dict[int, _PageRecord] = {}
        for look_alike, document in enumerate(codes["document"]):
            group = groups.get(document)
            if group is not None and sizes[group] > 1:
                content = contents[self._staged.codes_of(look_alike).with_codes(document=0)]
                records[look_alike] = _PageRecord(group, document, content)
        return records

    def merge(self) -> dict[int, int]:
        """Make one record of those that several documents list under one hash and tag.

        Records without a tag join those with one. The record with the most information is kept,
        and gets the sources, states and stacks of all. Records of one hash that name another
        package, version or architecture are kept, too, and are a Problem.

        Returns the number of the record that each merged record went into.
        """
        for numbers in self._staged.repeated_hashes():
            self._merge_hash(self._staged.hash_at(numbers[0]), list(map(self._row, numbers)))
        for number in self._merged:
            self._staged.look_alikes[number] = GONE
        self._merge_provenance()
        return self._merged

    def _row(self, number: int) -> _Row:
        codes = self._staged.codes_of(self._staged.look_alikes[number])
        return _Row(number, codes, self._staged.size_at(number), self._staged.nodes[number])

    def _merge_provenance(self) -> None:
        """Set in each record the largest path, time and build spec of those merged into it."""
        provenance = self._staged.provenance
        for number, kept in self._merged.items():
            if (stated := provenance.pop(number, None)) is None:
                continue
            path, time, build_spec = stated
            its_path, its_time, its_build_spec = provenance.get(kept, ("", None, ""))
            times = [t for t in (time, its_time) if t is not None]
            largest = (
                max(path, its_path),
                max(times, default=None),
                max(build_spec, its_build_spec),
            )
            provenance[kept] = largest

    def _merge_hash(self, hash_: str, rows: Sequence[_Row]) -> None:
        if len({row.codes.document for row in rows}) < 2:
            return
        untagged = self._dictionaries["tag"].get("", -1)
        by_tag: dict[int, list[_Row]] = {}
        for row in rows:
            by_tag.setdefault(row.codes.tag, []).append(row)
        tagless = by_tag.pop(untagged, [])
        if not by_tag:
            self._merge_rows(hash_, tagless, [])
            return
        first, *others = by_tag.values()
        # Records without a tag go into the first tag, and are added to the others, too.
        self._merge_rows(hash_, [*first, *tagless], tagless)
        if others:
            tagless = self._distinct(tagless)
        for tagged in others:
            self._merge_rows(hash_, tagged, tagless)

    def _distinct(self, rows: Sequence[_Row]) -> list[_Row]:
        """Return one of the rows that add the same to a record, so that no tag handles all."""
        distinct: dict[tuple[int | bool, ...], _Row] = {}
        for row in rows:
            codes = row.codes
            look = codes.package, codes.version, codes.arch, codes.stack_set
            key = (*look, codes.presence, codes.unlisted, row.size is None)
            distinct.setdefault(key, row)
        if len(distinct) < len(rows):
            self._mark_merged(*(row.codes.document for row in rows))
        return list(distinct.values())

    def _merge_rows(self, hash_: str, rows: Sequence[_Row], added: Sequence[_Row]) -> None:
        """Merge the rows of one hash and tag into one, and add what other rows know of it."""
        kept = min(rows, key=self._rank)
        others = [row for row in rows if self._may_repeat(row, kept)]
        merged = [row for row in others if self._is_same(row, kept)]
        if len(merged) < len(others):
            documents = [row.codes.document for row in (kept, *others)]
            self._mark_merged(*documents)
            other = self._origin(documents[1])
            self._add_problem(documents[0], f"hash {hash_} is another spec in {other}")
        added = [row for row in added if self._is_same(row, kept)]
        joined = list(dict.fromkeys([kept, *merged, *added]))
        if len(joined) == 1:
            return
        unlisted = min(row.codes.unlisted for row in joined)
        codes = kept.codes.with_codes(
            tag=rows[0].codes.tag,
            unlisted=unlisted,
            stack_set=self._joined_stacks(joined),
            # A source that lists it only as a dependency does not offer it.
            presence=self._joined_presence([r for r in joined if r.codes.unlisted == unlisted]),
        )
        size = next((row.size for row in joined if row.size is not None), nan)
        staged = self._staged
        staged.look_alikes[kept.number] = staged.add_look_alikes([codes])
        staged.sizes[kept.number] = size
        staged.nodes[kept.number] = next((row.node for row in joined if row.node), 0)
        self._merged.update((row.number, kept.number) for row in merged)
        self._mark_merged(*(row.codes.document for row in joined))

    def _rank(self, row: _Row) -> tuple[int, bool, bool, int]:
        """Return a key that is smallest for the record with the most information."""
        lists_dependencies = self._documents[row.codes.document].lists_dependencies
        compiler = self._dictionaries.entry("arch", row.codes.arch)[0]
        # Without the record of a compiler its version is not known.
        return row.codes.unlisted, not lists_dependencies, "@" not in compiler, row.number

    def _is_same(self, row: _Row, kept: _Row) -> bool:
        """Check whether two records agree on what all documents spell alike."""
        first, second = row.codes, kept.codes
        if first.package != second.package or first.version != second.version:
            return False
        arches = [self._dictionaries.entry("arch", codes.arch)[1:] for codes in (first, second)]
        return bool(arches[0] == arches[1])

    def _may_repeat(self, row: _Row, kept: _Row) -> bool:
        """Check whether two records are of different documents, not both pages of one source."""
        first, second = (self._documents[r.codes.document] for r in (row, kept))
        are_pages = first.is_page and second.is_page and first.source == second.source
        return first is not second and not are_pages

    def _joined_stacks(self, rows: Sequence[_Row]) -> int:
        stacks = (self._dictionaries.entry("stack_set", row.codes.stack_set) for row in rows)
        return self._dictionaries["stack_set"][tuple(sorted(set(chain.from_iterable(stacks))))]

    def _joined_presence(self, rows: Sequence[_Row]) -> int:
        entries = [self._dictionaries.entry("presence", row.codes.presence) for row in rows]
        sources = sorted({source for sources, _ in entries for source in sources})
        states = {state for _, states in entries for state in states}
        if any("needed" not in states for _, states in entries):
            states.discard("needed")
        ordered = tuple(state for state in STATES if state in states)
        return self._dictionaries["presence"][tuple(sources), ordered]

    def _mark_merged(self, *documents: int) -> None:
        for document in documents:
            self._documents[document].is_merged = True

    def _add_problem(self, document: int, reason: str) -> None:
        self._connection.execute(
            "INSERT INTO problem (source, document, origin, place, reason)"
            " VALUES (?, ?, ?, '', ?)",
            (self._documents[document].source, document, self._origin(document), reason),
        )

    def _origin(self, document: int) -> str:
        rows = self._connection.execute("SELECT origin FROM document WHERE id = ?", (document,))
        (origin,) = rows.fetchone()
        return str(origin)

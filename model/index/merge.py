"""Make one record of those that several documents list under one hash and tag."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby
from math import nan
from typing import Any

from spackscope.model.core.records import STATES
from spackscope.model.index.columns import HASH_BYTES, unpack_hashes
from spackscope.model.index.staged import GONE, Staged

_OF_PAGES = "of the same source, tag and package"


def merge_repeated(staged: Staged) -> dict[int, int]:
    """Make one record of those with one hash and tag; records without a tag join those with one.

    The record with the most information is kept, and gets the sources, states and stacks of all.
    Records of one hash that name another package, version or architecture are kept, too, and are
    a Problem. Of what several pages of one source, tag and package repeat, the first is kept; a
    hash that they list with different content stays in every form. Both are Problems.

    Returns the number of the record that each merged record went into.
    """
    # All records of a page have the same tag and package.
    columns = (staged.codes[name] for name in ("document", "tag", "package"))
    pages = {
        document: (staged.source[document], tag, package)
        for document, tag, package in set(zip(*columns, strict=True))
        if staged.is_page[document]
    }
    sizes = Counter(pages.values())
    pages = {document: group for document, group in pages.items() if sizes[group] > 1}
    # Pages of one source, and nothing else, have no record in common but whole pages.
    is_mixed = not all(staged.is_page) or len(set(staged.source)) > 1
    merger = _Merger(staged, pages)
    for hash_, records in _repeated(staged) if pages or is_mixed else ():
        # Documents come in the order of reading, also those of an older index.
        records.sort(key=lambda record: (merger.document(record), record))
        records = merger.drop_repeated(hash_, records) if pages else records
        if is_mixed and merger.document(records[0]) != merger.document(records[-1]):
            merger.merge_hash(hash_, records)
    for number, kept in merger.merged.items():
        staged.look_alikes[number] = GONE
        # The record that is kept has the largest path, time and build spec of all.
        if (stated := staged.provenance.pop(number, None)) is not None:
            path, time, build_spec = stated
            its_path, its_time, its_build_spec = staged.provenance.get(kept, ("", None, ""))
            staged.provenance[kept] = (
                max(path, its_path),
                max((each for each in (time, its_time) if each is not None), default=None),
                max(build_spec, its_build_spec),
            )
    for document, count in sorted(merger.dropped.items()):
        are = "is" if count == 1 else "are"
        reason = f"{count:,} of its records {are} also in another page {_OF_PAGES}; shown once"
        staged.add_problem_of(document, reason)
    for document, reason in (*sorted(merger.different), *merger.others):
        staged.add_problem_of(document, reason)
    return merger.merged


def _repeated(staged: Staged) -> Iterator[tuple[bytes, list[int]]]:
    """Yield the hashes that several records have, in their order, with these records."""
    # Few at a time: a dictionary of all hashes would take much memory.
    groups = [array("I") for _ in range(256)]
    for record, byte in enumerate(staged.hashes[::HASH_BYTES]):
        groups[byte].append(record)
    for group in groups:
        for hash_, records in groupby(sorted(group, key=staged.hash_at), staged.hash_at):
            if len(several := list(records)) > 1:
                yield hash_, several


class _Merger:
    """Merges the records of one hash after the other.

    `pages` are the documents that are pages of the same source, tag and package as others, and
    these. `merged` has the record that each merged one went into, `dropped` the number of records
    of a page that others repeat, and the others are problems.
    """

    def __init__(self, staged: Staged, pages: dict[int, tuple[int, int, int]]) -> None:
        self._staged, self._pages = staged, pages
        self.merged: dict[int, int] = {}
        self.dropped: Counter[int] = Counter()
        self.different: list[tuple[int, str]] = []
        self.others: list[tuple[int, str]] = []

    def _code(self, name: str, record: int) -> int:
        return self._staged.codes[name][self._staged.look_alikes[record]]

    def _entry(self, name: str, record: int) -> Any:
        return self._staged.dictionaries[name].entries[self._code(name, record)]

    def document(self, record: int) -> int:
        """Return the document of a record."""
        return self._code("document", record)

    def _mark_merged(self, *documents: int) -> None:
        for document in documents:
            self._staged.merged[document] = 1

    def drop_repeated(self, hash_: bytes, records: Sequence[int]) -> list[int]:
        """Drop records of a hash that an earlier page repeats; return the others."""
        staged, first, left = self._staged, dict[object, int](), []
        listing: defaultdict[object, set[int]] = defaultdict(set)
        for record in records:
            document = self.document(record)
            if (group := self._pages.get(document)) is not None:
                size = staged.sizes[record]
                content = (self._code(n, record) for n in staged.codes if n != "document")
                key = group, size if size == size else None, *content
                if first.setdefault(key, record) != record:
                    self._mark_merged(document, self.document(first[key]))
                    self.dropped[document] += 1
                    staged.look_alikes[record] = GONE
                    continue
                listing[group].add(document)
            left.append(record)
        for pages in listing.values():
            if len(pages) > 1:
                self._mark_merged(*pages)
                what = f"hash {unpack_hashes(hash_)[0]} has different content"
                self.different.append((min(pages), f"{what} in {len(pages)} pages {_OF_PAGES}"))
        return left

    def merge_hash(self, hash_: bytes, records: Sequence[int]) -> None:
        """Merge the records of a hash, which come in the order of their documents."""
        untagged = self._staged.dictionaries["tag"].get("", -1)
        by_tag: dict[int, list[int]] = {}
        for record in records:
            by_tag.setdefault(self._code("tag", record), []).append(record)
        tagless = by_tag.pop(untagged, [])
        first, *others = by_tag.values() or [[]]
        # Records without a tag go into the first tag, and are added to the others, too.
        changes = [self._merged(hash_, [*first, *tagless], [])]
        if others:
            # Of those that add the same to a record one is enough, so that no tag handles all.
            names = ("package", "version", "arch", "stack_set", "presence", "unlisted")
            distinct: dict[object, int] = {}
            for record in tagless:
                has_size = self._staged.sizes[record] == self._staged.sizes[record]
                key = (*(self._code(name, record) for name in names), has_size)
                distinct.setdefault(key, record)
            if len(distinct) < len(tagless):
                self._mark_merged(*map(self.document, tagless))
            changes += [self._merged(hash_, tagged, [*distinct.values()]) for tagged in others]
        for change in filter(None, changes):
            change()

    def _merged(
        self, hash_: bytes, records: Sequence[int], added: Sequence[int]
    ) -> Callable[[], None] | None:
        """Merge records of one hash and tag into one, and add what other records know of it.

        Returns what changes the record that is kept, if it changes.
        """
        staged = self._staged
        kept = min(records, key=self._rank)
        others = [record for record in records if self._may_repeat(record, kept)]
        merged = [record for record in others if self._is_same(record, kept)]
        if len(merged) < len(others):
            self._mark_merged(*map(self.document, (kept, *others)))
            other = staged.origins[self.document(others[0])]
            reason = f"hash {unpack_hashes(hash_)[0]} is another spec in {other}"
            self.others.append((self.document(kept), reason))
        added = [record for record in added if self._is_same(record, kept)]
        joined = list(dict.fromkeys([kept, *merged, *added]))
        if len(joined) == 1:
            return None
        self.merged.update(dict.fromkeys(merged, kept))
        self._mark_merged(*map(self.document, joined))
        unlisted = min(self._code("unlisted", record) for record in joined)
        stacks = chain.from_iterable(self._entry("stack_set", record) for record in joined)
        # A source that lists it only as a dependency does not offer it.
        offers = [record for record in joined if self._code("unlisted", record) == unlisted]
        sources, states = zip(*(self._entry("presence", record) for record in offers), strict=True)
        joined_states = set(chain.from_iterable(states))
        if not all("needed" in each for each in states):
            joined_states.discard("needed")
        presence = (
            tuple(sorted(set(chain.from_iterable(sources)))),
            tuple(state for state in STATES if state in joined_states),
        )
        codes = {
            "tag": self._code("tag", records[0]),
            "unlisted": unlisted,
            "stack_set": staged.dictionaries["stack_set"][tuple(sorted(set(stacks)))],
            "presence": staged.dictionaries["presence"][presence],
        }
        size = next((s for s in map(staged.sizes.__getitem__, joined) if s == s), nan)
        node = next(filter(None, map(staged.nodes.__getitem__, joined)), 0)

        def change() -> None:
            look_alike, staged.look_alikes[kept] = (
                staged.look_alikes[kept],
                len(staged.codes["document"]),
            )
            for name, column in staged.codes.items():
                column.append(codes.get(name, column[look_alike]))
            staged.sizes[kept], staged.nodes[kept] = size, node

        return change

    def _rank(self, record: int) -> tuple[int, bool, bool]:
        """Return a key that is smallest for the record with the most information."""
        lists_dependencies = self._staged.dependencies[self.document(record)]
        # Without the record of a compiler its version is not known.
        has_version = "@" in self._entry("arch", record)[0]
        return self._code("unlisted", record), not lists_dependencies, not has_version

    def _is_same(self, record: int, kept: int) -> bool:
        """Check whether two records agree on what all documents spell alike."""
        return all(
            self._entry(name, record)[start:] == self._entry(name, kept)[start:]
            for name, start in (("package", 0), ("version", 0), ("arch", 1))
        )

    def _may_repeat(self, record: int, kept: int) -> bool:
        """Check whether two records are of different documents, not both pages of one source."""
        staged, documents = self._staged, (self.document(record), self.document(kept))
        are_pages = all(map(staged.is_page.__getitem__, documents))
        return len({*documents}) > 1 and not (
            are_pages and len({*map(staged.source.__getitem__, documents)}) == 1
        )

"""Make one record of those that several documents list under one hash and tag."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from math import nan
from typing import Any, NamedTuple

from spackscope.model.core.records import STATES
from spackscope.model.index.columns import HASH_BYTES, unpack_hashes
from spackscope.model.index.staged import GONE, Staged


def drop_repeated_pages(staged: Staged) -> None:
    """Drop records that other pages of the same source, tag and package repeat.

    A hash that they list with different content stays in every form, and is a Problem.
    """
    # All records of a page have the same tag and package.
    columns = staged.codes["document"], staged.codes["tag"], staged.codes["package"]
    groups = {
        document: (staged.source[document], tag, package)
        for document, tag, package in set(zip(*columns, strict=True))
        if staged.is_page[document]
    }
    sizes = Counter(groups.values())
    if len(sizes) == len(groups):
        return
    is_shared = bytes(n in groups and sizes[groups[n]] > 1 for n in range(len(staged.source)))
    first: dict[tuple[object, ...], int] = {}
    listing: defaultdict[tuple[object, bytes], set[int]] = defaultdict(set)
    counts: Counter[int] = Counter()
    # The records of an older index come last, whichever page they are of.
    for document, number in sorted(
        (staged.codes["document"][look_alike], number)
        for number, look_alike in enumerate(staged.look_alikes)
        if is_shared[staged.codes["document"][look_alike]]
    ):
        look_alike, hash_ = staged.look_alikes[number], staged.hash_at(number)
        content = [
            column[look_alike] for name, column in staged.codes.items() if name != "document"
        ]
        group, size = groups[document], staged.sizes[number]
        key = group, hash_, size if size == size else None, *content
        if key not in first:
            first[key] = document
            listing[group, hash_].add(document)
            continue
        staged.look_alikes[number] = GONE
        counts[document] += 1
        staged.mark_merged(document, first[key])
    where = "of the same source, tag and package"
    for document, count in sorted(counts.items()):
        are = "is" if count == 1 else "are"
        reason = f"{count:,} of its records {are} also in another page {where}; shown once"
        staged.add_problem_of(document, reason)
    several = ((min(pages), hash_, pages) for (_, hash_), pages in listing.items())
    for document, hash_, pages in sorted(each for each in several if len(each[2]) > 1):
        staged.mark_merged(*pages)
        reason = (
            f"hash {unpack_hashes(hash_)[0]} has different content in {len(pages)} pages {where}"
        )
        staged.add_problem_of(document, reason)


def merge_repeated(staged: Staged) -> dict[int, int]:
    """Make one record of those with one hash and tag; records without a tag join those with one.

    The record with the most information is kept, and gets the sources, states and stacks of all.
    Records of one hash that name another package, version or architecture are kept, too, and are
    a Problem. Returns the number of the record that each merged record went into.
    """
    # Pages of one source, and nothing else, have no record in common but whole pages.
    if all(staged.is_page) and len(set(staged.source)) < 2:
        return {}
    merger = _Merger(staged)
    for hash_, numbers in _repeated(staged):
        rows = [
            _Row(number, staged.look_alikes[number], staged.sizes[number], staged.nodes[number])
            for number in numbers
        ]
        # Documents come in the order of reading, also those of an older index.
        rows.sort(key=lambda row: (merger.code("document", row), row.number))
        if merger.code("document", rows[0]) != merger.code("document", rows[-1]):
            merger.merge_hash(hash_, rows)
    for number, kept in merger.merged.items():
        staged.look_alikes[number] = GONE
        # The record that stays has the largest path, time and build spec of all.
        if (stated := staged.provenance.pop(number, None)) is not None:
            path, time, build_spec = stated
            its_path, its_time, its_build_spec = staged.provenance.get(kept, ("", None, ""))
            staged.provenance[kept] = (
                max(path, its_path),
                max((each for each in (time, its_time) if each is not None), default=None),
                max(build_spec, its_build_spec),
            )
    return merger.merged


def _repeated(staged: Staged) -> Iterator[tuple[bytes, list[int]]]:
    """Yield the hashes that several records have, in their order, with these records."""
    # Few at a time: a dictionary of all hashes would take much memory.
    groups = [array("I") for _ in range(256)]
    firsts = staged.hashes[::HASH_BYTES]
    for number, look_alike in enumerate(staged.look_alikes):
        if look_alike != GONE:
            groups[firsts[number]].append(number)
    for group in groups:
        for hash_, numbers in groupby(sorted(group, key=staged.hash_at), staged.hash_at):
            if len(several := list(numbers)) > 1:
                yield hash_, several


class _Row(NamedTuple):
    """A record as it was staged: its look-alike becomes another one when it is merged."""

    number: int
    look_alike: int
    size: float
    node: int


class _Merger:
    """Merges the records of one hash after the other."""

    def __init__(self, staged: Staged) -> None:
        self._staged = staged
        self.merged: dict[int, int] = {}

    def code(self, name: str, row: _Row) -> int:
        """Return a code of a record."""
        return self._staged.codes[name][row.look_alike]

    def _entry(self, name: str, row: _Row) -> Any:
        return self._staged.dictionaries[name].entry(self.code(name, row))

    def merge_hash(self, hash_: bytes, rows: Sequence[_Row]) -> None:
        """Merge the records of a hash, which come in the order of their documents."""
        untagged = self._staged.dictionaries["tag"].get("", -1)
        by_tag: dict[int, list[_Row]] = {}
        for row in rows:
            by_tag.setdefault(self.code("tag", row), []).append(row)
        tagless = by_tag.pop(untagged, [])
        first, *others = by_tag.values() or [[]]
        # Records without a tag go into the first tag, and are added to the others, too.
        self._merge_rows(hash_, [*first, *tagless], [])
        if others and tagless:
            # Of those that add the same to a record one is enough, so that no tag handles all.
            distinct: dict[object, _Row] = {}
            names = ("package", "version", "arch", "stack_set", "presence", "unlisted")
            for row in tagless:
                key = (*(self.code(name, row) for name in names), row.size == row.size)
                distinct.setdefault(key, row)
            if len(distinct) < len(tagless):
                self._mark_merged(tagless)
            tagless = list(distinct.values())
        for tagged in others:
            self._merge_rows(hash_, tagged, tagless)

    def _merge_rows(self, hash_: bytes, rows: Sequence[_Row], added: Sequence[_Row]) -> None:
        """Merge the rows of one hash and tag into one, and add what other rows know of it."""
        staged = self._staged
        kept = min(rows, key=self._rank)
        others = [row for row in rows if self._may_repeat(row, kept)]
        merged = [row for row in others if self._is_same(row, kept)]
        if len(merged) < len(others):
            self._mark_merged([kept, *others])
            other = staged.origins[self.code("document", others[0])]
            reason = f"hash {unpack_hashes(hash_)[0]} is another spec in {other}"
            staged.add_problem_of(self.code("document", kept), reason)
        added = [row for row in added if self._is_same(row, kept)]
        joined = list(dict.fromkeys([kept, *merged, *added]))
        if len(joined) == 1:
            return
        unlisted = min(self.code("unlisted", row) for row in joined)
        stacks = chain.from_iterable(self._entry("stack_set", row) for row in joined)
        # A source that lists it only as a dependency does not offer it.
        offers = [row for row in joined if self.code("unlisted", row) == unlisted]
        presences = [self._entry("presence", row) for row in offers]
        codes = {
            "tag": self.code("tag", rows[0]),
            "unlisted": unlisted,
            "stack_set": staged.dictionaries["stack_set"][tuple(sorted(set(stacks)))],
            "presence": staged.dictionaries["presence"][_joined_presence(presences)],
        }
        staged.look_alikes[kept.number] = len(staged.codes["document"])
        for name, column in staged.codes.items():
            column.append(codes.get(name, column[kept.look_alike]))
        staged.sizes[kept.number] = next((r.size for r in joined if r.size == r.size), nan)
        staged.nodes[kept.number] = next((row.node for row in joined if row.node), 0)
        self.merged.update((row.number, kept.number) for row in merged)
        self._mark_merged(joined)

    def _mark_merged(self, rows: Sequence[_Row]) -> None:
        self._staged.mark_merged(*(self.code("document", row) for row in rows))

    def _rank(self, row: _Row) -> tuple[int, bool, bool]:
        """Return a key that is smallest for the record with the most information."""
        lists_dependencies = self._staged.dependencies[self.code("document", row)]
        # Without the record of a compiler its version is not known.
        has_version = "@" in self._entry("arch", row)[0]
        return self.code("unlisted", row), not lists_dependencies, not has_version

    def _is_same(self, row: _Row, kept: _Row) -> bool:
        """Check whether two records agree on what all documents spell alike."""
        names = ("package", "version")
        if any(self.code(name, row) != self.code(name, kept) for name in names):
            return False
        return bool(self._entry("arch", row)[1:] == self._entry("arch", kept)[1:])

    def _may_repeat(self, row: _Row, kept: _Row) -> bool:
        """Check whether two records are of different documents, not both pages of one source."""
        staged = self._staged
        first, second = self.code("document", row), self.code("document", kept)
        are_pages = staged.is_page[first] and staged.is_page[second]
        return first != second and not (
            are_pages and staged.source[first] == staged.source[second]
        )


def _joined_presence(presences: Sequence[Any]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return all sources of some records, and their states: needed is what all only need."""
    sources = sorted({source for sources, _ in presences for source in sources})
    states = {state for _, states in presences for state in states}
    if any("needed" not in states for _, states in presences):
        states.discard("needed")
    return tuple(sources), tuple(state for state in STATES if state in states)

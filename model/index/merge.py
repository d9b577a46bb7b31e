"""Make one record of those that several documents list under one hash and tag."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, compress, groupby
from math import nan
from operator import itemgetter
from typing import Any

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import STATES
from spackscope.model.index.columns import CODES, HASH_BYTES, unpack_hashes

GONE = 0xFFFFFFFF
"""The look-alike of a record that was merged into another one, or dropped."""

Entry = Any
"""The value of a dictionary with one column, else the tuple of their values."""

AddProblem = Callable[[int, str], None]
"""Adds a problem of a document."""


class Dictionary(dict[Entry, int]):
    """Number values in the order in which they are first seen."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def __missing__(self, value: Entry) -> int:
        code = self[value] = len(self)
        self.entries.append(value)
        return code


class Codes(tuple[int, ...]):
    """The codes that make a look-alike, in the order of `CODES`."""

    __slots__ = ()

    package = property(itemgetter(CODES.index("package")))
    version = property(itemgetter(CODES.index("version")))
    arch = property(itemgetter(CODES.index("arch")))
    stack_set = property(itemgetter(CODES.index("stack_set")))
    tag = property(itemgetter(CODES.index("tag")))
    document = property(itemgetter(CODES.index("document")))
    presence = property(itemgetter(CODES.index("presence")))
    unlisted = property(itemgetter(CODES.index("unlisted")))

    def with_codes(self, **codes: int) -> Codes:
        """Return the codes with others for some names."""
        return Codes(codes.get(name, code) for name, code in zip(CODES, self, strict=True))


class Staged:
    """Records until all are read: look-alikes by their numbers, and their records by theirs.

    `codes` has the columns of the look-alikes, in codes of the dictionaries; two of them may be
    equal. The other columns are those of the records: the number of the look-alike, the bytes of
    the hash, the size in bytes (NaN if it is unknown) and the code of the node. A record takes 36
    bytes.

    `provenance` has path, time and build spec of the records that state one, by their numbers.
    Documents have a source, may be pages and may list dependencies. Those that are `merged` share
    records with others, and cannot be told from these again.
    """

    def __init__(self, dictionaries: dict[str, Dictionary]) -> None:
        self.dictionaries = dictionaries
        self.codes = {name: array("I") for name in CODES}
        self.look_alikes = array("I")
        self.hashes = bytearray()
        self.sizes = array("d")
        self.nodes = array("I")
        self.provenance: dict[int, tuple[str, float | None, str]] = {}
        self.source, self.specs = array("I"), array("I")
        self.is_page, self.dependencies, self.merged = bytearray(), bytearray(), bytearray()

    def hash_at(self, number: int) -> bytes:
        """Return the bytes of the hash of a record."""
        return bytes(self.hashes[number * HASH_BYTES : (number + 1) * HASH_BYTES])

    def codes_of(self, look_alike: int) -> Codes:
        """Return the codes of a look-alike."""
        return Codes([column[look_alike] for column in self.codes.values()])

    def mark_merged(self, *documents: int) -> None:
        """Mark documents as merged."""
        for document in documents:
            self.merged[document] = 1


class _Row(Frozen):
    """One staged record."""

    number: int
    codes: Codes
    size: float
    node: int


def drop_repeated_pages(staged: Staged, add_problem: AddProblem) -> None:
    """Drop records that other pages of the same source, tag and package repeat.

    A hash that they list with different content stays in every form, and is a Problem.
    """
    # All records of a page have the same tag and package.
    columns = staged.codes["document"], staged.codes["tag"], staged.codes["package"]
    groups = {
        document: (staged.source[document], tag, package)
        for document, tag, package in zip(*columns, strict=True)
        if staged.is_page[document]
    }
    sizes = Counter(groups.values())
    if len(sizes) == len(groups):
        return
    pages = {document for document, group in groups.items() if sizes[group] > 1}
    is_shared = bytes(map(pages.__contains__, staged.codes["document"]))
    first: dict[tuple[object, ...], int] = {}
    listing: defaultdict[tuple[object, bytes], set[int]] = defaultdict(set)
    counts: Counter[int] = Counter()
    # The records of an older index come last, whichever page they are of.
    for document, number in sorted(
        (staged.codes["document"][look_alike], number)
        for number, look_alike in enumerate(staged.look_alikes)
        if is_shared[look_alike]
    ):
        content = staged.codes_of(staged.look_alikes[number]).with_codes(document=0)
        hash_, size = staged.hash_at(number), staged.sizes[number]
        group = groups[document]
        key = group, content, hash_, size if size == size else None
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
        add_problem(document, reason)
    several = ((min(pages), hash_, pages) for (_, hash_), pages in listing.items())
    for document, hash_, pages in sorted(each for each in several if len(each[2]) > 1):
        staged.mark_merged(*pages)
        text = unpack_hashes(hash_)[0]
        add_problem(document, f"hash {text} has different content in {len(pages)} pages {where}")


class Merger:
    """Makes one record of those that several documents list under one hash and tag.

    Records without a tag join those with one. The record with the most information is kept,
    and gets the sources, states and stacks of all. Records of one hash that name another
    package, version or architecture are kept, too, and are a Problem.
    """

    def __init__(self, staged: Staged, origins: Sequence[str], problem: AddProblem) -> None:
        self._staged, self._origins, self._add_problem = staged, origins, problem
        self._entries = {name: each.entries for name, each in staged.dictionaries.items()}
        self._merged: dict[int, int] = {}

    def merge(self) -> dict[int, int]:
        """Merge; return the number of the record that each merged record went into."""
        staged = self._staged
        for hash_, numbers in self._repeated():
            rows = (
                _Row(
                    number,
                    staged.codes_of(staged.look_alikes[number]),
                    staged.sizes[number],
                    staged.nodes[number],
                )
                for number in numbers
            )
            # Documents come in the order of reading, also those of an older index.
            by_document = sorted(rows, key=lambda row: (row.codes.document, row.number))
            if by_document[0].codes.document != by_document[-1].codes.document:
                self._merge_hash(hash_, by_document)
        for number in self._merged:
            staged.look_alikes[number] = GONE
        self._merge_provenance()
        return self._merged

    def _repeated(self) -> Iterator[tuple[bytes, list[int]]]:
        """Yield the hashes that several records have, in their order, with these records."""
        # Few at a time: a dictionary of all hashes would take much memory.
        groups = [array("I") for _ in range(256)]
        present = map(GONE.__ne__, self._staged.look_alikes)
        firsts = self._staged.hashes[::HASH_BYTES]
        for number in compress(range(len(firsts)), present):
            groups[firsts[number]].append(number)
        for group in groups:
            in_order = sorted(group, key=self._staged.hash_at)
            for hash_, numbers in groupby(in_order, self._staged.hash_at):
                if len(several := list(numbers)) > 1:
                    yield hash_, several

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

    def _merge_hash(self, hash_: bytes, rows: Sequence[_Row]) -> None:
        untagged = self._staged.dictionaries["tag"].get("", -1)
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
        distinct: dict[object, _Row] = {}
        for row in rows:
            codes = row.codes
            look = codes.package, codes.version, codes.arch, codes.stack_set
            key = (*look, codes.presence, codes.unlisted, row.size == row.size)
            distinct.setdefault(key, row)
        if len(distinct) < len(rows):
            self._staged.mark_merged(*(row.codes.document for row in rows))
        return list(distinct.values())

    def _merge_rows(self, hash_: bytes, rows: Sequence[_Row], added: Sequence[_Row]) -> None:
        """Merge the rows of one hash and tag into one, and add what other rows know of it."""
        staged = self._staged
        kept = min(rows, key=self._rank)
        others = [row for row in rows if self._may_repeat(row, kept)]
        merged = [row for row in others if self._is_same(row, kept)]
        if len(merged) < len(others):
            documents = [row.codes.document for row in (kept, *others)]
            staged.mark_merged(*documents)
            other, text = self._origins[documents[1]], unpack_hashes(hash_)[0]
            self._add_problem(documents[0], f"hash {text} is another spec in {other}")
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
        staged.look_alikes[kept.number] = len(staged.codes["document"])
        for column, code in zip(staged.codes.values(), codes, strict=True):
            column.append(code)
        sizes = (row.size for row in joined if row.size == row.size)
        staged.sizes[kept.number] = next(sizes, nan)
        staged.nodes[kept.number] = next((row.node for row in joined if row.node), 0)
        self._merged.update((row.number, kept.number) for row in merged)
        staged.mark_merged(*(row.codes.document for row in joined))

    def _rank(self, row: _Row) -> tuple[int, bool, bool]:
        """Return a key that is smallest for the record with the most information."""
        lists_dependencies = self._staged.dependencies[row.codes.document]
        compiler = self._entries["arch"][row.codes.arch][0]
        # Without the record of a compiler its version is not known.
        return row.codes.unlisted, not lists_dependencies, "@" not in compiler

    def _is_same(self, row: _Row, kept: _Row) -> bool:
        """Check whether two records agree on what all documents spell alike."""
        first, second = row.codes, kept.codes
        if first.package != second.package or first.version != second.version:
            return False
        arches = self._entries["arch"]
        return bool(arches[first.arch][1:] == arches[second.arch][1:])

    def _may_repeat(self, row: _Row, kept: _Row) -> bool:
        """Check whether two records are of different documents, not both pages of one source."""
        first, second = row.codes.document, kept.codes.document
        are_pages = self._staged.is_page[first] and self._staged.is_page[second]
        are_alike = self._staged.source[first] == self._staged.source[second]
        return first != second and not (are_pages and are_alike)

    def _joined_stacks(self, rows: Sequence[_Row]) -> int:
        stacks = (self._entries["stack_set"][row.codes.stack_set] for row in rows)
        joined = tuple(sorted(set(chain.from_iterable(stacks))))
        return self._staged.dictionaries["stack_set"][joined]

    def _joined_presence(self, rows: Sequence[_Row]) -> int:
        entries = [self._entries["presence"][row.codes.presence] for row in rows]
        sources = sorted({source for sources, _ in entries for source in sources})
        states = {state for _, states in entries for state in states}
        if any("needed" not in states for _, states in entries):
            states.discard("needed")
        ordered = tuple(state for state in STATES if state in states)
        return self._staged.dictionaries["presence"][tuple(sources), ordered]

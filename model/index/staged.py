"""Records of documents in columns of codes, before they have ids.

Records come from readers, or from an older index, which is one more reader: that of the documents
that did not change since.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, compress, count, repeat
from math import nan
from operator import attrgetter, not_, sub
from typing import Any

from spackscope.model.core.columns import STORED
from spackscope.model.core.frozen import fields
from spackscope.model.core.records import (
    STATES,
    Dependency,
    Look,
    NodeFacts,
    Problem,
    Provenance,
    Records,
    Spec,
)
from spackscope.model.index.columns import (
    CODES,
    HASH_BYTES,
    Columns,
    Rows,
    pack_hashes,
    read_dictionary,
    unpack_hashes,
    with_tuples,
)
from spackscope.model.readers.json import storable
from spackscope.model.sources.document import DiscoveredSource, Document, fingerprint

GONE = 0xFFFFFFFF
"""The look-alike of a record that was merged into another one, or dropped."""

_BATCH = 1024
"""Look-alikes whose values are looked up at once; many documents have only a few."""

_KEY_BYTES = 16
"""Bytes of the digest by which a document is known."""

_ENTRIES = {
    storage: attrgetter(*(column.attribute for column in columns))
    for storage, columns in STORED.items()
}
_dependencies = attrgetter("dependencies")
_in_cache = attrgetter("in_cache")
_flags = attrgetter("cached", "installed", "explicit", "in_cache", "is_spliced")
_node = attrgetter(*NodeFacts._fields)
_provenance = attrgetter(*(f.name for f in fields(Provenance) if f.name not in NodeFacts._fields))

Entry = Any
"""The value of a dictionary with one column, else the tuple of their values."""

Node = tuple[int, bytes]
"""A dependency as a document names it: the number of the document, and the hash."""


class Dictionary(dict[Entry, int]):
    """Number values in the order in which they are first seen."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = list(entries)
        super().__init__(zip(self.entries, count()))

    def __missing__(self, value: Entry) -> int:
        code = self[value] = len(self)
        self.entries.append(value)
        return code

    def entry(self, code: int) -> Entry:
        """Return the value with a code."""
        return self.entries[code]


class Presence(dict[tuple[bool, ...], int]):
    """The codes of the source and the states of records, by their flags."""

    def __init__(self, dictionary: Dictionary, source: int, *, cached: bool) -> None:
        self._dictionary, self._source, self._cached = dictionary, source, cached

    def __missing__(self, flags: tuple[bool, ...]) -> int:
        cached, installed, explicit, in_cache, is_spliced = flags
        is_cached = cached or (self._cached and in_cache)
        states = compress(STATES, (is_cached, installed, explicit, not in_cache, is_spliced))
        code = self[flags] = self._dictionary[(self._source,), tuple(states)]
        return code


class Edges:
    """Edges by the numbers of their records, nodes and kinds: edge i leads to node `children[i]`.

    Record i owns the edges first[i]:first[i + 1]. `names` are those of the nodes.
    """

    def __init__(self) -> None:
        self.first, self.children, self.kinds = array("I", [0]), array("I"), array("I")
        self.kind_codes = Dictionary()
        self.nodes: dict[Node, int] = {}
        self.names: list[str] = []
        # Readers make one object of equal edges of a document; comparing them takes longer.
        self._document = -1
        self._known: dict[int, tuple[int, int, Dependency]] = {}

    def add(self, record: int, document: int, edges: Iterable[Dependency]) -> None:
        """Add the edges of a record; records come in the order of their numbers."""
        self.fill(record)
        if document != self._document:
            self._document, self._known = document, {}
        for edge in edges:
            if (known := self._known.get(id(edge))) is None:
                node = self.nodes.setdefault((document, pack_hashes(edge.hash)), len(self.nodes))
                if node == len(self.names):
                    self.names.append(edge.name)
                kind = self.kind_codes[edge.deptypes, edge.virtuals]
                # The object is kept with its codes, so that no other one gets its id.
                known = self._known[id(edge)] = node, kind, edge
            self.children.append(known[0])
            self.kinds.append(known[1])

    def fill(self, record: int) -> None:
        """Have no edges for the records before one that have none."""
        self.first.extend([len(self.children)] * (record + 1 - len(self.first)))


class Lists(Dictionary):
    """Numbers lists of texts: those of an older index, whose codes are in their order, and others.

    List i of the older index has the texts at the places offsets[i]:offsets[i + 1] of `places`.
    `entries` are the other ones.
    """

    def __init__(self, old: Columns | None, name: str) -> None:
        super().__init__()
        self.texts: list[str] = old.json(f"{name}.texts") if old is not None else []
        lengths = old.numbers(f"{name}.lengths") if old is not None else ()
        self.places = old.wide(f"{name}.places") if old is not None else array("I")
        self.offsets = array("I", accumulate(lengths, initial=0))
        self._place_of = {text: place for place, text in enumerate(self.texts)}

    def __missing__(self, value: Entry) -> int:
        old = len(self.offsets) - 1
        try:
            places = array("I", map(self._place_of.__getitem__, value))
            code = bisect_left(range(old), places, key=self._places)
        except KeyError:
            code = old
        if code == old or self._places(code) != places:
            code = old + len(self.entries)
            self.entries.append(value)
        self[value] = code
        return code

    def _places(self, code: int) -> array[int]:
        return self.places[self.offsets[code] : self.offsets[code + 1]]

    def entry(self, code: int) -> Entry:
        """Return the list with a code."""
        old = len(self.offsets) - 1
        if code >= old:
            return self.entries[code - old]
        return tuple(map(self.texts.__getitem__, self._places(code)))


class Staged:
    """Records until all are read: look-alikes by their numbers, and their records by theirs.

    `codes` has the columns of the look-alikes, in codes of the dictionaries; two of them may be
    equal. The other columns are those of the records: the number of the look-alike, the bytes of
    the hash, the size in bytes (NaN if it is unknown) and the code of the node, which is 0 where
    nothing is stated, as on pages. `provenance` has path, time and build spec of the records that
    state one.

    Documents have a source, may be pages and may list dependencies; `specs` are their listed
    records. Those that are `merged` share records with others, and cannot be told from these
    again.
    """

    def __init__(
        self,
        discovered: Sequence[DiscoveredSource],
        old: Columns | None,
        *,
        include_dependency_only: bool,
    ) -> None:
        self.sources = {each.source: number for number, each in enumerate(discovered)}
        self._include_dependency_only = include_dependency_only
        self.old = OldIndex(old) if old is not None else None
        if self.old is not None and self.old.sources != [storable(each) for each in self.sources]:
            self.old = old = None
        self.dictionaries = {storage: _dictionary(storage, old) for storage in STORED}
        self.nodes_stated = Dictionary([NodeFacts()])
        self.edges = Edges()
        self.archives: dict[bytes, float] = {}
        self.problems: list[tuple[int | None, int | None, str, str, str]] = []
        # Look-alikes. Values are looked up for many at once, if these are of alike documents.
        self.codes = {name: array("I") for name in CODES}
        self._looks: list[Spec | Look] = []
        self._context: tuple[str, bool, str, str] = ("", False, "", "")
        # Records.
        self.look_alikes = array("I")
        self.hashes = bytearray()
        self.sizes = array("d")
        self.nodes = array("I")
        self.provenance: dict[int, tuple[str, float | None, str]] = {}
        # Documents.
        self.source, self.specs = array("I"), array("I")
        self.is_page, self.dependencies, self.merged = bytearray(), bytearray(), bytearray()
        self.keys = bytearray()
        self.origins: list[str] = []

    def add_problem(self, source: str, problem: Problem, document: int | None = None) -> None:
        """Add what could not be read, of a source, and of a document if it belongs to one."""
        texts = storable(problem.origin), storable(problem.place), storable(problem.reason)
        self.problems.append((self.sources[source], document, *texts))

    def add_problem_of(self, document: int, reason: str) -> None:
        """Add a problem with the records of a document."""
        source = self.source[document]
        self.problems.append((source, document, self.origins[document], "", reason))

    def add_archive(self, hash_: str, size: float) -> None:
        """Add the size of an archive, for all records of its hash without one."""
        self.archives.setdefault(pack_hashes(hash_), size)

    def keep(self, document: Document) -> bool:
        """Keep the records and problems of a document that the old index has unchanged."""
        if self.old is None:
            return False
        source, digest = self.sources[document.source], _digest(document)
        number = self.old.documents.pop((source, digest), None)
        if number is None:
            return False
        self.old.kept[number] = new = self._add_document(source, digest, document.origin)
        self.is_page[new] = self.old.is_page[number]
        self.specs[new] = self.old.specs[number]
        self.dependencies[new] = self.old.dependencies[number]
        self.problems += ((source, new, *texts) for texts in self.old.problems.get(number, ()))
        return True

    def add(
        self, document: Document, items: Iterable[Records | Problem], *, is_page: bool = False
    ) -> bool:
        """Add the records of a document, and its problems.

        Returns whether its format is known: then it has records, or no problem either.
        """
        source = self.sources[document.source]
        number = self._add_document(source, _digest(document), document.origin)
        self.is_page[number] = is_page
        context = (document.source, document.cached, document.tag, document.stack)
        if context != self._context:
            self._look_up()
            self._context = context
        has_problem = has_records = False
        for item in items:
            if isinstance(item, Problem):
                has_problem = True
                self.add_problem(document.source, item, number)
            elif item.hashes:
                has_records = True
                self._add_records(item, number)
        return has_records or not has_problem

    def _add_document(self, source: int, digest: bytes, origin: str) -> int:
        self.source.append(source)
        self.specs.append(0)
        for column in (self.is_page, self.dependencies, self.merged):
            column.append(0)
        self.keys += digest
        self.origins.append(storable(origin))
        return len(self.source) - 1

    def _add_records(self, records: Records, document: int) -> None:
        looks, numbers = records.looks, records.numbers
        first, first_record = len(self.codes["document"]), len(self.look_alikes)
        if len(set(records.hashes)) < len(records.hashes):
            # Which of them is the first is not known later.
            self.merged[document] = 1
        unlisted = bytes(map(not_, map(_in_cache, looks)))
        if self._include_dependency_only:
            unlisted = bytes(len(looks))
        self.specs[document] += len(numbers)
        if any(unlisted):
            self.specs[document] -= sum(map(unlisted.__getitem__, numbers))
        self.codes["document"].extend(repeat(document, len(looks)))
        self.codes["unlisted"].extend(unlisted)
        self.look_alikes.extend(map(first.__add__, numbers))
        self.hashes += pack_hashes("".join(records.hashes))
        self.sizes.extend(nan if size is None else size for size in records.sizes)
        self._looks += looks
        if len(self._looks) >= _BATCH:
            self._look_up()
        # What states no dependencies states nothing else beside the columns, as pages do.
        dependencies = list(map(_dependencies, looks))
        if dependencies.count(None) == len(looks):
            self.nodes.frombytes(bytes(self.nodes.itemsize * len(numbers)))
            return
        self.dependencies[document] = 1
        stated = self.nodes_stated
        nodes = [0 if look.dependencies is None else stated[_node(look)] for look in looks]
        self.nodes.extend(map(nodes.__getitem__, numbers))
        for record, number in enumerate(numbers, first_record):
            look = looks[number]
            if look.dependencies is not None:
                self.edges.add(record, document, look.dependencies)
                if any(provenance := _provenance(look)):
                    self.provenance[record] = provenance

    def _look_up(self) -> None:
        """Look up the values of the look-alikes that were added last."""
        source, cached, tag, stack = self._context
        looks, self._looks = self._looks, []
        if not looks:
            return
        presence = Presence(self.dictionaries["presence"], self.sources[source], cached=cached)
        for storage, dictionary in self.dictionaries.items():
            values: Iterable[Entry] = (
                map(_ENTRIES[storage], looks) if storage != "presence" else ()
            )
            # Some values come from the document.
            if storage == "tag" and tag:
                values = (value or tag for value in values)
            elif storage == "stack_set" and stack:
                values = (value or (stack,) for value in values)
            codes = map(dictionary.__getitem__, values)
            if storage == "presence":
                codes = map(presence.__getitem__, map(_flags, looks))
            self.codes[storage].extend(codes)

    def finish(self) -> None:
        """Stage what is left: the last look-alikes, and the documents that did not change."""
        self._look_up()
        if self.old is not None and self.old.kept:
            self.old.stage(self)

    # Records, by their numbers.

    def hash_at(self, number: int) -> bytes:
        """Return the bytes of the hash of a record."""
        return bytes(self.hashes[number * HASH_BYTES : (number + 1) * HASH_BYTES])

    def mark_merged(self, *documents: int) -> None:
        """Mark documents as merged."""
        for document in documents:
            self.merged[document] = 1


def _digest(document: Document) -> bytes:
    """Return what is equal for a document that did not change."""
    return bytes.fromhex(fingerprint([document]))[:_KEY_BYTES]


def _dictionary(storage: str, old: Columns | None) -> Dictionary:
    columns = STORED[storage]
    if len(columns) == 1 and columns[0].is_list:
        return Lists(old, columns[0].name)
    if old is None:
        return Dictionary()
    stored: dict[str, Sequence[Any]] = {**read_dictionary(old, storage)}
    if "source" in stored:
        # Codes here, so that sources stay in their order.
        code_of = {row[0]: code for code, row in enumerate(old.json("sources"))}
        stored["source"] = [tuple(map(code_of.__getitem__, names)) for names in stored["source"]]
    values = [stored[column.name] for column in columns]
    return Dictionary(values[0] if len(values) == 1 else zip(*values, strict=True))


class OldIndex:
    """The records of an older index of the same sources.

    `documents` has the numbers of the documents by source and digest: of those that have records,
    none of which were merged with those of others. Each is removed once it is kept; `kept` has
    its new number. `problems` are origin, place and reason of the problems of each document.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.sources = [row[0] for row in columns.json("sources")]
        self.specs = columns.numbers("documents.specs")
        self.is_page = columns.numbers("documents.is_page")
        self.dependencies = columns.numbers("documents.dependencies")
        keys, merged = columns.raw("documents.key"), columns.numbers("documents.merged")
        with_records = set(columns.numbers("document"))
        self.documents = {
            (source, keys[n * _KEY_BYTES : (n + 1) * _KEY_BYTES]): n
            for n, source in enumerate(columns.numbers("documents.source"))
            if n in with_records and not merged[n]
        }
        self.kept: dict[int, int] = {}
        self.problems: dict[int, list[tuple[str, str, str]]] = {}
        for _, document, *texts in columns.json("problems"):
            self.problems.setdefault(document, []).append(tuple(texts))

    def stage(self, staged: Staged) -> None:
        """Stage the records of the documents that are kept.

        What is kept are whole spans of look-alikes, and so of specs.
        """
        columns, codes = self._columns, staged.codes
        documents = [self.kept.get(document, GONE) for document in range(len(self.specs))]
        its_documents = array("I", map(documents.__getitem__, columns.numbers("document")))
        is_kept = bytes(map(GONE.__ne__, its_documents))
        spans = [match.span() for match in re.finditer(b"\1+", is_kept)]
        first = columns.ascending("first")
        spec_spans = [(first[start], first[stop]) for start, stop in spans]
        new_look_alike, new_record = len(codes["document"]), len(staged.look_alikes)
        node_codes = self._node_codes(staged)
        counts = array("I", map(sub, first[1:], first))
        kept_counts = array("I")
        for start, stop in spans:
            kept_counts.extend(counts[start:stop])
        for name, column in codes.items():
            its = its_documents if name == "document" else columns.wide(name)
            for start, stop in spans:
                column.extend(its[start:stop])
        staged.look_alikes.extend(
            chain.from_iterable(map(repeat, count(new_look_alike), kept_counts))
        )
        hashes, sizes = columns.raw("hash"), columns.numbers("size")
        for start, stop in spec_spans:
            staged.hashes += hashes[start * HASH_BYTES : stop * HASH_BYTES]
            staged.sizes.extend(sizes[start:stop])
            staged.nodes.extend(node_codes[start:stop])
        specs = array("I", chain.from_iterable(map(range, *zip(*spec_spans, strict=True))))
        self._stage_provenance(staged, specs, new_record)
        self._stage_edges(staged, specs, new_record)

    def _node_codes(self, staged: Staged) -> array[int]:
        """Return the new codes of the nodes of all specs."""
        codes, total = self._columns.wide("node"), self._columns.json("meta")["nodes"]
        if total == 1:
            return codes
        rows = Rows(self._columns, "nodes", total)
        new = [staged.nodes_stated[NodeFacts(*with_tuples(row))] for row in rows]
        return array("I", map(new.__getitem__, codes))

    def _stage_provenance(self, staged: Staged, specs: array[int], new_record: int) -> None:
        stated = self._columns.ascending("provenance.spec")
        rows = Rows(self._columns, "provenance", len(stated))
        places = {spec: place for place, spec in enumerate(stated)}
        for record, spec in enumerate(specs if places else (), new_record):
            if (place := places.get(spec)) is not None:
                staged.provenance[record] = tuple(rows[place])

    def _stage_edges(self, staged: Staged, specs: array[int], new_record: int) -> None:
        columns = self._columns
        kinds = [with_tuples(kind) for kind in columns.json("edge_kinds")]
        if not kinds:
            return
        first = columns.ascending("edge_first")
        children, its_kinds = columns.numbers("edge_child"), columns.numbers("edge_kind")
        packages, spec_counts = (
            read_dictionary(columns, "package")["package"],
            columns.ascending("first"),
        )
        counts = map(sub, spec_counts[1:], spec_counts)
        of_spec = chain.from_iterable(map(repeat, columns.numbers("package"), counts))
        hashes = unpack_hashes(columns.raw("hash"))
        names = [
            *zip(hashes, map(packages.__getitem__, of_spec), strict=True),
            *columns.json("absent"),
        ]
        known: dict[tuple[int, int], Dependency] = {}
        documents = staged.codes["document"]
        for record, spec in enumerate(specs, new_record):
            document = documents[staged.look_alikes[record]]
            if not staged.dependencies[document]:
                continue
            edges = []
            for key in zip(
                children[first[spec] : first[spec + 1]],
                its_kinds[first[spec] : first[spec + 1]],
                strict=True,
            ):
                if key not in known:
                    known[key] = Dependency(*names[key[0]], *kinds[key[1]])
                edges.append(known[key])
            staged.edges.add(record, document, edges)

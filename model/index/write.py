"""Write an index: collect records, and write them as columns in display order.

Everything but the hash, the size and the node of a record goes through dictionaries, which the
column registry lists: a *look-alike* is one combination of their codes, shared by all specs that
differ in nothing else. Ids are given in display order: by the codes in the order of `CODES`, then
by hash. So look-alikes are adjacent, a range of ids is a range of rows, and the order of codes is
the order of values. Dependency-only specs are *unlisted*, and have the last ids.

The sections are:

- `meta`: schema, fingerprint, and what the first frame of the browser needs.
- The dictionaries: a section with the values of each column, or three if they are lists.
- The look-alikes: for each dictionary the codes, `first` with the first spec of each and the
  number of specs, and `preferred` with their numbers in the order in which they are listed by
  default.
- The specs: `hash` with 20 bytes of each, `hash_order` with the ids in the order of hashes,
  `hash_repeats` with the places in it where the hash is that of the place before, `size`, and
  `node`, which is the code of what `nodes` states beside the columns.
- The edges to dependencies in CSR form: spec i owns the edges edge_first[i]:edge_first[i + 1] of
  `edge_child`, the ids of the dependencies, and `edge_kind`, the codes of `edge_kinds`. The ids
  after those of all specs are those of `absent`: dependencies that no document describes.
  `up_first`, `up_parent` and `up_kind` are the same edges from dependencies to dependents.
- `provenance` with what is known of few specs, whose ids are `provenance.spec`, and `build_specs`.
- `documents` and what else is known of them, `sources`, and `problems`.

An older index is one more reader: the records of documents that did not change are taken from it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, compress, count, groupby, islice, repeat
from math import nan
from operator import add, attrgetter, eq, mul, sub
from time import time
from typing import Any

from spackscope.model.core.columns import STORED, Column
from spackscope.model.core.errors import Cancelled
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
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.index.columns import (
    CODES,
    HASH_BYTES,
    SCHEMA_VERSION,
    Columns,
    Rows,
    SectionWriter,
    pack_hashes,
    read_dictionary,
    unpack_hashes,
    with_tuples,
)
from spackscope.model.index.merge import (
    GONE,
    Dictionary,
    Entry,
    Merger,
    Staged,
    drop_repeated_pages,
)
from spackscope.model.readers.json import storable
from spackscope.model.sources.document import DiscoveredSource, Document, fingerprint

_BATCH = 1024
"""Hashes that are joined at once."""

_SOURCES = "sources"
"""The attribute whose values are codes of sources here, so that sources stay in their order."""

_KEY_BYTES = 16
"""Bytes of the digest by which a document is known."""

_NO_SPEC = 0xFFFFFFFF
_SPECS = 3
"""The place of the number of specs in the row of a source."""

_ENTRIES = [
    (storage, attrgetter(*(column.attribute for column in columns)))
    for storage, columns in STORED.items()
]
_node = attrgetter(*NodeFacts._fields)
_provenance = attrgetter(*(f.name for f in fields(Provenance) if f.name not in NodeFacts._fields))

Node = tuple[int, bytes]
"""A dependency as a document names it: the number of the document, and the hash."""


def _key(document: Document, source: int) -> tuple[int, bytes]:
    """Return what is equal for a document that did not change."""
    return source, bytes.fromhex(fingerprint([document]))[:_KEY_BYTES]


class IndexWriter:
    """Writes one index: add sources and their documents in any order, then `finish`.

    `include_dependency_only` lists dependency-only specs with all others.
    """

    def __init__(self, *, include_dependency_only: bool, old: OldIndex | None) -> None:
        self._sections = SectionWriter()
        self._include_dependency_only = include_dependency_only
        self._old = old
        self._sources: dict[str, int] = {}
        self._source_rows: list[list[Any]] = []
        self._problems: list[tuple[int | None, int | None, str, str, str]] = []
        self._archives: dict[bytes, float] = {}
        self._staged = Staged({storage: Dictionary() for storage in STORED})
        # What pages state of a node, which is nothing, has the code 0.
        self._nodes = Dictionary()
        self._nodes[NodeFacts()]
        self._presence: dict[tuple[object, ...], Entry] = {}
        self._keys = bytearray()
        self._origins: list[str] = []
        self._kept: dict[int, int] = {}
        self._edges = Edges()

    def add_source(self, discovered: DiscoveredSource) -> None:
        """Add a source."""
        self._sources[discovered.source] = len(self._sources)
        texts = storable(discovered.source), discovered.kind, discovered.layout
        remark, failure = storable(discovered.remark), storable(discovered.failure)
        self._source_rows.append([*texts, 0, discovered.checked, remark, failure])

    def add_problem(
        self, problem: Problem, source: str | None = None, document: int | None = None
    ) -> None:
        """Add what could not be read, of a source and a document if it belongs to them."""
        code = self._sources[source] if source is not None else None
        texts = storable(problem.origin), storable(problem.place), storable(problem.reason)
        self._problems.append((code, document, *texts))

    def add_failure(self, source: str, failure: str, *, is_reported: bool = False) -> None:
        """Add why nothing of a source can be read, also as a problem unless one reports it."""
        self._source_rows[self._sources[source]][-1] = storable(failure)
        if not is_reported:
            self.add_problem(Problem("", "", failure), source)

    def add_archive(self, hash_: str, size: float) -> None:
        """Add the size of an archive, for all records of its hash without one."""
        self._archives.setdefault(pack_hashes(hash_), size)

    def keep_document(self, document: Document) -> bool:
        """Keep the records and problems of a document that the old index has unchanged."""
        if self._old is None:
            return False
        source = self._sources[document.source]
        old = self._old.documents.pop(_key(document, source), None)
        if old is None:
            return False
        new = self._add_document(document, source, is_page=bool(self._old.is_page[old]))
        self._staged.specs[new] = self._old.specs[old]
        self._staged.dependencies[new] = self._old.dependencies[old]
        self._kept[old] = new
        self._problems += ((source, new, *texts) for texts in self._old.problems.get(old, ()))
        return True

    def add_document(
        self, document: Document, items: Iterable[Records | Problem], *, is_page: bool = False
    ) -> bool:
        """Collect the records of a document, and add its problems.

        Returns whether its format is known: then it has records, or no problem either.
        """
        code = self._add_document(document, self._sources[document.source], is_page=is_page)
        has_problem = has_records = False
        for item in items:
            if isinstance(item, Problem):
                has_problem = True
                self.add_problem(item, document.source, code)
            elif item.hashes:
                has_records = True
                self._add_records(item, code, document)
        return has_records or not has_problem

    def _add_document(self, document: Document, source: int, *, is_page: bool) -> int:
        staged = self._staged
        staged.source.append(source)
        staged.specs.append(0)
        for column, value in (
            (staged.is_page, is_page),
            (staged.dependencies, 0),
            (staged.merged, 0),
        ):
            column.append(value)
        self._keys += _key(document, source)[1]
        self._origins.append(storable(document.origin))
        return len(staged.source) - 1

    def _add_records(self, records: Records, code: int, document: Document) -> None:
        """Stage records of a document; counts those that are listed."""
        staged, looks, numbers = self._staged, records.looks, records.numbers
        unlisted = [not (look.in_cache or self._include_dependency_only) for look in looks]
        staged.specs[code] += len(numbers)
        if any(unlisted):
            staged.specs[code] -= sum(map(unlisted.__getitem__, numbers))
        if len(set(records.hashes)) < len(records.hashes):
            # Which of them is the first is not known later.
            staged.merged[code] = 1
        first, first_record = len(staged.codes["document"]), len(staged.look_alikes)
        # Some values come from the document.
        stacks = (document.stack,) if document.stack else ()
        values: dict[str, Iterable[Entry]] = {
            "stack_set": (look.stacks or stacks for look in looks),
            "tag": (look.tag or document.tag for look in looks),
            "presence": (self._presence_of(look, document) for look in looks),
        }
        for storage, get in _ENTRIES:
            its = values[storage] if storage in values else map(get, looks)
            staged.codes[storage].extend(map(staged.dictionaries[storage].__getitem__, its))
        staged.codes["document"].extend(repeat(code, len(looks)))
        staged.codes["unlisted"].extend(unlisted)
        staged.look_alikes.extend(map(first.__add__, numbers))
        staged.hashes += pack_hashes("".join(records.hashes))
        staged.sizes.extend(nan if size is None else size for size in records.sizes)
        # What states no dependencies states nothing else beside the columns, as pages do.
        if all(look.dependencies is None for look in looks):
            staged.nodes.extend(repeat(0, len(numbers)))
            return
        staged.dependencies[code] = 1
        nodes = [0 if look.dependencies is None else self._nodes[_node(look)] for look in looks]
        staged.nodes.extend(map(nodes.__getitem__, numbers))
        for record, number in enumerate(numbers, first_record):
            look = looks[number]
            if look.dependencies is not None:
                self._edges.add(record, code, look.dependencies)
                if any(provenance := _provenance(look)):
                    staged.provenance[record] = provenance

    def _presence_of(self, look: Spec | Look, document: Document) -> Entry:
        """Return the source and the states of a record."""
        is_cached = look.cached or (document.cached and look.in_cache)
        flags = is_cached, look.installed, look.explicit, not look.in_cache, look.is_spliced
        key = document.source, flags
        if key not in self._presence:
            states = tuple(compress(STATES, flags))
            self._presence[key] = (self._sources[document.source],), states
        return self._presence[key]

    def finish(self, fingerprint: str, should_stop: ShouldStop) -> bytes:
        """Merge repeated records, assign ids in display order, and return the index.

        Raises Cancelled once `should_stop` says so.
        """

        def check() -> None:
            if should_stop():
                raise Cancelled

        staged, sections = self._staged, self._sections
        if self._old is not None and self._kept:
            self._old.stage(staged, self._nodes, self._edges, self._kept)
        check()
        own = self._edges.own_records(staged)
        drop_repeated_pages(staged, self._add_problem_of)
        # Pages of one source, and nothing else, have no record in common but whole pages.
        are_mixed = not all(staged.is_page) or len(set(staged.source)) > 1
        merger = Merger(staged, self._origins, self._add_problem_of)
        merged = merger.merge() if are_mixed else {}
        self._complete_sizes()
        check()
        codes, first, records = self._write_look_alikes(check)
        hashes = _joined(staged.hashes, records)
        sections.add_bytes("hash", hashes, whole=True)
        _write_hash_order(sections, hashes)
        check()
        sections.add_array("size", array("d", map(staged.sizes.__getitem__, records)))
        self._write_nodes(records)
        own = {node: merged.get(record, record) for node, record in own.items()}
        up_first = self._edges.write(sections, staged, records, own, hashes)
        check()
        sections.add_array("preferred", preferred_order(codes, first, up_first))
        self._write_packages(codes, first)
        self._write_provenance(records)
        self._write_documents()
        self._write_meta(fingerprint)
        return sections.seal()

    def _add_problem_of(self, document: int, reason: str) -> None:
        source = self._staged.source[document]
        self._problems.append((source, document, self._origins[document], "", reason))

    def _complete_sizes(self) -> None:
        """Set the size of records without one to that of the archive of their hash.

        Their documents are read again next time: the size is not theirs.
        """
        staged = self._staged
        for number, look_alike in enumerate(staged.look_alikes) if self._archives else ():
            size = self._archives.get(staged.hash_at(number))
            if (
                size is not None
                and look_alike != GONE
                and staged.sizes[number] != staged.sizes[number]
            ):
                staged.sizes[number] = size
                staged.mark_merged(staged.codes["document"][look_alike])

    def _write_look_alikes(
        self, check: Callable[[], None]
    ) -> tuple[dict[str, array[int]], array[int], array[int]]:
        """Write the look-alikes in display order.

        Returns their codes, the first spec of each, and the records of all specs.
        """
        staged = self._staged
        used = bytearray(len(staged.codes["document"]))
        for look_alike in staged.look_alikes:
            if look_alike != GONE:
                used[look_alike] = 1
        ranks: dict[str, Sequence[int]] = {
            storage: self._write_dictionary(storage, set(compress(staged.codes[storage], used)))
            for storage in STORED
        }
        ranks["document"], ranks["unlisted"] = range(len(staged.source)), range(2)
        check()
        # The codes in the order of their values; many columns have one value only.
        columns = {
            name: array("I", map(ranks[name].__getitem__, column))
            for name, column in staged.codes.items()
            if max(ranks[name], default=0)
        }
        order, places = _look_alike_order(used, columns)
        check()
        first, records = _record_order(staged, places, len(order))
        check()
        codes = {name: array("I", bytes(4 * len(order))) for name in staged.codes}
        for name, column in columns.items():
            codes[name] = array("I", map(column.__getitem__, order))
        for name, column in codes.items():
            self._sections.add_array(name, column)
        self._sections.add_ascending("first", first)
        return codes, first, records

    def _write_dictionary(self, storage: str, used: set[int]) -> array[int]:
        """Write the used entries of a dictionary in the order of their values.

        Returns the ranks of the codes; those of codes that are not used are 0.
        """
        columns, dictionary = STORED[storage], self._staged.dictionaries[storage]
        codes = sorted(used)
        entries = [dictionary.entries[code] for code in codes]
        values: list[Sequence[Any]] = [entries]
        if len(columns) > 1:
            values = list(zip(*entries, strict=True)) or [()] * len(columns)
        keys, texts = zip(*map(_keys, columns, values), strict=True)
        order = sorted(range(len(codes)), key=list(zip(*keys, strict=True)).__getitem__)
        for column, its, its_keys, its_texts in zip(columns, values, keys, texts, strict=True):
            if column.attribute == _SOURCES:
                its_texts = [self._source_rows[code][0] for code in its_texts]
            if column.is_list:
                self._sections.add_lists(column.name, its_texts, [its_keys[n] for n in order])
            else:
                self._sections.add_json(f"{column.name}.texts", [its[n] for n in order])
        ranks = array("I", bytes(4 * len(dictionary)))
        for rank, n in enumerate(order):
            ranks[codes[n]] = rank
        return ranks

    def _write_nodes(self, records: array[int]) -> None:
        """Write what nodes state, and the code of each spec: 0 for what states nothing."""
        codes = array("I", map(self._staged.nodes.__getitem__, records))
        used = sorted({*codes, 0}, key=lambda code: (code > 0, self._nodes.entries[code]))
        rank_of = {code: rank for rank, code in enumerate(used)}
        self._sections.add_array("node", array("I", map(rank_of.__getitem__, codes)))
        self._sections.add_rows("nodes", [self._nodes.entries[code] for code in used])
        self._node_count = len(used)

    def _write_packages(self, codes: Mapping[str, array[int]], first: array[int]) -> None:
        """Write the first spec of each package, and how many are listed."""
        packages, firsts, counts, start = codes["package"], array("I"), array("I"), 0
        listed = bisect_left(codes["unlisted"], 1)
        for package in range(max(packages, default=-1) + 1):
            stop = bisect_left(packages, package + 1, start, listed)
            firsts.append(first[start])
            counts.append(first[stop] - first[start])
            start = stop
        self._sections.add_array("package.first", firsts)
        self._sections.add_array("package.specs", counts)

    def _write_provenance(self, records: array[int]) -> None:
        stated = self._staged.provenance
        specs = array("I", [spec for spec, record in enumerate(records) if record in stated])
        rows = [stated[records[spec]] for spec in specs]
        self._sections.add_ascending("provenance.spec", specs)
        self._sections.add_rows("provenance", rows)
        spliced = [(spec, row[2]) for spec, row in zip(specs, rows, strict=True) if row[2]]
        self._sections.add_json("build_specs", spliced)

    def _write_documents(self) -> None:
        staged, add = self._staged, self._sections.add_bytes
        self._sections.add_rows("documents", self._origins)
        self._sections.add_array("documents.source", staged.source)
        self._sections.add_array("documents.specs", staged.specs)
        for name in ("is_page", "dependencies", "merged"):
            add(f"documents.{name}", bytes(getattr(staged, name)), 1)
        add("documents.key", bytes(self._keys))

    def _write_meta(self, fingerprint: str) -> None:
        staged = self._staged
        for source, specs in zip(staged.source, staged.specs, strict=True):
            self._source_rows[source][_SPECS] += specs
        self._sections.add_json("sources", self._source_rows)
        self._sections.add_json("problems", self._problems)
        meta = {
            "schema": SCHEMA_VERSION,
            "fingerprint": fingerprint,
            "built": time(),
            "documents": len(staged.source),
            "nodes": self._node_count,
            "problems": len(self._problems),
            "lists_dependencies": any(staged.dependencies),
        }
        self._sections.add_json("meta", meta)


def _keys(column: Column, values: Sequence[Any]) -> tuple[Sequence[Any], list[Any]]:
    """Return what sorts the values of a column, and for lists the texts in them, sorted.

    Lists are sorted by the places of their texts among these.
    """
    if not column.is_list:
        return list(map(column.sort_key, values)), []
    texts = sorted(set(chain.from_iterable(values)), key=lambda text: column.sort_key((text,)))
    rank_of = {text: rank for rank, text in enumerate(texts)}
    return [tuple(map(rank_of.__getitem__, value)) for value in values], texts


def _look_alike_order(
    used: bytearray, columns: Mapping[str, array[int]]
) -> tuple[array[int], array[int]]:
    """Return the used look-alikes in display order, and the place of each staged one in it.

    Of equal ones one is in the order; those that are not used have the place GONE. `columns` are
    those with several values.
    """
    # One number for all codes: comparing tuples would take several times as long.
    keys = [0] * len(used)
    for name in CODES[1:-1]:
        if name in columns:
            sizes = repeat(max(columns[name], default=0) + 1)
            keys = list(map(add, map(mul, keys, sizes), columns[name]))
    # Package by package: sorting all at once would take much memory, and stop all other threads.
    packages = columns.get("package") or repeat(0)
    unlisted = columns.get("unlisted") or repeat(0)
    groups: defaultdict[tuple[int, int], array[int]] = defaultdict(partial(array, "I"))
    of_package = zip(unlisted, packages, strict=False)
    for number, package in compress(zip(range(len(used)), of_package, strict=False), used):
        groups[package].append(number)
    order, places = array("I"), array("I", [GONE]) * len(used)
    for package in sorted(groups):
        before = -1
        for number in sorted(groups[package], key=keys.__getitem__):
            if keys[number] != before:
                before = keys[number]
                order.append(number)
            places[number] = len(order) - 1
    return order, places


def _record_order(staged: Staged, places: array[int], count: int) -> tuple[array[int], array[int]]:
    """Return where the records of each of `count` look-alikes begin, and the records in order.

    `places` has the place of each staged look-alike. The records of one are ordered by hash, and
    equal ones as their documents have them.
    """
    counts = [0] * count
    for look_alike in staged.look_alikes:
        if look_alike != GONE:
            counts[places[look_alike]] += 1
    first = array("I", accumulate(counts, initial=0))
    ends = first[:]
    order = array("I", bytes(4 * first[-1]))
    for number, look_alike in enumerate(staged.look_alikes):
        if look_alike != GONE:
            place = places[look_alike]
            order[ends[place]] = number
            ends[place] += 1
    for start, length in zip(first, counts, strict=False):
        if length > 1:
            group = sorted(order[start : start + length], key=staged.hash_at)
            order[start : start + length] = array("I", group)
    return first, order


def _joined(hashes: bytearray, order: array[int]) -> bytes:
    """Return hashes in another order."""
    joined = bytearray()
    for start in range(0, len(order), _BATCH):
        offsets = map(HASH_BYTES.__mul__, order[start : start + _BATCH])
        joined += b"".join([hashes[offset : offset + HASH_BYTES] for offset in offsets])
    return bytes(joined)


def _write_hash_order(sections: SectionWriter, hashes: bytes) -> None:
    """Write the ids in the order of their hashes, and the places where a hash is repeated."""
    # Not all at once: see `_look_alike_order`.
    groups = [array("I") for _ in range(256)]
    for id_, byte in enumerate(hashes[::HASH_BYTES]):
        groups[byte].append(id_)
    order, repeats = array("I"), array("I")
    for group in groups:
        keys = [hashes[HASH_BYTES * id_ : HASH_BYTES * (id_ + 1)] for id_ in group]
        places = sorted(range(len(group)), key=keys.__getitem__)
        keys = [keys[place] for place in places]
        equal = map(eq, keys, islice(keys, 1, None))
        repeats.extend(compress(range(len(order) + 1, len(order) + len(keys)), equal))
        order.extend(map(group.__getitem__, places))
    sections.add_array("hash_order", order)
    sections.add_ascending("hash_repeats", repeats)


def preferred_order(
    columns: Mapping[str, array[int]], first: array[int], up_first: array[int]
) -> array[int]:
    """Return the look-alikes in the order in which they are listed by default.

    Packages are in the order of their names. Of one the newest version comes first, and then what
    most specs depend on. `columns` are those of the look-alikes in display order, `first` has the
    first spec of each, and `up_first` says where the edges to each spec begin.
    """
    packages, versions, unlisted = columns["package"], columns["version"], columns["unlisted"]
    has_users = bool(up_first[-1])

    def users(look_alike: int) -> int:
        return up_first[first[look_alike + 1]] - up_first[first[look_alike]]

    def package(look_alike: int) -> tuple[int, int]:
        return unlisted[look_alike], packages[look_alike]

    order = array("I")
    for _, look_alikes in groupby(range(len(packages)), package):
        by_version = [list(group) for _, group in groupby(look_alikes, versions.__getitem__)]
        for group in reversed(by_version):
            if has_users:
                group.sort(key=users, reverse=True)
            order.extend(group)
    return order


class Edges:
    """Collects edges by the number of their record, until the specs have their ids."""

    def __init__(self) -> None:
        # Record i owns the edges first[i]:first[i + 1].
        self._first = array("I", [0])
        self._children, self._kinds = array("I"), array("I")
        self._kind_codes = Dictionary()
        self._nodes: dict[Node, int] = {}
        self._names: list[str] = []
        # Readers make one object of equal edges of a document; comparing them takes longer.
        self._document = -1
        self._known: dict[int, tuple[int, int, Dependency]] = {}

    def add(self, record: int, document: int, edges: Iterable[Dependency]) -> None:
        """Add the edges of a record; records come in the order of their numbers."""
        self._first.extend([len(self._children)] * (record + 1 - len(self._first)))
        if document != self._document:
            self._document, self._known = document, {}
        for edge in edges:
            known = self._known.get(id(edge))
            if known is None:
                known = self._known[id(edge)] = self._add_edge(document, edge)
            self._children.append(known[0])
            self._kinds.append(known[1])

    def _add_edge(self, document: int, edge: Dependency) -> tuple[int, int, Dependency]:
        """Return the codes of an edge: of its node, and of its kind."""
        node = self._nodes.setdefault((document, pack_hashes(edge.hash)), len(self._nodes))
        if node == len(self._names):
            self._names.append(edge.name)
        # The object is kept with its codes, so that no other one gets its id.
        return node, self._kind_codes[edge.deptypes, edge.virtuals], edge

    def own_records(self, staged: Staged) -> dict[int, int]:
        """Return for each node that its document describes the record, by their numbers."""
        own: dict[int, int] = {}
        documents = staged.codes["document"]
        for record, look_alike in enumerate(staged.look_alikes) if self._nodes else ():
            node = self._nodes.get((documents[look_alike], staged.hash_at(record)))
            if node is not None:
                own.setdefault(node, record)
        return own

    def write(
        self,
        sections: SectionWriter,
        staged: Staged,
        records: array[int],
        own: Mapping[int, int],
        hashes: bytes,
    ) -> array[int]:
        """Write the edges, their kinds, and the dependencies that no document describes.

        `records` has the record of each spec, `own` that of the nodes that their own document
        describes, and `hashes` the hashes of the specs. Other nodes are searched for in all
        documents: they are the first spec with the hash. The index does not keep the name by
        which a document calls what another one names otherwise, so that must be read again.

        Returns where the edges to each spec begin.
        """
        self._first.extend(
            [len(self._children)] * (len(staged.look_alikes) + 1 - len(self._first))
        )
        counts, nodes, kinds = array("I"), array("I"), array("I")
        if not self._children:
            # Pages list no dependencies.
            counts = array("I", bytes(4 * len(records)))
        for record in records if self._children else ():
            start, stop = self._first[record], self._first[record + 1]
            counts.append(stop - start)
            nodes.extend(self._children[start:stop])
            kinds.extend(self._kinds[start:stop])
        ids = self._ids(staged, records, own, hashes, set(nodes))
        used = sorted(set(kinds), key=self._kind_codes.entries.__getitem__)
        rank_of = {code: rank for rank, code in enumerate(used)}
        absent = sorted(
            (node, self._names[number])
            for node, number in self._nodes.items()
            if ids[number] >= len(records) and ids[number] != _NO_SPEC
        )
        first = array("I", accumulate(counts, initial=0))
        children = array("I", map(ids.__getitem__, nodes))
        kinds = array("I", map(rank_of.__getitem__, kinds))
        up = reverse_edges(first, children, kinds, len(records) + len(absent))
        sections.add_json("edge_kinds", [self._kind_codes.entries[code] for code in used])
        names = [name for _, name in absent]
        absent_hashes = unpack_hashes(b"".join(hash_ for (_, hash_), _ in absent))
        sections.add_json("absent", list(zip(absent_hashes, names, strict=True)))
        for direction, (starts, others, its_kinds) in (
            ("edge_first edge_child edge_kind", (first, children, kinds)),
            ("up_first up_parent up_kind", up),
        ):
            first_name, others_name, kinds_name = direction.split()
            sections.add_ascending(first_name, starts)
            sections.add_array(others_name, others)
            sections.add_array(kinds_name, its_kinds)
        return up[0]

    def _ids(
        self,
        staged: Staged,
        records: array[int],
        own: Mapping[int, int],
        hashes: bytes,
        used: set[int],
    ) -> array[int]:
        """Return the id of each used node; the ids of absent ones come after those of specs."""
        ids = array("I", [_NO_SPEC]) * len(self._nodes)
        if not used:
            return ids
        spec_of = array("I", [_NO_SPEC]) * len(staged.look_alikes)
        for spec, record in enumerate(records):
            spec_of[record] = spec
        for node, record in own.items():
            ids[node] = spec_of[record]
        unknown = {
            node: number
            for node, number in self._nodes.items()
            if number in used and ids[number] == _NO_SPEC
        }
        found: dict[bytes, int] = {}
        wanted = {hash_ for _, hash_ in unknown}
        for spec in range(len(records)) if wanted else ():
            hash_ = hashes[HASH_BYTES * spec : HASH_BYTES * (spec + 1)]
            if hash_ in wanted:
                found.setdefault(hash_, spec)
        absent = len(records)
        packages, names = staged.codes["package"], staged.dictionaries["package"].entries
        for (document, hash_), number in sorted(unknown.items()):
            spec = found.get(hash_, -1)
            if spec < 0:
                ids[number], absent = absent, absent + 1
                continue
            ids[number] = spec
            if names[packages[staged.look_alikes[records[spec]]]] != self._names[number]:
                staged.mark_merged(document)
        return ids


def reverse_edges(
    first: Sequence[int], children: Sequence[int], kinds: Sequence[int], nodes: int
) -> tuple[array[int], array[int], array[int]]:
    """Return edges in CSR form sorted by their child, of which there are `nodes`.

    Edges are given in CSR form by their parent: parent i owns edges first[i]:first[i + 1].
    Returns where the edges of each child begin, their parents, and their kinds.
    """
    sizes = map(sub, islice(first, 1, None), first)
    parents = chain.from_iterable(map(repeat, range(len(first) - 1), sizes))
    counts = [0] * nodes
    for child in children:
        counts[child] += 1
    ends = list(accumulate(counts, initial=0))
    up_first = array("I", ends)
    up_parents, up_kinds = array("I", bytes(4 * len(children))), array("I", bytes(4 * len(kinds)))
    for parent, child, kind in zip(parents, children, kinds, strict=True):
        edge = ends[child]
        up_parents[edge], up_kinds[edge] = parent, kind
        ends[child] = edge + 1
    return up_first, up_parents, up_kinds


class OldIndex:
    """The records of an older index of the same sources.

    `documents` has the numbers of the documents by their keys: of those that have records, none of
    which were merged with those of others. Each is removed once it is kept. `problems` are origin,
    place and reason of the problems of each document.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.sources = [row[0] for row in columns.json("sources")]
        self._first = columns.ascending("first")
        self._codes = {name: columns.numbers(name) for name in CODES}
        source = columns.numbers("documents.source")
        self.specs = columns.numbers("documents.specs")
        self.is_page = columns.numbers("documents.is_page")
        self.dependencies = columns.numbers("documents.dependencies")
        merged = columns.numbers("documents.merged")
        keys = columns.raw("documents.key")
        with_records = set(self._codes["document"])
        self.documents = {
            (source[n], keys[n * _KEY_BYTES : (n + 1) * _KEY_BYTES]): n
            for n in range(len(source))
            if n in with_records and not merged[n]
        }
        self.problems: dict[int, list[tuple[str, str, str]]] = {}
        for _, document, *texts in columns.json("problems"):
            self.problems.setdefault(document, []).append(tuple(texts))

    def stage(
        self, staged: Staged, nodes: Dictionary, edges: Edges, kept: Mapping[int, int]
    ) -> None:
        """Stage the records of some documents, which have new numbers."""
        columns, first = self._columns, self._first
        is_kept = bytes(map(kept.__contains__, range(max(self._codes["document"]) + 1)))
        mask = bytes(map(is_kept.__getitem__, self._codes["document"]))
        look_alikes = array("I", compress(range(len(mask)), mask))
        new_look_alike, new_record = len(staged.codes["document"]), len(staged.look_alikes)
        for name, codes in self._codes.items():
            its: Iterable[int] = compress(codes, mask)
            if name == "document":
                its = map(kept.__getitem__, its)
            elif name != "unlisted":
                its = map(
                    self._translation(name, set(its), staged).__getitem__, compress(codes, mask)
                )
            staged.codes[name].extend(its)
        specs = array("I", chain.from_iterable(range(first[n], first[n + 1]) for n in look_alikes))
        sizes = [first[n + 1] - first[n] for n in look_alikes]
        staged.look_alikes.extend(chain.from_iterable(map(repeat, count(new_look_alike), sizes)))
        staged.hashes += _joined(bytearray(columns.raw("hash")), specs)
        staged.sizes.extend(map(columns.numbers("size").__getitem__, specs))
        self._stage_nodes(staged, nodes, specs)
        self._stage_provenance(staged, specs, new_record)
        self._stage_edges(staged, edges, specs, new_record)

    def _translation(self, storage: str, used: set[int], staged: Staged) -> dict[int, int]:
        """Return the new codes of those that are used of a dictionary."""
        stored: dict[str, Sequence[Any]] = {**read_dictionary(self._columns, storage)}
        if "source" in stored:
            code_of = {name: code for code, name in enumerate(self.sources)}
            stored["source"] = [tuple(map(code_of.__getitem__, v)) for v in stored["source"]]
        values = [stored[column.name] for column in STORED[storage]]
        entries = values[0] if len(values) == 1 else list(zip(*values, strict=True))
        dictionary = staged.dictionaries[storage]
        return {code: dictionary[entries[code]] for code in sorted(used)}

    def _stage_nodes(self, staged: Staged, nodes: Dictionary, specs: array[int]) -> None:
        codes = self._columns.numbers("node")
        its = array("I", map(codes.__getitem__, specs))
        rows = Rows(self._columns, "nodes", self._columns.json("meta")["nodes"])
        new = {code: nodes[NodeFacts(*with_tuples(rows[code]))] for code in sorted({*its})}
        staged.nodes.extend(map(new.__getitem__, its))

    def _stage_provenance(self, staged: Staged, specs: array[int], new_record: int) -> None:
        stated = self._columns.ascending("provenance.spec")
        rows = Rows(self._columns, "provenance", len(stated))
        places = {spec: place for place, spec in enumerate(stated)}
        for record, spec in enumerate(specs if places else (), new_record):
            if (place := places.get(spec)) is not None:
                staged.provenance[record] = tuple(rows[place])

    def _stage_edges(
        self, staged: Staged, edges: Edges, specs: array[int], new_record: int
    ) -> None:
        columns = self._columns
        kinds = [with_tuples(kind) for kind in columns.json("edge_kinds")]
        if not kinds:
            return
        first = columns.ascending("edge_first")
        children = columns.numbers("edge_child")
        its_kinds = columns.numbers("edge_kind")
        hashes = unpack_hashes(columns.raw("hash"))
        packages = read_dictionary(columns, "package")["package"]
        sizes = map(sub, islice(self._first, 1, None), self._first)
        of_spec = chain.from_iterable(map(repeat, self._codes["package"], sizes))
        names = [
            *zip(hashes, map(packages.__getitem__, of_spec), strict=True),
            *columns.json("absent"),
        ]
        known: dict[tuple[int, int], Dependency] = {}
        documents = staged.codes["document"]
        lists = staged.dependencies
        for record, spec in enumerate(specs, new_record):
            document = documents[staged.look_alikes[record]]
            if not lists[document]:
                continue
            its = range(first[spec], first[spec + 1])
            dependencies = []
            for edge in its:
                key = children[edge], its_kinds[edge]
                if key not in known:
                    known[key] = Dependency(*names[key[0]], *kinds[key[1]])
                dependencies.append(known[key])
            edges.add(record, document, dependencies)

"""Records of documents in columns of codes, before they have ids.

Records come from readers, or from an older index: those of documents that have not changed.
Records with one hash and tag in several documents are merged into one.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, compress, count, pairwise, repeat
from math import nan
from operator import attrgetter, sub
from typing import Any, TypeVar

from spackscope.model.core.columns import STORED
from spackscope.model.core.errors import describe_error
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import (
    OF_RECORDS,
    STATES,
    Dependency,
    LookAlike,
    NodeFacts,
    Problem,
    Records,
)
from spackscope.model.index.index_file import (
    CODES,
    HASH_BYTES,
    Columns,
    Rows,
    Span,
    flags_of,
    hash_at,
    look_alikes_of,
    node_rows,
    pack_hashes,
    read_dictionary,
    repeated_spans,
    spans_of,
    unpack_hashes,
    with_tuples,
)
from spackscope.model.readers.json import storable
from spackscope.model.sources.document import DiscoveredSource, Document

GONE = 0xFFFFFFFF
"""The look-alike number of a record that was merged into another one, or dropped."""

_KEY_BYTES = 8
"""The bytes of the digest that identifies a document of a source, of up to a million."""

_ENTRIES = {
    storage: attrgetter(*(column.attribute for column in columns))
    for storage, columns in STORED.items()
}
_DIFFER_ON_PAGES = {
    storage
    for storage, columns in STORED.items()
    if not {column.attribute for column in columns}.isdisjoint(LookAlike._fields)
}
"""The dictionaries whose values may differ among the records of pages."""

_MOST_WAITING = 1024
"""Records of pages that are added at once; many would take much memory."""

_given = attrgetter("source", "cached", "tag", "stack", "index_kind")
"""The fields of a document that its records get."""

_dependencies = attrgetter("dependencies")
_flags = attrgetter("cached", "installed", "explicit", "in_cache", "is_spliced")
_node = attrgetter(*NodeFacts._fields)
_provenance = attrgetter(*OF_RECORDS)

_Items = TypeVar("_Items", "array[int]", "array[float]", bytearray)

_Part = tuple[Document, int, Records]
"""Records of a document, and its number."""

Entry = Any
"""An entry of a dictionary: a value of its column, or a tuple of the values of its columns."""


class Dictionary(dict[Entry, int]):
    """Numbers entries in the order in which they are first seen."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = list(entries)
        super().__init__(zip(self.entries, count()))

    def __missing__(self, value: Entry) -> int:
        code = self[value] = len(self)
        self.entries.append(value)
        return code


class Staged:
    """The records that have been read so far, in columns; look-alikes and records have numbers.

    `codes` has the columns of the look-alikes, in codes of the dictionaries; two look-alikes may
    have equal codes. Records have columns of their own: the number of the look-alike, the bytes of
    the hash, the size in bytes (NaN if it is unknown), and the code of the node, which is 0 for a
    record without `NodeFacts`, as on pages. `provenance` has path, time and build spec of the
    records that state one. `edges` has the dependencies of records, in codes of
    `dependencies_stated`.

    `source`, `is_page` and `dependencies` are columns of the documents: the number of the source,
    and whether the document is a page, and lists dependencies. `merged` marks documents that share
    records with others: an index cannot separate these records again.
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
        self.problems: list[tuple[int, int | None, str, str, str, bool]] = []
        # Look-alikes.
        self.codes = {name: array("I") for name in CODES}
        # Records.
        self.look_alikes = array("I")
        self.hashes = bytearray()
        self.sizes = array("d")
        self.nodes = array("I")
        self.provenance: dict[int, tuple[str, float | None, str]] = {}
        self.edges: dict[int, array[int]] = {}
        self.dependencies_stated = Dictionary()
        # Documents.
        self.source = array("I")
        self.is_page, self.dependencies, self.merged = bytearray(), bytearray(), bytearray()
        self.keys: list[bytes] = []
        self.origins: list[str] = []
        # Pages whose records are still to be added, all with the same `_given` fields.
        self._waiting: list[_Part] = []
        self._count = 0

    def add_problem(self, source: str, problem: Problem, document: int | None = None) -> None:
        """Add a problem of a source, and of a document if it belongs to one."""
        texts = storable(problem.origin), storable(problem.place), storable(problem.reason)
        self.problems.append((self.sources[source], document, *texts, problem.is_unread))

    def add_problem_of(self, document: int, reason: str, *, is_unread: bool = False) -> None:
        """Add a problem with the records of a document."""
        source, origin = self.source[document], self.origins[document]
        self.problems.append((source, document, origin, "", reason, is_unread))

    def entry(self, storage: str, record: int) -> Entry:
        """Return the entry of a record in a dictionary."""
        return self.dictionaries[storage].entries[self.codes[storage][self.look_alikes[record]]]

    def keep(self, document: Document) -> bool:
        """Reuse records and problems of a document from the old index; return whether it can."""
        if self.old is None:
            return False
        number = self.old.documents.pop(key := self._key(document), None)
        if number is None:
            return False
        self.old.kept[number] = new = self._add_document(document, key, self.old.is_page[number])
        self.dependencies[new] = self.old.dependencies[number]
        its_problems = self.old.problems.get(number, ())
        self.problems += ((self.source[new], new, *rest) for rest in its_problems)
        return True

    def add(
        self,
        document: Document,
        items: Iterable[Records | Problem],
        *,
        is_page: bool = False,
    ) -> bool:
        """Add the records and problems of a document.

        Returns whether the format is known: the document has records, or no problem. An unexpected
        error is a problem of the document; records that were added before it stay.
        """
        number = self._add_document(document, self._key(document), is_page)
        has_problem = has_records = False
        try:
            for item in items:
                if isinstance(item, Problem):
                    has_problem = True
                    self.add_problem(
                        document.source,
                        replace(item, origin=item.origin or document.source),
                        number,
                    )
                elif item.hashes:
                    # The first record of a spec file is the root.
                    if document.archive_size is not None and not has_records:
                        sizes = [document.archive_size, *item.sizes[1:]]
                        item = item._replace(sizes=sizes)
                    if document.prefix and not has_records:
                        root, *others = list[Any](item.looks)
                        root = replace(root, installed=True, path=storable(document.prefix))
                        item = item._replace(looks=[root, *others])
                    if is_page:
                        self._wait((document, number, item))
                    else:
                        self._add_records([(document, number, item)])
                    has_records = True
        except Exception as error:
            has_problem = True
            self._add_error(number, error)
        return has_records or not has_problem

    def _add_error(self, document: int, error: Exception) -> None:
        why = f"cannot be read to its end: {describe_error(error)}"
        self.add_problem_of(document, why, is_unread=True)

    def _key(self, document: Document) -> tuple[int, bytes]:
        """Return the number of the source of a document, and a digest of the document."""
        return self.sources[document.source], document.digest[:_KEY_BYTES]

    def _add_document(self, document: Document, key: tuple[int, bytes], is_page: int) -> int:
        self.source.append(key[0])
        self.is_page.append(is_page)
        self.dependencies.append(0)
        self.merged.append(0)
        self.keys.append(key[1])
        self.origins.append(storable(document.origin))
        return len(self.source) - 1

    def _wait(self, part: _Part) -> None:
        """Keep the records of a page: adding many pages at once takes half the time."""
        if self._waiting and _given(part[0]) != _given(self._waiting[0][0]):
            self._add_waiting()
        self._waiting.append(part)
        self._count += len(part[2].hashes)
        if self._count >= _MOST_WAITING:
            self._add_waiting()

    def finish(self) -> None:
        """Add the records of pages that wait, then the records of the kept documents."""
        self._add_waiting()
        if self.old is not None and self.old.kept:
            self._add_kept(self.old)
        self.old = None

    def _add_waiting(self) -> None:
        """Add the records of all pages that wait."""
        waiting, self._waiting, self._count = self._waiting, [], 0
        try:
            self._add_records(waiting)
        except Exception:
            for part in waiting:
                try:
                    self._add_records([part])
                except Exception as error:
                    self._add_error(part[1], error)

    def _add_records(self, parts: Sequence[_Part]) -> None:
        """Add the records of a document, or of pages with the same `_given` fields, or of none.

        If one of them raises an error, no record is added.
        """
        looks, documents = list[Any](), list[int]()
        numbers, hashes, sizes = list[int](), list[str](), list[float]()
        for _, number, records in parts:
            numbers += map(len(looks).__add__, records.numbers)
            looks += records.looks
            documents += [number] * len(records.looks)
            hashes += records.hashes
            sizes += [nan if size is None else size for size in records.sizes]
        if not looks:
            return
        document = parts[0][0]
        first, first_record = len(self.codes["document"]), len(self.look_alikes)
        # The records of pages share most entries.
        alike = looks[:1] if self.is_page[number] else looks

        listed_in = f"{document.index_kind}:{records.database}:{storable(document.source)}"
        indexes = (listed_in,) if records.database else ()

        def presence(flags: tuple[bool, ...]) -> Entry:
            cached, installed, explicit, in_cache, is_spliced = flags
            is_cached = cached or (document.cached and in_cache)
            states = is_cached, installed, explicit, not in_cache, is_spliced
            return (self.source[number],), tuple(compress(STATES, states)), indexes

        values: dict[str, Iterable[Entry]] = {s: map(get, alike) for s, get in _ENTRIES.items()}
        if self.is_page[number]:
            columns = dict(zip(LookAlike._fields, zip(*looks, strict=True), strict=True))
            for storage in _DIFFER_ON_PAGES:
                fields = [columns[column.attribute] for column in STORED[storage]]
                values[storage] = fields[0] if len(fields) == 1 else zip(*fields, strict=True)
        # The state comes from the flags, and some values from the document.
        flags = [*map(_flags, alike)]
        presences = {each: presence(each) for each in set(flags)}
        values["presence"] = map(presences.__getitem__, flags)
        if document.tag:
            values["tag"] = (value or document.tag for value in values["tag"])
        if document.stack:
            values["stack_set"] = (value or (document.stack,) for value in values["stack_set"])
        codes = {
            s: array("I", [*map(self.dictionaries[s].__getitem__, its)])
            for s, its in values.items()
        }
        codes["document"] = array("I", documents)
        is_all = self._include_dependency_only
        codes["unlisted"] = array("I", [not (is_all or look.in_cache) for look in alike])
        times = len(looks) // len(alike)
        nodes = [*map(self.nodes_stated.__getitem__, map(_node, alike))] * times
        its_nodes = array("I", [nodes[number] for number in numbers])
        packed = pack_hashes("".join(hashes))
        # Records without a list of dependencies, as on pages, have no provenance either.
        listed = [*map(_dependencies, alike)] * times
        stated = enumerate(numbers, first_record) if listed.count(None) < len(listed) else ()
        stating = [each for each in stated if listed[each[1]] is not None]
        dependencies = self.dependencies_stated.__getitem__
        edges = {
            record: array("I", [*map(dependencies, its)])
            for record, n in stating
            if (its := listed[n])
        }
        provenance = {r: its for r, n in stating if any(its := _provenance(looks[n]))}
        # Nothing from here on raises an error, so that all columns have the same length.
        for name, column in self.codes.items():
            column.extend(codes[name] * (len(looks) // len(codes[name])))
        self.look_alikes.extend([first + number for number in numbers])
        self.hashes += packed
        self.sizes.extend(array("d", sizes))
        self.nodes.extend(its_nodes)
        self.edges.update(edges)
        self.provenance.update(provenance)
        self.dependencies[number] |= bool(stating)
        for _, number, records in parts:
            if len(set(records.hashes)) < len(records.hashes):
                # An index does not know which of these records was the first.
                self.merged[number] = 1

    def _add_kept(self, old: OldIndex) -> None:
        """Add the records of the kept documents, in the order of their ids in the old index."""
        column, first = old.column, old.column("first")
        is_kept = bytes(map(old.kept.__contains__, range(len(old.is_page))))
        spans = list(spans_of(flags_of(column("document"), is_kept)))
        spec_spans = [(first[start], first[stop]) for start, stop in spans]
        # The record of each old spec.
        record_of, end = array("I", [GONE]) * first[-1], len(self.look_alikes)
        for start, stop in spec_spans:
            record_of[start:stop] = array("I", range(end, end := end + stop - start))
        counts = taken(array("I", map(sub, first[1:], first)), spans)
        numbers = map(repeat, count(len(self.codes["document"])), counts)
        self.look_alikes.extend(chain.from_iterable(numbers))
        for name, codes in self.codes.items():
            its = iter(taken(column(name), spans))
            codes.extend(map(old.kept.__getitem__, its) if name == "document" else its)
        self.hashes += taken(bytearray(old.columns.raw("hash")), spec_spans, HASH_BYTES)
        self.sizes.extend(taken(column("size"), spec_spans))
        nodes = [self.nodes_stated[node] for node in node_rows(old.columns)]
        self.nodes.extend(map(nodes.__getitem__, taken(column("node"), spec_spans)))
        rows = Rows(old.columns, "provenance")
        for spec, row in zip(column("provenance.spec"), rows, strict=True):
            if record_of[spec] != GONE:
                self.provenance[record_of[spec]] = tuple(row)
        if kinds := [with_tuples(kind) for kind in old.columns.json("edge_kinds")]:
            stated, old_nodes = self.dependencies_stated, old.nodes()

            @lru_cache(None)
            def dependency(child: int, kind: int) -> int:
                return stated[Dependency(*old_nodes[child], *kinds[kind])]

            edges = array("I", map(dependency, column("edge_child"), column("edge_kind")))
            spans_of_edges = pairwise(column("edge_first"))
            for record, (start, stop) in zip(record_of, spans_of_edges, strict=True):
                if record != GONE and start < stop:
                    self.edges[record] = edges[start:stop]


def _dictionary(storage: str, old: Columns | None) -> Dictionary:
    """Return the dictionary of an older index; an empty one without an index."""
    if old is None:
        return Dictionary()
    stored: dict[str, Sequence[Any]] = {**read_dictionary(old, storage)}
    if "source" in stored:
        # Codes here, so that sources stay in their order.
        code_of = {row[0]: code for code, row in enumerate(old.json("sources"))}
        stored["source"] = [tuple(map(code_of.__getitem__, names)) for names in stored["source"]]
    values = [stored[column.name] for column in STORED[storage]]
    return Dictionary(values[0] if len(values) == 1 else zip(*values, strict=True))


class OldIndex:
    """An older index of the same sources: the records of its unchanged documents are kept.

    `documents` has the numbers of documents by source and digest: only documents with records,
    none of which were merged with records of other documents. A document is removed once it is
    kept; `kept` maps its old number to the new one. `problems` has the fields of each
    problem of a document.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.column = columns.numbers
        self.sources = [row[0] for row in columns.json("sources")]
        self.is_page = columns.raw("documents.is_page")
        self.dependencies = columns.raw("documents.dependencies")
        keys, merged = columns.raw("documents.key"), columns.raw("documents.merged")
        with_records = set(columns.numbers("document"))
        self.documents = {
            (source, keys[n * _KEY_BYTES : (n + 1) * _KEY_BYTES]): n
            for n, source in enumerate(columns.numbers("documents.source"))
            if n in with_records and not merged[n]
        }
        self.kept: dict[int, int] = {}
        self.problems: dict[int, list[tuple[str, str, str, bool]]] = {}
        for _, document, *rest in columns.json("problems"):
            self.problems.setdefault(document, []).append(tuple(rest))

    def nodes(self) -> list[tuple[str, str]]:
        """Return the hash and the package of each spec, and of each absent dependency."""
        names = read_dictionary(self.columns, "package")["package"]
        package = self.column("package")
        packages = (names[package[number]] for number in look_alikes_of(self.column("first")))
        hashes = unpack_hashes(self.columns.raw("hash"))
        return [*zip(hashes, packages, strict=True), *self.columns.json("absent")]


def taken(items: _Items, spans: Iterable[Span], size: int = 1) -> _Items:
    """Return spans of items, each of `size` bytes or numbers, one after the other."""
    result = items[:0]
    for start, stop in spans:
        result += items[start * size : stop * size]
    return result


def merge_repeated(staged: Staged) -> dict[int, int]:
    """Merge records with one hash and tag; records without a tag join records with a tag.

    The record with the most information is kept, and gets the sources, states and stacks of all.
    A record that has another package, version or architecture under the same hash is kept, too,
    and is a Problem.

    Returns, for each merged record, the number of the record that it was merged into.
    """
    # All records of a page have the same tag and package, which mostly no other page has.
    tags, packages = staged.codes["tag"], staged.codes["package"]
    one_of_each = dict(zip(staged.codes["document"], count()))
    pages = Counter((staged.source[page], tags[n], packages[n]) for page, n in one_of_each.items())
    untagged = staged.dictionaries["tag"].get("", -1)
    are_apart = all(number == 1 and tag != untagged for (_, tag, _), number in pages.items())
    if are_apart and all(staged.is_page) and len(set(staged.source)) < 2:
        return {}
    merger = _Merger(staged)
    order = hash_order(staged.hashes)
    for start, stop in repeated_spans(staged.hashes, order):
        # Documents come in the order of reading, also documents of an older index.
        records = sorted(order[start:stop], key=lambda record: (merger.document(record), record))
        if merger.document(records[0]) != merger.document(records[-1]):
            merger.merge_hash(hash_at(staged.hashes, records[0]), records)
    return merger.merged


def hash_order(hashes: bytes | bytearray) -> array[int]:
    """Return the numbers of hashes in their order."""
    # Few hashes at a time: sorting all would take much memory, and stop all other threads. Texts
    # are compared in less time than bytes.
    groups, text = [array("I") for _ in range(256)], hashes.decode("latin-1")
    for number, byte in enumerate(hashes[::HASH_BYTES]):
        groups[byte].append(number)
    order = array("I")
    for group in groups:
        keys = [text[HASH_BYTES * n : HASH_BYTES * (n + 1)] for n in group]
        order.extend([group[n] for n in sorted(range(len(group)), key=keys.__getitem__)])
    return order


class _Merger:
    """Merges the records of one hash after the other.

    `merged` maps merged records, which are gone, to the record they were merged into.
    """

    def __init__(self, staged: Staged) -> None:
        self._staged = staged
        self.merged: dict[int, int] = {}

    def _code(self, name: str, record: int) -> int:
        return self._staged.codes[name][self._staged.look_alikes[record]]

    def document(self, record: int) -> int:
        """Return the document of a record."""
        return self._code("document", record)

    def _mark_merged(self, *documents: int) -> None:
        for document in documents:
            self._staged.merged[document] = 1

    def merge_hash(self, hash_: bytes, records: Sequence[int]) -> None:
        """Merge the records of a hash, which come in the order of their documents."""
        by_tag: dict[int, list[int]] = {}
        for record in records:
            by_tag.setdefault(self._code("tag", record), []).append(record)
        tagless = by_tag.pop(self._staged.dictionaries["tag"].get("", -1), [])
        first, *others = by_tag.values() or [[]]
        # Records without a tag are added to all tags, and last of all go into the first one.
        for tagged in others:
            self._merge(hash_, tagged, tagless)
        self._merge(hash_, [*first, *tagless])

    def _merge(self, hash_: bytes, records: Sequence[int], added: Sequence[int] = ()) -> None:
        """Merge records of one hash and tag into one, and add information from other records."""
        staged = self._staged
        kept = min(records, key=self._rank)
        # An index cannot tell apart what one document lists twice.
        others = [n for n in records if self.document(n) != self.document(kept)]
        merged = [record for record in others if self._is_same(record, kept)]
        if len(merged) < len(others):
            self._mark_merged(*map(self.document, (kept, *others)))
            other = staged.origins[self.document(others[0])]
            reason = f"hash {unpack_hashes(hash_)[0]} is another spec in {other}"
            staged.add_problem_of(self.document(kept), reason)
        joined = [kept, *merged, *(record for record in added if self._is_same(record, kept))]
        if len(joined) == 1:
            return
        self._mark_merged(*map(self.document, joined))
        unlisted = min(self._code("unlisted", record) for record in joined)
        stacks = chain.from_iterable(staged.entry("stack_set", record) for record in joined)
        # Only newer documents list virtuals.
        provided = (staged.entry("provides", record) for record in joined)
        # A source with the spec only as a dependency does not offer it.
        offers = [record for record in joined if self._code("unlisted", record) == unlisted]
        its = [staged.entry("presence", record) for record in offers]
        sources, states, lists = map(list, zip(*its, strict=True))
        joined_states = set(chain.from_iterable(states))
        if not all("needed" in each for each in states):
            joined_states.discard("needed")
            # Indexes with the spec only as a dependency do not list it either.
            lists = [each for _, state, each in its if "needed" not in state]
        presence = (
            tuple(sorted(set(chain.from_iterable(sources)))),
            tuple(state for state in STATES if state in joined_states),
            tuple(sorted(set(chain.from_iterable(lists)))),
        )
        codes = {
            "tag": self._code("tag", records[0]),
            "unlisted": unlisted,
            "stack_set": staged.dictionaries["stack_set"][tuple(sorted(set(stacks)))],
            "presence": staged.dictionaries["presence"][presence],
            "provides": staged.dictionaries["provides"][next(filter(None, provided), ())],
        }
        sizes = map(staged.sizes.__getitem__, joined)
        staged.sizes[kept] = next((size for size in sizes if size == size), nan)
        nodes = map(staged.nodes.__getitem__, joined)
        staged.nodes[kept] = next(filter(None, nodes), 0)
        stated = [staged.provenance.pop(n) for n in (kept, *merged) if n in staged.provenance]
        if stated:
            paths, times, build_specs = zip(*stated, strict=True)
            time = max((each for each in times if each is not None), default=None)
            staged.provenance[kept] = max(paths), time, max(build_specs)
        for record in merged:
            self.merged[record] = kept
            staged.look_alikes[record] = GONE
        look_alike = staged.look_alikes[kept]
        staged.look_alikes[kept] = len(staged.codes["document"])
        for name, column in staged.codes.items():
            column.append(codes.get(name, column[look_alike]))

    def _rank(self, record: int) -> tuple[int, bool, bool]:
        """Return a key that is smallest for the record with the most information."""
        lists_dependencies = self._staged.dependencies[self.document(record)]
        # Without the record of a compiler its version is not known.
        has_version = "@" in self._staged.entry("arch", record)[0]
        return self._code("unlisted", record), not lists_dependencies, not has_version

    def _is_same(self, record: int, kept: int) -> bool:
        """Check whether two records have the same package, version and architecture."""
        return all(
            self._staged.entry(name, record)[start:] == self._staged.entry(name, kept)[start:]
            for name, start in (("package", 0), ("version", 0), ("arch", 1))
        )

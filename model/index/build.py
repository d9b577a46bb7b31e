"""Read documents into an index: give records their ids, and write columns in display order.

All values but the hash, the size and the node of a record are stored in dictionaries, which the
column registry lists. A *look-alike* is one combination of codes of all dictionaries, shared by
all specs with these codes. Ids are given in display order: by the codes in the order of `CODES`,
then by hash. So the specs of a look-alike are adjacent, a range of ids is a range of rows, and the
order of codes is the order of values. Dependency-only specs are *unlisted*, and have the last ids.

The sections are:

- `meta`: the fingerprint, when it was built, and whether any document lists dependencies.
- The dictionaries: a section with the values of each column, or three if they are lists.
- The look-alikes: for each dictionary the codes; `first` with the id of the first spec of each
  look-alike, and the number of specs; `preferred` with the numbers of look-alikes in the order in
  which they are listed by default.
- The specs: `hash` with 20 bytes for each; `hash_order` with the ids sorted by hash;
  `hash_repeats` with the places in `hash_order` that have the same hash as the place before;
  `size`; and `node` with codes of `nodes`, the `NodeFacts`.
- The edges to dependencies in CSR form: spec i owns the edges edge_first[i]:edge_first[i + 1] of
  `edge_child`, the ids of the dependencies, and `edge_kind`, the codes of `edge_kinds`. Ids after
  the last spec belong to `absent`: dependencies that no document describes. `up_first`,
  `up_parent` and `up_kind` are the same edges from dependencies to dependents.
- `run_set` with the code of each spec, and then of each absent dependency, in `run_sets`: the sets
  of `RunFacts` in the closures, or nothing if these are too many.
- The packages: `package.first` with the id of the first listed spec of each, and `package.specs`
  with the number of its listed specs.
- `provenance` with path, time and build spec of the few specs that state one; their ids are
  `provenance.spec`. `build_specs` has the build spec of each spliced spec.
- `documents` with the origins of the documents, `documents.*` with more about each document,
  `sources`, and `problems`.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, compress, count, filterfalse, islice, pairwise, repeat
from operator import sub
from time import time
from typing import TYPE_CHECKING, Any

from spackscope.model.core.columns import STORED
from spackscope.model.core.errors import SourceError, describe_error
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Dependency, NodeFacts, Problem, Records, names_compiler
from spackscope.model.core.tasks import check_cancelled, collector_paused, report_progress
from spackscope.model.index.index_file import (
    CODES,
    HASH_BYTES,
    Columns,
    SectionWriter,
    from_planes,
    pack_hashes,
    planes,
    unpack_hashes,
)
from spackscope.model.index.run_sets import (
    GCC_RUNTIME,
    RunEdges,
    RunFacts,
    StatedLibc,
    libcs_of,
    run_sets,
)
from spackscope.model.index.staged import GONE, Entry, Staged, hash_order, merge_repeated
from spackscope.model.readers.formats import read_document
from spackscope.model.readers.json import storable
from spackscope.model.readers.pages import is_page
from spackscope.model.sources.document import DiscoveredSource, Document, read_bytes
from spackscope.model.sources.session import Session

if TYPE_CHECKING:
    from spackscope.model.sources.mirror import StoredSpec

PAGE_NAME = "specs.md"
"""The name of every page on the site; a file of this name that is not a page is a problem."""

_PARSING = 0.6
"""The part of the time for a document that parsing takes; the rest is for storing records."""

_PROGRESS_SPECS = 256


def build(
    discovered: Sequence[DiscoveredSource],
    session: Session,
    *,
    fingerprint: str = "",
    old: Columns | None = None,
) -> bytes:
    """Read all documents, and return an index of their records.

    Arguments:
        discovered: The sources with their documents.
        session: It says whether dependency-only specs are listed.
        fingerprint: The fingerprint of the sources, which the index keeps.
        old: An older index, whose records are reused for unchanged documents.

    Raises SourceError if no source can be read, and Cancelled.

    Example:
        >>> columns = Columns(build(discover(["index.json"], session), session))
    """
    with collector_paused():
        reading = _Reading(discovered, session, old)
        failures = [reading.read_source(source) for source in discovered]
        if all(failures):
            raise SourceError("; ".join(failures))
        reading.report_end()
        return _write(
            reading.staged,
            discovered,
            failures,
            fingerprint=fingerprint,
        )


class _Reading:
    """Stages the records of source after source.

    Progress counts documents by their bytes, and is reported under the name of their source.
    """

    def __init__(
        self, discovered: Sequence[DiscoveredSource], session: Session, old: Columns | None
    ) -> None:
        only = session.include_dependency_only
        self.staged = Staged(discovered, old, include_dependency_only=only)
        self._total = sum(source.documents.size for source in discovered)
        self._stored: dict[str, dict[str, StoredSpec]] = {}
        self._source, self._before, self._size = "", 0, 0

    def read_source(self, discovered: DiscoveredSource) -> str:
        """Stage the documents of a source; return why it cannot be read at all, or ""."""
        self._source = discovered.source
        for problem in discovered.problems:
            self.staged.add_problem(discovered.source, problem)
        is_known, reason = False, "contains no page of cache.spack.io and no Spack index"
        for document in discovered.documents:
            self._before += self._size
            self._size = document.size
            self.report(0)
            if self.staged.keep(document):
                is_known = True
                continue
            try:
                is_known |= self._read(document)
            except Exception as error:
                reason = f"cannot be read: {describe_error(error)}"
                self._add_problem(document, reason)
        failure, number = discovered.failure, self.staged.sources[discovered.source]
        if is_known and not failure:
            return ""
        of_documents = (
            Problem("" if origin == discovered.source else origin, place, why)
            for source, document, origin, place, why, _ in self.staged.problems
            if source == number and document is not None
        )
        first = next(of_documents, None)
        if not failure:
            reason = reason if first is None else f"cannot be read: {first}"
            failure = f"the source {discovered.source} {reason}"
        if first is None:
            self.staged.add_problem(discovered.source, Problem("", "", failure))
        return failure

    def _read(self, document: Document) -> bool:
        """Stage one document; return whether its format is known. Raises any error."""
        data = read_bytes(document)
        page = is_page(data)
        if document.kind == "candidate" and not page:
            if os.path.basename(document.path) == PAGE_NAME:
                self._add_problem(document, "it is not a page of cache.spack.io")
            return False
        total = 0

        def on_count(done: int, of: int) -> None:
            nonlocal total
            total = max(done, of)
            self.report(_PARSING * done / total)

        def watched() -> Iterator[Records | Problem]:
            """Yield the items of the reader, and report how many records are stored."""
            stored = 0
            for item in items:
                if isinstance(item, Records):
                    stored += len(item.hashes)
                if stored >= _PROGRESS_SPECS:
                    # The total may be unknown: the more records, the nearer to the end.
                    part = stored / (stored + 1000)
                    if total:
                        part = _PARSING + (1 - _PARSING) * min(1, stored / total)
                    self.report(part)
                yield item

        items = read_document(data, origin=document.origin, on_count=on_count)
        if document.files and not page:
            items = self._with_archives(items, document)
        # The reader drops the bytes as soon as it has their text.
        del data
        return self.staged.add(document, watched(), is_page=page) or page

    def _with_archives(
        self, items: Iterable[Records | Problem], document: Document
    ) -> Iterator[Records | Problem]:
        """Yield the records of a mirror's index, with sizes of archives from the files there.

        A record without an archive is not cached; missing files are a problem.
        """
        stored = self._stored_specs(document)
        missing: dict[str, list[str]] = {}
        for item in items:
            if isinstance(item, Problem):
                yield item
                continue
            looks, sizes = list[Any](), list[float | None]()
            # Records of nodes have a look each.
            for look, hash_ in zip(list[Any](item.looks), item.hashes, strict=True):
                its = stored.get(hash_)
                problem = "listed, but not in the mirror" if its is None else its.problem
                cached = look.in_cache and its is not None and its.has_archive
                looks.append(look if look.cached is cached else replace(look, cached=cached))
                sizes.append(its.size if its is not None and look.in_cache else None)
                if look.in_cache and problem:
                    missing.setdefault(problem, []).append(f"{look.package}/{hash_[:7]}")
            yield replace(item, looks=looks, sizes=sizes)
        for problem, names in missing.items():
            more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
            reason = f"{names[0]}{more}: {problem}"
            yield Problem(document.origin, "", reason)

    def _stored_specs(self, document: Document) -> Mapping[str, StoredSpec]:
        """Return the specs in the mirror of an index, by hash; each mirror is read once."""
        from spackscope.model.sources.mirror import stored_specs

        if document.files not in self._stored and document.mirror is not None:
            self._stored[document.files] = stored_specs(document.mirror, lambda: self.report(0))
        return self._stored[document.files]

    def _add_problem(self, document: Document, reason: str) -> None:
        problem = Problem(document.origin, "", reason, is_unread=True)
        self.staged.add_problem(document.source, problem)

    def report(self, part: float) -> None:
        """Report that a part of the current document has been read. Raises Cancelled."""
        done = self._before + int(self._size * part)
        report_progress(f"reading {self._source}", done, self._total)

    def report_end(self) -> None:
        """Report that everything has been read. Raises Cancelled."""
        report_progress(f"reading {self._source}", self._total, self._total)


# The columns in display order.


DocumentNode = tuple[int, bytes]
"""A dependency as a document names it: the number of the document, and the hash."""

_AT_ONCE = 1024
"""About how many records are sorted at once: all would take much memory, and stop all threads."""


def _write(
    staged: Staged,
    discovered: Sequence[DiscoveredSource],
    failures: Sequence[str],
    *,
    fingerprint: str,
) -> bytes:
    """Merge repeated records, give them ids, and return the index.

    `failures` are the reasons why sources cannot be read, "" for sources that can. Raises
    Cancelled.
    """

    staged.finish()
    check_cancelled()
    sections, described = SectionWriter(), _described(staged)
    merged = merge_repeated(staged)
    check_cancelled()
    codes, first, hashes, records = _write_look_alikes(sections, staged, discovered)
    sections.add_bytes("hash", hashes, whole=True)
    order, repeats = hash_order(hashes)
    sections.add_array("hash_order", order)
    sections.add_array("hash_repeats", repeats, ascending=True)
    check_cancelled()
    sections.add_array("size", array("d", map(staged.sizes.__getitem__, records)))
    _write_nodes(sections, staged, records)
    record_of = {node: merged.get(record, record) for node, record in described.items()}
    edges, absent = _write_edges(sections, staged, records, record_of, hashes)
    check_cancelled()
    sections.add_array("preferred", preferred_order(codes, first, edges.first))
    _write_run_sets(sections, staged, records, edges, absent)
    _write_packages(sections, codes, first)
    _write_provenance(sections, staged.provenance, records)
    sections.add_rows("documents", staged.origins)
    sections.add_array("documents.source", staged.source)
    for name in ("is_page", "dependencies", "merged"):
        sections.add_bytes(f"documents.{name}", bytes(getattr(staged, name)), 1)
    sections.add_bytes("documents.key", bytes(staged.keys))
    # Each spec counts once for a source, however many of its documents list it.
    specs = [0] * len(discovered)
    presence, look_alikes = staged.codes["presence"], map(staged.look_alikes.__getitem__, records)
    listed = filterfalse(staged.codes["unlisted"].__getitem__, look_alikes)
    for code, number in Counter(map(presence.__getitem__, listed)).items():
        for source in staged.dictionaries["presence"].entries[code][0]:
            specs[source] += number
    rows = [
        [
            *(storable(each.source), each.kind, each.layout, number, each.checked),
            *(storable(each.remark), storable(failure)),
        ]
        for each, number, failure in zip(discovered, specs, failures, strict=True)
    ]
    sections.add_json("sources", rows)
    sections.add_json("problems", staged.problems)
    meta = {
        "fingerprint": fingerprint,
        "built": time(),
        "lists_dependencies": any(staged.dependencies),
    }
    sections.add_json("meta", meta)
    return sections.seal()


def _interleave(columns: Sequence[array[int]]) -> tuple[list[int], bytes]:
    """Join the numbers of several columns row by row, with the highest byte of each number first.

    Rows sort by their numbers, and comparing two rows is one comparison of bytes. Returns the
    number of bytes of each column, and the bytes of all rows.
    """
    parts = [planes(column) for column in columns]
    sizes = [size for size, _ in parts]
    width, length = sum(sizes), len(columns[0])
    rows, place = bytearray(width * length), 0
    for size, data in parts:
        for plane in reversed(range(size)):
            rows[place::width] = data[plane * length : (plane + 1) * length]
            place += 1
    return sizes, bytes(rows)


def _separate(sizes: Sequence[int], rows: bytes) -> Iterator[array[int]]:
    """Yield the columns from the result of `_interleave`."""
    width, end = sum(sizes), 0
    for size in sizes:
        end += size
        data = b"".join(rows[end - plane :: width] for plane in range(1, size + 1))
        yield from_planes(size, data)


def _write_look_alikes(
    sections: SectionWriter,
    staged: Staged,
    discovered: Sequence[DiscoveredSource],
) -> tuple[dict[str, array[int]], array[int], bytes, array[int]]:
    """Write the look-alikes in display order.

    Returns the codes and the first spec of each look-alike, and the hashes and the record numbers
    of all specs.
    """
    look_alikes = staged.look_alikes
    used = bytearray(len(staged.codes["document"]))
    for look_alike in look_alikes:
        if look_alike != GONE:
            used[look_alike] = 1
    columns = dict(staged.codes)
    for storage, dictionary in staged.dictionaries.items():
        column = columns[storage]
        codes = set(column if all(used) else compress(column, used))
        order = _write_dictionary(sections, storage, dictionary.entries, codes, discovered)
        columns[storage] = _replaced(column, order)
    check_cancelled()
    names = ("unlisted", *CODES[:-1])
    sizes, heads = _interleave([columns[name] for name in names])
    head = sum(sizes)
    # Some packages at once: see `_AT_ONCE`.
    packages, unlisted = columns["package"], columns["unlisted"]
    parts, total = len(look_alikes) // _AT_ONCE + 1, max(packages, default=-1) + 1
    group_of = [parts * package // total for package in range(total)]
    groups = [array("I") for _ in range(2 * parts)]
    for record, look_alike in enumerate(look_alikes):
        if look_alike != GONE:
            part = group_of[packages[look_alike]]
            groups[part + parts * unlisted[look_alike]].append(record)
    first, records, before = array("I"), array("I"), b""
    distinct, hashes, size = bytearray(), bytearray(), HASH_BYTES
    for group in groups:
        check_cancelled()
        rows = [
            heads[head * number : head * number + head]
            + staged.hashes[size * record : size * record + size]
            for record, number in zip(group, map(look_alikes.__getitem__, group), strict=True)
        ]
        order = sorted(range(len(rows)), key=rows.__getitem__)
        rows = [rows[place] for place in order]
        for number, row in enumerate(rows, len(records)):
            if row[:head] != before:
                before = row[:head]
                distinct += before
                first.append(number)
        hashes += b"".join([row[head:] for row in rows])
        records.extend([group[place] for place in order])
    first.append(len(records))
    staged.hashes.clear()
    written = dict(zip(names, _separate(sizes, bytes(distinct)), strict=True))
    for name in CODES:
        sections.add_array(name, written[name])
    sections.add_array("first", first, ascending=True)
    return written, first, bytes(hashes), records


def _replaced(column: array[int], order: Sequence[int]) -> array[int]:
    """Return a column with each code replaced by its place in an order; 0 if it has no place."""
    ranks = [0] * (max(column, default=0) + 1)
    for rank, code in enumerate(order):
        ranks[code] = rank
    if len(ranks) > 256:
        return array("I", map(ranks.__getitem__, column))
    return array("B", planes(column)[1].translate(bytes(ranks).ljust(256, b"\0")))


def _write_dictionary(
    sections: SectionWriter,
    storage: str,
    entries: Sequence[Entry],
    codes: Iterable[int],
    discovered: Sequence[DiscoveredSource],
) -> list[int]:
    """Write the entries of some codes, sorted; return the codes in this order."""
    codes = list(codes)
    values: list[Sequence[Any]] = [[entries[code] for code in codes]]
    if len(STORED[storage]) > 1:
        values = list(zip(*values[0], strict=True)) or [()] * len(STORED[storage])
    parts = []
    for column, its in zip(STORED[storage], values, strict=True):
        # Values are sorted by the places of their texts among all texts of the column.
        lists = its if column.is_list else [(value,) for value in its]
        keys = {
            text: column.sort_key((text,) if column.is_list else text)
            for text in set(chain.from_iterable(lists))
        }
        texts = sorted(keys, key=keys.__getitem__)
        place_of = {text: place for place, text in enumerate(texts)}
        places = [tuple(map(place_of.__getitem__, value)) for value in lists]
        parts.append((column, its, texts, places))
    all_places = list(zip(*(places for *_, places in parts), strict=True))
    order = sorted(range(len(codes)), key=all_places.__getitem__)
    for column, its, texts, places in parts:
        if column.name == "source":
            # Codes here, so that sources stay in their order.
            texts = [storable(discovered[code].source) for code in texts]
        if column.is_list:
            sections.add_lists(column.name, texts, [places[n] for n in order])
        else:
            sections.add_json(f"{column.name}.texts", [its[n] for n in order])
    return [codes[n] for n in order]


def _write_nodes(sections: SectionWriter, staged: Staged, records: array[int]) -> None:
    """Write the `NodeFacts`, and the code of each spec; 0 is for a node without facts."""
    codes = array("I", map(staged.nodes.__getitem__, records))
    stated = staged.nodes_stated.entries
    order = sorted({*codes, 0}, key=lambda code: (code > 0, stated[code]))
    sections.add_array("node", _replaced(codes, order))
    sections.add_rows("nodes", [stated[code] for code in order])


def preferred_order(
    columns: Mapping[str, array[int]], first: array[int], up_first: array[int]
) -> array[int]:
    """Return the look-alikes in the order in which they are listed by default.

    Packages are in the order of their names. In a package the newest version comes first, then the
    look-alikes with the most dependents. `columns` are the codes of look-alikes in display order,
    `first` has the first spec of each look-alike, and `up_first` the first edge to each spec.
    """
    keys: Sequence[Any] = columns["version"]
    if up_first[-1]:
        starts = list(map(up_first.__getitem__, first))
        keys = list(zip(keys, map(sub, starts[1:], starts), strict=True))
    order = array("I")
    for start, stop in _package_spans(columns):
        order.extend(sorted(range(start, stop), key=keys.__getitem__, reverse=True))
    return order


def _package_spans(columns: Mapping[str, array[int]]) -> list[tuple[int, int]]:
    """Return the span of look-alikes of each package: first listed, then unlisted look-alikes."""
    packages, listed = columns["package"], bisect_left(columns["unlisted"], 1)
    starts = [
        bisect_left(packages, package, *part)
        for part in ((0, listed), (listed, len(packages)))
        for package in range(max(packages, default=-1) + 1)
    ]
    return list(pairwise([*starts, len(packages)]))


def _write_packages(
    sections: SectionWriter, codes: Mapping[str, array[int]], first: array[int]
) -> None:
    """Write the first listed spec of each package, and the number of its listed specs."""
    spans = _package_spans(codes)
    spans = spans[: len(spans) // 2]
    sections.add_array("package.first", array("I", [first[start] for start, _ in spans]))
    counts = (first[stop] - first[start] for start, stop in spans)
    sections.add_array("package.specs", array("I", counts))


def _write_provenance(
    sections: SectionWriter, stated: Mapping[int, Sequence[Any]], records: array[int]
) -> None:
    specs = array(
        "I", [n for n, record in enumerate(records) if record in stated] if stated else ()
    )
    rows = [stated[records[spec]] for spec in specs]
    sections.add_array("provenance.spec", specs, ascending=True)
    sections.add_rows("provenance", rows)
    spliced = [(spec, row[2]) for spec, row in zip(specs, rows, strict=True) if row[2]]
    sections.add_json("build_specs", spliced)


# Edges


def _described(staged: Staged) -> dict[DocumentNode, int]:
    """Return, for each dependency with a record in its own document, the first such record."""
    texts = {edge.hash for edges in staged.edges.values() for edge in edges}
    wanted, records = set(map(pack_hashes, texts)), dict[DocumentNode, int]()
    documents = staged.codes["document"]
    for record, look_alike in enumerate(staged.look_alikes) if wanted else ():
        if (hash_ := staged.hash_at(record)) in wanted:
            records.setdefault((documents[look_alike], hash_), record)
    return records


def _write_edges(
    sections: SectionWriter,
    staged: Staged,
    records: array[int],
    record_of: Mapping[DocumentNode, int],
    hashes: bytes,
) -> tuple[RunEdges, list[str]]:
    """Write the edges, their kinds, and the dependencies that no document describes.

    `records` has the record of each spec, `record_of` the records of dependencies in their own
    document, and `hashes` the hashes of the specs. Returns the edges by dependency, and
    the packages of those that no document describes.
    """
    codes, look_alikes = staged.codes, staged.look_alikes
    edges = [staged.edges.get(n, ()) for n in records] if staged.edges else [()] * len(records)
    first = array("I", accumulate(map(len, edges), initial=0))
    children, its_kinds = (array("I", bytes(4 * first[-1])) for _ in range(2))
    specs_of = defaultdict[int, list[int]](list)
    for spec in compress(count(), edges):
        specs_of[codes["document"][look_alikes[records[spec]]]].append(spec)
    spec_of = {record: spec for spec, record in enumerate(records)} if specs_of else {}
    first_of: dict[bytes, int] = {}
    kind_of: dict[tuple[Sequence[str], Sequence[str]], int] = {}
    absent: list[tuple[str, str]] = []
    packages = staged.dictionaries["package"].entries
    # One document after the other: all nodes of all documents would take much memory.
    for document, specs in sorted(specs_of.items()):
        # Dependencies are numbered by their objects, which most edges share.
        numbers, distinct, numbered = dict[int, int](), list[Dependency](), array("I")
        for edge in chain.from_iterable(map(edges.__getitem__, specs)):
            if (number := numbers.get(id(edge))) is None:
                number = numbers[id(edge)] = len(distinct)
                distinct.append(edge)
            numbered.append(number)
        nodes = [pack_hashes(edge.hash) for edge in distinct]
        # The first edge to a node names it.
        names = dict(zip(reversed(nodes), (e.name for e in reversed(distinct)), strict=True))
        ids: dict[bytes, int] = {}
        for hash_, name in sorted(names.items()):
            spec = spec_of.get(record_of.get((document, hash_), -1), -1)
            if spec < 0:
                # Another document may describe it: the first spec with the hash.
                first_of = first_of or {
                    hashes[HASH_BYTES * n : HASH_BYTES * (n + 1)]: n
                    for n in reversed(range(len(records)))
                }
                spec = first_of.get(hash_, len(records) + len(absent))
                if spec >= len(records):
                    absent.append((unpack_hashes(hash_)[0], name))
                elif packages[codes["package"][look_alikes[records[spec]]]] != name:
                    # The index does not keep the name in this document if the other document has
                    # another name, so this one must be read again.
                    staged.merged[document] = 1
            ids[hash_] = spec
        kinds = [
            kind_of.setdefault((edge.deptypes, edge.virtuals), len(kind_of)) for edge in distinct
        ]
        for column, code_of in ((children, [*map(ids.__getitem__, nodes)]), (its_kinds, kinds)):
            values, at = array("I", map(code_of.__getitem__, numbered)), 0
            for spec in specs:
                start, stop = first[spec], first[spec + 1]
                column[start:stop] = values[at : at + stop - start]
                at += stop - start
    ordered = sorted(kind_of)
    code_of_kind = {kind: code for code, kind in enumerate(ordered)}
    kind_codes = [*map(code_of_kind.__getitem__, kind_of)]
    its_kinds = array("I", map(kind_codes.__getitem__, its_kinds))
    sections.add_json("edge_kinds", ordered)
    sections.add_json("absent", absent)
    up = reverse_edges(first, children, its_kinds, len(records) + len(absent))
    sections.add_array("edge_first", first, ascending=True)
    sections.add_array("edge_child", children)
    sections.add_array("edge_kind", its_kinds)
    sections.add_array("up_first", up[0], ascending=True)
    sections.add_array("up_parent", up[1])
    sections.add_array("up_kind", up[2])
    deptypes, virtuals = zip(*ordered, strict=True) if ordered else ((), ())
    return RunEdges(*up, deptypes, virtuals), [name for _, name in absent]


def _write_run_sets(
    sections: SectionWriter,
    staged: Staged,
    records: array[int],
    edges: RunEdges,
    absent: Sequence[str],
) -> None:
    """Write what decides on which hosts the specs run. Raises Cancelled.

    `absent` are the packages of the dependencies that no document describes.
    """
    stated = [NodeFacts(*entry) for entry in staged.nodes_stated.entries]
    columns = [column.name for column in STORED["arch"]]
    entries = {name: staged.dictionaries[name].entries for name in ("package", "version", "arch")}
    codes, look_alikes = staged.codes, staged.look_alikes

    def libc(id_: int) -> StatedLibc | None:
        if id_ >= len(records):
            return None
        look_alike = look_alikes[records[id_]]
        name, version = (entries[c][codes[c][look_alike]] for c in ("package", "version"))
        return StatedLibc(name, version, stated[staged.nodes[records[id_]]].external)

    def facts_of(arch: int, lists: int, node: int, its: tuple[int, ...]) -> RunFacts:
        of_arch = dict(zip(columns, entries["arch"][arch], strict=True))
        is_compiled = names_compiler(of_arch.pop("compiler"))
        libcs: Sequence[StatedLibc | None] | None = tuple(map(libc, its))
        if stated[node].external:
            # Spack takes an external to run with any C library.
            libcs = ()
        elif lists and not libcs:
            libcs = None
        return RunFacts(is_compiled=is_compiled, lists=bool(lists), libcs=libcs, **of_arch)

    needed = libcs_of(edges)
    looks = array("I", map(look_alikes.__getitem__, records))
    keys = zip(
        map(codes["arch"].__getitem__, looks),
        map(staged.dependencies.__getitem__, map(codes["document"].__getitem__, looks)),
        map(staged.nodes.__getitem__, records),
        (tuple(needed.get(spec, ())) for spec in range(len(records))) if needed else repeat(()),
        strict=bool(needed),
    )
    number_of, of_key, numbers = dict[RunFacts | None, int](), dict[Any, int](), array("I")
    for key in keys:
        if (number := of_key.get(key)) is None:
            number = of_key[key] = number_of.setdefault(facts_of(*key), len(number_of))
        numbers.append(number)
    if absent:
        numbers.extend([number_of.setdefault(None, len(number_of))] * len(absent))
    # Nothing has the code of a package that is not there.
    runtime = staged.dictionaries["package"].get(GCC_RUNTIME, -1)
    left_out = [n for n, look in enumerate(looks) if codes["package"][look] == runtime]
    left_out += [n for n, name in enumerate(absent, len(records)) if name == GCC_RUNTIME]
    codes_of_sets, sets = run_sets(numbers, edges, left_out)
    sections.add_array("run_set", codes_of_sets)
    sections.add_lists("run_sets", [*number_of], sets)


def reverse_edges(
    first: Sequence[int], children: Sequence[int], kinds: Sequence[int], nodes: int
) -> tuple[array[int], array[int], array[int]]:
    """Return edges in CSR form by child, from edges in CSR form by parent.

    Parent i owns the edges first[i]:first[i + 1]. There are `nodes` children. Returns the first
    edge of each child, and the parents and the kinds of all edges.
    """
    if not children:
        # Pages list no dependencies.
        return array("I", bytes(4 * (nodes + 1))), array("I"), array("I")
    order = sorted(range(len(children)), key=children.__getitem__)
    counts = Counter(children)
    sizes = map(sub, islice(first, 1, None), first)
    parents = list(chain.from_iterable(map(repeat, count(), sizes)))
    return (
        array("I", accumulate(map(counts.__getitem__, range(nodes)), initial=0)),
        array("I", map(parents.__getitem__, order)),
        array("I", map(kinds.__getitem__, order)),
    )

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
- The specs: `hash` with 20 bytes for each; `hash_order` with the ids sorted by hash; `size`; and
  `node` with codes of `nodes`, the `NodeFacts`.
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
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, compress, count, islice, pairwise, repeat
from operator import ne, sub
from time import time
from typing import TYPE_CHECKING, Any

from spackscope.model.core.columns import STORED
from spackscope.model.core.errors import SourceError, describe_error
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import (
    GCC_RUNTIME,
    Dependency,
    NodeFacts,
    Problem,
    Records,
    names_compiler,
)
from spackscope.model.core.tasks import check_cancelled, collector_paused, report_progress
from spackscope.model.index.edges import Adjacency
from spackscope.model.index.index_file import (
    CODES,
    HASH_BYTES,
    Columns,
    SectionWriter,
    Span,
    flags_of,
    hash_at,
    look_alikes_of,
    mask_of,
    narrowed,
    pack_hashes,
    ranked,
    unpack_hashes,
)
from spackscope.model.index.run_sets import (
    LIBC,
    RunFacts,
    StatedLibc,
    follows_run,
    libcs_of,
    run_sets,
)
from spackscope.model.index.staged import (
    GONE,
    Dictionary,
    Entry,
    Staged,
    hash_order,
    merge_repeated,
)
from spackscope.model.readers.formats import read_document
from spackscope.model.readers.json import storable
from spackscope.model.readers.pages import is_page
from spackscope.model.sources.document import PAGE_NAME, DiscoveredSource, Document, read_bytes
from spackscope.model.sources.session import Session

if TYPE_CHECKING:
    from spackscope.model.sources.mirror import StoredSpec


def build(
    discovered: Sequence[DiscoveredSource],
    session: Session,
    *,
    fingerprint: str = "",
    old: Columns | None = None,
) -> bytearray:
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
        reading.report(1)
        return _write(reading.staged, discovered, failures, fingerprint=fingerprint)


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
            if self.staged.keep(document):
                is_known = True
                continue
            self.report(0)
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
        items = read_document(data, origin=document.origin, on_count=self._report_count)
        if document.files and not page:
            items = self._with_archives(items, document)
        # The reader drops the bytes as soon as it has their text.
        del data
        return self.staged.add(document, items, is_page=page) or page

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
            yield item._replace(looks=looks, sizes=sizes)
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

    def _report_count(self, done: int, total: int) -> None:
        self.report(done / max(done, total))

    def report(self, part: float) -> None:
        """Report that a part of the current document has been read. Raises Cancelled."""
        done = self._before + int(self._size * part)
        report_progress(f"reading {self._source}", done, self._total)


# The columns in display order.


def _write(
    staged: Staged,
    discovered: Sequence[DiscoveredSource],
    failures: Sequence[str],
    *,
    fingerprint: str,
) -> bytearray:
    """Merge repeated records, give them ids, and return the index.

    `failures` are the reasons why sources cannot be read, "" for sources that can. Raises
    Cancelled.
    """

    check_cancelled()
    sections = SectionWriter()
    first, described = _arrange(sections, staged, discovered)
    for name in CODES:
        sections.add_array(name, staged.codes[name])
    sections.add_array("first", first, ascending=True)
    sections.add_bytes("hash", bytes(staged.hashes), random=True)
    sections.add_array("hash_order", hash_order(staged.hashes), random=True)
    sections.add_array("size", staged.sizes)
    check_cancelled()
    _write_nodes(sections, staged, staged.nodes)
    up, kinds, absent = _write_edges(sections, staged, described)
    check_cancelled()
    packages = _package_spans(staged.codes, len(staged.dictionaries["package"].entries))
    preferred = preferred_order(packages, staged.codes["version"], first, up.first)
    sections.add_array("preferred", preferred)
    _write_run_sets(sections, staged, first, packages, up, kinds, absent)
    listed = packages[: len(packages) // 2]
    sections.add_array("package.first", array("I", [first[start] for start, _ in listed]))
    of_packages = array("I", [first[stop] - first[start] for start, stop in listed])
    sections.add_array("package.specs", of_packages)
    _write_provenance(sections, staged.provenance)
    sections.add_rows("documents", staged.origins)
    sections.add_array("documents.source", staged.source)
    for name in ("is_page", "dependencies", "merged"):
        sections.add_bytes(f"documents.{name}", bytes(getattr(staged, name)), 1)
    sections.add_bytes("documents.key", b"".join(staged.keys))
    # Each spec counts once for a source, however many of its documents list it.
    counts = array("I", map(sub, first[1:], first))
    presences = staged.dictionaries["presence"].entries
    of_source, end = [], bisect_left(staged.codes["unlisted"], 1)
    for number in range(len(discovered)):
        has_source = bytes(number in sources for sources, *_ in presences)
        mask = flags_of(staged.codes["presence"], has_source)
        of_source.append(sum(compress(counts, mask[:end])))
    rows = [
        [
            *(storable(each.source), each.kind, each.layout, number, each.checked),
            *(storable(each.remark), storable(failure)),
        ]
        for each, number, failure in zip(discovered, of_source, failures, strict=True)
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


def _arrange(
    sections: SectionWriter, staged: Staged, discovered: Sequence[DiscoveredSource]
) -> tuple[array[int], _Described]:
    """Write the dictionaries, and put the records into display order: their numbers are ids then.

    Returns the first spec of each look-alike, and the specs that `_described` finds. Raises
    Cancelled.
    """
    staged.finish()
    # Problems of a source come before those of its documents.
    staged.problems.sort(
        key=lambda problem: (problem[0], -1 if problem[1] is None else problem[1])
    )
    described = _described(staged)
    merged = merge_repeated(staged)
    check_cancelled()
    used = (number for number in staged.look_alikes if number != GONE)
    is_used = mask_of(used, len(staged.codes["document"]))
    for storage, dictionary in staged.dictionaries.items():
        codes = {*compress(staged.codes[storage], is_used)}
        order = _write_dictionary(sections, storage, dictionary.entries, codes, discovered)
        staged.codes[storage] = ranked(staged.codes[storage], order, len(dictionary))
        dictionary.entries = [dictionary.entries[code] for code in order]
    first, ids = _put_in_order(staged)
    its_ids = ((node, ids[merged.get(record, record)]) for node, record in described.items())
    return first, {node: id_ for node, id_ in its_ids if id_ != GONE}


_GROUPING = ("unlisted", "package")
"""The first columns of the display order, by which records are grouped before they are sorted."""


def _put_in_order(staged: Staged) -> tuple[array[int], array[int]]:
    """Put look-alikes and records into display order, each once, without those that are gone.

    Returns the first record of each look-alike, and the new number of each record. Raises
    Cancelled.
    """
    of_package: defaultdict[tuple[int, int], array[int]] = defaultdict(lambda: array("I"))
    packages, unlisted = staged.codes["package"], staged.codes["unlisted"]
    for record, number in enumerate(staged.look_alikes):
        if number != GONE:
            of_package[unlisted[number], packages[number]].append(record)
    varying = [name for name in CODES if any(staged.codes[name])]
    width, look_codes = _joined([staged.codes[n] for n in varying if n not in _GROUPING])
    its_hashes, size = staged.hashes.decode("latin-1"), HASH_BYTES
    first, hashes, records = array("I"), bytearray(), array("I")
    # One package after the other: sorting all would take much memory, and stop other threads.
    for _, its_records in sorted(of_package.items()):
        check_cancelled()
        rows = [
            look_codes[width * number : width * number + width]
            + its_hashes[size * record : size * record + size]
            for record in its_records
            for number in [staged.look_alikes[record]]
        ]
        order = sorted(range(len(rows)), key=rows.__getitem__)
        looks = [rows[place][:width] for place in order]
        first.extend(compress(count(len(records)), map(ne, looks, chain((None,), looks))))
        hashes += "".join([rows[place][width:] for place in order]).encode("latin-1")
        records.extend([its_records[place] for place in order])
    distinct = [staged.look_alikes[records[spec]] for spec in first]
    first.append(len(records))
    staged.codes = {
        name: narrowed(array("I", map(column.__getitem__, distinct)))
        if name in varying
        else column[: len(distinct)]
        for name, column in staged.codes.items()
    }
    ids = array("I", [GONE]) * len(staged.look_alikes)
    for id_, record in enumerate(records):
        ids[record] = id_
    staged.look_alikes, staged.hashes = look_alikes_of(first), hashes
    staged.sizes = array("d", map(staged.sizes.__getitem__, records))
    staged.nodes = array("I", map(staged.nodes.__getitem__, records))
    edges, provenance = staged.edges.items(), staged.provenance.items()
    staged.edges = {ids[n]: its for n, its in edges if ids[n] != GONE}
    staged.provenance = {ids[n]: its for n, its in provenance}
    return first, ids


def _joined(columns: Sequence[array[int]]) -> tuple[int, str]:
    """Join the numbers of several columns row by row; return the length of a row, and all rows.

    Each byte is a letter, the highest byte of a number the first, so that rows sort like their
    numbers: comparing two texts takes less time than comparing two tuples.
    """
    rows = array("I", bytes(4 * len(columns) * max(map(len, columns), default=0)))
    for place, column in enumerate(columns):
        rows[place :: len(columns)] = array("I", column)
    if sys.byteorder == "little":
        rows.byteswap()
    return 4 * len(columns), rows.tobytes().decode("latin-1")


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


def _write_nodes(sections: SectionWriter, staged: Staged, codes: array[int]) -> None:
    """Write the `NodeFacts`, and the code of each spec; 0 is for a node without facts."""
    stated = staged.nodes_stated.entries
    order = [0, *sorted({*codes} - {0}, key=stated.__getitem__)]
    sections.add_array("node", ranked(codes, order, len(stated)))
    sections.add_rows("nodes", [stated[code] for code in order])


def _package_spans(columns: Mapping[str, array[int]], packages: int) -> list[Span]:
    """Return the span of look-alikes of each package: first listed, then unlisted look-alikes."""
    starts, column = [0], columns["package"]
    for end in (bisect_left(columns["unlisted"], 1), len(column)):
        for package in range(packages):
            starts.append(bisect_right(column, package, starts[-1], end))
    return list(pairwise(starts))


def preferred_order(
    packages: Iterable[Span], versions: array[int], first: array[int], up_first: array[int]
) -> array[int]:
    """Return the look-alikes in the order in which they are listed by default.

    Packages, given as spans of look-alikes, are in the order of their names. In a package the
    newest version comes first, then the look-alikes with the most dependents. `versions` has the
    version of each look-alike, `first` its first spec, and `up_first` the first edge to each spec.
    """
    keys: Sequence[Any] = versions.tolist()
    if up_first[-1]:
        starts = [up_first[spec] for spec in first]
        keys = list(zip(keys, map(sub, starts[1:], starts), strict=True))
    order = array("I")
    for start, stop in packages:
        order.extend(sorted(range(start, stop), key=keys.__getitem__, reverse=True))
    return order


def _write_provenance(sections: SectionWriter, stated: Mapping[int, Sequence[Any]]) -> None:
    specs = array("I", sorted(stated))
    rows = [stated[spec] for spec in specs]
    sections.add_array("provenance.spec", specs, ascending=True)
    sections.add_rows("provenance", rows)
    spliced = [(spec, row[2]) for spec, row in zip(specs, rows, strict=True) if row[2]]
    sections.add_json("build_specs", spliced)


# Edges


_Kind = tuple[tuple[str, ...], tuple[str, ...]]
"""The deptypes and the virtuals of an edge."""


def _packed(dependencies: Iterable[Dependency]) -> list[bytes]:
    """Return the bytes of the hash of each dependency."""
    hashes = pack_hashes("".join([dependency.hash for dependency in dependencies]))
    return [hash_at(hashes, number) for number in range(len(hashes) // HASH_BYTES)]


_Described = Mapping[tuple[int, bytes], int]
"""The spec of a dependency by the number of the document that describes it, and its hash."""


def _described(staged: Staged) -> _Described:
    """Return, for each dependency with a record in its own document, the first such record."""
    wanted = set(_packed(staged.dependencies_stated.entries))
    records = dict[tuple[int, bytes], int]()
    documents = staged.codes["document"]
    for record, look_alike in enumerate(staged.look_alikes) if wanted else ():
        if (hash_ := hash_at(staged.hashes, record)) in wanted:
            records.setdefault((documents[look_alike], hash_), record)
    return records


def _write_edges(
    sections: SectionWriter, staged: Staged, described: _Described
) -> tuple[Adjacency, list[_Kind], list[str]]:
    """Write the edges, their kinds, and the dependencies that no document describes.

    Returns the edges by dependency, their kinds, and the packages of those that no document
    describes.
    """
    count, edges, hashes = len(staged.look_alikes), staged.edges, staged.hashes
    sizes = array("I", bytes(4 * count))
    for spec, its_edges in edges.items():
        sizes[spec] = len(its_edges)
    first = array("I", accumulate(sizes, initial=0))
    children, its_kinds = (array("I", bytes(4 * first[-1])) for _ in range(2))
    documents = staged.codes["document"]
    specs_of = defaultdict[int, list[int]](list)
    for spec in sorted(edges):
        specs_of[documents[staged.look_alikes[spec]]].append(spec)
    first_of: dict[bytes, int] = {}
    kind_of: dict[_Kind, int] = {}
    absent: list[tuple[str, str]] = []
    # One document after the other: all nodes of all documents would take much memory.
    for document, its_specs in sorted(specs_of.items()):
        stated = array("I", b"".join(map(edges.__getitem__, its_specs)))
        codes = list(dict.fromkeys(stated))
        distinct = [staged.dependencies_stated.entries[code] for code in codes]
        nodes = _packed(distinct)
        # The first edge to a node names it.
        names = dict(zip(reversed(nodes), (e.name for e in reversed(distinct)), strict=True))
        ids: dict[bytes, int] = {}
        for hash_, name in sorted(names.items()):
            spec = described.get((document, hash_), -1)
            if spec < 0:
                # Another document may describe it: the first spec with the hash.
                first_of = first_of or {hash_at(hashes, n): n for n in reversed(range(count))}
                spec = first_of.get(hash_, count + len(absent))
                if spec >= count:
                    absent.append((unpack_hashes(hash_)[0], name))
                elif staged.entry("package", spec) != name:
                    # The index does not keep the name in this document if the other document has
                    # another name, so this one must be read again.
                    staged.merged[document] = 1
            ids[hash_] = spec
        kinds = [
            kind_of.setdefault((edge.deptypes, edge.virtuals), len(kind_of)) for edge in distinct
        ]
        for column, its in ((children, map(ids.__getitem__, nodes)), (its_kinds, kinds)):
            value_of = dict(zip(codes, its, strict=True))
            values, at = array("I", [*map(value_of.__getitem__, stated)]), 0
            for spec in its_specs:
                start, stop = first[spec], first[spec + 1]
                column[start:stop] = values[at : at + stop - start]
                at += stop - start
    ordered = sorted(kind_of)
    code_of_kind = {kind: code for code, kind in enumerate(ordered)}
    kind_codes = [*map(code_of_kind.__getitem__, kind_of)]
    its_kinds = array("I", map(kind_codes.__getitem__, its_kinds))
    sections.add_json("edge_kinds", ordered)
    sections.add_json("absent", absent)
    up = reverse_edges(first, children, its_kinds, count + len(absent))
    sections.add_array("edge_first", first, ascending=True)
    sections.add_array("edge_child", children)
    sections.add_array("edge_kind", its_kinds)
    sections.add_array("up_first", up[0], ascending=True)
    sections.add_array("up_parent", up[1])
    sections.add_array("up_kind", up[2])
    # The kinds of a byte each are compared at once.
    by_dependency = Adjacency(up[0], up[1], narrowed(up[2]))
    return by_dependency, ordered, [name for _, name in absent]


def _write_run_sets(
    sections: SectionWriter,
    staged: Staged,
    first: array[int],
    package_spans: Sequence[Span],
    up: Adjacency,
    kinds: Sequence[_Kind],
    absent: Sequence[str],
) -> None:
    """Write what decides on which hosts the specs run. Raises Cancelled.

    `package_spans` are the look-alikes of each package, `up` the edges by dependency, with codes
    of `kinds`, and `absent` the packages of the dependencies that no document describes.
    """
    stated = [NodeFacts(*entry) for entry in staged.nodes_stated.entries]
    columns = [column.name for column in STORED["arch"]]

    def libc(id_: int) -> StatedLibc | None:
        if id_ >= first[-1]:
            return None
        name, version = (staged.entry(column, id_) for column in ("package", "version"))
        return StatedLibc(name, version, stated[staged.nodes[id_]].external)

    def facts_of(arch: int, lists: int, is_external: bool, its: tuple[int, ...]) -> RunFacts:
        of_arch = dict(zip(columns, staged.dictionaries["arch"].entries[arch], strict=True))
        is_compiled = names_compiler(of_arch.pop("compiler"))
        libcs: Sequence[StatedLibc | None] | None = tuple(map(libc, its))
        if is_external:
            # Spack takes an external to run with any C library.
            libcs = ()
        elif lists and not libcs:
            libcs = None
        return RunFacts(is_compiled=is_compiled, lists=bool(lists), libcs=libcs, **of_arch)

    codes = Dictionary()

    @lru_cache(None)
    def code(look: int, is_external: bool, its: tuple[int, ...]) -> int:
        return codes[facts_of(*divmod(look, 2), is_external, its)]

    needed = libcs_of(up.restricted([LIBC in virtuals for _, virtuals in kinds]))
    lists = flags_of(staged.codes["document"], bytes(staged.dependencies))
    looks = [2 * arch + flag for arch, flag in zip(staged.codes["arch"], lists, strict=True)]
    its_looks = [looks[number] for number in staged.look_alikes]
    if needed or any(staged.nodes):
        libcs_of_specs = map(needed.get, count(), repeat(()))
        are_external = map([bool(facts.external) for facts in stated].__getitem__, staged.nodes)
        numbers = array("I", map(code, its_looks, are_external, libcs_of_specs))
    else:
        # Most indexes have no facts about single specs.
        code_of = {look: code(look, False, ()) for look in sorted({*looks})}
        numbers = array("I", map(code_of.__getitem__, its_looks))
    if absent:
        numbers.extend([codes[None]] * len(absent))
    left_out = {n for n, name in enumerate(absent, first[-1]) if name == GCC_RUNTIME}
    packages = staged.dictionaries["package"].entries
    if GCC_RUNTIME in packages:
        for start, stop in package_spans[packages.index(GCC_RUNTIME) :: len(packages)]:
            left_out.update(range(first[start], first[stop]))
    run = up.restricted([follows_run(*kind) for kind in kinds])
    codes_of_sets, sets = run_sets(numbers, run, left_out)
    sections.add_array("run_set", codes_of_sets)
    sections.add_lists("run_sets", codes.entries, sets)


def reverse_edges(
    first: Sequence[int], children: array[int], kinds: Sequence[int], nodes: int
) -> tuple[array[int], array[int], array[int]]:
    """Return edges in CSR form by child, from edges in CSR form by parent.

    Parent i owns the edges first[i]:first[i + 1]. There are `nodes` children. Returns the first
    edge of each child, and the parents and the kinds of all edges.
    """
    if not children:
        # Pages list no dependencies.
        return array("I", bytes(4 * (nodes + 1))), array("I"), array("I")
    edges_of = [array("I") for _ in range(nodes)]
    for edge, child in enumerate(children):
        edges_of[child].append(edge)
    sizes = map(sub, islice(first, 1, None), first)
    parents = list(chain.from_iterable(map(repeat, count(), sizes)))
    order = array("I", b"".join(edges_of))
    return (
        array("I", accumulate(map(len, edges_of), initial=0)),
        array("I", [*map(parents.__getitem__, order)]),
        array("I", [*map(kinds.__getitem__, order)]),
    )

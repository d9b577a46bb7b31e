"""Read the codes, values, hashes, sizes, records and packages of an index by spec id."""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from itertools import chain, groupby, islice, repeat
from operator import itemgetter, sub
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar, cast

from spackscope.model.core.columns import FIELDS, INDEXES, STORED, Column, Value
from spackscope.model.core.frozen import fields, replace
from spackscope.model.core.records import (
    HASH_LENGTH,
    PROVENANCE,
    Gap,
    Problem,
    SourceStatus,
    Spec,
    is_hash,
)
from spackscope.model.index.by_host import ByHost
from spackscope.model.index.index_file import (
    HASH_BYTES,
    Columns,
    Rows,
    Span,
    hash_at,
    look_alikes_of,
    mask_of,
    narrowed,
    node_rows,
    pack_hashes,
    read_dictionary,
    repeated_spans,
    unpack_hashes,
)
from spackscope.model.query.ast import Query, Term, exact_term
from spackscope.model.query.matchers import is_glob

_Answer = TypeVar("_Answer")

_HASH_PREFIX = rf"[a-z2-7]{{0,{HASH_LENGTH}}}"
_WINDOW = 512
"""The number of records that are read at once."""

_FIELDS = (
    *("hash", "size", "origin", "source", "build_spec", "fit"),
    *(name for columns in STORED.values() for column in columns for name in column.restores),
)
"""The fields of `Spec` that are read for a record, in their order."""

_DEFAULTS = {field.name: field.default for field in fields(Spec) if field.name not in _FIELDS}
_in_order_of_spec = itemgetter(*map((*_FIELDS, *_DEFAULTS).index, Spec.__match_args__))


class PackageCount(NamedTuple):
    """A package with the number of its matching specs (`shown`), and of all its specs (`total`).

    `first` is the id of its first spec; the ids of its other specs follow.
    """

    id: int
    name: str
    shown: int
    total: int
    first: int

    @property
    def span(self) -> tuple[int, int]:
        """The id of the first spec, and the id after the last one."""
        return self.first, self.first + self.total


class Hashes:
    """The hashes of the specs of an index, by id, and sorted."""

    def __init__(self, columns: Columns) -> None:
        self._bytes = columns.raw("hash")
        self._order = partial(columns.numbers, "hash_order")
        self._hash = partial(hash_at, self._bytes)

    def of(self, ids: Iterable[int]) -> list[str]:
        """Return the hashes of specs, by their ids."""
        return unpack_hashes(b"".join(map(self._hash, ids)))

    def with_prefix(self, prefix: str) -> array[int]:
        """Return the ids of the specs whose hash has a prefix, in the order of their hashes."""
        order = self._order()
        if not re.fullmatch(_HASH_PREFIX, prefix):
            return array("I")
        lowest, highest = (pack_hashes(prefix.ljust(HASH_LENGTH, end)) for end in "2z")
        start = bisect_left(order, lowest, key=self._hash)
        return order[start : bisect_right(order, highest, start, key=self._hash)]

    def mask(self, term: Term) -> bytes:
        """Mark the specs whose hash fits a term, regardless of negation."""
        count = len(self._bytes) // HASH_BYTES
        if is_glob(term.pattern):
            return bytes(map(term.matcher("hash"), self.of(range(count))))
        prefix = term.pattern.removeprefix("/")
        return bytes(mask_of(self.with_prefix(prefix) if prefix else (), count))

    def ids_of(self, hash_: str) -> array[int]:
        """Return the ids of the specs with a full hash, ascending."""
        return self.with_prefix(hash_) if is_hash(hash_) else array("I")

    def first(self, prefix: str, *, limit: int) -> list[str]:
        """Return up to `limit` hashes with a prefix, sorted, each once."""
        ids = self.with_prefix(prefix)
        windows = (self.of(ids[start : start + limit]) for start in range(0, len(ids), limit))
        return [hash_ for hash_, _ in islice(groupby(chain.from_iterable(windows)), limit)]

    def repeated(self) -> Iterator[tuple[int, int]]:
        """Yield pairs of ids with the same hash: the first id with the hash, and each other id.

        The pairs of a hash come together, ascending.
        """
        order = self._order()
        for start, stop in repeated_spans(self._bytes, order):
            first, *others = order[start:stop]
            yield from zip(repeat(first), others)

    def ordered(self, *, descending: bool) -> array[int]:
        """Return all ids, sorted by hash, then by id."""
        order = self._order()
        return array("I", sorted(order, key=self._hash, reverse=True)) if descending else order


class IndexData:
    """The data of an index, by the ids of its specs; each column is read when it is first needed.

    Specs that look alike in the table have adjacent ids, and are one look-alike, which has the
    codes of the dictionaries. `column` returns the numbers of a column. `nodes` are the
    `NodeFacts`, by the codes in the column `node`. `meta` has facts about the whole index, such as
    its fingerprint. `lists_dependencies` is true if any document lists dependencies, and so flags,
    too. Safe to use from several threads.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.meta: dict[str, Any] = columns.json("meta")
        self.lists_dependencies = bool(self.meta["lists_dependencies"])
        self.by_host = ByHost()
        self.column: Callable[[str], array[int]] = columns.numbers
        self.hashes = Hashes(columns)
        self.nodes = node_rows(columns)
        self._origins, self._provenance = Rows(columns, "documents"), Rows(columns, "provenance")
        self._sources: Sequence[Sequence[Any]] = columns.json("sources")
        self._values: dict[str, Sequence[Value]] = {}
        # For each dictionary, a function from a code to values of fields of `Spec`.
        self._restored = [
            lru_cache(None)(partial(_restore, self, stored)) for stored in STORED.values()
        ]
        self._cache: dict[Callable[[Any], Any], Any] = {}
        self._cache_lock = threading.RLock()

    def cached(self, compute: Callable[[Any], _Answer]) -> _Answer:
        """Return the result of a function of this index, which is called once and then cached."""
        with self._cache_lock:
            if compute not in self._cache:
                self._cache[compute] = compute(self)
            answer: _Answer = self._cache[compute]
            return answer

    # Look-alikes and their codes

    @cached_property
    def first(self) -> array[int]:
        """The id of the first spec of each look-alike, and at the end the number of specs."""
        return self.column("first")

    def look_alike(self, spec: int) -> int:
        """Return the number of the look-alike that a spec belongs to."""
        return bisect_right(self.first, spec) - 1

    def span(self, look_alike: int) -> Span:
        """Return the id of the first spec of a look-alike, and the id after its last."""
        return self.first[look_alike], self.first[look_alike + 1]

    @cached_property
    def group_sizes(self) -> array[int]:
        """The number of specs of each look-alike."""
        return narrowed(array("I", map(sub, islice(self.first, 1, None), self.first)))

    @cached_property
    def look_alikes(self) -> array[int]:
        """The number of the look-alike of each spec."""
        return look_alikes_of(self.first)

    # The values of codes

    def values(self, column: str) -> Sequence[Value]:
        """Return the values of a column, each at the index of its code."""
        if column not in self._values:
            storage = INDEXES.storage if column == INDEXES.name else FIELDS[column].storage
            stored = read_dictionary(self.columns, storage)
            self._values.update(stored)
            if column not in stored:
                names = [FIELDS[name].attribute for name in stored]
                entries = zip(*stored.values(), strict=True)
                self._values[column] = [
                    FIELDS[column].value(SimpleNamespace(**dict(zip(names, entry, strict=True))))
                    for entry in entries
                ]
        return self._values[column]

    def texts(self, column: str) -> Sequence[str]:
        """Return the values of a column of single texts, each at the index of its code."""
        return cast(Sequence[str], self.values(column))

    def text(self, column: str, id_: int) -> str:
        """Return the value of a spec in a column of single texts."""
        code = self.column(FIELDS[column].storage)[self.look_alike(id_)]
        return cast(str, self.values(column)[code])

    # Sizes

    @cached_property
    def sizes(self) -> array[float]:
        """The size of each spec in bytes; NaN if it is unknown."""
        return self.columns.numbers("size")

    # Records

    def read(self, ids: Sequence[int]) -> dict[int, tuple[int, Spec]]:
        """Return the number of the look-alike, and the record, of each id."""
        unique = list(dict.fromkeys(ids))
        documents = self.column("document")
        source_of = self.column("documents.source")
        columns = list(zip(self._restored, map(self.column, STORED), strict=True))
        records: dict[int, tuple[int, Spec]] = {}
        by_host = self.by_host.of(unique)
        for id_, hash_, fit in zip(unique, self.hashes.of(unique), by_host, strict=True):
            look_alike = self.look_alike(id_)
            document = documents[look_alike]
            values = (
                *(hash_, _size(self.sizes[id_])),
                *(self._origins[document], self._sources[source_of[document]][0]),
                *(self.build_specs.get(id_, ""), fit),
                *chain.from_iterable(values(codes[look_alike]) for values, codes in columns),
                *_DEFAULTS.values(),
            )
            records[id_] = look_alike, Spec(*_in_order_of_spec(values))
        return records

    def records(self, ids: Sequence[int]) -> Iterator[Spec]:
        """Yield the records of some ids in their order; records are read window by window."""
        for start in range(0, len(ids), _WINDOW):
            window = ids[start : start + _WINDOW]
            records = self.read(window)
            yield from (records[id_][1] for id_ in window)

    @cached_property
    def build_specs(self) -> dict[int, str]:
        """The hashes that spliced specs were built as, by the ids of the spliced specs."""
        return dict(self.columns.json("build_specs"))

    def with_provenance(self, id_: int, spec: Spec) -> Spec:
        """Return a record with its provenance: the fields in PROVENANCE that are stated."""
        ids, stated = self.column("provenance.spec"), ("", None, "")
        at = bisect_left(ids, id_)
        if id_ in ids[at : at + 1]:
            stated = self._provenance[at]
        values = (*self.nodes[self.column("node")[id_]], *stated)
        known: dict[str, Any] = dict(zip(PROVENANCE, values, strict=True))
        return replace(spec, **known)

    # Packages

    @cached_property
    def all_packages(self) -> list[PackageCount]:
        """The packages with a listed spec, each with the number of its listed specs."""
        names, counts = self.texts("package"), self.column("package.specs")
        firsts = self.column("package.first")
        packages = zip(range(len(names)), names, counts, counts, firsts, strict=True)
        return [PackageCount(*package) for package in packages if package[3]]

    @cached_property
    def total(self) -> int:
        """The number of listed specs; ids from this number on are of unlisted specs."""
        return sum(self.column("package.specs"))

    def package_named(self, name: str) -> PackageCount | None:
        """Return the package of a name; None if it has no listed spec."""
        # A dictionary is sorted; finding one takes less than making all.
        names, counts = self.texts("package"), self.column("package.specs")
        code = bisect_left(names, name)
        if names[code : code + 1] != [name] or not (count := counts[code]):
            return None
        return PackageCount(code, name, count, count, self.column("package.first")[code])

    def selected_package(self, query: Query) -> PackageCount | None:
        """Return the package that a query names; None if it names none, or an unknown one."""
        if (term := query.package_term) is None:
            return None
        if query.package is not None:
            return self.package_named(query.package)
        packages = self.all_packages
        return next((p for p in packages if exact_term("package", p.name) == term), None)

    # Sources and problems

    @cached_property
    def indexed_sources(self) -> list[SourceStatus]:
        """The status of each source when the index was written, in the order given."""
        counts = Counter(gap.ground for gap in self.indexed_gaps)
        return [SourceStatus(*[*row, counts[row[0]]]) for row in self._sources]

    @cached_property
    def indexed_gaps(self) -> list[Gap]:
        """The problems in the order of reading, each once, with their sources."""
        rows = self.columns.json("problems")
        each = dict.fromkeys((source, *fields) for source, _, *fields in rows)
        return [Gap(Problem(*fields), self._sources[source][0]) for source, *fields in each]

    @property
    def problems(self) -> list[Problem]:
        """The problems in the order of reading, without their sources."""
        return [gap.problem for gap in self.indexed_gaps]


def _restore(data: IndexData, stored: Sequence[Column], code: int) -> tuple[Any, ...]:
    values = [column.restore(data.values(column.name)[code]) for column in stored]
    return tuple(chain.from_iterable(values))


def _size(size: float) -> float | None:
    if size != size:
        return None
    return int(size) if size == int(size) else size

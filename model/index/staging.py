"""Give records their codes and stage them, those of many documents at once."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress, islice, repeat
from operator import attrgetter
from typing import Any, NamedTuple

from spackscope.model.core.frozen import fields
from spackscope.model.core.records import STATES, Look, NodeFacts, Provenance, Records, Spec
from spackscope.model.index.dictionaries import Dictionaries, Dictionary, Entry
from spackscope.model.index.edges import EdgeWriter
from spackscope.model.index.staged import Staged, StagedDocument
from spackscope.model.sources.document import Document

_BATCH = 1024
"""Look-alikes that get their codes at once; most pages have less than ten."""

_given = attrgetter("source", "cached")
_states = attrgetter("in_cache", "cached", "installed", "explicit", "is_spliced")
_node = attrgetter(*NodeFacts._fields)
_provenance = attrgetter(*(f.name for f in fields(Provenance) if f.name not in NodeFacts._fields))


class Origin(NamedTuple):
    """The document of look-alikes: its code, and what it adds to all its records."""

    document: int
    source: int
    cached: bool
    stacks: tuple[str, ...]
    tag: str


def origin_of(document: Document, code: int, source: int) -> Origin:
    """Return the origin of the records of a document, with its code and that of its source."""
    stacks = (document.stack,) if document.stack else ()
    return Origin(code, source, document.cached, stacks, document.tag)


class Staging:
    """Collects records, and stages them when there are enough, or when it is told to `flush`."""

    def __init__(
        self,
        staged: Staged,
        dictionaries: Dictionaries,
        edges: EdgeWriter,
        *,
        include_dependency_only: bool,
    ) -> None:
        self._staged, self._dictionaries, self._edges = staged, dictionaries, edges
        self._include_dependency_only = include_dependency_only
        # What pages state of a node, which is nothing, has the code 0.
        self.nodes = Dictionary({NodeFacts(): 0})
        self._presence = _Presence()
        self._looks: list[Spec | Look] = []
        self._origins: list[Origin] = []
        self._numbers: list[int] = []
        self._hashes: list[str] = []
        self._sizes: list[float | None] = []
        # Look-alikes have the code of their document, so only those of one can be equal.
        self._known = Dictionary()
        self._first_known = 0
        self._last_document = -1

    def add(self, records: Records, origin: Origin, its: StagedDocument) -> None:
        """Add records of a document; counts those that are listed."""
        looks, numbers, first = records.looks, records.numbers, len(self._looks)
        is_listed = [look.in_cache or self._include_dependency_only for look in looks]
        its.specs += len(numbers) if all(is_listed) else sum(map(is_listed.__getitem__, numbers))
        self._looks += looks
        self._origins += repeat(origin, len(looks))
        self._numbers += [first + number for number in numbers]
        self._hashes += records.hashes
        self._sizes += records.sizes
        # What states no dependencies states nothing else beside the columns, as pages do.
        its.lists_dependencies |= any(look.dependencies is not None for look in looks)
        if len(self._looks) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Stage what was added."""
        if not self._looks:
            return
        look_alikes = self._look_alikes()
        nodes = [
            0 if look.dependencies is None else self.nodes[_node(look)] for look in self._looks
        ]
        first = len(self._staged)
        self._staged.add_records(
            map(look_alikes.__getitem__, self._numbers),
            self._hashes,
            self._sizes,
            map(nodes.__getitem__, self._numbers),
        )
        if any(look.dependencies is not None for look in self._looks):
            self._add_stated(first)
        for column in (self._looks, self._origins, self._numbers, self._hashes, self._sizes):
            column.clear()

    def _look_alikes(self) -> list[int]:
        """Stage the look-alikes that are new; return the number of each."""
        if self._origins[0].document != self._last_document:
            self._known.clear()
            self._first_known = self._staged.look_alike_count
        self._last_document = self._origins[-1].document
        before = len(self._known)
        numbers = list(map(self._known.__getitem__, self._codes()))
        self._staged.add_look_alikes(list(islice(self._known, before, None)))
        return [self._first_known + number for number in numbers]

    def _codes(self) -> Iterable[tuple[int, ...]]:
        """Yield the codes of look-alikes; some values come from their documents."""
        looks, origins = self._looks, self._origins
        pairs = list(zip(looks, origins, strict=True))
        states = zip(map(_given, origins), map(_states, looks), strict=True)
        values: dict[str, Iterable[Any]] = {
            "stack_set": [look.stacks or origin.stacks for look, origin in pairs],
            "tag": [look.tag or origin.tag for look, origin in pairs],
            "presence": map(self._presence.__getitem__, states),
            "document": [origin.document for origin in origins],
            "unlisted": [not (look.in_cache or self._include_dependency_only) for look in looks],
        }
        return self._dictionaries.codes(looks, values)

    def _add_stated(self, first: int) -> None:
        """Add dependencies and provenance of records, which are numbered from the first on."""
        pairs = zip(self._numbers, self._hashes, strict=True)
        for number, (look_number, hash_) in enumerate(pairs, first):
            look = self._looks[look_number]
            if look.dependencies is not None:
                document = self._origins[look_number].document
                self._edges.add(number, document, hash_, look.dependencies)
                if any(provenance := _provenance(look)):
                    self._staged.provenance[number] = provenance


class _Presence(dict[tuple[tuple[int, bool], tuple[bool, ...]], Entry]):
    """The source and the states of records, by the flags of their documents and their own."""

    def __missing__(self, key: tuple[tuple[int, bool], tuple[bool, ...]]) -> Entry:
        (source, is_in_cache), (in_cache, cached, installed, explicit, spliced) = key
        is_cached = cached or (is_in_cache and in_cache)
        flags = (is_cached, installed, explicit, not in_cache, spliced)
        presence = self[key] = (source,), tuple(compress(STATES, flags))
        return presence

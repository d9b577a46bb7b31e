"""The specs that match a query, as masks of bytes."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress, islice

from spackscope.model.index.index_file import Span, mask_of, spans_of
from spackscope.model.index.rows import IndexData


class Matches(Collection[int]):
    """The specs that match a query; an immutable collection of their ids, ascending.

    `mask` has a byte for each of a span of look-alikes, from number `start` on: 1 if specs of it
    match. The span is the whole index, or a package. If only some specs of these look-alikes
    match, `of_specs` is a mask of specs, from the first spec of look-alike `start` on.
    """

    def __init__(
        self, data: IndexData, start: int, mask: bytes, of_specs: bytes | None = None
    ) -> None:
        self._data, self.start, self.mask, self.of_specs = data, start, mask, of_specs
        self._first = data.first[start]

    @classmethod
    def of_specs_in(cls, data: IndexData, of_specs: bytes) -> Matches:
        """Return the specs in a mask of all specs."""
        mask = mask_of(compress(data.look_alikes, of_specs), len(data.first) - 1)
        return cls(data, 0, bytes(mask), of_specs)

    def is_same(self, other: Matches) -> bool:
        """Check whether these are the same specs in the same span."""
        its = self.start, self.mask, self.of_specs
        return its == (other.start, other.mask, other.of_specs)

    def within(self, first: int, end: int) -> Matches:
        """Return the matches with ids from `first` to less than `end`; both begin a look-alike."""
        firsts, last = self._data.first, self.start + len(self.mask)
        start, stop = (bisect_left(firsts, id_, self.start, last) for id_ in (first, end))
        mask = self.mask[start - self.start : stop - self.start]
        if self.of_specs is None:
            return Matches(self._data, start, mask)
        of_specs = self.of_specs[firsts[start] - self._first : firsts[stop] - self._first]
        return Matches(self._data, start, mask, of_specs)

    @property
    def numbers(self) -> Iterator[int]:
        """The numbers of the look-alikes with a match, ascending."""
        return compress(range(self.start, self.start + len(self.mask)), self.mask)

    def codes(self, column: Sequence[int]) -> Iterator[int]:
        """Yield the code of each look-alike with a match, in a column of codes."""
        return compress(islice(column, self.start, None), self.mask)

    @cached_property
    def sizes(self) -> array[int]:
        """The number of matches of each look-alike with a match."""
        sizes = self._data.group_sizes
        if self.of_specs is None:
            return array(sizes.typecode, self.codes(sizes))
        look_alikes = islice(self._data.look_alikes, self._first, None)
        return array(sizes.typecode, Counter(compress(look_alikes, self.of_specs)).values())

    def counts(self, storage: str) -> Mapping[int, int]:
        """Count the matches by their codes of a dictionary."""
        counts: dict[int, int] = defaultdict(int)
        for code, size in zip(self.codes(self._data.column(storage)), self.sizes, strict=True):
            counts[code] += size
        return counts

    @cached_property
    def by_package(self) -> Mapping[int, int]:
        """The number of matches of each package."""
        return self.counts("package")

    def alike(self, look_alike: int) -> Sequence[int]:
        """Return the ids of the matches in a look-alike."""
        number = look_alike - self.start
        if not (0 <= number < len(self.mask) and self.mask[number]):
            return ()
        ids = range(*self._data.span(look_alike))
        if self.of_specs is None:
            return ids
        of_specs = self.of_specs[ids.start - self._first : ids.stop - self._first]
        return array("I", compress(ids, of_specs))

    @cached_property
    def _count(self) -> int:
        # Spans do not need the sizes of all look-alikes in the index.
        if self.of_specs is not None:
            return self.of_specs.count(1)
        return sum(stop - start for start, stop in self.spans())

    def __len__(self) -> int:
        return self._count

    def spans(self) -> Iterator[Span]:
        """Yield the ids of all matches as spans."""
        if self.of_specs is not None:
            for start, stop in spans_of(self.of_specs):
                yield self._first + start, self._first + stop
        else:
            first = self._data.first
            for start, stop in spans_of(self.mask):
                yield first[self.start + start], first[self.start + stop]

    def ids(self) -> Sequence[int]:
        """Return the ids of all matches, ascending."""
        spans = [range(*span) for span in self.spans()]
        return spans[0] if len(spans) == 1 else array("I", chain.from_iterable(spans))

    def ids_of(self, look_alikes: Iterable[int], *, folded: bool) -> array[int]:
        """Return the ids of matches in some look-alikes; `folded`: only the first of each."""
        first, start, of_specs = self._data.first, self._first, self.of_specs
        if of_specs is not None:
            if folded:
                firsts = (start + of_specs.find(1, first[n] - start) for n in look_alikes)
                return array("I", firsts)
            return array("I", chain.from_iterable(map(self.alike, look_alikes)))
        if folded:
            return array("I", [first[number] for number in look_alikes])
        return array("I", chain.from_iterable(range(first[n], first[n + 1]) for n in look_alikes))

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids())

    def __contains__(self, id_: object) -> bool:
        if not isinstance(id_, int) or not 0 <= id_ < self._data.first[-1]:
            return False
        return id_ in self.alike(self._data.look_alike(id_))

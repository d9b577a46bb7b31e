"""Keep the records of an index as columns until all are read and their ids are known."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from math import nan

from spackscope.model.core.records import HASH_LENGTH
from spackscope.model.index.dictionaries import Codes
from spackscope.model.index.schema import CODES

GONE = 0xFFFFFFFF
"""The look-alike of a record that was merged into another one, or dropped."""


class StagedDocument:
    """A document whose records are staged; `specs` counts those that are listed.

    `source` is the code of its source. `is_merged` if its records can no longer be told from
    those of other documents. Its texts are in its row of the index.
    """

    __slots__ = ("is_merged", "is_page", "lists_dependencies", "source", "specs")

    def __init__(self, source: int, is_page: bool) -> None:
        self.source = source
        self.is_page = is_page
        self.specs = 0
        self.lists_dependencies = False
        self.is_merged = False


class Staged:
    """Staged look-alikes and records, each known by its number; a record takes 48 bytes.

    `codes` has the columns of the look-alikes, in codes of the dictionaries; two of them may be
    equal. The other columns are those of the records, in the order of reading: the number of the
    look-alike, 32 bytes of the hash, the size in bytes (NaN if it is unknown) and the code of
    the node.

    `provenance` has path, time and build spec of the records that state one, by their numbers, and
    `archives` the sizes of archives by their hashes.
    """

    def __init__(self) -> None:
        self.codes = {name: array("I") for name in CODES}
        self.look_alikes = array("I")
        self.hashes = bytearray()
        self.sizes = array("d")
        self.nodes = array("I")
        self.provenance: dict[int, tuple[str, float | None, str]] = {}
        self.archives: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self.look_alikes)

    def hash_at(self, number: int) -> str:
        """Return the hash of a record."""
        start = number * HASH_LENGTH
        return self.hashes[start : start + HASH_LENGTH].decode()

    def size_at(self, number: int) -> float | None:
        """Return the size of a record, None if it is unknown."""
        size = self.sizes[number]
        return size if size == size else None

    def codes_of(self, look_alike: int) -> Codes:
        """Return the codes of a look-alike."""
        return Codes([column[look_alike] for column in self.codes.values()])

    @property
    def look_alike_count(self) -> int:
        """The number of look-alikes."""
        return len(self.codes["document"])

    def add_look_alikes(self, rows: Collection[Sequence[int]]) -> int:
        """Add look-alikes, given by their codes; return the number of the first."""
        first = self.look_alike_count
        for column, codes in zip(self.codes.values(), zip(*rows, strict=True), strict=False):
            column.extend(codes)
        return first

    def add_records(
        self,
        look_alikes: Iterable[int],
        hashes: Sequence[str],
        sizes: Iterable[float | None],
        nodes: Iterable[int],
    ) -> None:
        """Add records of staged look-alikes."""
        self.look_alikes.extend(look_alikes)
        self.hashes += "".join(hashes).encode()
        self.sizes.extend([nan if size is None else size for size in sizes])
        self.nodes.extend(nodes)

    def repeated_hashes(self) -> list[list[int]]:
        """Return the numbers of the records of each hash that several have, in their order."""
        # Sorting takes half the memory of a dictionary of all hashes.
        numbers = [n for n, look_alike in enumerate(self.look_alikes) if look_alike != GONE]
        numbers.sort(key=self.hash_at)
        groups: list[list[int]] = []
        group: list[int] = []
        before = ""
        for number in numbers:
            if (hash_ := self.hash_at(number)) != before:
                group, before = [], hash_
            group.append(number)
            if len(group) == 2:
                groups.append(group)
        return groups

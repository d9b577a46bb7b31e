"""Read the records of a page, and what look-alikes among them share only once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import Look, is_hash
from spackscope.model.readers.fields import FieldReader, Texts, mismatch, wrong_value
from spackscope.model.readers.front_matter import leading_items, parse_value
from spackscope.model.readers.json import too_many_values
from spackscope.model.readers.limits import MAX_PAGE_VALUES, MAX_RECORDS, MAX_VALUES
from spackscope.model.readers.page_looks import KnownTexts, LookReader, Unusual

_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)(?:\s*([KMG]?i?B))?", re.IGNORECASE)

_HASH_FIELD = re.compile(r'"hash": "([a-z2-7]{32})"')
_SIZE_FIELD = re.compile(r'"size": ("[^"]*"|(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)')
_UNKNOWN_SIZE = '"size": "-"'
_WITHOUT_HASH, _WITHOUT_SIZE = '"hash": ""', '"size": ""'


class PageRecords:
    """Reads the list of records of one page of a package; problems are added to `fields`.

    Record i has the look with the number `numbers[i]`, `hashes[i]` and `sizes[i]`.
    """

    def __init__(self, fields: FieldReader, known: KnownTexts, package: str, tag: str) -> None:
        self._fields = fields
        self._known = known
        self._package, self._tag = package, tag
        self.looks: dict[Look, int] = {}
        self.numbers: list[int] = []
        self.hashes: list[str] = []
        self.sizes: list[float | None] = []
        self._places: list[int] = []

    def read(self, text: str) -> int:
        """Read the text of a list; return how many records it has.

        Records of one hash that differ only in their stacks become one.
        """
        count = self._read_texts(text.strip()) or self._read_each(text)
        if len(set(self.hashes)) < len(self.hashes):
            self._join()
        return count

    def count_stacks(self) -> dict[str, int]:
        """Return the number of records in each stack."""
        times = [0] * len(self.looks)
        for number in self.numbers:
            times[number] += 1
        # Few combinations of stacks are in a page.
        times_by_stacks: dict[Texts, int] = {}
        for look, number in self.looks.items():
            times_by_stacks[look.stacks] = times_by_stacks.get(look.stacks, 0) + times[number]
        counts: dict[str, int] = {}
        for stacks, count in times_by_stacks.items():
            for stack in dict.fromkeys(stacks):
                counts[stack] = counts.get(stack, 0) + count
        return counts

    def _read_texts(self, text: str) -> int:
        """Read a list as every real page has it; return how many records it has, else 0.

        Most records repeat others but for hash and size. Each text without these is read once.
        Where no backslash is, a quote begins or ends a string, so the texts of records with other
        hashes and sizes mean the same as that one.
        """
        if len(text) > MAX_VALUES or "\\" in text or text[:2] != "[{" or text[-2:] != "}]":
            return 0
        parts = _HASH_FIELD.split(text)
        hashes = parts[1::2]
        text = _WITHOUT_HASH.join(parts[::2])
        sizes: list[str] = []
        if text.count(_UNKNOWN_SIZE) < len(hashes):
            parts = _SIZE_FIELD.split(text)
            sizes = parts[1::2]
            text = _WITHOUT_SIZE.join(parts[::2])
        texts = text[2:-2].split("}, {")
        if not len(hashes) == len(texts) <= MAX_RECORDS or len(sizes) not in (0, len(hashes)):
            return 0
        page = self._package, self._tag
        numbers = _NumbersByText(self.looks, self._known, page, has_size=bool(sizes))
        try:
            self.numbers = list(map(numbers.__getitem__, texts))
            self.sizes = [_size(size.strip('"')) for size in sizes] or [None] * len(hashes)
        except (Unusual, ValueError):
            self.looks, self.numbers = {}, []
            return 0
        self.hashes, self._places = hashes, list(range(1, len(hashes) + 1))
        return len(hashes)

    def _read_each(self, text: str) -> int:
        """Read record after record, with their problems; return how many are listed."""
        looks = LookReader(self._fields, self._package, self._tag)
        number = 0
        for number, record in enumerate(self._records(text), 1):
            self._fields.place = f"record {number}"
            if number > MAX_RECORDS or looks.string_count > MAX_VALUES:
                limit = f"at most {MAX_RECORDS:,} records and {MAX_VALUES:,} strings are read"
                self._fields.add_problem(f"this record and those after it are not read; {limit}")
                break
            if self._add(record, looks):
                self._places.append(number)
        return number

    def _records(self, text: str) -> Iterable[Any]:
        """Parse the list of records; of a list that breaks off, those before the error.

        A list that is too large to be in memory at once is parsed record by record.
        """
        if too_many_values(text):
            return self._one_by_one(text)
        try:
            records = parse_value(text)
        except Unreadable as error:
            records = list(leading_items(text))
            cut = f"it is cut off after record {len(records)}: " if records else ""
            self._fields.add_problem_at("spec_details", f"{cut}{error}")
            return records
        if not isinstance(records, list):
            self._fields.add_problem_at("spec_details", "it is not a list of records")
            return []
        return records

    def _one_by_one(self, text: str) -> Iterator[Any]:
        if (count := text.count(",")) > MAX_PAGE_VALUES:
            reason = f"it has {count:,} values; at most {MAX_PAGE_VALUES:,} are read"
            self._fields.add_problem_at("spec_details", reason)
            return
        if not (yield from leading_items(text)):
            reason = "it is cut off; the records before that were read"
            self._fields.add_problem_at("spec_details", reason)

    def _add(self, record: Any, looks: LookReader) -> bool:
        """Add a record; return whether it has a valid hash, as all that are added."""
        if not isinstance(record, dict):
            self._fields.add_problem(mismatch("record", record, "an object"))
            return False
        hash_ = record.get("hash")
        if not is_hash(hash_):
            self._fields.add_wrong_hash("hash", hash_)
            return False
        self.numbers.append(self.looks.setdefault(looks.read(record), len(self.looks)))
        self.hashes.append(hash_)
        size = record.get("size", "-")
        try:
            self.sizes.append(_size(size))
        except ValueError:
            self.sizes.append(None)
            self._fields.add_problem(wrong_value("size", size, "a number of bytes"))
        return True

    def _join(self) -> None:
        """Join the records of one hash, which should differ only in their stacks."""
        records_by_hash: dict[str, list[int]] = {}
        for record, hash_ in enumerate(self.hashes):
            records_by_hash.setdefault(hash_, []).append(record)
        looks = list(self.looks)
        joined = [
            (look, hash_, self.sizes[record])
            for hash_, twins in records_by_hash.items()
            for record, look in self._joined(hash_, twins, looks)
        ]
        self.looks = {}
        self.numbers = [self.looks.setdefault(look, len(self.looks)) for look, _, _ in joined]
        self.hashes = [hash_ for _, hash_, _ in joined]
        self.sizes = [size for *_, size in joined]

    def _joined(
        self, hash_: str, twins: Sequence[int], looks: Sequence[Look]
    ) -> Iterator[tuple[int, Look]]:
        """Yield the first record of each content that records of one hash have, and its look."""
        if len(twins) == 1:
            yield twins[0], looks[self.numbers[twins[0]]]
            return
        joined: dict[tuple[Look, float | None], tuple[int, set[str]]] = {}
        for record in twins:
            look = looks[self.numbers[record]]
            stacks = set(look.stacks)
            content = look._replace(stacks=()), self.sizes[record]
            first, all_stacks = joined.setdefault(content, (record, stacks))
            if first != record and all_stacks == stacks:
                self._add_twin(record, f"hash {hash_} is listed twice")
            elif first != record:
                all_stacks |= stacks
            elif len(joined) > 1:
                self._add_twin(record, f"hash {hash_} is listed twice with different content")
        for first, stacks in joined.values():
            look = looks[self.numbers[first]]
            is_whole = len(stacks) == len(set(look.stacks))
            yield first, look if is_whole else look._replace(stacks=tuple(sorted(stacks)))

    def _add_twin(self, record: int, reason: str) -> None:
        self._fields.add_problem_at(f"record {self._places[record]}", reason)


class _NumbersByText(dict[str, int]):
    """The number of the look of each text of a record. Raises Unusual."""

    def __init__(
        self, looks: dict[Look, int], known: KnownTexts, page: tuple[str, str], *, has_size: bool
    ) -> None:
        super().__init__()
        self._looks, self._known, self._page, self._has_size = looks, known, page, has_size

    def __missing__(self, text: str) -> int:
        look = self._known.look(text, *self._page, has_size=self._has_size)
        number = self[text] = self._looks.setdefault(look, len(self._looks))
        return number


def _size(text: object) -> float | None:
    """Return a size in bytes, None if it is not stated. Raises ValueError."""
    if text == "-":
        return None
    match = _SIZE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError
    return float(match[1]) * _UNITS[(match[2] or "B").lower()]

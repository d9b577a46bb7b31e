"""Read the records of a page, and what look-alikes among them share only once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import is_hash
from spackscope.model.readers.fields import FieldReader, Texts, mismatch, wrong_value
from spackscope.model.readers.front_matter import DECODER, leading_items, parse_value
from spackscope.model.readers.json import too_many_values
from spackscope.model.readers.limits import MAX_PAGE_VALUES, MAX_RECORDS, MAX_VALUES

_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)(?:\s*([KMG]?i?B))?", re.IGNORECASE)

_HASH_FIELD = re.compile(r'"hash": "([a-z2-7]{32})"')
_SIZE_FIELD = re.compile(r'"size": ("[^"]*"|(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)')
_UNKNOWN_SIZE = '"size": "-"'
_WITHOUT_HASH, _WITHOUT_SIZE = '"hash": ""', '"size": ""'


class Look(NamedTuple):
    """What look-alikes of a page share."""

    version: str
    compiler: str
    platform: str
    os: str
    target: str
    variants: Texts
    stacks: Texts


class _Unusual(Exception):
    """A text of a record is not one that can stand for all that differ in hash and size."""


class PageRecords:
    """Reads the list of records of one page; problems are added to `fields`.

    Record i has the look with the number `numbers[i]`, `hashes[i]` and `sizes[i]`.
    """

    def __init__(self, fields: FieldReader) -> None:
        self._fields = fields
        self.looks: dict[Look, int] = {}
        self.numbers: list[int] = []
        self.hashes: list[str] = []
        self.sizes: list[float | None] = []
        self._places: list[int] = []
        # The records of a page share a few lists of variants and stacks.
        self._lists: dict[Texts, Texts] = {}
        self._string_count = 0

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
        counts: dict[str, int] = {}
        times = Counter(self.numbers)
        for look, number in self.looks.items():
            for stack in dict.fromkeys(look.stacks):
                counts[stack] = counts.get(stack, 0) + times[number]
        return counts

    def _read_texts(self, text: str) -> int:
        """Read a list as every real page has it; return how many records it has, else 0.

        Most records repeat others but for hash and size. Each text without these is parsed once,
        by the rules for any other record. Where no backslash is, a quote begins or ends a string,
        so the texts of records with other hashes and sizes mean the same as that one.
        """
        if len(text) > MAX_VALUES or "\\" in text or text[:2] != "[{" or text[-2:] != "}]":
            return 0
        hashes = _HASH_FIELD.findall(text)
        sizes: list[str] = []
        if text.count(_UNKNOWN_SIZE) < len(hashes):
            sizes = _SIZE_FIELD.findall(text)
            text = _SIZE_FIELD.sub(_WITHOUT_SIZE, text)
        texts = _HASH_FIELD.sub(_WITHOUT_HASH, text)[2:-2].split("}, {")
        if not len(hashes) == len(texts) <= MAX_RECORDS or len(sizes) not in (0, len(hashes)):
            return 0
        by_text = _NumbersByText(self, has_size=bool(sizes))
        try:
            numbers = list(map(by_text.__getitem__, texts))
            self.sizes = [_size(size.strip('"')) for size in sizes] or [None] * len(hashes)
        except (_Unusual, ValueError):
            self.looks, self._lists, self._string_count = {}, {}, 0
            return 0
        self.numbers, self.hashes, self._places = numbers, hashes, list(range(1, len(hashes) + 1))
        return len(hashes)

    def _read_each(self, text: str) -> int:
        """Read record after record, with their problems; return how many are listed."""
        number = 0
        for number, record in enumerate(self._records(text), 1):
            self._fields.place = f"record {number}"
            if number > MAX_RECORDS or self._string_count > MAX_VALUES:
                limit = f"at most {MAX_RECORDS:,} records and {MAX_VALUES:,} strings are read"
                self._fields.add_problem(f"this record and those after it are not read; {limit}")
                break
            if self._add(record):
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

    def _add(self, record: Any) -> bool:
        """Add a record; return whether it has a valid hash, as all that are added."""
        if not isinstance(record, dict):
            self._fields.add_problem(mismatch("record", record, "an object"))
            return False
        hash_ = record.get("hash")
        if not is_hash(hash_):
            self._fields.add_wrong_hash("hash", hash_)
            return False
        self.numbers.append(self.number(record, self._fields))
        self.hashes.append(hash_)
        size = record.get("size", "-")
        try:
            self.sizes.append(_size(size))
        except ValueError:
            self.sizes.append(None)
            self._fields.add_problem(wrong_value("size", size, "a number of bytes"))
        return True

    def number(self, record: dict[str, Any], fields: FieldReader) -> int:
        """Return the number of the look of a record; its problems are added to `fields`."""
        versions = self._strings("versions", record, fields)
        if len(versions) != 1:
            fields.add_problem(f"versions has {len(versions)} items, expected one")
        look = Look(
            versions[0].removeprefix("=") if versions else "",
            spelled(fields.string("compiler", record.get("compiler"))),
            fields.string("platform", record.get("platform")),
            fields.string("os", record.get("os")),
            fields.string("target", record.get("target")),
            self._strings("variants", record, fields),
            self._strings("stacks", record, fields),
        )
        return self.looks.setdefault(look, len(self.looks))

    def _strings(self, key: str, record: dict[str, Any], fields: FieldReader) -> Texts:
        value = record.get(key)
        if type(value) is list:
            try:
                return self._lists[tuple(value)]
            except (KeyError, TypeError):
                pass
        strings = fields.strings(key, value)
        self._string_count += len(strings)
        return self._lists.setdefault(strings, strings)

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
    """The number of the look of each text of a record, from which hash and size are cut.

    Raises _Unusual for a text that cannot stand for others, or that has problems.
    """

    def __init__(self, records: PageRecords, *, has_size: bool) -> None:
        super().__init__()
        self._records = records
        self._has_size = has_size
        self._fields = FieldReader("")

    def __missing__(self, text: str) -> int:
        try:
            record = DECODER.decode(f"{{{text}}}")
        except (ValueError, RecursionError):
            raise _Unusual from None
        is_usual = text.count('"hash"') == 1 and record.get("hash") == ""
        if self._has_size:
            is_usual &= text.count('"size"') == 1 and record.get("size") == ""
        else:
            is_usual &= record.get("size", "-") == "-"
        number = self._records.number(record, self._fields) if is_usual else 0
        if not is_usual or self._fields.has_problems:
            raise _Unusual
        self[text] = number
        return number


def _size(text: object) -> float | None:
    """Return a size in bytes, None if it is not stated. Raises ValueError."""
    if text == "-":
        return None
    match = _SIZE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError
    return float(match[1]) * _UNITS[(match[2] or "B").lower()]


def spelled(compiler: str) -> str:
    """Spell a compiler as Spack 1 does: `gcc@=13.2.0` and `gcc@13.2.0` are one compiler."""
    return compiler.replace("@=", "@", 1)

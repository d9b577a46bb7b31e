"""Read the pages of cache.spack.io: one package of one tag each, as Jekyll front matter.

The pages are written by `generate_cache.py` of github.com/spack/cache. There are three dialects:
`gcc@=11.4.0` and `x=a,b` (Spack 0.x), `gcc@11.4.0` and `x:=a,b` (1.x), and one record a stack.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Problem, Spec, is_hash
from spackscope.model.readers.encoding import decode
from spackscope.model.readers.fields import FieldReader, Texts, mismatch, storable, wrong_value
from spackscope.model.readers.front_matter import leading_items, parse_value, split
from spackscope.model.readers.json import too_many_values
from spackscope.model.readers.limits import MAX_PAGE_VALUES, MAX_RECORDS, MAX_TEXT_SIZE, MAX_VALUES

_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)(?:\s*([KMG]?i?B))?", re.IGNORECASE)


def is_page(data: bytes) -> bool:
    """Recognise a page by its front matter, whatever its file is called."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data[:MAX_TEXT_SIZE].replace(b"\0", b"")[2:]
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data.startswith(b"---") and (b"\nspec_details:" in data or b"\nlayout: cache" in data)


def read_page(data: bytes, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the specs of one page in the order of the page, then its problems.

    Records of one hash that differ only in their stacks become one spec. A record without a
    valid hash is a Problem; of any other record what can be read is kept. Format:
    `generate_cache.py` of github.com/spack/cache.
    """
    page = _Page(origin)
    specs = page.specs(data)
    # The bytes of a large page are not kept beside its text.
    del data
    yield from specs
    yield from page.fields.problems()


class _Page:
    """Reads one page, and collects its problems."""

    def __init__(self, origin: str) -> None:
        self.fields = FieldReader(origin)
        self._origin = origin
        # The records of a page share a few lists of variants and stacks.
        self._lists: dict[Texts, Texts] = {}
        self._string_count = 0

    def specs(self, data: bytes) -> Iterator[Spec]:
        """Yield the specs of the page."""
        try:
            text = decode(data)
            del data
            values, is_closed, repeated = split(text)
            del text
        except Unreadable as error:
            self._problem("", f"the page cannot be read: {error}")
            return
        if not is_closed:
            self._problem("", "the front matter has no closing line of three dashes")
        for key in repeated:
            self._problem(key, "it is given twice; the last one counts")
        package, tag = self._title(values), self._tag(values)
        if "spec_details" not in values:
            self._problem("", "the page has no spec_details")
            return
        records = self._records(values.pop("spec_details"))
        by_hash: defaultdict[str, list[tuple[int, Spec]]] = defaultdict(list)
        number = 0
        for number, record in enumerate(records, 1):
            self.fields.place = f"record {number}"
            if number > MAX_RECORDS or self._string_count > MAX_VALUES:
                limit = f"at most {MAX_RECORDS:,} records and {MAX_VALUES:,} strings are read"
                self.fields.add_problem(f"this record and those after it are not read; {limit}")
                break
            if (spec := self._spec(record, package, tag)) is not None:
                by_hash[spec.hash].append((number, spec))
        specs = [spec for twins in by_hash.values() for spec in self._joined(twins)]
        yield from specs
        self._check_meta(self._value(values, "meta"), number, specs)

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
            self._problem("spec_details", f"{cut}{error}")
            return records
        if not isinstance(records, list):
            self._problem("spec_details", "it is not a list of records")
            return []
        return records

    def _one_by_one(self, text: str) -> Iterator[Any]:
        if (count := text.count(",")) > MAX_PAGE_VALUES:
            reason = f"it has {count:,} values; at most {MAX_PAGE_VALUES:,} are read"
            self._problem("spec_details", reason)
            return
        if not (yield from leading_items(text)):
            self._problem("spec_details", "it is cut off; the records before that were read")

    def _title(self, values: dict[str, str]) -> str:
        title = self._value(values, "title")
        if isinstance(title, str) and title:
            return storable(title)
        self._problem("title", "the page names no package; its records are listed without a name")
        return ""

    def _tag(self, values: dict[str, str]) -> str:
        categories = self._value(values, "categories")
        if isinstance(categories, str):
            categories = categories.split()
        if not isinstance(categories, list):
            return ""
        tags = [word for word in categories if isinstance(word, str) and word != "package"]
        return storable(tags[0]) if tags else ""

    def _value(self, values: dict[str, str], key: str) -> Any:
        """Return a value, or None if the key is missing or the value cannot be parsed."""
        try:
            return parse_value(values[key]) if key in values else None
        except Unreadable as error:
            self._problem(key, str(error))
            return None

    def _spec(self, record: Any, package: str, tag: str) -> Spec | None:
        if not isinstance(record, dict):
            self.fields.add_problem(mismatch("record", record, "an object"))
            return None
        hash_ = record.get("hash")
        if not is_hash(hash_):
            self.fields.add_wrong_hash("hash", hash_)
            return None
        versions = self._strings(record, "versions")
        if len(versions) != 1:
            self.fields.add_problem(f"versions has {len(versions)} items, expected one")
        string = self.fields.string
        size = record.get("size", "-")
        return Spec(
            package=package,
            hash=hash_,
            version=versions[0].removeprefix("=") if versions else "",
            compiler=_compiler(string("compiler", record.get("compiler"))),
            platform=string("platform", record.get("platform")),
            os=string("os", record.get("os")),
            target=string("target", record.get("target")),
            variants=self._strings(record, "variants"),
            stacks=self._strings(record, "stacks"),
            size=None if size == "-" else self._size(size),
            tag=tag,
            origin=self._origin,
            cached=True,
        )

    def _strings(self, record: dict[str, Any], key: str) -> Texts:
        value = record.get(key)
        if type(value) is list:
            try:
                return self._lists[tuple(value)]
            except (KeyError, TypeError):
                pass
        strings = self.fields.strings(key, value)
        self._string_count += len(strings)
        return self._lists.setdefault(strings, strings)

    def _size(self, size: Any) -> float | None:
        match = _SIZE.fullmatch(size) if isinstance(size, str) else None
        if match is None:
            self.fields.add_problem(wrong_value("size", size, "a number of bytes"))
            return None
        return float(match[1]) * _UNITS[(match[2] or "B").lower()]

    def _joined(self, twins: list[tuple[int, Spec]]) -> Iterable[Spec]:
        """Join the records of one hash, which should differ only in their stacks."""
        if len(twins) == 1:
            return [twins[0][1]]
        joined: dict[Spec, tuple[Spec, set[str]]] = {}
        for number, spec in twins:
            stacks = set(spec.stacks)
            first, all_stacks = joined.setdefault(replace(spec, stacks=()), (spec, stacks))
            if first is not spec and all_stacks == stacks:
                self._problem(f"record {number}", f"hash {spec.hash} is listed twice")
            elif first is not spec:
                all_stacks |= stacks
            elif len(joined) > 1:
                reason = f"hash {spec.hash} is listed twice with different content"
                self._problem(f"record {number}", reason)
        return [
            spec
            if len(stacks) == len(set(spec.stacks))
            else replace(spec, stacks=tuple(sorted(stacks)))
            for spec, stacks in joined.values()
        ]

    def _check_meta(self, meta: Any, count: int, specs: list[Spec]) -> None:
        """Compare the statistics of the page with its records, which are what counts."""
        if meta is None:
            return
        if not isinstance(meta, dict):
            self._problem("meta", "it is not an object")
            return
        stated = str(meta.get("num_specs", count))[:40]
        if stated != str(count):
            self._problem("meta", f"it counts {stated} specs, the page lists {count}")
        by_stack: Counter[str] = Counter()
        for stacks, times in Counter(spec.stacks for spec in specs).items():
            by_stack.update(dict.fromkeys(stacks, times))
        stated_by_stack = meta.get("num_specs_by_stack", {})
        if isinstance(stated_by_stack, dict):
            for stack, times in stated_by_stack.items():
                if str(times) != str(by_stack[stack]):
                    reason = f"it counts {str(times)[:40]} specs of stack {stack}"
                    self._problem("meta", f"{reason}, the page lists {by_stack[stack]}")
        values_by_key = {
            "compilers": {spec.compiler for spec in specs},
            "oss": {spec.os for spec in specs},
            "platforms": {spec.platform for spec in specs},
            "targets": {spec.target for spec in specs},
            "versions": {spec.version for spec in specs},
            "stacks": set(by_stack),
        }
        for key, values in values_by_key.items():
            listed = meta.get(key)
            if isinstance(listed, list) and {_compiler(str(text)) for text in listed} != values:
                self._problem("meta", f"{key} differ from those of the records")

    def _problem(self, place: str, reason: str) -> None:
        self.fields.place = place
        self.fields.add_problem(reason)


def _compiler(text: str) -> str:
    """Spell a compiler as Spack 1 does: `gcc@=13.2.0` and `gcc@13.2.0` are one compiler."""
    return text.replace("@=", "@", 1)

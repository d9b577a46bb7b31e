"""Read the pages of cache.spack.io: one package of one tag each, as Jekyll front matter.

The pages are written by `generate_cache.py` of github.com/spack/cache. Three dialects are about:
`gcc@=11.4.0` and `x=a,b` (Spack 0.x), `gcc@11.4.0` and `x:=a,b` (1.x), and one record a stack.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from spackscope.model.core.errors import FrontMatterError
from spackscope.model.core.records import Problem, Spec, is_hash
from spackscope.model.readers import front_matter
from spackscope.model.readers.bounded_json import too_many_values
from spackscope.model.readers.json import storable
from spackscope.model.readers.limits import (
    MAX_PAGE_VALUES,
    MAX_PROBLEMS,
    MAX_RECORDS,
    MAX_TEXT_SIZE,
    MAX_VALUES,
)

_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)(?:\s*([KMG]?i?B))?", re.IGNORECASE)


def is_page(data: bytes) -> bool:
    """Tell a page by its front matter, whatever its file is called."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data[:MAX_TEXT_SIZE].replace(b"\0", b"")[2:]
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data.startswith(b"---") and (b"\nspec_details:" in data or b"\nlayout: cache" in data)


def read_page(data: bytes, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the records of one page in the order of the page, then its problems.

    Records of one hash that differ in their stacks only are joined into one. A record without a
    valid hash becomes a Problem; of any other record what can be read stays.
    """
    page = _Page(origin)
    records = page.records(data)
    # The bytes of a large page are not kept beside its text.
    del data
    yield from records
    yield from page.problems
    if (more := page.told - MAX_PROBLEMS) > 0:
        yield Problem(origin, "", f"it has {more:,} more problems, which are not listed")


class _Page:
    """Read one page, collecting problems on the way."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.problems: list[Problem] = []
        self.told = 0
        # The records of a page share a few lists of variants and stacks.
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._texts_held = 0

    def records(self, data: bytes) -> Iterator[Spec]:
        try:
            text = front_matter.decode(data)
            del data
            values, closed, repeated = front_matter.split(text)
        except FrontMatterError as error:
            self._problem("", f"the page cannot be read: {error}")
            return
        if not closed:
            self._problem("", "the front matter has no closing line of three dashes")
        for key in repeated:
            self._problem(key, "it is given twice; the last one counts")
        package, tag = self._title(values), self._tag(values)
        if "spec_details" not in values:
            self._problem("", "the page has no spec_details")
            return
        del text
        details = self._details(values.pop("spec_details"))
        found: defaultdict[str, list[tuple[int, Spec]]] = defaultdict(list)
        number = 0
        for number, record in enumerate(details, 1):
            if number > MAX_RECORDS or self._texts_held > MAX_VALUES:
                limit = f"at most {MAX_RECORDS:,} records and {MAX_VALUES:,} texts are read"
                reason = f"it and what follows is not read; {limit}"
                self.problems.append(Problem(self.origin, f"record {number}", reason))
                break
            if (spec := self._spec(record, number, package, tag)) is not None:
                found[spec.hash].append((number, spec))
        specs = [spec for twins in found.values() for spec in self._joined(twins)]
        yield from specs
        self._check_meta(self._value(values, "meta"), number, specs)

    def _details(self, text: str) -> Iterable[Any]:
        """Read the list of records; of a list that breaks off, those before that place.

        One that is too large to be in memory at once is read record by record.
        """
        if too_many_values(text):
            return self._one_by_one(text)
        try:
            details = front_matter.value(text)
        except FrontMatterError as error:
            details = list(front_matter.leading_items(text))
            reason = f"it breaks off after record {len(details)}: {error}" if details else error
            self._problem("spec_details", str(reason))
            return details
        if not isinstance(details, list):
            self._problem("spec_details", "it is no list of records")
            return []
        return details

    def _one_by_one(self, text: str) -> Iterator[Any]:
        if (count := text.count(",")) > MAX_PAGE_VALUES:
            reason = f"it has {count:,} values; at most {MAX_PAGE_VALUES:,} are read"
            self._problem("spec_details", reason)
            return
        if not (yield from front_matter.leading_items(text)):
            self._problem("spec_details", "it breaks off; the records before that are read")

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
        """Read a value; it is None where the key is missing, or its refusal has been told."""
        try:
            return front_matter.value(values[key]) if key in values else None
        except FrontMatterError as error:
            self._problem(key, str(error))
            return None

    def _spec(self, record: Any, number: int, package: str, tag: str) -> Spec | None:
        if not isinstance(record, dict):
            self._problem(f"record {number}", "it is no mapping")
            return None
        hash_ = record.get("hash")
        if not isinstance(hash_, str) or not is_hash(hash_):
            shown = repr(hash_)[:60] if "hash" in record else "missing"
            reason = f"the hash must be 32 characters of a-z2-7, and is {shown}"
            self._problem(f"record {number}", reason)
            return None
        versions = self._texts(record, "versions", number)
        if len(versions) != 1:
            reason = f"it has {len(versions)} versions, and should have one"
            self._problem(f"record {number}", reason)
        size = record.get("size", "-")
        return Spec(
            package=package,
            hash=hash_,
            version=versions[0].removeprefix("=") if versions else "",
            compiler=_spelled(self._text(record, "compiler", number)),
            platform=self._text(record, "platform", number),
            os=self._text(record, "os", number),
            target=self._text(record, "target", number),
            variants=self._texts(record, "variants", number),
            stacks=self._texts(record, "stacks", number),
            size=None if size == "-" else self._size(size, number),
            tag=tag,
            origin=self.origin,
            cached=True,
        )

    def _text(self, record: dict[str, Any], key: str, number: int) -> str:
        text = record.get(key)
        if type(text) is str and text:
            return storable(text)
        reason = f"its {key} is {_kind(text)}, and should be a text"
        self._problem(f"record {number}", reason if text else f"its {key} is missing")
        return ""

    def _texts(self, record: dict[str, Any], key: str, number: int) -> tuple[str, ...]:
        texts = record.get(key)
        if type(texts) is not list:
            reason = f"its {key} are {_kind(texts)}, and should be a list"
            self._problem(f"record {number}", reason)
            return ()
        try:
            return self._known[tuple(texts)]
        except (KeyError, TypeError):
            pass
        kept = [text for text in texts if type(text) is str]
        if len(kept) < len(texts):
            odd = next(text for text in texts if type(text) is not str)
            reason = f"among its {key} is {_kind(odd)}, and all should be texts"
            self._problem(f"record {number}", reason)
        stored = tuple(map(storable, kept))
        self._texts_held += len(stored)
        return self._known.setdefault(stored, stored)

    def _size(self, size: Any, number: int) -> float | None:
        match = _SIZE.fullmatch(size) if isinstance(size, str) else None
        if match is None:
            reason = f"its size {str(size)[:40]!r} is no number of bytes"
            self._problem(f"record {number}", reason)
            return None
        return float(match[1]) * _UNITS[(match[2] or "B").lower()]

    def _joined(self, twins: list[tuple[int, Spec]]) -> Iterable[Spec]:
        """Join the records of one hash, which differ in their stacks only if all is well."""
        if len(twins) == 1:
            return [twins[0][1]]
        joined: dict[Spec, tuple[Spec, set[str]]] = {}
        for number, spec in twins:
            stacks = set(spec.stacks)
            twin, known = joined.setdefault(replace(spec, stacks=()), (spec, stacks))
            if twin is not spec and known == stacks:
                reason = f"hash {spec.hash} stands on the page twice, both times alike"
                self._problem(f"record {number}", reason)
            elif twin is not spec:
                known |= stacks
            elif len(joined) > 1:
                reason = f"hash {spec.hash} stands on the page with differing content"
                self._problem(f"record {number}", reason)
        return [
            twin
            if len(known) == len(set(twin.stacks))
            else replace(twin, stacks=tuple(sorted(known)))
            for twin, known in joined.values()
        ]

    def _check_meta(self, meta: Any, count: int, specs: list[Spec]) -> None:
        """Compare what the page says of itself with its records, which count."""
        if meta is None:
            return
        if not isinstance(meta, dict):
            self._problem("meta", "it is no mapping")
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
        there = {
            "compilers": {spec.compiler for spec in specs},
            "oss": {spec.os for spec in specs},
            "platforms": {spec.platform for spec in specs},
            "targets": {spec.target for spec in specs},
            "versions": {spec.version for spec in specs},
            "stacks": set(by_stack),
        }
        for name, values in there.items():
            listed = meta.get(name)
            if isinstance(listed, list) and {_spelled(str(text)) for text in listed} != values:
                self._problem("meta", f"its {name} are not those of the records")

    def _problem(self, place: str, reason: str) -> None:
        self.told += 1
        if self.told <= MAX_PROBLEMS:
            self.problems.append(Problem(self.origin, place, storable(reason)))


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    kinds: dict[type, str] = {str: "a text", list: "a list", dict: "a mapping"}
    return kinds.get(type(value), "missing")


def _spelled(compiler: str) -> str:
    """Spell a compiler as Spack 1 does: `gcc@=13.2.0` and `gcc@13.2.0` are one compiler."""
    return compiler.replace("@=", "@", 1)

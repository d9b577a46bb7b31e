"""Read the pages of cache.spack.io: one package of one tag each, as Jekyll front matter.

The pages are written by `generate_cache.py` of github.com/spack/cache. There are three dialects:
`gcc@=11.4.0` and `x=a,b` (Spack 0.x), `gcc@11.4.0` and `x:=a,b` (1.x), and one record a stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import Problem, Records
from spackscope.model.readers.encoding import decode
from spackscope.model.readers.fields import FieldReader, storable
from spackscope.model.readers.front_matter import parse_value, split
from spackscope.model.readers.limits import MAX_TEXT_SIZE
from spackscope.model.readers.page_looks import KnownTexts, spelled
from spackscope.model.readers.page_records import PageRecords

_COLUMNS = ("versions", "compilers", "platforms", "oss", "targets")
"""The keys of `meta` for the first fields of a `Look`, in their order."""
_LISTS = (*sorted(_COLUMNS), "stacks")
"""The keys of `meta` that list the values of all records, in the order of their problems."""
_NOT_CLOSED = "the front matter has no closing line of three dashes"
_NO_RECORDS = "the page has no spec_details"


def is_page(data: bytes) -> bool:
    """Recognise a page by its front matter, whatever its file is called."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data[:MAX_TEXT_SIZE].replace(b"\0", b"")[2:]
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data.startswith(b"---") and (b"\nspec_details:" in data or b"\nlayout: cache" in data)


def read_page(
    data: bytes, *, origin: str, known: KnownTexts | None = None
) -> Iterator[Records | Problem]:
    """Yield the records of one page in its order, then its problems.

    What is `known` from other pages saves time.

    Records of one hash that differ only in their stacks become one. A record without a valid hash
    is a Problem; of any other record what can be read is kept. Format: `generate_cache.py` of
    github.com/spack/cache.
    """
    page = _Page(origin, known or KnownTexts())
    records = page.records(data)
    # The bytes of a large page are not kept beside its text.
    del data
    yield from records
    yield from page.fields.problems()


def check_page(data: bytes) -> None:
    """Check that a page is whole. Raises Unreadable."""
    values, is_closed, _ = split(decode(data))
    if not is_closed:
        raise Unreadable(_NOT_CLOSED)
    if "spec_details" not in values:
        raise Unreadable(_NO_RECORDS)


class _Page:
    """Reads one page, and collects its problems."""

    def __init__(self, origin: str, known: KnownTexts) -> None:
        self.fields = FieldReader(origin)
        self._known = known

    def records(self, data: bytes) -> Iterator[Records]:
        """Yield the records of the page."""
        try:
            text = decode(data)
            del data
            values, is_closed, repeated = split(text)
            del text
        except Unreadable as error:
            self.fields.add_problem_at("", f"the page cannot be read: {error}")
            return
        if not is_closed:
            self.fields.add_problem_at("", _NOT_CLOSED)
        for key in repeated:
            self.fields.add_problem_at(key, "it is given twice; the last one counts")
        package, tag = self._title(values), self._tag(values)
        if "spec_details" not in values:
            self.fields.add_problem_at("", _NO_RECORDS)
            return
        records = PageRecords(self.fields, self._known, package, tag)
        count = records.read(values.pop("spec_details"))
        yield Records(list(records.looks), records.numbers, records.hashes, records.sizes)
        self._check_meta(self._value(values, "meta"), count, records)

    def _title(self, values: dict[str, str]) -> str:
        title = self._value(values, "title")
        if isinstance(title, str) and title:
            return storable(title)
        reason = "the page names no package; its records are listed without a name"
        self.fields.add_problem_at("title", reason)
        return ""

    def _tag(self, values: dict[str, str]) -> str:
        try:
            return _tag(values.get("categories", ""))
        except Unreadable as error:
            self.fields.add_problem_at("categories", str(error))
            return ""

    def _value(self, values: dict[str, str], key: str) -> Any:
        """Return a value, or None if the key is missing or the value cannot be parsed."""
        try:
            return parse_value(values[key]) if key in values else None
        except Unreadable as error:
            self.fields.add_problem_at(key, str(error))
            return None

    def _check_meta(self, meta: Any, count: int, records: PageRecords) -> None:
        """Compare the statistics of the page with its records, which are what counts."""
        if meta is None:
            return
        if not isinstance(meta, dict):
            self.fields.add_problem_at("meta", "it is not an object")
            return
        stated = str(meta.get("num_specs", count))[:40]
        if stated != str(count):
            self.fields.add_problem_at("meta", f"it counts {stated} specs, the page lists {count}")
        counts = {stack: str(times) for stack, times in records.count_stacks().items()}
        stated_counts = meta.get("num_specs_by_stack", {})
        if isinstance(stated_counts, dict) and stated_counts != counts:
            for stack, times in stated_counts.items():
                if str(times) != (count_of_stack := counts.get(stack, "0")):
                    reason = f"it counts {str(times)[:40]} specs of stack {stack}"
                    reason = f"{reason}, the page lists {count_of_stack}"
                    self.fields.add_problem_at("meta", reason)
        values_by_key: dict[str, Iterable[str]] = {"stacks": counts}
        values_by_key.update(zip(_COLUMNS, zip(*records.looks, strict=True), strict=False))
        for key in _LISTS:
            if not isinstance(listed := meta.get(key), list):
                continue
            texts = set(map(str, listed))
            if key == "compilers":
                texts = set(map(spelled, texts))
            if texts != set(values_by_key.get(key, ())):
                self.fields.add_problem_at("meta", f"{key} differ from those of the records")


@lru_cache(maxsize=16)
def _tag(categories: str) -> str:
    """Return the first category that is a tag; the pages of a tag have the same text there.

    Raises Unreadable.
    """
    words = parse_value(categories) if categories else None
    if isinstance(words, str):
        words = words.split()
    if not isinstance(words, list):
        return ""
    tags = [word for word in words if isinstance(word, str) and word != "package"]
    return storable(tags[0]) if tags else ""

"""Read the pages of cache.spack.io: one package of one tag each, as Jekyll front matter.

The pages are written by `generate_cache.py` of github.com/spack/cache. There are three dialects:
`gcc@=11.4.0` and `x=a,b` (Spack 0.x), `gcc@11.4.0` and `x:=a,b` (1.x), and one record a stack.

A page is split at its keys, whose values are JSON, or else YAML. Nearly all of it are the records
in `spec_details`, most of which repeat others but for the hash. So the hashes are cut from the
text, and each text that is left is parsed once. Where that is not certain to mean the same as the
whole list, or a record has a problem, the list is read record by record.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from spackscope.model.core.errors import Unreadable, YamlError
from spackscope.model.core.records import Look, Problem, Records, is_hash
from spackscope.model.readers.json import (
    MAX_RECORDS,
    MAX_VALUES,
    FieldReader,
    Texts,
    decode_at,
    mismatch,
    storable,
    too_many_values,
    wrong_value,
)
from spackscope.model.readers.unpack import MAX_TEXT_SIZE, decode
from spackscope.model.readers.yaml import load_yaml

MAX_PAGE_VALUES = 30_000_000
"""Values of a page, which is read record by record where they are too many to be held at once."""

_MAX_KEYS = 10_000
"""Keys of the front matter of a page; real pages have six."""

# A key at the beginning of a line, or the line that closes the front matter.
_MARK = re.compile(
    r"^(?:([A-Za-z_][\w-]*):(?:[ \t]+|(?=\r?$))|(?:---|\.\.\.)[^\S\n]*$)", re.MULTILINE
)
_PLAIN = r"[A-Za-z0-9_][\w.+/-]*"
_PLAIN_SCALAR = re.compile(_PLAIN)
_PLAIN_LIST = re.compile(rf"\[\s*(?:{_PLAIN}\s*(?:,\s*{_PLAIN}\s*)*)?\]")
# The expression takes memory for each word of a list.
_MAX_PLAIN_LIST = 2**16
_BETWEEN = re.compile(r"[\s,]*")

_WITHOUT_HASH = '"hash": ""'
_HASH_FIELD = re.compile(r'"hash": "([a-z2-7]{32})"')
_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)(?:\s*([KMG]?i?B))?", re.IGNORECASE)

_COLUMNS = ("versions", "compilers", "platforms", "oss", "targets")
"""The keys of `meta` for the first fields of a `Look`, in their order."""
_NOT_CLOSED = "the front matter has no closing line of three dashes"
_NO_RECORDS = "the page has no spec_details"

# Control characters in strings are allowed; they are made visible where they are shown.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)
"""Decodes values as pages have them: numbers stay as they are written, `1.10` is a version."""


def is_page(data: bytes) -> bool:
    """Recognise a page by its front matter, whatever its file is called."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data[:MAX_TEXT_SIZE].replace(b"\0", b"")[2:]
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data.startswith(b"---") and (b"\nspec_details:" in data or b"\nlayout: cache" in data)


def check_page(data: bytes) -> None:
    """Check that a page is whole. Raises Unreadable."""
    values, is_closed, _ = split(decode(data))
    if not is_closed:
        raise Unreadable(_NOT_CLOSED)
    if "spec_details" not in values:
        raise Unreadable(_NO_RECORDS)


def read_page(data: bytes, *, origin: str) -> Iterator[Records | Problem]:
    """Yield the records of one page in its order, then its problems.

    Records of one hash that differ only in their stacks become one. A record without a valid hash
    is a Problem; of any other record what can be read is kept.
    """
    fields = FieldReader(origin)
    records = _read_page(data, fields)
    # The bytes of a large page are not kept beside its text.
    del data
    yield from records
    yield from fields.problems()


def _read_page(data: bytes, fields: FieldReader) -> Iterator[Records]:
    try:
        text = decode(data)
        del data
        values, is_closed, repeated = split(text)
        del text
    except Unreadable as error:
        fields.add_problem_at("", f"the page cannot be read: {error}")
        return
    if not is_closed:
        fields.add_problem_at("", _NOT_CLOSED)
    for key in repeated:
        fields.add_problem_at(key, "it is given twice; the last one counts")
    package = _value(values, "title", fields)
    if not isinstance(package, str) or not package:
        reason = "the page names no package; its records are listed without a name"
        fields.add_problem_at("title", reason)
        package = ""
    words = _value(values, "categories", fields, _parse_categories)
    words = words.split() if isinstance(words, str) else words
    tags = words if isinstance(words, list) else []
    tag = next((word for word in tags if isinstance(word, str) and word != "package"), "")
    if "spec_details" not in values:
        fields.add_problem_at("", _NO_RECORDS)
        return
    page = storable(package), storable(tag)
    text = values.pop("spec_details")
    table = _read_texts(text.strip(), page) or _read_each(text, page, fields)
    del text
    if len(set(table.hashes)) < len(table.hashes):
        table = _join(table, fields)
    yield Records(list(table.looks), table.numbers, table.hashes, table.sizes)
    _check_meta(_value(values, "meta", fields), table, fields)


# The front matter.


class FrontMatter(NamedTuple):
    """The text of each value, whether the closing `---` is there, and the repeated keys.

    The last value of a repeated key counts.
    """

    values: dict[str, str]
    is_closed: bool
    repeated: tuple[str, ...] = ()


def split(text: str) -> FrontMatter:
    """Split front matter at its top-level keys.

    Raises Unreadable if the text does not open with `---`, or has too many keys.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
    first, _, text = text.partition("\n")
    if first.rstrip() != "---":
        raise Unreadable("it does not begin with a line of three dashes")
    values: dict[str, str] = {}
    repeated: dict[str, None] = {}
    key, start, at = "", 0, 0
    while True:
        if mark := _MARK.match(text, at):
            if key:
                values[key] = text[start : max(start, at - 1)]
            key, start = mark[1] or "", mark.end()
            if not key:
                return FrontMatter(values, True, tuple(repeated))
            if key in values:
                repeated[key] = None
            if len(values) > _MAX_KEYS:
                raise Unreadable(f"it has more than {_MAX_KEYS:,} keys")
        # Searching for line ends takes a tenth of the time of searching for marks.
        at = text.find("\n", at) + 1
        if not at:
            break
    if key:
        values[key] = text[start:]
    return FrontMatter(values, False, tuple(repeated))


def parse_value(text: str) -> Any:
    """Parse one value: JSON, as on every real page, or else YAML without aliases.

    Scalars are strings, except `true`, `false` and `null` in JSON. No value at all is an empty
    string. Raises Unreadable.
    """
    stripped = text.strip()
    if _PLAIN_SCALAR.fullmatch(stripped):
        return stripped
    json_error = ""
    if stripped[:1] in ("[", "{", '"'):
        if reason := too_many_values(stripped):
            raise Unreadable(reason)
        try:
            return _DECODER.decode(stripped)
        except RecursionError:
            raise Unreadable("it is nested too deeply") from None
        except ValueError as error:
            json_error = str(error)
        if len(stripped) <= _MAX_PLAIN_LIST and _PLAIN_LIST.fullmatch(stripped):
            return [word.strip() for word in stripped[1:-1].split(",") if word.strip()]
    try:
        value, _ = load_yaml(text, aliases=False)
    except YamlError as error:
        if json_error and error.is_syntax_error:
            raise Unreadable(f"it is neither JSON ({json_error}) nor YAML ({error})") from None
        raise
    return "" if value is None else value


_parse_categories = lru_cache(maxsize=16)(parse_value)
"""Parse the categories of a page, which are the same text on all pages of a tag."""


def _value(
    values: dict[str, str],
    key: str,
    fields: FieldReader,
    parse: Callable[[str], Any] = parse_value,
) -> Any:
    """Return a value, or None if the key is missing or the value cannot be parsed."""
    try:
        return parse(values[key]) if key in values else None
    except Unreadable as error:
        fields.add_problem_at(key, str(error))
        return None


# Records by their texts.


class _Table:
    """Records of a page: i has the look with the number `numbers[i]`, `hashes[i]`, `sizes[i]`.

    It was the record `places[i]` of the page, whose records are counted by `listed`, from 1 on.
    """

    def __init__(self) -> None:
        self.looks: dict[Look, int] = {}
        self.numbers: list[int] = []
        self.hashes: list[str] = []
        self.sizes: list[float | None] = []
        self.places: Sequence[int] = []
        self.listed = 0

    def add(self, look: Look, hash_: str, size: float | None) -> None:
        """Add a record."""
        self.numbers.append(self.looks.setdefault(look, len(self.looks)))
        self.hashes.append(hash_)
        self.sizes.append(size)


def _read_texts(text: str, page: tuple[str, str]) -> _Table | None:
    """Read a list of records as every real page has it; None if it is written in another way.

    Where no backslash is, a quote begins or ends a string, so the text of a record means the same
    with any hash. If there are as many braces, hashes and values as texts, each text is a record.
    """
    if len(text) > MAX_VALUES or "\\" in text or text[:2] != "[{" or text[-2:] != "}]":
        return None
    table = _Table()
    parts = _HASH_FIELD.split(text)
    table.hashes, texts = parts[1::2], _WITHOUT_HASH.join(parts[::2])[2:-2].split("}, {")
    table.listed = len(texts)
    numbers, sizes = dict.fromkeys(texts, 0), dict[str, float | None]()
    text = f"[{{{'}, {'.join(numbers)}}}]"
    counts = {text.count('"hash"'), text.count("{"), text.count("}")}
    if not len(table.hashes) == len(texts) <= MAX_RECORDS or counts != {len(numbers)}:
        return None
    try:
        records = _DECODER.decode(text)
        for text, record in zip(numbers, records, strict=True):
            look = _usual_look(record, page)
            numbers[text] = table.looks.setdefault(look, len(table.looks))
            if (size := record.get("size", "-")) != "-":
                sizes[text] = _size(size)
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    table.numbers = [numbers[text] for text in texts]
    table.sizes = [sizes.get(text) for text in texts] if sizes else [None] * len(texts)
    table.places = range(1, table.listed + 1)
    return table


def _usual_look(record: dict[str, Any], page: tuple[str, str]) -> Look:
    """Return what a record without a problem means. Raises KeyError, TypeError and ValueError."""
    versions, variants, stacks = record["versions"], record["variants"], record["stacks"]
    arch = record["compiler"], record["platform"], record["os"], record["target"]
    if not type(versions) is type(variants) is type(stacks) is list or record["hash"]:
        raise TypeError
    (version,) = versions
    if not all(arch):
        raise ValueError
    # It raises TypeError unless all are strings.
    "".join((version, *arch, *variants, *stacks))
    # It takes half the time of a call with arguments.
    version, arch = version.removeprefix("="), (_spelled(arch[0]), *arch[1:])
    return Look._make((version, *arch, tuple(variants), tuple(stacks), *page))


# Records one by one.


class _Lists(dict[Texts, Texts]):
    """Lists of strings, of which the records of a page share a few; `count` is that of strings."""

    count = 0

    def __missing__(self, texts: Texts) -> Texts:
        self.count += len(texts)
        self[texts] = texts
        return texts


def _read_each(text: str, page: tuple[str, str], fields: FieldReader) -> _Table:
    """Read record after record, with their problems."""
    table, lists, places = _Table(), _Lists(), list[int]()
    table.places = places
    for number, record in enumerate(_records(text, fields), 1):
        table.listed = number
        fields.place = f"record {number}"
        if number > MAX_RECORDS or lists.count > MAX_VALUES:
            limit = f"at most {MAX_RECORDS:,} records and {MAX_VALUES:,} strings are read"
            fields.add_problem(f"this record and those after it are not read; {limit}")
            break
        if not isinstance(record, dict):
            fields.add_problem(mismatch("record", record, "an object"))
            continue
        if not is_hash(hash_ := record.get("hash")):
            fields.add_wrong_hash("hash", hash_)
            continue
        look = _read_look(record, fields, lists, page)
        try:
            size = _size(record.get("size", "-"))
        except ValueError:
            size = None
            fields.add_problem(wrong_value("size", record["size"], "a number of bytes"))
        table.add(look, hash_, size)
        places.append(number)
    return table


def _records(text: str, fields: FieldReader) -> Iterator[Any]:
    """Parse the list of records; of a list that breaks off, those before the error.

    A list that is too large to be in memory at once is parsed record by record.
    """
    if too_many_values(text):
        if (count := text.count(",")) > MAX_PAGE_VALUES:
            reason = f"it has {count:,} values; at most {MAX_PAGE_VALUES:,} are read"
            fields.add_problem_at("spec_details", reason)
        elif not (yield from _leading_items(text)):
            reason = "it is cut off; the records before that were read"
            fields.add_problem_at("spec_details", reason)
        return
    try:
        records = parse_value(text)
    except Unreadable as error:
        records = list(_leading_items(text))
        cut = f"it is cut off after record {len(records)}: " if records else ""
        fields.add_problem_at("spec_details", f"{cut}{error}")
    if isinstance(records, list):
        yield from records
    else:
        fields.add_problem_at("spec_details", "it is not a list of records")


def _leading_items(text: str) -> Generator[Any, None, bool]:
    """Yield the items of a JSON list up to an error; return whether there was none."""
    text = text.lstrip()
    at = 1 if text.startswith("[") else len(text)
    while at < len(text) and (between := _BETWEEN.match(text, at)):
        try:
            at = between.end()
            item, at = decode_at(_DECODER, text, at)
        except (ValueError, RecursionError):
            break
        yield item
    return text[at : at + 1] == "]"


def _read_look(
    record: dict[str, Any], fields: FieldReader, lists: _Lists, page: tuple[str, str]
) -> Look:
    """Return what can be read of a record beside its hash and size."""
    versions = fields.strings("versions", record.get("versions"))
    if len(versions) != 1:
        fields.add_problem(f"versions has {len(versions)} items, expected one")
    return Look(
        versions[0].removeprefix("=") if versions else "",
        _spelled(fields.string("compiler", record.get("compiler"))),
        fields.string("platform", record.get("platform")),
        fields.string("os", record.get("os")),
        fields.string("target", record.get("target")),
        lists[fields.strings("variants", record.get("variants"))],
        lists[fields.strings("stacks", record.get("stacks"))],
        *page,
    )


def _spelled(compiler: str) -> str:
    """Spell a compiler as Spack 1 does: `gcc@=13.2.0` and `gcc@13.2.0` are one compiler."""
    return compiler.replace("@=", "@", 1)


def _size(text: object) -> float | None:
    """Return a size in bytes, None if it is not stated. Raises ValueError."""
    if text == "-":
        return None
    match = _SIZE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError
    return float(match[1]) * _UNITS[(match[2] or "B").lower()]


# The page as a whole.


def _join(table: _Table, fields: FieldReader) -> _Table:
    """Join the records of one hash, which should differ only in their stacks."""
    records_by_hash: dict[str, list[int]] = {}
    for record, hash_ in enumerate(table.hashes):
        records_by_hash.setdefault(hash_, []).append(record)
    looks, joined = list(table.looks), _Table()
    joined.listed = table.listed
    for hash_, records in records_by_hash.items():
        by_content: dict[tuple[Look, float | None], tuple[Look, set[str]]] = {}
        for record in records:
            look, size = looks[table.numbers[record]], table.sizes[record]
            content, stacks = (look._replace(stacks=()), size), set(look.stacks)
            fields.place = f"record {table.places[record]}"
            if content not in by_content:
                if by_content:
                    fields.add_problem(f"hash {hash_} is listed twice with different content")
                by_content[content] = look, stacks
            elif stacks == by_content[content][1]:
                fields.add_problem(f"hash {hash_} is listed twice")
            else:
                by_content[content][1].update(stacks)
        for (_, size), (look, stacks) in by_content.items():
            if stacks != set(look.stacks):
                look = look._replace(stacks=tuple(sorted(stacks)))
            joined.add(look, hash_, size)
    return joined


def _check_meta(meta: Any, table: _Table, fields: FieldReader) -> None:
    """Compare the statistics of the page with its records, which are what counts."""
    if meta is None:
        return
    if not isinstance(meta, dict):
        fields.add_problem_at("meta", "it is not an object")
        return
    fields.place = "meta"
    stated = str(meta.get("num_specs", table.listed))[:40]
    if stated != str(table.listed):
        fields.add_problem(f"it counts {stated} specs, the page lists {table.listed}")
    stacks = [look.stacks for look in table.looks]
    counts: dict[str, int] = {}
    for texts, times in Counter(map(stacks.__getitem__, table.numbers)).items():
        for stack in dict.fromkeys(texts):
            counts[stack] = counts.get(stack, 0) + times
    stated_counts = meta.get("num_specs_by_stack")
    for stack, times in stated_counts.items() if isinstance(stated_counts, dict) else ():
        if str(times) != str(listed := counts.get(stack, 0)):
            reason = f"it counts {str(times)[:40]} specs of stack {stack}"
            fields.add_problem(f"{reason}, the page lists {listed}")
    values_by_key: dict[str, Iterable[str]] = {"stacks": counts}
    values_by_key.update(zip(_COLUMNS, zip(*table.looks, strict=True), strict=False))
    for key in (*sorted(_COLUMNS), "stacks"):
        if isinstance(values := meta.get(key), list):
            stated_values = set(map(str, values))
            if key == "compilers":
                stated_values = set(map(_spelled, stated_values))
            if stated_values != set(values_by_key.get(key, ())):
                fields.add_problem(f"{key} differ from those of the records")

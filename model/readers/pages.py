"""Read the pages of cache.spack.io: one package of one tag each, as Jekyll front matter.

The pages are written by `generate_cache.py` of github.com/spack/cache. There are three dialects:
`gcc@=11.4.0` and `x=a,b` (Spack 0.x), `gcc@11.4.0` and `x:=a,b` (1.x), and one record a stack.

A page is split at its keys, whose values are JSON or plain words. Nearly all of it is
`spec_details`, a list of records, most of which differ from others only in the hash, or in the
variants. So hashes and variants are cut from the text, and each different rest is parsed once. If
that might not mean the same as the whole list, or if a record has a problem, the list is read
record by record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import count
from operator import itemgetter
from typing import Any, cast

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import LookAlike, Problem, Records, is_hash
from spackscope.model.readers.json import (
    A_HASH,
    MAX_RECORDS,
    MAX_VALUES,
    FieldReader,
    parse,
    storable,
    too_many_values,
)
from spackscope.model.readers.unpack import MAX_TEXT_SIZE, decode

MAX_PAGE_VALUES = 30_000_000
"""The most values in the records of a page that are read one by one."""

# A key at the beginning of a line, or the line that closes the front matter.
_MARK = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+|$)|(?:---|\.\.\.)[^\S\n]*$", re.MULTILINE)
_WORDS = re.compile(r"\[[\w.+/, -]*\]")

_NO_HASH, _NO_VARIANTS, _NO_SIZE = '"hash": ""', '"variants": []', '"size": "-"'
_HASH_FIELD = re.compile(r'"hash": "([a-z2-7]{32})"')
_VARIANTS_FIELD = re.compile(r'"variants": \[([^\]]*)\]')
_SIZE_FIELD = re.compile(r'"size": ("[^"]*"|[^,}]*)')
_REMEMBERED = 4096
"""Texts of variants, and of rests of records, that are cached: most pages have the same."""

_CHUNK = 2**23
"""Characters of records that are split at once; most pages have fewer."""
_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)(?:\s*((?:[KMG]i?)?B))?", re.IGNORECASE | re.ASCII)

_LISTS, _TEXTS = ("versions", "variants", "stacks"), ("compiler", "platform", "os", "target")
_get_lists, _get_texts = itemgetter(*_LISTS), itemgetter(*_TEXTS)
_NOT_CLOSED = "the front matter has no closing line of three dashes"
_NO_RECORDS = "the page has no spec_details"

# Control characters in strings are allowed; they are made visible where they are shown.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)
"""Decodes the values of a page; numbers stay texts, since `1.10` is a version."""


def is_page(data: bytes) -> bool:
    """Check whether data is a page, by its front matter."""
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
    is a Problem; every other record is kept, with all fields that can be read.
    """
    fields = FieldReader(origin)
    try:
        text = decode(data)
        # The bytes of a large page are not kept beside its text.
        del data
        values, is_closed, repeated = split(text)
        del text
    except Unreadable as error:
        yield Problem(origin, "", f"the page cannot be read: {error}", is_unread=True)
        return
    if not is_closed:
        fields.add_problem(_NOT_CLOSED, "", is_unread=True)
    for key in repeated:
        fields.add_problem("it is given twice; the last one counts", key)
    package = _value(values, "title", fields)
    if not isinstance(package, str) or not package:
        package, reason = "", "the page names no package; its records are listed without a name"
        fields.add_problem(reason, "title")
    words = _value(values, "categories", fields)
    words = words.split() if isinstance(words, str) else words
    tags = words if isinstance(words, list) else []
    tag = next((word for word in tags if isinstance(word, str) and word != "package"), "")
    if "spec_details" in values:
        page = storable(package), storable(tag)
        text = values.pop("spec_details")
        records = _read_alike(text.strip(), page) or _read_each(text, page, fields)
        del text
        _check_meta(_value(values, "meta", fields), records, fields)
        if len(set(records.hashes)) < len(records.hashes):
            records = _join(records, fields)
        yield records
    else:
        fields.add_problem(_NO_RECORDS, "")
    yield from fields.problems()


# The front matter.


def split(text: str) -> tuple[dict[str, str], bool, tuple[str, ...]]:
    """Split front matter at its top-level keys.

    Returns the text of each value, whether the front matter has its closing `---`, and the
    repeated keys, whose last value counts. Raises Unreadable without an opening `---`.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
    first, _, text = text.partition("\n")
    if first.rstrip() != "---":
        raise Unreadable("it does not begin with a line of three dashes")
    values: dict[str, str] = {}
    repeated: dict[str, None] = {}
    key, start, at, is_closed = "", 0, 0, False
    while at >= 0 and not is_closed:
        if mark := _MARK.match(text, at):
            if key:
                values[key] = text[start : at - 1]
            key, start = mark[1] or "", mark.end()
            is_closed = not key
            if key in values:
                repeated[key] = None
        # Searching for line ends takes a tenth of the time of searching for marks.
        at = text.find("\n", at) + 1 or -1
    if key:
        values[key] = text[start:]
    return values, is_closed, tuple(repeated)


def parse_value(text: str) -> Any:
    """Parse one value: JSON, or a list of plain words, or else a plain text.

    Scalars are strings, except `true`, `false` and `null`. Raises Unreadable.
    """
    text = text.strip()
    if _WORDS.fullmatch(text):
        return [word.strip() for word in text[1:-1].split(",") if word.strip()]
    if text[:1] not in ("[", "{", '"'):
        return text
    if reason := too_many_values(text, MAX_VALUES):
        raise Unreadable(reason)
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except ValueError as error:
        raise Unreadable(f"it is not JSON: {error}") from None


def _value(values: Mapping[str, str], key: str, fields: FieldReader) -> Any:
    """Return a value, or None if the key is missing or the value cannot be parsed."""
    try:
        return parse_value(values[key]) if key in values else None
    except Unreadable as error:
        fields.add_problem(str(error), key)
        return None


# Records.


def _read_alike(text: str, page: tuple[str, str]) -> Records | None:
    """Read a list of records in the form of every real page; None if it has another form.

    In a text without backslashes, each quote begins or ends a string. So a text between two braces
    that is a record by itself is a record of the list, and a text cut from it that is a value by
    itself is a value of the record.
    """
    if "\\" in text or text[:2] != "[{" or text[-2:] != "}]":
        return None
    looks, read = list[LookAlike](), dict[tuple[str, str], int]()
    hashes, numbers, sizes = list[str](), list[int](), list[float | None]()
    stop, end = -2, len(text) - 2
    while stop < end:
        start, stop = stop + 4, text.find("}, {", stop + _CHUNK, end)
        stop = end if stop < 0 else stop
        its_hashes, left = _cut(_HASH_FIELD, _NO_HASH, text[start:stop])
        variants, left = _cut(_VARIANTS_FIELD, _NO_VARIANTS, left)
        its_sizes, count = list[str](), len(its_hashes)
        if left.count(_NO_SIZE) < count:
            its_sizes, left = _cut(_SIZE_FIELD, _NO_SIZE, left)
        rests = left.split("}, {")
        if not count == len(variants) == len(rests) or len(its_sizes) not in (0, count):
            return None
        try:
            for texts in zip(rests, variants, strict=True):
                if texts not in read:
                    read[texts] = len(looks)
                    fields, stacks = _read_rest(texts[0])
                    its = (*fields, _read_variants(texts[1]), stacks, *page)
                    # `_make` takes twice the time.
                    looks.append(tuple.__new__(LookAlike, its))
                numbers.append(read[texts])
            sizes += map(_read_size_text, its_sizes) if its_sizes else [None] * count
        except (KeyError, TypeError, ValueError, RecursionError):
            return None
        hashes += its_hashes
    return None if len(hashes) > MAX_RECORDS else Records(looks, numbers, hashes, sizes)


def _cut(field: re.Pattern[str], instead: str, text: str) -> tuple[list[str], str]:
    """Return the values of a field in a text, and the text with `instead` in their place."""
    parts = field.split(text)
    return parts[1::2], instead.join(parts[::2])


@lru_cache(_REMEMBERED)
def _read_variants(text: str) -> tuple[str, ...]:
    """Read the variants in a list without brackets. Raises TypeError and ValueError."""
    variants = tuple(_DECODER.decode(f"[{text}]"))
    if not "".join(variants).isascii():
        raise ValueError
    return variants


@lru_cache(_REMEMBERED)
def _read_rest(text: str) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Read a record without hash, variants and size; return its other fields, and its stacks.

    Raises KeyError, ValueError and RecursionError for another text, or if the record has a
    problem.
    """
    record, fields = _DECODER.decode(f"{{{text}}}"), FieldReader("")
    is_flat = "{" not in text and text.count('"hash"') == text.count('"variants"') == 1
    if not is_flat or text.count('"size"') > 1:
        raise ValueError
    look = _read_look(record, ("", ""), fields)
    if record["hash"] or look.variants or record.get("size", "-") != "-" or fields.problem_count:
        raise ValueError
    return look[: 1 + len(_TEXTS)], look.stacks


def _read_size_text(text: str) -> float | None:
    """Read the text of a size. Raises ValueError."""
    fields = FieldReader("")
    size = _read_size(_DECODER.decode(text), fields)
    if fields.problem_count:
        raise ValueError
    return size


def _read_each(text: str, page: tuple[str, str], fields: FieldReader) -> Records:
    """Read record by record, with the problems of each; a broken list up to the error."""
    looks, numbers = dict[LookAlike, int](), list[int]()
    hashes, sizes, listed = list[str](), list[float | None](), count(1)

    def add(_: str, record: Any) -> None:
        fields.place = f"record {(number := next(listed))}"
        if number > MAX_RECORDS:
            raise Unreadable(f"it has more than {MAX_RECORDS:,} records")
        if not isinstance(record, dict):
            fields.add_wrong("record", record, "an object")
        elif not is_hash(hash_ := record.get("hash")):
            fields.add_wrong("hash", hash_, A_HASH)
        else:
            look = _read_look(record, page, fields)
            numbers.append(looks.setdefault(look, len(looks)))
            hashes.append(hash_)
            sizes.append(_read_size(record.get("size", "-"), fields))

    try:
        if reason := too_many_values(text, MAX_PAGE_VALUES):
            raise Unreadable(reason)
        records, remarks = parse(text, {"[": add}, _DECODER)
        remarks = remarks if isinstance(records, list) else ["it is not a list of records"]
    except Unreadable as error:
        remarks = [str(error)]
    for remark in remarks:
        fields.add_problem(remark, "spec_details")
    return Records(list(looks), numbers, hashes, sizes)


def _read_look(record: Mapping[str, Any], page: tuple[str, str], fields: FieldReader) -> LookAlike:
    """Return the fields of a record without hash and size, as far as they can be read."""
    try:
        versions, variants, stacks = _get_lists(record)
        texts = _get_texts(record)
        (version,) = versions
        # To read value after value takes twice the time.
        is_usual = type(versions) is type(variants) is type(stacks) is list and all(texts)
        is_usual = is_usual and "".join((version, *texts, *variants, *stacks)).isascii()
    except (KeyError, TypeError, ValueError):
        is_usual = False
    if not is_usual:
        versions, variants, stacks = (fields.strings(key, record.get(key)) for key in _LISTS)
        texts = [fields.string(key, record.get(key)) for key in _TEXTS]
        if len(versions) != 1:
            fields.add_problem(f"versions has {len(versions)} items, expected one")
        version = versions[0] if versions else ""
    version, compiler = version.removeprefix("="), _spelled(texts[0])
    return LookAlike._make((version, compiler, *texts[1:], tuple(variants), tuple(stacks), *page))


def _spelled(compiler: str) -> str:
    """Spell a compiler as Spack 1 does: `gcc@=13.2.0` and `gcc@13.2.0` are one compiler."""
    return compiler.replace("@=", "@", 1)


def _read_size(size: object, fields: FieldReader) -> float | None:
    """Return a size in bytes; None for `-`, and for a wrong size, which is reported."""
    if isinstance(size, str) and (match := _SIZE.fullmatch(size)):
        return float(match[1]) * _UNITS[(match[2] or "B").lower()]
    if size != "-":
        fields.add_wrong("size", size, "a number of bytes")
    return None


# The page as a whole.


def _join(records: Records, fields: FieldReader) -> Records:
    """Join the records of each hash that differ only in their stacks; report other duplicates."""
    looks = cast("list[LookAlike]", records.looks)
    joined: dict[tuple[str, float | None, LookAlike], tuple[LookAlike, set[str]]] = {}
    known: set[str] = set()
    for number, hash_, size in zip(records.numbers, records.hashes, records.sizes, strict=True):
        look, stacks = looks[number], set(looks[number].stacks)
        key = hash_, size, look._replace(stacks=())
        if key not in joined:
            joined[key] = look, stacks
            if hash_ in known:
                reason = f"hash {hash_} is listed twice with different content"
                fields.add_problem(reason, "spec_details")
            known.add(hash_)
        elif stacks == joined[key][1]:
            fields.add_problem(f"hash {hash_} is listed twice", "spec_details")
        else:
            joined[key][1].update(stacks)
    its = [
        look if stacks == set(look.stacks) else look._replace(stacks=tuple(sorted(stacks)))
        for look, stacks in joined.values()
    ]
    hashes, sizes, _ = zip(*joined, strict=True)
    return Records(its, range(len(its)), hashes, sizes)


def _check_meta(meta: Any, records: Records, fields: FieldReader) -> None:
    """Report if the page counts other records than it lists."""
    listed = str(len(records.hashes))
    stated = str(meta.get("num_specs", listed) if isinstance(meta, dict) else listed)
    if stated != listed:
        fields.add_problem(f"it counts {stated[:40]} specs, the page lists {listed}", "meta")

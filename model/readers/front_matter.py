"""Read Jekyll front matter: the `key: value` lines between two `---` at the top of a page."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

from spackscope.model.core.errors import (
    FrontMatterError,
    InvalidYaml,
    YamlError,
)
from spackscope.model.readers.bounded_json import decode_at, too_many_values
from spackscope.model.readers.limits import MAX_KEYS, MAX_TEXT_SIZE
from spackscope.model.readers.yaml import (
    load_yaml,
)

# A key at the beginning of a line, or the line that closes the front matter.
_MARK = re.compile(
    r"^(?:([A-Za-z_][\w-]*):(?:[ \t]+|(?=\r?$))|(?:---|\.\.\.)[^\S\n]*$)", re.MULTILINE
)
_PLAIN = r"[A-Za-z0-9_][\w.+/-]*"
_BETWEEN = re.compile(r"[\s,]*")
# The expression takes memory for each word of a list.
_LONGEST_PLAIN_LIST = 2**16
_PLAIN_SCALAR = re.compile(_PLAIN)
_PLAIN_LIST = re.compile(rf"\[\s*(?:{_PLAIN}\s*(?:,\s*{_PLAIN}\s*)*)?\]")

# Numbers stay as they are written: `1.10` is a version, and a version is a text. A control
# character in a text spoils no page: it is made visible where it is shown.
_decoder = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)


def decode(data: bytes) -> str:
    """Decode a page: UTF-8, or UTF-16 where its byte order mark says so.

    Raises FrontMatterError naming the offset of the first byte that is not text, or the limit.
    """
    if len(data) > MAX_TEXT_SIZE and not data.isascii():
        has = f"it has {len(data):,} bytes, not all of them ASCII"
        raise FrontMatterError(f"{has}; at most {MAX_TEXT_SIZE:,} are read then")
    encoding = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "UTF-8"
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise FrontMatterError(f"byte {error.start} is not {encoding} text") from None


class FrontMatter(NamedTuple):
    """Hold the text of each value, and whether the closing `---` is there.

    Of a key that is given more than once, which is in `repeated`, it is the last value.
    """

    values: dict[str, str]
    closed: bool
    repeated: tuple[str, ...] = ()


def split(text: str) -> FrontMatter:
    """Split front matter at its top-level keys.

    Raises FrontMatterError where the text does not open with `---`.
    """
    first, _, text = text.partition("\n")
    if first.rstrip() != "---":
        raise FrontMatterError("it does not open with a line of three dashes")
    values: dict[str, str] = {}
    repeated: dict[str, None] = {}
    key, begin = "", 0
    for mark in _marks(text):
        if key:
            values[key] = _value_text(text, begin, mark.start())
        key, begin = mark[1] or "", mark.end()
        if not key:
            return FrontMatter(values, True, tuple(repeated))
        if key in values:
            repeated[key] = None
        if len(values) > MAX_KEYS:
            raise FrontMatterError(f"it has more than {MAX_KEYS:,} keys")
    if key:
        values[key] = _value_text(text, begin, len(text) + 1)
    return FrontMatter(values, False, tuple(repeated))


def _marks(text: str) -> Iterator[re.Match[str]]:
    """Yield what `_MARK` finds; looking for the ends of lines first takes a tenth of the time."""
    at = 0
    while True:
        if mark := _MARK.match(text, at):
            yield mark
        at = text.find("\n", at) + 1
        if not at:
            return


def _value_text(text: str, begin: int, end: int) -> str:
    """Return the text of a value, whose last line ends before the line at `end`."""
    return text[begin : max(begin, end - 1)].replace("\r\n", "\n").removesuffix("\r")


def value(text: str) -> Any:
    """Read one value: JSON where it is JSON, as every real page is, else YAML.

    Scalars come back as texts, `true`, `false` and `null` of JSON excepted. Raises
    FrontMatterError with the reason.
    """
    stripped = text.strip()
    if _PLAIN_SCALAR.fullmatch(stripped):
        return stripped
    if stripped[:1] in ("[", "{", '"'):
        if reason := too_many_values(stripped):
            raise FrontMatterError(reason)
        try:
            return _decoder.decode(stripped)
        except RecursionError:
            raise FrontMatterError("it is nested too deeply") from None
        except ValueError as error:
            refusal = str(error)
        if len(stripped) <= _LONGEST_PLAIN_LIST and _PLAIN_LIST.fullmatch(stripped):
            return [word.strip() for word in stripped[1:-1].split(",") if word.strip()]
        return _yaml(text, refusal)
    return _yaml(text, "")


def leading_items(text: str) -> Generator[Any, None, bool]:
    """Yield the items of a JSON list up to where it breaks off; return whether it is whole."""
    text = text.lstrip()
    at = 1 if text.startswith("[") else len(text)
    while at < len(text) and (between := _BETWEEN.match(text, at)):
        try:
            at = between.end()
            item, at = decode_at(_decoder, text, at)
        except (ValueError, RecursionError):
            break
        yield item
    return text[at : at + 1] == "]"


def _yaml(text: str, refusal: str) -> Any:
    """Read a value as YAML 1.1 whose scalars are all texts.

    Aliases are refused. Nothing at all is an empty text.
    """
    try:
        loaded, _ = load_yaml(text, aliases=False)
    except YamlError as error:
        reason = str(error)
        if refusal and isinstance(error, InvalidYaml):
            reason = f"it is neither JSON ({refusal}) nor YAML ({reason})"
        raise FrontMatterError(reason) from None
    return "" if loaded is None else loaded

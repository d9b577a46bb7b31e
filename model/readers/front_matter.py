"""Read Jekyll front matter: the `key: value` lines between two `---` at the top of a page."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from typing import Any, NamedTuple

from spackscope.model.core.errors import Unreadable, YamlError
from spackscope.model.readers.json import decode_at, too_many_values
from spackscope.model.readers.limits import MAX_KEYS
from spackscope.model.readers.yaml import load_yaml

# A key at the beginning of a line, or the line that closes the front matter.
_MARK = re.compile(
    r"^(?:([A-Za-z_][\w-]*):(?:[ \t]+|(?=\r?$))|(?:---|\.\.\.)[^\S\n]*$)", re.MULTILINE
)
_PLAIN = r"[A-Za-z0-9_][\w.+/-]*"
_BETWEEN = re.compile(r"[\s,]*")
# The expression takes memory for each word of a list.
_MAX_PLAIN_LIST = 2**16
_PLAIN_SCALAR = re.compile(_PLAIN)
_QUOTED = re.compile(r'"[^"\\]*"')
_PLAIN_LIST = re.compile(rf"\[\s*(?:{_PLAIN}\s*(?:,\s*{_PLAIN}\s*)*)?\]")

# Control characters in strings are allowed; they are made visible where they are shown.
DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)
"""Decodes values as pages have them: numbers stay as they are written, `1.10` is a version."""


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
    first, _, text = text.partition("\n")
    if first.rstrip() != "---":
        raise Unreadable("it does not begin with a line of three dashes")
    values: dict[str, str] = {}
    repeated: dict[str, None] = {}
    key, start, at = "", 0, 0
    while True:
        if mark := _MARK.match(text, at):
            if key:
                values[key] = _value_text(text[start : max(start, at - 1)])
            key, start = mark[1] or "", mark.end()
            if not key:
                return FrontMatter(values, True, tuple(repeated))
            if key in values:
                repeated[key] = None
            if len(values) > MAX_KEYS:
                raise Unreadable(f"it has more than {MAX_KEYS:,} keys")
        # Searching for line ends takes a tenth of the time of searching for marks.
        at = text.find("\n", at) + 1
        if not at:
            break
    if key:
        values[key] = _value_text(text[start:])
    return FrontMatter(values, False, tuple(repeated))


def _value_text(text: str) -> str:
    """Return the text of a value without carriage returns at the ends of its lines."""
    return text.replace("\r\n", "\n").removesuffix("\r") if "\r" in text else text


def parse_value(text: str) -> Any:
    """Parse one value: JSON, as on every real page, or else YAML without aliases.

    Scalars are strings, except `true`, `false` and `null` in JSON. No value at all is an empty
    string. Raises Unreadable.
    """
    stripped = text.strip()
    if _PLAIN_SCALAR.fullmatch(stripped):
        return stripped
    if _QUOTED.fullmatch(stripped):
        return stripped[1:-1]
    json_error = ""
    if stripped[:1] in ("[", "{", '"'):
        if reason := too_many_values(stripped):
            raise Unreadable(reason)
        try:
            return DECODER.decode(stripped)
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


def leading_items(text: str) -> Generator[Any, None, bool]:
    """Yield the items of a JSON list up to an error; return whether there was none."""
    text = text.lstrip()
    at = 1 if text.startswith("[") else len(text)
    while at < len(text) and (between := _BETWEEN.match(text, at)):
        try:
            at = between.end()
            item, at = decode_at(DECODER, text, at)
        except (ValueError, RecursionError):
            break
        yield item
    return text[at : at + 1] == "]"

"""Read Jekyll front matter: the `key: value` lines between two `---` at the top of a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

DEEPEST = 32
"""Nesting at which a value is refused; real pages use three levels."""

_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?$", re.DOTALL)
_PLAIN = r"[A-Za-z0-9_][\w.+/-]*"
_BETWEEN = re.compile(r"[\s,]*")
_PLAIN_SCALAR = re.compile(_PLAIN)
_PLAIN_LIST = re.compile(rf"\[\s*(?:{_PLAIN}\s*(?:,\s*{_PLAIN}\s*)*)?\]")

# Numbers stay as they are written: `1.10` is a version, and a version is a text. A control
# character in a text spoils no page: it is made visible where it is shown.
_decoder = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)


class FrontMatterError(ValueError):
    """Report front matter, or one value of it, that cannot be read."""


def decode(data: bytes) -> str:
    """Decode a page: UTF-8, or UTF-16 where its byte order mark says so.

    Raises FrontMatterError naming the offset of the first byte that is not text.
    """
    encoding = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "UTF-8"
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise FrontMatterError(f"byte {error.start} is not {encoding} text") from None


def split(text: str) -> tuple[dict[str, str], bool]:
    """Split front matter at its top-level keys.

    Gives the text of each value, the last one where a key stands twice, and whether the closing
    `---` is there. Raises FrontMatterError where the text does not open with `---`.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        raise FrontMatterError("it does not open with a line of three dashes")
    values: dict[str, str] = {}
    for key, value, closed in _top_level(lines[1:]):
        if closed:
            return values, True
        values[key] = value
    return values, False


def _top_level(lines: list[str]) -> Iterator[tuple[str, str, bool]]:
    key, parts = "", [""]
    for line in lines:
        line = line.removesuffix("\r")
        if line.rstrip() in ("---", "..."):
            if key:
                yield key, "\n".join(parts), False
            yield "", "", True
            return
        if opening := _KEY.match(line):
            if key:
                yield key, "\n".join(parts), False
            key, parts = opening[1], [opening[2] or ""]
        else:
            parts.append(line)
    if key:
        yield key, "\n".join(parts), False


def value(text: str) -> Any:
    """Read one value: JSON where it is JSON, as every real page is, else YAML.

    Scalars come back as texts, `true`, `false` and `null` of JSON excepted. Raises
    FrontMatterError with the reason.
    """
    stripped = text.strip()
    if _PLAIN_SCALAR.fullmatch(stripped):
        return stripped
    if stripped[:1] in ("[", "{", '"'):
        try:
            return _decoder.decode(stripped)
        except RecursionError:
            raise FrontMatterError("it is nested too deeply") from None
        except ValueError as error:
            refusal = str(error)
        if _PLAIN_LIST.fullmatch(stripped):
            return [word.strip() for word in stripped[1:-1].split(",") if word.strip()]
        return _yaml(text, refusal)
    return _yaml(text, "")


def leading_items(text: str) -> list[Any]:
    """Give the items of a JSON list that stand before the place where it breaks off."""
    items: list[Any] = []
    text = text.lstrip()
    at = 1 if text.startswith("[") else len(text)
    while at < len(text) and (between := _BETWEEN.match(text, at)):
        try:
            item, at = _decoder.raw_decode(text, between.end())
        except (ValueError, RecursionError):
            break
        items.append(item)
    return items


def _yaml(text: str, refusal: str) -> Any:
    """Read a value as YAML 1.1 whose scalars are all texts.

    Aliases are refused, because a few lines of them unfold to gigabytes, and so is deep nesting,
    on which the loader, though not its parser, ends the process. Nothing at all is an empty text.
    """
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                raise FrontMatterError("it uses YAML aliases")
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > DEEPEST:
                    raise FrontMatterError("it is nested too deeply")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
        # BaseLoader makes texts, lists and mappings, nothing else.
        loaded = yaml.load(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        reason = " ".join(str(error.problem or error).split())
        if refusal:
            reason = f"it is neither JSON ({refusal}) nor YAML ({reason})"
        raise FrontMatterError(reason) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise FrontMatterError(" ".join(str(error).split())) from None
    return "" if loaded is None else loaded

"""Read a configuration file, and check that each of its values has a name and a kind we know.

The module is imported only where there is such a file. The meaning of a value is checked later,
by `checks.py`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from spackscope.model.core.errors import reason
from spackscope.model.core.file_access import read_file
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.text import is_clean
from spackscope.model.sources.source_name import PREFIX, PUBLIC, SAMPLE
from spackscope.model.storage.base import scheme_of
from spackscope.tui.settings.table import BY_NAME, SETTINGS, Setting

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_BYTES = 2**16
"""Bytes of a configuration file."""

MAX_VALUES = 500
"""Texts in one list, and names in one table."""

MAX_LENGTH = 2000
"""Characters of one text."""

MAX_PARTS = 100
"""Parts of a dotted key; the time of the parser grows with their square."""

_LONG_KEY = rf"""(?:(?:(?<![\w-])[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{MAX_PARTS}}}"""

_TOO_DEEP = "it is nested too deeply"
_KINDS = {
    "text": "a text in quotes",
    "texts": "a text in quotes, or a list of them",
    "flag": "true or false",
}

Path = tuple[str, ...]
"""The names that lead to a value, from the outermost table inwards."""

_TOKENS = (
    r'"""(?:\\.|[^\\])*?"{3,5}' + r"|'''.*?'{3,5}"
    r"""|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|[\[{]|[\]}]|\n"""
)
"""The tokens that decide where a statement ends: strings, comments, brackets, ends of lines."""


class ConfigFile:
    """The values in a configuration file, and the mistakes, with their lines.

    `values` are right in name and kind: texts, tuples of texts and flags by the names of their
    settings, and values in a table by `keys.NAME`. `lines` has the line of each value, from 1, and
    `mistakes` has sentences with their lines, 0 for the file as a whole, each with whether only
    the name of a setting is unknown.

    Raises FileNotFoundError where there is none.

        ConfigFile("/home/ann/.config/spackscope/config.toml").values["theme"]
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lines: Mapping[Path, int] = {}
        self.values: dict[str, Any] = {}
        self.lines: dict[str, int] = {}
        self.mistakes: list[tuple[int, tuple[str, bool]]] = []
        try:
            text = text_of(read_file(path, MAX_BYTES))
        except FileNotFoundError:
            raise
        except UnicodeDecodeError as error:
            self._add("this is not UTF-8", line=error.object.count(b"\n", 0, error.start) + 1)
        except (OSError, ValueError) as error:
            self._add(reason(error))
        else:
            self._read(text)
        self.mistakes.sort(key=lambda mistake: mistake[0])

    def _read(self, text: str) -> None:
        if long_key := re.search(_LONG_KEY, text):
            self._add(_TOO_DEEP, line=text.count("\n", 0, long_key.start()) + 1)
            return
        try:
            parsed = tomllib.loads(text)
            self._lines = lines_of_keys(text)
        except tomllib.TOMLDecodeError as error:
            self._add_syntax(text, str(error))
        except RecursionError:
            self._add(_TOO_DEEP)
        except ValueError:
            # Python limits the digits of a number.
            self._add("a number in it is too long")
        else:
            for name, value in parsed.items():
                self._take_setting(name, value)

    def _take_setting(self, name: str, value: object) -> None:
        setting = BY_NAME.get(name)
        if setting is None:
            names = ", ".join(setting.name for setting in SETTINGS)
            hint = did_you_mean(name, BY_NAME) or f"; there are {names}"
            self._add(f"unknown setting {name}{hint}", (name,), is_unknown=True)
        elif not setting.is_table:
            self._take((name,), setting, value)
        elif not isinstance(value, dict):
            self._add(f"{name} must be a table, such as {name} = {setting.example}", (name,))
        elif len(value) > MAX_VALUES:
            self._add(f"{name} has {len(value):,} names; at most {MAX_VALUES}", (name,))
        else:
            for key, inner in value.items():
                self._take((name, key), setting, inner)

    def _take(self, path: Path, setting: Setting, value: Any) -> None:
        """Keep a value that is of the kind of its setting."""
        given = value if isinstance(value, list) and setting.kind == "texts" else [value]
        texts = [text for text in given if isinstance(text, str)]
        if setting.kind == "flag":
            problem = "" if isinstance(value, bool) else f"must be {_KINDS['flag']}"
        elif len(texts) < len(given):
            problem = f"must be {_KINDS[setting.kind]}"
        elif len(texts) > MAX_VALUES:
            problem = f"has {len(texts):,} texts; at most {MAX_VALUES}"
        else:
            problem = next(filter(None, map(_problem, texts)), "")
            texts = [text.strip() for text in texts]
        name = ".".join(path)
        if problem:
            self._add(f"{name} {problem}", path)
            return
        if name == "sources" and "-" in texts:
            self._add("sources: only -f can name standard input, -", path)
        if name in ("sources", "public"):
            texts = list(map(self._absolute, texts))
        if setting.kind != "flag":
            value = tuple(texts) if setting.kind == "texts" else texts[0]
        self.values[name] = value
        self.lines[name] = self._lines.get(path, 0)

    def _absolute(self, source: str) -> str:
        """Return a source with its path made absolute, as Spack does in its files."""
        is_named = source == SAMPLE or source.partition(":")[0] in (PUBLIC, PREFIX.rstrip(":"))
        if is_named or scheme_of(source):
            return source
        return os.path.join(os.path.dirname(self._path), os.path.expanduser(source))

    def _add_syntax(self, text: str, message: str) -> None:
        """Add that a text is not TOML, with the line that the parser names."""
        place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
        line = int(place[1]) if place and place[1] else text.rstrip("\n").count("\n") + 1
        column = f" at column {place[2]}" if place and place[2] else ""
        cause = message[: place.start()] if place else message
        hint = "; a text needs quotes" if cause == "Invalid value" else ""
        self._add(f"this is not TOML: {cause[:1].lower()}{cause[1:]}{column}{hint}", line=line)

    def _add(
        self, sentence: str, path: Path = (), line: int = 0, *, is_unknown: bool = False
    ) -> None:
        """Add a mistake at a key or in a line; without both it is about the file as a whole."""
        self.mistakes.append((line or self._lines.get(path, 0), (sentence, is_unknown)))


def text_of(data: bytes) -> str:
    """Return the text of a file. Raises UnicodeDecodeError, and ValueError for other encodings."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError("it is UTF-16; save it as UTF-8")
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def _problem(text: str) -> str:
    """Return the problem of a text, or an empty text."""
    if not text.strip():
        return "is empty"
    if len(text) > MAX_LENGTH:
        return f"has {len(text):,} characters; at most {MAX_LENGTH:,}"
    return "" if is_clean(text) else "has a control character"


def lines_of_keys(text: str) -> Mapping[Path, int]:
    """Return the line of each key and table of TOML, from 1, which parsers do not return.

    A table has the line of its head, or of its first key where it has none.
    """
    lines = dict[Path, int]()
    table: Path = ()
    for line, statement in _statements(text):
        paths = list(_paths(tomllib.loads(statement)))
        if statement.startswith("["):
            table = max(paths, key=len, default=())
        else:
            paths = [table + path for path in paths]
        for path in paths:
            lines.setdefault(path, line)
    return lines


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement with the line that it begins in."""
    start = depth = 0
    line = first_line = 1
    for token in re.finditer(_TOKENS, text + "\n", re.DOTALL):
        sign = token[0]
        line += sign.count("\n")
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(sign, 0)
        if sign == "\n" and not depth:
            statement = text[start : token.end()].strip()
            if statement and not statement.startswith("#"):
                yield first_line, statement
            start, first_line = token.end(), line


def _paths(value: object) -> Iterator[Path]:
    """Yield the paths to all keys in a mapping, and in the mappings that it contains."""
    while isinstance(value, list) and value and isinstance(value[0], dict):
        value = value[0]
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (name,)
            yield from ((name, *path) for path in _paths(inner))

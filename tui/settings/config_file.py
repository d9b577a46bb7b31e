"""Read a configuration file, and check that each of its values has a name and a kind we know.

The module is imported only where there is such a file. The meaning of a value is checked later,
by `checks.py`.
"""

from __future__ import annotations

import os
import re
import sys
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


class ConfigFile:
    """The values in a configuration file, and the mistakes.

    `values` are right in name and kind: texts, tuples of texts and flags by the names of their
    settings, and values in a table by `keys.NAME`. `mistakes` has sentences, each with whether
    only the name of a setting is unknown.

    Raises FileNotFoundError where there is none.

        ConfigFile("/home/ann/.config/spackscope/config.toml").values["theme"]
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self.values: dict[str, Any] = {}
        self.mistakes: list[tuple[str, bool]] = []
        try:
            text = text_of(read_file(path, MAX_BYTES))
        except FileNotFoundError:
            raise
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            self._add(f"line {line} is not UTF-8")
        except (OSError, ValueError) as error:
            self._add(reason(error))
        else:
            self._read(text)

    def _read(self, text: str) -> None:
        if re.search(_LONG_KEY, text):
            self._add(_TOO_DEEP)
            return
        try:
            parsed = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            self._add_syntax(str(error))
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
            self._add(f"unknown setting {name}{hint}", is_unknown=True)
        elif not setting.is_table:
            self._take(name, setting, value)
        elif not isinstance(value, dict):
            self._add(f"{name} must be a table, such as {name} = {setting.example}")
        elif len(value) > MAX_VALUES:
            self._add(f"{name} has {len(value):,} names; at most {MAX_VALUES}")
        else:
            for key, inner in value.items():
                self._take(f"{name}.{key}", setting, inner)

    def _take(self, name: str, setting: Setting, value: Any) -> None:
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
        if problem:
            self._add(f"{name} {problem}")
            return
        if name == "sources" and "-" in texts:
            self._add("sources: only -f can name standard input, -")
        if name in ("sources", "public"):
            texts = list(map(self._absolute, texts))
        if setting.kind != "flag":
            value = tuple(texts) if setting.kind == "texts" else texts[0]
        self.values[name] = value

    def _absolute(self, source: str) -> str:
        """Return a source with its path made absolute, as Spack does in its files."""
        is_named = source == SAMPLE or source.partition(":")[0] in (PUBLIC, PREFIX.rstrip(":"))
        if is_named or scheme_of(source):
            return source
        return os.path.join(os.path.dirname(self._path), os.path.expanduser(source))

    def _add_syntax(self, message: str) -> None:
        """Add that a text is not TOML, as the parser says, with line and column."""
        cause, _, place = message.partition(" (at ")
        hint = "; a text needs quotes" if cause == "Invalid value" else ""
        at = f" (at {place}" if place else ""
        self._add(f"this is not TOML: {cause[:1].lower()}{cause[1:]}{hint}{at}")

    def _add(self, sentence: str, *, is_unknown: bool = False) -> None:
        self.mistakes.append((sentence, is_unknown))


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

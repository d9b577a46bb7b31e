"""Read a configuration file, and check that each of its values has a name and a kind we know.

It is imported only where there is such a file. What a value means is checked where it is used.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from spackscope.model.core.errors import reason
from spackscope.model.core.files import read_file
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.text import is_clean
from spackscope.tui.settings.origins import Mistake, Origin
from spackscope.tui.settings.table import BY_NAME, SETTINGS, Setting
from spackscope.tui.settings.toml_lines import Path, key_lines

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
_BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_KINDS = {
    "text": "a text in quotes",
    "texts": "a text in quotes, or a list of them",
    "flag": "true or false",
}


class ConfigFile(Frozen):
    """What a configuration file sets.

    `values` are right in name and kind: texts, tuples of texts and flags by the names of their
    settings, and those of a table by `keys.NAME`. `lines` has the line of each.
    """

    path: str
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    lines: Mapping[str, int] = field(default_factory=dict)
    mistakes: tuple[Mistake, ...] = ()


def read_config(path: str) -> ConfigFile:
    """Read a configuration file; what is wrong with it is in `mistakes`.

    Raises FileNotFoundError where there is none.

        read_config("/home/ann/.config/spackscope/config.toml").values["theme"]
    """
    try:
        text = _text(read_file(path, MAX_BYTES))
    except FileNotFoundError:
        raise
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return ConfigFile(path, mistakes=(Mistake(Origin(path, line), "this is not UTF-8"),))
    except (OSError, ValueError) as error:
        return ConfigFile(path, mistakes=(Mistake(Origin(path), reason(error)),))
    if long_key := re.search(_LONG_KEY, text):
        origin = Origin(path, text.count("\n", 0, long_key.start()) + 1)
        return ConfigFile(path, mistakes=(Mistake(origin, _TOO_DEEP),))
    try:
        parsed = tomllib.loads(text)
        lines = key_lines(text, tomllib.loads)
    except tomllib.TOMLDecodeError as error:
        return ConfigFile(path, mistakes=(_syntax_mistake(path, text, error),))
    except (ValueError, RecursionError) as error:
        # Python limits the digits of a number.
        is_deep = isinstance(error, RecursionError)
        sentence = _TOO_DEEP if is_deep else "a number in it is too long"
        return ConfigFile(path, mistakes=(Mistake(Origin(path), sentence),))
    return _Check(path, lines).checked(parsed)


def _text(data: bytes) -> str:
    """Return the text of a file. Raises UnicodeDecodeError, and ValueError for other encodings."""
    if encoding := _BOMS.get(data[:2]):
        raise ValueError(f"it is {encoding}; save it as UTF-8")
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def _syntax_mistake(path: str, text: str, error: Exception) -> Mistake:
    """Return the mistake of a text that is not TOML, with the line that the parser names."""
    message = str(error)
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    line = int(place[1]) if place and place[1] else text.rstrip("\n").count("\n") + 1
    column = f" at column {place[2]}" if place and place[2] else ""
    cause = message[: place.start()] if place else message
    hint = "; a text needs quotes" if cause == "Invalid value" else ""
    sentence = f"this is not TOML: {cause[:1].lower()}{cause[1:]}{column}{hint}"
    return Mistake(Origin(path, line), sentence)


class _Check:
    """The check of one file, whose keys are in some `lines`."""

    def __init__(self, path: str, lines: Mapping[Path, int]) -> None:
        self._path, self._lines = path, lines
        self._mistakes: list[Mistake] = []

    def checked(self, parsed: Mapping[str, Any]) -> ConfigFile:
        """Return the values that are right, and what is wrong with the others."""
        values = dict(self._values(parsed))
        lines = {".".join(path): line for path, line in self._lines.items()}
        self._mistakes.sort(key=lambda mistake: mistake.origin.line)
        return ConfigFile(self._path, values, lines, tuple(self._mistakes))

    def _values(self, parsed: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for name, value in parsed.items():
            setting = BY_NAME.get(name)
            if setting is None:
                self._add((name,), f"unknown setting {name}{self._hint(name)}")
            elif not setting.is_table:
                if (kept := self._of_kind((name,), setting, value)) is not None:
                    yield name, kept
                if name == "sources" and kept and "-" in kept:
                    self._add((name,), "sources: only -f can name standard input, -")
            elif not isinstance(value, dict):
                self._add((name,), f"{name} must be a table, such as {name} = {setting.example}")
            elif len(value) > MAX_VALUES:
                self._add((name,), f"{name} has {len(value):,} names; at most {MAX_VALUES}")
            else:
                for key, inner in value.items():
                    if name == "views" and key in BY_NAME:
                        # In TOML all that follows [views] belongs to it.
                        sentence = f"{key} is a setting of its own, and belongs above [views]"
                        self._add((name, key), sentence)
                    elif (kept := self._of_kind((name, key), setting, inner)) is not None:
                        yield f"{name}.{key}", kept

    def _of_kind(self, path: Path, setting: Setting, value: object) -> Any:
        """Return a value of the kind of a setting; None, and note it, where it is of another."""
        name = ".".join(path)
        if setting.kind == "flag" and isinstance(value, bool):
            return value
        given = value if isinstance(value, list) and setting.kind == "texts" else [value]
        texts = tuple(text for text in given if isinstance(text, str))
        if setting.kind == "flag" or len(texts) < len(given):
            self._add(path, f"{name} must be {_KINDS[setting.kind]}")
        elif len(texts) > MAX_VALUES:
            self._add(path, f"{name} has {len(texts):,} texts; at most {MAX_VALUES}")
        elif problem := next(filter(None, map(_problem, texts)), ""):
            self._add(path, f"{name} {problem}")
        else:
            stripped = tuple(text.strip() for text in texts)
            return stripped if setting.kind == "texts" else stripped[0]
        return None

    def _hint(self, name: str) -> str:
        """Guess which setting was meant."""
        hint = did_you_mean(name, BY_NAME)
        return hint or f"; there are {', '.join(setting.name for setting in SETTINGS)}"

    def _add(self, path: Path, sentence: str) -> None:
        self._mistakes.append(Mistake(Origin(self._path, self._lines.get(path, 0)), sentence))


def _problem(text: str) -> str:
    """Return what is wrong with a text, or an empty text."""
    if not text.strip():
        return "is empty"
    if len(text) > MAX_LENGTH:
        return f"has {len(text):,} characters; at most {MAX_LENGTH:,}"
    return "" if is_clean(text) else "has a control character"

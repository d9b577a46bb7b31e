"""Check the values of settings, and find the columns and keys that they name.

`config_file.py` has checked the names and kinds of the settings before.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from itertools import combinations

from spackscope.model.analysis.host import parse_host
from spackscope.model.core import columns
from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import replace
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.text import cell_width, pad
from spackscope.model.index.order import USED_BY, Sort
from spackscope.model.report.table_columns import UNSORTED
from spackscope.tui.keymap import (
    CTRL_SPACE,
    DEFAULT,
    HEADINGS,
    STACKS,
    TYPED_IN,
    Key,
    Keymap,
    is_typed,
    read_key,
    shown_key,
    written_key,
)
from spackscope.tui.settings import Mistake, Settings
from spackscope.tui.settings.table import BY_NAME

KEPT = ("hash", "package")
"""The columns that stay, since they identify a row."""

_IN_NO_TABLE = ("variants",)
"""Columns in whose place the table has one for each variant."""

_COLUMNS = (*(name for name in columns.BY_NAME if name not in _IN_NO_TABLE), USED_BY, *UNSORTED)

NEEDED = ("dialogs-choose", "dialogs-close", "filters-done", "filters-back")
"""The names that need a key: without one a dialog or an input could not be left."""


def mistakes_of(settings: Settings) -> list[Mistake]:
    """Return all mistakes in settings, ordered by their files."""
    mistakes = [
        *settings.mistakes,
        *_host(settings),
        *browser_mistakes(settings),
    ]
    return sorted(mistakes, key=lambda mistake: mistake.origin)


def browser_mistakes(settings: Settings) -> list[Mistake]:
    """Return the mistakes in the settings that only the browser uses."""
    return [*_copy(settings), *_theme(settings), *_columns(settings), *_keys(settings)]


def _host(settings: Settings) -> Iterator[Mistake]:
    if not settings.host:
        return
    try:
        parse_host(settings.host)
    except QueryError as error:
        yield Mistake(settings.origin("host"), f"host: {error}")


def _copy(settings: Settings) -> Iterator[Mistake]:
    try:
        shlex.split(settings.copy)
    except ValueError as error:
        reason = str(error)
        yield Mistake(settings.origin("copy"), f"copy: {reason[:1].lower()}{reason[1:]}")


def _theme(settings: Settings) -> Iterator[Mistake]:
    if not settings.theme:
        return
    # The module imports Textual.
    from spackscope.tui.settings.themes import theme_names

    names = theme_names()
    if settings.theme not in names:
        hint = did_you_mean(settings.theme, names) or f"; there are {', '.join(names)}"
        yield Mistake(settings.origin("theme"), f"there is no theme {settings.theme}{hint}")


def _columns(settings: Settings) -> Iterator[Mistake]:
    if settings.sort:
        text, origin = settings.sort.removeprefix("-"), settings.origin("sort")
        if column_named(text) in UNSORTED:
            yield Mistake(origin, f"rows cannot be sorted by {column_named(text)}")
        elif not column_named(text):
            yield Mistake(origin, f"sort: {_unknown_column(text or settings.sort)}")
    for text in settings.hidden:
        if column_named(text) in KEPT:
            sentence = f"hidden: the {column_named(text)} stays, rows are known by it"
            yield Mistake(settings.origin("hidden"), sentence)
        elif not column_named(text):
            yield Mistake(settings.origin("hidden"), f"hidden: {_unknown_column(text)}")


def _unknown_column(text: str) -> str:
    variant = f"+{text.lstrip('+~-') or 'NAME'}"
    hint = did_you_mean(text, _COLUMNS) or f"; a variant is written {variant}"
    return f"there is no column {text}{hint}"


def _keys(settings: Settings) -> Iterator[Mistake]:
    keymap, mistakes = _read_keys(settings)
    yield from mistakes
    for (first, second), key in clashes(keymap).items():
        # A clash is worded from the view of the name that was changed.
        changed, other = (second, first) if second in settings.keys else (first, second)
        place, other_place = (HEADINGS[keymap[name].where].lower() for name in (first, second))
        hidden = f", and {place} only {first} would work" if place != other_place else ""
        sentence = f"{shown_key(key)} is the key of both {changed} and {other}{hidden}"
        origin = settings.origin(f"keys.{changed}")
        yield Mistake(origin, f"{sentence}; change one of them")


def column_named(text: str) -> str:
    """Return the column of the table that a text names: `os`, `+mpi`; "" if there is none.

    Variants are not looked up, since they depend on the rows.
    """
    if text.startswith("+"):
        return text if len(text) > 1 else ""
    name = text.lower().replace("_", " ")
    name = columns.ALIASES.get(text.lower(), name)
    return name if name in _COLUMNS else ""


def first_sort(settings: Settings) -> Sort | None:
    """Return the sort of the rows at the start."""
    column = column_named(settings.sort.removeprefix("-"))
    return Sort(column, descending=settings.sort.startswith("-")) if column else None


def hidden_columns(settings: Settings) -> frozenset[str]:
    """Return the columns that are hidden at the start."""
    return frozenset(filter(None, map(column_named, settings.hidden))).difference(KEPT)


def changed_keys(settings: Settings) -> Keymap:
    """Return the keys with the changes of the settings; changes with a mistake are left out."""
    return _read_keys(settings)[0]


def _read_keys(settings: Settings) -> tuple[Keymap, list[Mistake]]:
    keymap, mistakes = dict(DEFAULT), []
    for name, written in settings.keys.items():
        try:
            keymap[name] = _changed_key(name, written)
        except ValueError as error:
            is_unknown = name not in DEFAULT and name not in BY_NAME
            mistakes.append(Mistake(settings.origin(f"keys.{name}"), str(error), is_unknown))
    return keymap, mistakes


def _changed_key(name: str, written: tuple[str, ...]) -> Key:
    """Return the key of a name with the keys that are written for it.

    Each text may have several keys as they are shown, separated by blanks. Raises ValueError.
    """
    key = DEFAULT.get(name)
    if key is None:
        if name in BY_NAME:
            raise ValueError(f"{name} is a setting of its own, and belongs above [keys]")
        hint = did_you_mean(name, DEFAULT) or "; `spackscope config --keys` lists all"
        raise ValueError(f"unknown key name {name}{hint}")
    keys: dict[str, None] = {}
    for text in (part for each in written for part in each.split()):
        try:
            read = read_key(text)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        if key.where in TYPED_IN and is_typed(read):
            raise ValueError(f"{text} is typed there, so it cannot be the key of {name}")
        keys.update(dict.fromkeys(CTRL_SPACE if read in CTRL_SPACE else (read,)))
    if name in NEEDED and all(map(is_typed, keys)):
        raise ValueError(f"{name} needs a key that is no letter: letters are typed where it works")
    return replace(key, keys=",".join(keys))


def clashes(keymap: Keymap) -> Mapping[tuple[str, str], str]:
    """Return keys by the two names that have them in one place, where only the first would work.

    Clashes that the table itself has are left out.
    """
    known, new = _pairs(DEFAULT), dict[tuple[str, str], str]()
    for (first, second), key in _pairs(keymap).items():
        if (first, second) not in known and (second, first) not in new:
            new[first, second] = key
    return new


def _pairs(keymap: Keymap) -> Mapping[tuple[str, str], str]:
    """Return the pairs of names with a key of both, the name of the inner pane first."""
    pairs: dict[tuple[str, str], str] = {}
    for stack in STACKS:
        keys = [key for pane in stack for key in keymap.values() if key.where == pane]
        by_key: dict[str, list[Key]] = {}
        for key in keys:
            for name in key.names:
                by_key.setdefault(name, []).append(key)
        for name, several in by_key.items():
            for first, second in combinations(several, 2):
                pairs.setdefault((first.name, second.name), name)
    return pairs


def key_lines(keymap: Keymap = DEFAULT) -> Iterator[str]:
    """Yield the lines of a table `[keys]`: the names, the keys, and their effects as remarks."""
    yield "[keys]"
    lines = dict[str, str]()
    for name, key in keymap.items():
        written = json.dumps(written_key(key.shown), ensure_ascii=False) if key.keys else "[]"
        lines[name] = f"{name} = {written}"
    width = max(map(cell_width, lines.values()))
    for where, heading in HEADINGS.items():
        yield ""
        yield f"# {heading}"
        for key in (key for key in keymap.values() if key.where == where):
            yield f"{pad(lines[key.name], width)}  # {key.sentence}"

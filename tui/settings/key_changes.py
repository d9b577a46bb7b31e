"""The keys that the configuration changes, and what is wrong with such changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import combinations

from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.text import cell_width, pad
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
from spackscope.tui.settings.origins import Mistake
from spackscope.tui.settings.settings import Settings
from spackscope.tui.settings.table import BY_NAME

NEEDED = ("dialogs-close", "filters-done", "filters-back")
"""The names that need a key: without one a dialog or an input could not be left."""
_NO_KEY = json.dumps("")


class Clash(Frozen):
    """A key of two names that work in one place, where only the first of them would do something.

    `place` is the heading of the pane of the first, if the second is of another pane.
    """

    key: str
    first: str
    second: str
    place: str


def changed_keys(settings: Settings) -> Keymap:
    """Return the keys with the changes of the settings; those with a mistake are left out."""
    keymap = dict(DEFAULT)
    for name, written in settings.keys.items():
        try:
            keys = _read(name, written)
        except ValueError:
            continue
        keymap[name] = replace(DEFAULT[name], keys=keys)
    return keymap


def check_keys(settings: Settings) -> Iterator[Mistake]:
    """Yield what is wrong with the changed keys: each with its place in the configuration."""
    is_right = True
    for name, written in settings.keys.items():
        try:
            _read(name, written)
        except ValueError as error:
            is_right = False
            yield Mistake(settings.origin(f"keys.{name}"), str(error))
    if not is_right:
        return
    for clash in clashes(changed_keys(settings)):
        changed = [name for name in (clash.second, clash.first) if name in settings.keys]
        yield Mistake(settings.origin(f"keys.{changed[0]}"), _sentence(clash, changed[0]))


def _read(name: str, written: tuple[str, ...]) -> str:
    """Return Textual's names of the keys that are written for a name.

    Each text may have several, separated by blanks, as they are shown. Raises ValueError.
    """
    key = DEFAULT.get(name)
    if key is None:
        if name in BY_NAME:
            raise ValueError(f"{name} is a setting of its own, and belongs above [keys]")
        raise ValueError(f"unknown key name {name}{_hint(name)}")
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
    return ",".join(keys)


def _hint(name: str) -> str:
    return did_you_mean(name, DEFAULT) or "; `spackscope config --keys` lists all"


def clashes(keymap: Keymap) -> Iterator[Clash]:
    """Yield the keys of two names that work together, unless the table itself has them so."""
    known = set(_pairs(DEFAULT))
    seen = set()
    for (first, second), key in _pairs(keymap).items():
        if (first, second) not in known and frozenset((first, second)) not in seen:
            seen.add(frozenset((first, second)))
            panes = [keymap[name].where for name in (first, second)]
            place = HEADINGS[panes[0]].lower() if panes[0] != panes[1] else ""
            yield Clash(shown_key(key), first, second, place)


def _pairs(keymap: Keymap) -> Mapping[tuple[str, str], str]:
    """Return the pairs of names with a key of both, that of the inner pane first."""
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


def _sentence(clash: Clash, changed: str) -> str:
    """Word a clash from the view of the name that was changed."""
    other = clash.first if changed == clash.second else clash.second
    hidden = f", and {clash.place} only {clash.first} would work" if clash.place else ""
    return f"{clash.key} is the key of both {changed} and {other}{hidden}; change one of them"


def key_lines(keymap: Keymap = DEFAULT) -> Iterator[str]:
    """Yield the lines of a table `[keys]`: the names, the keys, and what they do as a remark."""
    yield "[keys]"
    pairs = {
        key.name: json.dumps(written_key(key.shown), ensure_ascii=False) for key in keymap.values()
    }
    lines = {name: f"{name} = {text if text != _NO_KEY else '[]'}" for name, text in pairs.items()}
    width = max(map(cell_width, lines.values()))
    for where, heading in HEADINGS.items():
        yield ""
        yield f"# {heading}"
        for key in (key for key in keymap.values() if key.where == where):
            yield f"{pad(lines[key.name], width)}  # {key.sentence}"

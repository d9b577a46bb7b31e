"""The keys in use: those of the table, with the changes of the configuration.

They belong to the process, as its terminal does: the application sets them when it starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from spackscope.model.core.frozen import Frozen, replace
from spackscope.tui.keymap import KEYS, Key
from spackscope.tui.keymap.names import is_typed, shown_key
from spackscope.tui.process.ascii_signs import key_word
from spackscope.tui.process.stdio import supports_unicode


class Hint(NamedTuple):
    """A key as it is shown, a word for what it does, and Textual's name of the key."""

    shown: str
    word: str
    key: str = ""


class Keymap(Frozen):
    """The keys of all panes, in the order in which they are shown."""

    keys: tuple[Key, ...] = KEYS

    @cached_property
    def by_name(self) -> Mapping[str, Key]:
        """The keys by their names."""
        return {key.name: key for key in self.keys}

    @cached_property
    def by_pane(self) -> Mapping[str, Sequence[Key]]:
        """The keys by their panes."""
        keys: dict[str, list[Key]] = {}
        for key in self.keys:
            keys.setdefault(key.where, []).append(key)
        return keys

    @cached_property
    def own_hints(self) -> Mapping[str, Hint]:
        """The hints by the names of the keys, each of the first key with its own word."""
        return {
            key.name: Hint(shown_key(key.names[0]), key.hint, key.names[0])
            for key in self.keys
            if key.keys
        }

    @property
    def changes(self) -> dict[str, str]:
        """The keys that differ from the table, as `App.set_keymap` takes them."""
        return {
            key.name: key.keys or f"no_key_of_{key.name}"
            for key, default in zip(self.keys, KEYS, strict=True)
            if key.keys != default.keys
        }

    def changed(self, keys: Mapping[str, str]) -> Keymap:
        """Return the keymap with other keys of some names."""
        return Keymap(tuple(replace(key, keys=keys.get(key.name, key.keys)) for key in self.keys))


DEFAULT = Keymap()
_used = DEFAULT


def use_keys(keymap: Keymap) -> None:
    """Use the keys of a keymap from now on."""
    global _used
    _used = keymap


def keys_of(*panes: str) -> list[Key]:
    """Return the keys of some panes, those of the first pane first."""
    return [key for pane in panes for key in _used.by_pane[pane]]


def key_names(*names: str) -> frozenset[str]:
    """Return Textual's names of all keys of some names.

    >>> sorted(key_names("undo", "back"))
    ['b', 'backspace', 'escape', 'left_square_bracket']
    """
    return frozenset(key for name in names for key in _used.by_name[name].names)


def first_key(name: str, *, is_letter_typed: bool = False) -> str:
    """Return Textual's name of the first key of a name; empty if it has none.

    Where letters are typed, it is the first that is none.
    """
    names = _used.by_name[name].names
    return next((key for key in names if not (is_letter_typed and is_typed(key))), "")


def shown(name: str) -> str:
    """Return the first key of a name as it is shown in messages, or the name if it has none.

    >>> f"Added a filter ({shown('undo')} removes)"
    'Added a filter (⌫ removes)'
    """
    own = _used.own_hints.get(name)
    return own.shown if own is not None else name


def hint(name: str, word: str = "", *, is_letter_typed: bool = False) -> Iterator[Hint]:
    """Yield the hint of a name, by default with its own word; none if it has no key.

    >>> list(hint("zoom", "unzoom"))
    [Hint(shown='+', word='unzoom', key='plus')]
    """
    own = _used.own_hints.get(name)
    if own is not None and is_letter_typed and is_typed(own.key):
        key = first_key(name, is_letter_typed=True)
        own = Hint(shown_key(key), own.word, key) if key else None
    if own is not None:
        yield own._replace(word=word) if word else own


def hints(
    *panes: str, words: Mapping[str, str] = {}, is_letter_typed: bool = False
) -> Iterable[Hint]:
    """Yield keys and words for the status line: by rank, those of the first pane first.

    `words` are others for some names.
    """
    seen = set()
    keys = [key for key in keys_of(*panes) if key.hint]
    for key in sorted(keys, key=lambda key: key.rank):
        if key.hinted_in and not any(pane in panes for pane in key.hinted_in):
            continue
        for each in hint(key.name, words.get(key.name, ""), is_letter_typed=is_letter_typed):
            if each.shown not in seen:
                seen.add(each.shown)
                yield each


def written_key(shown: str) -> str:
    """Return a key as this terminal can show it: `⏎`, or `enter` without UTF-8."""
    return shown if supports_unicode() else key_word(shown)


def with_written_keys(text: str) -> str:
    """Return a text with its keys as this terminal can show them."""
    if supports_unicode():
        return text
    return "".join(key_word(sign) if sign in "⏎⌫⇥" else sign for sign in text)

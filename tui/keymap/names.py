"""The names of keys: as Textual has them, as they are shown, and as people write them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

_SHOWN = {
    "enter": "⏎", "backspace": "⌫", "tab": "⇥", "escape": "esc", "space": "space",
    "left": "←", "right": "→", "up": "↑", "down": "↓",
    "pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End",
    "insert": "Ins", "delete": "Del", **{f"f{number}": f"F{number}" for number in range(1, 25)},
}  # fmt: skip
"""The keys without a letter, as Textual names them and as they are shown."""

_SIGNS = {
    "slash": "SOLIDUS", "backslash": "REVERSE SOLIDUS", "at": "COMMERCIAL AT",
    "minus": "HYPHEN-MINUS", "plus": "PLUS SIGN", "underscore": "LOW LINE",
}  # fmt: skip
"""Textual's own names of signs; others are named as in Unicode."""
_NAMES = {name: key for key, name in _SIGNS.items()}

_WRITTEN: Mapping[str, str] = {
    **{shown.lower(): key for key, shown in _SHOWN.items()},
    **{key: key for key in _SHOWN},
    **{key: key for key in _SIGNS},
    "return": "enter", "bksp": "backspace", "esc": "escape", "page_up": "pageup",
    "page_down": "pagedown", "ins": "insert", "del": "delete",
}  # fmt: skip
"""How the keys without a letter, and signs, may be written, in small letters."""

_SHIFTED = ("left", "right", "up", "down", "home", "end", "pageup", "pagedown")
"""Keys that terminals send differently with Shift, and with Ctrl."""

_SAME = {
    "ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
}  # fmt: skip
"""Keys that a terminal sends as another one."""

_FIXED = {
    "ctrl+c": "ends the program",
    "ctrl+q": "ends the program",
    "ctrl+backslash": "opens the commands",
}
"""Keys that always do the same."""

CTRL_SPACE = ("ctrl+@", "ctrl+space")
"""Textual's names of one key: that of most terminals, and of those that send more."""
_CTRL_SIGNS = ("right_square_bracket", "underscore", "circumflex_accent")


def read_key(written: str) -> str:
    """Return Textual's name of a key as people write it: as it is shown, or by its name.

    Raises ValueError, with a sentence, for what is not a key that every terminal sends, or one
    whose meaning is fixed.

    >>> read_key("^r"), read_key("PgDn"), read_key("/")
    ('ctrl+r', 'pagedown', 'slash')
    """
    modifier, key = _split(written)
    name = f"{modifier}+{key}" if modifier else key
    if name in _SAME:
        same = _SAME[name]
        raise ValueError(f"a terminal sends {written} as {same}: write {same}")
    if name in _FIXED:
        raise ValueError(f"{written} always {_FIXED[name]}")
    if not key or not _is_sent(modifier, key):
        raise ValueError(f"{written} is not a key that every terminal sends")
    return name


def _split(written: str) -> tuple[str, str]:
    """Return the modifier of a key, if it has one, and the name of the rest; empty if unknown."""
    text, modifier = written, ""
    for sign, name in (("^", "ctrl"), ("⇧", "shift"), ("C-", "ctrl"), ("M-", "alt")):
        if text.startswith(sign) and len(text) > len(sign):
            text, modifier = text[len(sign) :], name
            break
    else:
        for name in ("ctrl", "shift", "alt"):
            if text[: len(name)].lower() == name and text[len(name) : len(name) + 1] in ("+", "-"):
                text, modifier = text[len(name) + 1 :], name
                break
    if len(text) == 1 and text.isprintable() and text not in _WRITTEN:
        if modifier == "shift" and text.isalpha():
            return "", text.upper()
        key = name_of(text.lower() if modifier == "ctrl" else text)
        return modifier, key if _character(key) else ""
    lower = text.lower()
    is_named = bool(lower) and name_of(_character(lower)) == lower
    return modifier, _WRITTEN.get(lower, lower if is_named else "")


def _is_sent(modifier: str, key: str) -> bool:
    """Check whether terminals send a key with a modifier as a key of its own."""
    if not modifier:
        return True
    if modifier == "shift":
        return key == "tab" or key in _SHIFTED
    if modifier == "alt":
        return len(key) == 1 and key.isascii()
    return (len(key) == 1 and "a" <= key <= "z") or key in ("space", *_SHIFTED, *_CTRL_SIGNS)


def name_of(character: str) -> str:
    """Return Textual's name of the key of a character.

    >>> name_of("/"), name_of("y"), name_of("]")
    ('slash', 'y', 'right_square_bracket')
    """
    if character == " ":
        return "space"
    if character.isalnum():
        return character
    name = unicodedata.name(character, "") if len(character) == 1 else ""
    return _NAMES.get(name, name.lower().replace("-", "_").replace(" ", "_"))


def is_typed(key: str) -> bool:
    """Check whether a key, by Textual's name, writes a character where text is typed."""
    return key == "space" or bool(_character(key))


def _character(key: str) -> str:
    """Return the character of a key by Textual's name; empty if it has none."""
    if len(key) == 1:
        return key
    if key in _SHOWN:
        return ""
    name = _SIGNS.get(key, key.replace("_", " ").upper())
    for spelled in (
        name,
        name.replace("LESS THAN", "LESS-THAN"),
        name.replace("ER THAN", "ER-THAN"),
    ):
        try:
            return unicodedata.lookup(spelled)
        except KeyError:
            continue
    return ""


def shown_key(key: str) -> str:
    """Return how a key is shown, by Textual's name.

    >>> shown_key("shift+tab"), shown_key("ctrl+r"), shown_key("slash")
    ('⇧⇥', '^r', '/')
    """
    if key == CTRL_SPACE[0]:
        key = CTRL_SPACE[1]
    modifier, _, name = key.rpartition("+")
    sign = {"": "", "ctrl": "^", "shift": "⇧", "alt": "alt+"}[modifier]
    return sign + (_SHOWN.get(name) or _character(name) or name)

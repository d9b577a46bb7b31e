"""Keys are written as they are shown, or by their names."""

import string
from itertools import chain

import pytest

from spackscope.tui.keymap import KEYS, TYPED_IN, is_typed, name_of, read_key, shown_key
from tests.textual_internals import ANSI_SEQUENCES_KEYS, character_to_key

SENT = {
    str(getattr(key, "value", key))
    for keys in ANSI_SEQUENCES_KEYS.values()
    if isinstance(keys, tuple)
    for key in keys
}
"""The keys that Textual reads from a terminal, except characters."""


def test_a_character_is_named_as_textual_names_it() -> None:
    for letter in (*string.printable.strip(), "ö", "Ω", "ß"):
        key = character_to_key(letter)
        assert name_of(letter) == read_key(letter) == key
        assert is_typed(key)
        assert shown_key(key) == letter
    assert is_typed(name_of(" "))
    assert shown_key(name_of(" ")) == "space"


def test_a_key_of_the_table_is_read_as_it_is_shown() -> None:
    for name in chain.from_iterable(key.names for key in KEYS):
        assert read_key(shown_key(name)) == name.replace("ctrl+@", "ctrl+space")


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("Return", "enter"),
        ("⏎", "enter"),
        ("ESC", "escape"),
        ("PgDn", "pagedown"),
        ("page_up", "pageup"),
        ("bksp", "backspace"),
        ("^r", "ctrl+r"),
        ("^R", "ctrl+r"),
        ("Ctrl+R", "ctrl+r"),
        ("C-r", "ctrl+r"),
        ("shift-tab", "shift+tab"),
        ("^→", "ctrl+right"),
        ("^]", "ctrl+right_square_bracket"),
        ("^space", "ctrl+space"),
        ("^", "circumflex_accent"),
        ("+", "plus"),
        ("⇧⇥", "shift+tab"),
        ("shift+y", "Y"),
        ("shift+left", "shift+left"),
        ("alt+x", "alt+x"),
        ("M-x", "alt+x"),
        ("F5", "f5"),
    ],
)
def test_a_key_may_be_written_in_several_ways(written: str, key: str) -> None:
    assert read_key(written) == key
    assert key in SENT or is_typed(key) or key in ("ctrl+space", "alt+x")


NOT_SENT = [
    *("ctrl+enter", "ctrl+shift+y", "super+x", "shift+1", "f25", "yy", "ctrl+", "alt+", "«"),
    *("enetr", "latin small letter a"),
]


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("^i", "a terminal sends ^i as tab: write tab"),
        ("ctrl+[", "a terminal sends ctrl+[ as escape: write escape"),
        ("^c", "^c always ends the program"),
        ("ctrl+q", "ctrl+q always ends the program"),
        ("^\\", "^\\ always opens the commands"),
        *((key, f"{key} is not a key that every terminal sends") for key in NOT_SENT),
    ],
)
def test_other_keys_are_refused(written: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as caught:
        read_key(written)
    assert str(caught.value) == sentence


def test_no_letter_is_a_key_where_letters_are_typed() -> None:
    typed_in = [key for key in KEYS if key.where in TYPED_IN]
    assert not [key.name for key in typed_in if any(map(is_typed, key.names))]

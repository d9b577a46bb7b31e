"""The one table of signs, and what replaces each in a terminal without UTF-8.

Widgets and texts use the signs as they are. What is written to such a terminal is translated on
its way out, cell by cell, so that no layout changes. Text from outside that has other letters is
written as it is.
"""

from __future__ import annotations

_PAIRS = {
    # What is left out, as a pattern would say it: `*/spack.lock` even is one.
    "…": "*",
    "·": "-",
    "×": "x",
    "≠": "#",
    "✓✔": "y",
    "✗✘": "n",
    "▲△": "!",
    "●◉": "@",
    "○◌": "o",
    "◆": "&",
    "◇": "%",
    "▸▶›→»": ">",
    "◂◀‹←«⌫": "<",
    "▾▼↓": "v",
    "▴↑⇧": "^",
    "⏎↵": "$",
    "⇥": ">",
    "█▉▊▋▌▇▆▅▀▄▐": "#",
    "▏▎▍": "-",
    "░▒▓": ":",
    "▁▂▃": "_",
    "▔": "-",
    "─━╌╍┄┅┈┉═╴╶–": "-",
    "’": "'",
    "│┃╎╏┆┇┊┋║▕": "|",
    "┌┐└┘├┤┬┴┼╭╮╰╯╞╡╪╔╗╚╝╠╣╦╩╬": "+",
    "\N{NO-BREAK SPACE}": " ",
    # How control characters are shown.
    "".join(map(chr, range(0x2400, 0x2427))): "?",
}

SIGNS = {ord(sign): letter for signs, letter in _PAIRS.items() for sign in signs}
"""The letter for each sign, as `str.translate` takes them."""

_KEY_NAMES = {
    "⇧": "shift-", "⏎": "enter", "⌫": "bksp", "⇥": "tab",
    "←": "left", "→": "right", "↑": "up", "↓": "down",
}  # fmt: skip


def in_ascii(text: str) -> str:
    """Replace signs by letters, each of one cell.

    >>> in_ascii("▸ ×9  hdf5 · build…")
    '> x9  hdf5 - build*'
    """
    return text.translate(SIGNS)


def key_word(shown: str) -> str:
    """Return the name of a key for a terminal without UTF-8.

    >>> key_word("⇧⇥")
    'shift-tab'
    """
    for sign, name in _KEY_NAMES.items():
        shown = shown.replace(sign, name)
    return shown

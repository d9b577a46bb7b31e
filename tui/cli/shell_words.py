"""Split a command line at the cursor into words as a shell does, and quote what is inserted."""

from __future__ import annotations

import re

from spackscope.model.core.frozen import Frozen

_BLANKS = " \t\n"
_SEPARATORS = "|&;()"
_REDIRECTIONS = "<>"
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_IN_DOUBLE_QUOTES = '$`"\\'
_SPECIAL = re.compile(r"""[\s\\'"$`&|;<>()*?\[\]{}#!~]""")
_COMMAND = re.compile(r"(?:[^\\]|\\.)*?(?:`|\$\()", re.DOTALL)
"""A command whose output a shell puts into double quotes."""
_DOLLAR_AT_END = re.compile(r"(?<!\\)(?:\\\\)*\$$")
_KEPT = "@$"
"""Word breaks that are part of the word after them: rl_special_prefixes of bash."""

WORD_BREAKS = " \t\n\"'@><=;|&(:"
"""What readline ends words at, unless COMP_WORDBREAKS says otherwise."""


class ShellWords(Frozen):
    """The words of a command line before the cursor, without quotes.

    `before` are those after the name of the program, and `current` is the one at the cursor,
    empty after a blank. `quote` is the quote that is open there. `replaced` is the text, as it is
    typed, in place of which a shell inserts a completion; in bash it is less than the word after a
    word break. `is_redirection` where the word is the target of one, and `is_command` where a
    command is typed in the quotes, whose words are not known.
    """

    before: tuple[str, ...]
    current: str
    quote: str = ""
    replaced: str = ""
    is_redirection: bool = False
    is_command: bool = False

    def insertion(self, text: str) -> str:
        """Return what bash inserts in place of `replaced` for a text that begins with the word."""
        rest = text[len(self.current) :]
        if self.quote == '"' and rest.startswith("(") and _DOLLAR_AT_END.search(self.replaced):
            # Bash would run a name that begins with $( as a command.
            return f"{self.replaced[:-1]}\\${_quoted(rest, self.quote)}"
        return self.replaced + _quoted(rest, self.quote)


def split_line(line: str, breaks: str = WORD_BREAKS) -> ShellWords:
    """Split a command line of bash that ends at the cursor; `breaks` are its word breaks.

    Only the last command of the line counts, without assignments before it.

        split_line("spackscope find 'hdf5 os=ub").current  # hdf5 os=ub
    """
    return _Line(line, breaks).split()


def unquoted(word: str) -> tuple[str, str]:
    """Return a word without its quotes, and the quote that is open at its end, if any."""
    words = split_line(f"program {word}")
    return words.current, words.quote


def _quoted(text: str, quote: str) -> str:
    """Return a text as it is typed in bash inside a quote, or without one."""
    if quote == "'":
        return text.replace("'", "'\\''")
    if quote == '"':
        return "".join(f"\\{c}" if c in _IN_DOUBLE_QUOTES else c for c in text)
    return _SPECIAL.sub(r"\\\g<0>", text)


class _Line:
    """The split of one line, character by character."""

    def __init__(self, line: str, breaks: str) -> None:
        self._line, self._breaks = line, breaks
        self._words: list[str] = []
        self._word: list[str] = []
        self._is_begun = self._is_redirection = False
        self._quote = ""
        self._cut = self._cut_before = self._opened = 0

    def split(self) -> ShellWords:
        """Return the words."""
        position, line = 0, self._line
        while position < len(line):
            position = self._in_quote(position) if self._quote else self._plain(position)
        words = self._words
        while words and _ASSIGNMENT.fullmatch(words[0]):
            words.pop(0)
        return ShellWords(
            tuple(words[1:]),
            "".join(self._word),
            self._quote,
            line[self._cut :],
            self._is_redirection,
            self._quote == '"' and _COMMAND.match(line, self._opened) is not None,
        )

    def _in_quote(self, position: int) -> int:
        """Read a character in quotes; return the position after it."""
        character, following = self._line[position], self._line[position + 1 : position + 2]
        if character == self._quote:
            # What readline ends words at does not count in quotes, nor do the quotes.
            self._quote, self._cut = "", self._cut_before
        elif character == "\\" and self._quote == '"' and following in _IN_DOUBLE_QUOTES:
            self._word.append(following)
            return position + 2
        else:
            self._word.append(character)
        return position + 1

    def _plain(self, position: int) -> int:
        """Read a character outside quotes; return the position after it."""
        character = self._line[position]
        if character == "\\":
            following = self._line[position + 1 : position + 2]
            if following != "\n":
                self._word.append(following)
                self._is_begun = True
            return position + 2
        if character in _BLANKS or character in _SEPARATORS or character in _REDIRECTIONS:
            self._end_word(character)
        elif character in "'\"":
            self._quote, self._is_begun, self._cut_before = character, True, self._cut
            self._opened = position + 1
        else:
            self._word.append(character)
            self._is_begun = True
        is_new = character in _BLANKS or character in _SEPARATORS or character in _REDIRECTIONS
        if is_new or character in self._breaks or self._quote:
            self._cut = position + (character not in _KEPT)
        return position + 1

    def _end_word(self, separator: str) -> None:
        """End a word at a blank, a redirection, or the end of a command."""
        is_descriptor = separator in _REDIRECTIONS and "".join(self._word).isdecimal()
        if self._is_begun and not (self._is_redirection or is_descriptor):
            self._words.append("".join(self._word))
        if self._is_begun or separator not in _BLANKS:
            self._is_redirection = separator in _REDIRECTIONS
        self._word, self._is_begun = [], False
        if separator in _SEPARATORS:
            self._words = []

"""Split command lines of bash into words, and quote texts; zsh and fish read them alike."""

from __future__ import annotations

import re

from spackscope.tui.cli.command_table import COMMANDS

_PIECE = r"""[^ \t\n\\'"<>]|\\(.?)|'([^']*)('?)|"((?:[^"\\]|\\.?)*)("?)"""
"""A character of a word of bash, or a quoted part of it; only the last quote may be open."""
_TOKEN = rf"(?s)([0-9]*[<>]+)|(?:{_PIECE})+"
"""A redirection or a word of a command of bash."""
_BLANKS = r"(?:[ \t]|\\\n)*"
_CONSTRAINT = r"[+~%^@/]|[\w.-]+:?="
"""The beginning of a word that belongs to the spec before it."""


def split_line(line: str) -> tuple[list[str], str, str, bool]:
    """Split a command of bash, which ends at the cursor, into words without quotes.

    Return the words between the program and the word at the cursor; this word, which is empty
    after a blank; the quote that is open in it; and whether it is the target of a redirection.

        split_line("spackscope find 'hdf5 os=ub")  # ["find"], "hdf5 os=ub", "'", False
    """
    tokens = [*re.finditer(_TOKEN, line)]
    is_typed = bool(tokens) and tokens[-1].end() == len(line) and not tokens[-1][1]
    typed = tokens.pop()[0] if is_typed else ""
    words, is_target = [], False
    for token in tokens:
        words += [] if token[1] or is_target else [_without_quotes(token[0])]
        is_target = bool(token[1])
    quote = ""
    for piece in re.finditer(f"(?s){_PIECE}", typed):
        is_open = (piece[2] is not None and not piece[3]) or (
            piece[4] is not None and not piece[5]
        )
        quote = piece[0][0] if is_open else ""
    return words[1:], _without_quotes(typed), quote, is_target


def split_spec(line: str) -> tuple[str, list[str], str]:
    """Split a command of bash, which ends at the cursor, into the text before a spec and the spec.

    Return the text, the words of the spec without quotes, and the quote that is open. There is no
    spec after a blank, an option, a redirection or a command of Spack or spackscope.

        split_spec("spack install hdf5 '+mpi ^z")  # "spack install ", ["hdf5", "+mpi ^z"], "'"
    """
    *_, quote, is_target = split_line(line)
    tokens = [] if is_target else [*re.finditer(_TOKEN, line)]
    start, words = len(line), list[str]()
    while tokens and re.fullmatch(_BLANKS if words else "", line[tokens[-1].end() : start]):
        token = tokens.pop()
        word = _without_quotes(token[0])
        is_name = not re.match(_CONSTRAINT, word)
        is_command = word in COMMANDS or line[: token.start()].rstrip().endswith("spack")
        is_other = (is_name and is_command) or ("/" in word and "/" in "".join(words))
        if token[1] or is_other or word.startswith("-"):
            break
        start, words = token.start(), [word, *words]
        if is_name and word:
            break
    return line[:start], words, quote


def _without_quotes(word: str) -> str:
    def bare(piece: re.Match[str]) -> str:
        escaped, single, _, double, _ = piece.groups()
        if escaped == "\n":
            return ""
        if double is not None:
            return re.sub(r'\\([$`"\\]|\Z)', r"\1", double)
        return next((text for text in (escaped, single) if text is not None), piece[0])

    return re.sub(f"(?s){_PIECE}", bare, word)


def shell_quoted(text: str, quote: str) -> str:
    """Return a text as it is typed in bash, zsh and fish inside a quote, or without one."""
    if quote == "'":
        # In fish a backslash escapes the quote.
        return re.sub(r"['\\]", r"'\\\g<0>'", text)
    special = r'[$`"\\]' if quote else r"""[\s\\'"$`&|;<>()*?\[\]{}#!~]"""
    escaped = re.sub(special, r"\\\g<0>", text)
    # In double quotes bash looks for an earlier command after an exclamation mark.
    return escaped.replace("!", "\"'!'\"") if quote else escaped

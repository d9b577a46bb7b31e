"""The command `complete`, which completion scripts call: print what a word can become.

It is called as one of these, with an empty word after a blank:

    spackscope complete bash -- 'spackscope find hdf5 os=ub' "$COMP_WORDBREAKS"
    spackscope complete zsh -- find hdf5 os=ub
    spackscope complete fish -- find hdf5 os=ub

The first line is `spackscope`, and `files` where paths fit too, which zsh lists by itself, and
`nospace` where more has to follow. Then each line has one choice: for bash the text to insert; for
zsh `+`, or `-` where more has to follow, the word, a tab and a note; for fish the same without
the sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spackscope.model.assist.answers import Choice
from spackscope.tui.cli.arguments import Options
from spackscope.tui.cli.completion import Answer, Place, answer, find_place, paths_from
from spackscope.tui.cli.shell_words import SHELLS, WORD_BREAKS, split_line, unquoted
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Print the choices for a shell. Raises Leave where the command line is none of the above."""
    shell, *words = options.words or ("",)
    if shell not in SHELLS or not words:
        sentence = "complete is for completion scripts; a package of this name comes after --"
        raise Leave(ExitCode.USAGE, f"{sentence}; see `spackscope completion --help`")
    if shell == "bash":
        lines = _for_bash(words[0], words[1] if len(words) > 1 else WORD_BREAKS, environ)
    else:
        lines = _for_words(shell, words[:-1], words[-1], environ)
    stdio.print_line("\n".join(lines))
    return ExitCode.FOUND


def _for_bash(line: str, breaks: str, environ: Mapping[str, str]) -> list[str]:
    words = split_line(line, breaks)
    if words.is_command:
        return [_first_line(with_files=False, nospace=True)]
    place = find_place(words.before, words.current)
    found = Answer(with_files=True)
    if not words.is_redirection:
        found = answer(place, environ)
    choices = [*found.choices, *(_paths(place, environ) if found.with_files else ())]
    if words.quote and len(choices) == 1 and not choices[0].is_whole:
        # Bash would close the quote after the only choice.
        choices.append(Choice(f"{choices[0].text} ", "", False))
    first = _first_line(with_files=False, nospace=not all(choice.is_whole for choice in choices))
    return [first, *(words.insertion(choice.text) for choice in choices)]


def _for_words(
    shell: str, before: Sequence[str], current: str, environ: Mapping[str, str]
) -> list[str]:
    if shell == "fish":
        current, _ = unquoted(current)
    place = find_place(before, current)
    found = answer(place, environ)
    first = _first_line(with_files=found.with_files, nospace=False)
    if shell == "zsh":
        signs = {True: "+", False: "-"}
        return [first, *(f"{signs[c.is_whole]}{c.text}\t{c.note}" for c in found.choices)]
    choices = [*found.choices, *(_paths(place, environ) if found.with_files else ())]
    return [first, *(f"{choice.text}\t{choice.note}" for choice in choices)]


def _paths(place: Place, environ: Mapping[str, str]) -> list[Choice]:
    """Return the paths that the word of a place can become, with what is before them."""
    paths = paths_from(place.text, environ)
    return [Choice(place.head + path.text, path.note, path.is_whole) for path in paths]


def _first_line(*, with_files: bool, nospace: bool) -> str:
    return "spackscope" + " files" * with_files + " nospace" * nospace

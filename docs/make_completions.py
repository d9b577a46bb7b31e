"""Write the completion scripts of the shells from the tables of commands and options.

shtab writes what is known beforehand: commands, options and their descriptions. The functions in
docs/completion/ ask the program for everything else. The scripts are kept in the repository, so
that neither a build nor a user needs shtab. docs/make_docs.py runs it, too.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser
from pathlib import Path

import shtab

from spackscope.tui.cli.arguments import options_of
from spackscope.tui.cli.completion.places import words_of
from spackscope.tui.cli.completion.shells import SHELLS
from spackscope.tui.cli.help import BROWSE, HELP
from spackscope.tui.cli.option_help import command_sentences, option_help

ROOT = Path(__file__).parent.parent
SCRIPTS = ROOT / "tui" / "cli" / "completion" / "scripts"
PROGRAM = "spackscope"

_DYNAMIC = {"bash": "", "zsh": " ", "fish": "(_spackscope_words)"}
_BEGIN = re.compile(r"# AUTOMATICALLY GENERATED.*?\n\n", re.DOTALL)
_HEAD = "# Made by docs/make_completions.py with shtab, https://github.com/tqdm/shtab\n\n"
_ZSH_END = re.compile(r"typeset -A opt_args\n.*", re.DOTALL)
_ZSH_START = """\
if [[ $zsh_eval_context[-1] == eval ]]; then
  compdef _spackscope spackscope
else
  _spackscope "$@"
fi
"""
_BASH_HELPERS = ("_set_parser_defaults", "_set_new_action", "_shtab_replace_nonword")
_BASH_END = f"\ncomplete -o bashdefault -F _shtab_{PROGRAM} {PROGRAM}"


def parser(shell: str) -> ArgumentParser:
    """Return a parser with the commands and options of the program, for shtab to read."""
    top = ArgumentParser(PROGRAM, add_help=False)
    _add_options(top, BROWSE)
    commands = top.add_subparsers()
    for name, sentence in command_sentences().items():
        command = commands.add_parser(name, help=sentence, description=sentence, add_help=False)
        if name != HELP:
            _add_options(command, name)
        # The functions of bash and zsh ask for words before those of shtab.
        if shell == "fish" and words_of(name):
            command.add_argument("words", nargs="*", help=words_of(name)).complete = _DYNAMIC  # type: ignore[attr-defined]
    return top


def _add_options(parser: ArgumentParser, command: str) -> None:
    """Add the options of a command."""
    kinds = {name: option.kind for option in options_of(command) for name in option.names}
    actions = {"value": "store", "values": "append"}
    for option in option_help(command):
        sentence = _short(option.sentence).replace("%", "%%")
        if action := actions.get(kinds[option.names[0]]):
            argument = parser.add_argument(
                *option.names, action=action, metavar=option.metavar, help=sentence
            )
            argument.complete = _DYNAMIC  # type: ignore[attr-defined]
        else:
            parser.add_argument(*option.names, action="store_true", help=sentence)


def _short(sentence: str) -> str:
    """Return the first clause of a description, which fits beside a word in a list."""
    return re.split(r"[;:(]|\. | Default", sentence)[0].strip()


def script(shell: str) -> str:
    """Return the script of a shell: what shtab writes, and the functions that ask the program."""
    made = _BEGIN.sub(_HEAD, shtab.complete(parser(shell), shell=shell), count=1)
    own = (ROOT / "docs" / "completion" / f"{PROGRAM}.{shell}").read_text("utf-8")
    if shell == "bash":
        made = made.removesuffix(_BASH_END)
        # Other programs with a script by another version of shtab have functions of these names.
        for name in _BASH_HELPERS:
            made = re.sub(rf"\b{name}\b", f"_{PROGRAM}{name}", made)
        made += own
    elif shell == "zsh":
        made = _ZSH_END.sub("", made) + own.lstrip("\n") + "\n" + _ZSH_START
    else:
        condition = f"_shtab_{PROGRAM}_using"
        made += own
        made += f"\ncomplete -c {PROGRAM} -n {condition} -ka '(_spackscope_words)'\n"
    return re.sub(r"[ \t]+\n", "\n", re.sub(r"\n{3,}", "\n\n", made)).rstrip("\n") + "\n"


def main() -> None:
    """Write the scripts."""
    SCRIPTS.mkdir(exist_ok=True)
    for shell, name in SHELLS.items():
        (SCRIPTS / name).write_text(script(shell), encoding="utf-8")


if __name__ == "__main__":
    main()

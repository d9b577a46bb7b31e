"""The command `completion`: print the script that completes command lines in a shell."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from spackscope.model.core.commands import HELP_OPTION, PROGRAM, Command, flag
from spackscope.model.core.suggestions import did_you_mean, enumerated
from spackscope.tui.cli.arguments import Options
from spackscope.tui.process import ExitCode, Leave, stdio

COMMAND = Command(
    "completion",
    "print the completion script of bash, zsh or fish",
    ("[--widget] (bash | zsh | fish)",),
    """\
Print the script that completes the command line in a shell: commands, options,
sources, files, and the words of a query from the index of the sources. It
reads and downloads nothing else: for a source that you never opened, it
completes only the keys of the language.

In ~/.bashrc, where no package has installed the script:
  eval "$(spackscope completion bash)"
In ~/.zshrc, after compinit:
  eval "$(spackscope completion zsh)"
Once, for fish:
  spackscope completion fish > ~/.config/fish/completions/spackscope.fish

With --widget, also bind Alt-I: for the spec before the cursor, it opens the
browser as `spackscope pick` does, and the choice takes its place: hdf5
becomes hdf5/HASH. SPACKSCOPE_KEY names another key as the shell writes it, and
SPACKSCOPE_KEY_FORMAT another form, such as '/{hash}'. Where your shell starts:
  eval "$(spackscope completion bash --widget)"
  SPACKSCOPE_KEY='^Xi'; eval "$(spackscope completion zsh --widget)"
  spackscope completion fish --widget | source""",
    (flag("widget", "also bind a key that puts a choice into the line"), HELP_OPTION),
    words="shell",
    reads_sources=False,
    codes={0: "done"},
    examples="spackscope completion zsh > ~/.zfunc/_spackscope",
    group=PROGRAM,
)


SHELLS = {"bash": "spackscope", "zsh": "_spackscope", "fish": "spackscope.fish"}
"""The shells, each with its script in the folder `scripts`, named as the shell looks for it."""


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Print the script of the shell that is named. Raises Leave."""
    if len(options.words) != 1 or options.words[0] not in SHELLS:
        named = " ".join(options.words)
        hint = f": {named}{did_you_mean(named, SHELLS)}" if named else ""
        sentence = f"completion needs one shell, {enumerated([*SHELLS], 'or')}{hint}"
        raise Leave(ExitCode.USAGE, f"{sentence}; see `spackscope completion --help`")
    (shell,) = options.words
    names = [SHELLS[shell], *[f"widget.{shell}"] * options.given.get("widget", False)]
    # In spackscope.pyz they are members of the archive.
    folder = files("spackscope.tui.cli") / "scripts"
    scripts = ((folder / name).read_text("utf-8") for name in names)
    stdio.print_line("".join(scripts).rstrip("\n"))
    return ExitCode.FOUND

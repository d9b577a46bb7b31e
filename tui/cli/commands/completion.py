"""The command `completion`: print the script that completes command lines in a shell."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from spackscope.model.core.suggestions import did_you_mean, listed
from spackscope.tui.cli.arguments import Options
from spackscope.tui.process import ExitCode, Leave, stdio

SHELLS = {"bash": "spackscope", "zsh": "_spackscope", "fish": "spackscope.fish"}
"""The shells, each with its script in the folder `scripts`, named as the shell looks for it."""


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Print the script of the shell that is named. Raises Leave."""
    if len(options.words) != 1 or options.words[0] not in SHELLS:
        named = " ".join(options.words)
        hint = f": {named}{did_you_mean(named, SHELLS)}" if named else ""
        sentence = f"completion needs one shell, {listed([*SHELLS], 'or')}{hint}"
        raise Leave(ExitCode.USAGE, f"{sentence}; see `spackscope completion --help`")
    (shell,) = options.words
    names = [SHELLS[shell], *[f"widget.{shell}"] * options.given.get("widget", False)]
    # In spackscope.pyz they are members of the archive.
    folder = files("spackscope.tui.cli") / "scripts"
    scripts = ((folder / name).read_text("utf-8") for name in names)
    stdio.print_line("".join(scripts).rstrip("\n"))
    return ExitCode.FOUND

"""The shells that have a completion script, which docs/make_completions.py writes."""

from __future__ import annotations

SHELLS = {"bash": "spackscope", "zsh": "_spackscope", "fish": "spackscope.fish"}
"""The shells, each with its script in the folder `scripts`, named as the shell looks for it."""


def script(shell: str) -> str:
    """Return the completion script of a shell."""
    # Only who prints a script needs it.
    from importlib.resources import files

    name = SHELLS[shell]
    return (
        files("spackscope.tui.cli.completion")
        .joinpath("scripts")
        .joinpath(name)
        .read_text("utf-8")
    )

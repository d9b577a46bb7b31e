"""Measure the commands that print, as whole processes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from benchmarks.measurements import MILLISECONDS, Figures, alternate
from benchmarks.processes import SPACKSCOPE, seconds_of
from spackscope.model.core.records import Spec

_PASS = (sys.executable, "-c", "pass")
_WALK = """
import os, sys
def walk(top):
    with os.scandir(top) as entries:
        for entry in entries:
            if entry.is_dir():
                walk(entry.path)
            else:
                os.stat(entry.path)
walk(sys.argv[1])
"""
_WORD = "ubuntu22.04"


def measure(
    figures: Figures, source: str, spec: Spec, environ: Mapping[str, str], pairs: int
) -> None:
    """Compare commands on an index that is up to date with an empty program of Python."""
    tab = ["complete", "zsh", "--", "find", "-f", source]
    commands = {
        "`--version`": ["--version"],
        "`find` of a package": ["find", "-f", source, spec.package],
        "`show` of a hash": ["show", "-f", source, f"/{spec.hash}"],
        "`⇥` in a shell, after letters of a package": [*tab, spec.package[:3]],
        "`⇥` in a shell, after `PACKAGE os=`": [*tab, spec.package, "os="],
    }
    for name, words in commands.items():
        measured = alternate(
            partial(seconds_of, [SPACKSCOPE, *words], environ),
            lambda: seconds_of(_PASS, environ),
            pairs,
        )
        figures.add(name, "`python -c pass`", measured, MILLISECONDS)
    walked = alternate(
        lambda: seconds_of([SPACKSCOPE, "show", "-f", source, f"/{spec.hash}"], environ),
        lambda: seconds_of([sys.executable, "-c", _WALK, source], environ),
        pairs,
    )
    figures.add(
        "`show`, with the check of all files", "walk and `stat` them", walked, MILLISECONDS
    )


def measure_peers(
    figures: Figures, source: str, lines: Path, environ: Mapping[str, str], pairs: int
) -> None:
    """Compare a search of all columns with programs that search lines of text, if installed."""
    peers = {
        "rg": ["rg", "--fixed-strings", _WORD, str(lines)],
        "fzf": ["sh", "-c", f'fzf --filter {_WORD} <"$1"', "sh", str(lines)],
    }
    for name, arguments in peers.items():
        if shutil.which(name) is None:
            print(f"{name} is not installed: not compared")
            continue
        measured = alternate(
            lambda: seconds_of(
                [SPACKSCOPE, "find", "-f", source, "--hashes", f"os={_WORD}"], environ
            ),
            partial(seconds_of, arguments, environ),
            pairs,
        )
        figures.add(
            "`find --hashes` of an os", f"`{name}` on one line a spec", measured, MILLISECONDS
        )

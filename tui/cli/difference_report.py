"""Lay out how two specs differ, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from spackscope.model.analysis.compare import Comparison
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.records import Spec
from spackscope.model.core.text import clean, counted
from spackscope.model.report.detail import DIFFERS
from spackscope.model.report.differences import (
    DifferenceLine,
    build_only_count,
    build_only_text,
    cause_lines,
    difference_lines,
    path_text,
    shown_path,
    unexplained_text,
)
from spackscope.tui.cli import table
from spackscope.tui.cli.colours import Colours

MAX_LINES = 200
"""Lines of each part of a report, and causes with `--all`."""

_SAME = "both run the same"
_INDENT = "  "


def spec_lines(specs: Sequence[Spec], colours: Colours) -> Iterator[str]:
    """Yield a line for each spec, with its short hash first."""
    hashes = [spec.hash[:SHORT_HASH] for spec in specs]
    for short, line in zip(hashes, table.candidates(specs, SHORT_HASH), strict=True):
        yield colours.link(short) + line.removeprefix(short)


def pair_lines(
    comparison: Comparison, *, same: bool | None, shows_build: bool, colours: Colours
) -> Iterator[str]:
    """Yield how two specs differ; what only builds them is counted, or listed if nothing else is.

    `same` is whether both are of one run-time kind, None if that is not told.
    """
    lines = difference_lines(comparison)
    run = [line for line in lines if line.runs]
    build = [line for line in lines if not line.runs]
    if same:
        yield colours.bold(_SAME if run or not build else f"build tools only: {_SAME}")
    if run:
        if comparison.lists_dependencies:
            yield colours.bold("linked or run")
        yield from _bounded(run, colours)
    if build and not run and same:
        yield from _bounded(build, colours)
    elif build and (shows_build or not run):
        yield colours.bold("to build only")
        yield from _bounded(build, colours)
    elif build:
        it = "it" if build_only_count(build) == 1 else "them"
        yield f"{build_only_text(build)}; --build shows {it}"
    elif not run:
        yield "Nothing that is listed differs"
    if unexplained := unexplained_text(comparison):
        yield unexplained


def all_lines(comparison: Comparison, colours: Colours) -> Iterator[str]:
    """Yield all causes with all their differences, also those that follow from others."""
    for cause in islice(comparison.causes, MAX_LINES):
        above = cause.above - 1
        parts = [
            f"through {path_text(path)}" if len(path := shown_path(cause)) > 1 else "",
            "" if not cause.path else "linked or run" if cause.run else "to build only",
            f"{counted(above, 'differing package')} above" if above else "",
            f"follows {clean(cause.follows)}" if cause.follows else "",
        ]
        notes = " · ".join(part for part in parts if part)
        yield f"{colours.bold(clean(cause.package))}  {colours.dim(notes)}".rstrip()
        yield from _bounded(cause_lines(cause), colours)
    if len(comparison.causes) > MAX_LINES:
        yield f"and {counted(len(comparison.causes) - MAX_LINES, 'more package')}"
    if unexplained := unexplained_text(comparison):
        yield unexplained


def _bounded(lines: Sequence[DifferenceLine], colours: Colours) -> Iterator[str]:
    for line in lines[:MAX_LINES]:
        subject = f"{line.subject} " if line.subject else ""
        values = f"{colours.differs(line.a)} {DIFFERS} {colours.differs(line.b)}"
        where = colours.dim(line.lead + line.where) if line.where else ""
        yield f"{_INDENT}{subject}{values}{where}"
    if len(lines) > MAX_LINES:
        yield f"{_INDENT}and {counted(len(lines) - MAX_LINES, 'more line')}"

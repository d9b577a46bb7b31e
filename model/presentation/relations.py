"""Describe how a spec relates to others: the difference to a look-alike, needs and users."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from spackscope.model.core.cells import SHORT_HASH
from spackscope.model.core.text import cell_width, clean
from spackscope.model.presentation.detail import DetailLine

# The browser shows lines that are still to be read before it imports what reads them.
if TYPE_CHECKING:
    from spackscope.model.analysis.differences.differences import Comparison
    from spackscope.model.analysis.environments.needs import Needs
    from spackscope.model.presentation.differences import DifferenceLine

FITS, NEXT_TO, NEEDS, USED_BY = "fits", "next to", "needs to run", "used by"
"""The labels of the lines."""

_WIDTH = 76
"""Cells of a line, which are one row of a wide pane and few of a narrow one."""
_MAX_DIFFERENCES = 2
_GAP = "  "

Name = tuple[str, str]
"""A package and its version."""


def pending_lines(labels: Iterable[str]) -> list[DetailLine]:
    """Return lines that are still to be read, so that what comes after them moves little."""
    return [DetailLine("…", label) for label in labels]


def difference_line(hash_: str, comparison: Comparison, *, runs_the_same: bool) -> DetailLine:
    """Describe how a spec differs from a look-alike, whose hash is `hash_`."""
    from spackscope.model.presentation.differences import difference_lines, unexplained_text

    lines = difference_lines(comparison)
    running = [line for line in lines if line.runs]
    building = [line for line in lines if not line.runs]
    parts = [
        _joined(running, _MAX_DIFFERENCES),
        "runs the same" if runs_the_same else "",
        _joined(building, 1 if running else _MAX_DIFFERENCES, "build only: "),
        unexplained_text(comparison),
    ]
    if not lines and not comparison.lists_dependencies:
        return DetailLine(unexplained_text(comparison), NEXT_TO)
    text = " · ".join(part for part in parts if part) or "no difference is known"
    return DetailLine(f"{clean(hash_)[:SHORT_HASH]}{_GAP}{text}", NEXT_TO)


def _joined(lines: Sequence[DifferenceLine], most: int, label: str = "") -> str:
    """Return the first differences in short, and how many more there are."""
    if not lines:
        return ""
    texts = [_short(line) for line in lines[:most]]
    more = len(lines) - len(texts)
    return label + ", ".join(texts) + (f" and {more:,} more" if more else "")


def _short(line: DifferenceLine) -> str:
    """Return a difference with its path in brackets, so that several can follow each other."""
    what = " ".join(part for part in (line.subject, line.a, "≠", line.b) if part)
    return f"{what} ({line.where.removeprefix('through ')})" if line.where else what


def needs_detail(needs: Needs) -> DetailLine:
    """Name what a spec links or runs, as far as there is room."""
    from spackscope.model.presentation.needs import needs_cell

    return DetailLine(needs_cell(needs, _WIDTH), NEEDS)


def used_by_line(users: Sequence[Name], total: int) -> DetailLine:
    """Name some of the specs that use one, as far as there is room, and count them."""
    texts: list[str] = []
    for package, version in users:
        name = clean(f"{package}@{version}" if version else package)
        if cell_width(_GAP.join([*texts, name, f"{total:,} in all"])) > _WIDTH and texts:
            break
        texts.append(name)
    if not texts:
        return DetailLine("nothing here", USED_BY)
    rest = f"{total:,} in all" if total > len(texts) else ""
    return DetailLine(_GAP.join(filter(None, [*texts, rest])), USED_BY)

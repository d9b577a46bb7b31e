"""The steps to go back and forward through: what was shown, and where the cursor was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.index.rows import Row
from spackscope.model.index.view import View

if TYPE_CHECKING:
    from spackscope.model.index.tree import Tree

MAX_STEPS = 200
MAX_LINES = 50_000
"""Lines of the trees that are kept with the steps; a line takes some 300 bytes."""


class Step(Frozen):
    """A view, its row with the cursor, and the spec in the detail, which may have no row.

    `position` is the line of the detail with the cursor and the one at its top, which are lines of
    the `tree` if it `shows_tree`. `pane` is the pane with the focus. `is_walk` if the step comes
    of a walk through the packages.
    """

    view: View
    row: Row | None = None
    spec: Row | None = None
    position: tuple[int, int] = (0, 0)
    tree: Tree | None = None
    shows_tree: bool = False
    pane: str = "packages"
    is_walk: bool = False


class UndoList:
    """A list of steps, and which of them is shown."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._at = -1

    @property
    def current(self) -> Step | None:
        """The step that is shown; None before the first."""
        return self._steps[self._at] if self._steps else None

    @property
    def can_go_back(self) -> bool:
        """Whether there is a step before the one shown."""
        return self._at > 0

    def push(self, step: Step) -> None:
        """Add a step after the one shown, in place of all that came after it."""
        del self._steps[self._at + 1 :]
        self._steps.append(step)
        del self._steps[:-MAX_STEPS]
        self._at = len(self._steps) - 1
        self._drop_trees()

    def update(self, step: Step) -> None:
        """Replace the step that is shown."""
        if self._steps:
            self._steps[self._at] = step

    def go(self, by: int) -> Step | None:
        """Return the step before the one shown, or after it for 1; None if there is none."""
        if not 0 <= self._at + by < len(self._steps):
            return None
        self._at += by
        return self._steps[self._at]

    def clear(self) -> None:
        """Forget all steps."""
        self._steps.clear()
        self._at = -1

    def _drop_trees(self) -> None:
        """Drop the trees of the oldest steps if all trees together are too large."""
        lines, trees = 0, set()
        for number, step in reversed(list(enumerate(self._steps))):
            if step.tree is None:
                continue
            if id(step.tree) not in trees:
                trees.add(id(step.tree))
                lines += len(step.tree.lines)
            if lines > MAX_LINES:
                self._steps[number] = replace(step, tree=None)

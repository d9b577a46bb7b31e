"""The specs that were jumped to, and the way back through them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spackscope.model.catalog.dependency_tree import Tree
from spackscope.model.catalog.listing import View
from spackscope.model.catalog.rows import Row

MOST_PLACES = 200
"""Places that are kept."""
MOST_LINES = 50_000
"""Lines of the unfolded trees that are kept with the places; a line takes some 300 bytes."""


@dataclass(frozen=True, slots=True)
class Place:
    """Hold where the user is: the view, its row with the cursor, and the spec in the detail.

    The spec is that of the row, or one that has no row. `at` is the line of the detail with the
    cursor and the one at its top, `pane` the pane with the focus.
    """

    view: View
    row: Row | None
    spec: Row
    at: tuple[int, int] = (0, 0)
    tree: Tree | None = None
    pane: str = "detail"


class Trail:
    """Keep the places that were left by a jump, and those that going back has left."""

    def __init__(self) -> None:
        self._back: list[Place] = []
        self._forward: list[Place] = []

    @property
    def leads_back(self) -> bool:
        """Whether there is a place to go back to."""
        return bool(self._back)

    def leave(self, place: Place) -> None:
        """Remember a place before a jump; there is nothing to go forward to any more."""
        self._back.append(place)
        del self._back[:-MOST_PLACES]
        self._forward.clear()
        self._fold_oldest()

    def go(self, here: Place, step: int) -> Place | None:
        """Give the place before this one, or after it with a positive step; None at an end."""
        come_from, go_to = self._back, self._forward
        if step > 0:
            come_from, go_to = go_to, come_from
        if not come_from:
            return None
        go_to.append(here)
        return come_from.pop()

    def _fold_oldest(self) -> None:
        """Drop the trees of the oldest places where all of them together are too large."""
        lines = 0
        for number, place in reversed(list(enumerate(self._back))):
            if place.tree is None:
                continue
            lines += len(place.tree.lines)
            if lines > MOST_LINES:
                self._back[number] = replace(place, tree=None)

    @property
    def lines(self) -> int:
        """Count the lines of the trees that are kept."""
        places = [*self._back, *self._forward]
        return sum(len(place.tree.lines) for place in places if place.tree is not None)

    def clear(self) -> None:
        """Forget all places."""
        self._back.clear()
        self._forward.clear()

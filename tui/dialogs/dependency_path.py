"""Show why one spec needs another: the specs on a shortest path between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.catalog.dependency_tree import read_specs
from spackscope.model.core.cells import SHORT_HASH
from spackscope.model.core.text import cell_width, pad
from spackscope.model.presentation.dependency_tree import STATUS_TEXTS, Step, path_steps
from spackscope.tui.dialogs.base import HINT_GAP, Dialog
from spackscope.tui.widgets.virtual_list import Piece, VirtualList

_MAX_NAME_WIDTH = 36


@dataclass(frozen=True, slots=True)
class DependencyPath:
    """The specs on a path, from the dependent one down: their record ids and what is shown."""

    ids: Sequence[int]
    steps: Sequence[Step]


def read_path(catalog: Catalog, edges: Sequence[Edge]) -> DependencyPath:
    """Read what is shown of a path with at least one edge: for a worker thread.

    Raises IndexDamaged.
    """
    ids = [edges[0].parent, *(edge.child for edge in edges)]
    specs = read_specs(catalog, ids)
    return DependencyPath(ids, path_steps(edges, [specs[id_] for id_ in ids]))


class Steps(VirtualList):
    """A list with a line for each spec on the path."""

    BINDINGS = [Binding("enter", "choose", show=False)]

    def __init__(self, steps: Sequence[Step]) -> None:
        super().__init__()
        self._steps = steps
        self._name_width = min(_MAX_NAME_WIDTH, max(cell_width(step.name) for step in steps))

    def on_mount(self) -> None:
        """Show all specs."""
        self.styles.height = len(self._steps)
        self.show(len(self._steps))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the deptypes of the edge that led here, the spec, and what it provides."""
        step = self._steps[row]
        provides = f"provides {step.virtuals}" if step.virtuals else ""
        notes = " · ".join(part for part in (provides, STATUS_TEXTS[step.status]) if part)
        return [
            ("▸ " if row == self.cursor else "  ", "accent"),
            (pad(step.deptypes, 6) + " ", "dim"),
            (pad(step.name, self._name_width), "dim" if step.status else "strong"),
            (f"  {step.hash[:SHORT_HASH]}", "dim"),
            (f"  {notes}", ""),
        ]


class DependencyPathDialog(Dialog[int]):
    """A dialog with a path; its result is the record id of the spec to go to."""

    def __init__(self, path: DependencyPath) -> None:
        super().__init__()
        self._path = path

    def compose(self) -> ComposeResult:
        """Put the specs into a box, and the two ends into its title."""
        steps = self._path.steps
        with Vertical(classes="dialog") as box:
            box.border_title = Content(f"why {steps[0].name} needs {steps[-1].name}")
            box.border_subtitle = Content(HINT_GAP.join(("⏎ go to it", "esc close")))
            yield Steps(steps)

    @on(Steps.Chosen)
    def _choose(self, event: Steps.Chosen) -> None:
        self.dismiss(self._path.ids[event.row])

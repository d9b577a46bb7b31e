"""Show why one spec needs another: the specs on a shortest path between them."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import cell_width, clean, pad
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import Edge
from spackscope.model.index.tree import GraphSpec, read_specs
from spackscope.model.report.detail import STATUS_TEXTS, deptypes_sign, full_name, short_hash
from spackscope.tui.dialogs.base import Dialog
from spackscope.tui.keymap import PATH
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.virtual_list import Lines, VirtualList

_DEPTYPES_WIDTH = len(deptypes_sign(())) + 1
_MAX_NAME_WIDTH = 36


class PathStep(Frozen):
    """One spec on a path: the id of its record, and the edge that led to it, if any."""

    id: int
    spec: GraphSpec
    edge: Edge | None


def read_path(catalog: Catalog, edges: Sequence[Edge]) -> list[PathStep]:
    """Read the specs on a path with at least one edge: for a worker thread."""
    ids = [edges[0].parent, *(edge.child for edge in edges)]
    specs = read_specs(catalog, ids)
    return [PathStep(id_, specs[id_], edge) for id_, edge in zip(ids, (None, *edges), strict=True)]


def path_lines(steps: Sequence[PathStep]) -> list[list[Piece]]:
    """Return a line for each spec: deptypes of the edge, name, hash, and what it provides."""
    width = min(_MAX_NAME_WIDTH, max(cell_width(full_name(step.spec)) for step in steps))
    lines: list[list[Piece]] = []
    for step in steps:
        status = step.spec.status
        deptypes = deptypes_sign(step.edge.deptypes) if step.edge else ""
        virtuals = ", ".join(step.edge.virtuals) if step.edge else ""
        notes = [f"provides {clean(virtuals)}" if virtuals else "", STATUS_TEXTS[status]]
        lines.append(
            [
                (pad(deptypes, _DEPTYPES_WIDTH), "dim"),
                (pad(full_name(step.spec), width), "dim" if status else "strong"),
                (f"  {short_hash(step.spec)}", "dim"),
                (f"  {' · '.join(filter(None, notes))}", ""),
            ]
        )
    return lines


class DependencyPathDialog(Dialog[int]):
    """A dialog with a path; its result is the record id of the spec to go to."""

    PANE = PATH

    def __init__(self, steps: Sequence[PathStep]) -> None:
        super().__init__()
        self.steps = steps

    def compose(self) -> ComposeResult:
        """Show the specs in a box, and the two ends in its title."""
        first, last = (full_name(self.steps[end].spec) for end in (0, -1))
        with Vertical(classes="dialog") as box:
            box.border_title = Content(f"why {first} needs {last}")
            lines = Lines(path_lines(self.steps))
            lines.styles.height = len(self.steps)
            yield lines

    @on(VirtualList.Chosen)
    def _choose(self, event: VirtualList.Chosen) -> None:
        self.dismiss(self.steps[event.row].id)

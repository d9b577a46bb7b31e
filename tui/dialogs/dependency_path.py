"""Show why one spec needs another: the specs on a shortest path between them."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import Edge
from spackscope.model.index.tree import GraphSpec, read_specs
from spackscope.model.report.detail import STATUS_TEXTS, deptypes_sign, full_name, short_hash
from spackscope.model.report.report import Report, Row, Section, styled
from spackscope.tui.dialogs.report import ReportDialog
from spackscope.tui.keymap import PATH, bindings


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


def path_report(steps: Sequence[PathStep]) -> Report:
    """Return a row for each spec, and the two ends as the title."""
    first, last = (full_name(steps[end].spec) for end in (0, -1))
    return Report(f"why {first} needs {last}", [Section("", list(map(_row, steps)), indent="")])


class DependencyPathDialog(ReportDialog[int]):
    """A path, a spec a row; the result is the record id of the spec to go to."""

    PANE = PATH
    BINDINGS = bindings(PATH)
    HAS_SEARCH = False

    def __init__(self, steps: Sequence[PathStep]) -> None:
        super().__init__()
        self.steps = steps
        self.report = path_report(steps)
        self.heading = self.report.title

    def result(self, row: Row) -> int:
        """Return the id of the record."""
        return int(row.key)


def _row(step: PathStep) -> Row:
    """Return the deptypes of the edge, the name, the hash, and what the spec provides."""
    status = step.spec.status
    deptypes = deptypes_sign(step.edge.deptypes) if step.edge else ""
    virtuals = ", ".join(step.edge.virtuals) if step.edge else ""
    notes = [f"provides {clean(virtuals)}" if virtuals else "", STATUS_TEXTS[status]]
    cells = (
        styled(deptypes, "dim"),
        styled(full_name(step.spec), "dim" if status else "bold"),
        styled(short_hash(step.spec), "link"),
        " · ".join(filter(None, notes)),
    )
    return Row(cells, key=str(step.id))

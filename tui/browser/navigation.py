"""Jump along dependencies, and go back and forward through the steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.analysis.dag import dag_of
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.index.catalog import Catalog, Row
from spackscope.model.index.order import View
from spackscope.model.query.ast import Query
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost
from spackscope.tui.browser.details import DetailsController
from spackscope.tui.browser.remembered import QueryRecall
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import SPECS, BrowserState, Details, OpenTable
from spackscope.tui.keymap import shown

if TYPE_CHECKING:
    from spackscope.model.index.tree import TreeNode

MAX_STEPS = 200
MAX_LINES = 50_000
"""Most lines of trees and sheets kept with the steps; a line of a tree takes 300 bytes."""
_MISSING = "this spec is named as a dependency, but is not in this index"


class UndoStep(Frozen):
    """A view, its row with the cursor, and the details of a spec, which may have no row.

    `position` is the line of the detail with the cursor, and the line at its top. `pane` is the
    pane with the focus. `is_walk` if the step comes from a walk through the packages, and
    `is_along_tree` if it is a jump along a tree. `table` is the table that was open.
    """

    view: View
    row: Row | None = None
    details: Details | None = None
    position: tuple[int, int] = (0, 0)
    pane: str = "specs"
    is_walk: bool = False
    is_along_tree: bool = False
    table: OpenTable = SPECS

    def is_of(self, state: BrowserState) -> bool:
        """Check whether a state shows the view, or the sheet, of the step."""
        return self.view == state.view and self.table.asked == state.table.asked


class JumpTarget(NamedTuple):
    """A spec to jump to, and the view that has its row; `drops_query` if it is another query."""

    row: Row
    view: View
    drops_query: bool


class Navigation:
    """Record steps to undo: each settled view, and each spec that was jumped to.

    A query is remembered once its step is complete, which a walk through the packages is at its
    end. `on_sheet` is called when a sheet is shown again, to read it from a newer catalog.
    """

    def __init__(
        self, host: BrowserHost, search: Search, details: DetailsController, recall: QueryRecall
    ) -> None:
        self._host, self._search, self._details, self._recall = host, search, details, recall
        self._steps: list[UndoStep] = []
        self._arriving: UndoStep | None = None
        self.on_sheet: Callable[[], object] = lambda: None
        search.before_change, search.on_catalog = self.leave, self.forget

    @property
    def _current(self) -> UndoStep | None:
        """The step that is shown; None before the first."""
        return self._steps[self._host.state.step] if self._steps else None

    @property
    def came_along_tree(self) -> bool:
        """Whether the spec that is shown was jumped to along a tree."""
        return self._current is not None and self._current.is_along_tree

    def forget(self) -> None:
        """Forget details and marked specs, and all of the steps but their views and sheets.

        Their ids belong to the replaced catalog.
        """
        self._steps = [
            UndoStep(
                step.view.closed(),
                is_walk=step.is_walk,
                is_along_tree=step.is_along_tree,
                table=step.table.unread(),
            )
            for step in self._steps
        ]
        self._arriving = None
        self._details.forget()
        self._host.change(marked=())

    def leave(self) -> None:
        """Record where the user is, before the view changes."""
        state, current = self._host.state, self._current
        is_current = current is not None and current.is_of(state)
        if is_current and state.is_shown and self._arriving is None:
            self._steps[state.step] = self._here()

    def record(self) -> None:
        """Add a step once the rows of another view are shown, and nothing is typed any more.

        A walk through the packages is one step.
        """
        state, current = self._host.state, self._current
        if state.draft is not None or (current is not None and current.is_of(state)):
            return
        if current is None or self._host.where.pane != "packages":
            self._push(UndoStep(state.view, table=state.table))
            self._recall.remember()
        elif current.is_walk and _without_package(current.view) == _without_package(state.view):
            self._steps[state.step] = UndoStep(state.view, is_walk=True)
        else:
            self._push(UndoStep(state.view, is_walk=True))

    def end_walk(self) -> None:
        """End a walk through the packages: the next one is a step of its own."""
        if (current := self._current) is not None and current.is_walk:
            self._steps[self._host.state.step] = replace(current, is_walk=False)
            self._recall.remember()

    def _push(self, step: UndoStep) -> None:
        """Add a step after the one shown, in place of all that came after it.

        Steps beyond MAX_STEPS are dropped, and trees and sheets of old steps beyond MAX_LINES.
        """
        self._steps[self._host.state.step + 1 :] = [step]
        del self._steps[:-MAX_STEPS]
        self._host.change(step=len(self._steps) - 1)
        # Steps share trees.
        lines, trees = 0, set()
        for number, each in reversed(list(enumerate(self._steps))):
            details, table = each.details, each.table
            tree = details.tree if details is not None else None
            if tree is not None and id(tree) not in trees:
                trees.add(id(tree))
                lines += len(tree.lines)
            lines += table.lines
            if lines > MAX_LINES:
                details = details and replace(details, tree=None)
                self._steps[number] = replace(each, details=details, table=table.unread())

    def _here(self) -> UndoStep:
        state, where, current = self._host.state, self._host.where, self._current
        is_walk = current is not None and current.is_walk
        is_along_tree = self.came_along_tree
        table = state.table.changed(cursor=where.sheet_cursor, column=where.column)
        here = where.row, state.details, where.position, where.pane
        return UndoStep(state.view, *here, is_walk, is_along_tree, table)

    def go_to_table(self, table: OpenTable) -> None:
        """Open another table, as a step of its own."""
        self.leave()
        self._push(UndoStep(self._host.state.view, table=table))
        self._host.change(table=table)
        self._host.focus("specs")

    def close_sheet(self) -> None:
        """Show the rows in place of the sheet, before a change that is a step of its own."""
        self.leave()
        self._host.cancel(jobs.SHEET)
        self._host.change(table=SPECS)

    def retrace(self, by: int) -> None:
        """Go back one step for -1, or forward one step for 1."""
        self.leave()
        step = self._host.state.step + by
        if not 0 <= step < len(self._steps):
            self._host.say(f"Nothing to go {'back' if by < 0 else 'forward'} to")
            return
        self._host.change(step=step)
        self._host.say("")
        self._arrive(self._steps[step])

    def _arrive(self, step: UndoStep) -> None:
        """Show a step; the arrival is complete once the rows of the step are shown."""
        self._arriving = step
        # The row of a sheet is where the cursor of the specs is not.
        row = step.row if step.table is SPECS else None
        self._search.show(step.view, rewrite=True, cursor_on=row)
        self._host.change(table=step.table)
        if step.pane not in (self._host.where.pane, "query"):
            self._host.focus(step.pane)
        self.on_sheet()

    def highlight(self, row: Row | None) -> None:
        """Select the spec of the row under the cursor, or restore the details of a step."""
        step, state = self._arriving, self._host.state
        if step is None or not state.is_shown:
            self._details.show(row)
            return
        self._arriving, details = None, step.details
        if row is None or details is None or (step.row is not None and step.row.id != row.id):
            self._details.show(row)
        else:
            self._details.show(
                details.row, details.tree, step.position, shows_tree=details.shows_tree
            )

    def jump_to(self, node: TreeNode) -> None:
        """Jump to the spec of a line of the tree."""
        if node.spec is not None and node.spec.status == "absent":
            self._host.say(_MISSING)
        else:
            self.jump(node.id)

    def jump(self, id_: int | None) -> None:
        """Select a spec, even if package and query exclude it; None stands for an unknown spec."""
        state = self._host.state
        if id_ is None:
            self._host.say("This spec is not in these sources")
            return
        if state.catalog is None or state.details is None:
            return
        if id_ == state.details.row.id and state.table is SPECS:
            self._host.say("This spec is already selected")
            return
        catalog, view = state.catalog, state.view
        self._host.run(
            lambda _: _read_target(catalog, view, id_), self._jumped, jobs.JUMP, of=catalog
        )

    def jump_to_hash(self, hash_: str) -> None:
        """Select the spec with a hash: its id may be another one in a newer catalog."""
        if (catalog := self._host.state.catalog) is None:
            return

        def find(_: object) -> int | None:
            return dag_of(catalog).find([hash_]).get(hash_)

        self._host.run(find, self.jump, jobs.FIND, of=catalog)

    def _jumped(self, target: JumpTarget | None) -> None:
        if target is None:
            self._host.say(_MISSING)
            return
        self.leave()
        here, row, undo = self._here(), target.row, f"{shown('undo')} goes back"
        if not row.is_listed:
            self._host.say(f"dependency-only specs have no row in the table; {undo}")
        elif target.drops_query:
            self._host.say(
                f"the query does not match {row.spec.package}, so it was removed; {undo}"
            )
        else:
            self._host.say("")
        self.close_sheet()
        shows_tree = here.details is not None and here.details.shows_tree
        step = UndoStep(
            target.view,
            row if row.is_listed else here.row,
            Details(row, shows_tree=shows_tree),
            pane="detail",
            is_along_tree=shows_tree,
        )
        self._push(step)
        self._arrive(step)


def _without_package(view: View) -> tuple[object, ...]:
    return view.query.with_package(None), view.sort, view.folded


def _read_target(catalog: Catalog, view: View, id_: int) -> JumpTarget | None:
    """Read a spec, with the view that differs least from the present one and has its row."""
    if catalog.edges.absent_at(id_) is not None:
        return None
    (row,) = catalog.rows([id_])
    if not row.is_listed:
        return JumpTarget(row, view, drops_query=False)
    package = row.spec.package if catalog.selected_package(view.query) is not None else None
    query = view.query.with_package(package) if package is not None else view.query
    drops_query = row.id not in catalog.match(query)
    if drops_query:
        query = Query().with_package(package)
    # Folded it could be one of several look-alikes.
    if view.folded:
        opened, opened_kinds = view.opened | {row.look_alike}, view.opened_kinds | {row.id}
        view = replace(view, opened=opened, opened_kinds=opened_kinds)
    return JumpTarget(row, replace(view, query=query), drops_query)

"""Jump along dependencies, go back and forward through the steps, and explain a dependency."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.core.frozen import replace
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import Row
from spackscope.model.index.view import View
from spackscope.model.query.ast import Query
from spackscope.tui.browser.details import DetailsController
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import Host
from spackscope.tui.browser.undo import Step, UndoList
from spackscope.tui.keymap import shown

if TYPE_CHECKING:
    from spackscope.model.index.tree import Node
    from spackscope.tui.dialogs.dependency_path import PathStep


class Target(NamedTuple):
    """A spec to jump to, and the view that has its row; `drops_query` if it is another query."""

    row: Row
    view: View
    drops_query: bool


class Navigation:
    """Record steps to undo: each settled view, and each spec that was jumped to.

    `on_step` is called when a step is complete, which a walk through the packages is at its end.
    """

    def __init__(self, host: Host, search: Search, details: DetailsController) -> None:
        self._host, self._search, self._details = host, search, details
        self._undo = UndoList()
        self._arriving: Step | None = None
        self.on_step: Callable[[], object] = lambda: None
        search.before_change = self.leave

    def forget(self) -> None:
        """Forget all steps: their ids are those of a catalog that was replaced."""
        self._undo.clear()
        self._host.change(can_go_back=False)
        self._arriving = None
        self._details.forget()

    def look_again(self) -> None:
        """Ask anew what is not in the index: its sources were looked at again."""
        self._details.look_again()

    def leave(self) -> None:
        """Record where the user is, before the view changes."""
        state, current = self._host.state, self._undo.current
        is_current = current is not None and current.view == state.view
        if is_current and state.is_shown and self._arriving is None:
            self._undo.update(self._here())

    def record(self) -> None:
        """Add a step once the rows of another view are shown, and nothing is typed any more.

        A walk through the packages is one step.
        """
        state, current = self._host.state, self._undo.current
        if state.draft is not None or (current is not None and current.view == state.view):
            return
        is_walk = self._host.where.pane == "packages" and current is not None
        if is_walk and current is not None and _is_package_step(current, state.view):
            self._undo.update(Step(state.view, is_walk=True))
        else:
            self._push(Step(state.view, is_walk=is_walk))
        if not is_walk:
            self.on_step()

    def end_walk(self) -> None:
        """End a walk through the packages: the next one is a step of its own."""
        if (current := self._undo.current) is not None and current.is_walk:
            self._undo.update(replace(current, is_walk=False))
            self.on_step()

    def _push(self, step: Step) -> None:
        self._undo.push(step)
        self._host.change(can_go_back=self._undo.can_go_back)

    def _here(self) -> Step:
        state, where, current = self._host.state, self._host.where, self._undo.current
        details = state.details
        return Step(
            state.view,
            where.row,
            state.selected,
            where.position,
            details.tree if details is not None else None,
            details is not None and details.shows_tree,
            where.pane,
            current is not None and current.is_walk,
        )

    def retrace(self, by: int) -> None:
        """Go to the step before this one, or with 1 to the one after it."""
        self.leave()
        step = self._undo.go(by)
        if step is None:
            self._host.say(f"Nothing to go {'back' if by < 0 else 'forward'} to")
            return
        self._host.say("")
        self._host.change(can_go_back=self._undo.can_go_back)
        self._arrive(step)

    def _arrive(self, step: Step) -> None:
        """Show a step; it is there once its rows are."""
        self._arriving = step
        if step.pane not in (self._host.where.pane, "query"):
            self._host.focus(step.pane)
        self._search.show(step.view, rewrite=True, cursor_on=step.row)

    def highlight(self, row: Row | None) -> None:
        """Select the spec of the row under the cursor, or the one that was arrived at."""
        step = self._arriving
        if step is None or not self._host.state.is_shown or row is None:
            self._details.show(row)
            return
        self._arriving = None
        if step.spec is None or (step.row is not None and step.row.id != row.id):
            self._details.show(row)
        else:
            self._details.show(step.spec, step.tree, step.position, shows_tree=step.shows_tree)

    def jump_to(self, node: Node) -> None:
        """Jump to the spec of a line of the tree."""
        if node.spec is not None and node.spec.status == "absent":
            self._host.say("this spec is named as a dependency, but is not in this index")
        else:
            self.jump(node.id)

    def jump(self, id_: int | None) -> None:
        """Select a spec, whatever package and query are in the way; None if there is none."""
        state = self._host.state
        if id_ is None:
            self._host.say("There is no such spec to go to")
            return
        if state.catalog is None or state.details is None:
            return
        if id_ == state.details.row.id:
            self._host.say("this spec is the selected one")
            return
        reading = partial(_read_target, state.catalog, state.view, id_)
        self._host.run(reading, self._jumped, group="jump")

    def jump_to_hash(self, hash_: str) -> None:
        """Select the spec with a hash: its id may be another one in a newer catalog."""
        if (catalog := self._host.state.catalog) is None:
            return

        def find(_: ShouldStop) -> int | None:
            # The first frame needs no graphs.
            from spackscope.model.analysis.dag import dag_of

            return dag_of(catalog).find([hash_]).get(hash_)

        self._host.run(find, self.jump, group="path")

    def _jumped(self, target: Target | None) -> None:
        if target is None:
            self._host.say("this spec is named as a dependency, but is not in this index")
            return
        self.leave()
        here, row = self._here(), target.row
        if row.spec.in_cache:
            step = Step(target.view, row, row, shows_tree=here.shows_tree, pane="detail")
            undo = f"{shown('undo')} goes back"
            dropped = f"without the query, which does not match {row.spec.package}; {undo}"
            self._host.say(dropped if target.drops_query else "")
        else:
            step = Step(here.view, here.row, row, shows_tree=here.shows_tree, pane="detail")
            self._host.say(
                f"a dependency only, so it has no row in the table; {shown('undo')} goes back"
            )
        self._push(step)
        self._arrive(step)

    def explain(self) -> None:
        """Show a shortest path to the dependency under the cursor, or between marked specs."""
        host, state, where = self._host, self._host.state, self._host.where
        catalog, details = state.catalog, state.details
        if catalog is None:
            return
        tree, line = details.tree if details is not None else None, where.tree_row
        if where.pane != "detail" or tree is None or line is None:
            line = None
        if tree is not None and line is not None and tree.lines[line].edge is not None:
            ends = tree.path_ends(line)
            host.run(partial(_read_path, catalog, ends), self._show_path, group="path")
            return
        if len(state.marks) + (len(state.marks) == 1 and state.selected is not None) != 2:
            tree_key, mark, why = map(shown, ("tree", "specs-mark", "why"))
            first = f"Select a dependency ({tree_key}), or mark a spec first ({mark})"
            host.say(f"{first}, then press {why}.")
            return
        reading = partial(_read_path_between, catalog, state.marks, state.selected)
        host.run(reading, self._show_path, group="path")

    def _show_path(self, path: list[PathStep] | str) -> None:
        # A dialog is imported when it is first opened.
        from spackscope.tui.dialogs.dependency_path import DependencyPathDialog

        if isinstance(path, str):
            self._host.say(path)
            return
        catalog, hashes = self._host.state.catalog, {step.id: step.spec.hash for step in path}

        def go(id_: int | None) -> None:
            if id_ is not None and self._host.state.catalog is catalog:
                self.jump(id_)
            elif id_ is not None:
                self.jump_to_hash(hashes[id_])

        self._host.open(DependencyPathDialog(path), go)


def _is_package_step(step: Step, view: View) -> bool:
    """Check whether a view differs in its package only from that of a step of a walk."""
    before, after = (
        (other.query.with_package(None), other.sort, other.folded) for other in (step.view, view)
    )
    return step.is_walk and before == after


def _read_target(catalog: Catalog, view: View, id_: int, should_stop: ShouldStop) -> Target | None:
    """Read a spec, with the view that differs least from the present one and has its row."""
    if catalog.edges.absent_at(id_) is not None:
        return None
    (row,) = catalog.rows([id_])
    if not row.spec.in_cache:
        return Target(row, view, drops_query=False)
    package = row.spec.package if catalog.selected_package(view.query) is not None else None
    query = view.query.with_package(package) if package is not None else view.query
    drops_query = row.id not in catalog.match(query, should_stop=should_stop)
    if drops_query:
        query = Query().with_package(package)
    # Folded it could be one of several look-alikes.
    if view.folded:
        opened, opened_kinds = view.opened | {row.look_alike}, view.opened_kinds | {row.id}
        view = replace(view, opened=opened, opened_kinds=opened_kinds)
    return Target(row, replace(view, query=query), drops_query)


def _read_path(
    catalog: Catalog, ends: Sequence[tuple[int, int]], _should_stop: ShouldStop
) -> list[PathStep] | str:
    from spackscope.tui.dialogs.dependency_path import read_path

    for start, end in ends:
        if start == end:
            return "this is the spec itself"
        if edges := catalog.edges.path(start, end):
            return read_path(catalog, edges)
    return "neither of the two depends on the other"


def _read_path_between(
    catalog: Catalog, marks: Sequence[str], selected: Row | None, should_stop: ShouldStop
) -> list[PathStep] | str:
    specs = [[row.id for row in catalog.by_hash(hash_)] for hash_ in marks]
    if len(specs) == 1 and selected is not None:
        specs.append([selected.id])
    ends = [pair for a in specs[0] for b in specs[1] for pair in ((a, b), (b, a))]
    return _read_path(catalog, ends, should_stop)

"""The detail of the selected spec: its lines and its tree, then how it relates to others.

`read_details.py` reads lines and tree in a worker thread, while the lines of the last spec stay.
Relations follow once the cursor rests on a row, and have placeholder lines until then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from spackscope.model.analysis.session_fit import host_of
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.model.index.catalog import Catalog, Row
from spackscope.model.report.detail import signing_lines
from spackscope.model.sources.session import Session
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost, CallOnLoop
from spackscope.tui.browser.state import DetailInputs, Details, MirrorAnswer, Related

if TYPE_CHECKING:
    from spackscope.model.index.tree import Tree, TreeSection

_MAX_KEPT = 200
"""Rows of which the relations are kept."""


def _check_all(catalog: Catalog, _: object) -> int:
    """Check all specs against the host; return the number of gaps, old and new."""
    catalog.by_host.check_all()
    return len(catalog.gaps())


def _ask_mirrors(row: Row, session: Session, sources: Sequence[str]) -> MirrorAnswer:
    """Ask mirrors whether they have a spec, its size, and who signed it."""
    # Most who start the program look at no detail of a mirror.
    from spackscope.model.sources.mirror_spec import Mirrors

    mirrors = Mirrors(row.catalog.sources, session, sources)
    signed = mirrors.entries(row.spec)
    # The manifest that has the size is in the cache now.
    size = mirrors.sizes([row.spec]).get(row.spec.hash, row.spec.size)
    return MirrorAnswer(size, tuple(signing_lines(signed, is_full=False)))


def _of_mirrors(spec: Spec) -> tuple[str, ...]:
    """Return the key of the answer of the mirrors: the hash, the tag and the sources."""
    return spec.hash, spec.tag, *spec.sources


class DetailsController:
    """Read the lines, the tree and the relations of the detail pane.

    `rows_shown` is set once rows are on the screen.
    """

    def __init__(self, host: BrowserHost) -> None:
        self._host = host
        self._forget_answers()
        self._unfolded: frozenset[TreeSection] = frozenset()
        self._run_only = self._shows_tree = False
        self._asked: DetailInputs | None = None
        self._connecting: Catalog | None = None
        self.rows_shown = threading.Event()
        self._reading_at = 0.0
        self._related: dict[tuple[object, ...], Related] = {}
        # The relations that were shown last, after the key of their row in any catalog.
        self._last: tuple[tuple[object, ...], Related] = (), Related()

    def forget(self) -> None:
        """Forget the rows of a catalog that was replaced, and the answers of mirrors."""
        self._forget_answers()
        self._related.clear()
        self._clear()

    def look_again(self) -> None:
        """Ask mirrors anew about the selected spec."""
        self._host.cancel(jobs.MIRRORS)
        self._forget_answers()
        if (details := self._host.state.details) is not None:
            self.show(details.row)

    def _forget_answers(self) -> None:
        """Ask mirrors anew, also servers that did not answer."""
        self._answers: dict[tuple[str, ...], MirrorAnswer] = {}
        # The questions about all rows share its connections, and what it has read of Spack.
        self._session = replace(self._host.session)

    def _clear(self) -> None:
        """Show no spec."""
        self._asked = None
        self._host.cancel(jobs.DETAIL, jobs.RELATIONS, jobs.PATIENCE, jobs.TREE, jobs.MIRRORS)
        self._host.change(details=None)

    def connect(self) -> None:
        """Read the edges that trees need, and check all specs, once the rows are on the screen."""
        catalog = self._host.state.catalog
        if catalog is None or catalog is self._connecting:
            return
        self._connecting = catalog
        self.rows_shown.set()

        def connected(_: None) -> None:
            self._host.change(connected=catalog)
            if (row := self._host.state.selected) is not None:
                self.show(row)

        def tell(problems: int) -> None:
            summary = self._host.state.summary
            if summary is None or summary.catalog is not catalog:
                return
            if problems != summary.problems:
                self._host.change(summary=replace(summary, problems=problems))

        self._host.run(
            lambda _: host_of(self._host.session),
            lambda machine: self._host.change(machine=machine),
            jobs.HOST,
        )
        check = partial(_check_all, catalog)
        self._host.run(check, tell, jobs.FIT, of=catalog)
        self._host.run(lambda _: catalog.edges.prepare(), connected, jobs.EDGES, of=catalog)

    def _change(self, **fields: Any) -> None:
        """Change fields of the details, if there are any."""
        if (details := self._host.state.details) is not None:
            self._host.change(details=replace(details, **fields))

    # Lines and tree

    def show(
        self,
        row: Row | None,
        tree: Tree | None = None,
        at: tuple[int, int] | None = None,
        *,
        shows_tree: bool | None = None,
    ) -> None:
        """Select the spec of a row; the last lines stay until the lines of the spec are read.

        `shows_tree` shows the tree in place of the lines, or the lines again.
        """
        state = self._host.state
        if row is None or state.results is None:
            self._clear()
            return
        catalog, listing = row.catalog, state.results.listing
        if catalog is not state.catalog:
            # The row is of a replaced catalog; a row of the new catalog is shown next.
            return
        if tree is not None:
            self._keep_options(tree)
        if shows_tree is not None:
            self._shows_tree = shows_tree
        old, alike = state.details, listing.count_look_alikes(row.look_alike)
        asked = DetailInputs(
            row,
            state.connected is catalog,
            alike,
            listing.shown if alike > 1 else 0,
            listing.values.varying_variants_of(row.look_alike),
            self._answers.get(_of_mirrors(row.spec)),
        )
        if old is not None and _shown_as(old.row) == _shown_as(row):
            # Unfolded sections stay so while a filter is typed.
            tree = tree or old.tree
            if asked == self._asked and at is None:
                shown = replace(old, row=row, tree=tree, at=None, shows_tree=self._shows_tree)
                self._host.change(details=shown)
                return
        self._asked = asked
        self._host.cancel(jobs.RELATIONS, jobs.PATIENCE, jobs.MIRRORS)
        pending = replace(old or Details(row), row=row, tree=tree, at=None, is_pending=True)
        self._host.change(details=pending)
        new = Details(row, tree=tree, at=at, shows_tree=self._shows_tree)

        def read(_: object) -> tuple[Details, bool]:
            details = _reading().read_details(
                asked, listing, new, self._unfolded, run_only=self._run_only
            )
            return details, asked.answer is None and catalog.has_mirror(row.spec)

        def take(read: tuple[Details, bool]) -> None:
            details, asks = read
            self._relate(asked, details)
            if asks:
                ask = partial(_ask_mirrors, row, self._session, self._host.sources)
                self._host.run(lambda _: ask(), heard, jobs.MIRRORS)

        def heard(answer: MirrorAnswer) -> None:
            # A newer row cancels the question, so an answer is for the selected spec.
            self._answers[_of_mirrors(row.spec)] = answer
            if answer != MirrorAnswer():
                self.show(row)

        self._host.run(read, take, jobs.DETAIL, delay=self._delay(), of=catalog)

    def _delay(self) -> float:
        """Return the seconds to wait before reading: none, unless a reading began just now."""
        now = time.monotonic()
        if self._reading_at <= now:
            self._reading_at = max(now, self._reading_at + jobs.PACE)
        return self._reading_at - now

    def take_tree(self, tree: Tree | None) -> None:
        """Store the tree as the user unfolded it."""
        details = self._host.state.details
        if tree is not None and details is not None and not details.is_pending:
            self._keep_options(tree)
            self._host.change(details=replace(details, tree=tree, at=None))

    def _keep_options(self, tree: Tree) -> None:
        """Remember how a tree is shown, for the trees of other specs."""
        self._unfolded, self._run_only = tree.unfolded_sections, tree.run_only

    def show_tree(self, *, shown: bool) -> None:
        """Show the tree in place of the lines, or the lines again."""
        self._shows_tree = shown
        self._change(shows_tree=shown, at=None)

    def missing_tree(self) -> str:
        """Explain why there are no dependencies to go to."""
        if self._host.state.details is None:
            return "No spec is selected"
        return "This source lists no dependencies"

    # Relations

    def relate(self) -> None:
        """Show how the selected spec relates to others, after the marks changed."""
        details = self._host.state.details
        if details is not None and not details.is_pending and self._asked is not None:
            self._relate(self._asked, replace(details, at=None))

    def _relate(self, asked: DetailInputs, details: Details) -> None:
        """Show details with their relations, which are read unless they are known.

        Until they are read, a row keeps the relations that were shown last if these were its own,
        in another catalog or beside another mark. Any other row has placeholder lines.
        """
        reading = _reading()
        members, mark = details.members, self._compared_with(asked, details)
        assert members is not None
        key = members.ids, members.kinds, mark
        row_key = details.row.spec.hash, details.row.count, details.row.role
        if (known := self._related.get(key)) is not None:
            self._last = row_key, known
        is_new = self._last[0] != row_key
        related = self._last[1]
        if is_new and asked.has_host:
            related = Related(reading.pending_lines_of(asked, members, mark, related.lines))
        elif is_new:
            related = Related()
        self._host.cancel(jobs.RELATIONS, jobs.PATIENCE)
        is_read = known is not None or not asked.has_host
        waits = is_new and not (is_read or details.shows_tree)
        self._host.change(details=replace(details, related=related, awaits_relations=waits))
        if is_read:
            return
        listing, catalog = self._host.state.listing, asked.row.catalog

        def show(related: Related, *, waits: bool = False) -> None:
            if (details := self._host.state.details) is not None:
                self._last = row_key, related
                at = details.at if details.awaits_relations else None
                waits = waits and details.awaits_relations
                new = replace(details, related=related, at=at, awaits_relations=waits)
                self._host.change(details=new)

        def read(report: CallOnLoop) -> Related:
            def show_part(part: Related) -> None:
                if is_new:
                    report(partial(show, part, waits=True))

            sources = self._host.session, self._host.sources
            related: Related = reading.read_relations(
                asked, listing, members, mark, *sources, show_part
            )
            return related

        def take(related: Related) -> None:
            self._related[key] = related
            while len(self._related) > _MAX_KEPT:
                del self._related[next(iter(self._related))]
            self._host.cancel(jobs.PATIENCE)
            show(related)

        self._host.run(read, take, jobs.RELATIONS, of=catalog)
        if waits:
            show_without = partial(self._change, awaits_relations=False)
            self._host.run(lambda _: None, lambda _: show_without(), jobs.PATIENCE, of=catalog)

    def _compared_with(self, asked: DetailInputs, details: Details) -> str | None:
        """Return the hash of the marked spec to compare with, "" for a look-alike, or None."""
        marks, row = self._host.state.marks, asked.row
        if len(marks) == 1 and marks[0] != row.spec.hash:
            return marks[0]
        if details.members is not None and details.members.kinds != 1:
            return None
        first, end = row.catalog.span(row.look_alike)
        return "" if end - first > 1 else None


def _reading() -> ModuleType:
    """Return the module that reads lines and relations: imported after the first rows."""
    from spackscope.tui.browser import read_details

    return read_details


def _shown_as(row: Row) -> tuple[object, ...]:
    """Return a key that differs for the row of a spec and for the folded rows it is in."""
    return row.id, row.count, row.role

"""The detail of the selected spec: its lines, its tree, and how it relates to others.

`read_details.py` reads it in a worker thread, while the lines of the last spec stay. If that takes
long, what is read so far is shown, with placeholders for the rest.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from spackscope.model.analysis.session_fit import host_of
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.model.index.catalog import Catalog, Listing, Row
from spackscope.model.report.detail import signing_lines
from spackscope.model.sources.session import Session
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost, CallOnLoop
from spackscope.tui.browser.state import DetailInputs, Details, MirrorAnswer

if TYPE_CHECKING:
    from spackscope.model.index.tree import Tree, TreeSection


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
    """Read and show the detail of a row; `rows_shown` is set once rows are on the screen."""

    def __init__(self, host: BrowserHost) -> None:
        self._host = host
        self._forget_answers()
        self._unfolded: frozenset[TreeSection] = frozenset()
        self._run_only = self._shows_tree = False
        self._asked: DetailInputs | None = None
        self._connecting: Catalog | None = None
        self.rows_shown = threading.Event()
        self._reading_at = 0.0
        # What is read so far of a detail, until it is shown.
        self._part: Details | None = None

    def forget(self) -> None:
        """Forget the rows of a catalog that was replaced, and the answers of mirrors."""
        self._forget_answers()
        self._clear()

    def look_again(self) -> None:
        """Ask mirrors anew about the selected spec."""
        self._host.cancel(jobs.MIRRORS)
        self._forget_answers()
        self.show_again()

    def show_again(self) -> None:
        """Show the detail of the selected spec as it is now, after marks have changed, too."""
        if (row := self._host.state.selected) is not None:
            self.show(row)

    def _forget_answers(self) -> None:
        """Ask mirrors anew, also servers that did not answer."""
        self._answers: dict[tuple[str, ...], MirrorAnswer] = {}
        # The questions about all rows share its connections, and what it has read of Spack.
        self._session = replace(self._host.session)

    def _clear(self) -> None:
        """Show no spec."""
        self._asked = None
        self._host.cancel(jobs.DETAIL, jobs.PATIENCE, jobs.TREE, jobs.MIRRORS)
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
            self.show_again()

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
        old, asked, before, stays = state.details, self._inputs(row, listing), self._asked, False
        if old is not None and before is not None and _shown_as(old.row) == _shown_as(row):
            # Unfolded sections stay so while a filter is typed.
            tree = tree or old.tree
            if asked == before and at is None:
                shown = replace(old, row=row, tree=tree, at=None, shows_tree=self._shows_tree)
                self._host.change(details=shown)
                return
            has_tree = before.has_host is asked.has_host
            stays = has_tree and at is None and not old.is_pending
        self._asked = asked
        new = Details(row, tree=tree, at=at, shows_tree=self._shows_tree)
        if not stays:
            self._host.change(details=new)
        self._read(asked, listing, new, stays=stays)

    def _inputs(self, row: Row, listing: Listing) -> DetailInputs:
        alike, marks = len(listing.look_alike_ids(row.look_alike)), self._host.state.marks
        return DetailInputs(
            row,
            self._host.state.connected is row.catalog,
            alike,
            listing.shown if alike > 1 else 0,
            listing.values.of_package(row.look_alike).varying_variants,
            marks[0] if len(marks) == 1 and marks[0] != row.spec.hash else None,
            self._answers.get(_of_mirrors(row.spec)),
        )

    def _read(self, asked: DetailInputs, listing: Listing, new: Details, *, stays: bool) -> None:
        """Read a detail; what was read before of the same row `stays` until all of it is read."""
        row, host = asked.row, self._host
        catalog, delay = row.catalog, self._delay()

        def read(report: CallOnLoop) -> Details:
            # The first rows do not wait for what it imports.
            from spackscope.tui.browser.read_details import read_details

            def show_part(part: Details) -> None:
                if not stays:
                    report(partial(self._take_part, part))

            return read_details(
                *(asked, listing, new, self._unfolded, host.session, host.sources, show_part),
                run_only=self._run_only,
            )

        def take(read: Details) -> None:
            host.cancel(jobs.PATIENCE)
            self._show(read)
            if asked.answer is None and catalog.has_mirror(row.spec):
                ask = partial(_ask_mirrors, row, self._session, host.sources)
                host.run(lambda _: ask(), heard, jobs.MIRRORS)

        def heard(answer: MirrorAnswer) -> None:
            # A newer row cancels the question, so an answer is for the selected spec.
            self._answers[_of_mirrors(row.spec)] = answer
            if answer != MirrorAnswer():
                self.show(row)

        self._part = None
        host.cancel(jobs.PATIENCE, jobs.MIRRORS)
        job = jobs.DETAIL_AGAIN if stays else jobs.DETAIL
        host.run(read, take, job, delay=delay, of=catalog)
        if not stays:
            host.run(lambda _: None, self._take_part, jobs.PATIENCE, delay=delay)

    def _take_part(self, part: Details | None) -> None:
        """Show a part of a detail once `jobs.PATIENCE` is over: the rest may be read until then.

        None stands for the last part, at the end of that moment. A tree is shown at once.
        """
        self._part = part or self._part
        is_due = self._shows_tree or not self._host.is_running(jobs.PATIENCE)
        if self._part is not None and is_due:
            self._host.unblock(jobs.DETAIL_AGAIN)
            self._show(self._part)

    def _show(self, read: Details) -> None:
        """Show what was read; lines that are shown already keep their place, and their tree."""
        shown = self._host.state.details
        if shown is not None and not shown.is_pending:
            read = replace(read, tree=shown.tree, at=None, shows_tree=shown.shows_tree)
        self._host.change(details=read)

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
        if (details := self._host.state.details) is not None:
            self._host.change(details=replace(details, shows_tree=shown, at=None))

    def missing_tree(self) -> str:
        """Explain why there are no dependencies to go to."""
        if self._host.state.details is None:
            return "No spec is selected"
        return "This source lists no dependencies"


def _shown_as(row: Row) -> tuple[object, ...]:
    """Return a key that differs for the row of a spec and for the folded rows it is in."""
    return row.id, row.count, row.role

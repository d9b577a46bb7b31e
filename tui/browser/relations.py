"""How the selected spec relates to others, read after its other lines and shown above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from spackscope.model.core.frozen import replace
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.detail import FITS, DetailLine, Members
from spackscope.model.report.relations import (
    DOWNLOAD,
    KINDS_DIFFER,
    NEEDS,
    NEXT_TO,
    USED_BY,
    pending_lines,
    unlisted_line,
)
from spackscope.tui.browser.state import Details, Host, Task

if TYPE_CHECKING:
    from spackscope.model.sources.session import Session

_REST = 0.05
"""Seconds that the cursor rests on a row before its relations are read."""
_MAX_KEPT = 200


class Related(NamedTuple):
    """The values on how a spec relates to others, and what of its tree differs from a marked one.

    `differing` has for each such record of the tree what the marked spec has in place of it, ""
    if only what is below it differs.
    """

    lines: Sequence[DetailLine] = ()
    differing: Mapping[int, str] = MappingProxyType({})


class _Key(NamedTuple):
    """What the lines depend on: the specs, and the marked one that they are compared with."""

    ids: tuple[int, ...]
    kinds: int
    mark: str


class Relations:
    """Read the lines of one spec after the other; a newer one replaces the job."""

    def __init__(self, host: Host, session: Session, sources: Sequence[str]) -> None:
        self._host, self._session, self._sources = host, session, sources
        self._catalog: Catalog | None = None
        self._related: dict[_Key, Related] = {}
        self._shown_hash = ""
        self._shown = Related()

    def known(self, details: Details) -> Related:
        """Return what was read before, or as many lines that are still to be read.

        Until they are read from another catalog they are those that were shown last.
        """
        state, key = self._host.state, self._key(details)
        catalog = state.catalog
        if catalog is not self._catalog:
            self._catalog, self._related = catalog, {}
        if key in self._related:
            self._shown_hash, self._shown = _shown_key(details), self._related[key]
        if _shown_key(details) == self._shown_hash:
            return self._shown
        if catalog is None or state.connected is not catalog:
            return Related()
        return Related(self._pending_lines(catalog, details))

    def _pending_lines(self, catalog: Catalog, details: Details) -> Sequence[DetailLine]:
        """Return lines for all that is still to be read, so that nothing moves when it is.

        Where the last spec says whether it runs, the next one mostly does so too.
        """
        members = details.members or Members((details.row.id,))
        lines = [
            DetailLine("…", FITS, kind="dim", at_end=line.at_end)
            for line in self._shown.lines
            if line.label == FITS
        ]
        if members.is_group and members.kinds:
            lines += pending_lines([KINDS_DIFFER])
        if self._other_count(catalog, details):
            lines += pending_lines([NEXT_TO])
        if not catalog.edges.lists(details.row.id):
            return [*lines, unlisted_line()]
        labels = [NEEDS, USED_BY] if members.is_group else [NEEDS, DOWNLOAD, USED_BY]
        return [*lines, *pending_lines(labels)]

    def request(self, details: Details) -> None:
        """Read the lines of the selected spec, unless they are known."""
        state, key = self._host.state, self._key(details)
        catalog, listing, members = state.catalog, state.listing, details.members
        is_connected = catalog is not None and state.connected is catalog
        if catalog is None or not is_connected or key in self._related or members is None:
            self._host.cancel("relations")
            return
        has_other = self._other_count(catalog, details) > 0
        row, session, sources = details.row, self._session, self._sources

        def job(task: Task) -> Related:
            # Imported here, after the first rows are shown.
            from spackscope.tui.browser import read_relations as read

            fits = read.read_fit(catalog, session, row.id)
            others = read.read_relations(catalog, members, session, sources)
            if members.is_group and listing is not None:
                kinds = read.read_kinds(catalog, listing, row, task) if members.kinds else []
                return Related([*fits, *kinds, *others])
            if not has_other:
                return Related([*fits, *others])
            if _shown_key(details) != self._shown_hash:
                part = Related([*fits, *pending_lines([NEXT_TO]), *others])
                task.report(lambda: self._show(details, part))
            difference = read.read_difference(catalog, row, key.mark, task)
            differing = read.read_differing(catalog, row.id, key.mark) if key.mark else {}
            return Related([*fits, *difference, *others], differing)

        take = partial(self._take, key, details)
        self._host.run(job, take, group="relations", delay=_REST)

    def _key(self, details: Details) -> _Key:
        marks, row = self._host.state.marks, details.row
        members = details.members or Members((row.id,))
        mark = marks[0] if len(marks) == 1 and marks[0] != row.spec.hash else ""
        return _Key(members.ids, members.kinds, "" if members.is_group else mark)

    def _other_count(self, catalog: Catalog, details: Details) -> int:
        """Return how many specs this one can be compared with."""
        if details.members is not None and details.members.is_group:
            return 0
        if self._key(details).mark:
            return 1
        first, end = catalog.span(details.row.look_alike)
        return end - first - 1

    def _take(self, key: _Key, details: Details, related: Related) -> None:
        self._related[key] = related
        while len(self._related) > _MAX_KEPT:
            del self._related[next(iter(self._related))]
        self._show(details, related)

    def _show(self, of: Details, related: Related) -> None:
        details = self._host.state.details
        if details is not None and details.row.id == of.row.id and not details.is_pending:
            self._shown_hash, self._shown = _shown_key(of), related
            self._host.change(
                details=replace(
                    details, relations=related.lines, differing=related.differing, at=None
                )
            )


def _shown_key(details: Details) -> str:
    """Return what tells the row of some lines from others, in any catalog."""
    return f"{details.row.spec.hash} {details.row.count} {details.row.role}"

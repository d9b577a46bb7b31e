"""How the selected spec relates to others, read after its other lines and shown above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.rows import Row
from spackscope.model.presentation.detail import DetailLine
from spackscope.model.presentation.relations import FITS, NEEDS, NEXT_TO, USED_BY, pending_lines
from spackscope.model.sources.session import Session
from spackscope.tui.browser.state import Host, Task

_REST = 0.05
"""Seconds that the cursor rests on a row before its relations are read."""
_MAX_KEPT = 200


class _Key(NamedTuple):
    """What the lines depend on: the spec, and the marked one that it is compared with."""

    id: int
    mark: str


class Relations:
    """Read the lines of one spec after the other; a newer one replaces the job."""

    def __init__(self, host: Host, session: Session) -> None:
        self._host, self._session = host, session
        self._catalog: Catalog | None = None
        self._lines: dict[_Key, Sequence[DetailLine]] = {}
        self._shown_hash = ""
        self._shown: Sequence[DetailLine] = ()

    def known(self, row: Row) -> Sequence[DetailLine]:
        """Return the lines that were read before, or as many that are still to be read.

        Until they are read from another catalog they are those that were shown last.
        """
        state, key = self._host.state, self._key(row)
        catalog = state.catalog
        if catalog is not self._catalog:
            self._catalog, self._lines = catalog, {}
        if key in self._lines:
            self._shown_hash, self._shown = row.spec.hash, self._lines[key]
        if row.spec.hash == self._shown_hash:
            return self._shown
        if catalog is None or state.connected is not catalog:
            return ()
        labels = [FITS] if catalog.by_host.is_connected else []
        labels += [NEXT_TO] if self._other_count(catalog, row) else []
        labels += [NEEDS, USED_BY] if catalog.dependencies.lists(row.id) else []
        return pending_lines(labels)

    def request(self, row: Row) -> None:
        """Read the lines of the selected spec, unless they are known."""
        state, key = self._host.state, self._key(row)
        catalog = state.catalog
        if catalog is None or state.connected is not catalog or key in self._lines:
            self._host.cancel("relations")
            return
        has_other = self._other_count(catalog, row) > 0

        def job(task: Task) -> Sequence[DetailLine]:
            # Imported here, after the first rows are shown.
            from spackscope.tui.browser.read_relations import (
                read_difference,
                read_fit,
                read_relations,
            )

            fits = read_fit(catalog, self._session, row.id)
            others = read_relations(catalog, row.id)
            if not has_other:
                return [*fits, *others]
            if row.spec.hash != self._shown_hash:
                part = [*fits, *pending_lines([NEXT_TO]), *others]
                task.report(lambda: self._show(row, part))
            return [*fits, *read_difference(catalog, row, key.mark, task), *others]

        take = partial(self._take, key, row)
        self._host.run(job, take, group="relations", delay=_REST)

    def _key(self, row: Row) -> _Key:
        marks = self._host.state.marks
        return _Key(row.id, marks[0] if len(marks) == 1 and marks[0] != row.spec.hash else "")

    def _other_count(self, catalog: Catalog, row: Row) -> int:
        """Return how many specs this one can be compared with."""
        if self._key(row).mark:
            return 1
        first, end = catalog.column_arrays.specs(row.look_alike)
        return end - first - 1

    def _take(self, key: _Key, row: Row, lines: Sequence[DetailLine]) -> None:
        self._lines[key] = lines
        while len(self._lines) > _MAX_KEPT:
            del self._lines[next(iter(self._lines))]
        self._show(row, lines)

    def _show(self, row: Row, lines: Sequence[DetailLine]) -> None:
        details = self._host.state.details
        if details is not None and details.row.id == row.id and not details.is_pending:
            self._shown_hash, self._shown = row.spec.hash, lines
            self._host.change(details=replace(details, relations=lines, at=None))

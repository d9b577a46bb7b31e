"""Open look-alikes into their kinds, and kinds into single specs, and close them again."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.core.frozen import replace
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import Row
from spackscope.model.index.view import RowRole
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import Host


def why_several(catalog: Catalog, row: Row, ids: Sequence[int]) -> str:
    """Return why a row that stands for some specs shows no hash; empty if they run the same."""
    if not row.has_look_alikes:
        return ""
    # Imported in the thread that needs it, after the first rows are shown.
    from spackscope.model.report.kinds import row_notes

    kinds = row_notes(catalog).partition(ids)
    if len(kinds) == 1:
        return ""
    several = f"are {len(kinds):,} kinds" if kinds else "may differ in dependencies"
    return f"{len(ids):,} builds look the same, but {several}: choose one"


class RowGroups:
    """Change which groups of the view are opened."""

    def __init__(self, host: Host, search: Search) -> None:
        self._host, self._search = host, search

    def toggle(self, row: Row) -> None:
        """Open the group or the kind of a row that stands for several specs, or close it."""
        if row.role in (RowRole.GROUP, RowRole.OPEN_KIND):
            self.close(row)
        else:
            self._open(row)

    def open_to_choose(self, row: Row, sentence: str) -> None:
        """Open a folded row, so that one of its kinds can be chosen, and show a sentence."""
        if row.role is RowRole.SPEC:
            self._open(row)
        if self._host.where.pane == "detail":
            self._host.focus("specs")
        self._host.say(sentence)

    def _open(self, row: Row) -> None:
        view = self._host.state.view
        if row.role is RowRole.KIND:
            view = replace(view, opened_kinds=view.opened_kinds | {row.id})
            row = replace(row, role=RowRole.OPEN_KIND)
        else:
            view = replace(view, opened=view.opened | {row.look_alike})
            row = replace(row, role=RowRole.GROUP)
        self._search.show(view, cursor_on=row)

    def close(self, row: Row) -> bool:
        """Close the kind or the group that a row belongs to; return False if there is none.

        The cursor goes to the row that stands for it.
        """
        view, ids = self._host.state.view, self.around(row)
        if not ids:
            return False
        if kind := self._opened_kind(row):
            view = replace(view, opened_kinds=view.opened_kinds.difference(kind))
            row = replace(row, id=kind[0], role=RowRole.KIND)
        else:
            view = replace(
                view,
                opened=view.opened - {row.look_alike},
                opened_kinds=view.opened_kinds.difference(ids),
            )
            row = replace(row, role=RowRole.SPEC)
        self._search.show(view, cursor_on=row)
        return True

    def around(self, row: Row) -> Sequence[int]:
        """Return the specs of the opened kind or group that a row belongs to; empty for none."""
        listing, view = self._host.state.listing, self._host.state.view
        # Where no dependencies are listed, an opened group is single specs without a head.
        is_single = row.role is RowRole.SPEC and row.look_alike not in view.opened
        if is_single or listing is None:
            return ()
        return self._opened_kind(row) or listing.look_alike_ids(row.look_alike)

    def _opened_kind(self, row: Row) -> Sequence[int]:
        listing = self._host.state.listing
        if listing is None or row.role not in (RowRole.MEMBER, RowRole.OPEN_KIND):
            return ()
        return listing.opened_kind(row.id, row.look_alike)

    def fold(self) -> None:
        """Open the folded row under the cursor; elsewhere fold or unfold all look-alikes."""
        where, view = self._host.where, self._host.state.view
        row = where.row if where.pane == "specs" and view.folded else None
        if row is not None and row.count > 1 and row.role in (RowRole.SPEC, RowRole.KIND):
            self._open(row)
        else:
            self._search.fold()

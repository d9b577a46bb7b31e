"""Which rows of the table are marked, wholly or in part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spackscope.model.index.rows import Row

if TYPE_CHECKING:
    from spackscope.model.index.listing import Listing, MarkedSpec

MARKED, PARTLY_MARKED = "◆", "◇"


class RowMarks:
    """The marks by hash, and by look-alike for folded rows."""

    def __init__(self, marks: Sequence[str] = (), marked: Sequence[MarkedSpec] = ()) -> None:
        self._hashes = frozenset(marks)
        self._ids: dict[int, set[int]] = defaultdict(set)
        for spec in marked:
            for look_alike in spec.look_alikes:
                self._ids[look_alike].update(spec.ids)

    def sign(self, row: Row | None, listing: Listing | None) -> str:
        """Return the sign of a row: that all its specs are marked, some, or none."""
        if row is None or listing is None:
            return ""
        if row.count == 1:
            return MARKED if row.spec.hash in self._hashes else ""
        marked = self._ids.get(row.look_alike)
        if not marked:
            return ""
        ids = listing.ids_of(row)
        count = sum(id_ in ids for id_ in marked)
        return MARKED if count == len(ids) else PARTLY_MARKED if count else ""

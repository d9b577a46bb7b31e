"""Change the words of hints for the row under the cursor."""

from __future__ import annotations

from collections.abc import Iterator

from spackscope.model.index.rows import Row
from spackscope.model.index.view import RowRole

_WIDTH = len("detail")
"""Cells of the words for Enter: the hints beside it stay where they are from row to row."""


def changed_hints(
    row: Row | None, *, is_pick: bool, is_folded: bool, marks: int = 0
) -> Iterator[tuple[str, str]]:
    """Yield the names of keys whose hints read otherwise with a row under the cursor.

    `is_pick` if Enter on a row ends the program, with the `marks` if there are any.
    """
    if is_folded:
        yield "fold", "unfold"
    if is_pick and not (row is not None and row.has_look_alikes):
        any_of = f"pick any of {row.count:,}" if row and row.count > 1 else "pick"
        yield "specs-open", f"pick {marks:,} marked" if marks else any_of
    elif row is not None and row.count > 1:
        is_open = row.role in (RowRole.GROUP, RowRole.OPEN_KIND)
        yield "specs-open", ("close" if is_open else "open").ljust(_WIDTH)

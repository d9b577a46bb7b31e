"""Describe a folded row: what the builds that it stands for share."""

from __future__ import annotations

from collections.abc import Mapping

from spackscope.model.catalog.view import RowRole
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Spec
from spackscope.model.core.text import counted
from spackscope.model.presentation.detail import (
    DetailLine,
    column_lines,
    title_line,
    variant_lines,
)


class Members(Frozen):
    """The specs that a row stands for, and the run-time kinds among them; 0 if unknown.

    `role` is that of the row. The first spec is the one that its record describes.
    """

    ids: tuple[int, ...]
    kinds: int = 1
    role: RowRole = RowRole.SPEC

    @property
    def is_group(self) -> bool:
        """Whether no single hash stands for the row."""
        return len(self.ids) > 1 and self.kinds != 1


def group_detail(
    spec: Spec, members: Members, *, varying: Mapping[str, int], key: str
) -> list[DetailLine]:
    """Describe what builds of several kinds share; `spec` is one of them, whose hash is not shown.

    `varying` is that of `detail`, `key` how the key is shown that opens the row.
    """
    count = f"{len(members.ids):,} builds"
    kinds = f"{counted(members.kinds, 'kind')}, {count}" if members.kinds else count
    opens = "closes" if members.role is RowRole.GROUP else "opens"
    return [
        title_line(spec),
        DetailLine(kinds, kind="differs", is_continued=True, suffix=f": {key} {opens}"),
        *variant_lines(spec, varying),
        *column_lines(spec, shared_only=True),
    ]


def with_count(lines: list[DetailLine], members: Members) -> list[DetailLine]:
    """Return the lines of a record that stands for several builds, with how many run the same."""
    if len(members.ids) < 2:
        return lines
    same = DetailLine(
        f"×{len(members.ids):,}", kind="dim", is_continued=True, suffix=" run the same"
    )
    at = next(number for number, line in enumerate(lines, 1) if line.kind == "hash")
    return [*lines[:at], replace(same, lead=" "), *lines[at:]]

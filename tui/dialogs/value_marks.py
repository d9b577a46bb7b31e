"""Which values are marked in the values dialog, and what Enter makes of the marks."""

from __future__ import annotations

from spackscope.model.assist.value_choice import Choice, Values


class ValueMarks(dict[str, bool]):
    """The marked values of a column: True for those to include, False for those to exclude.

    They begin as the query has them. Enter takes the value under the cursor until the user
    changes a mark, and from then on all marks.
    """

    def __init__(self, column: str) -> None:
        super().__init__()
        self._column = column
        self._is_changed = False
        self._has_filters = False

    def load(self, values: Values) -> None:
        """Mark what the query includes and excludes."""
        self._has_filters = values.has_conditions
        self.update(dict.fromkeys(values.wanted, True) | dict.fromkeys(values.excluded, False))

    def toggle(self, value: str, *, include: bool) -> None:
        """Include or exclude a value, or clear that mark if it has it."""
        self._is_changed = True
        if self.get(value) is include:
            del self[value]
        else:
            self[value] = include

    def clear(self) -> None:
        """Clear all marks."""
        self._is_changed = True
        super().clear()

    @property
    def _are_taken(self) -> bool:
        return self._is_changed and (bool(self) or self._has_filters)

    def choice(self, value: str | None) -> Choice | None:
        """Return what Enter chooses with the cursor on a value; None if nothing."""
        if self._are_taken:
            included = frozenset(name for name, include in self.items() if include)
            return Choice(self._column, included, frozenset(self) - included)
        return Choice(self._column, frozenset({value})) if value is not None else None

    @property
    def hints(self) -> list[str]:
        """The keys of the values with what they do, the most useful first."""
        enter = "⏎ apply"
        if self._are_taken:
            enter = f"⏎ apply {len(self):,} marked" if self else "⏎ remove filters"
        return [enter, "space include", "x exclude", "u clear", "/ filter"]

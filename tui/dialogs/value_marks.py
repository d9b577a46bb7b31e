"""Which values are marked in the values dialog, and what Enter makes of the marks."""

from __future__ import annotations

from spackscope.model.assist.value_choice import Choice, Values


class ValueMarks:
    """The included and the excluded values of one column.

    They begin as the query has them. Enter takes the value under the cursor until the user
    changes a mark, and from then on all marks.
    """

    def __init__(self, column: str) -> None:
        self._column = column
        self._is_changed = False
        self._has_filters = False
        self.included: set[str] = set()
        self.excluded: set[str] = set()

    def load(self, values: Values) -> None:
        """Take over what the query says of the values."""
        self._has_filters = values.has_conditions
        self.included |= values.wanted
        self.excluded |= values.excluded

    def include(self, value: str) -> None:
        """Include a value, or clear that mark."""
        self._toggle(value, self.included, self.excluded)

    def exclude(self, value: str) -> None:
        """Exclude a value, or clear that mark."""
        self._toggle(value, self.excluded, self.included)

    def _toggle(self, value: str, marks: set[str], others: set[str]) -> None:
        self._is_changed = True
        others.discard(value)
        marks ^= {value}

    def clear(self) -> None:
        """Clear all marks."""
        self._is_changed = True
        self.included.clear()
        self.excluded.clear()

    @property
    def _count(self) -> int:
        return len(self.included) + len(self.excluded)

    @property
    def _are_taken(self) -> bool:
        return self._is_changed and (self._count > 0 or self._has_filters)

    def choice(self, value: str | None) -> Choice | None:
        """Return what Enter chooses with the cursor on a value; None if nothing."""
        if self._are_taken:
            return Choice(self._column, frozenset(self.included), frozenset(self.excluded))
        return Choice(self._column, frozenset({value})) if value is not None else None

    @property
    def hints(self) -> list[str]:
        """The keys of the values with what they do, the most useful first."""
        enter = "⏎ apply"
        if self._are_taken:
            enter = f"⏎ apply {self._count:,} marked" if self._count else "⏎ remove filters"
        return [enter, "space include", "x exclude", "u clear", "/ filter"]

"""Show how often the values of a column occur among the rows, with bars or as a matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from spackscope.model.analysis.frequency import Axis, Frequency
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import clean
from spackscope.model.report.frequency import frequency_section, value_key
from spackscope.model.report.report import Report, Row, Section, text_of
from spackscope.tui.dialogs.pick import Pick, PickDialog
from spackscope.tui.dialogs.report import ReportDialog
from spackscope.tui.keymap import FREQUENCY, Hint, bindings, hint


class Chosen(Frozen):
    """A value of an axis to filter by."""

    axis: Axis
    value: str


CountBy = Callable[["FrequencyDialog"], None]
"""Requests counts by the columns and variants that a dialog names, to be shown in it."""


class FrequencyDialog(ReportDialog[tuple[Chosen, ...]]):
    """A dialog that is filled once the rows are counted, and returns the values to filter by.

    `names` are what is counted by, and `by` returns the names to count by also. `count` is called
    for counts by two of them, and by one again; `show_counts` shows what was counted.
    """

    PANE = FREQUENCY
    BINDINGS = bindings(FREQUENCY)
    noun = "value"

    def __init__(
        self, name: str, label: str, by: Callable[[], Sequence[str]], count: CountBy
    ) -> None:
        super().__init__()
        self.names: tuple[str, ...] = (name,)
        self.heading = clean(label)
        self._by, self._count_by = by, count
        self.counts: Frequency | None = None

    @property
    def is_matrix(self) -> bool:
        """Whether what is shown are counts by two columns."""
        return self.counts is not None and len(self.counts.axes) > 1

    def show_counts(self, counts: Frequency) -> None:
        """Show counts by one axis with bars, or those by two as a matrix."""
        self.counts = counts
        self.heading = " by ".join(clean(axis.label) for axis in counts.axes)
        self.show_report(Report("", ()), "no spec matches")

    def sections(self) -> Sequence[Section]:
        """Lay out the counts in the width that there is."""
        return [frequency_section(self.counts, self.width)] if self.counts is not None else ()

    def searched(self, row: Row) -> str:
        """Return the value."""
        return text_of(row.cells[0])

    def key_hints(self) -> Iterable[Hint]:
        """Return the keys of the bars, or those of the matrix."""
        if not self.is_matrix:
            return super().key_hints()
        words = {**_MATRIX_WORDS, "dialogs-close": "clear" if self.search else "bars"}
        return [
            each for name, word in words.items() for each in hint(name, word, is_letter_typed=True)
        ]

    def result(self, row: Row) -> tuple[Chosen, ...] | None:
        """Return the value of the row, and in a matrix that of the column, if a spec has both."""
        counts = self.counts
        if counts is None:
            return None
        values = [next(f.value for f in counts.facets[0] if value_key(f.value) == row.key)]
        # The first column has the totals.
        if self.is_matrix and self.list.column:
            values.append(counts.facets[1][self.list.column - 1].value)
            if tuple(values) not in counts.cells:
                self.say("No spec has both")
                return None
        return tuple(map(Chosen, counts.axes, values))

    def action_by(self) -> None:
        """Choose a second column or variant to count by."""
        if self.counts is not None:
            names = [name for name in self._by() if name != self.names[0]]
            self.app.push_screen(names_dialog(f"{self.heading} by", names), self._count_also)

    def _count_also(self, name: str | None) -> None:
        if name is not None:
            self._count(self.names[0], name)

    def _count(self, *names: str) -> None:
        self.names, self.report, self.counts = names, None, None
        self.input.value = ""
        self.refill()
        self._count_by(self)

    def action_close(self) -> None:
        """Remove the search; go from the matrix to the bars; close the dialog."""
        if self.is_matrix and not self.search:
            self._count(self.names[0])
        else:
            super().action_close()


_MATRIX_WORDS = {
    "frequency-choose": "filter by both",
    "frequency-right": "next column",
    "frequency-by": "by another",
}


def names_dialog(title: str, names: Sequence[str]) -> PickDialog:
    """Return a dialog to choose the column or variant to count by."""
    empty = "all specs are the same in the others"
    return PickDialog(title, "name", name_picks(names), empty=empty, choose="count by it")


def name_picks(names: Sequence[str]) -> list[Pick]:
    """Return columns and variants to pick from."""
    return [Pick(name, clean(name)) for name in names]

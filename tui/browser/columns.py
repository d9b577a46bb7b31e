"""Hide columns, bring them back, and make them wider or narrower."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from spackscope.model.core.errors import Unwritable
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import clean
from spackscope.model.report.table_columns import ColumnChoices
from spackscope.tui.browser.column_memory import ColumnMemory, bounded
from spackscope.tui.browser.state import Host
from spackscope.tui.settings.checks import KEPT


class ColumnsController:
    """Change the choices for columns, and keep them in a file.

    `hidden` are the columns that are configured to be hidden at the start.
    """

    def __init__(
        self, host: Host, environ: Mapping[str, str], hidden: Collection[str] = ()
    ) -> None:
        self._host = host
        self._memory = ColumnMemory(environ, hidden)

    def load(self) -> None:
        """Read the choices of earlier runs; a file that cannot be read is named, and left."""
        if self._memory.configured:
            self._host.change(column_choices=ColumnChoices(self._memory.configured))

        def read() -> ColumnChoices | str:
            try:
                return self._memory.read()
            except (OSError, ValueError) as error:
                return clean(f"Ignored {self._memory.path}: {error}")

        self._host.run(lambda _: read(), self._take, group="columns")

    def _take(self, read: ColumnChoices | str) -> None:
        if isinstance(read, str):
            self._host.say(read, error=True)
            return
        chosen = self._host.state.column_choices
        hidden = read.hidden | (chosen.hidden - self._memory.configured)
        widths = {**read.widths, **chosen.widths}
        self._host.change(column_choices=ColumnChoices(hidden, widths))

    def hide(self, column: str) -> None:
        """Hide a column."""
        if column in KEPT:
            self._host.say(f"The {column} stays: rows are known by it")
            return
        choices = self._host.state.column_choices
        self._change(replace(choices, hidden=choices.hidden | {column}))
        self._host.say(f"Hid {column_word(column)} (c brings it back)")

    def bring_back(self, column: str) -> None:
        """Show a hidden column again, as wide as its content."""
        choices = self._host.state.column_choices
        if column in choices.hidden:
            widths = {name: width for name, width in choices.widths.items() if name != column}
            self._change(ColumnChoices(choices.hidden - {column}, widths))

    def resize(self, column: str, width: int) -> None:
        """Set the width of a column."""
        choices = self._host.state.column_choices
        others = {name: cells for name, cells in choices.widths.items() if name != column}
        self._change(replace(choices, widths={**others, column: width}))

    def _change(self, choices: ColumnChoices) -> None:
        choices = bounded(choices)
        self._host.change(column_choices=choices)

        def write() -> str:
            try:
                self._memory.write(choices)
            except Unwritable as error:
                return clean(f"The columns will not be remembered: {error}")
            return ""

        self._host.run(lambda _: write(), self._written, group="columns")

    def _written(self, failure: str) -> None:
        if failure:
            self._host.say(failure, error=True)


def column_word(column: str) -> str:
    """Return what a column is called in a message."""
    return clean(column.removeprefix("+"))

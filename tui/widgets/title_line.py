"""The first line: where the records come from, what they are to run on, how many there are."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from spackscope.model.analysis.fit.host import Host as Machine

_PARTS = ("where", "machine", "machine-short", "counts")


class TitleLine(Horizontal):
    """The parts of the line; the style sheet chooses the form of the machine by the width."""

    def compose(self) -> ComposeResult:
        """Lay out the parts from left to right."""
        yield from (Static(id=name) for name in _PARTS)

    def show_catalog(self, where: str, counts: str) -> None:
        """Show where records come from, and how many there are."""
        self._show("where", Content.assemble(("spackscope", "bold"), "  ", where))
        self._show("counts", Content(counts))

    def show_machine(self, machine: Machine) -> None:
        """Show what specs are to run on."""
        self._show("machine", Content(str(machine)))
        self._show("machine-short", Content(machine.short))

    def _show(self, part: str, content: Content) -> None:
        self.query_one(f"#{part}", Static).update(content)

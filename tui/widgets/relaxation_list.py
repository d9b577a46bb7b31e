"""What to do where there are no rows: each a line to choose, with its count if it has one."""

from __future__ import annotations

from collections.abc import Sequence

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from spackscope.model.assist.answers import Relaxation
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import cell_width, clean, pad
from spackscope.tui.keymap import RELAXATIONS, bindings, written_key
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.virtual_list import VirtualList


class KeyChoice(Frozen):
    """A key that can be pressed instead, as Textual names it and as it is shown."""

    label: str
    key: str
    shown: str
    count: int | None = None


Choice = Relaxation | KeyChoice


class RelaxationRows(VirtualList):
    """Relaxations with their counts, or keys that help; the owner sets them."""

    BINDINGS = bindings(RELAXATIONS)

    relaxations: Sequence[Choice] = ()

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the cursor, what to do, the count of what that gives, and its key."""
        counts = [f"{each.count:,}" if each.count is not None else "" for each in self.relaxations]
        keys = [written_key(e.shown) if isinstance(e, KeyChoice) else "" for e in self.relaxations]
        count_width, key_width = max(map(len, counts)), max(map(cell_width, keys))
        widest = max(cell_width(each.label) for each in self.relaxations)
        room = width - count_width - key_width - 7
        label = pad(self.relaxations[row].label, max(0, min(widest, room)))
        return [
            ("▸ " if row == self.cursor else "  ", "accent"),
            (label, ""),
            (f"  {counts[row]:>{count_width}} ", "dim"),
            (f" {pad(keys[row], key_width)} " if key_width else "", "accent"),
        ]


class RelaxationList(Vertical):
    """Why there are no rows, above what to do about it."""

    class Taken(Message):
        """Posted when a relaxation is chosen with Enter or a double click."""

        def __init__(self, relaxation: Relaxation) -> None:
            super().__init__()
            self.relaxation = relaxation

    rows = getters.query_one(RelaxationRows)

    def compose(self) -> ComposeResult:
        """Lay out the reason above the rows."""
        yield Static(classes="relaxation-reason")
        yield RelaxationRows(id="relaxation-rows")

    def show(self, reason: str, choices: Sequence[Choice]) -> None:
        """Show other choices, with the cursor on the best."""
        first, *others = map(clean, reason.split("\n"))
        lines = [Content(first), *(Content.styled(line, "dim") for line in others)]
        self.query_one(Static).update(Content("\n").join(lines))
        self.rows.relaxations = choices
        self.rows.show(len(choices))

    @on(VirtualList.Chosen)
    def _take(self, event: VirtualList.Chosen) -> None:
        event.stop()
        choice = self.rows.relaxations[event.row]
        if isinstance(choice, KeyChoice):
            self.app.simulate_key(choice.key)
        else:
            self.post_message(self.Taken(choice))

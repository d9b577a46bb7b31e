"""Choose the form in which the selected spec or the marked specs are copied."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from spackscope.model.core.records import Spec
from spackscope.model.core.text import shorten
from spackscope.model.presentation.titles import spec_title
from spackscope.tui.copy_forms import ALL_MARKS, FORMS, CopyForm, spelled
from spackscope.tui.dialogs.base import Dialog
from spackscope.tui.keymap import COPYING, bindings

_MARGIN = 10
"""Cells of the screen beside an example."""
_EXAMPLE = 66
"""Cells of the example under each form, so that it stays on one line."""


class FormList(OptionList):
    """The list of the forms."""

    BINDINGS = bindings(COPYING)


class CopyDialog(Dialog[CopyForm]):
    """A menu of the forms, each with the text that it would copy of the first spec.

    With `all_marks`, a number, the hashes of all marked specs can be chosen too: not all of them
    are in sight.
    """

    PANE = COPYING

    def __init__(self, specs: Sequence[Spec], all_marks: int = 0) -> None:
        super().__init__()
        self._specs, self._all_marks = specs, all_marks
        self._forms = (*FORMS, ALL_MARKS) if all_marks else FORMS

    def compose(self) -> ComposeResult:
        """List the forms, each with an example under it."""
        count = len(self._specs)
        with Vertical(classes="dialog") as box:
            names = spec_title(self._specs[0]) if count == 1 else f"{count:,} marked specs"
            box.border_title = Content(f"copy {names}")
            yield FormList(*(self._option(form) for form in self._forms))

    def _option(self, form: CopyForm) -> Option:
        key = "/" if form.key == "slash" else form.key
        room = max(1, min(_EXAMPLE, self.app.size.width - _MARGIN))
        example = shorten(spelled(form, self._specs[:1]), room)
        if form is ALL_MARKS:
            example = shorten(f"{self._all_marks:,} marked, some of them out of sight", room)
        prompt = Content.assemble(
            (f" {key}  ", "bold $accent"), form.name, "\n", (f"    {example}", "dim")
        )
        return Option(prompt, id=form.key)

    def on_key(self, event: events.Key) -> None:
        """Choose a form by its letter."""
        for form in self._forms:
            if event.key == form.key:
                event.stop()
                self.dismiss(form)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._forms[event.option_index])

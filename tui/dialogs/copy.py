"""Choose the form in which specs are copied: the selected one, the marked ones, or all shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from spackscope.model.core.records import Spec
from spackscope.model.core.text import cell_width, clean, pad, shorten
from spackscope.model.report.titles import spec_title
from spackscope.tui.copy_forms import ALL_MARKS, FORMS, CopyForm, ViewForm, spelled
from spackscope.tui.dialogs.dialog import Dialog
from spackscope.tui.keymap import shown_key

_MARGIN = 10
"""Cells of the screen beside a name and its example."""
_GAP, _ROOM = 2, 98
"""Cells between a name and its example, and the most cells of both."""
_LEAST = 12
"""Cells of an example that says something."""


class CopyDialog(Dialog[CopyForm | ViewForm]):
    """A menu of the forms, each with the text that it would copy, for the first of the specs.

    `view` are the forms of all `shown` specs. `all_marks` is the number of marked specs if not all
    are in sight, so that their hashes can be chosen too; else 0. Without specs, `note` says why.
    """

    choose_word = "copy"

    def __init__(
        self,
        specs: Sequence[Spec],
        view: Sequence[ViewForm] = (),
        shown: int = 0,
        *,
        all_marks: int = 0,
        note: str = "",
    ) -> None:
        super().__init__()
        names = (
            f"{len(specs):,} marked specs" if len(specs) > 1 else "".join(map(spec_title, specs))
        )
        self._title = f"copy {names}".rstrip()
        self._note, self._heading = note, f"all {shown:,} shown" if shown != 1 else "the one shown"
        examples = {form: spelled(form, specs[:1]) if specs else "" for form in FORMS}
        self._own: dict[CopyForm, str] = {
            form: text.splitlines()[-1].strip() for form, text in examples.items() if text
        }
        if all_marks:
            self._own[ALL_MARKS] = f"{all_marks:,} marked, some of them out of sight"
        self._view = view
        forms: list[CopyForm | ViewForm] = [*self._own, *view]
        self._forms = {form.key: form for form in forms}

    def box(self) -> ComposeResult:
        """List the forms, each with its example beside it."""
        with Vertical(classes="dialog copy") as box:
            box.border_title = Content(self._title)
            yield OptionList(*self._options())

    def _options(self) -> Iterator[Option]:
        if self._note:
            yield Option(Content.styled(f" {self._note}", "dim"), disabled=True)
        for form, example in self._own.items():
            yield self._option(form, example)
        if self._view:
            yield Option(Content.styled(f" {self._heading}", "dim"), disabled=True)
        for of_view in self._view:
            yield self._option(of_view, of_view.example)

    def _option(self, form: CopyForm | ViewForm, example: str) -> Option:
        key = (f" {shown_key(form.key)}  ", "bold $accent")
        room = max(1, min(_ROOM, self.app.size.width - _MARGIN))
        names = min(max(cell_width(each.name) for each in self._forms.values()) + _GAP, room)
        name = pad(shorten(form.name, names), names)
        left = room - names
        beside = shorten(clean(example), left) if left >= _LEAST else ""
        prompt = Content.assemble(key, name, (beside, "dim"))
        return Option(prompt, id=form.key)

    def on_key(self, event: events.Key) -> None:
        """Choose a form by its letter, or say that there is none."""
        if (form := self._forms.get(event.key)) is not None:
            event.stop()
            self.dismiss(form)
        elif event.is_printable and event.key not in self.active_bindings:
            self.say(f"No form has the letter {event.character}")

    def action_choose(self) -> None:
        """Copy in the form under the cursor."""
        self.query_one(OptionList).action_select()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._forms[event.option_id or ""])

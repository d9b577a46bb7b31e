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
from spackscope.model.core.text import clean, pad, shorten
from spackscope.model.report.titles import spec_title
from spackscope.tui.copy_forms import ALL_MARKS, FORMS, CopyForm, ViewForm, spelled
from spackscope.tui.dialogs.dialog import Dialog

_MARGIN = 10
"""Cells of the screen beside an example."""
_EXAMPLE = 66
"""Cells of the example under each form, so that it stays on one line."""
_NAME = 30
"""Cells of a name before its example, where the screen is too low for lines of their own."""
_FRAME = 6
"""Lines of the screen around the list."""

MenuForm = CopyForm | ViewForm


class CopyDialog(Dialog[MenuForm]):
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
        self._specs, self._all_marks, self._shown, self._note = specs, all_marks, shown, note
        own = [form for form in FORMS if specs and spelled(form, specs[:1])]
        self._own: list[CopyForm] = [*own, ALL_MARKS] if all_marks else own
        forms: list[MenuForm] = [*self._own, *view]
        self._forms = {form.key: form for form in forms}

    def box(self) -> ComposeResult:
        """List the forms, each with an example under it, or beside it on a low screen."""
        count = len(self._specs)
        with Vertical(classes="dialog") as box:
            names = f"{count:,} marked specs"
            if count < 2:
                names = spec_title(self._specs[0]) if count else ""
            box.border_title = Content(f"copy {names}".rstrip())
            yield OptionList(*self._options())

    def _options(self) -> Iterator[Option]:
        if self._note:
            yield Option(Content.styled(f" {self._note}", "dim"), disabled=True)
        is_low = 2 * len(self._forms) + _FRAME > self.app.size.height
        for key, form in self._forms.items():
            if isinstance(form, ViewForm) and form.key == self._first_of_view:
                title = f" all {self._shown:,} shown" if self._shown != 1 else " the one shown"
                yield Option(Content.styled(title, "dim"), disabled=True)
            yield Option(self._prompt(form, is_low=is_low), id=key)

    @property
    def _first_of_view(self) -> str:
        return next((f.key for f in self._forms.values() if isinstance(f, ViewForm)), "")

    def _prompt(self, form: MenuForm, *, is_low: bool) -> Content:
        key = "/" if form.key == "slash" else form.key
        room = max(1, min(_EXAMPLE, self.app.size.width - _MARGIN))
        if is_low:
            name = pad(form.name, min(_NAME, room))
            example = self._example(form, max(1, room - _NAME)) if room > _NAME else ""
            return Content.assemble((f" {key}  ", "bold $accent"), name, (example, "dim"))
        example = self._example(form, room)
        return Content.assemble(
            (f" {key}  ", "bold $accent"), form.name, "\n", (f"    {example}", "dim")
        )

    def _example(self, form: MenuForm, room: int) -> str:
        if form is ALL_MARKS:
            return shorten(f"{self._all_marks:,} marked, some of them out of sight", room)
        if isinstance(form, ViewForm):
            return shorten(clean(form.example), room)
        return shorten(spelled(form, self._specs[:1]).splitlines()[-1].strip(), room)

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

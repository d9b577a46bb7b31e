"""Choose the form in which specs are copied: the selected one, the marked ones, or all shown."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.core.records import Spec
from spackscope.model.report.titles import spec_title
from spackscope.tui.copy_forms import ALL_MARKS, FORMS, ViewForm, spelled
from spackscope.tui.dialogs.menu import MenuDialog, MenuItem


class CopyDialog(MenuDialog):
    """A menu of the forms, each with the text that it would copy, for the first of the specs.

    `view` are the forms of all `shown` specs. `all_marks` is the number of marked specs if not all
    are in sight, so that their hashes can be chosen too; else 0. Without specs, `note` says why.
    """

    def __init__(
        self,
        specs: Sequence[Spec],
        view: Sequence[ViewForm] = (),
        shown: int = 0,
        *,
        all_marks: int = 0,
        note: str = "",
    ) -> None:
        examples = {form: spelled(form, specs[:1]) if specs else "" for form in FORMS}
        own = [
            MenuItem(form.key, form.name, text.splitlines()[-1].strip(), form)
            for form, text in examples.items()
            if text
        ]
        if all_marks:
            marked = f"{all_marks:,} marked, some of them out of sight"
            own.append(MenuItem(ALL_MARKS.key, ALL_MARKS.name, marked, ALL_MARKS))
        of_view = [MenuItem(form.key, form.name, form.example, form) for form in view]
        heading = f"all {shown:,} shown" if shown != 1 else "the one shown"
        parts = [(note, own), (heading if view else "", of_view)]
        super().__init__(f"copy {specs_title(specs)}".rstrip(), "form", parts, "copy")


def specs_title(specs: Sequence[Spec]) -> str:
    """Return a name of some specs for the title of a dialog."""
    if len(specs) > 1:
        return f"{len(specs):,} marked specs"
    return spec_title(specs[0]) if specs else ""

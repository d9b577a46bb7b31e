"""Open another source from within the browser: a name from a list, or what is typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from spackscope.model.core.redaction import shown_url
from spackscope.model.core.text import clean
from spackscope.model.sources.source_name import PREFIX, PUBLIC

if TYPE_CHECKING:
    from spackscope.tui.browser.screen import BrowserScreen
    from spackscope.tui.dialogs.pick import Pick


class SourceChosen(Message):
    """Posted when another source is to be read in place of those that are shown."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source


def open_source(screen: BrowserScreen) -> None:
    """Ask for another source: one of the list, or any that is typed."""
    # A dialog is imported when it is first opened.
    from spackscope.tui.dialogs.pick import Pick, PickDialog, best_first

    def find_all(search: str, picks: Sequence[Pick]) -> Sequence[Pick]:
        typed = [Pick(search, search, "open it", "")] if search else []
        fitting = best_first(search, picks)
        return [*typed, *fitting] if "/" in search else [*fitting, *typed]

    def take(source: str | None) -> None:
        if source is not None:
            screen.post_message(SourceChosen(source))

    spack = screen.host.session.spack
    mirrors = spack.mirrors.values() if spack is not None else ()
    picks = [
        *(
            Pick(f"{PREFIX}{each.name}", clean(f"{PREFIX}{each.name}"), clean(shown_url(each.url)))
            for each in mirrors
            if each.binary
        ),
        Pick(PUBLIC, PUBLIC, "the public cache, binaries.spack.io"),
    ]
    title = "open: choose, or type a URL, file or directory"
    screen.host.open(PickDialog(title, "source", picks, choose="open", find_all=find_all), take)

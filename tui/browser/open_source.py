"""Open another source from within the browser: a name from a list, or a typed one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from spackscope.model.assist.answers import Completion, complete_path
from spackscope.model.core.errors import QueryError
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.text import clean
from spackscope.model.sources.site_url import parse_site_url
from spackscope.model.sources.source_name import PREFIX, PUBLIC
from spackscope.tui.browser import jobs
from spackscope.tui.browser.screen import BrowserScreen, SourceChosen
from spackscope.tui.dialogs.pick import Pick, SourceDialog, best_first


def open_source(screen: BrowserScreen) -> None:
    """Ask for another source: from the list, typed, or opened before."""
    searched, paths = "", list[str]()

    def take_paths(found: Sequence[Completion]) -> None:
        paths[:] = [each.text for each in found]
        dialog.is_reading = False
        dialog.show_picks(picks)

    def find_all(search: str, picks: Sequence[Pick]) -> Sequence[Pick]:
        nonlocal searched
        if search != searched:
            searched, dialog.is_reading = search, True
            screen.host.run(lambda _: complete_path(search), take_paths, jobs.PATHS)
        below = [Pick([each], each, "path") for each in paths if each.startswith(search)]
        below = [pick for pick in below if search not in ("", pick.text)]
        typed = [Pick([search], search, "open it", "")] if search else []
        fitting = best_first(search, picks)
        return [*typed, *below, *fitting] if "/" in search else [*fitting, *typed, *below]

    def take(sources: Sequence[str] | None) -> None:
        if sources is None:
            return
        # A source that cannot be read can be corrected.
        screen.before = [sources, *(each for each in screen.before if each != sources)]
        try:
            view = parse_site_url(sources[0]) if len(sources) == 1 else None
        except QueryError as error:
            screen.host.say(str(error), error=True)
            return
        chosen = SourceChosen(sources)
        if view is not None:
            chosen = SourceChosen([view.source], view.query, ". ".join(view.notes))
        show = partial(screen.post_message, chosen)
        screen.controllers.loading.open(chosen.sources, show)

    spack = screen.host.session.spack
    mirrors = spack.mirrors.values() if spack is not None else ()
    names = {f"{PREFIX}{each.name}": shown_url(each.url) for each in mirrors if each.binary}
    names[PUBLIC] = "the public cache: the newest release, or that of your Spack"
    picks = [
        *(Pick(each, clean(" ".join(map(shown_url, each))), "again") for each in screen.before),
        *(Pick([name], clean(name), clean(what)) for name, what in names.items()),
    ]
    title = "open: choose, or type a URL, file or directory"
    dialog = SourceDialog(title, "source", picks, choose="open", find_all=find_all)
    screen.host.open(dialog, take)

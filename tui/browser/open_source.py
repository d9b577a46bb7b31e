"""Open another source from within the browser: a name from a list, or a typed one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from spackscope.model.analysis.host import parse_host
from spackscope.model.assist.offers import complete_path
from spackscope.model.core.errors import QueryError
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.text import clean
from spackscope.model.query.parser import parse
from spackscope.model.sources.discover import kind_of
from spackscope.model.sources.resolve import environment_names
from spackscope.model.sources.session import Session
from spackscope.model.sources.site_url import parse_site_url
from spackscope.model.sources.source_name import PREFIX, PUBLIC
from spackscope.tui.browser import jobs
from spackscope.tui.browser.answers import cover
from spackscope.tui.browser.screen import BrowserScreen, SourceChosen
from spackscope.tui.dialogs.pick import Pick, SourceDialog, best_first

_OPEN = "open: choose, or type a URL, file or directory"
_TITLES = {
    "cover": "coverage: add a cache, an environment, a lock file or a host",
    "diff_sources": "changes: add the newer cache, as URL, file or directory",
}
"""The titles where an action asks for a source to add."""


class _Found(NamedTuple):
    """The paths that begin with a typed text, and the environments of Spack: names and paths.

    `here` are the sources of the current directory with their kinds, while nothing is typed. The
    text `is_host` if it describes one, and `is_path` if it is a URL or a path that exists.
    """

    paths: Sequence[str] = ()
    environments: Sequence[tuple[str, str]] = ()
    here: Sequence[tuple[str, str]] = ()
    is_host: bool = False
    is_path: bool = False


def open_source(screen: BrowserScreen, action: str = "") -> None:
    """Ask for another source: from the list, typed, or opened before.

    For an `action` that lacks a source, the source is added to the open ones, and the action runs.
    """
    host, loading = screen.host, screen.controllers.loading
    searched: str | None = None
    found = _Found()

    def take_found(read: _Found) -> None:
        nonlocal found
        found, dialog.is_reading = read, False
        dialog.show_picks(picks)

    def find_all(search: str, picks: Sequence[Pick]) -> Sequence[Pick]:
        nonlocal searched, found
        if search != searched:
            searched, found, dialog.is_reading = search, _Found(), True
            host.run(lambda _: _find(search, host.session), take_found, jobs.PATHS)
        if action == "cover" and found.is_host:
            return [Pick([search], search, "a host: what runs there", "")]
        offered = [Pick([p], clean(name), "environment") for name, p in found.environments]
        # Coverage is that of an environment, which is the first to be offered.
        here = sorted(found.here, key=lambda pair: action == "cover" and pair[1] != "environment")
        offered += [Pick([path], path, kind) for path, kind in here]
        offered = [each for each in offered if each.value[0] not in host.sources]
        below = [Pick([each], each, "path") for each in found.paths if each.startswith(search)]
        below = [pick for pick in below if search not in ("", pick.text)]
        fitting = best_first(search, [*offered, *picks])
        is_offered = any(pick.value == [search] for pick in fitting)
        typed = [Pick([search], search, "open it", "")] if search and not is_offered else []
        if len(matches := [*fitting, *below]) == 1 and not found.is_path:
            return [*matches, *typed]
        if found.is_path or "/" in search:
            return [*typed, *below, *fitting]
        return [*fitting, *typed, *below]

    def open_(sources: Sequence[str], adds: bool) -> None:
        if action == "cover" and found.is_host and list(sources) == [searched]:
            dialog.dismiss()
            given = host.state.table.options.get("hosts", ())
            cover(screen.controllers.sheets, [*given, *sources])
            return
        # A source that cannot be read can be corrected.
        screen.before = [sources, *(each for each in screen.before if each != sources)]
        try:
            view = parse_site_url(sources[0]) if len(sources) == 1 else None
        except QueryError as error:
            host.say(str(error), error=True)
            return
        query, note = (view.query, ". ".join(view.notes)) if view is not None else ("", "")
        of_record, shown = parse(query), host.state.catalog
        if shown is not None and "hash" in of_record.columns and shown.count(of_record):
            dialog.dismiss()
            screen.controllers.search.choose(of_record, note or "The open sources have it")
            return
        named = [view.source] if view is not None else sources
        if adds and set(named) <= set(host.sources):
            host.say("This source is open already", error=True)
            return
        every = [*dict.fromkeys([*host.sources, *named])] if adds else named
        query = query or (str(host.state.view.query) if adds else "")
        chosen = SourceChosen(every, query, note, action)
        dialog.wait(is_opening=True)
        loading.open(
            named,
            lambda: screen.post_message(chosen),
            lambda: dialog.wait(is_opening=False),
        )

    spack = host.session.spack
    mirrors = spack.mirrors.values() if spack is not None else ()
    names = {f"{PREFIX}{each.name}": shown_url(each.url) for each in mirrors if each.binary}
    names[PUBLIC] = "the public cache: the newest release, or that of your Spack"
    picks = [
        *(Pick(each, clean(" ".join(map(shown_url, each))), "again") for each in screen.before),
        *(Pick([name], clean(name), clean(what)) for name, what in names.items()),
    ]
    title = _TITLES.get(action, _OPEN)
    dialog = SourceDialog(title, picks, find_all, open_, loading.stop, only_adds=bool(action))
    host.open(dialog)


def _find(search: str, session: Session) -> _Found:
    """Find what a text may name: for a worker thread."""
    root = session.spack.environments if session.spack is not None else ""
    try:
        is_host = bool(search) and parse_host(search) is not None
    except QueryError:
        is_host = False
    paths = [each.text for each in complete_path(search)]
    named = [(name, os.path.join(root, name)) for name in environment_names(session)]
    here = [] if search else [(path, kind) for path in paths if (kind := kind_of(path))]
    is_path = "://" in search or (search != "" and os.path.exists(os.path.expanduser(search)))
    return _Found(paths, named, here, is_host, is_path)

"""The dialog to open another source: a name from a list, or a typed one."""

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
from spackscope.tui.browser.answers import cover
from spackscope.tui.browser.path_dialog import PathDialog
from spackscope.tui.browser.screen import BrowserScreen, SourceChosen
from spackscope.tui.dialogs.dialog import Pick, best_first

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


class SourceDialog(PathDialog):
    """Pick a source, or type one; its value is a list of names.

    The picks are the sources opened before, those that Spack knows, and the paths that begin with
    the typed text. A value is opened in place of the open sources, or added to them; the dialog
    stays until its first source is read. For an `action` that lacks a source, the source is added,
    and the action runs.
    """

    def __init__(self, browser: BrowserScreen, action: str) -> None:
        self._browser, self._action = browser, action
        # Where an action lacks a source, Enter adds it.
        self.adds = not action
        spack = browser.host.session.spack
        mirrors = spack.mirrors.values() if spack is not None else ()
        names = {f"{PREFIX}{each.name}": shown_url(each.url) for each in mirrors if each.binary}
        names[PUBLIC] = "the public cache: the newest release, or that of your Spack"
        before = ((each, " ".join(map(shown_url, each))) for each in browser.before)
        picks = [
            *(Pick(each, clean(text), "again") for each, text in before),
            *(Pick([name], clean(name), clean(what)) for name, what in names.items()),
        ]
        choose = "add" if action else "open"
        title = _TITLES.get(action, _OPEN)
        super().__init__(browser.host, title, "source", picks, choose=choose)
        self.input.placeholder = "type a name, a path or a URL"

    def find(self, text: str) -> _Found:
        """Find what a text may name."""
        return _find(text, self._host.session)

    def fitting(self, text: str, picks: Sequence[Pick]) -> Sequence[Pick]:
        """Return the sources and paths for a text, the best first."""
        found = self.found or _Found()
        if self._action == "cover" and found.is_host:
            return [Pick([text], text, "a host: what runs there", "")]
        offered = [Pick([p], clean(name), "environment") for name, p in found.environments]
        # Coverage is that of an environment, which is the first to be offered.
        here = sorted(
            found.here, key=lambda pair: self._action == "cover" and pair[1] != "environment"
        )
        offered += [Pick([path], path, kind) for path, kind in here]
        offered = [each for each in offered if each.value[0] not in self._host.sources]
        below = [Pick([each], each, "path") for each in found.paths if each.startswith(text)]
        below = [pick for pick in below if text not in ("", pick.text)]
        fitting = best_first(text, [*offered, *picks])
        is_offered = any(pick.value == [text] for pick in fitting)
        typed = [Pick([text], text, "open it", "")] if text and not is_offered else []
        if len(matches := [*fitting, *below]) == 1 and not found.is_path:
            return [*matches, *typed]
        if found.is_path or "/" in text:
            return [*typed, *below, *fitting]
        return [*fitting, *typed, *below]

    def take(self, value: Sequence[str], *, adds: bool = False) -> None:
        """Open the sources of the row under the cursor, or add them to the open ones."""
        host, browser, adds = self._host, self._browser, adds or bool(self._action)
        is_host = self.found is not None and self.found.is_host
        if self._action == "cover" and is_host and list(value) == [self.searched]:
            self.dismiss()
            given = host.state.table.options.get("hosts", ())
            cover(browser.controllers.sheets, [*given, *value])
            return
        # A source that cannot be read can be corrected.
        browser.before = [value, *(each for each in browser.before if each != value)]
        try:
            view = parse_site_url(value[0]) if len(value) == 1 else None
        except QueryError as error:
            host.say(str(error), error=True)
            return
        query, note = (view.query, ". ".join(view.notes)) if view is not None else ("", "")
        of_record, shown = parse(query), host.state.catalog
        if shown is not None and "hash" in of_record.columns and shown.count(of_record):
            self.dismiss()
            browser.controllers.search.choose(of_record, note or "The open sources have it")
            return
        named = [view.source] if view is not None else value
        if adds and set(named) <= set(host.sources):
            host.say("This source is open already", error=True)
            return
        every = [*dict.fromkeys([*host.sources, *named])] if adds else named
        query = query or (str(host.state.view.query) if adds else "")
        chosen = SourceChosen(every, query, note, self._action)
        self.work(is_working=True)
        browser.controllers.loading.open(
            named,
            lambda: browser.post_message(chosen),
            lambda: self.work(is_working=False),
        )

    def action_add(self) -> None:
        """Add the sources of the row under the cursor to the open ones."""
        if self.list.pick is not None:
            self.take(self.list.pick.value, adds=True)

    def stop(self) -> None:
        """Stop reading the source."""
        self._browser.controllers.loading.stop()
        self.work(is_working=False)


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

"""Check what settings mean: what only some of them need is imported for it.

`config_file.py` has checked their names and kinds before.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from spackscope.model.core.errors import QueryError
from spackscope.model.core.suggestions import did_you_mean
from spackscope.tui.settings.column_settings import check_columns
from spackscope.tui.settings.origins import Mistake
from spackscope.tui.settings.settings import Settings


def mistakes_of(settings: Settings) -> list[Mistake]:
    """Return all that is wrong with settings, in the order of files and their lines."""
    mistakes = [
        *settings.mistakes,
        *_host(settings),
        *_named_queries(settings),
        *browser_mistakes(settings),
    ]
    return sorted(mistakes, key=lambda mistake: (mistake.origin.name, mistake.origin.line))


def browser_mistakes(settings: Settings) -> list[Mistake]:
    """Return what is wrong with the settings that only the browser uses."""
    return [*_copy(settings), *_theme(settings), *check_columns(settings), *_keys(settings)]


def _named_queries(settings: Settings) -> Iterable[Mistake]:
    if not settings.views:
        return ()
    from spackscope.tui.settings.named_queries import check_named_queries

    return check_named_queries(settings)


def _keys(settings: Settings) -> Iterable[Mistake]:
    if not settings.keys:
        return ()
    from spackscope.tui.settings.key_changes import check_keys

    return check_keys(settings)


def _host(settings: Settings) -> Iterator[Mistake]:
    if not settings.host:
        return
    from spackscope.model.analysis.host import parse_host

    try:
        parse_host(settings.host)
    except QueryError as error:
        yield Mistake(settings.origin("host"), f"host: {error}")


def _copy(settings: Settings) -> Iterator[Mistake]:
    try:
        shlex.split(settings.copy)
    except ValueError as error:
        reason = str(error)
        yield Mistake(settings.origin("copy"), f"copy: {reason[:1].lower()}{reason[1:]}")


def _theme(settings: Settings) -> Iterator[Mistake]:
    if not settings.theme:
        return
    from spackscope.tui.settings.themes import theme_names

    names = theme_names()
    if settings.theme not in names:
        hint = did_you_mean(settings.theme, names) or f"; there are {', '.join(names)}"
        yield Mistake(settings.origin("theme"), f"there is no theme {settings.theme}{hint}")

"""The named queries of the configuration, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spackscope.model.core.errors import WrongNamedQuery
from spackscope.model.query.ast import VIEW
from spackscope.model.query.parser import NamedQueries
from spackscope.tui.settings.origins import Mistake
from spackscope.tui.settings.settings import Settings


def named_queries_of(settings: Settings) -> NamedQueries:
    """Return the named queries of the settings."""
    places = {name: str(settings.origin(f"views.{name}")) for name in settings.views}
    return NamedQueries(settings.views, places)


def check_named_queries(settings: Settings) -> Iterator[Mistake]:
    """Yield what is wrong with named queries: each with its place in the configuration.

    A query that is wrong only because another one is, is not named.
    """
    named_queries = NamedQueries(settings.views)
    for name in settings.views:
        origin = settings.origin(f"views.{name}")
        if not re.fullmatch(r"[\w.-]+", name, re.ASCII):
            sentence = f"a view is named with letters, digits, _, - and .; not {name}"
            yield Mistake(origin, sentence)
            continue
        try:
            named_queries.query(name)
        except WrongNamedQuery as error:
            if name in error.names:
                yield Mistake(origin, f"{VIEW}={name}: {error.sentence}")

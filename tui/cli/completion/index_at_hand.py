"""Open the index that a command line would read, as it is: nothing is built or asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from spackscope.model.core.errors import SourceError
from spackscope.model.core.frozen import replace
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import load, open_cached, open_cached_part
from spackscope.model.sources.resolve import resolve_sources
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import SAMPLE
from spackscope.tui.cli.completion.files import expanded
from spackscope.tui.cli.completion.places import Place
from spackscope.tui.settings import Settings


def session_of(place: Place, environ: Mapping[str, str], settings: Settings) -> Session:
    """Return the session that a command line would have."""
    host = str(place.fields.get("host", "")) or settings.host
    session = Session(
        environ,
        include_dependency_only="all" in place.fields,
        host=host,
        tag_list=settings.public,
    )
    if not settings.views:
        return session
    return replace(session, named_queries=settings.named_queries())


def index_at_hand(place: Place, session: Session, settings: Settings) -> Catalog | None:
    """Return the index of the sources of a command line, or of one of them; None without one.

    An index with dependency-only specs serves where one without is not there, and the other way
    round. Only the bundled sample is read where it has none, since it takes no longer.
    """
    words = place.words if place.command == "doubles" else ()
    given = [
        expanded(name, session.environ) for name in (*place.fields.get("sources", ()), *words)
    ]
    with contextlib.suppress(SourceError):
        sources = resolve_sources(given, session, settings.sources)
        if sources == (SAMPLE,):
            return load(sources, session)
        other = replace(session, include_dependency_only=not session.include_dependency_only)
        for opened in (open_cached, open_cached_part):
            for each in (session, other):
                if (catalog := opened(sources, each)) is not None:
                    return catalog
    return None

"""Load the sources in a thread: the only place of the interface that reads documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from textual.message import Message

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import (
    Cancelled,
    IndexDamaged,
    SourceError,
)
from spackscope.model.loader.load import STILL_DAMAGED, load, open_cached
from spackscope.model.presentation.progress import Stages
from spackscope.model.sources.session import Session
from spackscope.tui.browser.messages import Loaded, LoadFailed, Progress


def load_catalog(
    sources: Sequence[str],
    session: Session,
    post: Callable[[Message], object],
    generation: int,
    *,
    first: bool,
    was_damaged: bool,
) -> None:
    """Load a catalog and post what comes of it.

    The `first` time an index that lies ready is handed over at once, before the documents are
    compared with it and its checksum is verified, so that nobody waits for a slow file system.
    Without one, what there is is handed over while slow sources are waited for. What
    `was_damaged` is built again.
    """
    shown = None
    stages = Stages()

    def on_progress(what: str, done: int, total: int | None) -> None:
        post(Progress(generation, stages.describe(what, done, total)))

    def on_late(catalog: Catalog) -> None:
        post(Loaded(generation, catalog, checked=False))

    try:
        if first and (shown := open_cached(sources, session)) is not None:
            post(Loaded(generation, shown, checked=False))
        catalog = load(
            sources,
            replace(session, on_progress=on_progress),
            was_damaged=was_damaged,
            on_late=on_late if first and shown is None else None,
        )
    except Cancelled:
        # Who stopped it has said so, or has left.
        return
    except SourceError as error:
        post(LoadFailed(generation, str(error)))
    except IndexDamaged as error:
        post(LoadFailed(generation, f"{STILL_DAMAGED}: {error}"))
    else:
        if shown is not None and shown.meta == catalog.meta:
            shown.discovered = catalog.discovered
            catalog = shown
        post(Loaded(generation, catalog, checked=True))

"""Load the sources in a thread: the only place of the interface that reads documents."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence

from textual.message import Message

from spackscope.model.catalog import Catalog
from spackscope.model.index.cache import load, open_cached
from spackscope.model.progress import ShouldStop
from spackscope.model.records import Cancelled
from spackscope.model.sources.documents import SourceError
from spackscope.tui.messages import Loaded, LoadFailed, Progress
from spackscope.tui.progress import Stages


def load_catalog(
    sources: Sequence[str],
    environ: Mapping[str, str],
    post: Callable[[Message], object],
    generation: int,
    *,
    first: bool,
    rebuild: bool,
    should_stop: ShouldStop,
) -> None:
    """Load a catalog and post what comes of it.

    The `first` time an index that lies ready is handed over at once, before the documents are
    compared with it, so that nobody waits for a slow file system. Without one, what there is is
    handed over while slow sources are waited for.
    """
    shown = None
    stages = Stages()

    def on_progress(what: str, done: int, total: int | None) -> None:
        post(Progress(generation, stages.said(what, done, total)))

    def on_late(catalog: Catalog) -> None:
        post(Loaded(generation, catalog, checked=False))

    try:
        if first and (shown := open_cached(sources, environ)) is not None:
            post(Loaded(generation, shown, checked=False))
        try:
            catalog = load(
                sources,
                environ,
                rebuild=rebuild,
                on_late=on_late if first and shown is None else None,
                on_progress=on_progress,
                should_stop=should_stop,
            )
        except sqlite3.Error:
            # Only a damaged index gets here: what cannot be written is built in memory.
            catalog = load(
                sources, environ, rebuild=True, on_progress=on_progress, should_stop=should_stop
            )
    except Cancelled:
        # Who stopped it has said so, or has left.
        return
    except SourceError as error:
        post(LoadFailed(generation, str(error)))
    else:
        if shown is not None and shown.meta == catalog.meta:
            shown.surveyed = catalog.surveyed
            catalog = shown
        post(Loaded(generation, catalog, checked=True))

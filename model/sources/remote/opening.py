"""Open the place that an address or a path names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from spackscope.model.progress import OnProgress, ShouldStop, never, no_progress
from spackscope.model.sources.addresses import is_remote, scheme_of, shown_url
from spackscope.model.sources.documents import SourceError
from spackscope.model.sources.place import Folder, Place

if TYPE_CHECKING:
    from spackscope.model.sources.remote.client import Client


def open_place(
    url: str,
    environ: Mapping[str, str],
    *,
    options: Mapping[str, object] = {},
    client: Client | None = None,
    on_progress: OnProgress = no_progress,
    should_stop: ShouldStop = never,
) -> Place:
    """Open a place, of which nothing is asked yet.

    An address begins with http, https, file, s3, gs, oci or oci+http; everything else is a path.
    `options` are those of a mirror's connection in mirrors.yaml. Places with one `client` share
    its connections, and what it knows of hosts that cannot be reached. Raises SourceError.
    """
    scheme = scheme_of(url)
    if not scheme:
        path = os.path.expanduser(url)
        return Folder(path, url)
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        raise SourceError(f"{shown_url(url)} is no address: its host cannot be read") from None
    if scheme == "file":
        if host not in ("", "localhost"):
            raise SourceError(f"{url} names the files of {host}, which are not on this machine")
        path = unquote(urlsplit(url).path)
        if "\0" in path:
            raise SourceError(f"{url} is no path: it has a NUL in it")
        return Folder(path, url.rstrip("/") or url)
    if is_remote(url):
        return _far_away(scheme, url, environ, options, client, on_progress, should_stop)
    raise SourceError(f"{shown_url(url)}: no place is known by {scheme}://")


def _far_away(
    scheme: str,
    url: str,
    environ: Mapping[str, str],
    options: Mapping[str, object],
    client: Client | None,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> Place:
    # Imported here, since what is on this machine needs none of it.
    from spackscope.model.sources.remote.client import Client
    from spackscope.model.sources.remote.object_store import ObjectPlace, bucket_of
    from spackscope.model.sources.remote.oci import Registry
    from spackscope.model.sources.remote.web import WebPlace

    client = client or Client(environ, should_stop=should_stop)
    if scheme in ("http", "https"):
        return WebPlace(
            url, environ, client=client, on_progress=on_progress, should_stop=should_stop
        )
    if scheme in ("s3", "gs"):
        return ObjectPlace(
            url,
            bucket_of(url, environ, options, should_stop),
            environ,
            client=client,
            on_progress=on_progress,
            should_stop=should_stop,
        )
    return Registry(
        url,
        environ,
        options=options,
        client=client,
        on_progress=on_progress,
        should_stop=should_stop,
    )

"""Open the place that an address or a path names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from spackscope.model.core.errors import SourceError
from spackscope.model.core.progress import OnProgress, ShouldStop, never, no_progress
from spackscope.model.storage.base import Storage
from spackscope.model.storage.local import LocalFolder
from spackscope.model.storage.urls import is_remote, local_path, scheme_of, shown_url

if TYPE_CHECKING:
    from spackscope.model.storage.http_client import Client


def open_storage(
    url: str,
    environ: Mapping[str, str],
    *,
    options: Mapping[str, object] = {},
    client: Client | None = None,
    on_progress: OnProgress = no_progress,
    should_stop: ShouldStop = never,
) -> Storage:
    """Open a place, of which nothing is asked yet.

    An address begins with http, https, file, s3, gs, oci or oci+http; everything else is a path.
    `options` are those of a mirror's connection in mirrors.yaml. Places with one `client` share
    its connections, and what it knows of hosts that cannot be reached. Raises SourceError.
    """
    scheme = scheme_of(url)
    if not scheme:
        return _folder(os.path.expanduser(url), url)
    if scheme == "file":
        return _folder(local_path(url), url.rstrip("/") or url)
    if is_remote(url):
        return _far_away(scheme, url, environ, options, client, on_progress, should_stop)
    raise SourceError(f"{shown_url(url)}: no place is known by {scheme}://")


def _folder(path: str, named: str) -> LocalFolder:
    try:
        has_nul = b"\0" in os.fsencode(path)
    except UnicodeEncodeError:
        raise SourceError(f"{shown_url(named)} cannot be read: its name is not text") from None
    if has_nul:
        raise SourceError(f"{shown_url(named)} cannot be read: its name has a NUL")
    return LocalFolder(path, shown_url(named))


def _far_away(
    scheme: str,
    url: str,
    environ: Mapping[str, str],
    options: Mapping[str, object],
    client: Client | None,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> Storage:
    # Imported here, since what is on this machine needs none of it.
    from spackscope.model.storage.http import HttpStorage
    from spackscope.model.storage.http_client import Client
    from spackscope.model.storage.object_store import ObjectStorage, bucket_of
    from spackscope.model.storage.oci import OciRegistry

    client = client or Client(environ, should_stop=should_stop)
    if scheme in ("http", "https"):
        return HttpStorage(
            url, environ, client=client, on_progress=on_progress, should_stop=should_stop
        )
    if scheme in ("s3", "gs"):
        return ObjectStorage(
            url,
            bucket_of(url, environ, options, should_stop),
            environ,
            client=client,
            on_progress=on_progress,
            should_stop=should_stop,
        )
    return OciRegistry(
        url,
        environ,
        options=options,
        client=client,
        on_progress=on_progress,
        should_stop=should_stop,
    )

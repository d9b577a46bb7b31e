"""Open the storage that a URL or a path names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from spackscope.model.core.errors import SourceError
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.tasks import OnProgress, ShouldStop, never, no_progress
from spackscope.model.storage.base import Storage
from spackscope.model.storage.local import LocalFolder
from spackscope.model.storage.schemes import is_remote, scheme_of
from spackscope.model.storage.urls import local_path, split_url

if TYPE_CHECKING:
    from spackscope.model.storage.download import Downloader
    from spackscope.model.storage.http_client import Client
    from spackscope.model.storage.object_store import Bucket


def open_storage(
    url: str,
    environ: Mapping[str, str],
    *,
    options: Mapping[str, object] = {},
    client: Client | None = None,
    on_progress: OnProgress = no_progress,
    should_stop: ShouldStop = never,
    asks_anew: bool = False,
) -> Storage:
    """Open a storage, without any request yet.

    `url` begins with http, https, file, s3, gs, oci or oci+http; everything else is a path. Of
    `environ`, the cache directory, proxies, certificates and credentials are read; `options` are
    those of a mirror's connection in mirrors.yaml. Storages with one `client` share its
    connections, and do not try again a host that another could not reach. `on_progress` gets the
    bytes of each download, `should_stop` is called at least every 50 ms. With `asks_anew` servers
    are asked for files, not whether cached copies are current.

    Raises SourceError for a URL that cannot be opened; it contains no secret.

    >>> open_storage("s3://spack-binaries/develop", os.environ).fetch("v3/layout.json").origin
    's3://spack-binaries/develop/v3/layout.json'
    """
    if not is_remote(url):
        return _open_folder(url)
    # Imported here, since files of this machine need none of it.
    from spackscope.model.storage.download import Downloader
    from spackscope.model.storage.download_cache import open_download_cache
    from spackscope.model.storage.http_client import Client

    client = client or Client(environ, should_stop=should_stop)
    cache = open_download_cache(environ)
    downloader = Downloader(cache, client, on_progress, should_stop, asks_anew)
    return _open_remote(url, downloader, options, environ, should_stop)


def _open_folder(url: str) -> LocalFolder:
    scheme, shown = scheme_of(url), shown_url(url)
    if scheme not in ("", "file"):
        raise SourceError(f"{shown}: {scheme}:// is not supported")
    path = local_path(url) if scheme else os.path.expanduser(url)
    try:
        has_nul = b"\0" in os.fsencode(path)
    except UnicodeEncodeError:
        raise SourceError(f"{shown} cannot be read: its name is not text") from None
    if has_nul:
        raise SourceError(f"{shown} cannot be read: its name has a NUL")
    return LocalFolder(path, (shown.rstrip("/") or shown) if scheme else shown)


def _open_remote(
    url: str,
    downloader: Downloader,
    options: Mapping[str, object],
    environ: Mapping[str, str],
    should_stop: ShouldStop,
) -> Storage:
    """Open the storage of a URL. Raises SourceError where it needs a library that is missing."""
    from spackscope.model.storage.credentials import read_credentials, s3_credentials
    from spackscope.model.storage.http import HttpStorage
    from spackscope.model.storage.object_store import ObjectStorage
    from spackscope.model.storage.oci import OciRegistry

    split = split_url(url)
    if split.scheme in ("http", "https"):
        return HttpStorage(url, downloader)
    credentials = read_credentials(options, environ)
    if split.scheme not in ("s3", "gs"):
        return OciRegistry(url, credentials, downloader)
    if not split.netloc:
        raise SourceError(f"{shown_url(url)} is not a valid URL: it has no bucket")
    try:
        if split.scheme == "s3":
            from spackscope.model.storage.s3 import S3Bucket

            credentials = s3_credentials(credentials, environ)
            bucket: Bucket = S3Bucket(split.netloc, credentials, should_stop)
        else:
            from spackscope.model.storage.gcs import GcsBucket

            bucket = GcsBucket(split.netloc, should_stop)
    except ImportError:
        library = "boto3" if split.scheme == "s3" else "google-cloud-storage"
        install = f"pip install 'spackscope[{split.scheme}]'"
        raise SourceError(f"{split.scheme}:// needs {library}: {install}") from None
    return ObjectStorage(url, bucket, downloader)

"""Open the storage that a URL or a path names, without any request yet."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from spackscope.model.core.errors import SourceError, reason
from spackscope.model.core.redaction import shown_url
from spackscope.model.storage.base import LocalFolder, Storage, scheme_of
from spackscope.model.storage.urls import local_path

if TYPE_CHECKING:
    from spackscope.model.storage.http import Client


def open_folder(url: str) -> LocalFolder:
    """Open the folder of a path or of a `file:` URL. Raises SourceError."""
    scheme, shown = scheme_of(url), shown_url(url)
    if scheme not in ("", "file"):
        raise SourceError(f"{shown}: {scheme}:// is not supported")
    try:
        path = local_path(url) if scheme else os.path.abspath(os.path.expanduser(url))
        has_nul = b"\0" in os.fsencode(path)
    except UnicodeEncodeError:
        raise SourceError(f"{shown} cannot be read: its name is not text") from None
    except OSError as error:
        raise SourceError(f"{shown} {reason(error)}") from None
    if has_nul:
        raise SourceError(f"{shown} cannot be read: its name has a NUL")
    return LocalFolder(path, (shown.rstrip("/") or shown) if scheme else shown)


def open_remote(url: str, client: Client, options: Mapping[str, object] = {}) -> Storage:
    """Open the storage of a URL for which `base.is_remote` is true.

    Storages with one client share its connections, and do not try again a host that another could
    not reach. `options` are those of a mirror's connection in mirrors.yaml.

    Raises SourceError for a URL that cannot be opened, and where a library is missing; it contains
    no secret.

    >>> open_remote("s3://spack-binaries/develop", client).fetch("v3/layout.json").origin
    's3://spack-binaries/develop/v3/layout.json'
    """
    from spackscope.model.storage import http, object_stores, oci

    scheme = scheme_of(url)
    if scheme in ("http", "https"):
        return http.HttpStorage(url, client)
    credentials = object_stores.read_credentials(options, client.environ)
    try:
        if scheme == "s3":
            return object_stores.S3Storage(url, credentials, client)
        if scheme == "gs":
            return object_stores.GcsStorage(url, client)
    except ImportError:
        library = "boto3" if scheme == "s3" else "google-auth"
        install = f"pip install 'spackscope[{scheme}]'"
        raise SourceError(f"{scheme}:// needs {library}: {install}") from None
    return oci.OciRegistry(url, credentials["id"], credentials["secret"], client)

"""The session in which sources are opened: environment, options, progress, connections."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from spackscope.model.core.errors import SourceError, naming
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.records import Problem
from spackscope.model.core.redaction import shown_url
from spackscope.model.sources.source_name import path_or_url
from spackscope.model.sources.spack_config import (
    ReuseRules,
    SpackConfig,
    read_reuse_rules,
    read_spack_config,
)
from spackscope.model.storage.base import LocalFolder, Storage, is_remote, scheme_of

if TYPE_CHECKING:
    from spackscope.model.storage.http import Client


class Session(Frozen):
    """Open sources with shared connections, for one load or one question.

    Connections and the configuration of Spack are kept for the lifetime of a session, so a
    reload needs a new session, as `replace` of `model/core/frozen.py` makes it:

        session = Session(os.environ, include_dependency_only=True)
        catalog = load(["public"], session)

    `include_dependency_only` also lists the specs that exist only as dependencies (`--all`).
    With `asks_anew` remote files are downloaded even where their cached copies may be current.
    `host` describes the machine that specs are to run on; empty for this one, or the one that the
    environment describes. Without `uses_rules` the rules of Spack for reuse are ignored.
    `tag_list` is the tag list of the public cache; empty for the list that the environment names.
    `piped` has the files that standard input, as the source `-`, and pipes were copied to.
    """

    environ: Mapping[str, str] = field(repr=False)
    include_dependency_only: bool = False
    asks_anew: bool = False
    piped: Mapping[str, str] = field(default_factory=dict)
    host: str = ""
    uses_rules: bool = True
    tag_list: str = field(default="", repr=False)

    def open(self, url: str, options: Mapping[str, object] = {}) -> Storage:
        """Open the storage that a URL or path names. Raises SourceError."""
        return open_remote(url, self.client, options) if is_remote(url) else open_folder(url)

    @cached_property
    def spack(self) -> SpackConfig | None:
        """The configuration of the user's Spack, or None without a Spack."""
        return read_spack_config(self.environ)

    @property
    def has_read_spack(self) -> bool:
        """Whether the configuration of Spack was needed so far."""
        return "spack" in vars(self)

    @cached_property
    def reuse_rules(self) -> ReuseRules | None:
        """The rules for reuse in the user's Spack configuration; None if it is ignored."""
        spack = self.spack if self.uses_rules else None
        return None if spack is None else read_reuse_rules(spack)

    @property
    def configuration(self) -> tuple[object, Sequence[Problem]]:
        """The parts of Spack's configuration that answers rest on, and its problems."""
        if (spack := self.spack) is None:
            return (), ()
        return (self.reuse_rules, spack.externals), spack.problems

    @cached_property
    def client(self) -> Client:
        """The connections and the cache of downloads that all remote storages share."""
        from spackscope.model.storage.http import Client

        return Client(self.environ, asks_anew=self.asks_anew)


def open_folder(url: str) -> LocalFolder:
    """Open the folder of a path or of a `file:` URL. Raises SourceError."""
    scheme, shown = scheme_of(url), shown_url(url)
    if scheme not in ("", "file"):
        raise SourceError(f"{shown}: {scheme}:// is not supported")
    with naming(shown):
        path = path_or_url(url) if scheme else os.path.abspath(os.path.expanduser(url))
        if b"\0" in os.fsencode(path):
            raise ValueError("embedded null byte")
    return LocalFolder(path, (shown.rstrip("/") or shown) if scheme else shown)


def open_remote(url: str, client: Client, options: Mapping[str, object] = {}) -> Storage:
    """Open the storage of a URL for which `base.is_remote` is true.

    Storages of one client share its connections, and do not retry a host that one of them could
    not reach. `options` are the connection options of a mirror in mirrors.yaml.

    Raises SourceError, whose message has no secret, for a URL that cannot be opened, and where a
    library is missing.

    >>> open_remote("s3://spack-binaries/develop", client).fetch("v3/layout.json").origin
    's3://spack-binaries/develop/v3/layout.json'
    """
    from spackscope.model.storage import http, object_stores

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
        raise SourceError(
            f"{scheme}:// needs the library {library} for {sys.executable}"
        ) from None
    return object_stores.OciRegistry(url, credentials["id"], credentials["secret"], client)

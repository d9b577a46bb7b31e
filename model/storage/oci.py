"""Build caches in registries of container images, as Spack pushes them (lib/spack/spack/oci).

A request, a token and a digest are all that reading takes, and so it goes over the same client as
the web: with its proxies, its patience and its copies, which no library for registries knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from spackscope.model.core.bounded_files import MAX_FILE_SIZE, read_file
from spackscope.model.core.errors import (
    ListingUnsupported,
    NotFound,
    SourceError,
    Unauthorized,
    reason,
)
from spackscope.model.core.progress import OnProgress, ShouldStop, never, no_progress
from spackscope.model.storage.base import FetchedFile
from spackscope.model.storage.credentials import Access, access_of
from spackscope.model.storage.download import FileVersion, Writer, fetch_copy
from spackscope.model.storage.download_cache import CachedFile, DownloadCache, open_download_cache
from spackscope.model.storage.http import ask_web
from spackscope.model.storage.http_client import Client
from spackscope.model.storage.urls import (
    Url,
    basic,
    shown_url,
    web_url,
)

INDEX = "index.json"
"""The one file that a registry gives: the index of the build cache."""

_TAG = "index.spack"
_MANIFEST = (
    "application/vnd.oci.image.manifest.v1+json,"
    "application/vnd.docker.distribution.manifest.v2+json"
)
_LARGEST_MANIFEST = 4 << 20
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_PARAMETER = re.compile(r'([a-zA-Z_]+)="?([^",]*)"?')


class OciRegistry:
    """Be a build cache in a registry: `oci://host/name`, or `oci+http://` where it has no TLS.

    User and password are those in the address, else the `access_pair` of the options. They are
    sent to the server of the registry only: of a realm elsewhere an anonymous token is asked for.
    """

    def __init__(
        self,
        url: str,
        environ: Mapping[str, str],
        *,
        options: Mapping[str, object] = {},
        client: Client | None = None,
        copies: DownloadCache | None = None,
        on_progress: OnProgress = no_progress,
        should_stop: ShouldStop = never,
    ) -> None:
        split = web_url(url, ("oci", "oci+http", "oci+https"))
        scheme = "http" if split.scheme == "oci+http" else "https"
        self.origin = shown_url(url).removesuffix("?…").rstrip("/")
        self._top = Url(scheme, split.host, split.port, f"/v2{split.path.rstrip('/')}")
        self._known = split.authorization or _authorization(access_of(options, environ))
        self._authorization = ""
        self._client = client or Client(environ, should_stop=should_stop)
        self._copies = copies or open_download_cache(environ)
        self._on_progress, self._should_stop = on_progress, should_stop

    def fetch(
        self,
        name: str,
        *,
        sha256: str = "",
        immutable: bool = False,
        max_size: int = MAX_FILE_SIZE,
    ) -> FetchedFile:
        """Give the copy of the index, whose digest the manifest of the tag index.spack names.

        Raises NotFound for every other name, and where there is no such tag; WrongContent, other
        SourceErrors where there is no older copy either, and Cancelled.
        """
        if name != INDEX:
            raise NotFound(
                f"{self.origin} has no {name}: it is a registry, of which an index is read"
            )
        manifest = self._bring(
            self._top.below(f"manifests/{_TAG}"),
            f"{self.origin}:{_TAG}",
            accept=_MANIFEST,
            max_size=_LARGEST_MANIFEST,
        )
        digest = _layer(manifest)
        if sha256 and sha256.lower() != digest:
            raise NotFound(f"{self.origin} has no {name} of sha256 {sha256[:12]}…")
        blob = replace(self._top, path=f"{self._top.path}/blobs/sha256:{digest}")
        index = self._bring(blob, f"{self.origin}/{INDEX}", sha256=digest, max_size=max_size)
        return FetchedFile(index.path, index.origin, manifest.checked, manifest.remark)

    def is_cached(self, name: str) -> bool:
        """Tell whether there is a copy of the manifest that names the index."""
        tag = self._top.below(f"manifests/{_TAG}").key
        return name == INDEX and self._copies.find(tag) is not None

    def names(self, under: str) -> Iterator[str]:
        """Raise ListingUnsupported."""
        raise ListingUnsupported(f"{self.origin} cannot be listed: it is a registry")

    def _bring(
        self, url: Url, origin: str, *, accept: str = "*/*", sha256: str = "", max_size: int
    ) -> FetchedFile:
        def ask(copy: CachedFile | None, writer: Writer) -> FileVersion | None:
            def once() -> FileVersion | None:
                headers = {"Accept": accept}
                if self._authorization:
                    headers["Authorization"] = self._authorization
                return ask_web(
                    self._client, url, origin, copy, writer, sha256=sha256, headers=headers
                )

            try:
                return self._client.retry(once, has_cached=copy is not None)
            except Unauthorized as error:
                self._authorization, realm = self._admitted(error)
            try:
                return self._client.retry(once)
            except SourceError as error:
                raise (error.is_forbidden and self._kept_back(realm)) or error from None

        return fetch_copy(
            ask,
            self._copies,
            url.key,
            origin,
            sha256=sha256,
            immutable=bool(sha256),
            max_size=max_size,
            on_progress=self._on_progress,
            should_stop=self._should_stop,
        )

    def _admitted(self, refusal: Unauthorized) -> tuple[str, Url]:
        """Return the Authorization that a registry asks for, and where that comes from.

        As the token specification of the distribution registry says. Raises SourceError.
        """
        if not refusal.url.is_same_server(self._top):
            raise self._kept_back(refusal.url) or refusal
        kind, _, rest = refusal.challenge.partition(" ")
        if kind.lower() == "basic" and self._known:
            return self._known, self._top
        asked = dict(_PARAMETER.findall(rest))
        if kind.lower() != "bearer" or not asked.get("realm"):
            raise refusal
        schemes = ("https",) if self._top.scheme == "https" else ("http", "https")
        try:
            realm = web_url(asked["realm"], schemes)
        except SourceError as error:
            raise SourceError(
                f"{refusal}, and where to ask for a token is wrong: {error}"
            ) from None
        is_ours = realm.is_same_server(self._top)
        headers = {"Authorization": self._known} if self._known and is_ours else {}
        query = {name: asked[name] for name in ("service", "scope") if asked.get(name)}
        try:
            return f"Bearer {self._token(realm.asking(query), headers)}", realm
        except SourceError as error:
            raise (error.is_forbidden and self._kept_back(realm)) or error from None

    def _kept_back(self, where: Url) -> SourceError | None:
        """Return the failure of a place elsewhere that got no credentials, if there are any."""
        if not self._known or where.is_same_server(self._top):
            return None
        return SourceError(
            f"the registry {self._top.place} asks for a password at {where.server},"
            " another server; credentials are not sent there"
        )

    def _token(self, realm: Url, headers: Mapping[str, str]) -> str:
        def once() -> bytes:
            with self._client.get(replace(realm, userinfo=""), headers) as response:
                response.check_status(realm.shown)
                given = b""
                for part in response.chunks():
                    given += part
                    if len(given) > _LARGEST_MANIFEST:
                        break
                return given

        given = _mapping(self._client.retry(once), realm.shown)
        token = given.get("token") or given.get("access_token")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise SourceError(f"{realm.shown} gives no token")
        return token


def _authorization(access: Access) -> str:
    # What the environment holds is bytes, and is sent as these.
    pair = (access.user, access.secret)
    try:
        return (
            basic(*(text.encode("utf-8", "surrogateescape") for text in pair))
            if access.user
            else ""
        )
    except UnicodeEncodeError:
        raise SourceError("its access_pair has characters that cannot be sent") from None


def _layer(manifest: FetchedFile) -> str:
    """Give the sha256 of the first layer of an image, which is the index."""
    try:
        data = read_file(manifest.path, _LARGEST_MANIFEST)
    except OSError as error:
        raise SourceError(f"{manifest.origin} {reason(error)}") from None
    layers = _mapping(data, manifest.origin).get("layers")
    first = layers[0] if isinstance(layers, list) and layers else None
    digest = first.get("digest") if isinstance(first, dict) else None
    found = _DIGEST.fullmatch(digest) if isinstance(digest, str) else None
    if found is None:
        raise SourceError(f"{manifest.origin} is no manifest of an index: it names no sha256")
    return found[1]


def _mapping(data: bytes, origin: str) -> dict[str, Any]:
    try:
        read = json.loads(data)
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise SourceError(f"{origin} cannot be read: it is no JSON mapping")
    return read

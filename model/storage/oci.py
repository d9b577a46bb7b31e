"""Build caches in container registries, as Spack pushes them (lib/spack/spack/oci).

Reading takes no more than a request, a token and a digest, so it uses the same client as web
servers do, with its proxies, retries and cache, which no library for registries offers.
"""

from __future__ import annotations

import contextlib
import json
import os
import re

from spackscope.model.core.errors import NotFound, SourceError, Unauthorized, Unreadable, naming
from spackscope.model.core.files import read_file
from spackscope.model.core.frozen import replace
from spackscope.model.storage.base import FetchedFile, Storage, Wanted
from spackscope.model.storage.download import Download
from spackscope.model.storage.http import Client, request_file
from spackscope.model.storage.urls import Url, basic_authorization, shown_top, web_url

INDEX = "index.json"
"""The only file of a registry: the index of the build cache."""

_TAG = "index.spack"
_ACCEPTED = (
    "application/vnd.oci.image.manifest.v1+json,"
    "application/vnd.docker.distribution.manifest.v2+json,*/*;q=0.5"
)
_MAX_MANIFEST_SIZE = 4 << 20
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_PARAMETER = re.compile(r'([a-zA-Z_]+)="?([^",]*)"?')


class OciRegistry(Storage):
    """Storage of a registry's build cache: `oci://host/name`, or `oci+http://` without TLS.

    User and password are those of the URL, else those of the mirror. They are sent to the server
    of the registry only: from a realm elsewhere an anonymous token is requested.
    """

    def __init__(self, url: str, user: str, password: str, client: Client) -> None:
        split = web_url(url, ("oci", "oci+http", "oci+https"))
        scheme = "http" if split.scheme == "oci+http" else "https"
        self.origin = shown_top(url)
        self._top = Url(scheme, split.host, split.port, f"/v2{split.path.rstrip('/')}")
        self._manifest_url = self._top.below(f"manifests/{_TAG}")
        self._password, self._authorization = split.authorization, ""
        if user and not self._password:
            try:
                # The environment consists of bytes, and they are sent as they are.
                self._password = basic_authorization(os.fsencode(user), os.fsencode(password))
            except UnicodeEncodeError:
                wrong = "its access_pair has characters that cannot be sent"
                raise SourceError(wrong) from None
        self._client = client

    def fetch(self, wanted: Wanted) -> FetchedFile:
        """Return the cached copy of the index that the manifest of the tag index.spack names.

        Raises NotFound for every other name, and where there is no such tag.
        """
        if wanted.name != INDEX:
            raise NotFound(f"{self.origin} has no {wanted.name}: registries have only an index")
        manifest = self._download(
            self._manifest_url,
            f"{self.origin}:{_TAG}",
            Wanted(_TAG, max_size=_MAX_MANIFEST_SIZE, check=_index_digest),
        )
        with naming(manifest.origin):
            digest = _index_digest(read_file(manifest.path, _MAX_MANIFEST_SIZE))
        if wanted.sha256 and wanted.sha256 != digest:
            raise NotFound(f"{self.origin} has no {INDEX} of sha256 {wanted.sha256[:12]}…")
        index = self._download(
            replace(self._top, path=f"{self._top.path}/blobs/sha256:{digest}"),
            f"{self.origin}/{INDEX}",
            Wanted(INDEX, digest, max_size=wanted.max_size),
        )
        return FetchedFile(index.path, index.origin, manifest.checked, manifest.remark)

    def is_cached(self, name: str) -> bool:
        """Check whether there is a cached manifest that names the index."""
        return name == INDEX and self._client.cache.find(self._manifest_url.key) is not None

    def _download(self, url: Url, origin: str, wanted: Wanted) -> FetchedFile:
        return self._client.fetch(
            url.key, origin, wanted, lambda download: self._request(url, download)
        )

    def _request(self, url: Url, download: Download) -> bool:
        """Request a file, and again with what the registry asks for if it refuses.

        The challenge is answered as the token specification of the distribution registry says.
        """
        try:
            return self._send(url, download)
        except Unauthorized as error:
            refusal, server = error, error.url
        kind, _, rest = refusal.challenge.partition(" ")
        parameters = dict(_PARAMETER.findall(rest))
        try:
            if not server.is_same_server(self._top):
                raise refusal
            if kind.lower() == "basic" and self._password:
                self._authorization = self._password
            elif kind.lower() == "bearer" and parameters.get("realm"):
                schemes = ("https",) if self._top.scheme == "https" else ("http", "https")
                try:
                    server = web_url(parameters["realm"], schemes)
                except SourceError as error:
                    wrong = f"its token server is invalid: {error}"
                    raise SourceError(f"{refusal}, and {wrong}") from None
                self._authorization = f"Bearer {self._token(server, parameters, download)}"
            else:
                raise refusal
            return self._send(url, download)
        except SourceError as error:
            is_own = server.is_same_server(self._top)
            if is_own or not self._password or not error.is_forbidden:
                raise
            raise SourceError(
                f"the registry {self._top.netloc} asks for a password at {server.server},"
                " another server; credentials are not sent there"
            ) from None

    def _send(self, url: Url, download: Download) -> bool:
        headers = {"Accept": _ACCEPTED}
        if self._authorization:
            headers["Authorization"] = self._authorization
        return request_file(self._client, url, download, headers)

    def _token(self, realm: Url, parameters: dict[str, str], download: Download) -> str:
        is_own = realm.is_same_server(self._top)
        headers = {"Authorization": self._password} if self._password and is_own else {}
        query = {key: parameters[key] for key in ("service", "scope") if parameters.get(key)}
        url = replace(realm, userinfo="").with_query(query)
        reply = self._client.read(url, headers, download, url.shown)
        with contextlib.suppress(ValueError, AttributeError, RecursionError):
            document = json.loads(reply)
            token = document.get("token") or document.get("access_token")
            if token.isascii() and token.isprintable():
                return str(token)
        raise SourceError(f"{url.shown} returns no token")


def _index_digest(manifest: bytes) -> str:
    """Return the sha256 of the first layer of an image, the index. Raises Unreadable."""
    with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
        if match := _DIGEST.fullmatch(json.loads(manifest)["layers"][0]["digest"]):
            return match[1]
    raise Unreadable("it is not the manifest of an index: it has no sha256")

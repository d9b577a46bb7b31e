"""Build caches in container registries, as Spack pushes them (lib/spack/spack/oci).

Reading takes no more than a request, a token and a digest, so it uses the same client as web
servers do, with its proxies, retries and cache, which no library for registries offers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from spackscope.model.core.errors import NotFound, SourceError, Unauthorized, Unreadable, reason
from spackscope.model.core.files import read_file
from spackscope.model.core.frozen import replace
from spackscope.model.storage.base import FetchedFile, Storage, Wanted
from spackscope.model.storage.cache import Download
from spackscope.model.storage.http import Client, request_file
from spackscope.model.storage.urls import Url, basic_authorization, shown_top, web_url

INDEX = "index.json"
"""The only file of a registry: the index of the build cache."""

_TAG = "index.spack"
_MANIFEST = (
    "application/vnd.oci.image.manifest.v1+json,"
    "application/vnd.docker.distribution.manifest.v2+json"
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
        self._password = split.authorization or _authorization(user, password)
        self._authorization = ""
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
            accept=_MANIFEST,
        )
        try:
            digest = _index_digest(read_file(manifest.path, _MAX_MANIFEST_SIZE))
        except (OSError, Unreadable) as error:
            raise SourceError(f"{manifest.origin} {reason(error)}") from None
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

    def _download(
        self, url: Url, origin: str, wanted: Wanted, *, accept: str = "*/*"
    ) -> FetchedFile:
        def send(download: Download) -> bool:
            headers = {"Accept": accept}
            if self._authorization:
                headers["Authorization"] = self._authorization
            return request_file(self._client, url, download, headers)

        def request(download: Download) -> bool:
            try:
                return send(download)
            except Unauthorized as error:
                refusal = error
            self._authorization, server = self._authenticate(refusal, download)
            try:
                return send(download)
            except SourceError as error:
                raise self._explain(error, server) from None

        return self._client.fetch(url.key, origin, wanted, request)

    def _authenticate(self, refusal: Unauthorized, download: Download) -> tuple[str, Url]:
        """Return the Authorization that a registry asks for, and the URL that it is from.

        As the token specification of the distribution registry says. Raises SourceError.
        """
        if not refusal.url.is_same_server(self._top):
            raise self._explain(refusal, refusal.url)
        kind, _, rest = refusal.challenge.partition(" ")
        if kind.lower() == "basic" and self._password:
            return self._password, self._top
        parameters = dict(_PARAMETER.findall(rest))
        if kind.lower() != "bearer" or not parameters.get("realm"):
            raise refusal
        schemes = ("https",) if self._top.scheme == "https" else ("http", "https")
        try:
            realm = web_url(parameters["realm"], schemes)
        except SourceError as error:
            raise SourceError(f"{refusal}, and its token server is invalid: {error}") from None
        is_own = realm.is_same_server(self._top)
        headers = {"Authorization": self._password} if self._password and is_own else {}
        query = {key: parameters[key] for key in ("service", "scope") if parameters.get(key)}
        try:
            token = self._request_token(realm.with_query(query), headers, download)
        except SourceError as error:
            raise self._explain(error, realm) from None
        return f"Bearer {token}", realm

    def _explain(self, failure: SourceError, server: Url) -> SourceError:
        """Return why a server refused, if that is because no credentials were sent to it."""
        if not failure.is_forbidden or not self._password or server.is_same_server(self._top):
            return failure
        return SourceError(
            f"the registry {self._top.netloc} asks for a password at {server.server},"
            " another server; credentials are not sent there"
        )

    def _request_token(self, realm: Url, headers: Mapping[str, str], download: Download) -> str:
        reply, url = b"", replace(realm, userinfo="")
        with self._client.request("GET", url, headers, download) as response:
            response.check_status(realm.shown)
            for chunk in response.chunks():
                reply += chunk
                if len(reply) > _MAX_MANIFEST_SIZE:
                    break
        try:
            document = json.loads(reply)
            token = document.get("token") or document.get("access_token")
            if token.isascii() and token.isprintable():
                return str(token)
        except (ValueError, AttributeError, RecursionError):
            pass
        raise SourceError(f"{realm.shown} returns no token")


def _authorization(user: str, password: str) -> str:
    if not user:
        return ""
    try:
        # The environment consists of bytes, and they are sent as they are.
        return basic_authorization(
            *(text.encode("utf-8", "surrogateescape") for text in (user, password))
        )
    except UnicodeEncodeError:
        raise SourceError("its access_pair has characters that cannot be sent") from None


def _index_digest(manifest: bytes) -> str:
    """Return the sha256 of the first layer of an image, the index. Raises Unreadable."""
    try:
        match = _DIGEST.fullmatch(json.loads(manifest)["layers"][0]["digest"])
    except (ValueError, LookupError, TypeError, RecursionError):
        match = None
    if match is None:
        raise Unreadable("it is not the manifest of an index: it has no sha256")
    return match[1]

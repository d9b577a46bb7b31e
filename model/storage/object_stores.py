"""Build caches in object stores, `s3://bucket/prefix` and `gs://bucket/prefix`, and in registries.

Requests to S3 go through boto3, as in Spack. Google's buckets are read with the client for web
servers; google-auth finds the credentials. A registry (lib/spack/spack/oci) needs only a request,
a token and a digest, so it is read with the same client: no library for registries offers its
proxies, retries and cache.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeVar

from spackscope.model.core.errors import (
    NotFound,
    SourceError,
    SpackscopeError,
    TemporaryFailure,
    Unauthorized,
    Unreachable,
    Unreadable,
    naming,
)
from spackscope.model.core.file_access import read_file
from spackscope.model.core.frozen import replace
from spackscope.model.core.redaction import library_message
from spackscope.model.storage.base import FetchedFile, Storage, Wanted
from spackscope.model.storage.download import Download, Downloader, RemoteStorage
from spackscope.model.storage.http import Client, HttpStorage, request_file
from spackscope.model.storage.urls import (
    Url,
    basic_authorization,
    percent_decoded,
    shown_top,
    split_url,
    web_url,
)

_Result = TypeVar("_Result")

_S3_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "S3_ENDPOINT_URL")
_READ_SIZE = 1 << 12
"""The number of bytes of one read, small enough to notice a slow server in time."""

_BUSY = (408, 429, 500, 502, 503, 504)
_BUSY_CODES = ("RequestTimeout", "SlowDown")
"""Statuses and error codes of S3 after which a retry may succeed."""

_GOOGLE = "https://storage.googleapis.com"
_READ_ONLY = "https://www.googleapis.com/auth/devstorage.read_only"


def read_credentials(options: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, str]:
    """Read the options of a mirror's connection, like lib/spack/spack/mirrors/mirror.py.

    `access_pair` is a list of id and secret, or a mapping with `id` or `id_variable`, and
    `secret_variable`; `access_token` may be given by `access_token_variable`. Options that end in
    `_variable` name environment variables. Returns `id`, `secret`, `access_token`, `profile` and
    `endpoint_url`, each empty if it is not known.
    """
    pair = options.get("access_pair")
    if isinstance(pair, (list, tuple)) and len(pair) == 2:
        pair = {"id": pair[0], "secret": pair[1]}
    given = {**options, **(pair if isinstance(pair, Mapping) else {})}
    credentials = {}
    for name in ("id", "secret", "access_token", "profile", "endpoint_url"):
        variable = given.get(f"{name}_variable")
        value = (
            environ.get(variable) if variable and isinstance(variable, str) else given.get(name)
        )
        credentials[name] = value if isinstance(value, str) else ""
    return credentials


def _bucket_of(url: str) -> tuple[str, str]:
    """Return the bucket of a URL, and the prefix of its keys, as `a/b/`. Raises SourceError."""
    split = split_url(url)
    if not split.netloc:
        raise SourceError(f"{split.shown} is not a valid URL: it has no bucket")
    prefix = percent_decoded(split.path).strip("/")
    return split.netloc, f"{prefix}/" if prefix else ""


class S3Storage(RemoteStorage):
    """Bucket that is read with the credentials of the mirror, or of boto3, else anonymously.

    As in lib/spack/spack/util/s3.py, requests are not signed without credentials. boto3 reads
    environment variables of the process, the user's ~/.aws, and the metadata of cloud machines.
    Raises ImportError without boto3, and SourceError for an endpoint that is not a URL.
    """

    def __init__(self, url: str, credentials: Mapping[str, str], downloader: Downloader) -> None:
        import boto3  # noqa: F401 - fails early if it is missing

        super().__init__(url, downloader)
        self._bucket, self._prefix = _bucket_of(url)
        self._credentials = credentials
        endpoints = (credentials["endpoint_url"], *map(downloader.environ.get, _S3_ENDPOINTS))
        self._endpoint = ""
        if endpoint := next(filter(None, endpoints), ""):
            try:
                url = endpoint if "://" in endpoint else f"https://{endpoint}"
                self._endpoint = web_url(url).address
            except SourceError as error:
                raise SourceError(f"its endpoint is invalid: {error}") from None

    @cached_property
    def _client(self) -> Any:
        """The client of boto3; the first request connects."""
        import boto3
        from botocore import UNSIGNED
        from botocore.config import Config

        given, timeouts = self._credentials, self.downloader.timeouts
        # All keys from the mirror, or all from the environment.
        keys = {
            "aws_access_key_id": given["id"],
            "aws_secret_access_key": given["secret"],
            "aws_session_token": given["access_token"] or None,
        }
        session = boto3.Session(
            **(keys if given["id"] else {"profile_name": given["profile"] or None})
        )
        anonymous = {} if session.get_credentials() else {"signature_version": UNSIGNED}
        config = Config(
            connect_timeout=timeouts.connect,
            read_timeout=timeouts.stalled,
            # The downloader alone sends a request again.
            retries={"total_max_attempts": 1, "mode": "standard"},
            **anonymous,
        )
        return session.client("s3", endpoint_url=self._endpoint or None, config=config)

    def _cache_key(self, name: str) -> str:
        given = self._credentials
        return f"{self._endpoint} {given['id']} {given['profile']} {self.origin}/{name}"

    def _request(self, download: Download) -> bool:
        return self._ask(download, self._download)

    def _download(self, download: Download) -> bool:
        from botocore.exceptions import ClientError

        key = self._prefix + download.wanted.name
        validators = download.cached.validators if download.cached is not None else {}
        try:
            response = self._client.get_object(
                Bucket=self._bucket, Key=key, **validators, **download.wanted.range
            )
        except ClientError as error:
            if validators and _status(error) == 304:
                return False
            raise
        with contextlib.closing(response["Body"]) as body:
            download.expect(self.origin, response.get("ContentLength"))
            while not download.has_enough and (chunk := body.read(_READ_SIZE)):
                download.receive(chunk)
        download.validators = {"IfNoneMatch": response["ETag"]} if "ETag" in response else {}
        return True

    def size_of(self, name: str) -> int | None:
        """Return the size of an object. Raises NotFound, other SourceErrors and Cancelled."""

        def head(_download: Download) -> int | None:
            reply = self._client.head_object(Bucket=self._bucket, Key=self._prefix + name)
            size: int | None = reply.get("ContentLength")
            return size

        download = Download(Wanted(name), self.origin_of(name))
        return self.downloader.retry(
            download, lambda download: self._ask(download, head), is_patient=False
        )

    def _ask(self, download: Download, request: Callable[[Download], _Result]) -> _Result:
        """Send a request through boto3. Raises SourceError and Cancelled."""
        self.downloader.check_reachable(self.origin)
        try:
            return request(download)
        except SpackscopeError:
            raise
        except Exception as error:
            raise self._translated(error, download.origin) from None

    def _translated(self, error: Exception, origin: str) -> Exception:
        """Return the SourceError for an exception of boto3; any other exception unchanged."""
        from botocore import exceptions

        if isinstance(error, exceptions.ClientError):
            details = error.response.get("Error", {})
            code, message = details.get("Code", ""), library_message(details.get("Message", ""))
            if code == "NoSuchBucket":
                return SourceError(f"{origin}: there is no bucket {self._bucket}")
            answer = f"{web_url(self._endpoint).netloc} answers {code}" if self._endpoint else code
            if _status(error) == 404:
                return NotFound(f"{origin} does not exist: {answer}")
            if _status(error) == 403:
                return NotFound(f"{origin} is forbidden: {answer}", is_forbidden=True)
            failure = f"{origin} cannot be read: {answer}: {message}"
            is_busy = _status(error) in _BUSY or code in _BUSY_CODES
            return TemporaryFailure(failure) if is_busy else SourceError(failure)
        why = library_message(str(error))
        if isinstance(error, exceptions.ConnectionError):
            return Unreachable(f"{origin} cannot be reached: {why}", self.origin)
        if isinstance(error, (exceptions.HTTPClientError, exceptions.IncompleteReadError)):
            return TemporaryFailure(f"{origin} broke off: {why}")
        is_known = isinstance(error, (exceptions.BotoCoreError, ValueError))
        return SourceError(f"{origin} cannot be read: {why}") if is_known else error


def _status(error: Any) -> object:
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")


class GcsStorage(HttpStorage):
    """Bucket that is read with the credentials that google-auth finds, else anonymously.

    google-auth reads the variable GOOGLE_APPLICATION_CREDENTIALS of the process, the user's gcloud
    configuration, and the metadata of cloud machines. STORAGE_EMULATOR_HOST is the URL of another
    server. Raises ImportError without google-auth.
    """

    def __init__(self, url: str, client: Client) -> None:
        import google.auth.transport.requests  # noqa: F401 - fails early if it is missing

        bucket, _ = _bucket_of(url)
        server = client.environ.get("STORAGE_EMULATOR_HOST") or _GOOGLE
        super().__init__(f"{server}/{bucket}{split_url(url).path}", client)
        self.origin = shown_top(url)

    @cached_property
    def _user(self) -> Any:
        """The credentials of google-auth, or None."""
        import google.auth
        from google.auth.exceptions import DefaultCredentialsError

        try:
            return google.auth.default(scopes=[_READ_ONLY])[0]
        except DefaultCredentialsError:
            return None

    def _headers(self) -> dict[str, str]:
        from google.auth.exceptions import GoogleAuthError
        from google.auth.transport.requests import Request

        headers: dict[str, str] = {}
        try:
            if self._user is not None:
                self._user.before_request(Request(), "GET", self._url.address, headers)
        except GoogleAuthError as error:
            why = library_message(str(error))
            raise SourceError(f"{self.origin} cannot be read: {why}") from None
        return headers


# Registries


INDEX = "index.json"
"""The file of a registry that is the index of the build cache; other files are archives."""

_ENDING = ".spack"
"""The ending of the tags of the index and of archives."""

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

    User and password come from the URL, else from the mirror. They are only sent to the server of
    the registry: if its tokens come from another server, an anonymous token is requested.
    """

    def __init__(self, url: str, user: str, password: str, client: Client) -> None:
        split = web_url(url, ("oci", "oci+http", "oci+https"))
        scheme = "http" if split.scheme == "oci+http" else "https"
        self.origin = shown_top(url)
        self._top = Url(scheme, split.host, split.port, f"/v2{split.path.rstrip('/')}")
        self._password, self._authorization = split.authorization, ""
        if user and not self._password:
            try:
                # Environment variables are bytes, and these bytes are sent.
                self._password = basic_authorization(os.fsencode(user), os.fsencode(password))
            except UnicodeEncodeError:
                wrong = "its access_pair has characters that cannot be sent"
                raise SourceError(wrong) from None
        self._client = client

    def fetch(self, wanted: Wanted) -> FetchedFile:
        """Return the cached copy of the index, or of an archive, by the manifest of its tag.

        Raises NotFound for every other name, and for a tag that the registry does not have.
        """
        name = wanted.name.removeprefix("build_cache/")
        tag = _TAG if name == INDEX else name
        if not tag.endswith(_ENDING):
            raise NotFound(f"{self.origin} has no {name}: registries have an index and archives")
        manifest = self._download(
            self._top.below(f"manifests/{tag}"),
            f"{self.origin}:{tag}",
            Wanted(tag, max_size=_MAX_MANIFEST_SIZE, check=_last_digest),
        )
        with naming(manifest.origin):
            digest = _last_digest(read_file(manifest.path, _MAX_MANIFEST_SIZE))
        if wanted.sha256 and wanted.sha256 != digest:
            raise NotFound(f"{self.origin} has no {name} of sha256 {wanted.sha256[:12]}…")
        file = self._download(
            replace(self._top, path=f"{self._top.path}/blobs/sha256:{digest}"),
            self.origin_of(name),
            replace(wanted, sha256=digest),
        )
        return FetchedFile(file.path, file.origin, manifest.checked, manifest.remark)

    def _download(self, url: Url, origin: str, wanted: Wanted) -> FetchedFile:
        return self._client.fetch(
            url.key, origin, wanted, lambda download: self._request(url, download)
        )

    def _request(self, url: Url, download: Download) -> bool:
        """Request a file, and again with credentials if the registry asks for them.

        It answers a challenge by the token specification of the distribution registry.
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
        with self._client.request("GET", url, headers, download, url.shown) as response:
            reply = response.read(_MAX_MANIFEST_SIZE, decode_content=False)
        with contextlib.suppress(ValueError, AttributeError, RecursionError):
            document = json.loads(reply)
            token = document.get("token") or document.get("access_token")
            if token.isascii() and token.isprintable():
                return str(token)
        raise SourceError(f"{url.shown} returns no token")


def _last_digest(manifest: bytes) -> str:
    """Return the sha256 of the last layer of an image: the layers before are its dependencies.

    Raises Unreadable.
    """
    with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
        if match := _DIGEST.fullmatch(json.loads(manifest)["layers"][-1]["digest"]):
            return match[1]
    raise Unreadable("it is not the manifest of an image: it has no sha256")

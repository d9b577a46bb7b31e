"""Files in object stores, `s3://bucket/prefix` and `gs://bucket/prefix`, which can be listed.

Requests go through a library for the store, boto3 or google-cloud-storage, as those of Spack do.
"""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

from spackscope.model.core.errors import (
    NotFound,
    SourceError,
    SpackscopeError,
    TemporaryFailure,
    Unreachable,
)
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.redaction import library_message
from spackscope.model.storage.base import Wanted
from spackscope.model.storage.cache import Download, Downloader, RemoteStorage
from spackscope.model.storage.urls import percent_decoded, split_url, web_url

_Result = TypeVar("_Result")

_S3_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "S3_ENDPOINT_URL")
_READ_SIZE = 1 << 12
"""Bytes of one read, few enough that a slow server is noticed in time."""

_READ_ONLY = "https://www.googleapis.com/auth/devstorage.read_only"


class Credentials(Frozen):
    """Who requests the files of a mirror, and where; what is not known is empty."""

    user: str = ""
    secret: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    profile: str = ""
    endpoint: str = ""


def read_credentials(options: Mapping[str, object], environ: Mapping[str, str]) -> Credentials:
    """Read the options of a mirror's connection, as lib/spack/spack/mirrors/mirror.py does.

    `access_pair` is a list of id and secret, or a mapping with `id` or `id_variable` and
    `secret_variable`; `access_token` may be an `access_token_variable`. A variable is one of the
    environment.
    """

    def option(options: Mapping[str, object], name: str) -> str:
        variable = _text(options.get(f"{name}_variable"))
        return environ.get(variable, "") if variable else _text(options.get(name))

    pair = options.get("access_pair")
    user = secret = ""
    if isinstance(pair, (list, tuple)) and len(pair) == 2:
        user, secret = (_text(part) for part in pair)
    elif isinstance(pair, Mapping):
        user, secret = option(pair, "id"), option(pair, "secret")
    profile, endpoint = (_text(options.get(name)) for name in ("profile", "endpoint_url"))
    return Credentials(user, secret, option(options, "access_token"), profile, endpoint)


def s3_credentials(mirror: Credentials, environ: Mapping[str, str]) -> Credentials:
    """Complete the credentials of a mirror by the environment, as lib/spack/spack/util/s3.py does.

    The token and the profile of the environment belong to its own key only.
    """
    own = {} if mirror.user else environ
    endpoints = (environ[name] for name in _S3_ENDPOINTS if environ.get(name))
    return Credentials(
        mirror.user or environ.get("AWS_ACCESS_KEY_ID", ""),
        mirror.secret or environ.get("AWS_SECRET_ACCESS_KEY", ""),
        mirror.token or own.get("AWS_SESSION_TOKEN", ""),
        mirror.profile or own.get("AWS_PROFILE", ""),
        mirror.endpoint or next(endpoints, ""),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


class ObjectStorage(RemoteStorage):
    """Storage in a bucket, below the prefix that its URL names.

    What the methods of a store do with its library is done in a thread that can be abandoned, and
    what the library raises becomes a SourceError.
    """

    _identity = ""
    """What distinguishes the bucket from one of the same name elsewhere: its endpoint."""

    def __init__(self, url: str, downloader: Downloader) -> None:
        super().__init__(url, downloader)
        split = split_url(url)
        if not split.netloc:
            raise SourceError(f"{split.shown} is not a valid URL: it has no bucket")
        self._bucket_name, self._prefix = split.netloc, percent_decoded(split.path).strip("/")

    @property
    @abstractmethod
    def _client(self) -> Any:
        """The client of the library, which connects when it is first used."""

    @abstractmethod
    def _download(self, key: str, download: Download) -> bool:
        """Write an object, and return whether it came: the cached copy is current else."""

    @abstractmethod
    def _size_of(self, key: str) -> object:
        """Return the size of an object, if the store tells it."""

    @abstractmethod
    def _keys(self, prefix: str) -> Iterator[str]:
        """Yield all keys that begin with a prefix."""

    @abstractmethod
    def _translate(self, error: Exception, origin: str) -> SourceError | None:
        """Return the sentence for an exception of the library, or None if it is none."""

    def _cache_key(self, name: str) -> str:
        return f"{self._identity} {self.origin}/{name}"

    def _request(self, download: Download) -> bool:
        key = self._key(download.wanted.name)
        return self._ask(download.origin, lambda: self._download(key, download))

    def size_of(self, name: str) -> int | None:
        """Return the size of an object. Raises NotFound, other SourceErrors and Cancelled."""
        download = Download(self.downloader, Wanted(name), f"{self.origin}/{name}")
        size = self._wait_for(download, lambda: self._size_of(self._key(name)))
        return size if isinstance(size, int) else None

    def names(self, under: str) -> Iterator[str]:
        """Yield the sorted names of all objects below a folder. Raises SourceError, Cancelled."""
        top = f"{self._prefix}/" if self._prefix else ""
        folder = f"{top}{under.strip('/')}/" if under.strip("/") else top

        download = Download(self.downloader, Wanted(under), self.origin)

        def list_keys() -> list[str]:
            keys = []
            for key in self._keys(folder):
                download.check_abandoned()
                keys.append(key)
            return keys

        for key in sorted(self._wait_for(download, list_keys)):
            if not key.endswith("/"):
                yield key[len(top) :]

    def _key(self, name: str) -> str:
        return "/".join(part for part in (self._prefix, name) if part)

    def _wait_for(self, download: Download, request: Callable[[], _Result]) -> _Result:
        return self.downloader.wait_for(download, lambda _: self._ask(download.origin, request))

    def _ask(self, origin: str, request: Callable[[], _Result]) -> _Result:
        """Send a request through the library. Raises SourceError and Cancelled."""
        self.downloader.check_reachable(self.origin)
        try:
            return request()
        except SpackscopeError:
            raise
        except Exception as error:
            failure = self._translate(error, origin)
            if failure is None:
                raise
            raise failure from None


class S3Storage(ObjectStorage):
    """Bucket that is read as the user that boto3 finds, else anonymously.

    As in lib/spack/spack/util/s3.py, requests are not signed without credentials. boto3 itself
    reads the process's environment, the user's ~/.aws, and the metadata of cloud machines.
    Raises ImportError without boto3, and SourceError for an endpoint that cannot be used.
    """

    def __init__(self, url: str, mirror: Credentials, downloader: Downloader) -> None:
        import boto3  # noqa: F401 - fails early if it is missing

        super().__init__(url, downloader)
        self._credentials = s3_credentials(mirror, downloader.environ)
        self._endpoint = _checked_endpoint(self._credentials.endpoint)
        self._identity = f"{self._endpoint} {self._credentials.user} {self._credentials.profile}"

    @cached_property
    def _client(self) -> Any:
        import boto3
        from botocore import UNSIGNED
        from botocore.config import Config

        user, timeouts = self._credentials.user, self.downloader.timeouts
        session = boto3.Session(
            aws_access_key_id=user or None,
            aws_secret_access_key=self._credentials.secret or None,
            aws_session_token=self._credentials.token or None,
            # Keys go before a profile in boto3 only where both come from the environment.
            profile_name=(not user and self._credentials.profile) or None,
        )
        anonymous = {} if session.get_credentials() else {"signature_version": UNSIGNED}
        config = Config(
            connect_timeout=timeouts.connect,
            read_timeout=timeouts.stalled,
            retries={"total_max_attempts": timeouts.attempts, "mode": "standard"},
            **anonymous,
        )
        return session.client("s3", endpoint_url=self._endpoint or None, config=config)

    def _download(self, key: str, download: Download) -> bool:
        from botocore.exceptions import ClientError

        stamp = download.cached.stamp if download.cached else ""
        condition = {"IfNoneMatch": stamp} if stamp else {}
        try:
            response = self._client.get_object(Bucket=self._bucket_name, Key=key, **condition)
        except ClientError as error:
            if stamp and _status(error) == 304:
                return False
            raise
        with contextlib.closing(response["Body"]) as body:
            download.expect_body(self.origin, response.get("ContentLength"))
            while chunk := body.read(_READ_SIZE):
                download.receive(len(chunk))
                download.write(chunk)
        download.stamp = response.get("ETag", "")
        return True

    def _size_of(self, key: str) -> object:
        reply = self._client.head_object(Bucket=self._bucket_name, Key=key)
        return reply.get("ContentLength")

    def _keys(self, prefix: str) -> Iterator[str]:
        request = {"Bucket": self._bucket_name, "Prefix": prefix}
        while True:
            page = self._client.list_objects_v2(**request)
            yield from (entry["Key"] for entry in page.get("Contents", ()) if entry.get("Key"))
            if not page.get("IsTruncated"):
                return
            token = page.get("NextContinuationToken", "")
            if not token or token == request.get("ContinuationToken"):
                raise SourceError(f"{self.origin} cannot be listed: its list is incomplete")
            request["ContinuationToken"] = token

    def _translate(self, error: Exception, origin: str) -> SourceError | None:
        from botocore import exceptions

        why = library_message(str(error))
        if isinstance(error, exceptions.ClientError):
            details = error.response.get("Error", {})
            code, message = str(details.get("Code", "")), str(details.get("Message", ""))
            if code == "NoSuchBucket":
                return SourceError(f"{origin}: there is no bucket {self._bucket_name}")
            if _status(error) == 404:
                return NotFound(f"{origin} does not exist: {code}")
            if _status(error) == 403:
                return NotFound(f"{origin} is forbidden: {code}", is_forbidden=True)
            return SourceError(f"{origin} cannot be read: {code}: {library_message(message)}")
        if isinstance(error, (exceptions.EndpointConnectionError, exceptions.ConnectTimeoutError)):
            return Unreachable(f"{origin} cannot be reached: {why}", self.origin)
        broken = (
            exceptions.IncompleteReadError,
            exceptions.ReadTimeoutError,
            exceptions.ResponseStreamingError,
            exceptions.ConnectionClosedError,
        )
        if isinstance(error, broken):
            return TemporaryFailure(f"{origin} broke off: {why}")
        is_known = isinstance(error, (exceptions.BotoCoreError, ValueError))
        return SourceError(f"{origin} cannot be read: {why}") if is_known else None


def _status(error: Any) -> object:
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")


def _checked_endpoint(endpoint: str) -> str:
    """Return the URL of an endpoint. Raises SourceError for one that boto3 could not use."""
    if not endpoint:
        return ""
    try:
        url = web_url(endpoint if "://" in endpoint else f"https://{endpoint}")
    except SourceError as error:
        raise SourceError(f"its endpoint is invalid: {error}") from None
    if url.userinfo or url.query:
        why = "it has a user or a query; keys of S3 are an access_pair"
        raise SourceError(f"its endpoint {url.shown} cannot be used: {why}")
    return url.address


class GcsStorage(ObjectStorage):
    """Bucket that is read as the user that google-auth finds, else anonymously.

    STORAGE_EMULATOR_HOST and GOOGLE_APPLICATION_CREDENTIALS are read by the library, from the
    process's environment. Raises ImportError without google-cloud-storage.
    """

    def __init__(self, url: str, downloader: Downloader) -> None:
        import google.cloud.storage  # noqa: F401 - fails early if it is missing

        super().__init__(url, downloader)

    @cached_property
    def _client(self) -> Any:
        import google.auth
        from google.auth.exceptions import DefaultCredentialsError
        from google.cloud import storage

        try:
            credentials, project = google.auth.default(scopes=[_READ_ONLY])
        except DefaultCredentialsError:
            return storage.Client.create_anonymous_client()
        # Reading needs no project, but the library does not start without one.
        return storage.Client(project or "none", credentials)

    def _download(self, key: str, download: Download) -> bool:
        blob = self._look_up(key)
        generation = str(blob.generation)
        if download.cached is not None and download.cached.stamp == generation:
            return False
        download.expect_body(self.origin, blob.size)
        # One without metadata: those of the server may name a URL elsewhere, which the library
        # would send the user's token to.
        plain = blob.bucket.blob(key, generation=blob.generation)
        plain.download_to_file(
            _Target(download),
            raw_download=True,
            if_generation_match=blob.generation,
            checksum=None,
            **self._options(),
        )
        download.stamp = generation
        return True

    def _size_of(self, key: str) -> object:
        return self._look_up(key).size

    def _keys(self, prefix: str) -> Iterator[str]:
        options = {"prefix": prefix, **self._options()}
        return (blob.name for blob in self._client.list_blobs(self._bucket_name, **options))

    def _look_up(self, key: str) -> Any:
        blob = self._client.bucket(self._bucket_name).blob(key)
        blob.reload(**self._options())
        return blob

    def _options(self) -> dict[str, Any]:
        from google.cloud.storage.retry import DEFAULT_RETRY

        timeouts = self.downloader.timeouts
        return {
            "timeout": (timeouts.connect, timeouts.stalled),
            "retry": DEFAULT_RETRY.with_timeout(timeouts.stalled),
        }

    def _translate(self, error: Exception, origin: str) -> SourceError | None:
        from google.api_core import exceptions
        from google.auth.exceptions import GoogleAuthError
        from requests.exceptions import ConnectionError, RequestException

        if isinstance(error, exceptions.NotFound):
            return NotFound(f"{origin} does not exist: HTTP 404")
        if isinstance(error, (exceptions.Forbidden, exceptions.Unauthorized)):
            return NotFound(f"{origin} is forbidden: HTTP {error.code}", is_forbidden=True)
        why = library_message(str(error))
        if isinstance(error, (exceptions.RetryError, ConnectionError)):
            return Unreachable(f"{origin} cannot be reached: {why}", self.origin)
        known = (exceptions.GoogleAPIError, GoogleAuthError, RequestException, ValueError)
        return SourceError(f"{origin} cannot be read: {why}") if isinstance(error, known) else None


class _Target:
    """The file that google-cloud-storage writes an object to."""

    def __init__(self, download: Download) -> None:
        self._download, self._size = download, 0

    def write(self, chunk: bytes) -> int:
        """Append bytes."""
        self._size += len(chunk)
        self._download.receive(len(chunk))
        self._download.write(chunk)
        return len(chunk)

    def tell(self) -> int:
        """Return the number of bytes so far."""
        return self._size

    def flush(self) -> None:
        """Do nothing: the target is flushed when it is stored."""

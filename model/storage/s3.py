"""Buckets of Amazon S3 and compatible stores, through boto3, as Spack reads them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from spackscope.model.core.errors import NotFound, SourceError, TemporaryFailure, Unreachable
from spackscope.model.core.redaction import library_message
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.storage.credentials import Credentials
from spackscope.model.storage.download import Download
from spackscope.model.storage.download_cache import FileVersion
from spackscope.model.storage.object_store import Bucket, ObjectTarget
from spackscope.model.storage.timeouts import Timeouts
from spackscope.model.storage.urls import web_url

_READ_SIZE = 1 << 12
"""Bytes of one read, few enough that a slow server is noticed in time."""


class S3Bucket(Bucket):
    """Bucket that is read as the user that boto3 finds, else anonymously.

    As in lib/spack/spack/util/s3.py, requests are not signed without credentials. boto3 itself
    reads the process's environment, the user's ~/.aws, and the metadata of cloud machines.
    Raises ImportError without boto3, and SourceError for an endpoint that cannot be used.
    """

    def __init__(
        self,
        name: str,
        credentials: Credentials,
        should_stop: ShouldStop,
        timeouts: Timeouts = Timeouts(),
    ) -> None:
        import boto3  # noqa: F401 - fails early if it is missing

        super().__init__(name, should_stop, timeouts)
        self._credentials = credentials
        self._endpoint = _checked(credentials.endpoint) if credentials.endpoint else ""
        self.identity = f"{self._endpoint} {credentials.user} {credentials.profile}"

    def download(self, key: str, download: Download) -> FileVersion | None:
        """Write an object, unless its ETag is still that of the cached copy."""
        origin = download.file.origin
        stamp = download.cached.stamp if download.cached else ""
        response = self._call(origin, lambda: self._get(key, stamp))
        if response is None:
            return None

        def copy() -> None:
            with contextlib.closing(response["Body"]) as body:
                target = ObjectTarget(download, response.get("ContentLength"), self.timeouts)
                while chunk := body.read(_READ_SIZE):
                    target.write(chunk)

        self._call(origin, copy)
        return FileVersion(response.get("ETag", ""))

    def _get(self, key: str, stamp: str) -> Any:
        """Request an object; None means that it still has the stamp."""
        from botocore.exceptions import ClientError

        condition = {"IfNoneMatch": stamp} if stamp else {}
        try:
            return self._client().get_object(Bucket=self.name, Key=key, **condition)
        except ClientError as error:
            if _status(error) == 304:
                return None
            raise

    def size_of(self, key: str, origin: str) -> int | None:
        """Return the size of an object. Raises NotFound, other SourceErrors and Cancelled."""
        reply = self._call(origin, lambda: self._client().head_object(Bucket=self.name, Key=key))
        size = reply.get("ContentLength")
        return size if isinstance(size, int) else None

    def keys(self, prefix: str, origin: str) -> Iterator[str]:
        """Yield all keys that begin with a prefix. Raises SourceError and Cancelled."""
        request = {"Bucket": self.name, "Prefix": prefix}
        while True:
            page = self._call(origin, lambda: self._client().list_objects_v2(**request))
            yield from (entry["Key"] for entry in page.get("Contents", ()) if entry.get("Key"))
            if not page.get("IsTruncated"):
                return
            token = page.get("NextContinuationToken", "")
            if not token or token == request.get("ContinuationToken"):
                raise SourceError(f"{origin} cannot be listed: its list is incomplete")
            request["ContinuationToken"] = token

    def _connect(self) -> Any:
        import boto3
        from botocore import UNSIGNED
        from botocore.config import Config

        user = self._credentials.user
        session = boto3.Session(
            aws_access_key_id=user or None,
            aws_secret_access_key=self._credentials.secret or None,
            aws_session_token=self._credentials.token or None,
            # Keys go before a profile in boto3 only where both come from the environment.
            profile_name=(not user and self._credentials.profile) or None,
        )
        anonymous = {} if session.get_credentials() else {"signature_version": UNSIGNED}
        config = Config(
            connect_timeout=self.timeouts.connect,
            read_timeout=self.timeouts.stalled,
            retries={"total_max_attempts": self.timeouts.attempts, "mode": "standard"},
            **anonymous,
        )
        return session.client("s3", endpoint_url=self._endpoint or None, config=config)

    def _translate(self, error: Exception, origin: str) -> SourceError | None:
        from botocore import exceptions

        if isinstance(error, exceptions.ClientError):
            return self._translate_response(error, origin)
        why = library_message(str(error))
        if isinstance(error, (exceptions.EndpointConnectionError, exceptions.ConnectTimeoutError)):
            return Unreachable(f"{origin} cannot be reached: {why}", origin)
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

    def _translate_response(self, error: Any, origin: str) -> SourceError:
        details = error.response.get("Error", {})
        code, message = str(details.get("Code", "")), str(details.get("Message", ""))
        if code == "NoSuchBucket":
            return SourceError(f"{origin}: there is no bucket {self.name}")
        if _status(error) == 404:
            return NotFound(f"{origin} does not exist: {code}")
        if _status(error) == 403:
            return NotFound(f"{origin} is forbidden: {code}", is_forbidden=True)
        return SourceError(f"{origin} cannot be read: {code}: {library_message(message)}")


def _status(error: Any) -> object:
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")


def _checked(endpoint: str) -> str:
    """Return the URL of an endpoint. Raises SourceError for one that boto3 could not use."""
    try:
        url = web_url(endpoint if "://" in endpoint else f"https://{endpoint}")
    except SourceError as error:
        raise SourceError(f"its endpoint is invalid: {error}") from None
    if url.userinfo or url.query:
        why = "it has a user or a query; keys of S3 are an access_pair"
        raise SourceError(f"its endpoint {url.shown} cannot be used: {why}")
    return url.address

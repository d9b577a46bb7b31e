"""Buckets of Amazon S3 and what speaks like it, through boto3, as Spack reads them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from spackscope.model.core.errors import NotFound, SourceError, TemporaryFailure, Unreachable
from spackscope.model.core.parallel import run_cancellable
from spackscope.model.core.progress import ShouldStop
from spackscope.model.storage.credentials import access_of
from spackscope.model.storage.download import FileVersion, Writer
from spackscope.model.storage.download_cache import CachedFile
from spackscope.model.storage.patience import Patience, RateCheck
from spackscope.model.storage.redaction import without_secrets
from spackscope.model.storage.urls import web_url

_Result = TypeVar("_Result")

_FIRST, _PIECE = 1 << 12, 1 << 18


class S3Bucket:
    """Give the objects of an S3 bucket, to the user that boto3 finds, else to anybody.

    As lib/spack/spack/util/s3.py: options of the mirror go before the environment, and without
    credentials requests are not signed. boto3 itself reads the process's environment, the user's
    ~/.aws, and the metadata of cloud machines. Raises ImportError without boto3.
    """

    def __init__(
        self,
        name: str,
        environ: Mapping[str, str],
        options: Mapping[str, object],
        should_stop: ShouldStop,
        patience: Patience = Patience(),
    ) -> None:
        import boto3  # noqa: F401 - told early that it is missing

        access = access_of(options, environ)
        endpoint = access.endpoint or next(
            (
                environ[variable]
                for variable in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "S3_ENDPOINT_URL")
                if environ.get(variable)
            ),
            "",
        )
        self._endpoint = _checked(endpoint) if endpoint else ""
        self._key = access.user or environ.get("AWS_ACCESS_KEY_ID", "")
        self._secret = access.secret or environ.get("AWS_SECRET_ACCESS_KEY", "")
        token = "" if access.user else environ.get("AWS_SESSION_TOKEN", "")
        self._token = access.token or token
        self._profile = access.profile or ("" if access.user else environ.get("AWS_PROFILE", ""))
        self._name, self._should_stop, self._patience = name, should_stop, patience
        self._client: Any = None
        self._lock = threading.Lock()
        self._unreachable = ""
        self.where = f"{self._endpoint} {self._key} {self._profile}"

    def ask(
        self, key: str, origin: str, copy: CachedFile | None, writer: Writer
    ) -> FileVersion | None:
        """Write an object, unless its ETag is still that of the copy.

        Raises NotFound, TemporaryFailure, other SourceErrors and Cancelled.
        """
        wanted = {"Bucket": self._name, "Key": key}
        if copy is not None and copy.stamp:
            wanted["IfNoneMatch"] = copy.stamp
        found = self._told(origin, lambda: self._opened().get_object(**wanted))
        if found is None:
            return None
        body, length = found["Body"], found.get("ContentLength")
        rate, size = RateCheck(self._patience, origin), _FIRST
        try:
            writer.expect(length)
            while part := self._told(origin, partial(body.read, size)):
                writer.write(part)
                writer.report(writer.size, length)
                # What is slow is seen to be slow before a large piece of it is there.
                size = _PIECE if rate.update(writer.size, length) else _FIRST
        finally:
            body.close()
        return FileVersion(found.get("ETag", ""))

    def keys(self, prefix: str, origin: str) -> Iterator[str]:
        """Give all keys that begin with a prefix. Raises SourceError and Cancelled."""
        wanted = {"Bucket": self._name, "Prefix": prefix}
        while True:
            page = self._told(origin, lambda: self._opened().list_objects_v2(**wanted)) or {}
            yield from (found["Key"] for found in page.get("Contents", ()) if found.get("Key"))
            if not page.get("IsTruncated"):
                return
            further = page.get("NextContinuationToken", "")
            if not further or further == wanted.get("ContinuationToken"):
                raise SourceError(f"{origin} cannot be listed: its list does not go on")
            wanted["ContinuationToken"] = further

    def _opened(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = self._made()
            return self._client

    def _made(self) -> Any:
        import boto3
        from botocore import UNSIGNED
        from botocore.config import Config

        session = boto3.Session(
            aws_access_key_id=self._key or None,
            aws_secret_access_key=self._secret or None,
            aws_session_token=self._token or None,
            # Keys go before a profile in boto3 only where both come from the environment.
            profile_name=(not self._key and self._profile) or None,
        )
        anonymous = {} if session.get_credentials() else {"signature_version": UNSIGNED}
        config = Config(
            connect_timeout=self._patience.connect,
            read_timeout=self._patience.stalled,
            retries={"total_max_attempts": self._patience.attempts, "mode": "standard"},
            **anonymous,
        )
        endpoint = self._endpoint or None
        return session.client("s3", endpoint_url=endpoint, config=config)

    def _told(self, origin: str, act: Callable[[], _Result]) -> _Result | None:
        """Do what asks the store, and say in one sentence what goes wrong; None for 304."""
        from botocore import exceptions

        if self._unreachable:
            raise Unreachable(self._unreachable, self._name)
        try:
            return run_cancellable(act, self._should_stop)
        except exceptions.ClientError as error:
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
            said = error.response.get("Error", {})
            code, message = str(said.get("Code", "")), str(said.get("Message", ""))
            if status == 304:
                return None
            if code == "NoSuchBucket":
                raise SourceError(f"{origin}: there is no bucket {self._name}") from None
            if status == 404:
                raise NotFound(f"{origin} does not exist: {code}") from None
            if status == 403:
                raise NotFound(f"{origin} is forbidden: {code}", is_forbidden=True) from None
            raise SourceError(
                f"{origin} cannot be read: {code}: {without_secrets(message)}"
            ) from None
        except (exceptions.EndpointConnectionError, exceptions.ConnectTimeoutError) as error:
            self._unreachable = f"{origin} cannot be reached: {without_secrets(str(error))}"
            raise Unreachable(self._unreachable, self._name) from None
        except (
            exceptions.IncompleteReadError,
            exceptions.ReadTimeoutError,
            exceptions.ResponseStreamingError,
            exceptions.ConnectionClosedError,
        ) as error:
            raise TemporaryFailure(f"{origin} broke off: {without_secrets(str(error))}") from None
        except (exceptions.BotoCoreError, ValueError) as error:
            raise SourceError(f"{origin} cannot be read: {without_secrets(str(error))}") from None


def _checked(endpoint: str) -> str:
    """Return the URL of an endpoint. Raises SourceError for one that boto3 could not use."""
    try:
        url = web_url(endpoint if "://" in endpoint else f"https://{endpoint}")
    except SourceError as error:
        raise SourceError(f"its endpoint is wrong: {error}") from None
    if url.userinfo or url.query:
        why = "it has a user or a query; keys of S3 are an access_pair"
        raise SourceError(f"its endpoint {url.shown} cannot be asked: {why}")
    return url.address

"""Buckets of Google Cloud Storage, through google-cloud-storage, as Spack reads them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from spackscope.model.core.errors import NotFound, SourceError, Unreachable
from spackscope.model.core.parallel import run_cancellable
from spackscope.model.core.progress import ShouldStop
from spackscope.model.storage.download import FileVersion, Writer
from spackscope.model.storage.download_cache import CachedFile
from spackscope.model.storage.patience import Patience, RateCheck
from spackscope.model.storage.redaction import without_secrets

_Result = TypeVar("_Result")

_READ_ONLY = "https://www.googleapis.com/auth/devstorage.read_only"


class GoogleBucket:
    """Give the objects of a bucket, to the user that google-auth finds, else to anybody.

    STORAGE_EMULATOR_HOST and GOOGLE_APPLICATION_CREDENTIALS are read by the library, from the
    process's environment. Raises ImportError without google-cloud-storage.
    """

    def __init__(
        self, name: str, should_stop: ShouldStop, patience: Patience = Patience()
    ) -> None:
        import google.cloud.storage  # noqa: F401 - told early that it is missing

        self._name, self._should_stop, self._patience = name, should_stop, patience
        self._client: Any = None
        self._lock = threading.Lock()
        self._unreachable = ""
        self.where = ""

    def ask(
        self, key: str, origin: str, copy: CachedFile | None, writer: Writer
    ) -> FileVersion | None:
        """Write an object, unless its generation is still that of the copy.

        Raises NotFound, other SourceErrors and Cancelled.
        """

        def look() -> Any:
            blob = self._opened().bucket(self._name).blob(key)
            blob.reload(**self._waiting())
            return blob

        blob = self._told(origin, look)
        generation = str(blob.generation)
        if copy is not None and copy.stamp == generation:
            return None
        writer.expect(blob.size)
        into = _Into(writer, blob.size, RateCheck(self._patience, origin))
        # One without metadata: those of the server may name a URL elsewhere, which the library
        # would send the user's token to.
        plain = blob.bucket.blob(key, generation=blob.generation)
        self._told(
            origin,
            lambda: plain.download_to_file(
                into,
                raw_download=True,
                if_generation_match=blob.generation,
                checksum=None,
                **self._waiting(),
            ),
        )
        return FileVersion(generation)

    def keys(self, prefix: str, origin: str) -> Iterator[str]:
        """Give all keys that begin with a prefix. Raises SourceError and Cancelled."""
        found = self._told(
            origin,
            lambda: [
                blob.name
                for blob in self._opened().list_blobs(self._name, prefix=prefix, **self._waiting())
            ],
        )
        yield from found

    def _opened(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = self._made()
            return self._client

    def _made(self) -> Any:
        import google.auth
        from google.auth.exceptions import DefaultCredentialsError
        from google.cloud import storage

        try:
            credentials, project = google.auth.default(scopes=[_READ_ONLY])
        except DefaultCredentialsError:
            return storage.Client.create_anonymous_client()
        # Reading needs no project, without which the library does not start.
        return storage.Client(project or "none", credentials)

    def _waiting(self) -> dict[str, Any]:
        from google.cloud.storage.retry import DEFAULT_RETRY

        patience = self._patience
        return {
            "timeout": (patience.connect, patience.stalled),
            "retry": DEFAULT_RETRY.with_timeout(patience.stalled),
        }

    def _told(self, origin: str, act: Callable[[], _Result]) -> _Result:
        """Do what asks the store, and say in one sentence what goes wrong."""
        from google.api_core import exceptions
        from google.auth.exceptions import GoogleAuthError
        from requests.exceptions import ConnectionError, RequestException

        if self._unreachable:
            raise Unreachable(self._unreachable, self._name)
        try:
            return run_cancellable(act, self._should_stop)
        except exceptions.NotFound:
            raise NotFound(f"{origin} does not exist: HTTP 404") from None
        except (exceptions.Forbidden, exceptions.Unauthorized) as error:
            raise NotFound(
                f"{origin} is forbidden: HTTP {error.code}", is_forbidden=True
            ) from None
        except (exceptions.RetryError, ConnectionError) as error:
            self._unreachable = f"{origin} cannot be reached: {without_secrets(str(error))}"
            raise Unreachable(self._unreachable, self._name) from None
        except (exceptions.GoogleAPIError, GoogleAuthError, RequestException, ValueError) as error:
            raise SourceError(f"{origin} cannot be read: {without_secrets(str(error))}") from None


class _Into:
    """Be the file that the library writes to."""

    def __init__(self, writer: Writer, size: int | None, rate: RateCheck) -> None:
        self._writer, self._size, self._rate = writer, size, rate

    def write(self, part: bytes) -> int:
        self._writer.write(part)
        self._writer.report(self._writer.size, self._size)
        self._rate.update(self._writer.size, self._size)
        return len(part)

    def tell(self) -> int:
        return self._writer.size

    def flush(self) -> None:
        """Leave that to the writer."""

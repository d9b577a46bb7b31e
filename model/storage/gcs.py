"""Buckets of Google Cloud Storage, through google-cloud-storage, as Spack reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spackscope.model.core.errors import NotFound, SourceError, Unreachable
from spackscope.model.core.redaction import library_message
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.storage.download import Download
from spackscope.model.storage.download_cache import FileVersion
from spackscope.model.storage.object_store import Bucket, ObjectTarget
from spackscope.model.storage.timeouts import Timeouts

_READ_ONLY = "https://www.googleapis.com/auth/devstorage.read_only"


class GcsBucket(Bucket):
    """Bucket that is read as the user that google-auth finds, else anonymously.

    STORAGE_EMULATOR_HOST and GOOGLE_APPLICATION_CREDENTIALS are read by the library, from the
    process's environment. Raises ImportError without google-cloud-storage.
    """

    def __init__(
        self, name: str, should_stop: ShouldStop, timeouts: Timeouts = Timeouts()
    ) -> None:
        import google.cloud.storage  # noqa: F401 - fails early if it is missing

        super().__init__(name, should_stop, timeouts)

    def download(self, key: str, download: Download) -> FileVersion | None:
        """Write an object, unless its generation is still that of the cached copy."""

        def look_up() -> Any:
            blob = self._client().bucket(self.name).blob(key)
            blob.reload(**self._timeouts())
            return blob

        origin = download.file.origin
        blob = self._call(origin, look_up)
        generation = str(blob.generation)
        if download.cached is not None and download.cached.stamp == generation:
            return None
        target = ObjectTarget(download, blob.size, self.timeouts)
        # One without metadata: those of the server may name a URL elsewhere, which the library
        # would send the user's token to.
        plain = blob.bucket.blob(key, generation=blob.generation)
        self._call(
            origin,
            lambda: plain.download_to_file(
                target,
                raw_download=True,
                if_generation_match=blob.generation,
                checksum=None,
                **self._timeouts(),
            ),
        )
        return FileVersion(generation)

    def size_of(self, key: str, origin: str) -> int | None:
        """Return the size of an object. Raises NotFound, other SourceErrors and Cancelled."""

        def look_up() -> Any:
            blob = self._client().bucket(self.name).blob(key)
            blob.reload(**self._timeouts())
            return blob.size

        size = self._call(origin, look_up)
        return size if isinstance(size, int) else None

    def keys(self, prefix: str, origin: str) -> Iterator[str]:
        """Yield all keys that begin with a prefix. Raises SourceError and Cancelled."""

        def list_names() -> list[str]:
            blobs = self._client().list_blobs(self.name, prefix=prefix, **self._timeouts())
            return [blob.name for blob in blobs]

        yield from self._call(origin, list_names)

    def _connect(self) -> Any:
        import google.auth
        from google.auth.exceptions import DefaultCredentialsError
        from google.cloud import storage

        try:
            credentials, project = google.auth.default(scopes=[_READ_ONLY])
        except DefaultCredentialsError:
            return storage.Client.create_anonymous_client()
        # Reading needs no project, but the library does not start without one.
        return storage.Client(project or "none", credentials)

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
            return Unreachable(f"{origin} cannot be reached: {why}", origin)
        error_types = (exceptions.GoogleAPIError, GoogleAuthError, RequestException, ValueError)
        return (
            SourceError(f"{origin} cannot be read: {why}")
            if isinstance(error, error_types)
            else None
        )

    def _timeouts(self) -> dict[str, Any]:
        from google.cloud.storage.retry import DEFAULT_RETRY

        timeouts = self.timeouts
        return {
            "timeout": (timeouts.connect, timeouts.stalled),
            "retry": DEFAULT_RETRY.with_timeout(timeouts.stalled),
        }

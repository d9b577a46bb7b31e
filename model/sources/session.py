"""What sources are reached with: the environment, who is told of progress, who may stop it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from spackscope.model.core.progress import OnProgress, ShouldStop, never, no_progress
from spackscope.model.sources.spack_config.config import Spack, spack_of
from spackscope.model.storage.base import Storage
from spackscope.model.storage.urls import is_remote

if TYPE_CHECKING:
    from spackscope.model.storage.http_client import Client


@dataclass(frozen=True)
class Reach:
    """Open places that share their connections."""

    environ: Mapping[str, str]
    on_progress: OnProgress = field(default=no_progress, repr=False)
    should_stop: ShouldStop = field(default=never, repr=False)

    def open(self, url: str, options: Mapping[str, object] = {}) -> Storage:
        """Open the place that an address or a path names. Raises SourceError."""
        from spackscope.model.storage.open import open_storage

        return open_storage(
            url,
            self.environ,
            options=options,
            client=self._client if is_remote(url) else None,
            on_progress=self.on_progress,
            should_stop=self.should_stop,
        )

    @cached_property
    def spack(self) -> Spack | None:
        """The configuration of the user's Spack, which is read once."""
        return spack_of(self.environ)

    @cached_property
    def _client(self) -> Client:
        from spackscope.model.storage.http_client import Client

        return Client(self.environ, should_stop=self.should_stop)

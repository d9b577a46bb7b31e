"""A cache directory and an environment for storages, as between runs of the program."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trustme

from spackscope.model.core.errors import NotFound, SourceError
from spackscope.model.core.frozen import replace
from spackscope.model.storage.base import FetchedFile, Storage, Wanted
from spackscope.model.storage.download import Timeouts
from spackscope.model.storage.http import Client, HttpStorage
from tests.program import PATIENCE
from tests.web_server import Handler, WebServer, serving

NO_URL = "is not a valid URL"
NO_PORT = "its port is not a number up to 65,535"
PATIENT = Timeouts(connect=PATIENCE, stalled=PATIENCE, pause=0.0, max_pause=0.5)
QUICK = replace(PATIENT, stalled=0.2)
"""For a server that is silent for ever: any other may be, on a busy machine."""
OLD, NEW = b'{"old": true}', b'{"new": true}'


class Machine:
    """A machine with its own cache directory, on which spackscope is started again and again."""

    def __init__(self, home: Path) -> None:
        self.environ = {"XDG_CACHE_HOME": str(home)}
        self.cache = home / "spackscope" / "copies"

    def storage(self, url: str, *, timeouts: Timeouts = PATIENT, **more: Any) -> HttpStorage:
        return HttpStorage(url, Client(self.environ, timeouts=timeouts, **more))

    def fetch(self, url: str, name: str = "index", **more: Any) -> FetchedFile:
        return self.storage(url, **more).fetch(Wanted(name))

    def read(self, server: WebServer, name: str = "index", **how: Any) -> bytes:
        return Path(self.storage(server.url).fetch(Wanted(name, **how)).path).read_bytes()

    def failure(
        self, server: WebServer, name: str = "index", max_size: int = 1 << 30, **more: Any
    ) -> str:
        with pytest.raises(SourceError) as raised:
            self.storage(server.url, **more).fetch(Wanted(name, max_size=max_size))
        return without_port(str(raised.value), server)

    def has(self, storage: Storage, name: str) -> bool:
        """Check whether a file of a storage can be read without a server."""
        with suppress(NotFound):
            return bool(storage.fetch(Wanted(name, immutable=True, may_download=False)).path)
        return False

    def left_behind(self) -> list[str]:
        return sorted(name for name in os.listdir(self.cache) if name.endswith(".tmp"))


def without_port(text: str, server: WebServer) -> str:
    """Write what differs from run to run in the same way."""
    return text.replace(server.url, "URL").replace(f":{server.port}", "")


@contextmanager
def tls_server(authority: trustme.CA, name: str, script: Handler) -> Iterator[WebServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    with serving(tls=context, index=script) as server:
        yield server

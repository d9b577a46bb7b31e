"""Read the public keys that a mirror publishes, and those that the user's Spack trusts.

As `get_keys` of lib/spack/spack/binary_distribution.py: an index names the fingerprints, and each
key is a file. `spack gpg publish` writes them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from spackscope.model.core.errors import NotFound, SourceError, Unreadable, WrongContent
from spackscope.model.core.files import read_file
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import run_parallel
from spackscope.model.readers.encoding import decode
from spackscope.model.readers.json import parse
from spackscope.model.readers.manifest import Blob, read_manifest
from spackscope.model.readers.openpgp import (
    MAX_KEY_SIZE,
    PublicKey,
    Signature,
    read_keyring,
    read_public_keys,
)
from spackscope.model.sources.mirror import Mirror
from spackscope.model.sources.spack_config.paths import find_spack_root
from spackscope.model.storage.base import FetchedFile

MAX_KEYS = 64
"""Keys of a mirror that are read; few have more than two."""

_V3 = "v3/manifests/key"
_V2 = "_pgp"
_MAX_KEYRING = 2**26
_FINGERPRINT = re.compile(r"[0-9A-Fa-f]{16,64}")
_KEYRINGS = ("pubring.kbx", "pubring.gpg")


class PublishedKey(Frozen):
    """A public key that a mirror publishes; `path` is its file, "" if not on this machine."""

    key: PublicKey
    path: str = ""


class PublishedKeys(Frozen):
    """The public keys that a mirror publishes, and why they cannot all be read."""

    keys: tuple[PublishedKey, ...] = ()
    problem: str = ""

    def of(self, signature: Signature) -> PublishedKey | None:
        """Return the key that a signature names, itself or by a subkey."""
        return next((each for each in self.keys if each.key.made(signature)), None)


def read_published_keys(mirror: Mirror, layouts: Iterable[str]) -> PublishedKeys:
    """Read the keys that a mirror publishes; none is no problem. Raises Cancelled."""
    keys: list[PublishedKey] = []
    problem = ""
    for layout in layouts:
        read = _read_v3 if layout == "v3" else _read_v2
        try:
            keys += read(mirror)
        except NotFound:
            continue
        except (SourceError, Unreadable) as error:
            problem = problem or str(error)
    return PublishedKeys(tuple(keys), problem)


def trusted_keys(environ: Mapping[str, str]) -> tuple[PublicKey, ...]:
    """Return the keys in the keyring of the user's Spack, without which Spack trusts none.

    It is in the directory of `GNUPGHOME` of lib/spack/spack/util/gpg.py. What cannot be read has
    no keys.
    """
    home = environ.get("SPACK_GNUPGHOME", "")
    if not home:
        root = find_spack_root(environ)
        if not root:
            return ()
        home = os.path.join(root, "opt", "spack", "gpg")
    keys: list[PublicKey] = []
    for name in _KEYRINGS:
        try:
            keys += read_keyring(read_file(os.path.join(home, name), _MAX_KEYRING))
        except (OSError, Unreadable):
            continue
    return tuple(keys)


def _read_v3(mirror: Mirror) -> list[PublishedKey]:
    index = _fetch_blob(mirror, f"{_V3}/keys.manifest.json")
    return _read_all(
        mirror,
        [
            partial(_fetch_blob, mirror, f"{_V3}/{fingerprint}.key.manifest.json")
            for fingerprint in _fingerprints(mirror, index)
        ],
    )


def _read_v2(mirror: Mirror) -> list[PublishedKey]:
    folder = f"{mirror.build_cache}{_V2}"
    index = mirror.storage.fetch(f"{folder}/index.json", max_size=MAX_KEY_SIZE)
    return _read_all(
        mirror,
        [
            partial(mirror.storage.fetch, f"{folder}/{fingerprint}.pub", max_size=MAX_KEY_SIZE)
            for fingerprint in _fingerprints(mirror, index)
        ],
    )


def _fetch_blob(mirror: Mirror, name: str) -> FetchedFile:
    """Fetch the only blob of a manifest. Raises SourceError, Unreadable and Cancelled."""
    manifest = mirror.fetch_manifest(name)
    blobs: Sequence[Blob] = read_manifest(mirror.read(manifest)).blobs
    if not blobs:
        raise Unreadable(f"{manifest.origin} names no file")
    return mirror.storage.fetch(
        blobs[0].name, sha256=blobs[0].checksum, immutable=True, max_size=MAX_KEY_SIZE
    )


def _fingerprints(mirror: Mirror, index: FetchedFile) -> list[str]:
    """Return the fingerprints that an index of keys names."""
    try:
        document, _ = parse(decode(mirror.read(index, MAX_KEY_SIZE)))
    except Unreadable as error:
        raise Unreadable(f"{index.origin} cannot be read: {error}") from None
    keys = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(keys, dict):
        raise Unreadable(f"{index.origin} is not an index of keys")
    return [name for name in keys if _FINGERPRINT.fullmatch(name)][:MAX_KEYS]


def _read_all(mirror: Mirror, tasks: Sequence[partial[FetchedFile]]) -> list[PublishedKey]:
    """Fetch and read keys, several at once; one that is gone or cannot be read is left out.

    Raises other SourceErrors and Cancelled.
    """

    def read(fetch: partial[FetchedFile]) -> list[PublishedKey]:
        try:
            file = fetch()
            path = file.path if mirror.is_local else ""
            keys = read_public_keys(mirror.read(file, MAX_KEY_SIZE))
        except (NotFound, WrongContent, Unreadable):
            return []
        return [PublishedKey(key, path) for key in keys]

    should_stop = mirror.session.should_stop
    found = run_parallel([partial(read, task) for task in tasks], should_stop) if tasks else []
    return [key for keys in found for key in keys]

"""Find out who signed what mirrors list, and what to type to trust the key.

Only what a signature says of itself is read; `gpg` verifies it when Spack installs.
"""

from __future__ import annotations

import shlex
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import SourceError, Unreadable
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.tasks import run_parallel
from spackscope.model.query.ast import Query, exact_term
from spackscope.model.readers.openpgp import PublicKey, Signature, read_signature
from spackscope.model.sources.mirror import Mirror
from spackscope.model.sources.mirror_spec import (
    REGISTRY,
    MirrorEntry,
    PublishedKey,
    PublishedKeys,
    layouts_of,
    mirror_of,
    read_entries,
    read_published_keys,
    trusted_keys,
)
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import PREFIX

if TYPE_CHECKING:
    from spackscope.model.sources.spack_config import ConfiguredMirror

SAMPLED, SAMPLED_LOCALLY = 8, 32
"""Specs of a source whose signatures are read, of a remote source and of a local one."""

KEYS_COMMAND = "spack buildcache keys --install --trust"
"""The command that trusts the keys of all mirrors of a Spack, in all of 0.22 to 1.2."""


class Signer(Frozen):
    """Who signed something: what the signature says, and the key if the mirror publishes it.

    `is_trusted` if the key is in the keyring of the user's Spack. `trust` is the line to type to
    trust it, or "" if that is done or needs a file that the mirror does not publish. `problem` is
    why that is unknown.
    """

    signature: Signature
    key: PublicKey | None = None
    is_trusted: bool = False
    trust: str = ""
    problem: str = ""


class SignedEntry(Frozen):
    """What a mirror has of a spec, and who signed it; None if nobody did or that is unknown.

    `is_checked` is False if the user's Spack installs from this mirror without a signature.
    """

    entry: MirrorEntry
    signer: Signer | None = None
    is_checked: bool = True


class SourceSigning(Frozen):
    """Who signed the specs of a source, by a sample of them.

    `read` counts the specs whose spec manifest (layout v3) or spec file (v2) was read, `signed`
    those of them with a signature. `is_index_signed` is None if that is unknown. `problem` is
    why nothing was read. A registry is not `is_signable`: Spack signs nothing there.
    """

    read: int = 0
    signed: int = 0
    is_index_signed: bool | None = None
    signers: tuple[Signer, ...] = ()
    problem: str = ""
    is_signable: bool = True


class KnownKeys:
    """The keys that mirrors publish, each asked once, and those that Spack trusts; thread-safe."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._published: dict[str, PublishedKeys] = {}
        self._lock = threading.Lock()

    @cached_property
    def trusted(self) -> tuple[PublicKey, ...]:
        """The keys in the keyring of the user's Spack."""
        return trusted_keys(self._environ)

    def published(self, mirror: Mirror, state: SourceStatus) -> PublishedKeys:
        """Return the keys that a mirror publishes. Raises Cancelled."""
        name = mirror.storage.origin
        with self._lock:
            if name not in self._published:
                self._published[name] = read_published_keys(mirror, layouts_of(mirror, state))
            return self._published[name]


def spec_signing(
    spec: Spec,
    states: Sequence[SourceStatus],
    session: Session,
    sources: Sequence[str],
    known: KnownKeys,
) -> list[SignedEntry]:
    """Ask the mirrors of a spec who signed it, and whether its archive is there.

    Arguments as of `read_entries`. Raises Cancelled.
    """
    signers: dict[str, tuple[Signer | None, bool]] = {}

    def sign(mirror: Mirror, state: SourceStatus, entry: MirrorEntry) -> None:
        is_checked = entry.is_signed is not False or _is_checked(mirror, session)
        signers[entry.source] = _signer(entry, mirror, state, session, known), is_checked

    entries = read_entries(spec, states, session, sources, on_read=sign)
    return [SignedEntry(entry, *signers.get(entry.source, (None, True))) for entry in entries]


def source_signing(
    catalog: Catalog,
    state: SourceStatus,
    session: Session,
    sources: Sequence[str],
    known: KnownKeys,
) -> SourceSigning | None:
    """Read who signed some specs of a source; None if it is no mirror. Raises Cancelled."""
    if state.layout == REGISTRY:
        return SourceSigning(is_signable=False)
    specs = _sample(catalog, state)
    if not specs:
        return None
    signers: dict[tuple[str, str], Signer] = {}

    def sign(mirror: Mirror, state: SourceStatus, entry: MirrorEntry) -> None:
        if (signer := _signer(entry, mirror, state, session, known)) is not None:
            signers.setdefault(_key_of(signer.signature), signer)

    tasks = [
        partial(read_entries, spec, [state], session, sources, checks_archive=False, on_read=sign)
        for spec in specs
    ]
    entries = [entry for found in run_parallel(tasks, session.should_stop) for entry in found]
    if not entries:
        return None
    # In the order of the specs, whichever was read first.
    keys = [_key_of(entry.signature) for entry in entries if entry.signature is not None]
    known_entries = [entry for entry in entries if entry.is_signed is not None]
    return SourceSigning(
        len(known_entries),
        sum(entry.is_signed is True for entry in known_entries),
        _is_index_signed(specs[0], state, session, sources),
        tuple(signers[key] for key in dict.fromkeys(keys) if key in signers),
        "" if known_entries else entries[0].problem,
    )


def _key_of(signature: Signature) -> tuple[str, str]:
    """Return what a signature says of its key."""
    return signature.fingerprint, signature.key_id


def _sample(catalog: Catalog, state: SourceStatus) -> list[Spec]:
    """Return some specs of a source that are in its build cache, evenly over all of them."""
    if state.failure:
        return []
    query = Query().also(exact_term("source", state.name)).also(exact_term("state", "cached"))
    ids = catalog.match(query)
    count = min(len(ids), SAMPLED if state.checked is not None else SAMPLED_LOCALLY)
    rows = catalog.rows([ids[number * len(ids) // count] for number in range(count)])
    return [row.spec for row in rows]


def _is_index_signed(
    spec: Spec, state: SourceStatus, session: Session, sources: Sequence[str]
) -> bool | None:
    """Check whether the index of a source is signed, as far as Spack could ever do that."""
    if "spec files" in state.layout or state.remark:
        return None
    try:
        mirror = mirror_of(spec, state, session, sources)
        if mirror is None or "v3" not in layouts_of(mirror, state):
            # The index of layout v2 has only a checksum next to it.
            return None if mirror is None else False
        file = mirror.fetch_manifest(mirror.index_manifest)
        return read_signature(mirror.read(file)) is not None
    except Unreadable:
        return True
    except SourceError:
        return None


def _signer(
    entry: MirrorEntry, mirror: Mirror, state: SourceStatus, session: Session, known: KnownKeys
) -> Signer | None:
    """Return who signed an entry of a mirror, with what is known of the key."""
    signature = entry.signature
    if signature is None:
        return None
    trusted = next((key for key in known.trusted if key.made(signature)), None)
    if trusted is not None:
        return Signer(signature, trusted, is_trusted=True)
    keys = known.published(mirror, state)
    published = keys.of(signature)
    if published is None:
        return Signer(signature, problem=keys.problem)
    return Signer(signature, published.key, trust=_trust(published, mirror, session))


def _trust(published: PublishedKey, mirror: Mirror, session: Session) -> str:
    """Return the line to type to trust a key that a mirror publishes."""
    if published.path:
        return shlex.join(["spack", "gpg", "trust", published.path])
    if _configured(mirror, session) is not None:
        return KEYS_COMMAND
    url = _url_of(mirror)
    name = _proposed_name(url)
    return f"{shlex.join(['spack', 'mirror', 'add', name, url])} && {KEYS_COMMAND}"


def _is_checked(mirror: Mirror, session: Session) -> bool:
    """Check whether the user's Spack needs signatures of a mirror: `signed` of mirrors.yaml."""
    configured = _configured(mirror, session)
    return configured is None or configured.signed


def _configured(mirror: Mirror, session: Session) -> ConfiguredMirror | None:
    """Return a mirror as the user's Spack is configured to use it; None if it is not."""
    mirrors = session.spack.mirrors if session.spack is not None else {}
    if mirror.source.startswith(PREFIX):
        return mirrors.get(mirror.source.removeprefix(PREFIX))
    url = _url_of(mirror)
    return next((m for m in mirrors.values() if shown_url(m.url).rstrip("/") == url), None)


def _url_of(mirror: Mirror) -> str:
    """Return the URL of a mirror as Spack needs it, without the folder of layout v2."""
    url = mirror.storage.origin.rstrip("/")
    return url if mirror.build_cache else url.removesuffix("/build_cache")


def _proposed_name(url: str) -> str:
    """Return a name for a mirror: the last part of its URL that has letters."""
    parts = [part for part in shown_url(url).partition("://")[2].split("/") if part.strip(".")]
    letters = "".join(c if c.isalnum() or c in "-_." else "-" for c in parts[-1] if c.isascii())
    return letters.strip("-.") or "mirror" if parts else "mirror"

"""Find out who signed what a source lists, by a sample of its specs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import SourceError, Unreadable
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.core.tasks import run_parallel
from spackscope.model.query.ast import Query, exact_term
from spackscope.model.readers.openpgp import read_signature
from spackscope.model.sources.mirror_spec import (
    REGISTRY,
    KnownKeys,
    Signer,
    layouts_of,
    mirror_of,
    read_entries,
)
from spackscope.model.sources.session import Session

SAMPLED, SAMPLED_LOCALLY = 8, 32
"""Specs of a source whose signatures are read, of a remote source and of a local one."""


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
    if state.failure:
        return None
    # Some specs that are in its build cache, evenly over all of them.
    query = Query().also(exact_term("source", state.name)).also(exact_term("state", "cached"))
    ids = catalog.match(query)
    count = min(len(ids), SAMPLED if state.checked is not None else SAMPLED_LOCALLY)
    rows = catalog.rows([ids[number * len(ids) // count] for number in range(count)])
    specs = [row.spec for row in rows]
    if not specs:
        return None
    tasks = [
        partial(read_entries, spec, [state], session, sources, known, checks_archive=False)
        for spec in specs
    ]
    entries = [entry for found in run_parallel(tasks, session.should_stop) for entry in found]
    if not entries:
        return None
    signers: dict[tuple[str, str], Signer] = {}
    for entry in entries:
        if entry.signer is not None:
            signature = entry.signer.signature
            signers.setdefault((signature.fingerprint, signature.key_id), entry.signer)
    read = [entry for entry in entries if entry.is_signed is not None]
    return SourceSigning(
        len(read),
        sum(entry.is_signed is True for entry in read),
        _is_index_signed(specs[0], state, session, sources),
        tuple(signers.values()),
        "" if read else entries[0].problem,
    )


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

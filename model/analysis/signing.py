"""Find out who signed what a source lists, by a sample of its specs."""

from __future__ import annotations

from functools import partial

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import SourceStatus
from spackscope.model.core.tasks import run_parallel
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, exact_term
from spackscope.model.sources.mirror_spec import REGISTRY, Mirrors, Signer

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
    catalog: Catalog, state: SourceStatus, mirrors: Mirrors
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
    ask = partial(mirrors.entries, only=state, checks_archive=False)
    tasks = [partial(ask, spec) for spec in specs]
    found = run_parallel(tasks, mirrors.session.should_stop) if tasks else []
    entries = [entry for of_spec in found for entry in of_spec]
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
        mirrors.is_index_signed(specs[0], state),
        tuple(signers.values()),
        "" if read else entries[0].problem,
    )

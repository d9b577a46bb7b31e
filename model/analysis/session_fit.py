"""Connect catalogs with the host of a session, which is detected when it is first needed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import QueryError
from spackscope.model.core.records import Fit, Spec
from spackscope.model.query.ast import Term
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session

if TYPE_CHECKING:
    from spackscope.model.analysis.fit import HostFit
    from spackscope.model.analysis.host import Host

VARIABLE = "SPACKSCOPE_HOST"
"""The variable of the environment that describes the host."""


def described_host(session: Session) -> str:
    """Return the description of the host, or "" for this machine."""
    return session.host or session.environ.get(VARIABLE, "").strip()


def host_of(session: Session) -> Host:
    """Return the host that specs are to run on: the one described, else this machine.

    Raises QueryError where the description is not one.

        host_of(Session(os.environ, host="target=zen3 glibc=2.34"))
    """
    from spackscope.model.analysis.host import detect_host, parse_host

    description = described_host(session)
    return parse_host(description) if description else detect_host()


def host_phrase(session: Session) -> str:
    """Return where specs run: `here`, or on the target or system of a host that was described."""
    host = host_of(session)
    return "here" if host.is_this_machine else f"on {host.target or host}"


def attach_fit(catalog: Catalog, session: Session) -> Catalog:
    """Set the host of a catalog to that of a session, unless it has one; return the catalog."""
    if not catalog.by_host.is_connected:
        catalog.by_host.connect(partial(_host_fit, catalog, session))
    return catalog


def fit_of(catalog: Catalog, id_: int) -> Fit | None:
    """Return whether a spec runs on the host; None for a catalog without a host."""
    return catalog.by_host.answers.of(id_) if catalog.by_host.is_connected else None


def _host_fit(catalog: Catalog, session: Session) -> HostFit:
    # Most commands load a catalog, and need no fit.
    from spackscope.model.analysis.fit import HostFit

    host = host_of(session)
    if host.is_this_machine:
        return HostFit(catalog, host, partial(_is_listed, catalog, session))
    return HostFit(catalog, host)


def _is_listed(catalog: Catalog, session: Session, id_: int) -> bool:
    """Check whether packages.yaml lists an external, as `_is_reusable` of Spack does."""
    externals = session.spack.externals if session.spack is not None else ()
    if not externals:
        return False
    provenance = catalog.provenance(id_)
    modules = provenance.external_modules
    prefix = "" if provenance.external == ", ".join(modules) else provenance.external
    spec = catalog.rows([id_])[0].spec
    return any(
        (prefix, modules) == (external.prefix, external.modules)
        and _satisfies(spec, external.spec)
        for external in externals
    )


def _satisfies(spec: Spec, constraint: str) -> bool:
    """Check an external against its spec in packages.yaml; conditions on `%` are ignored."""
    try:
        query = parse(constraint)
    except QueryError:
        return False
    terms = [condition for condition in query.conditions if isinstance(condition, Term)]
    return query.package is not None and all(
        term.fits(term.column, term.columns[0].value(spec)) for term in terms
    )

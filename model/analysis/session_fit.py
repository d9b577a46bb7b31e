"""Answers of catalogs for the host of a session, which is detected when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import QueryError
from spackscope.model.core.progress import ShouldStop
from spackscope.model.core.records import Fit, Spec
from spackscope.model.query.conditions import Term
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
    from spackscope.model.analysis.host import parse_host
    from spackscope.model.analysis.host_detection import detect_host

    description = described_host(session)
    return parse_host(description) if description else detect_host()


def host_phrase(session: Session) -> str:
    """Return where specs run: `here`, or on the target or system of a host that was described."""
    host = host_of(session)
    return "here" if host.is_this_machine else f"on {host.target or host}"


def attach_fit(catalog: Catalog, session: Session) -> Catalog:
    """Set the host of a catalog to that of a session, unless it has one; return the catalog."""
    if catalog.by_host.answers is None:
        catalog.by_host.answers = SessionFit(catalog, session)
    return catalog


def fit_of(catalog: Catalog, id_: int) -> Fit | None:
    """Return whether a spec runs on the host; None for a catalog without a host."""
    return catalog.by_host.answers.of(id_) if catalog.by_host.answers is not None else None


class SessionFit:
    """Implement `HostAnswers` for the host of a session; nothing is read before it is needed."""

    def __init__(self, catalog: Catalog, session: Session) -> None:
        self._catalog, self._session = catalog, session
        self._lock = threading.Lock()
        self._fit: HostFit | None = None

    def _get(self) -> HostFit:
        # Most commands load a catalog, and need no fit.
        from spackscope.model.analysis.fit import HostFit

        with self._lock:
            if self._fit is None:
                host = host_of(self._session)
                is_listed = self._is_listed if host.is_this_machine else _nothing
                self._fit = HostFit(self._catalog, host, is_listed)
            return self._fit

    @property
    def host(self) -> Host:
        """The host."""
        return self._get().host

    @property
    def is_ready(self) -> bool:
        """Whether all specs are checked."""
        return self._fit is not None and self._fit.is_ready

    def part(self, column: str) -> str:
        """Return the platform, os or target of the host, or "" if it is not known."""
        return self._get().part(column)

    def of(self, id_: int) -> Fit:
        """Return whether the spec with an id runs on the host, with sentences."""
        return self._get().of(id_)

    def brief(self, id_: int) -> Fit:
        """Return whether the spec with an id runs on the host, without sentences."""
        return self._get().brief(id_)

    def codes(self, should_stop: ShouldStop) -> Sequence[int]:
        """Return a code for each spec by its id. Raises Cancelled."""
        return self._get().codes(should_stop)

    def fits(self) -> Sequence[Fit]:
        """Return what these codes mean, without sentences, once there are codes."""
        return self._get().fits()

    def _is_listed(self, id_: int) -> bool:
        """Check whether packages.yaml lists an external, as `_is_reusable` of Spack does."""
        externals = self._session.externals
        if not externals:
            return False
        row = self._catalog.rows([id_])[0]
        provenance = self._catalog.provenance(id_)
        modules = provenance.external_modules
        prefix = "" if provenance.external == ", ".join(modules) else provenance.external
        return any(
            (prefix, modules) == (external.prefix, external.modules)
            and _satisfies(row.spec, external.spec)
            for external in externals
        )


def _nothing(_id: int) -> bool:
    return False


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

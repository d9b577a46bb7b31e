"""Connect catalogs with the host of a session, which is detected when it is first needed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from spackscope.model.core.records import CONFIGURATION, RECIPES, Fit, Gap, Problem
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Term
from spackscope.model.query.toolchains import Toolchains
from spackscope.model.sources.session import Session
from spackscope.model.sources.spack_config import find_spack_root, spack_version

if TYPE_CHECKING:
    from spackscope.model.analysis.fit import HostFit
    from spackscope.model.analysis.host import Host
    from spackscope.model.analysis.reuse import Findings

VARIABLE = "SPACKSCOPE_HOST"
"""The environment variable that describes the host."""

_REFUSES_DEPRECATED = "1.3"
"""The first Spack that does not reuse deprecated versions."""

_DEPRECATED = Problem(
    "", "", "only recipes tell which versions are deprecated; this Spack does not reuse those"
)


def described_host(session: Session) -> str:
    """Return the description of the host, or "" for this machine."""
    return session.host or session.environ.get(VARIABLE, "").strip()


def host_of(session: Session) -> Host:
    """Return the host that specs are to run on: the described host, else this machine.

    Raises QueryError for a wrong description.

        host_of(Session(os.environ, host="target=zen3 glibc=2.34"))
    """
    from spackscope.model.analysis.host import detect_host, parse_host

    description = described_host(session)
    return parse_host(description) if description else detect_host()


def attach_fit(catalog: Catalog, session: Session) -> Catalog:
    """Set the host of a catalog to that of a session, unless it has one; return the catalog."""

    def host_fit() -> HostFit:
        # Most commands load a catalog, and need no fit.
        from spackscope.model.analysis.fit import HostFit

        host = host_of(session)
        spack = session.spack if host.is_this_machine else None
        externals = spack.externals if spack is not None else ()

        def is_listed(id_: int) -> bool:
            """Check whether packages.yaml lists an external, as `_is_reusable` of Spack does.

            Conditions of its spec on `%` are ignored.
            """
            facts = catalog.nodes[catalog.column("node")[id_]]
            modules = facts.external_modules
            prefix = "" if facts.external == ", ".join(modules) else facts.external
            for external in externals:
                if (prefix, modules) != (external.prefix, external.modules):
                    continue
                spec = catalog.rows([id_])[0].spec
                terms = [term for term in external.query.conditions if isinstance(term, Term)]
                if external.query.package is not None and all(
                    term.fits(term.column, term.columns[0].value(spec)) for term in terms
                ):
                    return True
            return False

        version, rules = _version_of(session), session.reuse_rules
        oses = rules.os_compatible if rules is not None else {}
        return HostFit(catalog, host, is_listed, kept_out, version, oses)

    @lru_cache(None)
    def kept_out() -> Findings:
        from spackscope.model.analysis.reuse import find_kept_out

        spack, version = session.spack, _version_of(session)
        externals = spack.externals if spack is not None else ()
        return find_kept_out(catalog, session.reuse_rules, version, externals)

    def find_gaps() -> list[Gap]:
        of_rules = kept_out().problems
        # The parts of the configuration for the rules were read by now.
        of_spack = session.spack.problems if session.spack is not None else ()
        gaps = [Gap(each, CONFIGURATION) for each in dict.fromkeys((*of_spack, *of_rules))]
        since = version_key(_REFUSES_DEPRECATED)
        if session.reuse_rules is not None and version_key(_version_of(session)) >= since:
            gaps.append(Gap(_DEPRECATED, RECIPES))
        return gaps

    def toolchains() -> Toolchains:
        return session.spack.toolchains if session.spack is not None else {}

    if not catalog.by_host.has_host:
        catalog.by_host.connect(host_fit, find_gaps, toolchains)
    return catalog


def _version_of(session: Session) -> str:
    return spack_version(find_spack_root(session.environ))


def fit_of(catalog: Catalog, id_: int) -> Fit | None:
    """Return whether a spec runs on the host; None for a catalog without a host."""
    return catalog.by_host.answers.of(id_) if catalog.by_host.has_host else None

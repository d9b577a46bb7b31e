"""Read who signed specs and sources for commands; without a mirror nothing is imported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.presentation.sources import NOT_SIGNED
from spackscope.model.sources.session import Session

if TYPE_CHECKING:
    from spackscope.model.analysis.signing import SourceSigning
    from spackscope.model.presentation.detail import DetailLine
    from spackscope.model.sources.mirror_spec import KnownKeys, MirrorEntry


class Signed:
    """Who signed the specs of a catalog; each mirror is asked once for its keys."""

    def __init__(self, session: Session, sources: Sequence[str]) -> None:
        self._session, self._sources = session, sources
        self._of_spec: dict[tuple[str, ...], Sequence[MirrorEntry]] = {}
        self._of_source: dict[str, SourceSigning | None] = {}

    @cached_property
    def _known(self) -> KnownKeys:
        from spackscope.model.sources.mirror_spec import KnownKeys

        return KnownKeys(self._session.environ)

    def added_to(
        self, lines: Sequence[DetailLine], spec: Spec, catalog: Catalog
    ) -> Sequence[DetailLine]:
        """Return the lines of a spec with who signed it, and whether its archive is there."""
        if not (entries := self._entries(spec, catalog)):
            return lines
        from spackscope.model.presentation.signing import with_signing

        return with_signing(lines, entries)

    def json(self, spec: Spec, catalog: Catalog) -> list[dict[str, Any]]:
        """Return what mirrors have of a spec, for JSON."""
        if not (entries := self._entries(spec, catalog)):
            return []
        from spackscope.model.presentation.signing import entries_json

        return entries_json(entries)

    def ask(self, spec: Spec, catalog: Catalog) -> None:
        """Ask the mirrors of a spec now."""
        self._entries(spec, catalog)

    def _entries(self, spec: Spec, catalog: Catalog) -> Sequence[MirrorEntry]:
        key = (spec.hash, spec.tag, *spec.sources)
        if key not in self._of_spec:
            self._of_spec[key] = self._read(spec, catalog)
        return self._of_spec[key]

    def _read(self, spec: Spec, catalog: Catalog) -> Sequence[MirrorEntry]:
        states = [state for state in catalog.sources if state.name in spec.sources]
        if not spec.cached or not any(state.may_be_mirror for state in states):
            return ()
        from spackscope.model.sources.mirror_spec import read_entries

        return read_entries(spec, states, self._session, self._sources, self._known)

    def cell(self, state: SourceStatus, catalog: Catalog) -> str:
        """Return in one or two words what of a source is signed."""
        if not state.may_be_mirror:
            return NOT_SIGNED
        from spackscope.model.presentation.signing import signing_cell

        return signing_cell(self._source(state, catalog))

    def source_lines(self, state: SourceStatus, catalog: Catalog) -> Iterator[tuple[str, str]]:
        """Yield labels and values on who signed a source; none where nobody did."""
        if state.may_be_mirror and (signing := self._source(state, catalog)) is not None:
            from spackscope.model.presentation.signing import source_signing_lines

            if signing.signed:
                yield from source_signing_lines(signing)

    def source_json(self, state: SourceStatus, catalog: Catalog) -> dict[str, Any] | None:
        """Return who signed a source, for JSON."""
        if not state.may_be_mirror:
            return None
        from spackscope.model.presentation.signing import source_signing_json

        return source_signing_json(self._source(state, catalog))

    def _source(self, state: SourceStatus, catalog: Catalog) -> SourceSigning | None:
        if state.name not in self._of_source:
            from spackscope.model.analysis.signing import source_signing

            self._of_source[state.name] = source_signing(
                catalog, state, self._session, self._sources, self._known
            )
        return self._of_source[state.name]

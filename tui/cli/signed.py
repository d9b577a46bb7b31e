"""Read who signed specs and sources for commands; without a mirror nothing is imported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.sources import NOT_SIGNED
from spackscope.model.sources.session import Session

if TYPE_CHECKING:
    from spackscope.model.analysis.signing import SourceSigning
    from spackscope.model.report.detail import DetailLine
    from spackscope.model.sources.mirror_spec import MirrorEntry, Mirrors


class Signed:
    """Who signed the specs of a catalog; each mirror is asked once for its keys."""

    def __init__(self, catalog: Catalog, session: Session, sources: Sequence[str]) -> None:
        self._catalog, self._session, self._sources = catalog, session, sources
        self._of_spec: dict[tuple[str, ...], Sequence[MirrorEntry]] = {}
        self._of_source: dict[str, SourceSigning | None] = {}

    @cached_property
    def _mirrors(self) -> Mirrors:
        from spackscope.model.sources.mirror_spec import Mirrors

        return Mirrors(self._catalog.sources, self._session, self._sources)

    def entries(self, spec: Spec) -> Sequence[MirrorEntry]:
        """Return what the mirrors of a spec have of it; they are asked once."""
        key = (spec.hash, spec.tag, *spec.sources)
        if key not in self._of_spec:
            states = (state for state in self._catalog.sources if state.name in spec.sources)
            is_asked = spec.cached and any(state.may_be_mirror for state in states)
            self._of_spec[key] = self._mirrors.entries(spec) if is_asked else ()
        return self._of_spec[key]

    def size(self, spec: Spec) -> float | None:
        """Return the size of the archive of a spec in bytes, if a mirror tells."""
        if spec.size is not None:
            return spec.size
        return self._mirrors.sizes([spec]).get(spec.hash)

    def added_to(self, lines: Sequence[DetailLine], spec: Spec) -> Sequence[DetailLine]:
        """Return the lines of a spec with who signed it, and whether its archive is there."""
        if not (entries := self.entries(spec)):
            return lines
        from spackscope.model.report.signing import with_signing

        return with_signing(lines, entries)

    def json(self, spec: Spec) -> list[dict[str, Any]]:
        """Return what mirrors have of a spec, for JSON."""
        if not (entries := self.entries(spec)):
            return []
        from spackscope.model.report.signing import entries_json

        return entries_json(entries)

    def cell(self, state: SourceStatus) -> str:
        """Return in one or two words what of a source is signed."""
        if not state.may_be_mirror:
            return NOT_SIGNED
        from spackscope.model.report.signing import signing_cell

        return signing_cell(self._source(state))

    def source_lines(self, state: SourceStatus) -> Iterator[tuple[str, str]]:
        """Yield labels and values on who signed a source; none where nobody did."""
        if state.may_be_mirror and (signing := self._source(state)) is not None:
            from spackscope.model.report.signing import source_signing_lines

            if signing.signed:
                yield from source_signing_lines(signing)

    def source_json(self, state: SourceStatus) -> dict[str, Any] | None:
        """Return who signed a source, for JSON."""
        if not state.may_be_mirror:
            return None
        from spackscope.model.report.signing import source_signing_json

        return source_signing_json(self._source(state))

    def _source(self, state: SourceStatus) -> SourceSigning | None:
        if state.name not in self._of_source:
            from spackscope.model.analysis.signing import source_signing

            signing = source_signing(self._catalog, state, self._mirrors)
            self._of_source[state.name] = signing
        return self._of_source[state.name]

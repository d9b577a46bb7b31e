"""Compute the link/run closure of a spec, which an install from a build cache fetches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Spec, absent_spec, is_run
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import nearest_first
from spackscope.model.sources.session import Session


class NeededSpec(NamedTuple):
    """A spec of a closure with its id and provenance; its texts are not cleaned.

    A direct dependency provides `virtuals`. Only the name and hash of an absent one are known.
    """

    id: int
    spec: Spec
    is_absent: bool = False
    is_direct: bool = False
    virtuals: tuple[str, ...] = ()


class Needs(Frozen):
    """The closure of specs in three parts, each with the nearest dependencies first.

    `specs` are linked or run, the specs themselves first; so are `externals`, which Spack did not
    build. `build_only` has all other specs, if they were asked for. The closure `is_unknown` if a
    spec that is linked or run is absent, or its document lists no dependencies: then there may be
    more.
    """

    specs: tuple[NeededSpec, ...]
    externals: tuple[NeededSpec, ...]
    build_only: tuple[NeededSpec, ...]
    is_unknown: bool = False

    @property
    def to_fetch(self) -> list[NeededSpec]:
        """The specs that are not installed."""
        return [needed for needed in self.specs if not needed.spec.installed]


def read_needs(catalog: Catalog, ids: Sequence[int], *, to_build: bool = False) -> Needs | None:
    """Read the closure of records, with build dependencies if it is `to_build`.

    None if none of their documents lists dependencies, as pages do not.

    needs = read_needs(catalog, [row.id])
    hashes = [needed.spec.hash for needed in needs.specs]
    """
    edges = catalog.edges
    if not any(map(edges.lists, ids)):
        return None

    # The records and all that they depend on, level by level.
    run = nearest_first(ids, partial(edges.down.of, of_kind=edges.are_run))
    every = nearest_first(ids, edges.down.of) if to_build else run
    rest = [node for node in every if node not in run]
    own = (edge for id_ in ids for edge in edges.of(id_))
    direct = {edge.child: edge.virtuals for edge in own if is_run(edge.deptypes)}
    of_index = [id_ for id_ in every if id_ < edges.count]
    present = dict(zip(of_index, catalog.records(of_index), strict=True))

    def needed(node: int) -> NeededSpec:
        absent = edges.absent_at(node)
        spec = (
            catalog.with_provenance(node, present[node]) if absent is None else absent_spec(absent)
        )
        return NeededSpec(node, spec, absent is not None, node in direct, direct.get(node, ()))

    # If a hash has several records, the last one, at the place of the first.
    in_run, others = ({n.spec.hash: n for n in map(needed, ids)} for ids in (run, rest))
    return Needs(
        tuple(each for each in in_run.values() if not each.spec.external),
        tuple(each for each in in_run.values() if each.spec.external),
        tuple(each for hash_, each in others.items() if hash_ not in in_run),
        is_unknown=not all(map(edges.lists, run)),
    )


def add_sizes(
    needs: Needs,
    catalog: Catalog,
    session: Session,
    sources: Sequence[str],
    *,
    is_offline: bool = False,
) -> Needs:
    """Return needs with sizes from remote mirrors, which are fetched once and kept.

    With `is_offline` only sizes that were fetched before are added. `sources` are the names that
    the user gave. Raises Cancelled.
    """
    without_size = [
        needed.spec
        for needed in needs.to_fetch
        if needed.spec.size is None and not needed.is_absent
    ]
    if not (without_size and any(state.has_sizes for state in catalog.sources)):
        return needs
    # Modules that ask mirrors take longer to import than modules that read an index.
    from spackscope.model.sources.mirror_spec import Mirrors

    mirrors = Mirrors(catalog.sources, session, sources)
    sizes = mirrors.sizes(without_size, is_offline=is_offline)
    sized = (
        needed._replace(spec=replace(spec, size=sizes[spec.hash]))
        if spec.hash in sizes
        else needed
        for needed in needs.specs
        for spec in (needed.spec,)
    )
    return replace(needs, specs=tuple(sized))

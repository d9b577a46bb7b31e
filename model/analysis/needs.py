"""Compute the link/run closure of a spec, which an install from a build cache fetches."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import is_run
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.catalog import Catalog
from spackscope.model.sources.session import Session


class NeededSpec(Frozen):
    """A spec of a closure; nothing in it is cleaned.

    `states` are those of the record, and `size` the bytes of its archive if they are known.
    `external` is the prefix of what Spack did not build, or else its `modules`, joined. A direct
    dependency provides `virtuals`. No document describes an absent spec.
    """

    id: int
    package: str
    version: str
    hash: str
    states: tuple[str, ...] = ()
    size: float | None = None
    external: str = ""
    modules: tuple[str, ...] = ()
    is_absent: bool = False
    is_direct: bool = False
    virtuals: tuple[str, ...] = ()

    @property
    def is_installed(self) -> bool:
        """Whether an install tree has it."""
        return "installed" in self.states

    @property
    def is_cached(self) -> bool:
        """Whether a build cache has its archive."""
        return "cached" in self.states


class Needs(Frozen):
    """The closure of a spec in three parts, each with the nearest dependencies first.

    `specs` are linked or run, the spec itself first; so are `externals`, which Spack did not
    build. `build_only` is all else. Something `is_unknown` if a spec that is linked or run is
    absent, or its document lists no dependencies: then there may be more.
    """

    specs: tuple[NeededSpec, ...]
    externals: tuple[NeededSpec, ...]
    build_only: tuple[NeededSpec, ...]
    is_unknown: bool = False

    @property
    def to_fetch(self) -> list[NeededSpec]:
        """The specs that are not installed."""
        return [spec for spec in self.specs if not spec.is_installed]

    @property
    def size(self) -> float:
        """The bytes of the archives to fetch, as far as they are known."""
        return sum(spec.size or 0 for spec in self.to_fetch)

    @property
    def unknown_sizes(self) -> int:
        """The number of archives to fetch whose size is not known."""
        return sum(spec.size is None for spec in self.to_fetch)


def read_needs(catalog: Catalog, id_: int, *, should_stop: ShouldStop = never) -> Needs | None:
    """Read what a record needs to run; None if its document lists no dependencies, as pages do.

    Raises Cancelled.

        needs = read_needs(catalog, row.id)
        hashes = [spec.hash for spec in needs.specs]
    """
    edges = catalog.edges
    if not edges.lists(id_):
        return None

    def closure(*, run_only: bool) -> list[int]:
        """Return the record and all that it depends on, level by level."""
        reached = {id_: None}
        queue = deque(reached)
        while queue:
            if should_stop():
                raise Cancelled
            for edge in edges.of(queue.popleft()):
                if edge.child not in reached and (not run_only or is_run(edge.deptypes)):
                    reached[edge.child] = None
                    queue.append(edge.child)
        return list(reached)

    run, every = closure(run_only=True), closure(run_only=False)
    direct = {edge.child: edge.virtuals for edge in edges.of(id_) if is_run(edge.deptypes)}
    present = {row.id: row.spec for row in catalog.rows([i for i in every if i < edges.count])}

    def needed(node: int) -> NeededSpec:
        provided: dict[str, Any] = {"is_direct": node in direct, "virtuals": direct.get(node, ())}
        if (absent := edges.absent_at(node)) is not None:
            return NeededSpec(node, absent.name, "", absent.hash, is_absent=True, **provided)
        spec, origin = present[node], catalog.provenance(node)
        return NeededSpec(
            *(node, spec.package, spec.version, spec.hash, spec.states, spec.size),
            *(origin.external, origin.external_modules),
            **provided,
        )

    # Of the records of a hash it is the last one, at the place of the first.
    in_run, others = ({spec.hash: spec for spec in map(needed, ids)} for ids in (run, every))
    return Needs(
        tuple(spec for spec in in_run.values() if not spec.external),
        tuple(spec for spec in in_run.values() if spec.external),
        tuple(spec for hash_, spec in others.items() if hash_ not in in_run),
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
    """Return needs with the sizes that remote mirrors know, each fetched once and kept.

    If it `is_offline`, only those that were fetched before. `sources` are those that the user
    gave. Raises Cancelled.
    """
    without_size = [spec.id for spec in needs.to_fetch if spec.size is None and not spec.is_absent]
    if not without_size:
        return needs
    # What asks mirrors takes longer to import than what reads an index.
    from spackscope.model.sources.mirror_spec import Mirrors

    specs = (row.spec for row in catalog.rows(without_size))
    mirrors = Mirrors(catalog.sources, session, sources)
    sizes = mirrors.sizes(specs, is_offline=is_offline)
    sized = (replace(spec, size=sizes.get(spec.hash, spec.size)) for spec in needs.specs)
    return replace(needs, specs=tuple(sized))

"""Find a shortest path of dependencies between two specs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spackscope.model.analysis.dag import dag_of
from spackscope.model.answers import Asked
from spackscope.model.core.columns import spec_name
from spackscope.model.core.errors import WrongQuestion
from spackscope.model.index.tree import GraphSpec, read_specs
from spackscope.model.report.detail import STATUS_TEXTS, deptypes_sign
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column, version_column


class PathStep(NamedTuple):
    """A spec on the path, with the deptypes and virtuals of the edge that leads to it."""

    spec: GraphSpec
    deptypes: Sequence[str] = ()
    virtuals: Sequence[str] = ()


def answer(asked: Asked) -> Sheet[PathStep]:
    """Return the specs on the path from the dependent to the dependency, named in any order."""
    (catalog,) = asked.load(asked.sources)
    hashes = [asked.find_hash(catalog, [word]) for word in asked.words]
    ids = dag_of(catalog).find(hashes)
    a, b = (ids[hash_] if hash_ in ids else catalog.listed(hash_).id for hash_ in hashes)
    if a == b:
        raise WrongQuestion("These are the same spec")
    edges = catalog.edges.path(a, b) or catalog.edges.path(b, a)
    if not edges:
        raise WrongQuestion("Neither depends on the other")
    specs = read_specs(catalog, [edges[0].parent, *(edge.child for edge in edges)])
    steps = [
        PathStep(specs[edges[0].parent]),
        *(PathStep(specs[edge.child], edge.deptypes, edge.virtuals) for edge in edges),
    ]
    first, last = (spec_name(step.spec.name, step.spec.version) for step in (steps[0], steps[-1]))
    return Sheet(
        f"why {first} needs {last}",
        _COLUMNS,
        steps,
        hash=lambda step: step.spec.hash,
        limit=None,
    )


_COLUMNS: list[SheetColumn[PathStep]] = [
    SheetColumn(
        "deptypes",
        lambda step: step.deptypes,
        text=lambda deptypes: deptypes_sign(deptypes) if deptypes else "",
        style="dim",
    ),
    SheetColumn("package", lambda step: step.spec.name),
    version_column(lambda step: step.spec.version or None),
    hash_column(lambda step: step.spec.hash),
    SheetColumn("provides", lambda step: step.virtuals),
    SheetColumn("state", lambda step: STATUS_TEXTS[step.spec.status] or None),
]

"""Read the tree of dependencies and dependents of a spec: for a worker thread."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.catalog.dependency_tree import (
    MAX_CHILDREN,
    SECTIONS,
    GraphSpec,
    Node,
    Section,
    Status,
    Tree,
)
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import is_run
from spackscope.model.index.damage import reads_index

_CHUNK = 512
"""Records that are read with one statement."""


@reads_index
def read_tree(
    catalog: Catalog,
    id_: int,
    unfolded: Collection[Section] = (),
    *,
    members: Sequence[int] = (),
    run_only: bool = False,
) -> Tree | None:
    """Read the tree of a record, or of the `members` of a folded row, with sections unfolded.

    None if the document of the record lists no dependencies, as pages do not. `run_only` leaves
    out what is only built or tested with. Raises IndexDamaged.

    >>> tree = read_tree(catalog, row.id, ["dependencies"])
    """
    if not catalog.dependencies.lists(id_):
        return None
    tree = Tree((), tuple(members) if len(members) > 1 else (), run_only)
    heads = (
        Node(id_, section, len(read_ends(catalog, tree, tree.members or (id_,), section)))
        for section in SECTIONS
    )
    tree = replace(tree, lines=tuple(heads))
    for section in unfolded:
        tree = read_unfolded(catalog, tree, tree.head(section))
    return tree.prepared()


@reads_index
def read_unfolded(catalog: Catalog, tree: Tree, row: int) -> Tree:
    """Return a tree with a line unfolded, or the same tree if the line cannot be unfolded.

    Lines are ordered by name, and then as the table is. Raises IndexDamaged.
    """
    if not tree.can_unfold(row):
        return tree
    return tree.unfold(row, read_children(catalog, tree, tree.lines[row])).prepared()


def read_children(catalog: Catalog, tree: Tree, node: Node) -> list[Node]:
    """Read the lines that a line of a tree unfolds to."""
    parents = (tree.members or (node.id,)) if not node.depth else (node.id,)
    ends = read_ends(catalog, tree, parents, node.section)
    sort_ends(catalog, ends)
    del ends[MAX_CHILDREN:]
    lines = [(end, node.depth + 1, False) for end in ends]
    return read_nodes(catalog, tree, node.section, lines)


def sort_ends(catalog: Catalog, ends: list[End]) -> None:
    """Order what edges lead to by name, and then as the table is."""
    # Absent specs have no position in the order of the records.
    ends.sort(key=lambda end: (catalog.dependencies.name(end.id), end.id))


def read_nodes(
    catalog: Catalog, tree: Tree, section: Section, lines: Sequence[tuple[End, int, bool]]
) -> list[Node]:
    """Read the lines at the ends of edges, each with its depth and whether it is unfolded."""
    ids = list(dict.fromkeys(end.id for end, _, _ in lines))
    specs = read_specs(catalog, ids)
    for id_ in _external_ids(catalog, ids):
        specs[id_] = replace(specs[id_], status="external")
    counts = {id_: count_ends(catalog, tree, id_, section) for id_ in ids}
    is_shared = section == "dependencies" and len(tree.members) > 1
    return [
        Node(
            *(end.id, section, counts[end.id], depth, end.edge, specs[end.id], is_unfolded),
            share=end.share * (is_shared and depth == 1 and end.share < len(tree.members)),
            builds=end.builds,
        )
        for end, depth, is_unfolded in lines
    ]


class End(NamedTuple):
    """Where an edge leads to.

    Of several specs that edges begin at, `share` have such an edge, and `builds` is how many that
    look the same are at their ends.
    """

    id: int
    edge: Edge
    share: int = 1
    builds: int = 1


def read_ends(catalog: Catalog, tree: Tree, parents: Sequence[int], section: Section) -> list[End]:
    """Return the ends of the edges of some specs; what several of them share is one end."""
    if len(parents) > 1:
        return _merged_ends(catalog, tree, parents, section)
    edges = edges_of(catalog, tree, parents[0], section)
    return [End(edge.child if section == "dependencies" else edge.parent, edge) for edge in edges]


def _merged_ends(
    catalog: Catalog, tree: Tree, parents: Sequence[int], section: Section
) -> list[End]:
    """Return what several specs lead to: dependencies that look the same are one end."""
    arrays, count = catalog.column_arrays, catalog.edge_arrays.count
    edges_by_key: dict[tuple[int, int], list[Edge]] = {}
    for parent in parents:
        for edge in edges_of(catalog, tree, parent, section):
            key = (1, edge.parent)
            if section == "dependencies":
                is_described = edge.child < count
                key = (0, arrays.look_alike(edge.child)) if is_described else (1, edge.child)
            edges_by_key.setdefault(key, []).append(edge)
    ends = []
    for edges in edges_by_key.values():
        ids = dict.fromkeys(
            edge.child if section == "dependencies" else edge.parent for edge in edges
        )
        users = {edge.parent for edge in edges}
        ends.append(End(next(iter(ids)), edges[0], len(users), len(ids)))
    return ends


@reads_index
def read_specs(catalog: Catalog, ids: Iterable[int]) -> dict[int, GraphSpec]:
    """Read the specs with some ids, absent ones among them. Raises IndexDamaged."""
    specs: dict[int, GraphSpec] = {}
    present = []
    for id_ in dict.fromkeys(ids):
        if (absent := catalog.dependencies.absent(id_)) is not None:
            specs[id_] = GraphSpec(absent.name, "", absent.hash, "absent")
        else:
            present.append(id_)
    for start in range(0, len(present), _CHUNK):
        for row in catalog.rows(present[start : start + _CHUNK]):
            spec = row.spec
            status: Status = "" if spec.in_cache else "unlisted"
            specs[row.id] = GraphSpec(spec.package, spec.version, spec.hash, status)
    return specs


def _external_ids(catalog: Catalog, ids: Sequence[int]) -> list[int]:
    """Return those of some ids whose specs were not built by Spack."""
    codes, nodes = catalog.column_arrays.column("node"), catalog.dictionaries.nodes
    return [id_ for id_ in ids if id_ < len(codes) and nodes[codes[id_]].external]


def edges_of(catalog: Catalog, tree: Tree, id_: int, section: Section) -> list[Edge]:
    """Return the edges of a spec that a tree shows."""
    dependencies = catalog.dependencies
    edges = dependencies.of(id_) if section == "dependencies" else dependencies.dependents(id_)
    return [edge for edge in edges if is_run(edge.deptypes)] if tree.run_only else edges


def count_ends(catalog: Catalog, tree: Tree, id_: int, section: Section) -> int:
    """Return the number of lines that a spec unfolds to in a tree, as if there were no bound."""
    dependencies = catalog.dependencies
    if tree.run_only:
        return dependencies.count_run(id_, downwards=section == "dependencies")
    if section == "dependencies":
        return dependencies.count(id_)
    return dependencies.dependents_count(id_)

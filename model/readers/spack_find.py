"""Read what `spack find --json` prints: a list of the nodes that it found.

Spack's lib/spack/spack/cmd/__init__.py writes it (`display_specs_as_json`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spackscope.model.core.records import Problem, Spec
from spackscope.model.readers.json import read_json
from spackscope.model.readers.spec_node import NodeReader, node_hash


def is_find_json(document: Any) -> bool:
    """Tell the list from other documents by a mapping in it that has a name and a hash."""
    return isinstance(document, list) and any(
        isinstance(node, dict) and "name" in node and "hash" in node for node in document
    )


def read_find_json(data: bytes, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the specs of the list in its order; their dependencies need not be among them."""
    return read_json(
        data,
        origin=origin,
        name="list of spack find --json",
        fits=is_find_json,
        records=find_json_records,
    )


def find_json_records(document: Any, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the specs of the parsed list."""
    nodes = NodeReader(origin)
    read: dict[str, Spec] = {}
    for node in document:
        found = nodes.spec(node_hash(node), node)
        if found is not None and read.setdefault(found.hash, found) != found:
            nodes.tell("it stands in the list twice with differing content; the first one counts")
    yield from map(nodes.settled, read.values())
    yield from nodes.problems()
    yield from nodes.untold()

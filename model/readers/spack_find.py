"""Read the output of `spack find --json`: a list of spec nodes.

`display_specs_as_json` of lib/spack/spack/cmd/__init__.py writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spackscope.model.core.records import Problem, Spec
from spackscope.model.readers.spec_node import NodeReader, node_hash


def is_find_output(document: Any) -> bool:
    """Recognise the list by an object in it that has a name and a hash."""
    return isinstance(document, list) and any(
        isinstance(node, dict) and "name" in node and "hash" in node for node in document
    )


def read_find_output(document: list[Any], *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the specs of a parsed list in its order, then its problems.

    Dependencies need not be in the list. Format: lib/spack/spack/cmd/__init__.py.
    """
    nodes = NodeReader(origin)
    for node in document:
        nodes.add(node_hash(node), node)
    yield from nodes.finish(report_absent=False)

"""What a node of a DAG is at run time: the values and edges that make its run-time kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from spackscope.model.analysis.graph import Attributes, Graph
from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.core.compilers import LANGUAGES

RUN_TIME = ("link", "run")
"""The deptypes of what is loaded or run with a spec, and fetched with it from a cache."""

Values = dict[str, tuple[str, ...]]
"""The values of a node by attribute; unset ones are left out."""


@lru_cache(None)
def run_time_deptypes(deptypes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the deptypes of an edge that count at run time; empty for build-only edges."""
    return tuple(deptype for deptype in RUN_TIME if deptype in deptypes)


def run_time_values(attributes: Attributes) -> Values:
    """Return what counts of a node at run time: not its recipe, namespace or spec format."""
    values = {
        "version": (attributes.version,),
        "platform": (attributes.platform,),
        "os": (attributes.os,),
        "target": (attributes.target,),
        "compiler": (attributes.compiler,),
        "external": (attributes.external,),
        "external_module": attributes.external_modules,
        "patches": attributes.patches,
    }
    values |= sorted(attributes.flags.items())
    values |= {f"variant:{name}": value for name, value in sorted(attributes.variants.items())}
    return {attribute: value for attribute, value in values.items() if any(value)}


def all_values(attributes: Attributes) -> Values:
    """Return all that a node states but its dependencies."""
    values = run_time_values(attributes) | {
        "namespace": (attributes.namespace,),
        "package_hash": (attributes.package_hash,),
        "external_extra": (attributes.external_attributes,),
    }
    return {attribute: value for attribute, value in values.items() if any(value)}


def compilers(graph: Graph, edges: Iterable[Edge]) -> tuple[str, ...]:
    """Return the compilers among the dependencies of a spec, such as `c,cxx=gcc@12.1.0`.

    Before Spack 1.0 there are none: compilers were attributes.
    """
    languages = defaultdict(list)
    for edge in edges:
        if not edge.virtuals:
            continue
        for language in LANGUAGES:
            if language in edge.virtuals:
                version = graph.attributes(edge.child).version
                languages[f"{graph.name(edge.child)}@{version}"].append(language)
    return tuple(f"{','.join(names)}={compiler}" for compiler, names in sorted(languages.items()))

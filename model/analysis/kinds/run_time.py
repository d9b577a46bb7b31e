"""Select the values and edges of a node that count at run time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from spackscope.model.analysis.differences.own_differences import Value, attribute_values
from spackscope.model.analysis.graphs.graph import Attributes, Graph
from spackscope.model.core.records import LANGUAGES

RUN_TIME = ("link", "run")
"""The deptypes of what is loaded or run with a spec, and fetched with it from a cache."""

CompilerLink = tuple[int, tuple[str, ...]]
"""A compiler, and the languages that a spec uses it for."""

_NOT_AT_RUN_TIME = frozenset(("package_hash", "namespace", "external_extra", "spec_format"))

Values = dict[str, tuple[str, ...]]
"""The values of a node by attribute; unset ones are left out."""


@lru_cache(None)
def run_time_deptypes(deptypes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the deptypes of an edge that count at run time; empty for build-only edges."""
    return tuple(deptype for deptype in RUN_TIME if deptype in deptypes)


def run_time_values(attributes: Attributes) -> Values:
    """Return what counts of a node at run time: not its recipe, namespace or spec format."""
    values = all_values(attributes)
    return {name: value for name, value in values.items() if name not in _NOT_AT_RUN_TIME}


def all_values(attributes: Attributes) -> Values:
    """Return all attributes of a node as texts, without its dependencies."""
    return {name: _texts(value) for name, value in attribute_values(attributes).items()}


def _texts(value: Value) -> tuple[str, ...]:
    if isinstance(value, bool):
        return ("+",) if value else ("~",)
    return (value,) if isinstance(value, str) else value or ()


@lru_cache(None)
def compiled_languages(virtuals: tuple[str, ...]) -> tuple[str, ...]:
    """Return the languages among the virtuals of an edge: those that a compiler is used for."""
    return tuple(language for language in LANGUAGES if language in virtuals)


def compiler_texts(graph: Graph, links: Iterable[CompilerLink]) -> tuple[str, ...]:
    """Return compilers with their languages, such as `c,cxx=gcc@12.1.0`."""
    languages: dict[str, list[str]] = defaultdict(list)
    for child, of_child in links:
        languages[f"{graph.name(child)}@{graph.attributes(child).version}"] += of_child
    return tuple(
        f"{','.join(sorted(names))}={compiler}" for compiler, names in sorted(languages.items())
    )


def compilers(graph: Graph, id_: int) -> tuple[str, ...]:
    """Return the compilers among the dependencies of a spec.

    Before Spack 1.0 there are none: compilers were attributes.
    """
    links = ((child, compiled_languages(kind.virtuals)) for child, kind in graph.links(id_))
    return compiler_texts(graph, (link for link in links if link[1]))

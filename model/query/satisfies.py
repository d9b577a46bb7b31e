"""Tell whether one record fulfils a query, as Spack's `Spec.satisfies` does.

The rules for dependencies are those of lib/spack/spack/spec.py in Spack 1.2, read as far as they
concern concrete specs. A virtual name such as `mpi` is known from the edges that provide it; a
package that only its recipe knows as a provider is not taken for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from spackscope.model.compilers import LANGUAGES, compiler_name
from spackscope.model.query.match import is_propagated, split_variant, test_of
from spackscope.model.query.terms import Condition, Depends, Group, Query, Term
from spackscope.model.records import Dependency, Spec

Node = Callable[[str], "Spec | None"]
"""Finds the record of a dependency by its hash."""


def no_node(_hash: str) -> Spec | None:
    """Know no dependency's record."""
    return None


class Unanswerable(ValueError):
    """Report a condition that the records cannot decide, for they do not say as much."""

    def __init__(self, message: str, condition: Condition) -> None:
        super().__init__(message)
        self.condition = condition


def matches(query: Query, spec: Spec, node: Node = no_node) -> bool:
    """Tell whether a record fulfils a query.

    Raises Unanswerable where it asks for dependencies of a record that lists none.
    """
    return _all_groups(query.groups, spec, node) and (
        not query.specs or any(_all_groups(groups, spec, node) for groups in query.specs)
    )


def _all_groups(groups: tuple[Group, ...], spec: Spec, node: Node) -> bool:
    return all(any(holds(condition, spec, node) for condition in group) for group in groups)


def holds(condition: Condition, spec: Spec, node: Node = no_node) -> bool:
    """Tell whether a record fulfils one condition. Raises Unanswerable."""
    if isinstance(condition, Depends):
        return condition.negated != _depends(condition, spec, node)
    if condition.column == "variants" and is_propagated(condition.pattern):
        found = _propagated(condition, spec, node)
    else:
        found = any(condition.fits(c.name, c.value(spec)) for c in condition.columns)
    return condition.negated != found


def _propagated(term: Term, spec: Spec, node: Node) -> bool:
    """Ask a variant of the spec and of all its dependencies; whoever lacks it has no say.

    Raises Unanswerable where no dependencies are listed.
    """
    if spec.dependencies is None:
        raise Unanswerable(f"{term} asks for variants of dependencies, and none are listed", term)
    name = split_variant(term.pattern)[0]
    below = (node(edge.hash) for edge in _all_edges(spec, node))
    return all(
        term.fits("variants", one.variants)
        for one in (spec, *below)
        if one is not None and any(split_variant(v)[0] == name for v in one.variants)
    )


def _depends(wanted: Depends, spec: Spec, node: Node) -> bool:
    if wanted.direct and (spec.dependencies is None or _states_compiler(spec)):
        return compiler_fits(wanted, spec.compiler, listed=spec.dependencies is not None)
    if spec.dependencies is None:
        raise Unanswerable(f"{wanted} asks for dependencies, and none are listed here", wanted)
    if wanted.direct:
        edges: Iterator[Dependency] = iter(spec.dependencies)
    else:
        edges = _all_edges(spec, node)
    return any(_edge_fits(wanted, edge, node) for edge in edges)


def _states_compiler(spec: Spec) -> bool:
    """Tell whether a spec has its compiler as a field, as all had before Spack 1.0.

    Of such a spec `%` asks for nothing else, whatever it depends on.
    """
    return spec.compiler != "none" and not any(
        language in edge.virtuals for edge in spec.dependencies or () for language in LANGUAGES
    )


def compiler_fits(wanted: Depends, compiler: str, *, listed: bool = False) -> bool:
    """Tell whether a compiler that a record states is what is asked for with `%`.

    Raises Unanswerable where more is asked than its name, version and hash, and no dependencies
    are `listed` that could tell; and where a language is asked for, since only the compiler's
    recipe knows which ones it has.
    """
    pattern = wanted.compiler
    if wanted.name in LANGUAGES:
        raise Unanswerable(f"{wanted} asks for a language, and one compiler is listed", wanted)
    if pattern is not None:
        return test_of("compiler", pattern)(compiler)
    if listed:
        return False
    more = f"{wanted} asks for more of a compiler than is listed here"
    raise Unanswerable(f"{more}; what is meant of the spec stands before %", wanted)


def _edge_fits(wanted: Depends, edge: Dependency, node: Node) -> bool:
    # One of the virtuals will do, as in Spack's edges_to_dependencies.
    if wanted.virtuals and not set(wanted.virtuals) & set(edge.virtuals):
        return False
    # Spack looks at the deptypes of direct dependencies only.
    if wanted.direct and not set(wanted.deptypes) <= set(edge.deptypes):
        return False
    named, unnamed = wanted_of_node(wanted)
    terms = unnamed if wanted.name in edge.virtuals else named
    # An edge to a record that is missing still tells its name and hash.
    spec = node(edge.hash) or stub(edge)
    return all(holds(term, spec, node) for term in terms)


def wanted_of_node(wanted: Depends) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """Give what is asked of a dependency, and of one that provides what is asked as a virtual."""
    named, unnamed = [], []
    for term in wanted.terms:
        is_name = isinstance(term, Term) and term.column == "package" and not term.negated
        if is_name and wanted.direct:
            assert isinstance(term, Term)
            term = replace(term, pattern=compiler_name(term.pattern))
        named.append(term)
        if not is_name:
            unnamed.append(term)
    return tuple(named), tuple(unnamed)


def stub(edge: Dependency) -> Spec:
    """Make a record of a dependency that is absent: it has nothing but its name and hash."""
    nothing = ("", "none", "", "", "", (), (), None, "", "")
    return Spec(edge.name, edge.hash, *nothing, dependencies=())


def _all_edges(spec: Spec, node: Node) -> Iterator[Dependency]:
    """Give the edges that `^` looks at: all of the spec, and below it those to link or to run.

    What a dependency was only built with is no dependency of the spec.
    """
    yield from spec.dependencies or ()
    seen = {spec.hash}
    waiting = [spec]
    while waiting:
        for edge in waiting.pop().dependencies or ():
            if not {"link", "run"} & set(edge.deptypes):
                continue
            yield edge
            if edge.hash not in seen:
                seen.add(edge.hash)
                below = node(edge.hash)
                if below is not None:
                    waiting.append(below)

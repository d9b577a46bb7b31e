"""Decide whether one record satisfies a query, as Spack's `Spec.satisfies` does.

The program asks a whole index by masks and by its graph. This says the same of a single record,
and the tests compare both.
"""

from collections.abc import Callable, Iterable, Iterator

from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import LANGUAGES, Dependency, Spec, is_propagated, split_variant
from spackscope.model.query.ast import (
    REACHABLE_DEPTYPES,
    Condition,
    Depends,
    Group,
    Query,
    Term,
    asks_for_compiler,
    compiler_fits,
    fits_missing,
    node_conditions,
    provides,
)

FindSpec = Callable[[str], "Spec | None"]
"""Finds the record of a dependency by its hash."""


def _no_spec(_hash: str) -> Spec | None:
    return None


def satisfies(spec: Spec, query: Query, find: FindSpec = _no_spec) -> bool:
    """Check a record against a query.

    Raises Unanswerable where it asks for dependencies of a record that lists none.
    """
    return _all_groups(query.groups, spec, find) and (
        not query.specs or any(_all_groups(groups, spec, find) for groups in query.specs)
    )


def _all_groups(groups: tuple[Group, ...], spec: Spec, find: FindSpec) -> bool:
    return all(any(_holds(condition, spec, find) for condition in group) for group in groups)


def _holds(condition: Condition, spec: Spec, find: FindSpec) -> bool:
    if condition.negated and not spec.compiler and asks_for_compiler(condition):
        return False
    if isinstance(condition, Depends):
        return condition.negated != _depends(condition, spec, find)
    if condition.column == "variants" and is_propagated(condition.pattern):
        fits = _propagated(condition, spec, find)
    else:
        fits = any(condition.fits(c.name, c.value(spec)) for c in condition.columns)
    return condition.negated != fits


def _propagated(term: Term, spec: Spec, find: FindSpec) -> bool:
    """Check a variant of the spec and of all its dependencies that have it."""
    if spec.dependencies is None:
        raise Unanswerable(f"{term} asks for variants of dependencies, and none are listed", term)
    name = split_variant(term.pattern)[0]
    return all(
        term.fits("variants", node.variants)
        for node in _with_all_below(spec, find)
        if any(split_variant(v)[0] == name for v in node.variants)
    )


def _with_all_below(spec: Spec, find: FindSpec) -> Iterator[Spec]:
    """Yield a spec and everything that it depends on, tools to build its tools included."""
    seen = {spec.hash}
    waiting = [spec]
    while waiting:
        node = waiting.pop()
        yield node
        for edge in node.dependencies or ():
            below = None if edge.hash in seen else find(edge.hash)
            seen.add(edge.hash)
            if below is not None:
                waiting.append(below)


def _depends(condition: Depends, spec: Spec, find: FindSpec) -> bool:
    if condition.direct and (spec.dependencies is None or _states_compiler(spec)):
        return compiler_fits(condition, spec.compiler, listed=spec.dependencies is not None)
    if spec.dependencies is None:
        reason = f"{condition} asks for dependencies, and none are listed here"
        raise Unanswerable(reason, condition)
    if condition.direct:
        edges: Iterable[Dependency] = spec.dependencies
    else:
        # `%gcc` in `^gcc %gcc` is about the spec itself.
        of_root = condition.of_root
        if not all(_depends(other, spec, find) for other in of_root):
            return False
        condition = replace(condition, terms=tuple(t for t in condition.terms if t not in of_root))
        edges = list(_all_edges(spec, find))
        if condition.name and condition.virtuals:
            # Each virtual may be provided on another edge to a package of the name.
            named = [e for e in edges if condition.name == e.name or condition.name in e.virtuals]
            provided = frozenset(virtual for edge in named for virtual in edge.virtuals)
            if not provided.issuperset(condition.virtuals):
                return False
            condition = replace(condition, virtuals=())
    return any(_edge_fits(condition, edge, find) for edge in edges)


def _states_compiler(spec: Spec) -> bool:
    """Check whether a spec has its compiler as a field, as all had before Spack 1.0.

    Of such a spec `%` asks for nothing else, whatever it depends on.
    """
    return spec.compiler not in ("none", "") and not any(
        language in edge.virtuals for edge in spec.dependencies or () for language in LANGUAGES
    )


def _edge_fits(condition: Depends, edge: Dependency, find: FindSpec) -> bool:
    if not provides(condition, edge.virtuals):
        return False
    # Spack looks at the deptypes of direct dependencies only.
    if condition.direct and not set(condition.deptypes) <= set(edge.deptypes):
        return False
    named, unnamed = node_conditions(condition)
    query = unnamed if condition.name in edge.virtuals else named
    spec = find(edge.hash)
    if spec is None:
        return all(any(fits_missing(c, edge) for c in group) for group in query.groups)
    return satisfies(spec, query, find)


def _all_edges(spec: Spec, find: FindSpec) -> Iterator[Dependency]:
    """Yield the edges that `^` sees: those of the spec, and below it those to link or to run.

    What a dependency was only built with is not a dependency of the spec, nor is what only its
    own tests need.
    """
    yield from (e for e in spec.dependencies or () if REACHABLE_DEPTYPES & set(e.deptypes))
    seen = {spec.hash}
    waiting = [spec]
    while waiting:
        for edge in waiting.pop().dependencies or ():
            if not {"link", "run"} & set(edge.deptypes):
                continue
            yield edge
            if edge.hash not in seen:
                seen.add(edge.hash)
                below = find(edge.hash)
                if below is not None:
                    waiting.append(below)

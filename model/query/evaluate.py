"""Tell whether one record fulfils a query, as Spack's `Spec.satisfies` does.

The rules for dependencies are those of `Spec._satisfies` in lib/spack/spack/spec.py of Spack 1.2,
as far as they concern concrete specs. A virtual name such as `mpi` is known from the edges that
provide it; a package that only its recipe knows as a provider is not taken for one.

The program asks an index by SQL and by `graph`; this is the same said of one record, which the
tests hold against them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from spackscope.model.core.compilers import LANGUAGES, compiler_name
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.records import Dependency, Spec
from spackscope.model.query.ast import Condition, Depends, Group, Query, Term
from spackscope.model.query.matchers import is_propagated, split_variant, test_of

Node = Callable[[str], "Spec | None"]
"""Finds the record of a dependency by its hash."""


IN_REACH = frozenset({"build", "link", "run"})
"""Deptypes of which a direct edge has one where `^` looks at it."""


def no_node(_hash: str) -> Spec | None:
    """Know no dependency's record."""
    return None


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
    return all(
        term.fits("variants", one.variants)
        for one in _with_all_below(spec, node)
        if any(split_variant(v)[0] == name for v in one.variants)
    )


def _with_all_below(spec: Spec, node: Node) -> Iterator[Spec]:
    """Yield a spec and everything that it depends on, tools to build its tools among them."""
    seen = {spec.hash}
    waiting = [spec]
    while waiting:
        one = waiting.pop()
        yield one
        for edge in one.dependencies or ():
            below = None if edge.hash in seen else node(edge.hash)
            seen.add(edge.hash)
            if below is not None:
                waiting.append(below)


def _depends(wanted: Depends, spec: Spec, node: Node) -> bool:
    if wanted.direct and (spec.dependencies is None or _states_compiler(spec)):
        return compiler_fits(wanted, spec.compiler, listed=spec.dependencies is not None)
    if spec.dependencies is None:
        raise Unanswerable(f"{wanted} asks for dependencies, and none are listed here", wanted)
    if wanted.direct:
        edges: Iterable[Dependency] = spec.dependencies
    else:
        edges = list(_all_edges(spec, node))
        if wanted.name and wanted.virtuals:
            # Each virtual may be provided on another edge to a package of the name.
            named = [e for e in edges if wanted.name == e.name or wanted.name in e.virtuals]
            provided = frozenset(virtual for edge in named for virtual in edge.virtuals)
            if not provided.issuperset(wanted.virtuals):
                return False
            wanted = replace(wanted, virtuals=())
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
    if wanted.name in LANGUAGES:
        raise Unanswerable(f"{wanted} asks for a language, and one compiler is listed", wanted)
    pattern, has_more = wanted.stated_compiler
    if has_more and not listed:
        more = f"{wanted} asks for more of a compiler than is listed"
        raise Unanswerable(f"{more}. Write conditions on the spec before %.", wanted)
    return not has_more and (not pattern or test_of("compiler", pattern)(compiler))


def _edge_fits(wanted: Depends, edge: Dependency, node: Node) -> bool:
    if not provides(wanted, edge.virtuals):
        return False
    # Spack looks at the deptypes of direct dependencies only.
    if wanted.direct and not set(wanted.deptypes) <= set(edge.deptypes):
        return False
    named, unnamed = wanted_of_node(wanted)
    terms = unnamed if wanted.name in edge.virtuals else named
    # An edge to a record that is missing still tells its name and hash.
    spec = node(edge.hash) or stub(edge)
    return all(holds(term, spec, node) for term in terms)


def provides(wanted: Depends, virtuals: Collection[str]) -> bool:
    """Check whether an edge with some virtuals provides those that are asked for.

    Behind `%` one of them will do, as in Spack's `edges_to_dependencies`.
    """
    among = (virtual in virtuals for virtual in wanted.virtuals)
    return not wanted.virtuals or (any(among) if wanted.direct else all(among))


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
    """Give the edges that `^` looks at: those of the spec, and below it those to link or to run.

    What a dependency was only built with is no dependency of the spec, nor is what only its own
    tests need.
    """
    yield from (e for e in spec.dependencies or () if IN_REACH & set(e.deptypes))
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

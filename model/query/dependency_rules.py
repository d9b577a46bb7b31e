"""Decide what a condition on a dependency means for an edge, a compiler, or a missing record.

The rules are those of `Spec._satisfies` in lib/spack/spack/spec.py of Spack 1.2, as far as they
concern concrete specs. A virtual name such as `mpi` is known from the edges that provide it; a
package that only its recipe knows as a provider does not count as one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from spackscope.model.core.compilers import LANGUAGES, compiler_name
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.records import Dependency, Spec
from spackscope.model.core.variants import is_propagated
from spackscope.model.query.conditions import Condition, Depends, Term
from spackscope.model.query.matchers import matcher

REACHABLE_DEPTYPES = frozenset({"build", "link", "run"})
"""Deptypes of which a direct edge must have one for `^` to see it."""


def compiler_fits(condition: Depends, compiler: str, *, listed: bool = False) -> bool:
    """Check a compiler that a record states against a condition written with `%`.

    Raises Unanswerable where the condition asks for more than its name, version and hash, and no
    dependencies are `listed` that could tell; and where it names a language, since only the
    compiler's recipe knows its languages.
    """
    if condition.name in LANGUAGES:
        reason = f"{condition} asks for a language, and one compiler is listed"
        raise Unanswerable(reason, condition)
    pattern, has_more = condition.stated_compiler
    if has_more and not listed:
        more = f"{condition} asks for more of a compiler than is listed"
        raise Unanswerable(f"{more}. Write conditions on the spec before %.", condition)
    return not has_more and (not pattern or matcher("compiler", pattern)(compiler))


def provides(condition: Depends, virtuals: Collection[str]) -> bool:
    """Check whether an edge with some virtuals provides those of a condition.

    After `%` one of them is enough, as in Spack's `edges_to_dependencies`.
    """
    provided = (virtual in virtuals for virtual in condition.virtuals)
    return not condition.virtuals or (any(provided) if condition.direct else all(provided))


def node_conditions(condition: Depends) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """Return the conditions on a dependency, and those on one that provides the name."""
    named, unnamed = [], []
    for term in condition.terms:
        if not isinstance(term, Term) or term.column != "package" or term.negated:
            unnamed.append(term)
        elif condition.direct:
            term = replace(term, pattern=compiler_name(term.pattern))
        named.append(term)
    return tuple(named), tuple(unnamed)


def fits_missing(condition: Condition, dependency: Dependency) -> bool:
    """Check a dependency whose record is missing, so that only its name and hash are known."""
    if isinstance(condition, Depends):
        return condition.negated
    if condition.column == "variants" and is_propagated(condition.pattern):
        return not condition.negated
    nothing = ("", "none", "", "", "", (), (), None, "", "")
    spec = Spec(dependency.name, dependency.hash, *nothing)
    fits = any(condition.fits(column.name, column.value(spec)) for column in condition.columns)
    return condition.negated != fits

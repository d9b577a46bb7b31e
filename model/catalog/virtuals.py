"""Resolve the name of a virtual package, such as mpi, to the packages that provide it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from spackscope.model.core.text import clean
from spackscope.model.index.damage import class_reading_index
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Condition, Group, Term
from spackscope.model.query.matchers import is_glob

_MOST_NAMED = 6
"""Providers that a sentence names."""


@class_reading_index
class Virtuals:
    """Find the packages that provide a virtual, and put them in its place in queries.

    Spack knows them from its recipes (`Spec._provides_virtual` in lib/spack/spack/spec.py); here
    a package provides what some edge to it says that it provides. `packages` are the names of an
    index, and `providers` returns those of the packages that provide a virtual.
    """

    def __init__(
        self, packages: Callable[[], Collection[str]], providers: Callable[[str], Collection[str]]
    ) -> None:
        self._packages = packages
        self._providers = providers

    def providers(self, query: Query) -> Mapping[str, Sequence[str]]:
        """Return the virtuals that a query asks for as packages, with the names that provide them.

        A name that is also that of a package is not taken for a virtual.
        """
        names = set(map(_package, query.conditions)) - {""}
        unknown = sorted(names.difference(self._packages())) if names else []
        found = ((name, sorted(self._providers(name))) for name in unknown)
        return {name: provided_by for name, provided_by in found if provided_by}

    def resolved(self, query: Query) -> Query:
        """Return the query with each virtual replaced by the packages that provide it."""
        known = self.providers(query)
        if not known:
            return query
        specs = tuple(_resolved(groups, known) for groups in query.specs)
        return Query(_resolved(query.groups, known), specs)

    def sentence(self, query: Query) -> str:
        """Return what is to be known of the virtuals in a query; empty where it has none."""
        return "; ".join(
            f"{clean(name)} is a virtual package, provided here by {_listed(provided_by)}"
            for name, provided_by in self.providers(query).items()
        )


def _package(condition: Condition) -> str:
    """Return the name of the package that a condition asks for, or an empty text."""
    if not isinstance(condition, Term) or condition.column != "package":
        return ""
    return "" if is_glob(condition.pattern) else condition.pattern


def _resolved(groups: tuple[Group, ...], known: Mapping[str, Sequence[str]]) -> tuple[Group, ...]:
    made: list[Group] = []
    for group in groups:
        (first, *others) = group
        if not others and first.negated and _package(first) in known:
            made += [(Term("package", name, True),) for name in known[_package(first)]]
            continue
        alternatives: list[Condition] = []
        for condition in group:
            names = () if condition.negated else known.get(_package(condition), ())
            alternatives += [Term("package", name) for name in names] or [condition]
        made.append(tuple(dict.fromkeys(alternatives)))
    return tuple(made)


def _listed(names: Sequence[str]) -> str:
    shown = [clean(name) for name in names[:_MOST_NAMED]]
    if len(names) > _MOST_NAMED:
        shown.append(f"{len(names) - _MOST_NAMED} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"

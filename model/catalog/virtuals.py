"""Resolve the name of a virtual package, such as mpi, to the packages that provide it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.core.text import clean
from spackscope.model.query.ast import Condition, Depends, Group, Query, Term
from spackscope.model.query.matchers import is_glob

_MAX_NAMES = 6
"""Providers that a sentence names."""

_MAX_VIRTUALS = 100
"""Virtuals whose providers are cached; a real index has some forty."""


class Virtuals:
    """The packages that provide virtuals, and queries with them instead of the virtuals.

    Spack knows the providers from its recipes (`Spec._provides_virtual` in
    lib/spack/spack/spec.py); here they are those of some edge of the index, which `providers_of`
    returns for a virtual.
    """

    def __init__(
        self,
        dictionaries: Dictionaries,
        providers_of: Callable[[str], Collection[str]],
        states_compilers: Callable[[], bool],
    ) -> None:
        self._dictionaries = dictionaries
        self._providers_of = lru_cache(_MAX_VIRTUALS)(providers_of)
        self._states_compilers = states_compilers

    def providers(self, query: Query) -> Mapping[str, Sequence[str]]:
        """Return the virtuals that a query names as packages, with the names of their providers.

        A name that is also that of a package is not taken for a virtual.
        """
        return self._known(map(_package_name, query.conditions))

    def asked_of_compilers(self, query: Query) -> Iterable[str]:
        """Return the virtuals that a query names after `%` where records name their compiler.

        Spack looks in the recipe of that compiler whether it provides them.
        """
        dependencies = (c for c in query.conditions if isinstance(c, Depends))
        names = self._known(c.name for c in dependencies if c.direct and not is_glob(c.name))
        return names if names and self._states_compilers() else ()

    def _known(self, texts: Iterable[str]) -> Mapping[str, Sequence[str]]:
        names = set(texts) - {""}
        unknown = sorted(names.difference(self._dictionaries.texts("package"))) if names else []
        providers = ((name, sorted(self._providers_of(name))) for name in unknown)
        return {name: packages for name, packages in providers if packages}

    def resolved(self, query: Query) -> Query:
        """Return the query with each virtual replaced by the packages that provide it."""
        providers = self.providers(query)
        if not providers:
            return query
        specs = tuple(_resolve(groups, providers) for groups in query.specs)
        return Query(_resolve(query.groups, providers), specs)

    def sentence(self, query: Query) -> str:
        """Return a sentence on the virtuals in a query; empty if it has none."""
        provided = [
            f"{clean(name)} is a virtual package, provided here by {_enumerate(packages)}"
            for name, packages in self.providers(query).items()
        ]
        asked = [
            f"%{clean(name)} asks the recipe of the compiler where a record names that, as before"
            f" Spack 1.0, and no recipes are read. Write ^{clean(name)} for a dependency"
            for name in self.asked_of_compilers(query)
        ]
        return "; ".join([*provided, *asked])


def _package_name(condition: Condition) -> str:
    """Return the name of the package that a condition asks for, or an empty text."""
    if not isinstance(condition, Term) or condition.column != "package":
        return ""
    return "" if is_glob(condition.pattern) else condition.pattern


def _resolve(
    groups: tuple[Group, ...], providers: Mapping[str, Sequence[str]]
) -> tuple[Group, ...]:
    resolved: list[Group] = []
    for group in groups:
        (first, *others) = group
        if not others and first.negated and _package_name(first) in providers:
            names = providers[_package_name(first)]
            resolved += [(Term("package", name, True),) for name in names]
            continue
        alternatives: list[Condition] = []
        for condition in group:
            names = () if condition.negated else providers.get(_package_name(condition), ())
            alternatives += [Term("package", name) for name in names] or [condition]
        resolved.append(tuple(dict.fromkeys(alternatives)))
    return tuple(resolved)


def _enumerate(names: Sequence[str]) -> str:
    shown = [clean(name) for name in names[:_MAX_NAMES]]
    if len(names) > _MAX_NAMES:
        shown.append(f"{len(names) - _MAX_NAMES} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"

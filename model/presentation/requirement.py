"""Write specs, or a query, as requirements of Spack's packages.yaml.

Follows `requirements` in lib/spack/spack/schema/packages.py of Spack 0.22 to 1.2: a list of spec
strings and of `any_of` groups, all of which must hold. A string needs no name: it is that of the
package it is required of. What the syntax cannot express is left out, so that the text requires
less, never something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import Spec
from spackscope.model.presentation.spec_string import required_string
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Condition, Group, Term
from spackscope.model.query.format import format_condition, format_group
from spackscope.model.query.matchers import ARCHITECTURE, is_glob

_ALL = "all"
_PLAIN_KEY = r"[A-Za-z_][A-Za-z0-9_\-]*"
_KEYWORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Names that YAML 1.1 takes for something else than a text."""
_OF_SPACK = frozenset(
    {"version", "variants", "os", "target", "platform", "arch", "namespace", "flags"}
)
"""Columns with a condition in Spack's own syntax, besides dependencies."""
_KEYS_OF_COLUMNS = ("version=", "variants=", "flags=")
"""What a text begins with that Spack would take for a variant of this name."""


class Requirement(Frozen):
    """The text of a packages.yaml, and the conditions that it does not express."""

    text: str
    left_out: tuple[str, ...] = ()


def spec_requirement(specs: Sequence[Spec]) -> str:
    """Return what requires one of some builds of each of their packages."""
    packages: dict[str, dict[str, None]] = {}
    for spec in specs:
        if required := required_string(spec):
            packages.setdefault(spec.package, {})[required] = None
    return _yaml({name: [[*strings]] for name, strings in packages.items()})


def query_requirement(query: Query) -> Requirement:
    """Return what requires the conditions of a query, of the packages that it names.

    Without a name they are required of all packages, if all of them can be. The text is empty if
    there is nothing to require.
    """
    specs: dict[str, list[list[list[str]]]] = {}
    left_out: dict[str, None] = {}
    for own in query.specs or ((),):
        groups = (*query.groups, *own)
        required = []
        for group in groups:
            if _is_of_names(group):
                continue
            strings = [*dict.fromkeys(map(_string, group))]
            if all(strings):
                required.append(strings)
            else:
                left_out[format_group(group)] = None
        for name in _names(groups) or [_ALL]:
            specs.setdefault(name, []).append(required)
    if left_out:
        specs.pop(_ALL, None)
    packages = {name: _joined(several) for name, several in specs.items()}
    return Requirement(_yaml(packages), tuple(left_out))


def _joined(specs: Sequence[list[list[str]]]) -> list[list[str]]:
    """Return groups of strings for one package, of which a query has several specs.

    Spack has no alternatives within alternatives, so these are left out.
    """
    if len(specs) == 1:
        return specs[0]
    strings = [" ".join(group[0] for group in spec if len(group) == 1) for spec in specs]
    return [[*dict.fromkeys(strings)]] if all(strings) else []


def _names(groups: Sequence[Group]) -> list[str]:
    """Return the names of the packages that a spec of a query may be."""
    return [
        condition.pattern
        for group in groups
        if _is_of_names(group)
        for condition in group
        if isinstance(condition, Term)
    ]


def _is_of_names(group: Group) -> bool:
    """Check whether a group says nothing else than which packages are meant."""
    return all(
        isinstance(condition, Term)
        and condition.column == "package"
        and not (condition.negated or is_glob(condition.pattern))
        for condition in group
    )


def _string(condition: Condition) -> str:
    """Return a condition as a spec string, or "" if Spack has none for it."""
    if condition.negated:
        return ""
    text = format_condition(condition)
    if isinstance(condition, Term):
        return text if _is_of_spack(condition, text) else ""
    terms = condition.terms
    is_plain = all(term == condition.name_term or _string(term) for term in terms)
    return text if is_plain and condition.name and not is_glob(condition.name) else ""


def _is_of_spack(term: Term, text: str) -> bool:
    """Check whether a term and its text mean the same to Spack: no wildcards, no host."""
    is_any_value = term.column == "variants" and re.fullmatch(r"[^*?]+=\*", term.pattern)
    if term.column not in _OF_SPACK or (is_glob(term.pattern) and not is_any_value):
        return False
    is_propagated = text.startswith(("++", "~~")) or "==" in text
    is_of_host = term.column in ARCHITECTURE and term.pattern.strip(":") == "host"
    return not (is_propagated or is_of_host or text.startswith(_KEYS_OF_COLUMNS))


def _yaml(packages: dict[str, list[list[str]]]) -> str:
    """Return packages.yaml with the groups of strings, one of each of which is required."""
    packages = {name: groups for name, groups in packages.items() if groups}
    return "\n".join(_lines(packages)) if packages else ""


def _lines(packages: dict[str, list[list[str]]]) -> Iterator[str]:
    yield "packages:"
    for name, groups in packages.items():
        is_plain = re.fullmatch(_PLAIN_KEY, name) and name.lower() not in _KEYWORDS
        yield f"  {name if is_plain else json.dumps(name)}:"
        yield "    require:"
        for group in groups:
            if len(group) == 1:
                yield f"    - {json.dumps(group[0])}"
                continue
            yield "    - any_of:"
            for string in group:
                yield f"      - {json.dumps(string)}"

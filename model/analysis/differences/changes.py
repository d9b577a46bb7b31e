"""Represent differences apart from the specs that have them, so that equal ones can be counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from spackscope.model.analysis.differences.own_differences import Difference, Value
from spackscope.model.core.frozen import replace
from spackscope.model.core.versions import version_key

OF_EDGES = frozenset(("dependency", "deptypes", "virtuals"))
"""Attributes of the dependencies that a node has."""

_OF_ANY_PACKAGE = OF_EDGES | {
    *("os", "target", "platform", "compiler", "spec_format", "provider", "namespace"),
}
"""Attributes whose equal differences are one, whatever the packages."""


class Change(NamedTuple):
    """A difference in a package; `package` is empty where it may be any package."""

    package: str
    difference: Difference

    @classmethod
    def of(cls, package: str, difference: Difference) -> Change:
        """Convert one difference of a node to a change."""
        plain = replace(
            difference,
            follows="",
            deptypes=(),
            virtuals=difference.virtuals if difference.attribute == "provider" else (),
        )
        return cls("" if difference.attribute in _OF_ANY_PACKAGE else package, plain)

    @property
    def ordered(self) -> Change:
        """The change with the lower value first, so that it is equal in both directions."""
        a, b = self.difference.a, self.difference.b
        if _order(self.difference.attribute, a) <= _order(self.difference.attribute, b):
            return self
        return self._replace(difference=replace(self.difference, a=b, b=a))


def changes_of(package: str, differences: Sequence[Difference]) -> tuple[Change, ...]:
    """Convert the differences of a node to changes.

    Differences that follow others are left out, unless all do.
    """
    chosen = [difference for difference in differences if not difference.follows]
    return tuple(Change.of(package, difference) for difference in chosen or differences)


def _order(attribute: str, value: Value) -> tuple[Any, ...]:
    if isinstance(value, str):
        return 1, version_key(value) if attribute == "version" else (), value
    return 0, (), str(value)

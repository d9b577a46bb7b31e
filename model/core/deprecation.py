"""What recipes say of deprecated versions, and which deprecations a configuration allows."""

from __future__ import annotations

from typing import NamedTuple

SEVERITIES = ("none", "low", "medium", "high", "critical")
"""The severities of a deprecation, in their order."""

UNSPECIFIED, LEGACY_LABEL = "unspecified", "version_deprecated"
"""The reason and the label that Spack 1.3 gives to `version(…, deprecated=True)`."""


class Deprecation(NamedTuple):
    """A deprecation of a recipe: the spec that it is about, "" for all of the package, and why."""

    spec: str
    reason: str = UNSPECIFIED
    severity: str = SEVERITIES[-1]
    labels: tuple[str, ...] = (LEGACY_LABEL,)
    message: str = ""

    @property
    def why(self) -> str:
        """Its severity, reason and labels, as far as the recipe states them."""
        labels = (label for label in self.labels if label != LEGACY_LABEL)
        reasons = () if self.reason == UNSPECIFIED else (self.reason,)
        return ", ".join((self.severity, *reasons, *labels))


class Fix(NamedTuple):
    """A patch by its address and digest, or its file: what deprecations of a package it fixes.

    The package is "" where it is that of the recipe.
    """

    labels: tuple[str, ...]
    place: str
    digest: str = ""
    package: str = ""


def severity_rank(severity: str) -> int:
    """Return the place of a severity in the order of all; -1 for an unknown one."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else -1

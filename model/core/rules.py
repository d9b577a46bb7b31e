"""The rules by which a spec does not run on a host, or Spack does not reuse it there.

A rule is one entry of `RULES`, and `analysis.fit` or `analysis.reuse` finds the specs that break
it. Sentences, filters, `why`, exports and the reference of the output read the rest from there.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import clean


class FitReason(NamedTuple):
    """Why a spec does not run on the host, or why Spack would not reuse it there.

    `label` is shared by reasons of one kind, and `sentence` names the obstacle. `is_run` is true
    for a reason why it does not run, `is_reuse` for one why Spack does not reuse it. `place` is
    the file and line of a rule of the configuration. `change` says how to make Spack reuse the
    spec. `of_dependency` is true if only dependencies break the rule.
    """

    rule: Rule
    label: str
    is_run: bool
    is_reuse: bool
    place: str = ""
    sentence: str = ""
    change: str = ""
    of_dependency: bool = False


class Rule(Frozen):
    """A rule that a spec may break: its name in exports, and its label in few words.

    A reason may have a label of its own (`with_label`).
    """

    name: str
    label: str
    change: str = ""
    """How to make Spack reuse the spec; `{place}` stands for the place of the reason."""
    sentence: str = "{label}, {place}"
    """The sentence of a reason without its own; `{label}`, `{host}` and others are filled in."""
    is_run: bool = False
    """Whether a spec that breaks it does not run."""
    is_reuse: bool = True
    """Whether Spack does not reuse a spec that breaks it."""
    dependency_label: str = ""
    """The label if only dependencies break the rule; empty: the same label."""
    hides: bool = False
    """Whether Spack does not see the spec in any index, so that it is not found by its hash."""
    is_unknown: bool = False
    """Whether the answer is unknown, because the facts in the label are missing."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @cached_property
    def reason(self) -> FitReason:
        """The reason with the label of the rule, without a place."""
        return self.with_label(self.label)

    def with_label(
        self, label: str, place: str = "", sentence: str = "", change: str = ""
    ) -> FitReason:
        """Return a reason with another label than the rule, and its own place and sentence."""
        change = change or self.change.replace("{place}", place)
        return FitReason(
            self, clean(label), self.is_run, self.is_reuse, place, clean(sentence), change
        )


def _unknown(name: str, label: str, *, is_run: bool = True, is_reuse: bool = True) -> Rule:
    return Rule(f"unknown-{name}", label, is_run=is_run, is_reuse=is_reuse, is_unknown=True)


_REBUILD, _OTHER_MACHINE = "rebuild it with Spack 1.0 or later", "use another machine or os"

# The first line has the name and the label of a rule.
# fmt: off
RULES = (
    NO_INDEX := Rule(
        "no-index", "its mirror has no index", hides=True,
        change="create it: spack buildcache update-index {place}",
        sentence="{label}; `spack buildcache update-index {place}` creates it",
    ),
    NO_V2_INDEX := Rule(
        "no-v2-index", "its mirror has no index of layout v2", hides=True,
        change="create it with a Spack before 1.0: spack buildcache update-index {place}",
    ),
    DEVELOPED := Rule(
        "under-development", "under development",
        change="nothing to do: Spack never reuses builds of sources under development",
        sentence="it was built from sources under development (dev_path)",
        dependency_label="dependency under development",
    ),
    WRAPPER := Rule(
        "compiler-wrapper", "compiler wrapper",
        change="nothing to do: Spack always builds its compiler wrapper",
        sentence="Spack never reuses the compiler wrapper",
    ),
    EXTERNAL := Rule(
        "external", "external", dependency_label="external dependency",
        change="list it with this prefix in packages.yaml",
        sentence="external at {external}, which is not in the host's packages.yaml",
    ),
    NO_RUNTIME := Rule(
        "compiler-runtime", "compiler without its runtime", change=_REBUILD,
        sentence="a compiler it depends on comes without its runtime (Spack up to January 2026)",
    ),
    OLD_FORMAT := Rule(
        "old-format", "built before Spack 1.0", change=_REBUILD,
        sentence="{label}, in format {spec_format} (Spack since 2026 needs 5)",
    ),
    NEWER_FORMAT := Rule("newer-format", "built by a newer Spack", change="use a newer Spack"),
    NEWER_INDEX := Rule(
        "newer-index", "its index is of a newer Spack", change="use a newer Spack", hides=True,
    ),
    OLD_INDEX := Rule(
        "old-index", "its index is of a Spack before 0.17", hides=True,
        change="create it with Spack 0.17 to 0.23: spack buildcache update-index {place}",
    ),
    REUSE := Rule("concretizer-reuse", "excluded by concretizer:reuse", change="change {place}"),
    MIRROR := Rule("mirror-filter", "excluded by a filter of its mirror", change="change {place}"),
    PACKAGES := Rule("packages-yaml", "ruled out by packages.yaml", change="change {place}"),
    PREFERRED := Rule("preference", "another is preferred", is_reuse=False),
    PLATFORM := Rule(
        "platform", "other platform", is_run=True,
        change="use another machine",
        sentence="{label}, not {host}",
    ),
    TARGET := Rule("target", "other target", is_run=True, change="use another machine or target"),
    LIBC := Rule("libc", "other C library", is_run=True, change=_OTHER_MACHINE),
    OS := Rule("os", "other os", is_run=True, change=_OTHER_MACHINE),
    NOT_DESCRIBED := _unknown("dependency", "dependency not described"),
    NO_ARCHITECTURE := _unknown("architecture", "architecture not listed"),
    UNKNOWN_PLATFORM := _unknown("host-platform", "platform of the host unknown"),
    UNKNOWN_TARGET := _unknown("host-target", "target of the host unknown"),
    UNKNOWN_OS := _unknown("host-os", "release of the host unknown"),
    UNKNOWN_FORMAT := _unknown("format", "format not listed", is_run=False),
    NOT_LISTED := _unknown("dependencies", "dependencies not listed"),
    UNKNOWN_LIBC := _unknown("host-libc", "libc of the host unknown"),
    UNLISTED_LIBC := _unknown("libc", "C library not listed", is_reuse=False),
)
# fmt: on
"""All rules, in the order in which the reasons of a spec are listed."""

"""Read the rules by which the user's Spack reuses cached and installed specs.

As `ReusableSpecsSelector` in lib/spack/spack/solver/reuse.py, `Mirror.matches_binary` in
mirrors/mirror.py, and `RequirementParser` in solver/requirements.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.text import clean
from spackscope.model.sources.source_name import PREFIX
from spackscope.model.sources.spack_config import (
    OfYaml,
    Scopes,
    Selection,
    SpackConfig,
    Text,
    is_false,
)

ALL = "all"
"""The entry of packages.yaml for packages that say nothing themselves."""

_BOTH: tuple[Mapping[str, Any], ...] = ({"type": Text("local")}, {"type": Text("buildcache")})
"""The default of concretizer:reuse:from."""


class Requirement(Frozen):
    """A requirement or a conflict of packages.yaml, on specs that match `when`, if there is one.

    How many of the specs must match says `policy`: one_of, any_of, or none_of for a conflict.
    """

    specs: tuple[Text, ...]
    policy: str = "one_of"
    when: Text | None = None
    message: str = ""


class ReuseRules(Frozen):
    """The rules of concretizer.yaml, mirrors.yaml and packages.yaml.

    `reuse` is the value of concretizer:reuse, or its key if that is a mapping; None without one.
    Nothing is reused if it `is_off`, and with `only_dependencies` only dependencies of what is
    asked for. A cached spec is considered if one of `caches` selects it, one in the own install
    tree if one of `trees` does. `mirrors` has the filter of each mirror, by both names that it has
    as a source. The others are entries of packages.yaml by package, or `all`: `require`,
    `conflict`, `buildable: false`, `prefer` and `allowed_deprecation_severity`.
    """

    reuse: Text | None = None
    is_off: bool = False
    only_dependencies: bool = False
    caches: tuple[Selection, ...] = (Selection(),)
    trees: tuple[Selection, ...] = (Selection(),)
    mirrors: Mapping[str, Selection] = field(default_factory=dict)
    requirements: Mapping[str, tuple[Requirement, ...]] = field(default_factory=dict)
    conflicts: Mapping[str, tuple[Requirement, ...]] = field(default_factory=dict)
    not_buildable: Mapping[str, Text] = field(default_factory=dict)
    preferred: Mapping[str, tuple[Text, ...]] = field(default_factory=dict)
    deprecation: Mapping[str, Text] = field(default_factory=dict)


def read_reuse_rules(spack: SpackConfig) -> ReuseRules:
    """Read the rules of a configuration; its problems grow by those of the rules.

    read_reuse_rules(session.spack).caches[0].exclude[0].line
    """
    scopes = spack.scopes
    section = scopes.section("concretizer")
    reuse = section.get("reuse")
    details = reuse if isinstance(reuse, dict) else {}
    place = next((key for key in section if key == "reuse"), None) if details else None
    place = place or scopes.value(section, "reuse", Text)
    selections: dict[str, list[Selection]] = {"local": [], "buildcache": []}
    for part in scopes.entries(details, "from") if "from" in details else _BOTH:
        if (kind := scopes.value(part, "type", Text)) in selections:
            include, exclude = (
                scopes.texts(part if key in part else details, key)
                for key in ("include", "exclude")
            )
            selections[kind].append(Selection(include, exclude))
    packages = scopes.mappings("packages")

    def of_packages(key: str, kind: type[OfYaml]) -> Iterator[tuple[str, OfYaml]]:
        for name, entry in packages.items():
            if value := scopes.value(entry, key, kind):
                yield name, value

    def constraints(key: str) -> dict[str, tuple[Requirement, ...]]:
        read = (
            (name, tuple(_constraints(scopes, entry, key))) for name, entry in packages.items()
        )
        return {name: rules for name, rules in read if rules}

    return ReuseRules(
        place,
        is_false(reuse),
        reuse == "dependencies" or is_false(scopes.value(details, "roots", Text)),
        tuple(selections["buildcache"]),
        tuple(selections["local"]),
        {
            source: mirror.binaries
            for mirror in spack.mirrors.values()
            for source in (f"{PREFIX}{mirror.name}", mirror.url)
        },
        constraints("require"),
        constraints("conflict"),
        {name: each for name, each in of_packages("buildable", Text) if is_false(each)},
        {
            name: tuple(spec for rule in rules for spec in rule.specs)
            for name, rules in constraints("prefer").items()
        },
        dict(of_packages("allowed_deprecation_severity", Text)),
    )


def _constraints(scopes: Scopes, fields: Mapping[str, Any], key: str) -> Iterator[Requirement]:
    """Yield the constraints of a package below `require`, `prefer` or `conflict`."""
    policies = {"spec": "none_of" if key == "conflict" else "one_of"}
    if key == "require":
        policies |= {"one_of": "one_of", "any_of": "any_of"}
        if isinstance(fields.get(key), Text):
            fields = {key: [fields[key]]}
    for entry in scopes.entries(fields, key, "spec"):
        when, message = (scopes.value(entry, name, Text) for name in ("when", "message"))
        if isinstance(entry.get("when"), list | dict):
            continue
        for name, policy in policies.items():
            if specs := scopes.texts(entry, name):
                yield Requirement(specs, policy, when, message or "")


def place_of(text: Text) -> str:
    """Return where a text of the configuration is written: `~/.spack/mirrors.yaml:3`."""
    home = os.path.expanduser("~")
    file = f"~{text.file[len(home) :]}" if text.file.startswith(home + os.sep) else text.file
    return clean(f"{file}:{text.line}")

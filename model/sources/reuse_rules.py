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
    Selection,
    SpackConfig,
    Text,
    is_false,
    mapping,
    texts,
)

ALL = "all"
"""The entry of packages.yaml for packages that say nothing themselves."""

_BOTH: tuple[Mapping[str, Any], ...] = ({"type": "local"}, {"type": "buildcache"})
"""The default of concretizer:reuse:from."""


class Requirement(Frozen):
    """A requirement of packages.yaml: one of the specs must match, and no other if `only_one`.

    It applies to specs that match `when`, if there is one.
    """

    specs: tuple[Text, ...]
    only_one: bool = True
    when: Text | None = None


class ReuseRules(Frozen):
    """The rules of concretizer.yaml, mirrors.yaml and packages.yaml.

    `reuse` is the value of concretizer:reuse, or its key if that is a mapping; None without one.
    Nothing is reused if it `is_off`, and with `only_dependencies` only dependencies of what is
    asked for. A cached spec is considered if one of `caches` selects it, one in the own install
    tree if one of `trees` does. `mirrors` has the filter of each mirror, by both names that it has
    as a source. The others are entries of packages.yaml by package, or `all`: `require`,
    `buildable: false`, `prefer` and `allowed_deprecation_severity`.
    """

    reuse: Text | None = None
    is_off: bool = False
    only_dependencies: bool = False
    caches: tuple[Selection, ...] = (Selection(),)
    trees: tuple[Selection, ...] = (Selection(),)
    mirrors: Mapping[str, Selection] = field(default_factory=dict)
    requirements: Mapping[str, tuple[Requirement, ...]] = field(default_factory=dict)
    not_buildable: Mapping[str, Text] = field(default_factory=dict)
    preferred: Mapping[str, tuple[Text, ...]] = field(default_factory=dict)
    deprecation: Mapping[str, Text] = field(default_factory=dict)


def read_reuse_rules(spack: SpackConfig) -> ReuseRules:
    """Read the rules of a configuration.

    read_reuse_rules(session.spack).caches[0].exclude[0].line
    """
    concretizer, packages = map(spack.scopes.section, ("concretizer", "packages"))
    reuse = concretizer.get("reuse")
    details = mapping(reuse)
    place = next((key for key in concretizer if key == "reuse"), None) if details else reuse
    parts = details.get("from", _BOTH)
    selections: dict[object, list[Selection]] = {"local": [], "buildcache": []}
    for part in parts if isinstance(parts, list | tuple) else ():
        if mapping(part).get("type") in selections:
            include, exclude = (part.get(k, details.get(k)) for k in ("include", "exclude"))
            selections[part["type"]].append(Selection(texts(include), texts(exclude)))

    def of_packages(key: str) -> Iterator[tuple[str, Any]]:
        for name, entry in packages.items():
            if value := mapping(entry).get(key):
                yield name, value

    return ReuseRules(
        place if isinstance(place, Text) else None,
        is_false(reuse),
        reuse == "dependencies" or is_false(details.get("roots")),
        tuple(selections["buildcache"]),
        tuple(selections["local"]),
        {
            source: mirror.binaries
            for mirror in spack.mirrors.values()
            for source in (f"{PREFIX}{mirror.name}", mirror.url)
        },
        {name: tuple(_requirements(each)) for name, each in of_packages("require")},
        {name: each for name, each in of_packages("buildable") if is_false(each)},
        {name: texts(each) for name, each in of_packages("prefer")},
        dict(of_packages("allowed_deprecation_severity")),
    )


def _requirements(required: Any) -> Iterator[Requirement]:
    """Yield the requirements of a package, each of a list for itself."""
    for entry in required if isinstance(required, list) else [required]:
        if isinstance(entry, Text):
            yield Requirement((entry,))
        elif isinstance(entry, dict):
            for key in ("spec", "one_of", "any_of"):
                if specs := texts(entry.get(key)):
                    yield Requirement(specs, key != "any_of", entry.get("when"))


def place_of(text: Text) -> str:
    """Return where a text of the configuration is written: `~/.spack/mirrors.yaml:3`."""
    home = os.path.expanduser("~")
    file = f"~{text.file[len(home) :]}" if text.file.startswith(home + os.sep) else text.file
    return clean(f"{file}:{text.line}")

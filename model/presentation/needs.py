"""Describe what a spec needs to run: in a line, in a cell of the detail pane, in full, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from spackscope.model.analysis.needs import NeededSpec, Needs
from spackscope.model.core.columns import SHORT_HASH, size_text
from spackscope.model.core.records import Spec
from spackscope.model.core.text import aligned, clean, counted, shorten
from spackscope.model.presentation.relations import UNLISTED

_RUNTIMES = ("libc", "gcc-runtime", "compiler-wrapper", "intel-oneapi-runtime")
"""Packages and virtuals that nearly all specs need: they come last."""

_MAX_WIDTH = 100
"""Cells of a column; longer texts are shortened."""


def needs_line(needs: Needs | None) -> str:
    """Count what a spec needs: `12 specs, 3 installed, 210 MB + 4 unknown`."""
    if needs is None:
        return UNLISTED
    parts = [("at least " if needs.is_unknown else "") + counted(len(needs.specs), "spec")]
    for sign, count in (
        ("installed", len(needs.specs) - len(needs.to_fetch)),
        ("not cached", sum(not spec.is_cached for spec in needs.to_fetch)),
    ):
        if count:
            parts.append(f"{count:,} {sign}")
    if needs.to_fetch:
        parts.append(_size(needs))
    return ", ".join(parts)


def _size(needs: Needs) -> str:
    known = size_text(needs.size) if needs.unknown_sizes < len(needs.to_fetch) else ""
    if not needs.unknown_sizes:
        return known
    unknown = f"{needs.unknown_sizes:,} unknown"
    return f"{known} + {unknown}" if known else "size unknown"


def by_interest(needs: Needs) -> list[NeededSpec]:
    """Return what a spec needs besides itself.

    Dependencies of the spec itself come first, those that provide a virtual before others.
    """
    return sorted(needs.specs[1:], key=_rank)


def spec_name(spec: NeededSpec) -> str:
    """Return the package of a spec with its version."""
    version = f"@{spec.version}" if spec.version else ""
    return shorten(clean(f"{spec.package}{version}"), _MAX_WIDTH) or "(no name)"


def _rank(spec: NeededSpec) -> tuple[bool, bool, bool]:
    names = (spec.package, *spec.virtuals)
    return not spec.is_direct, any(name in _RUNTIMES for name in names), not spec.virtuals


def _name(spec: NeededSpec) -> str:
    version = f"@{spec.version}" if spec.version else ""
    virtuals = f" ({', '.join(spec.virtuals)})" if spec.virtuals else ""
    name = clean(f"{spec.package}{version}{virtuals}")
    return shorten(name, _MAX_WIDTH) or "(no name)"


def needs_lines(spec: Spec, needs: Needs | None) -> Iterator[str]:
    """Yield what a spec needs in three sections, each spec with its hash, states and size."""
    yield f"{clean(f'{spec.package}@{spec.version}')}  /{spec.hash}"
    if needs is None:
        yield UNLISTED
        return
    yield f"needs to run: {needs_line(needs)}"
    yield from _table(needs.specs)
    if needs.externals:
        yield f"externals assumed on the host: {len(needs.externals):,}"
        yield from _table(needs.externals)
    if needs.build_only:
        yield f"needs to build only: {counted(len(needs.build_only), 'spec')} more"
        yield from _table(needs.build_only)


def _table(specs: Iterable[NeededSpec]) -> Iterator[str]:
    rows = [
        (
            spec.hash[:SHORT_HASH],
            _name(spec),
            _place(spec),
            "" if spec.size is None else size_text(spec.size),
        )
        for spec in specs
    ]
    return (f"  {line}" for line in aligned(rows))


def _place(spec: NeededSpec) -> str:
    """Return where a spec is: in which state, or under which prefix and modules."""
    if spec.is_absent:
        return "not in this index"
    if not spec.external:
        return clean(", ".join(spec.states))
    modules = ", ".join(spec.modules)
    prefix = "" if spec.external == modules else f" at {spec.external}"
    between = "," if prefix and modules else ""
    module = f" module {modules}" if modules else ""
    return shorten(clean(f"external{prefix}{between}{module}"), _MAX_WIDTH)


def needs_json(spec: Spec, needs: Needs | None) -> str:
    """Return the needs of a spec as a JSON object on one line.

    The lists are null where the document lists no dependencies.
    """
    parts: dict[str, Any] = {"needs": None, "externals": None, "build_only": None}
    if needs is not None:
        parts = {
            "needs": [*map(_exported, needs.specs)],
            "externals": [*map(_exported, needs.externals)],
            "build_only": [*map(_exported, needs.build_only)],
            "is_complete": not needs.is_unknown,
            "size": needs.size,
            "unknown_sizes": needs.unknown_sizes,
        }
    named = {"package": spec.package, "version": spec.version, "hash": spec.hash}
    return json.dumps(named | parts)


def _exported(spec: NeededSpec) -> dict[str, Any]:
    exported = {"package": spec.package, "version": spec.version, "hash": spec.hash}
    if spec.external:
        return exported | {"external": spec.external, "modules": spec.modules}
    return exported | {"states": spec.states, "size": spec.size}

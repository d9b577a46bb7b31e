"""Describe what a spec needs to run: in a line, in a cell of the detail pane, in full, as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spackscope.model.analysis.needs import NeededSpec, Needs
from spackscope.model.core.columns import SHORT_HASH, size_text, sizes_text, spec_name
from spackscope.model.core.records import Spec
from spackscope.model.core.text import clean, counted, shorten
from spackscope.model.report.report import Report, Row, Section

UNLISTED = "This source lists no dependencies"

_RUNTIMES = ("libc", "gcc-runtime", "compiler-wrapper", "intel-oneapi-runtime")
"""Packages and virtuals that nearly all specs need: they come last."""

_MAX_WIDTH = 100
"""Cells of a column; longer texts are shortened."""


def needs_line(needs: Needs | None) -> str:
    """Count what a spec needs: `12 specs, 3 installed, 210 MB + 4 unknown`."""
    if needs is None:
        return UNLISTED
    parts = [("at least " if needs.is_unknown else "") + counted(len(needs.specs), "spec")]
    if installed := len(needs.specs) - len(needs.to_fetch):
        parts.append(f"{installed:,} installed")
    if not_cached := sum(not each.spec.cached for each in needs.to_fetch):
        parts.append(f"{not_cached:,} not cached")
    if count := len(needs.to_fetch):
        parts.append(sizes_text(needs.size, count, needs.unknown_sizes))
    return ", ".join(parts)


def by_interest(needs: Needs) -> list[NeededSpec]:
    """Return what a spec needs besides itself.

    Dependencies of the spec itself come first, those that provide a virtual before others.
    """
    return sorted(needs.specs[1:], key=_rank)


def _rank(needed: NeededSpec) -> tuple[bool, bool, bool]:
    names = (needed.spec.package, *needed.virtuals)
    return not needed.is_direct, any(name in _RUNTIMES for name in names), not needed.virtuals


def needs_report(spec: Spec, needs: Needs | None) -> Report:
    """Report what a spec needs in three sections, each spec with its hash, states and size.

    In JSON the lists are null where the document lists no dependencies.
    """

    def sections() -> Iterator[Section]:
        if needs is None:
            yield Section(UNLISTED)
            return
        build_only = counted(len(needs.build_only), "spec")
        yield Section(f"needs to run: {needs_line(needs)}", map(_row, needs.specs))
        for specs, heading in (
            (needs.externals, f"externals assumed on the host: {len(needs.externals):,}"),
            (needs.build_only, f"needs to build only: {build_only} more"),
        ):
            if specs:
                yield Section(heading, map(_row, specs))

    def data() -> dict[str, object]:
        if needs is None:
            return _named(spec) | {"needs": None, "externals": None, "build_only": None}
        return _named(spec) | {
            "needs": [*map(_exported, needs.specs)],
            "externals": [*map(_exported, needs.externals)],
            "build_only": [*map(_exported, needs.build_only)],
            "is_complete": not needs.is_unknown,
            "size": needs.size,
            "unknown_sizes": needs.unknown_sizes,
        }

    return Report(f"{spec_name(spec.package, spec.version)}  /{spec.hash}", sections(), data)


def _row(needed: NeededSpec) -> Row:
    spec = needed.spec
    size = "" if spec.size is None else size_text(spec.size)
    place = "not in this index" if needed.is_absent else _place(spec)
    provided = clean(f" ({', '.join(needed.virtuals)})") if needed.virtuals else ""
    name = shorten(spec_name(spec.package, spec.version) + provided, _MAX_WIDTH)
    return Row((spec.hash[:SHORT_HASH], name, place, size))


def _place(spec: Spec) -> str:
    """Return where a spec is: in which state, or under which prefix and modules."""
    if not spec.external:
        return clean(", ".join(spec.states))
    modules = ", ".join(spec.external_modules)
    prefix = "" if spec.external == modules else f"at {spec.external}"
    places = filter(None, (prefix, f"module {modules}" if modules else ""))
    return shorten(clean(f"external {', '.join(places)}"), _MAX_WIDTH)


def _named(spec: Spec) -> dict[str, Any]:
    return {"package": spec.package, "version": spec.version, "hash": spec.hash}


def _exported(needed: NeededSpec) -> dict[str, Any]:
    spec = needed.spec
    if spec.external:
        return _named(spec) | {"external": spec.external, "modules": spec.external_modules}
    return _named(spec) | {"states": spec.states, "size": spec.size}

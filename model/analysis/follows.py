"""What comes with what: which differences of a package normally follow from others of it."""

from __future__ import annotations

from collections.abc import Iterable

from spackscope.model.analysis.dag import PROVIDED, compiled_languages

COMPILERS_OF_RUNTIMES = {
    "gcc-runtime": "gcc",
    "intel-oneapi-runtime": "intel-oneapi-compilers",
}

_COME_WITH_COMPILER = frozenset((*COMPILERS_OF_RUNTIMES, "compiler-wrapper", "glibc", "musl"))

_OTHER = ("version", "package")
_RECIPE = (*_OTHER, "variant", "package_hash")
_TOOLCHAIN = ("spec_format", "platform", "compiler", "provider")

_LEADERS = {
    **dict.fromkeys(("patches", "external", "external_module", "external_extra"), _OTHER),
    "package_hash": (*_OTHER, "patches"),
    PROVIDED: (*_OTHER, "spec_format", "variant"),
    "variant": _OTHER,
    "compiler": ("spec_format",),
}
"""What an attribute may follow, the likeliest first."""

_IF_LACKING = ("variant", "compiler")
"""Attributes that follow others only where some specs have none."""


def follows(
    attribute: str,
    differing: Iterable[str],
    *,
    is_lacking: bool = False,
    dependency: str = "",
    virtuals: tuple[str, ...] = (),
) -> str:
    """Return which `differing` attribute of a package one of its attributes comes with, or "".

    It is the same whether two specs are compared or many. Another version, or another package,
    brings another recipe, other patches and virtuals, another place of what is external, and
    variants that some builds do not have (then it `is_lacking`). Patches are part of the recipe,
    and a variant may provide virtuals. Another spec format tells virtuals, or that the compiler,
    which some then lack, is a dependency.

    Of an edge to a `dependency`, with its `virtuals`, any attribute comes with another version,
    else with the first variant, else with the recipe. If it is a compiler, the spec format comes
    first; if it is what compilers bring along, then the platform and the compiler, too. A
    `provider` among `differing` is one of a language: it is the compiler.

        follows("package_hash", ["patches", "version"])  # "version"
    """
    names, kind = [*differing], attribute.partition(":")[0]
    leaders = _LEADERS.get(kind, ())
    if dependency:
        leaders = _RECIPE
        if dependency in _COME_WITH_COMPILER or "libc" in virtuals:
            leaders = (*_TOOLCHAIN, *_RECIPE)
        elif compiled_languages(virtuals):
            leaders = ("spec_format", *_RECIPE)
    elif kind in _IF_LACKING and not is_lacking:
        leaders = ()
    found = (n for leader in leaders for n in names if n.partition(":")[0] == leader)
    return next(found, "")

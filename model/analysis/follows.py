"""Decide which differences of a package normally follow from its other differences."""

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
"""The attributes that an attribute may follow, the likeliest first."""

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
    """Return the `differing` attribute of a package that another attribute follows, or "".

    Two specs are compared in the same way as many. Another version, or another package, brings
    another recipe, other patches and virtuals, other prefixes of externals, and variants that some
    builds do not have (then the variant `is_lacking`). Patches are part of the recipe, and a
    variant may provide virtuals. Another spec format adds virtuals, or makes the compiler, which
    is then lacking as an attribute, a dependency.

    Any attribute of an edge to a `dependency`, with its `virtuals`, follows another version, else
    the first variant, else the recipe. If the dependency is a compiler, the spec format comes
    first; if it comes along with compilers, also the platform and the compiler. A `provider` in
    `differing` provides a language, and so is a compiler.

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

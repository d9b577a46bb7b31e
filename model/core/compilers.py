"""Know the names of compilers, as Spack's `%` takes them."""

from __future__ import annotations

_NEW_NAMES = {
    "clang": "llvm",
    "oneapi": "intel-oneapi-compilers",
    "rocmcc": "llvm-amdgpu",
    "intel": "intel-oneapi-compilers-classic",
    "arm": "acfl",
}
_COMPILERS = frozenset(
    {
        *_NEW_NAMES,
        *_NEW_NAMES.values(),
        *("aocc", "apple-clang", "cce", "dpcpp", "fj", "gcc", "msvc", "nag", "nvhpc", "pgi"),
        *("xl", "xl_r"),
    }
)
_LEGACY_NAMES = {_NEW_NAMES[name]: name for name in ("clang", "oneapi", "rocmcc", "arm")}
"""The old names that Spack still prints; for the classic Intel compilers it has none."""

LANGUAGES = ("c", "cxx", "fortran")
"""The virtuals that a compiler provides; the first that is there names a spec's compiler."""


def compiler_name(name: str) -> str:
    """Give the package name of a compiler, which Spack before 1.0 called otherwise.

    The names are those of lib/spack/spack/aliases.py.
    """
    return _NEW_NAMES.get(name, name)


def legacy_name(package: str) -> str:
    """Return the name that Spack prints after `%` for the package of a compiler."""
    return _LEGACY_NAMES.get(package, package)


def is_compiler(name: str) -> bool:
    """Tell whether a package is one of the compilers that Spack's own recipes have."""
    return name in _COMPILERS

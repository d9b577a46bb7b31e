"""Translate between the names of compilers before and after Spack 1.0."""

from __future__ import annotations

_NEW_NAMES = {
    "clang": "llvm",
    "oneapi": "intel-oneapi-compilers",
    "rocmcc": "llvm-amdgpu",
    "intel": "intel-oneapi-compilers-classic",
    "arm": "acfl",
}
_OTHERS = ("aocc", "apple-clang", "cce", "dpcpp", "fj", "gcc", "msvc", "nag", "nvhpc", "pgi")
_COMPILERS = frozenset((*_NEW_NAMES, *_NEW_NAMES.values(), *_OTHERS, "xl", "xl_r"))
_LEGACY_NAMES = {_NEW_NAMES[name]: name for name in ("clang", "oneapi", "rocmcc", "arm")}
"""The old names that Spack still prints; it has none for the classic Intel compilers."""

LANGUAGES = ("c", "cxx", "fortran")
"""The virtuals of compilers; the provider of the first that a spec has is its compiler."""


def compiler_name(name: str) -> str:
    """Return the package name of a compiler, which had another name before Spack 1.0.

    The names are those of lib/spack/spack/aliases.py.
    """
    return _NEW_NAMES.get(name, name)


def legacy_name(package: str) -> str:
    """Return the name that Spack prints after `%` for the package of a compiler."""
    return _LEGACY_NAMES.get(package, package)


def is_compiler(name: str) -> bool:
    """Check whether a package is one of the compilers in Spack's own recipes."""
    return name in _COMPILERS

"""Order Spack versions, and check them against Spack's version constraints.

The rules are from lib/spack/spack/version/version_types.py in Spack 1.2.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

# A component begins with its kind, which sorts names before numbers before infinity names.
_NAME, _NUMBER, _INFINITY, _UNASSIGNED = range(4)
_FINAL = 3

_INFINITY_NAMES = ("stable", "nightly", "trunk", "head", "master", "main", "develop")
_PRERELEASES = {"alpha": 0, "beta": 1, "rc": 2, "final": _FINAL}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

# ASCII only: \d and str.isdigit() include digits that Spack does not know.
_SEGMENT = r"([0-9]+)|([A-Za-z]+)"
_PLAIN_VERSION = r"[A-Za-z0-9_.-]+"
_COMMIT = r"[0-9a-f]{40}"
_GIT_REF = r"[A-Za-z0-9_./-]+"

_MAX_CACHED_LENGTH = 200

Component = tuple[int | str, ...]
Release = tuple[Component, ...]
VersionKey = tuple[Release, Component, int, str]
"""The release, its prerelease, 1 for a git reference (else 0), and the reference."""

_Bound = tuple[Release, Component]


class _Entry(NamedTuple):
    """An entry of a constraint: the first key that satisfies it, and a key after the last.

    With a git reference, only keys between the two that have this reference satisfy it.
    """

    lowest: VersionKey
    end: tuple[object, ...]
    ref: str = ""

    def fits(self, key: VersionKey) -> bool:
        return self.lowest <= key < self.end and (not self.ref or key[2:] == (1, self.ref))


_LOWEST: _Bound = ((), (0,))
_END = (((_UNASSIGNED + 1,),),)
"""The key after all versions, also after git references without a version."""

_HIGHEST: _Bound = (((_INFINITY, len(_INFINITY_NAMES)),), (_FINAL,))


def version_key(version: str) -> VersionKey:
    """Return the key that sorts concrete versions, oldest first, as Spack sorts them.

    Versions that are equal in Spack (`1.2-3` and `1.2.3`) have equal keys. Never raises:
    characters that Spack would refuse count as separators, and a leading `=` is ignored. A git
    reference without a version comes after every other version.

    Example: `sorted(["1.10", "develop", "1.9"], key=version_key) == ["1.9", "1.10", "develop"]`.
    """
    # A cache full of hostile strings of 100 kB would be worth gigabytes.
    return _cached_key(version) if len(version) <= _MAX_CACHED_LENGTH else _key(version)


def satisfies(version: str, constraint: str) -> bool:
    """Check whether a concrete version satisfies a constraint written as after Spack's `@`.

    `1.2` and `1.2:1.4` include everything that starts with `1.2` or `1.4`, `=1.2` only that
    version; a list is satisfied by any of its entries. Raises ValueError, with one sentence for
    the user, for a constraint that Spack refuses, whatever the version is.

    Example: `satisfies("1.2.3", "1.2:1.4,2") is True`.
    """
    key = version_key(version)
    return any(entry.fits(key) for entry in _entries(constraint))


def find_satisfying(keys: Sequence[VersionKey], constraint: str) -> set[int]:
    """Return the positions of the sorted keys that satisfy a constraint. Raises ValueError.

    Example: `find_satisfying([version_key("1.1"), version_key("2")], "1") == {0}`.
    """
    return {
        position
        for entry in _entries(constraint)
        for position in range(bisect_left(keys, entry.lowest), bisect_left(keys, entry.end))
        if entry.fits(keys[position])
    }


def intersects(constraint: str, other: str) -> bool:
    """Check whether a version may satisfy both of two constraints. Raises ValueError.

    Example: `intersects(":3", "2,4:") is True`.
    """
    # The intersection of two ranges begins where one of them begins.
    return any(
        entry.fits(its.lowest) or its.fits(entry.lowest)
        for entry in _entries(constraint)
        for its in _entries(other)
    )


def _key(version: str) -> VersionKey:
    version = version.strip().removeprefix("=")
    git = _split_git(version)
    if git is None:
        return (*_bound(version), 0, "")
    ref, assigned = git
    if assigned is None or ":" in assigned:
        return (((_UNASSIGNED,),), (), 1, ref)
    return (*_bound(assigned), 1, ref)


_cached_key = lru_cache(maxsize=1 << 16)(_key)


def _split_git(version: str) -> tuple[str, str | None] | None:
    """Split a git version into reference and assigned version; None for an ordinary version."""
    if version.startswith("git."):
        version = version[4:]
    elif "=" not in version[1:] and not re.fullmatch(_COMMIT, version):
        return None
    ref, equals, assigned = version.partition("=")
    return ref, assigned if equals else None


def _bound(version: str) -> _Bound:
    segments: list[tuple[str, str]] = re.findall(_SEGMENT, version)
    prerelease: Component = (_FINAL,)
    if len(segments) >= 3 and segments[-2][1] in _PRERELEASES and segments[-1][0]:
        prerelease = (_PRERELEASES[segments[-2][1]], *_number(segments[-1][0]))
        del segments[-2:]
    elif len(segments) >= 2 and segments[-1][1] in _PRERELEASES:
        prerelease = (_PRERELEASES[segments[-1][1]],)
        del segments[-1]
    return tuple([_component(number, name) for number, name in segments]), prerelease


def _component(number: str, name: str) -> Component:
    if number:
        return (_NUMBER, *_number(number))
    if name in _INFINITY_NAMES:
        return (_INFINITY, _INFINITY_NAMES.index(name))
    return (_NAME, name)


def _number(digits: str) -> tuple[int, str]:
    # Sorts like the number itself; int() refuses more than 4,300 digits.
    digits = digits.lstrip("0")
    return len(digits), digits


@lru_cache(maxsize=256)
def _entries(constraint: str) -> tuple[_Entry, ...]:
    return tuple([_parse_entry(entry) for entry in constraint.replace(" ", "").split(",")])


def _parse_entry(text: str) -> _Entry:
    is_exact = text.startswith("=")
    text = text.removeprefix("=")
    git = _split_git(text)
    if git is not None:
        return _parse_git(*git)
    if is_exact:
        return _equal_to((*_strict_bound(text), 0, ""))
    return _parse_range(text)


def _parse_git(ref: str, assigned: str | None) -> _Entry:
    # Without this, `>=1.2` would be the version 1.2 of a branch named `>`.
    if not re.fullmatch(_GIT_REF, ref):
        raise ValueError(f"{_shown(ref)} is not a git reference: use letters, digits and . _ / -")
    if assigned is not None and ":" not in assigned:
        return _equal_to((*_strict_bound(assigned), 1, ref))
    lowest, end, _ = _parse_range(":" if assigned is None else assigned)
    return _Entry((*lowest[:2], 1, ref), end, ref)


def _parse_range(text: str) -> _Entry:
    if text == ":":
        return _Entry((*_LOWEST, 0, ""), _END)
    start, colon, end = text.partition(":")
    if ":" in end:
        raise ValueError(f"{_shown(text)} is not a version range: it has more than one colon")
    low = _strict_bound(start) if start or not colon else _LOWEST
    high = low if not colon else _strict_bound(end) if end else _HIGHEST
    after = _next(high)
    if after < low:
        raise ValueError(f"{_shown(text)} is an empty range: it ends before it starts")
    return _Entry((*low, 0, ""), after)


def _equal_to(version: VersionKey) -> _Entry:
    return _Entry(version, (*version, ""))


def _strict_bound(version: str) -> _Bound:
    if not version:
        raise ValueError("Expected a version")
    if not re.fullmatch(_PLAIN_VERSION, version):
        raise ValueError(f"{_shown(version)} is not a version: use letters, digits and . _ -")
    return _bound(version)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


def _next(bound: _Bound) -> _Bound:
    """Return the first bound after all versions of a range that ends with `bound`.

    Only the last part is increased: `1.4` becomes `1.5` and `2.0rc1` becomes `2.0rc2`. That is
    why `:1.4` includes `1.5rc1`, here as in Spack.
    """
    release, prerelease = bound
    if prerelease[0] != _FINAL:
        # A prerelease without a number comes before the one numbered 0.
        number = _next_number(str(prerelease[2])) if len(prerelease) > 1 else (0, "")
        return release, (prerelease[0], *number)
    if not release:
        return ((_NAME, "A"),), prerelease
    return (*release[:-1], _next_component(release[-1])), prerelease


def _next_component(component: Component) -> Component:
    kind, value = component[0], component[-1]
    if isinstance(value, int):
        return (kind, value + 1)
    if kind == _NUMBER:
        return (kind, *_next_number(value))
    return (kind, _next_name(value))


def _next_number(digits: str) -> tuple[int, str]:
    head = digits.rstrip("9")
    zeros = "0" * (len(digits) - len(head))
    if not head:
        return len(zeros) + 1, "1" + zeros
    return len(digits), head[:-1] + str(int(head[-1]) + 1) + zeros


def _next_name(name: str) -> str:
    # An infinity name is not between the names spelled like it: `mastep` ... `mastes`.
    while True:
        if name.endswith("z"):
            name += "A"
        else:
            name = name[:-1] + _LETTERS[_LETTERS.index(name[-1]) + 1]
        if name not in _INFINITY_NAMES:
            return name

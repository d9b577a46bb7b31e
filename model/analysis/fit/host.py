"""Parse the description of the host that specs are to run on.

It has what Spack compares when it reuses a spec: platform, operating system, target, and the C
library with its prefix. A part that is not known is empty, or None.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import clean
from spackscope.model.core.versions import version_key
from spackscope.model.query.matchers import unknown_target

LINUX, MACOS = "linux", "darwin"

MACOS_RELEASES = (
    *("leopard", "snowleopard", "lion", "mountainlion", "mavericks", "yosemite", "elcapitan"),
    *("sierra", "highsierra", "mojave", "catalina", "bigsur", "monterey", "ventura", "sonoma"),
    *("sequoia", "tahoe"),
)
"""The releases of macOS by the names that Spack gives them, oldest first."""

_LIBCS = ("glibc", "musl")
_KEYS = ("platform", "os", "target", "libc", *_LIBCS)
_EXPECTED = "Expected platform, os, target, libc, glibc or musl, each with = and a value"
_WORD = re.compile(r"\S+")
_VERSION = re.compile(r"\d+(?:\.\d+)*")
_NAME = re.compile(r"[\w.\-]+", re.ASCII)
_DEFAULT_PREFIX = "/usr"
_MAX_LENGTH = 1_000


class Libc(NamedTuple):
    """A C library: its name, its version, and the prefix that Spack knows it by."""

    name: str
    version: str
    prefix: str = _DEFAULT_PREFIX

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def runs(self, other: Libc) -> bool:
        """Check whether it runs what was built with another one.

        As `libc_is_compatible` in lib/spack/spack/solver/core.py.
        """
        is_same = self.name == other.name and self.prefix == other.prefix
        return is_same and version_key(self.version) >= version_key(other.version)


class Host(Frozen):
    """The machine that specs are to run on.

    `is_this_machine` is False if it was described, so that nothing else of it can be looked up.
    """

    platform: str = ""
    os: str = ""
    target: str = ""
    libc: Libc | None = None
    is_this_machine: bool = False

    def __str__(self) -> str:
        """Return its parts for people, as `zen3 · glibc 2.35 · ubuntu22.04`."""
        system = self.os or ("" if self.libc is not None else self.platform)
        parts = (self.target, str(self.libc or ""), system)
        return clean(" · ".join(filter(None, parts)))

    @property
    def short(self) -> str:
        """Its target and the version of its C library, as `zen3 · 2.35`."""
        system = self.libc.version if self.libc is not None else self.os or self.platform
        return clean(" · ".join(filter(None, (self.target, system))))

    @property
    def targets(self) -> frozenset[str]:
        """The targets that it runs: its own one and the ancestors of that."""
        from archspec.cpu import TARGETS

        if self.target not in TARGETS:
            return frozenset({self.target} - {""})
        return frozenset({self.target, *(each.name for each in TARGETS[self.target].ancestors)})


def parse_host(text: str) -> Host:
    """Parse the description of a host, and derive its platform from the other parts.

    Raises QueryError at the first word that is not a part of a host.

        parse_host("target=zen3 glibc=2.34")
        parse_host("zen3")
        parse_host("platform=darwin os=sequoia target=m1")
        parse_host("target=zen3 libc=glibc@2.34:/opt/sysroot")
    """
    if len(text) > _MAX_LENGTH:
        raise QueryError(f"A host has at most {_MAX_LENGTH:,} characters", _MAX_LENGTH)
    texts: dict[str, str] = {}
    libc = None
    for word in _WORD.finditer(text):
        key, equals, value = word[0].partition("=")
        at = word.start() + len(key) + 1
        if not equals and _is_near_target(key):
            key, value, at = "target", key, word.start()
        elif not equals or key not in _KEYS:
            raise QueryError(_EXPECTED, word.start())
        part = "libc" if key in _LIBCS else key
        if part in texts:
            raise QueryError(f"{part} is given twice", word.start())
        texts[part] = value
        if part == "libc":
            libc = _parse_libc(key, value, at)
        elif not _NAME.fullmatch(value):
            raise QueryError(f"Expected a name after {key}=", at)
        elif part == "target" and (sentence := unknown_target(value)):
            raise QueryError(sentence, at)
    if not texts:
        raise QueryError("Expected a host, as in target=zen3 glibc=2.34")
    os, target = texts.get("os", ""), texts.get("target", "")
    platform = texts.get("platform") or _platform(os, target, libc)
    return Host(platform, os, target, libc)


def _parse_libc(key: str, value: str, at: int) -> Libc:
    """Parse `2.34`, after `libc=` also `glibc@2.34`, and a prefix after a colon."""
    stated, colon, prefix = value.partition(":")
    name = key
    if key == "libc":
        name, _, stated = stated.partition("@")
        if name not in _LIBCS:
            raise QueryError("Expected glibc or musl, and @ with a version, after libc=", at)
    if not _VERSION.fullmatch(stated):
        raise QueryError(f"Expected a version of {name}, as in {name}=2.34", at)
    if colon and not prefix.startswith("/"):
        raise QueryError("Expected the absolute prefix of the C library after :", at)
    return Libc(name, stated, (prefix.rstrip("/") or "/") if colon else _DEFAULT_PREFIX)


def _is_near_target(word: str) -> bool:
    from archspec.cpu import TARGETS

    from spackscope.model.core.suggestions import near

    return bool(near(word, TARGETS))


def _platform(os: str, target: str, libc: Libc | None) -> str:
    """Derive the platform: macOS for its releases and for Apple's targets, else Linux."""
    from archspec.cpu import TARGETS

    is_apple = bool(target) and not os and TARGETS[target].vendor == "Apple"
    return MACOS if libc is None and (os in MACOS_RELEASES or is_apple) else LINUX

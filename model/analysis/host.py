"""Describe or detect the host that specs are to run on."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.machine import (
    LINUX,
    MACOS,
    MACOS_RELEASES,
    PLATFORM,
    this_os,
    this_target,
)
from spackscope.model.core.suggestions import near
from spackscope.model.core.text import clean
from spackscope.model.core.versions import version_key
from spackscope.model.query.matchers import unknown_target

_LIBCS = ("glibc", "musl")
_KEYS = ("platform", "os", "target", "libc", *_LIBCS)
_EXPECTED = "Expected platform, os, target, libc, glibc or musl, each with = and a value"
_DEFAULT_PREFIX = "/usr"
_MAX_LENGTH = 1_000
_VERSION = re.compile(r"\d+(?:\.\d+)*")


class Libc(NamedTuple):
    """A C library: its name, its version, and its prefix, by which Spack identifies it."""

    name: str
    version: str
    prefix: str = _DEFAULT_PREFIX

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def runs(self, other: Libc) -> bool:
        """Check whether builds for another C library run with this one.

        As `libc_is_compatible` in lib/spack/spack/solver/asp.py of Spack 1.2.
        """
        is_same = self.name == other.name and self.prefix == other.prefix
        return is_same and version_key(self.version) >= version_key(other.version)


class Host(Frozen):
    """The machine on which specs should run.

    `is_this_machine` is False for a described host, about which nothing else can be looked up.
    """

    platform: str = ""
    os: str = ""
    target: str = ""
    libc: Libc | None = None
    is_this_machine: bool = False

    def __str__(self) -> str:
        """Return its parts for people, as `zen3, glibc 2.35, ubuntu22.04`."""
        system = self.os or ("" if self.libc is not None else self.platform)
        parts = (self.target, str(self.libc or ""), system)
        return clean(", ".join(filter(None, parts)))

    @property
    def where(self) -> str:
        """A phrase for where specs run: `here`, or `on` the target or system of another host."""
        return "here" if self.is_this_machine else f"on {self.target or self}"

    @property
    def short(self) -> str:
        """Its target and its C library, as `zen3, glibc 2.35`."""
        system = str(self.libc or self.os or self.platform)
        return clean(", ".join(filter(None, (self.target, system))))

    @property
    def targets(self) -> frozenset[str]:
        """The targets that the host can run: its own target and the ancestors of this target."""
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
    from archspec.cpu import TARGETS

    texts: dict[str, str] = {}
    libc = None
    for word in re.finditer(r"\S+", text):
        key, equals, value = word[0].partition("=")
        at = word.start() + len(key) + 1
        if not equals and near(key, TARGETS):
            key, value, at = "target", key, word.start()
        elif not equals or key not in _KEYS:
            raise QueryError(_EXPECTED, word.start())
        part = "libc" if key in _LIBCS else key
        if part in texts:
            raise QueryError(f"{part} is given twice", word.start())
        texts[part] = value
        if part == "libc":
            stated, colon, prefix = value.partition(":")
            if key == "libc":
                key, _, stated = stated.partition("@")
            if key not in _LIBCS:
                raise QueryError("Expected glibc or musl, and @ with a version, after libc=", at)
            if not _VERSION.fullmatch(stated):
                raise QueryError(f"Expected a version of {key}, as in {key}=2.34", at)
            if colon and not prefix.startswith("/"):
                raise QueryError("Expected the absolute prefix of the C library after :", at)
            libc = Libc(key, stated, (prefix.rstrip("/") or "/") if colon else _DEFAULT_PREFIX)
        elif not re.fullmatch(r"[\w.\-]+", value, re.ASCII):
            raise QueryError(f"Expected a name after {key}=", at)
        elif part == "target" and (sentence := unknown_target(value)):
            raise QueryError(sentence, at)
    if not texts:
        raise QueryError("Expected a host, as in target=zen3 glibc=2.34")
    os, target = texts.get("os", ""), texts.get("target", "")
    # macOS for its releases and for Apple's targets.
    is_apple = bool(target) and not os and TARGETS[target].vendor == "Apple"
    is_macos = libc is None and (os in MACOS_RELEASES or is_apple)
    platform = texts.get("platform") or (MACOS if is_macos else LINUX)
    return Host(platform, os, target, libc)


_TIMEOUT = 2.0
"""Seconds after which a dynamic linker that states no version is given up."""

_LOADER_DIRECTORIES = ("lib", "lib64")
LINKER = re.compile(r" (/.*/ld(?:64|-[^/]*)?\.so[^/\s]*)$", re.MULTILINE)
"""A line of the files that a process has mapped, if it is about its dynamic linker."""


@lru_cache(1)
def detect_host() -> Host:
    """Return this machine.

    detect_host().libc  # Libc(name='glibc', …), or None where there is none
    """
    libc = detect_libc() if PLATFORM == LINUX else None
    return Host(PLATFORM, this_os(), this_target(), libc, is_this_machine=True)


@lru_cache(1)
def detect_libc() -> Libc | None:
    """Return the C library that this Python runs with; None if it cannot be found out.

    As in lib/spack/spack/util/libc.py, the prefix is above the directory of the resolved dynamic
    linker, which is among the files that this process has mapped.
    """
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        linker = LINKER.search(file.read())
        if linker is None or not (prefix := libc_prefix(linker[1])):
            return None
        with suppress(OSError, ValueError, AttributeError):
            name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
            if name == "glibc" and version:
                return Libc(name, version, prefix)
        import subprocess

        with suppress(subprocess.SubprocessError):
            result = subprocess.run(
                [linker[1], "--version"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_TIMEOUT,
            )
            version = musl_version(result.stderr or result.stdout)
            return Libc("musl", version, prefix) if version else None
    return None


def libc_prefix(linker: str) -> str:
    """Return the prefix of the C library of a dynamic linker, or "" in an unusual place.

    libc_prefix("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")  # /usr
    """
    directory = os.path.dirname(linker)
    if os.path.basename(directory) not in _LOADER_DIRECTORIES:
        directory = os.path.dirname(directory)
    is_usual = os.path.basename(directory) in _LOADER_DIRECTORIES
    return os.path.dirname(directory) if is_usual else ""


def musl_version(text: str) -> str:
    """Return the version that musl's dynamic linker states, or "" if the text is not from it."""
    match = re.search(r"^Version (\d+(?:\.\d+)*)", text, re.MULTILINE)
    return match[1] if match and text.startswith("musl libc") else ""

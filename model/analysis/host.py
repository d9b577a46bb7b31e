"""Describe or detect the host that specs are to run on."""

from __future__ import annotations

import re
from functools import lru_cache

from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.machine import (
    LINUX,
    MACOS,
    MACOS_RELEASES,
    PLATFORM,
    USUAL_PREFIX,
    Libc,
    this_libc,
    this_os,
    this_target,
)
from spackscope.model.core.suggestions import near
from spackscope.model.core.text import clean
from spackscope.model.query.matchers import unknown_target

_LIBCS = ("glibc", "musl")
_KEYS = ("platform", "os", "target", "libc", *_LIBCS)
_EXPECTED = "Expected platform, os, target, libc, glibc or musl, each with = and a value"
_MAX_LENGTH = 1_000
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)*")


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
            libc = Libc(key, stated, (prefix.rstrip("/") or "/") if colon else USUAL_PREFIX)
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


@lru_cache(1)
def detect_host() -> Host:
    """Return this machine.

    detect_host().libc  # Libc(name='glibc', …), or None where there is none
    """
    libc = this_libc() if PLATFORM == LINUX else None
    return Host(PLATFORM, this_os(), this_target(), libc, is_this_machine=True)

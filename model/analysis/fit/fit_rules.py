"""Decide whether a single node runs on a host, and whether Spack would reuse it there.

Each has a letter:

- D: it is built from sources under development (`dev_path`)
- W: it is `compiler-wrapper`
- X: it is external, and the host's packages.yaml does not list it
- R: it has gcc or oneapi below it, and not their runtime (Spack up to January 2026)
- F: it was concretized before Spack 1.0 (Spack since 2026)
- P: its platform is another one
- T: its target is not that of the host, nor an ancestor of it
- L: it needs another C library than that of the host, or a newer one (Linux)
- O: its release of macOS is not that of the host, nor an older one (macOS)

They follow `_is_reusable` in lib/spack/spack/solver/reuse.py of Spack, and in solver/asp.py
`candidate_targets`, `libc_is_compatible` and os_compatibility.lp. R and F both count: what is left
is reused by every Spack from 1.0 on.
"""

from __future__ import annotations

from typing import NamedTuple

from spackscope.model.analysis.fit.host import LINUX, MACOS, MACOS_RELEASES, Host, Libc
from spackscope.model.analysis.graphs.graph import COMPILED_IN
from spackscope.model.core.text import clean

LETTERS = "DWXRFPTLO"
"""All letters in their order."""

RUN_LETTERS = frozenset("PTLO")
"""The letters of what does not run on the host; the others are about reuse only."""

RUNTIME_OF = {"gcc": "gcc-runtime", "intel-oneapi-compilers": "intel-oneapi-runtime"}
"""Compilers with the package of their runtime libraries."""

WRAPPER = "compiler-wrapper"


class Reason(NamedTuple):
    """Why a node does not run or is not reused; without a letter why that is not known.

    `label` is short, and the same for nodes that differ in no more than their names. `is_run`
    says whether it is about running.
    """

    letter: str
    label: str
    is_run: bool = False

    @classmethod
    def refused(cls, letter: str, label: str) -> Reason:
        """Return the reason of a rule."""
        return cls(letter, clean(label), letter in RUN_LETTERS)


DEV_PATH = Reason.refused("D", "under development")
COMPILER_WRAPPER = Reason.refused("W", "compiler wrapper")
EXTERNAL = Reason.refused("X", "external")
NO_RUNTIME = Reason.refused("R", "compiler without its runtime")
OLD_FORMAT = Reason.refused("F", "built before Spack 1.0")

NOT_LISTED = Reason("", "dependencies not listed", is_run=True)
NOT_DESCRIBED = Reason("", "dependency not described", is_run=True)
UNKNOWN_FORMAT = Reason("", "format not listed")
_TOO_NEW, _OTHER, _UNKNOWN = "target too new", "other target", "unknown target"
_UNKNOWN_HOST = Reason("", "platform of the host unknown", is_run=True)
_UNKNOWN_TARGET = Reason("", "target of the host unknown", is_run=True)
_UNKNOWN_OS = Reason("", "release of the host unknown", is_run=True)
_UNKNOWN_LIBC = Reason("", "libc of the host unknown", is_run=True)
_NO_ARCHITECTURE = Reason("", "architecture not listed", is_run=True)


class Rules:
    """The rules about architectures and C libraries for one host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._targets = host.targets

    def of_architecture(self, platform: str, os: str, target: str) -> list[Reason]:
        """Return why nodes of an architecture do not run, or why that is not known."""
        host, reasons = self._host, []
        if not (platform and target):
            return [_NO_ARCHITECTURE]
        if not host.platform:
            reasons.append(_UNKNOWN_HOST)
        elif platform != host.platform:
            reasons.append(Reason.refused("P", f"platform {platform}"))
        if not host.target:
            reasons.append(_UNKNOWN_TARGET)
        elif target not in self._targets:
            reasons.append(Reason.refused("T", self._target_label(target)))
        if host.platform == MACOS:
            reasons += self._of_release(os)
        return reasons

    def _target_label(self, target: str) -> str:
        from archspec.cpu import TARGETS

        own, host = TARGETS.get(target), TARGETS.get(self._host.target)
        if own is None or host is None:
            return _UNKNOWN
        if own.family != host.family:
            return f"{own.family.name} target"
        return _TOO_NEW if own > host else _OTHER

    def _target_sentence(self, label: str, target: str) -> str:
        host = self._host.target
        sentences = {
            _TOO_NEW: f"target {target} > {host}",
            _OTHER: f"target {target} needs more than {host} has",
            _UNKNOWN: f"target {target} is not known to run on {host}",
        }
        return sentences.get(label, f"target {target} is for another family than {host}")

    def _of_release(self, os: str) -> list[Reason]:
        own, host = os, self._host.os
        if not host:
            return [_UNKNOWN_OS]
        if own == host:
            return []
        if own not in MACOS_RELEASES or host not in MACOS_RELEASES:
            return [Reason.refused("O", f"os {own}")]
        is_newer = MACOS_RELEASES.index(own) > MACOS_RELEASES.index(host)
        return [Reason.refused("O", f"os {own} > {host}")] if is_newer else []

    def of_libc(self, libc: Libc) -> Reason | None:
        """Return why what needs a C library does not run, or why that is not known."""
        host = self._host
        if host.platform != LINUX:
            return None
        if host.libc is None:
            return _UNKNOWN_LIBC
        if host.libc.runs(libc):
            return None
        if libc.name != host.libc.name:
            return Reason.refused("L", f"{libc.name}, not {host.libc.name}")
        if libc.prefix == host.libc.prefix:
            return Reason.refused("L", f"{libc} > {host.libc.version}")
        origin = f"at {libc.prefix}" if libc.prefix else "of Spack"
        return Reason.refused("L", f"{libc.name} {origin}, not at {host.libc.prefix}")

    def sentence(self, reason: Reason, target: str, external: str, spec_format: int) -> str:
        """Return what a reason says of a node with a target, a prefix and a format."""
        sentences = {
            "D": "it was built from sources under development (dev_path)",
            "W": "Spack never reuses the compiler wrapper",
            "X": f"external at {external}, which is not in the host's packages.yaml",
            "R": "a compiler below it comes without its runtime (Spack up to January 2026)",
            "F": f"built before Spack 1.0, in format {spec_format} (Spack since 2026 needs "
            f"{COMPILED_IN})",
            "T": self._target_sentence(reason.label, target),
            "P": f"{reason.label}, not {self._host.platform}",
        }
        if reason == NOT_LISTED and target in self._targets:
            return clean(f"{reason.label}; target {target} runs on {self._host.target}")
        return clean(sentences.get(reason.letter, reason.label))


def label_below(reason: Reason) -> str:
    """Return the label of a reason where only dependencies have it."""
    labels = {"X": "external dependency", "D": "dependency under development"}
    return labels.get(reason.letter, reason.label)


def of_node(external: str, spec_format: int) -> list[Reason]:
    """Return why a node with a prefix or without is not reused."""
    if external:
        return [EXTERNAL]
    if not spec_format:
        return [UNKNOWN_FORMAT]
    return [OLD_FORMAT] if spec_format < COMPILED_IN else []

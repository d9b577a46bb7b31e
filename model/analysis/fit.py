"""Check which specs run on a host, and which Spack would reuse there."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import cached_property, lru_cache, reduce
from itertools import pairwise
from operator import or_
from typing import NamedTuple

from spackscope.model.analysis.dag import COMPILED_IN, ClosureMasks, Mask
from spackscope.model.analysis.host import LINUX, MACOS, MACOS_RELEASES, Host, Libc
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.edges import Adjacency
from spackscope.model.core.columns import FIELDS
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import Fit, FitReason, NodeFacts, is_run
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean
from spackscope.model.core.variants import split_variant
from spackscope.model.core.versions import version_key
from spackscope.model.index.columns import narrowed

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

_NOT_TOLD = (
    *(NOT_DESCRIBED, _NO_ARCHITECTURE, _UNKNOWN_HOST, _UNKNOWN_TARGET, _UNKNOWN_OS),
    *(UNKNOWN_FORMAT, NOT_LISTED, _UNKNOWN_LIBC),
)
"""Reasons without a letter, in the order in which they are listed after those with one."""

LIBC = "libc"
"""The virtual that a C library provides."""

_DEV_PATH = "dev_path"
_GCC_RUNTIME = "gcc-runtime"
_CHECK_INTERVAL = 4096
_COMPILER_BITS = {name: 1 << n for n, name in enumerate([*RUNTIME_OF, *RUNTIME_OF.values()])}

_OTHER_LABELS = {"P": "other platform", "L": "other C library", "O": "other os"}
"""The labels of further reasons by their letters."""

_MAX_REASONS = 200
"""Different reasons that are told apart; a real index has some twenty."""


def _label_below(reason: Reason) -> str:
    """Return the label of a reason where only dependencies have it."""
    labels = {"X": "external dependency", "D": "dependency under development"}
    return labels.get(reason.letter, reason.label)


def _rank(reason: Reason) -> int:
    if not reason.letter:
        return len(LETTERS) + _NOT_TOLD.index(reason)
    return LETTERS.index(reason.letter)


class Verdict(NamedTuple):
    """The reasons of a spec as masks: its own, and those with all that it links or runs."""

    own: Mask
    whole: Mask


class HostFit:
    """Whether the specs of a catalog run on a host: implements `catalog.by_host.HostAnswers`.

    Each reason that occurs has a bit. What a node states gives its own mask, most of it shared
    by all of its look-alikes; the masks of what it links or runs are united with it. Safe to use
    from several threads. `is_listed` says whether the host's packages.yaml lists the external
    with an id.

        fit = HostFit(catalog, parse_host("target=zen3 glibc=2.34"))
        fit.of(id_).fits
    """

    def __init__(
        self,
        catalog: Catalog,
        host: Host,
        is_listed: Callable[[int], bool] = lambda id_: False,
    ) -> None:
        self.host = host
        self._targets = host.targets
        self._catalog, self._edges = catalog, catalog.edges
        self._is_listed = lru_cache(None)(is_listed)
        self._reasons: list[Reason] = []
        self._bits: dict[Reason, Mask] = {}
        self._bits_lock, self._codes_lock = threading.Lock(), threading.Lock()
        self._libc_masks: dict[int, Mask] = {}
        self._codes: array[int] | None = None
        self._fits: Sequence[Fit] = ()

    @property
    def is_ready(self) -> bool:
        """Whether all specs are checked."""
        return self._codes is not None

    def part(self, column: str) -> str:
        """Return the platform, os or target of the host, or "" if it is not known."""
        return str(getattr(self.host, column))

    def of(self, id_: int) -> Fit:
        """Return whether a spec runs on the host, and whether Spack reuses it."""
        return self._fit(self._verdict(id_), id_)

    def brief(self, id_: int) -> Fit:
        """Return whether a spec runs on the host and is reused, without sentences."""
        if self._codes is not None:
            return self._fits[self._codes[id_]]
        return self._fit(self._verdict(id_))

    def fits(self) -> Sequence[Fit]:
        """Return what the codes of specs mean, without sentences, once `codes` has returned."""
        return self._fits

    def codes(self, should_stop: ShouldStop = never) -> Sequence[int]:
        """Return a code for each spec by its id. Raises Cancelled."""
        with self._codes_lock:
            if self._codes is None:
                codes, verdicts = self._check_all(should_stop)
                self._fits = list(map(self._fit, verdicts))
                self._codes = narrowed(codes)
            return self._codes

    def _check_all(self, should_stop: ShouldStop) -> tuple[array[int], Iterable[Verdict]]:
        """Return a code for each spec, and the verdicts that the codes mean.

        Most specs of pages have nothing below them, and few of these differ.
        """
        verdicts: dict[Verdict, int] = {}
        leaves: dict[Hashable, int] = {}
        codes, first = array("I"), self._edges.down.first
        nodes, facts = self._catalog.column("node"), self._catalog.nodes
        compilers = map(self._compiler_masks.__getitem__, self._catalog.column("package"))
        parts = zip(pairwise(self._catalog.first), self._look_alike_masks, compilers, strict=True)
        for number, ((start, stop), mask, compiler) in enumerate(parts):
            if number % _CHECK_INTERVAL == 0 and should_stop():
                raise Cancelled
            for id_ in range(start, stop):
                node = nodes[id_]
                # Externals are listed in packages.yaml one by one.
                is_leaf = first[id_] == first[id_ + 1] and not facts[node].external
                code = leaves.get((mask, compiler, node)) if is_leaf else None
                if code is None:
                    verdict = self._verdict(id_, should_stop)
                    code = verdicts.setdefault(verdict, len(verdicts))
                    if is_leaf:
                        leaves[mask, compiler, node] = code
                codes.append(code)
        return codes, verdicts

    def _verdict(self, id_: int, should_stop: ShouldStop = never) -> Verdict:
        own = self._own_mask(id_)
        if not (id_ < self._edges.count and self._facts(id_).external):
            compilers = self._compilers.whole(id_, should_stop)
            if any(
                compilers & _COMPILER_BITS[compiler] and not compilers & _COMPILER_BITS[runtime]
                for compiler, runtime in RUNTIME_OF.items()
            ):
                own |= self._mask([NO_RUNTIME])
        return Verdict(own, self._below.whole(id_, should_stop))

    @cached_property
    def _below(self) -> ClosureMasks[int]:
        """The reasons of what specs link or run."""
        kinds = self._edges.kinds
        followed = [is_run(kind.deptypes) and LIBC not in kind.virtuals for kind in kinds]
        edges, skipped = self._edges.down.restricted(followed), self._ids_of([_GCC_RUNTIME])
        return ClosureMasks(edges.of, self._own_mask, skipped)

    @cached_property
    def _compilers(self) -> ClosureMasks[int]:
        """The compilers and their runtimes anywhere below specs."""
        bits = {id_: _COMPILER_BITS[name] for id_, name in self._ids_of(_COMPILER_BITS).items()}
        return ClosureMasks(self._edges.down.of, lambda id_: bits.get(id_, 0))

    @cached_property
    def _compiler_masks(self) -> list[Mask]:
        """The bit of each package by its code, if it is a compiler or its runtime."""
        return [_COMPILER_BITS.get(name, 0) for name in self._catalog.texts("package")]

    def _ids_of(self, packages: Collection[str]) -> dict[int, str]:
        """Return the ids of some packages, each with the name."""
        absent = enumerate(self._edges.absent, self._edges.count)
        ids = {id_: dep.name for id_, dep in absent if dep.name in packages}
        names = self._catalog.texts("package")
        for look_alike, code in enumerate(self._catalog.column("package")):
            if names[code] in packages:
                ids.update(dict.fromkeys(range(*self._catalog.span(look_alike)), names[code]))
        return ids

    def _facts(self, id_: int) -> NodeFacts:
        return self._catalog.nodes[self._catalog.column("node")[id_]]

    def _text(self, column: str, id_: int) -> str:
        code = self._catalog.column(FIELDS[column].storage)[self._catalog.look_alike(id_)]
        return self._catalog.texts(column)[code]

    def _own_mask(self, id_: int) -> Mask:
        """Return the reasons of a node itself."""
        if id_ >= self._edges.count:
            return self._mask([NOT_DESCRIBED])
        mask = self._look_alike_masks[self._catalog.look_alike(id_)]
        if self._facts(id_).external:
            # Spack takes an external to run with any C library of the host.
            return mask if self._is_listed(id_) else mask | self._mask([EXTERNAL])
        mask |= self._format_masks[self._catalog.column("node")[id_]]
        return reduce(or_, map(self._libc_mask, self._libc_edges.of(id_)), mask)

    @cached_property
    def _look_alike_masks(self) -> list[Mask]:
        """The reasons that all look-alikes share, by their numbers."""
        values = (self._catalog.texts(name) for name in ("platform", "os", "target"))
        archs = [self._mask(self._of_architecture(*arch)) for arch in zip(*values, strict=True)]
        wrapper, developed = self._mask([COMPILER_WRAPPER]), self._mask([DEV_PATH])
        names = self._catalog.texts("package")
        packages = [wrapper if name == WRAPPER else 0 for name in names]
        variants = [
            developed
            if isinstance(set_, tuple)
            and any(_DEV_PATH in v and split_variant(v)[0] == _DEV_PATH for v in set_)
            else 0
            for set_ in self._catalog.values("variants")
        ]
        unlisted = self._mask([NOT_LISTED])
        columns = map(self._catalog.column, ("arch", "package", "variant_set"))
        return [
            archs[arch] | packages[package] | variants[variant] | (0 if is_listed else unlisted)
            for arch, package, variant, is_listed in zip(
                *columns, self._edges.are_listed, strict=True
            )
        ]

    @cached_property
    def _format_masks(self) -> list[Mask]:
        """The reasons that follow from the format in which nodes were written, by their codes."""
        old, unknown = self._mask([OLD_FORMAT]), self._mask([UNKNOWN_FORMAT])
        formats = (node.spec_format for node in self._catalog.nodes)
        return [unknown if not each else old if each < COMPILED_IN else 0 for each in formats]

    def _of_architecture(self, platform: str, os: str, target: str) -> list[Reason]:
        """Return why nodes of an architecture do not run, or why that is not known."""
        if not (platform and target):
            return [_NO_ARCHITECTURE]
        host, reasons = self.host, []
        if not host.platform:
            reasons.append(_UNKNOWN_HOST)
        elif platform != host.platform:
            reasons.append(Reason.refused("P", f"platform {platform}"))
        if not host.target:
            reasons.append(_UNKNOWN_TARGET)
        elif target not in self._targets:
            reasons.append(Reason.refused("T", self._target_label(target)))
        if host.platform == MACOS and not host.os:
            reasons.append(_UNKNOWN_OS)
        elif host.platform == MACOS and os != host.os:
            if os not in MACOS_RELEASES or host.os not in MACOS_RELEASES:
                reasons.append(Reason.refused("O", f"os {os}"))
            elif MACOS_RELEASES.index(os) > MACOS_RELEASES.index(host.os):
                reasons.append(Reason.refused("O", f"os {os} > {host.os}"))
        return reasons

    def _target_label(self, target: str) -> str:
        from archspec.cpu import TARGETS

        own, host = TARGETS.get(target), TARGETS.get(self.host.target)
        if own is None or host is None:
            return _UNKNOWN
        if own.family != host.family:
            return f"{own.family.name} target"
        return _TOO_NEW if own > host else _OTHER

    @cached_property
    def _libc_edges(self) -> Adjacency:
        return self._edges.down.restricted([LIBC in kind.virtuals for kind in self._edges.kinds])

    def _libc_mask(self, id_: int) -> Mask:
        """Return the mask of what needs a C library."""
        if id_ >= self._edges.count:
            return self._mask([NOT_DESCRIBED])
        if (mask := self._libc_masks.get(id_)) is None:
            # Not the record: that has the answer whether it runs, which is being computed.
            name, version = (self._text(column, id_) for column in ("package", "version"))
            reason = self._of_libc(Libc(name, version, self._facts(id_).external))
            mask = self._libc_masks[id_] = self._mask([reason] if reason is not None else ())
        return mask

    def _of_libc(self, libc: Libc) -> Reason | None:
        """Return why what needs a C library does not run, or why that is not known."""
        own = self.host.libc
        if self.host.platform != LINUX:
            return None
        if own is None:
            return _UNKNOWN_LIBC
        if own.runs(libc):
            return None
        if libc.name != own.name:
            return Reason.refused("L", f"{libc.name}, not {own.name}")
        if libc.prefix == own.prefix:
            return Reason.refused("L", f"{libc} > {own.version}")
        origin = f"at {libc.prefix}" if libc.prefix else "of Spack"
        return Reason.refused("L", f"{libc.name} {origin}, not at {own.prefix}")

    def _mask(self, reasons: Iterable[Reason]) -> Mask:
        """Return the bits of some reasons; after many, only their letters are told apart."""
        mask = 0
        with self._bits_lock:
            for reason in reasons:
                is_one_more = reason.letter and len(self._reasons) >= _MAX_REASONS
                if is_one_more and reason not in self._bits:
                    reason = reason._replace(label=_OTHER_LABELS.get(reason.letter, "other"))
                if reason not in self._bits:
                    self._bits[reason] = 1 << len(self._reasons)
                    self._reasons.append(reason)
                mask |= self._bits[reason]
        return mask

    def _reasons_of(self, mask: Mask) -> list[tuple[Reason, Mask]]:
        """Return the reasons of a mask with their bits, in the order of their letters.

        Of several with a letter, as on two versions of a C library, it is the one that asks for
        most.
        """
        bits: dict[str, tuple[Reason, Mask]] = {}
        for number in range(mask.bit_length()):
            if mask >> number & 1:
                reason = self._reasons[number]
                other = bits.get(reason.letter or reason.label)
                if other is None or version_key(reason.label) > version_key(other[0].label):
                    bits[reason.letter or reason.label] = reason, 1 << number
        return sorted(bits.values(), key=lambda pair: _rank(pair[0]))

    def _fit(self, verdict: Verdict, id_: int | None = None) -> Fit:
        """Return what a verdict means: own reasons, those of dependencies alone, unknown ones.

        With the id of its spec they have sentences.
        """
        own = self._reasons_of(verdict.own)
        letters = {reason.letter for reason, _ in own} - {""}
        reasons = [
            FitReason(
                reason.letter,
                reason.label,
                "" if id_ is None else self._sentence(id_, reason),
                reason.is_run,
            )
            for reason, _ in own
        ]
        below = self._reasons_of(verdict.whole & ~verdict.own)
        for reason, bit in sorted(below, key=lambda pair: pair[0].letter or "~"):
            if reason.letter not in letters:
                sentence = ""
                if id_ is not None:
                    witness = self._below.witness(id_, bit)
                    name = self._catalog.edges.name(witness)
                    sentence = clean(f"{name}: {self._sentence(witness, reason)}")
                label = _label_below(reason)
                reasons.append(FitReason(reason.letter.lower(), label, sentence, reason.is_run))
        reasons.sort(key=lambda reason: not reason.letter)
        runs = [reason for reason in reasons if reason.is_run]
        return Fit(_holds(runs), _holds(reasons), tuple(reasons))

    def _sentence(self, id_: int, reason: Reason) -> str:
        """Return what a reason says of a node."""
        if id_ >= self._edges.count:
            return reason.label
        arch = self._catalog.column("arch")[self._catalog.look_alike(id_)]
        target, host = self._catalog.texts("target")[arch], self.host.target
        facts = self._facts(id_)
        sentences = {
            DEV_PATH: "it was built from sources under development (dev_path)",
            COMPILER_WRAPPER: "Spack never reuses the compiler wrapper",
            EXTERNAL: f"external at {facts.external}, which is not in the host's packages.yaml",
            NO_RUNTIME: "a compiler below it comes without its runtime (Spack up to January 2026)",
            OLD_FORMAT: f"built before Spack 1.0, in format {facts.spec_format} (Spack since 2026"
            f" needs {COMPILED_IN})",
        }
        if reason.letter == "T":
            of_labels = {
                _TOO_NEW: f"target {target} > {host}",
                _OTHER: f"target {target} needs more than {host} has",
                _UNKNOWN: f"target {target} is not known to run on {host}",
            }
            other_family = f"target {target} is for another family than {host}"
            return clean(of_labels.get(reason.label, other_family))
        if reason.letter == "P":
            return clean(f"{reason.label}, not {self.host.platform}")
        if reason == NOT_LISTED and target in self._targets:
            return clean(f"{reason.label}; target {target} runs on {host}")
        return clean(sentences.get(reason, reason.label))


def _holds(reasons: Sequence[FitReason]) -> bool | None:
    if any(reason.letter for reason in reasons):
        return False
    return None if reasons else True

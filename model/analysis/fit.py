"""Check which specs run on a host, and which Spack would reuse there."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple

from spackscope.model.analysis.dag import COMPILED_IN, ClosureMasks, Mask
from spackscope.model.analysis.host import LINUX, MACOS, MACOS_RELEASES, Host, Libc
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_graph import Adjacency
from spackscope.model.core.columns import FIELDS
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import Fit, FitReason, NodeFacts, is_run
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean
from spackscope.model.core.variants import split_variant
from spackscope.model.core.versions import version_key
from spackscope.model.index.codec import narrowed
from spackscope.model.index.damage import class_reading_index

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


LIBC = "libc"
"""The virtual that a C library provides."""

_DEV_PATH = "dev_path"

_OTHER_LABELS = {"P": "other platform", "L": "other C library", "O": "other os"}
"""The labels of further reasons by their letters."""

_MAX_REASONS = 200
"""Different reasons that are told apart; a real index has some twenty."""


class ReasonBits:
    """The reasons that occurred, each with a bit."""

    def __init__(self) -> None:
        self._reasons: list[Reason] = []
        self._bits: dict[Reason, Mask] = {}
        self._lock = threading.Lock()

    def mask(self, reasons: Iterable[Reason]) -> Mask:
        """Return the bits of some reasons; after many, only their letters are told apart."""
        mask = 0
        with self._lock:
            for reason in reasons:
                if reason not in self._bits and len(self._reasons) >= _MAX_REASONS:
                    reason = reason._replace(label=_OTHER_LABELS.get(reason.letter, "other"))
                if reason not in self._bits:
                    self._bits[reason] = 1 << len(self._reasons)
                    self._reasons.append(reason)
                mask |= self._bits[reason]
        return mask

    def of(self, mask: Mask) -> list[tuple[Reason, Mask]]:
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


def _rank(reason: Reason) -> int:
    return LETTERS.index(reason.letter) if reason.letter else len(LETTERS)


class NodeReasons:
    """The reasons of each node itself, as masks; most are shared by many nodes."""

    def __init__(
        self, catalog: Catalog, bits: ReasonBits, host: Host, is_listed: Callable[[int], bool]
    ) -> None:
        self._catalog, self._bits, self._is_listed = catalog, bits, is_listed
        self._rules = Rules(host)
        self._columns, self._edges = catalog.column_arrays, catalog.edge_arrays
        self._are_listed: dict[int, bool] = {}
        self._libc_masks: dict[int, Mask] = {}
        self._sentences: dict[tuple[Reason, int, int], str] = {}
        self._described = bits.mask([NOT_DESCRIBED])

    def mask(self, id_: int) -> Mask:
        """Return the mask of a node."""
        if id_ >= self._edges.count:
            return self._described
        look_alike = self._columns.look_alike(id_)
        facts = self._facts(id_)
        mask = (
            self._arch_masks[self._columns.column("arch")[look_alike]]
            | self._package_masks[self._columns.column("package")[look_alike]]
            | self._variant_masks[self._columns.column("variant_set")[look_alike]]
        )
        if not facts.external or not self._is_external_listed(id_):
            mask |= self._node_masks[self._columns.column("node")[id_]]
        if not self._edges.are_listed[look_alike]:
            mask |= self._bits.mask([NOT_LISTED])
        elif not facts.external:
            # Spack takes an external to run with any C library of the host.
            for child in self._libc_edges.of(id_):
                mask |= self._libc_mask(child)
        return mask

    def _is_external_listed(self, id_: int) -> bool:
        """Check whether packages.yaml lists an external, of which there are few."""
        if (is_listed := self._are_listed.get(id_)) is None:
            is_listed = self._are_listed[id_] = self._is_listed(id_)
        return is_listed

    def common(self) -> Iterator[tuple[Hashable, ...]]:
        """Yield for each look-alike what decides the masks of its nodes, but for what is below.

        Those of externals are decided one by one.
        """
        column = self._columns.column
        return zip(
            column("arch"),
            map(self._package_masks.__getitem__, column("package")),
            map(self._variant_masks.__getitem__, column("variant_set")),
            self._edges.are_listed,
            strict=True,
        )

    @cached_property
    def _arch_masks(self) -> list[Mask]:
        columns = (self._catalog.dictionaries.texts(name) for name in ("platform", "os", "target"))
        architectures = zip(*columns, strict=True)
        return [self._bits.mask(self._rules.of_architecture(*arch)) for arch in architectures]

    @cached_property
    def _package_masks(self) -> list[Mask]:
        wrapper = self._bits.mask([COMPILER_WRAPPER])
        names = self._catalog.dictionaries.texts("package")
        return [wrapper if name == WRAPPER else 0 for name in names]

    @cached_property
    def _variant_masks(self) -> list[Mask]:
        developed = self._bits.mask([DEV_PATH])
        sets = self._catalog.dictionaries.values("variants")
        return [
            developed
            if isinstance(set_, tuple)
            and any(_DEV_PATH in v and split_variant(v)[0] == _DEV_PATH for v in set_)
            else 0
            for set_ in sets
        ]

    @cached_property
    def _node_masks(self) -> list[Mask]:
        nodes = self._catalog.dictionaries.nodes
        return [self._bits.mask(of_node(node.external, node.spec_format)) for node in nodes]

    @cached_property
    def _libc_edges(self) -> Adjacency:
        return self._edges.down.restricted([LIBC in kind.virtuals for kind in self._edges.kinds])

    def _libc_mask(self, id_: int) -> Mask:
        """Return the mask of what needs a C library."""
        if id_ >= self._edges.count:
            return self._described
        if (mask := self._libc_masks.get(id_)) is None:
            name, version = self._text("package", id_), self._text("version", id_)
            libc = Libc(name, version, self._facts(id_).external)
            reason = self._rules.of_libc(libc)
            mask = self._libc_masks[id_] = self._bits.mask([reason] if reason is not None else ())
        return mask

    def is_external(self, id_: int) -> bool:
        """Check whether Spack did not build a node."""
        return id_ < self._edges.count and self._columns.column("node")[id_] in self.externals

    @cached_property
    def externals(self) -> frozenset[int]:
        """The codes of the nodes that Spack did not build."""
        nodes = enumerate(self._catalog.dictionaries.nodes)
        return frozenset(code for code, node in nodes if node.external)

    def sentence(self, id_: int, reason: Reason) -> str:
        """Return what a reason says of a node."""
        if id_ >= self._edges.count:
            return reason.label
        arch = self._columns.column("arch")[self._columns.look_alike(id_)]
        node = self._columns.column("node")[id_]
        key = reason, arch, node
        if (sentence := self._sentences.get(key)) is None:
            target = self._catalog.dictionaries.texts("target")[arch]
            facts = self._catalog.dictionaries.nodes[node]
            sentence = self._sentences[key] = self._rules.sentence(
                reason, target, facts.external, facts.spec_format
            )
        return sentence

    def _facts(self, id_: int) -> NodeFacts:
        return self._catalog.dictionaries.nodes[self._columns.column("node")[id_]]

    def _text(self, column: str, id_: int) -> str:
        code = self._columns.column(FIELDS[column].storage)[self._columns.look_alike(id_)]
        return self._catalog.dictionaries.texts(column)[code]


_GCC_RUNTIME = "gcc-runtime"
_CHECK_INTERVAL = 4096

_COMPILER_BITS = {name: 1 << n for n, name in enumerate([*RUNTIME_OF, *RUNTIME_OF.values()])}


class Verdict(NamedTuple):
    """The reasons of a spec as masks: its own, and those with all that it links or runs."""

    own: Mask
    whole: Mask


@class_reading_index
class HostFit:
    """Whether the specs of a catalog run on a host: implements `catalog.by_host.HostAnswers`.

    Safe to use from several threads. `is_listed` says whether the host's packages.yaml lists the
    external with an id.

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
        self._catalog = catalog
        self._edges = catalog.edge_arrays
        self._bits = ReasonBits()
        self._nodes = NodeReasons(catalog, self._bits, host, is_listed)
        self._no_runtime = self._bits.mask([NO_RUNTIME])
        self._lock = threading.Lock()
        self._codes: array[int] | None = None
        self._fits: Sequence[Fit] = ()
        self._briefs: dict[Verdict, Fit] = {}

    @cached_property
    def _run(self) -> ClosureMasks[int]:
        """The reasons of what specs link or run."""
        kinds = self._edges.kinds
        followed = [is_run(kind.deptypes) and LIBC not in kind.virtuals for kind in kinds]
        edges, skipped = self._edges.down.restricted(followed), self._ids_of([_GCC_RUNTIME])
        return ClosureMasks(edges.of, self._nodes.mask, skipped)

    @cached_property
    def _compilers(self) -> ClosureMasks[int]:
        """The compilers and their runtimes anywhere below specs."""
        return ClosureMasks(self._edges.down.of, self._compiler_bit)

    @cached_property
    def _compiler_bits(self) -> dict[int, Mask]:
        names = self._ids_of(_COMPILER_BITS)
        return {id_: _COMPILER_BITS[name] for id_, name in names.items()}

    @cached_property
    def _bits_of_packages(self) -> list[Mask]:
        """The bit of each package by its code, if it is a compiler or its runtime."""
        names = self._catalog.dictionaries.texts("package")
        return [_COMPILER_BITS.get(name, 0) for name in names]

    def _compiler_bit(self, id_: int) -> Mask:
        return self._compiler_bits.get(id_, 0)

    def _ids_of(self, packages: Collection[str]) -> dict[int, str]:
        """Return the ids of some packages, each with the name."""
        absent = enumerate(self._edges.absent, self._edges.count)
        ids = {id_: dep.name for id_, dep in absent if dep.name in packages}
        names = self._catalog.dictionaries.texts("package")
        columns = self._catalog.column_arrays
        for look_alike, code in enumerate(columns.column("package")):
            if names[code] in packages:
                ids.update(dict.fromkeys(range(*columns.specs(look_alike)), names[code]))
        return ids

    def _lacks_runtime(self, id_: int, should_stop: ShouldStop) -> bool:
        mask = self._compilers.whole(id_, should_stop)
        return any(
            mask & _COMPILER_BITS[compiler] and not mask & _COMPILER_BITS[runtime]
            for compiler, runtime in RUNTIME_OF.items()
        )

    def _verdict(self, id_: int, should_stop: ShouldStop = never) -> Verdict:
        own = self._nodes.mask(id_)
        if not self._nodes.is_external(id_) and self._lacks_runtime(id_, should_stop):
            own |= self._no_runtime
        return Verdict(own, self._run.whole(id_, should_stop))

    @property
    def is_ready(self) -> bool:
        """Whether all specs are checked."""
        return self._codes is not None

    def of(self, id_: int) -> Fit:
        """Return whether a spec runs on the host, and whether Spack reuses it."""
        verdict = self._verdict(id_)
        return _fit(self._reasons(verdict, partial(self._sentence, id_)))

    def brief(self, id_: int) -> Fit:
        """Return whether a spec runs on the host and is reused, without sentences."""
        if self._codes is not None:
            return self._fits[self._codes[id_]]
        verdict = self._verdict(id_)
        if (fit := self._briefs.get(verdict)) is None:
            fit = self._briefs[verdict] = self._without_sentences(verdict)
        return fit

    def _without_sentences(self, verdict: Verdict) -> Fit:
        return _fit(self._reasons(verdict, lambda is_own, reason, bit: ""))

    def _sentence(self, id_: int, is_own: bool, reason: Reason, bit: Mask) -> str:
        if is_own:
            return self._nodes.sentence(id_, reason)
        witness = self._run.witness(id_, bit)
        name = self._catalog.dependencies.name(witness)
        return clean(f"{name}: {self._nodes.sentence(witness, reason)}")

    def _reasons(
        self, verdict: Verdict, sentence: Callable[[bool, Reason, Mask], str]
    ) -> list[FitReason]:
        """Return the reasons of a verdict: its own, those of dependencies alone, unknown ones."""
        own = self._bits.of(verdict.own)
        letters = {reason.letter for reason, _ in own} - {""}
        below = [
            (reason, bit)
            for reason, bit in self._bits.of(verdict.whole & ~verdict.own)
            if reason.letter not in letters
        ]
        below.sort(key=lambda pair: pair[0].letter or "~")
        reasons = [
            FitReason(r.letter, r.label, sentence(True, r, bit), r.is_run) for r, bit in own
        ] + [
            FitReason(r.letter.lower(), label_below(r), sentence(False, r, bit), r.is_run)
            for r, bit in below
        ]
        return sorted(reasons, key=lambda reason: not reason.letter)

    def codes(self, should_stop: ShouldStop = never) -> Sequence[int]:
        """Return a code for each spec by its id. Raises Cancelled."""
        with self._lock:
            if self._codes is None:
                codes, verdicts = self._check_all(should_stop)
                self._fits = list(map(self._without_sentences, verdicts))
                self._codes = narrowed(codes)
            return self._codes

    def _check_all(self, should_stop: ShouldStop) -> tuple[array[int], Iterable[Verdict]]:
        """Return a code for each spec, and the verdicts that the codes mean.

        Most specs of pages have nothing below them, and few of these differ.
        """
        verdicts: dict[Verdict, int] = {}
        leaves: dict[Hashable, int] = {}
        codes, first = array("I"), self._edges.down.first
        columns = self._catalog.column_arrays
        nodes, externals = columns.column("node"), self._nodes.externals
        compilers = map(self._bits_of_packages.__getitem__, columns.column("package"))
        parts = zip(pairwise(columns.first), self._nodes.common(), compilers, strict=True)
        for number, ((start, stop), common, compiler) in enumerate(parts):
            if number % _CHECK_INTERVAL == 0 and should_stop():
                raise Cancelled
            for id_ in range(start, stop):
                is_leaf = first[id_] == first[id_ + 1] and nodes[id_] not in externals
                leaf = common, compiler, nodes[id_]
                code = leaves.get(leaf) if is_leaf else None
                if code is None:
                    verdict = self._verdict(id_, should_stop)
                    code = verdicts.setdefault(verdict, len(verdicts))
                    if is_leaf:
                        leaves[leaf] = code
                codes.append(code)
        return codes, verdicts

    def fits(self) -> Sequence[Fit]:
        """Return what these codes mean, without sentences, once `codes` has returned."""
        return self._fits

    def part(self, column: str) -> str:
        """Return the platform, os or target of the host, or "" if it is not known."""
        return str(getattr(self.host, column))


def _fit(reasons: Sequence[FitReason]) -> Fit:
    return Fit(
        _holds([reason for reason in reasons if reason.is_run]), _holds(reasons), tuple(reasons)
    )


def _holds(reasons: Sequence[FitReason]) -> bool | None:
    if any(reason.letter for reason in reasons):
        return False
    return None if reasons else True

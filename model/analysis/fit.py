"""Check which specs run on a host, and which Spack would reuse there."""

from __future__ import annotations

import threading
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial, reduce
from itertools import chain, islice, pairwise, repeat
from operator import or_
from types import MappingProxyType
from typing import NamedTuple

from spackscope.model.analysis.dag import ClosureMasks, Mask
from spackscope.model.analysis.host import Host
from spackscope.model.analysis.reuse import Findings
from spackscope.model.core import rules
from spackscope.model.core.columns import Value
from spackscope.model.core.machine import LINUX, MACOS, MACOS_RELEASES, Libc
from spackscope.model.core.records import (
    COMPILED_IN,
    FIRST_SPACK,
    GCC_RUNTIME,
    RUNTIME_OF,
    Fit,
    NodeFacts,
    Problem,
    compiler_name,
    names_compiler,
    split_variant,
)
from spackscope.model.core.rules import RULES, FitReason, Rule
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.core.text import clean
from spackscope.model.core.versions import VersionKey, version_key
from spackscope.model.index.by_host import RANKS_OF_FITS
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import Adjacency
from spackscope.model.index.index_file import narrowed
from spackscope.model.index.run_sets import (
    LIBC,
    RunFacts,
    StatedLibc,
    follows_run,
    read_run_sets,
    unite_closures,
)

_COMPILER_BITS = {name: 1 << n for n, name in enumerate([*RUNTIME_OF, *RUNTIME_OF.values()])}
_RUNTIME_BITS = sum(map(_COMPILER_BITS.__getitem__, RUNTIME_OF.values()))


def _compiler_bit(name: str) -> Mask:
    """Return the bit of a compiler or of a runtime; its version may follow after `@`."""
    return _COMPILER_BITS.get(compiler_name(name.partition("@")[0]), 0)


_TOO_NEW, _OTHER, _UNKNOWN = "target too new", rules.TARGET.label, "unknown target"

_MAX_REASONS = 200
"""Different reasons that are told apart; a real index has some twenty."""

_CHECK_INTERVAL = 4096


def _of_package(name: str) -> list[FitReason]:
    return [rules.WRAPPER.reason] if name == "compiler-wrapper" else []


def _of_variants(variants: Value) -> list[FitReason]:
    texts = variants if isinstance(variants, tuple) else ()
    is_developed = any(split_variant(text)[0] == "dev_path" for text in texts)
    return [rules.DEVELOPED.reason] if is_developed else []


def _demand(reason: FitReason) -> tuple[bool, VersionKey]:
    return reason.is_run, version_key(reason.label)


class ReasonMasks(NamedTuple):
    """The reasons of a spec as masks: its own, and with its link/run closure."""

    own: Mask
    whole: Mask


class HostFit:
    """Whether the specs of a catalog run on a host: implements `by_host.HostAnswers`.

    Each reason that occurs has a bit. A node has a mask of its own, most of it shared by all of
    its look-alikes, and this is united with the masks of all specs that it links or runs. Safe to
    use from several threads. `is_listed` checks whether the host's packages.yaml lists the
    external with an id, and `find_kept_out` finds the specs that the configuration keeps from
    being reused. On macOS `os_compatible` maps releases to others whose specs are reused on them.
    Where the version of the user's Spack is not known, the newest one is assumed.

        fit = HostFit(catalog, parse_host("target=zen3 glibc=2.34"))
        fit.of(id_).fits
    """

    def __init__(
        self,
        catalog: Catalog,
        host: Host,
        is_listed: Callable[[int], bool] = lambda id_: False,
        find_kept_out: Callable[[], Findings] = Findings,
        spack_version: str = "",
        os_compatible: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        self.host, self._catalog, self._edges = host, catalog, catalog.edges
        self.where = host.where
        self._targets = host.targets
        self._is_listed, self._find_kept_out = lru_cache(None)(is_listed), find_kept_out
        self._os_compatible = os_compatible
        self._newer_formats, self._takes_old = dict[int, FitReason](), False
        if spack_version:
            version, cannot = version_key(spack_version), clean(f"Spack {spack_version} cannot")
            for number, first in FIRST_SPACK.items():
                if version < version_key(first):
                    needed = f"Spack {first} or later"
                    label = f"built by {needed}"
                    self._newer_formats[number] = rules.NEWER_FORMAT.with_label(
                        label, sentence=f"{label}, which {cannot} read", change=f"use {needed}"
                    )
            self._takes_old = version < version_key("1.2")
        self._is_before_1 = COMPILED_IN in self._newer_formats
        self._libc_mask = lru_cache(None)(self._check_libc)
        self._brief: Callable[[ReasonMasks], Fit] = lru_cache(None)(self._fit)
        # Neighbours mostly share a node, whose decoding takes a fifth of the time.
        self._node: Callable[[int], NodeFacts] = lru_cache(4096)(catalog.nodes.__getitem__)
        self._bits: dict[FitReason, Mask] = {}
        self._bits_lock, self._codes_lock = threading.Lock(), threading.Lock()
        self._coded: tuple[Sequence[int], Sequence[Fit]] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether all specs are checked."""
        return self._coded is not None

    def part(self, column: str) -> str:
        """Return the platform, os or target of the host, or "" if it is not known."""
        return str(getattr(self.host, column))

    @property
    def not_applied(self) -> Mapping[str, Sequence[Problem]]:
        """Why rules of the configuration do not apply, by the package or virtual of each."""
        return self._find_kept_out().not_applied

    def of(self, id_: int) -> Fit:
        """Return whether a spec runs on the host, and whether Spack reuses it."""
        return self._fit(self._verdict(id_), id_)

    def brief(self, id_: int) -> Fit:
        """Return whether a spec runs on the host and is reused, without sentences."""
        if self._coded is not None:
            codes, fits = self._coded
            return fits[codes[id_]]
        return self._brief(self._verdict(id_))

    @cached_property
    def ranks(self) -> bytes:
        """Whether each spec runs, by its id, as its rank in `RANKS_OF_FITS`. Raises Cancelled.

        The index has sets of what decides that, so that no spec is looked at.
        """
        codes, sets = self._catalog.cached(read_run_sets)
        if not sets:
            codes, fits = self.coded()
            of_code = [RANKS_OF_FITS[fit.fits] for fit in fits]
        else:
            rank_of = lru_cache(None)(self._rank)
            of_code = [max(map(rank_of, facts)) for facts in sets]
        return bytes(map(of_code.__getitem__, islice(codes, self._edges.count)))

    def _rank(self, facts: RunFacts | None) -> int:
        if facts is None:
            return RANKS_OF_FITS[None]
        reasons = self._of_architecture(facts.platform, facts.os, facts.target, facts.is_compiled)
        if not facts.lists:
            reasons.append(rules.NOT_LISTED.reason)
        if facts.libcs is not None:
            reasons = [reason for reason in reasons if reason.rule is not rules.UNLISTED_LIBC]
            reasons += chain.from_iterable(map(self._of_libc, facts.libcs))
        are_unknown = [reason.rule.is_unknown for reason in reasons if reason.is_run]
        return RANKS_OF_FITS[None if are_unknown and all(are_unknown) else not are_unknown]

    def coded(self) -> tuple[Sequence[int], Sequence[Fit]]:
        """Return a code for each spec by its id, and the fit of each code, without sentences.

        Most specs of pages have no dependencies, and few of these differ. Raises Cancelled.
        """
        with self._codes_lock:
            if self._coded is not None:
                return self._coded
            own, are_external = self._all_own()
            whole = self._united(own[:], follows_run, self._below, self._ids_of([GCC_RUNTIME]))
            lacks_runtime = lru_cache(None)(self._lacks_runtime)
            missing = self._mask(rules.NO_RUNTIME.reason)
            for id_, compilers in enumerate(self._all_compilers()):
                if compilers and lacks_runtime(compilers) and not are_external[id_]:
                    own[id_] |= missing
            codes_of: dict[tuple[Mask, Mask], int] = {}
            verdicts = zip(islice(own, self._edges.count), whole, strict=False)
            # A list of them would take more memory than all that the browser keeps.
            codes = array("I", (codes_of.setdefault(v, len(codes_of)) for v in verdicts))
            self._coded = narrowed(codes), [self._brief(ReasonMasks(*v)) for v in codes_of]
            return self._coded

    def _all_own(self) -> tuple[list[Mask], bytearray]:
        """Return the own reasons of each spec and absent dependency; and 1 for external specs.

        Few specs differ in what decides on their reasons.
        """
        catalog, edges, libcs = self._catalog, self._edges, self._libc_edges
        nodes, configured = catalog.column("node"), self._configured
        facts = [(bool(node.external), node.spec_format) for node in catalog.nodes]
        shared = (map(mask_of, codes) for mask_of, codes in self._shared_masks)
        looks = map(reduce, repeat(or_), zip(*shared, strict=True))
        indexed = map(self._are_indexed.__getitem__, catalog.column("presence"))
        known: dict[Hashable, Mask] = {}
        own, are_external = list[Mask](), bytearray()
        groups = zip(pairwise(catalog.first), looks, indexed, strict=True)
        for number, ((start, stop), mask, is_indexed) in enumerate(groups):
            if number % _CHECK_INTERVAL == 0:
                check_cancelled()
            for id_ in range(start, stop):
                is_external, spec_format = facts[nodes[id_]]
                its_libcs = b""
                if libcs.nodes:
                    its_libcs = libcs.nodes[libcs.first[id_] : libcs.first[id_ + 1]].tobytes()
                key: Hashable = mask, spec_format, is_indexed, configured.get(id_, 0), its_libcs
                if is_external:
                    # Externals are listed in packages.yaml one by one.
                    key = id_
                if (its := known.get(key)) is None:
                    its = known[key] = self._own_reasons(id_)
                own.append(its)
                are_external.append(is_external)
        own += [self._mask(rules.NOT_DESCRIBED.reason)] * len(edges.absent)
        return own, are_external

    def _all_compilers(self) -> Iterable[Mask]:
        """Return the result of `_compilers_of` for each spec."""
        count = self._edges.count
        if self._is_before_1:
            return map(self._compilers_of, range(count))
        masks = [0] * (count + len(self._edges.absent))
        for id_, bit in self._compiler_bits.items():
            masks[id_] = bit
        united = self._united(masks, lambda *_: True, self._compilers) if any(masks) else masks
        return islice(united, count)

    def _united(
        self,
        masks: list[Mask],
        is_followed: Callable[[Collection[str], Collection[str]], bool],
        alone: ClosureMasks[int],
        left_out: Collection[int] = (),
    ) -> list[Mask]:
        """Unite the masks of all specs as `alone` does for one, in place."""
        up = self._edges.up.restricted([is_followed(*kind) for kind in self._edges.kinds])
        for id_ in unite_closures(masks, up, left_out) if up.nodes else ():
            masks[id_] = alone.whole(id_)
        return masks

    def _verdict(self, id_: int) -> ReasonMasks:
        own = self._own_reasons(id_)
        is_external = id_ < self._edges.count and bool(self._facts(id_).external)
        if not is_external and self._lacks_runtime(self._compilers_of(id_)):
            own |= self._mask(rules.NO_RUNTIME.reason)
        return ReasonMasks(own, self._below.whole(id_))

    def _lacks_runtime(self, compilers: Mask) -> bool:
        return any(
            compilers & _COMPILER_BITS[compiler] and not compilers & _COMPILER_BITS[runtime]
            for compiler, runtime in RUNTIME_OF.items()
        )

    @cached_property
    def _are_indexed(self) -> Sequence[bool]:
        """Whether databases list specs, by the codes of their presence."""
        return [bool(indexes) for indexes in self._catalog.values("indexes")]

    @cached_property
    def _configured(self) -> Mapping[int, Mask]:
        """The reasons from the configuration, by the ids of specs that have some."""
        masks = defaultdict[int, Mask](int)
        for kept in self._find_kept_out().kept_out:
            bit = self._mask(kept.reason)
            for span in kept.spans:
                for id_ in range(*span):
                    masks[id_] |= bit
        return masks

    @cached_property
    def _below(self) -> ClosureMasks[int]:
        """Why run-time dependencies do not fit; a gcc-runtime is left out."""
        runtimes = self._ids_of([GCC_RUNTIME])
        edges = self._edges.down.restricted([follows_run(*kind) for kind in self._edges.kinds])
        return ClosureMasks(
            lambda id_: [child for child in edges.of(id_) if child not in runtimes],
            self._own_reasons,
        )

    def _compilers_of(self, id_: int) -> Mask:
        """Return the compilers of a spec, and their runtimes where Spack looks for these.

        Before 1.0 Spack looked for the runtime of a spec's compiler among its direct dependencies:
        `_has_runtime_dependencies` in its lib/spack/spack/solver/asp.py.
        """
        if not self._is_before_1:
            return self._compilers.whole(id_)
        if not self._edges.lists(id_):
            return 0
        bits = self._compiler_bits
        below = (bits.get(child, 0) & _RUNTIME_BITS for child in self._edges.down.of(id_))
        return reduce(or_, below, _compiler_bit(self._catalog.text("compiler", id_)))

    @cached_property
    def _compiler_bits(self) -> Mapping[int, Mask]:
        """The bits of compilers and their runtimes, by the ids of their specs."""
        return {id_: _COMPILER_BITS[name] for id_, name in self._ids_of(_COMPILER_BITS).items()}

    @cached_property
    def _compilers(self) -> ClosureMasks[int]:
        """The compilers and their runtimes anywhere below specs."""
        return ClosureMasks(self._edges.down.of, lambda id_: self._compiler_bits.get(id_, 0))

    def _ids_of(self, packages: Collection[str]) -> dict[int, str]:
        """Return the ids of the specs of some packages, each with the package."""
        absent = enumerate(self._edges.absent, self._edges.count)
        ids = {id_: dep.name for id_, dep in absent if dep.name in packages}
        catalog, column = self._catalog, self._catalog.column("package")
        for name in packages:
            if (package := catalog.package_named(name)) is not None:
                ids.update(dict.fromkeys(range(*package.span), name))
        names = catalog.texts("package")
        # Specs that are not listed come after all others.
        for look_alike in range(catalog.look_alike(catalog.total), len(catalog.first) - 1):
            if (name := names[column[look_alike]]) in packages:
                ids.update(dict.fromkeys(range(*catalog.span(look_alike)), name))
        return ids

    def _facts(self, id_: int) -> NodeFacts:
        return self._node(self._catalog.column("node")[id_])

    def _own_reasons(self, id_: int) -> Mask:
        if id_ >= self._edges.count:
            return self._mask(rules.NOT_DESCRIBED.reason)
        look_alike, mask = self._catalog.look_alike(id_), self._configured.get(id_, 0)
        shared = (mask_of(codes[look_alike]) for mask_of, codes in self._shared_masks)
        mask, facts = reduce(or_, shared, mask), self._facts(id_)
        if facts.external or self._libc_edges.of(id_) or not self._edges.lists(id_):
            mask &= ~self._mask(rules.UNLISTED_LIBC.reason)
        if facts.external:
            # Spack takes an external to run with any C library of the host.
            return mask if self._is_listed(id_) else mask | self._mask(rules.EXTERNAL.reason)
        if not facts.spec_format:
            mask |= self._mask(rules.UNKNOWN_FORMAT.reason)
        elif (newer := self._newer_formats.get(facts.spec_format)) is not None:
            # In a database the version of the database counts: see `reuse.find_kept_out`.
            if not self._are_indexed[self._catalog.column("presence")[look_alike]]:
                mask |= self._mask(newer)
        elif not self._takes_old and facts.spec_format < COMPILED_IN:
            mask |= self._mask(rules.OLD_FORMAT.reason)
        return reduce(or_, map(self._libc_mask, self._libc_edges.of(id_)), mask)

    @cached_property
    def _shared_masks(self) -> list[tuple[Callable[[int], Mask], Sequence[int]]]:
        """The reasons of look-alikes by the codes of columns, each with the column."""
        catalog, columns = self._catalog, ("platform", "os", "target", "compiler")
        packages, variant_sets = catalog.texts("package"), catalog.values("variants")
        archs = [
            (platform, os, target, names_compiler(compiler))
            for platform, os, target, compiler in zip(*map(catalog.texts, columns), strict=True)
        ]
        of_listing = [rules.NOT_LISTED.reason], list[FitReason]()
        reasons: list[tuple[Callable[[int], list[FitReason]], Sequence[int]]] = [
            (lambda code: self._of_architecture(*archs[code]), catalog.column("arch")),
            (lambda code: _of_package(packages[code]), catalog.column("package")),
            (lambda code: _of_variants(variant_sets[code]), catalog.column("variant_set")),
            (of_listing.__getitem__, self._edges.are_listed),
        ]
        return [(lru_cache(None)(partial(self._mask_of, its)), codes) for its, codes in reasons]

    def _mask_of(self, reasons: Callable[[int], list[FitReason]], code: int) -> Mask:
        return self._mask(*reasons(code))

    def _of_architecture(
        self, platform: str, os: str, target: str, is_compiled: bool
    ) -> list[FitReason]:
        """Return why nodes of an architecture do not run, or why it is unknown whether they do.

        Specs that were compiled on another system are assumed to list no C library: `is_compiled`
        if a compiler is stated.
        """
        from archspec.cpu import TARGETS

        if not (platform and target):
            return [rules.NO_ARCHITECTURE.reason]
        host, reasons = self.host, []
        if not host.platform:
            reasons.append(rules.UNKNOWN_PLATFORM.reason)
        elif platform != host.platform:
            reasons.append(rules.PLATFORM.with_label(f"platform {platform}"))
        if not host.target:
            reasons.append(rules.UNKNOWN_TARGET.reason)
        elif target not in self._targets:
            own, here, label = TARGETS.get(target), TARGETS.get(host.target), _UNKNOWN
            if own is not None and here is not None:
                label = _TOO_NEW if own > here else _OTHER
                if own.family != here.family:
                    label = f"{own.family.name} target"
            reasons.append(rules.TARGET.with_label(label))
        if platform == LINUX and is_compiled and os != host.os:
            reasons.append(rules.UNLISTED_LIBC.reason)
        if host.platform == MACOS and not host.os:
            reasons.append(rules.UNKNOWN_OS.reason)
        elif host.platform == MACOS and os != host.os:
            names = MACOS_RELEASES
            is_newer = os in names and host.os in names and names.index(os) > names.index(host.os)
            runs = os in names and host.os in names and not is_newer
            reason = rules.OS.with_label(f"os {os} > {host.os}" if is_newer else f"os {os}")
            is_reused = os in self._reused_oses
            if not (runs and is_reused):
                reasons.append(reason._replace(is_run=not runs, is_reuse=not is_reused))
        return reasons

    @cached_property
    def _reused_oses(self) -> Sequence[str]:
        """The releases of macOS whose specs Spack reuses on the host.

        As `os_compatible` in lib/spack/spack/solver/os_compatibility.lp, which has no release
        before catalina.
        """
        names = MACOS_RELEASES[MACOS_RELEASES.index("catalina") :]
        older, reused = dict(zip(names[1:], names, strict=False)), [self.host.os]
        for os in reused:
            others = (older.get(os, os), *self._os_compatible.get(os, ()))
            reused += [each for each in others if each not in reused]
        return reused

    @cached_property
    def _libc_edges(self) -> Adjacency:
        return self._edges.down.restricted([LIBC in kind.virtuals for kind in self._edges.kinds])

    def _check_libc(self, id_: int) -> Mask:
        """Return the mask of specs that need a C library."""
        if id_ >= self._edges.count:
            return self._mask(*self._of_libc(None))
        # Not from the record, which has the answer that is being computed.
        name, version = (self._catalog.text(column, id_) for column in ("package", "version"))
        return self._mask(*self._of_libc(StatedLibc(name, version, self._facts(id_).external)))

    def _of_libc(self, stated: StatedLibc | None) -> list[FitReason]:
        """Return why specs do not run that need a C library, which may not be described."""
        own = self.host.libc
        if stated is None:
            return [rules.NOT_DESCRIBED.reason]
        if self.host.platform != LINUX:
            return []
        if own is None:
            return [rules.UNKNOWN_LIBC.reason]
        libc = Libc(*stated)
        if own.runs(libc):
            return []
        origin = f"at {libc.prefix}" if libc.prefix else "of Spack"
        label = f"{libc.name} {origin}, not at {own.prefix}"
        if libc.name != own.name:
            label = f"{libc.name}, not {own.name}"
        elif libc.prefix == own.prefix:
            label = f"{libc} > {own.version}"
        return [rules.LIBC.with_label(label)]

    def _mask(self, *reasons: FitReason) -> Mask:
        """Return the bits of some reasons; after many, reasons of one rule share a bit."""
        mask = 0
        with self._bits_lock:
            for reason in reasons:
                if len(self._bits) >= _MAX_REASONS and reason not in self._bits:
                    reason = reason._replace(label=reason.rule.label)
                mask |= self._bits.setdefault(reason, 1 << len(self._bits))
        return mask

    def _reasons_of(self, mask: Mask) -> list[tuple[FitReason, Mask]]:
        """Return the reasons of a mask with their bits, in the order of their rules.

        Of several reasons of one rule, as on two versions of a C library, the one that asks for
        most is returned: rather one why a spec does not run.
        """
        most: dict[Rule, tuple[FitReason, Mask]] = {}
        for reason, bit in list(self._bits.items()):
            if mask & bit:
                other, _ = most.setdefault(reason.rule, (reason, bit))
                if _demand(reason) > _demand(other):
                    most[reason.rule] = reason, bit
        return sorted(most.values(), key=lambda pair: RULES.index(pair[0].rule))

    def _fit(self, verdict: ReasonMasks, id_: int | None = None) -> Fit:
        """Return the fit of a verdict: own reasons, then dependencies' reasons, unknown ones last.

        With the id of its spec all reasons have sentences.
        """
        own = self._reasons_of(verdict.own)
        demands = {reason.rule: reason.is_run for reason, _ in own}
        reasons = [
            reason if id_ is None else reason._replace(sentence=self._sentence(id_, reason))
            for reason, _ in own
        ]
        for reason, bit in self._reasons_of(verdict.whole & ~verdict.own):
            if reason.rule in demands and demands[reason.rule] >= reason.is_run:
                continue
            sentence = reason.sentence
            if id_ is not None:
                witness = self._below.witness(id_, bit)
                sentence = f"{self._edges.name(witness)}: {self._sentence(witness, reason)}"
            label, sentence = reason.rule.dependency_label or reason.label, clean(sentence)
            reasons.append(reason._replace(label=label, sentence=sentence, of_dependency=True))
        reasons.sort(key=lambda reason: reason.rule.is_unknown)
        runs = [reason.rule for reason in reasons if reason.is_run]
        reused = [reason.rule for reason in reasons if reason.is_reuse]
        fits, reusable = (
            None if each and all(rule.is_unknown for rule in each) else not each
            for each in (runs, reused)
        )
        return Fit(fits, reusable, tuple(reasons))

    def _sentence(self, id_: int, reason: FitReason) -> str:
        if id_ >= self._edges.count:
            return reason.label
        if reason.sentence:
            return reason.sentence
        facts, target, host = self._facts(id_), self._catalog.text("target", id_), self.host.target
        text = reason.rule.sentence.format(
            label=reason.label,
            place=reason.place,
            external=facts.external,
            spec_format=facts.spec_format,
            host=self.host.platform,
        ).strip(", ")
        if reason.rule is rules.TARGET:
            other_family = f"target {target} is for another family than {host}"
            text = {
                _TOO_NEW: f"target {target} > {host}",
                _OTHER: f"target {target} needs more than {host} has",
                _UNKNOWN: f"target {target} is not known to run on {host}",
            }.get(reason.label, other_family)
        elif reason.rule is rules.NOT_LISTED and target in self._targets:
            text = f"{reason.label}; target {target} runs on {host}"
        return clean(text)

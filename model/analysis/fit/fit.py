"""Check for the specs of a catalog whether they run on a host, and whether Spack reuses them.

A spec runs if it and all that it links or runs do. As in Spack's solver, dependencies on
gcc-runtime and on the C library are not followed: the first is chosen anew, and the second is that
of the host. The rules are in `fit_rules`.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple

from spackscope.model.analysis.fit import fit_rules as rules
from spackscope.model.analysis.fit.fit_reasons import LIBC, NodeReasons, ReasonBits
from spackscope.model.analysis.fit.fit_rules import RUNTIME_OF, Reason
from spackscope.model.analysis.fit.host import Host
from spackscope.model.analysis.graphs.closure_masks import ClosureMasks, Mask
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import Fit, FitReason, is_run
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean
from spackscope.model.index.codec import narrowed
from spackscope.model.index.damage import class_reading_index

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
        self._no_runtime = self._bits.mask([rules.NO_RUNTIME])
        self._lock = threading.Lock()
        self._codes: array[int] | None = None
        self._fits: Sequence[Fit] = ()
        self._briefs: dict[Verdict, Fit] = {}

    @property
    def _count(self) -> int:
        """The number of records and absent dependencies."""
        return self._edges.count + len(self._edges.absent)

    @cached_property
    def _run(self) -> ClosureMasks:
        """The reasons of what specs link or run."""
        kinds = self._edges.kinds
        followed = [is_run(kind.deptypes) and LIBC not in kind.virtuals for kind in kinds]
        edges, skipped = self._edges.down.restricted(followed), self._ids_of([_GCC_RUNTIME])
        return ClosureMasks(edges, self._count, self._nodes.mask, skipped)

    @cached_property
    def _compilers(self) -> ClosureMasks:
        """The compilers and their runtimes anywhere below specs."""
        return ClosureMasks(self._edges.down, self._count, self._compiler_bit)

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
            FitReason(r.letter.lower(), rules.label_below(r), sentence(False, r, bit), r.is_run)
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

"""Compute why single nodes of a catalog do not run on a host, as bit masks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cached_property

from spackscope.model.analysis.fit import fit_rules as rules
from spackscope.model.analysis.fit.fit_rules import LETTERS, Reason, Rules
from spackscope.model.analysis.fit.host import Host, Libc
from spackscope.model.analysis.graphs.closure_masks import Mask
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.edge_arrays import Adjacency
from spackscope.model.core.columns import FIELDS
from spackscope.model.core.records import NodeFacts
from spackscope.model.core.variants import split_variant
from spackscope.model.core.versions import version_key

LIBC = "libc"
"""The virtual that a C library provides."""

_DEV_PATH = "dev_path"

_OTHER = {"P": "other platform", "L": "other C library", "O": "other os"}
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
                    reason = reason._replace(label=_OTHER.get(reason.letter, "other"))
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
        self._described = bits.mask([rules.NOT_DESCRIBED])

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
            mask |= self._bits.mask([rules.NOT_LISTED])
        elif not facts.external:
            # Spack takes an external to run with any C library of the host.
            edges = self._libc_edges
            for child in edges.nodes[edges.first[id_] : edges.first[id_ + 1]]:
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
        wrapper = self._bits.mask([rules.COMPILER_WRAPPER])
        names = self._catalog.dictionaries.texts("package")
        return [wrapper if name == rules.WRAPPER else 0 for name in names]

    @cached_property
    def _variant_masks(self) -> list[Mask]:
        developed = self._bits.mask([rules.DEV_PATH])
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
        return [self._bits.mask(rules.of_node(node.external, node.spec_format)) for node in nodes]

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

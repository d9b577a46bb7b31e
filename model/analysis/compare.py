"""Compare specs with all below them: what differs by itself, where, and what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from spackscope.model.analysis.dag import (
    LISTED_BY_PAGES,
    ClosureMasks,
    Dag,
    Mask,
    Value,
    post_order,
)
from spackscope.model.catalog.edges import EdgeKind
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import LANGUAGES, is_run
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.versions import version_key

MAX_PAIRS = 5_000
"""Pairs of one comparison; two real specs have some hundred."""

MAX_DEPTH = 250
"""Levels of dependencies that are compared; real specs have some thirty."""

MAX_LINKS = 200_000
"""Dependencies of all pairs of one comparison, which damaged documents may repeat at each."""

MAX_PAIRS_OF_ALL = 300_000
"""Pairs of one search; two caches of 60,000 specs have a third of that."""

_MAX_CHANGE_SETS = 10_000
_MAX_PROVIDERS = 1000
"""Providers of two nodes; real ones have a few."""

COMPILERS_OF_RUNTIMES = {
    "gcc-runtime": "gcc",
    "intel-oneapi-runtime": "intel-oneapi-compilers",
}

_LANGUAGES = frozenset(LANGUAGES)
_RUNTIMES = frozenset(("gcc-runtime", "intel-oneapi-runtime", "compiler-wrapper"))
_LIBCS = frozenset(("glibc", "musl"))
_COME_WITH_VERSION = frozenset(
    ("package_hash", "patches", "external", "external_module", "external_extra")
)
_OF_EDGES = frozenset(("dependency", "deptypes", "virtuals"))
"""Attributes of the dependencies that a node has."""

_OF_ANY_PACKAGE = _OF_EDGES | {
    *("os", "target", "platform", "compiler", "spec_format", "provider", "namespace"),
}
"""Attributes whose equal differences are one, whatever the packages."""


class Difference(Frozen):
    """An attribute whose values differ between two nodes, `a` and `b`.

    `attribute` is the name of a field, such as `version` or `package_hash`, `variant:NAME`, or
    the name of compiler flags. `dependency` is a dependency of one node only, `provider` two
    that provide the same `virtuals`, one for each node; `deptypes` and `virtuals` are those of
    the edge to a `dependency` of both. `deptypes` of a dependency or a provider are its own.

    `follows` is the attribute of the same node that this difference normally comes with, or "".
    """

    attribute: str
    a: Value
    b: Value
    follows: str = ""
    dependency: str = ""
    virtuals: tuple[str, ...] = ()
    deptypes: tuple[str, ...] = ()


class NodePair(NamedTuple):
    """The ids of two nodes with different hashes."""

    a: int
    b: int


class _Link(NamedTuple):
    """An edge of a node: the package it leads to, its kind, the dependency and its identity."""

    name: str
    kind: EdgeKind
    child: int
    identity: int


class _LinkKey(NamedTuple):
    """The key by which an edge is matched: mostly the name alone.

    Several edges of a node to one name are told apart as link or run against build only, and
    then by their order.
    """

    name: str
    runs: bool = True
    number: int = 0


class _Node(NamedTuple):
    """A spec as it is compared, read once.

    `shape` is equal for specs that differ in nothing but what their dependencies are, in the order
    of `links`; None where these are not known, or not matched by name alone.
    """

    name: str
    configuration: int
    is_described: bool
    is_listed: bool
    build_spec: str
    links: tuple[_Link, ...]
    shape: int | None


class _Below(NamedTuple):
    """Dependencies of two nodes that differ, by the number of their pair.

    They run, or compile, if either does.
    """

    name: str
    number: int
    runs: bool
    compiles: bool


class Cause(Frozen):
    """Two nodes whose own configurations differ, at the same place below two specs.

    `path` has the names from the specs, which are not in it, down to these nodes; `a` and `b` are
    their ids. It `runs` if either is linked or run, rather than used for building only. The
    `deepest` causes have no other cause below them. `above` counts the differing pairs that reach
    this one, itself included. It `follows` a compiler below it if it is the compiler's runtime,
    and `compiles` if it is a compiler of something that is linked or run. `run_path` is a path
    over what is linked or run only; it may be longer than `path`.
    """

    package: str
    path: tuple[str, ...]
    a: int
    b: int
    run: bool
    deepest: bool
    above: int
    differences: tuple[Difference, ...]
    follows: str = ""
    compiles: bool = False
    run_path: tuple[str, ...] = ()


class Replaced(NamedTuple):
    """A dependency in place of another one of its name in a spliced spec, by their hashes."""

    package: str
    a: str
    b: str


class Comparison(Frozen):
    """How two specs differ, and the causes with the first one for people first.

    `pairs` counts the pairs of nodes with different hashes, 0 if the specs have the same hash.
    `unexplained` names packages whose hashes differ, though no document says why. Unless
    `lists_dependencies`, a source of the specs does not, and there may be more causes.
    `is_cut` if there are more pairs than are compared. `replaced` is what two specs of one build
    have in place of one another, if one is spliced or both are.
    """

    causes: tuple[Cause, ...] = ()
    pairs: int = 0
    unexplained: tuple[str, ...] = ()
    lists_dependencies: bool = True
    is_cut: bool = False
    replaced: tuple[Replaced, ...] = ()


class Pairs:
    """The pairs of nodes below specs that are compared, each read once, and known by a number.

    Children are matched by name below matched parents, and not entered where their hashes are
    equal. What is below more than `most` pairs is not read: then it `is_full`.
    """

    def __init__(self, dag: Dag, most: int = MAX_PAIRS_OF_ALL) -> None:
        self.dag, self._most = dag, most
        self.steps = 0
        """Pairs that all comparisons and counts have walked, and the dependencies of these."""
        self._ids: list[NodePair] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._shapes: dict[tuple[int, tuple[tuple[str, EdgeKind], ...]], int] = {}
        # Nothing is kept of those that were not read.
        self._below: dict[int, Sequence[_Below]] = {}
        self._differences: dict[int, tuple[Difference, ...]] = {}
        self._counted: dict[int, tuple[bool, tuple[int, ...]]] = {}
        self._node = lru_cache(None)(self._read_node)
        self._name = lru_cache(None)(dag.name)
        self._identity = lru_cache(None)(dag.identity)

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def is_full(self) -> bool:
        """Whether there are more pairs than are read."""
        return len(self._ids) >= self._most

    def number(self, a: int, b: int) -> int:
        """Return the number of a pair: one for all with the same two hashes."""
        return self._number_of(self._identity(a), self._identity(b), a, b)

    def _number_of(self, identity: int, other: int, a: int, b: int) -> int:
        key = identity, other
        if (number := self._numbers.get(key)) is None:
            number = self._numbers[key] = len(self._ids)
            self._ids.append(NodePair(a, b))
        return number

    def ids(self, number: int) -> NodePair:
        """Return the ids of a pair."""
        return self._ids[number]

    def name(self, number: int) -> str:
        """Return the package of a pair."""
        return self._name(self._ids[number].a)

    def is_described(self, number: int) -> bool:
        """Check whether documents describe both nodes of a pair."""
        return all(self._node(id_).is_described for id_ in self._ids[number])

    def are_one_build(self, number: int) -> bool:
        """Check whether specs with different hashes were built as one, and then spliced."""
        pair = self._ids[number]
        built_as = [self._node(id_).build_spec for id_ in pair]
        if not any(built_as):
            return False
        first, second = (x or y for x, y in zip(built_as, self.dag.hashes(pair), strict=True))
        return first == second

    def below(self, number: int) -> Sequence[_Below]:
        """Return the dependencies of a pair that differ, in pairs by name."""
        if (below := self._below.get(number)) is None:
            if self.is_full:
                return ()
            below = self._below[number] = self._read_below(number)
        return below

    def below_numbers(self, number: int) -> Sequence[int]:
        """Return the numbers of the pairs below a pair, the last one first."""
        return [each.number for each in reversed(self.below(number))]

    def differences(self, number: int) -> tuple[Difference, ...]:
        """Return the differences between the own configurations of a pair.

        First those of attributes by name, then of dependencies that both have, of providers, and
        of dependencies that only one has. What a source does not list is not a difference, and
        nothing is known of what no document describes.
        """
        if (differences := self._differences.get(number)) is None:
            differences = self._differences[number] = self._read_differences(number)
        return differences

    def _read_node(self, id_: int) -> _Node:
        dag = self.dag
        links = tuple(
            _Link(self._name(child), kind, child, self._identity(child))
            for child, kind in dag.links(id_)
        )
        configuration, build_spec, shape = dag.configuration(id_), dag.build_spec(id_), None
        is_described, is_listed = dag.is_described(id_), dag.lists_dependencies(id_)
        if is_listed and not build_spec and len({link.name for link in links}) == len(links):
            key = configuration, tuple(link[:2] for link in links)
            shape = self._shapes.setdefault(key, len(self._shapes))
        return _Node(
            self._name(id_), configuration, is_described, is_listed, build_spec, links, shape
        )

    def _read_below(self, number: int) -> list[_Below]:
        a, b = map(self._node, self._ids[number])
        matched: Iterable[tuple[_Link | None, _Link | None]]
        if a.shape is None or b.shape is None:
            matched = _match_links(a, b).values()
        elif a.shape == b.shape:
            matched = zip(a.links, b.links, strict=True)
        else:
            by_name = {link.name: link for link in b.links}
            matched = ((link, by_name.get(link.name)) for link in a.links)
        return [
            _Below(
                link.name,
                self._number_of(link.identity, other.identity, link.child, other.child),
                *_uses(link.kind, other.kind),
            )
            for link, other in matched
            if link is not None and other is not None and link.identity != other.identity
        ]

    def _read_differences(self, number: int) -> tuple[Difference, ...]:
        pair = self._ids[number]
        a, b = map(self._node, pair)
        if (a.shape is not None and a.shape == b.shape) or not self.is_described(number):
            return ()
        differences: list[Difference] = []
        if a.configuration != b.configuration:
            differences += _attribute_differences(self.dag, pair, (a.is_listed, b.is_listed))
        if a.is_listed and b.is_listed:
            differences += self._link_differences(_match_links(a, b))
        if len(differences) < 2:
            return tuple(differences)
        follows = _Follows(differences)
        return tuple(replace(item, follows=follows.what(item)) for item in differences)

    def _link_differences(
        self, matched: Mapping[_LinkKey, tuple[_Link | None, _Link | None]]
    ) -> Iterator[Difference]:
        only_a: dict[_LinkKey, _Link] = {}
        only_b: dict[_LinkKey, _Link] = {}
        for key, (a, b) in sorted(matched.items()):
            if a is None or b is None:
                (only_b if a is None else only_a)[key] = a or b  # type: ignore[assignment]
        for key, (a, b) in matched.items():
            if a is not None and b is not None:
                for name in ("deptypes", "virtuals"):
                    values = getattr(a.kind, name), getattr(b.kind, name)
                    if values[0] != values[1]:
                        yield Difference(name, *values, dependency=key.name)
        provided: set[_LinkKey] = set()
        for key_a, key_b, virtuals in islice(_providers(only_a, only_b), _MAX_PROVIDERS):
            provided |= {key_a, key_b}
            a, b = only_a[key_a], only_b[key_b]
            yield Difference(
                "provider",
                self._label(a),
                self._label(b),
                virtuals=virtuals,
                deptypes=a.kind.deptypes,
            )
        for links, is_a in ((only_a, True), (only_b, False)):
            for key, link in links.items():
                if key not in provided:
                    label = self._label(link)
                    yield Difference(
                        "dependency",
                        label if is_a else None,
                        None if is_a else label,
                        dependency=key.name,
                        virtuals=link.kind.virtuals,
                        deptypes=link.kind.deptypes,
                    )

    def _label(self, link: _Link) -> str:
        version = self.dag.version(link.child)
        return f"{link.name}@{version}" if version else link.name

    def count_causes(self, a: int, b: int, most: int = MAX_PAIRS) -> int | None:
        """Return the number of causes between two specs, or None if there are more than `most`."""
        waiting = [self.number(a, b)]
        seen, causes = set(waiting), 0
        while waiting:
            number = waiting.pop()
            if (known := self._counted.get(number)) is None:
                below = tuple(each.number for each in self.below(number))
                known = self._counted[number] = self._differs(number), below
            is_cause, below = known
            self.steps += 1 + len(below)
            causes += is_cause
            if causes > most:
                return None
            for child in below:
                if child not in seen and len(seen) < MAX_PAIRS:
                    seen.add(child)
                    waiting.append(child)
        return causes

    def _differs(self, number: int) -> bool:
        """Check quickly whether there are differences between the own configurations of a pair."""
        a, b = map(self._node, self._ids[number])
        if a.shape is None or b.shape is None or a.configuration == b.configuration:
            return bool(self.differences(number))
        return True

    def compare(self, a: int, b: int, *, should_stop: ShouldStop = never) -> Comparison:
        """Compare two specs: see the function of this name."""
        first, second = self._node(a), self._node(b)
        is_listed = first.is_listed and second.is_listed
        if self._identity(a) == self._identity(b):
            return Comparison(lists_dependencies=is_listed)
        walk = _Walk(self, self.number(a, b), should_stop)
        self.steps += len(walk.pairs) + sum(map(len, walk.below.values()))
        differences: dict[int, tuple[Difference, ...]] = {}
        unexplained: dict[str, None] = {}
        for number in walk.pairs:
            if should_stop():
                raise Cancelled
            if of_pair := self.differences(number):
                differences[number] = of_pair
            elif not walk.below[number] and not self.are_one_build(number):
                unexplained[self.name(number)] = None
        return Comparison(
            tuple(sorted(walk.causes(differences), key=_rank)),
            len(walk.pairs),
            tuple(unexplained),
            is_listed,
            is_cut=walk.is_cut,
            replaced=walk.replaced() if first.build_spec or second.build_spec else (),
        )


@lru_cache(None)
def _uses(kind: EdgeKind, other: EdgeKind) -> tuple[bool, bool]:
    """Return whether either of two edges is one to link or run, and one to a compiler."""
    compiles = not _LANGUAGES.isdisjoint((*kind.virtuals, *other.virtuals))
    return is_run(kind.deptypes) or is_run(other.deptypes), compiles


def _match_links(a: _Node, b: _Node) -> dict[_LinkKey, tuple[_Link | None, _Link | None]]:
    """Return the edges of two nodes by their keys: edges to be compared have the same key.

    A spliced spec lists no build dependencies, so that they are not compared with it.
    """
    sides: list[Sequence[_Link]] = [a.links, b.links]
    if a.build_spec or b.build_spec:
        sides = list(map(_run_links, sides))
    counts = [Counter(link.name for link in side) for side in sides]
    matched: dict[_LinkKey, tuple[_Link | None, _Link | None]] = {}
    for is_b, side in enumerate(sides):
        numbers: Counter[tuple[str, bool]] = Counter()
        for link in side:
            key = _LinkKey(link.name)
            if max(count[link.name] for count in counts) > 1:
                runs = is_run(link.kind.deptypes)
                key = _LinkKey(link.name, runs, numbers[link.name, runs])
                numbers[link.name, runs] += 1
            matched[key] = (matched.get(key, (None,))[0], link) if is_b else (link, None)
    return matched


def _run_links(links: Iterable[_Link]) -> list[_Link]:
    """Return the link and run edges, with these deptypes alone."""
    return [
        link._replace(
            kind=EdgeKind(tuple(d for d in link.kind.deptypes if is_run([d])), link.kind.virtuals)
        )
        for link in links
        if is_run(link.kind.deptypes)
    ]


def _providers(
    a: Mapping[_LinkKey, _Link], b: Mapping[_LinkKey, _Link]
) -> Iterator[tuple[_LinkKey, _LinkKey, tuple[str, ...]]]:
    """Yield pairs of edges, one of each node, that give the same virtuals."""
    providing = {key: link for key, link in b.items() if link.kind.virtuals}
    for key_a, link_a in a.items():
        for key_b, link_b in providing.items() if link_a.kind.virtuals else ():
            virtuals = tuple(v for v in link_a.kind.virtuals if v in link_b.kind.virtuals)
            if virtuals and key_a.name != key_b.name:
                yield key_a, key_b, virtuals


def _attribute_differences(
    dag: Dag, pair: NodePair, listed: tuple[bool, bool]
) -> Iterator[Difference]:
    """Yield the attributes that differ, without those that a source does not list."""
    values, lists = [*map(dag.attributes, pair)], [*map(dag.lists, pair)]
    for name in sorted(values[0].keys() | values[1].keys()):
        if values[0].get(name) == values[1].get(name):
            continue
        if not all(listed) and name not in LISTED_BY_PAGES and not name.startswith("variant:"):
            # Pages list the compiler of a Spack 1.0 spec; other sources list a dependency instead.
            are_told = (False, False) if name == "compiler" else listed
            if not all(told or name in its for told, its in zip(are_told, values, strict=True)):
                continue
        # The document has a tuple of a list with one text.
        stored = [
            (value,) if name in its and isinstance(value, str) else value
            for value, its in zip((each.get(name) for each in values), lists, strict=True)
        ]
        yield Difference(name, stored[0], stored[1])


class _Follows:
    """What the differences of a node, in the order of their names, normally come with."""

    def __init__(self, differences: Sequence[Difference]) -> None:
        self._names = names = [item.attribute for item in differences]
        self._toolchain = next((name for name in ("platform", "compiler") if name in names), "")
        if not self._toolchain and any(
            item.attribute == "provider" and not _LANGUAGES.isdisjoint(item.virtuals)
            for item in differences
        ):
            self._toolchain = "provider"

    def what(self, difference: Difference) -> str:
        """Return the attribute that a difference normally comes with, or ""."""
        name, names = difference.attribute, self._names
        if difference.dependency:
            return self._of_dependency(difference)
        is_conditional = name.startswith("variant:") and None in (difference.a, difference.b)
        if "version" in names and (name in _COME_WITH_VERSION or is_conditional):
            return "version"
        if "spec_format" in names and name == "compiler":
            return "spec_format"
        return "patches" if name == "package_hash" and "patches" in names else ""

    def _of_dependency(self, difference: Difference) -> str:
        name, names = difference.dependency, self._names
        is_runtime = name in _RUNTIMES or name in _LIBCS or "libc" in difference.virtuals
        if "spec_format" in names and (
            is_runtime or not _LANGUAGES.isdisjoint(difference.virtuals)
        ):
            return "spec_format"
        if is_runtime and self._toolchain:
            return self._toolchain
        if "version" in names:
            return "version"
        variant = next((name for name in names if name.startswith("variant:")), "")
        return variant or ("package_hash" if "package_hash" in names else "")


class _Walk:
    """The pairs of nodes below two specs, the nearest first; the first is the two specs.

    `parents` has for each the pair through which it was found, and `below` what it leads to. It
    `is_cut` if there are more than MAX_PAIRS, or more than MAX_DEPTH levels. Raises Cancelled.
    """

    def __init__(self, of: Pairs, start: int, should_stop: ShouldStop) -> None:
        self._of, self._start = of, start
        self.pairs = [start]
        self.below: dict[int, list[_Below]] = {}
        self.is_cut = False
        self._parents = {start: start}
        self._names = {start: ""}
        depths, links = {start: 1}, 0
        for number in self.pairs:
            if should_stop():
                raise Cancelled
            below = of.below(number) if links < MAX_LINKS else ()
            links += len(below)
            self.is_cut |= links >= MAX_LINKS
            self.below[number] = entered = []
            for each in sorted(below):
                if each.number not in depths:
                    if len(self.pairs) == MAX_PAIRS or depths[number] > MAX_DEPTH:
                        self.is_cut = True
                        continue
                    depths[each.number] = depths[number] + 1
                    self._parents[each.number], self._names[each.number] = number, each.name
                    self.pairs.append(each.number)
                entered.append(each)
        self.is_cut |= of.is_full
        # Damaged documents may have cycles, whose pairs are in any order.
        self._bottom_up = [*post_order([start], lambda n: [each.number for each in self.below[n]])]

    def causes(self, differences: Mapping[int, tuple[Difference, ...]]) -> Iterator[Cause]:
        """Yield the pairs that differ by themselves."""
        run_parents, above, have_below = self._run_parents(), self._above(), set[int]()
        for number in self._bottom_up:
            if any(c.number in differences or c.number in have_below for c in self.below[number]):
                have_below.add(number)
        compiling = {c.number for n in run_parents for c in self.below[n] if c.compiles}
        for number, of_pair in differences.items():
            name = self._of.name(number)
            compiler = COMPILERS_OF_RUNTIMES.get(name)
            yield Cause(
                name,
                self._path(number, self._parents),
                *self._of.ids(number),
                number in run_parents,
                number not in have_below,
                above[number],
                of_pair,
                compiler if compiler in {each.name for each in self.below[number]} else "",
                number in compiling,
                self._path(number, run_parents) if number in run_parents else (),
            )

    def _path(self, number: int, parents: Mapping[int, int]) -> tuple[str, ...]:
        path: list[str] = []
        while number != self._start:
            path.append(self._names[number])
            number = parents[number]
        return tuple(reversed(path))

    def _run_parents(self) -> Mapping[int, int]:
        """Return the pairs that edges of type link or run lead to, each with the one above."""
        parents, queue = {self._start: self._start}, [self._start]
        for number in queue:
            for child in self.below[number]:
                if child.runs and child.number not in parents:
                    parents[child.number] = number
                    queue.append(child.number)
        return parents

    def _above(self) -> Mapping[int, int]:
        """Return the number of pairs that reach each pair, itself included."""
        # The pairs above each, as the bits of a number: sets would take a hundred times the room.
        masks = {number: 1 << place for place, number in enumerate(self.pairs)}
        for number in reversed(self._bottom_up):
            for child in self.below[number]:
                masks[child.number] |= masks[number]
        return {number: mask.bit_count() for number, mask in masks.items()}

    def replaced(self) -> tuple[Replaced, ...]:
        """Return the nearest pairs of nodes that are not of one build, below specs that are."""
        replaced, below_one_build = [], {self._start}
        for number in reversed(self._bottom_up):
            if number not in below_one_build:
                continue
            if self._of.are_one_build(number):
                below_one_build.update(child.number for child in self.below[number])
            elif number != self._start:
                hashes = self._of.dag.hashes(self._of.ids(number))
                replaced.append(Replaced(self._of.name(number), *hashes))
        return tuple(sorted(replaced))


def compare(dag: Dag, a: int, b: int, *, should_stop: ShouldStop = never) -> Comparison:
    """Compare two specs with all below them.

    Causes are in this order: the differences of the specs themselves; what is linked or run
    before what is used for building only; what most depends on; the nearest; by name. Raises
    Cancelled.

        first = compare(dag_of(catalog), a, b).causes[0]
        first.path  # ('mpich', 'libxml2', 'libiconv')
    """
    return Pairs(dag).compare(a, b, should_stop=should_stop)


def _rank(cause: Cause) -> tuple[bool, bool, int, int, str]:
    return bool(cause.path), not cause.run, -cause.above, len(cause.path), cause.package


class Change(NamedTuple):
    """A difference in a package; `package` is empty where it may be any package."""

    package: str
    difference: Difference

    @classmethod
    def of(cls, package: str, difference: Difference) -> Change:
        """Convert one difference of a node to a change, which others may share."""
        plain = replace(
            difference,
            follows="",
            deptypes=(),
            virtuals=difference.virtuals if difference.attribute == "provider" else (),
        )
        return cls("" if difference.attribute in _OF_ANY_PACKAGE else package, plain)

    @property
    def ordered(self) -> Change:
        """The change with the lower value first, so that it is equal in both directions."""
        a, b = self.difference.a, self.difference.b
        if _order(self.difference.attribute, a) <= _order(self.difference.attribute, b):
            return self
        return self._replace(difference=replace(self.difference, a=b, b=a))


def changes_of(package: str, differences: Sequence[Difference]) -> tuple[Change, ...]:
    """Convert the differences of a node to changes.

    Differences that follow others are left out, unless all do.
    """
    chosen = [difference for difference in differences if not difference.follows]
    return tuple(Change.of(package, difference) for difference in chosen or differences)


def _order(attribute: str, value: Value) -> tuple[Any, ...]:
    if isinstance(value, str):
        return 1, version_key(value) if attribute == "version" else (), value
    return 0, (), str(value)


class FoldedDifference(Frozen):
    """A difference with all causes that have it, the first one first.

    `difference` is that of the first. `package` is empty for attributes that packages share, such
    as the os, and for a dependency that several packages lack.
    """

    difference: Difference
    package: str
    causes: tuple[Cause, ...]

    @property
    def run(self) -> bool:
        """Whether what is linked or run differs by it, not only what builds that.

        The version of a compiler counts, which what it compiled depends on.
        """
        difference = self.difference
        if difference.attribute == "dependency" and not is_run(difference.deptypes):
            return False
        if difference.attribute == "deptypes":
            a, b = (
                [deptype for deptype in deptypes if is_run([deptype])]
                for deptypes in (difference.a, difference.b)
                if isinstance(deptypes, tuple)
            )
            if a == b:
                return False
        counts = difference.attribute == "version"
        return any(cause.run or (cause.compiles and counts) for cause in self.causes)

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages of the nodes, each once."""
        return tuple(dict.fromkeys(cause.package for cause in self.causes))


def fold_differences(causes: Iterable[Cause]) -> tuple[FoldedDifference, ...]:
    """Return the differences that follow from no other, in the order of their first causes."""
    folded: dict[Change, list[tuple[Difference, Cause]]] = {}
    for cause in causes:
        if not cause.follows:
            for difference in cause.differences:
                if not difference.follows:
                    change = Change.of(cause.package, difference)
                    folded.setdefault(change, []).append((difference, cause))
    return tuple(
        FoldedDifference(
            items[0][0],
            items[0][1].package
            if change.difference.attribute in _OF_EDGES and len(items) == 1
            else change.package,
            tuple(cause for _, cause in items),
        )
        for change, items in folded.items()
    )


UNEXPLAINED = 1
"""The bit of differences that the sources do not tell."""


class PairChange(NamedTuple):
    """The changes of a pair as the bits of numbers: `own` of its two specs, and with those below.

    The first bit is UNEXPLAINED; each other stands for one of `PairChanges.change_sets`.
    """

    own: Mask
    total: Mask


class PairChanges:
    """Finds the changes of pairs of specs, and of all pairs below them.

    What changes in a package is one change set, and so is each change that any package may have,
    such as that of the os. `change_sets` has those that were found. What is below too many pairs
    is UNEXPLAINED, and so are changes after very many others.
    """

    def __init__(self, dag: Dag, *, max_pairs: int = MAX_PAIRS_OF_ALL) -> None:
        self.change_sets: list[tuple[Change, ...]] = []
        self._numbers: dict[tuple[Change, ...], int] = {}
        self._pairs = Pairs(dag, max_pairs)
        self._own = lru_cache(None)(self._find_own)
        self._masks = ClosureMasks(self._pairs.below_numbers, self._own)

    def find(self, a: int, b: int, *, should_stop: ShouldStop = never) -> PairChange:
        """Return the changes between two specs with different hashes. Raises Cancelled."""
        if should_stop():
            raise Cancelled
        number = self._pairs.number(a, b)
        # Changes get their numbers bottom-up.
        total = self._masks.whole(number, should_stop)
        return PairChange(self._own(number), total)

    def _find_own(self, number: int) -> Mask:
        below = self._pairs.below(number)
        if not self._pairs.is_described(number):
            return UNEXPLAINED
        # What is not entered any more is not told; nor is it if nothing differs.
        unexplained = UNEXPLAINED if self._pairs.is_full else 0
        name = self._pairs.name(number)
        own = 0
        if COMPILERS_OF_RUNTIMES.get(name) not in {each.name for each in below}:
            # Two edges to one name may differ alike.
            changes = dict.fromkeys(changes_of(name, self._pairs.differences(number)))
            of_package = tuple(change for change in changes if change.package)
            sets = [(change,) for change in changes if not change.package]
            for change_set in ([of_package] if of_package else []) + sets:
                own |= self._bit(change_set)
        return own | unexplained or (0 if below else UNEXPLAINED)

    def _bit(self, change_set: tuple[Change, ...]) -> Mask:
        if (number := self._numbers.get(change_set)) is None:
            if len(self.change_sets) == _MAX_CHANGE_SETS:
                return UNEXPLAINED
            number = self._numbers[change_set] = len(self.change_sets)
            self.change_sets.append(change_set)
        return UNEXPLAINED << (number + 1)

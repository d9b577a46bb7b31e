"""Compare specs and their closures: differences, the places of these, and consequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from operator import itemgetter
from typing import NamedTuple

from spackscope.model.analysis.dag import (
    MAX_DEPTH,
    AttributeValue,
    Dag,
    Step,
    Walker,
    by_package,
    cached_method,
    compiled_languages,
    count_dependents,
    differing_names,
    run_time_deptypes,
    texts,
)
from spackscope.model.analysis.varying import COMPILERS_OF_RUNTIMES, follows
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import compiler_name, is_run, spell_value
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.index.edges import EdgeKind, nearest_first, path_to

MAX_PAIRS = 5_000
"""Pairs of one comparison; two real specs have some hundred."""

MAX_LINKS = 200_000
"""Dependencies of all pairs of one comparison, which damaged documents may repeat at each."""

MAX_PAIRS_OF_ALL = 300_000
"""Pairs of one search; two caches of 60,000 specs have a third of that."""

_MAX_CHANGED = 3
"""The most variants that are named for a spec that differs."""

_MAX_PROVIDERS = 1000
"""Providers of two nodes; real ones have a few."""

_OF_EDGES = frozenset(("dependency", "deptypes", "virtuals"))
"""Attributes of the dependencies that a node has."""

_OF_ANY_PACKAGE = _OF_EDGES | {
    *("os", "target", "platform", "compiler", "spec_format", "provider", "namespace"),
}
"""Attributes whose equal differences are one, whatever the packages."""


class Difference(NamedTuple):
    """An attribute whose values differ between two nodes, `a` and `b`, of a `package`.

    `attribute` is the name of a field, such as `version` or `package_hash`, `variant:NAME`, or
    the name of compiler flags. `dependency` is a dependency of one node only, `provider` two
    that provide the same `virtuals`, one for each node; `deptypes` and `virtuals` differ on the
    edges to a `dependency` of both. The field `deptypes` has the deptypes of the edge to a
    `dependency` or a provider of one node.

    `follows` is the attribute of the same node that this difference normally comes with, or "".
    """

    attribute: str
    a: AttributeValue
    b: AttributeValue
    follows: str = ""
    dependency: str = ""
    virtuals: tuple[str, ...] = ()
    deptypes: tuple[str, ...] = ()
    package: str = ""

    @property
    def change(self) -> Difference:
        """The difference as other nodes may share it; without a package where any may have it."""
        return self._replace(
            follows="",
            deptypes=(),
            virtuals=self.virtuals if self.attribute == "provider" else (),
            package="" if self.attribute in _OF_ANY_PACKAGE else self.package,
        )


class Cause(Frozen):
    """Two nodes whose own configurations differ, at the same place below two specs.

    `path` has the names from the specs, which are not in it, down to these nodes; `a` and `b` are
    their ids. `run` is True if either is linked or run, rather than used for building only.
    `above` counts the differing pairs that reach this pair, itself included. A runtime `follows`
    its compiler if this differs below it, and a compiler of a spec that is linked or run
    `compiles`. `run_path` is a path over link and run edges only; it may be longer than `path`.
    """

    package: str
    path: tuple[str, ...]
    a: int
    b: int
    run: bool
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
    """The difference between two specs: its causes, the most important one first.

    `pairs` counts the pairs of nodes with different hashes, 0 if the specs have the same hash.
    `unexplained` names packages whose hashes differ, though no document says why. If
    `lists_dependencies` is False, a source of the specs lists none, and there may be more causes.
    `is_cut` is True if there are more pairs than are compared.
    """

    causes: tuple[Cause, ...] = ()
    pairs: int = 0
    unexplained: tuple[str, ...] = ()
    lists_dependencies: bool = True
    is_cut: bool = False


def fold_differences(causes: Iterable[Cause]) -> list[tuple[Difference, list[Cause]]]:
    """Return the differences that follow from no other, in the order of their first causes.

    Each is the first of equal ones, with all causes that have it. Its package is empty for
    attributes that packages share, such as the os, and for a dependency that several lack.
    """
    folded: dict[Difference, tuple[Difference, list[Cause]]] = {}
    for cause in causes:
        for difference in cause.differences if not cause.follows else ():
            if not difference.follows:
                change = difference.change
                folded.setdefault(change, (difference, []))[1].append(cause)
    return [
        (first, its)
        if len(its) == 1 and first.attribute in _OF_EDGES
        else (first._replace(package=change.package), its)
        for change, (first, its) in folded.items()
    ]


def differing_below(dag: Dag, id_: int, other: int) -> dict[int, str]:
    """Return the specs below one spec that are not below `other`, each with its counterpart there.

    The text is "" for a spec that differs only in its dependencies.
    """
    theirs = by_package(dag, map(dag.identity, sorted(dag.reached([other]))))
    differing = {}
    for each in dag.reached([id_]) - {id_}:
        others = theirs.get(dag.name(each), [])
        if dag.identity(each) not in others:
            differing[each] = _in_place_of(dag, each, others)
    return differing


def _in_place_of(dag: Dag, id_: int, others: Sequence[int]) -> str:
    """Return the differing values of another build; "" if only dependencies differ."""
    if not others:
        return "missing there"
    if dag.configuration(id_) in map(dag.configuration, others):
        return ""
    own, other = dag.attributes(id_), dag.attributes(others[0])
    if own.get("version") != other.get("version"):
        return dag.version(others[0])
    changed = [n for n in differing_names([own, other]) if n.startswith("variant:") and n in other]
    return " ".join(spell_value(n, texts(other[n])) for n in changed[:_MAX_CHANGED]) or "differs"


class _Representatives(NamedTuple):
    """The specs that stand for a spec in comparisons, so that equal ones are compared once.

    Each is the first that is equal in some way: `first` in all but the hashes, `own` in the own
    attributes, and `edges` in the package and in edges to the same packages, whatever their
    versions.
    """

    first: int
    own: int
    edges: int


class _Matched(NamedTuple):
    """The dependencies of two specs, by their places.

    `both` have each other's name, `of_edges` are the differences of the edges to them, `providers`
    provide the same virtuals, `only_a` and `only_b` are the others.
    """

    both: Sequence[tuple[int, int]]
    of_edges: Sequence[Difference]
    providers: Sequence[tuple[int, int, tuple[str, ...]]]
    only_a: Sequence[int]
    only_b: Sequence[int]


_RUNS, _COMPILES = 1, 2
"""Bits of two dependencies: either is linked or run, or either compiles."""


class Pairs:
    """The pairs of nodes below specs that are compared, each known by a number, and read once.

    Children are matched by name below matched parents, and not entered where their hashes are
    equal. After MAX_PAIRS_OF_ALL pairs it `is_full`, and reads no more.
    """

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self._pairs: list[tuple[int, int]] = []
        self.steps = 0
        """Pairs that all comparisons and counts have walked, and the dependencies of these."""
        self._walker = walker = Walker(dag)
        self.links, self._build_spec = walker.steps, lru_cache(None)(dag.build_spec)
        self.compilers = cached_method(self._read_compilers)
        self._alike = cached_method(self._read_alike)
        self._firsts: dict[Hashable, int] = {}
        self._matched = cached_method(self._match)
        self._own = cached_method(self._read_own)
        self.differences_of = cached_method(self._read_differences)
        self._numbers: dict[tuple[int, int], int] = {}
        # Only pairs whose dependencies were read.
        self._below: dict[int, dict[int, int]] = {}
        self._least: dict[int, int] = {}

    @property
    def is_full(self) -> bool:
        """Whether there are more pairs than are read."""
        return len(self._pairs) >= MAX_PAIRS_OF_ALL

    def number(self, a: int, b: int) -> int:
        """Return the number of a pair, which all pairs with the same two hashes share."""
        identities = self._walker.identity(a), self._walker.identity(b)
        if (number := self._numbers.get(identities)) is None:
            number = self._numbers[identities] = len(self._pairs)
            self._pairs.append((a, b))
        return number

    def ids(self, number: int) -> tuple[int, int]:
        """Return the two specs of a pair."""
        return self._pairs[number]

    def name(self, number: int) -> str:
        """Return the package of a pair."""
        return self._walker.name(self._pairs[number][0])

    def below(self, number: int) -> Mapping[int, int]:
        """Return the dependencies of a pair that differ, in pairs by name, with their bits."""
        if (below := self._below.get(number)) is None:
            if self.is_full:
                return {}
            below = self._below[number] = {}
            a, b = self._pairs[number]
            of_a, of_b = self._sides(a, b)
            for x, y in self._matched(self._alike(a).edges, self._alike(b).edges).both:
                (id_a, identity_a, _, kind_a), (id_b, identity_b, _, kind_b) = of_a[x], of_b[y]
                if identity_a != identity_b:
                    child = self.number(id_a, id_b)
                    below[child] = below.get(child, 0) | _use(kind_a, kind_b)
        return below

    def compiler_of_runtime(self, number: int) -> str:
        """Return the compiler, if a pair is of its runtime and it differs, too; else "".

        The difference of the runtime then follows from that of the compiler.
        """
        compiler = COMPILERS_OF_RUNTIMES.get(self.name(number), "")
        return compiler if compiler in map(self.name, self.below(number)) else ""

    def differences(self, number: int) -> tuple[Difference, ...]:
        """Return the differences between the own configurations of a pair.

        First the attributes by name, then dependencies that both have, providers, and dependencies
        that only one has. Attributes that a source does not list are not compared, nor are specs
        that no document describes.
        """
        return self.differences_of(*self.representatives(number))

    def representatives(self, number: int) -> tuple[int, int]:
        """Return, for each spec of a pair, the first that is equal but for the hashes."""
        a, b = self._pairs[number]
        return self._alike(a).first, self._alike(b).first

    def _read_alike(self, id_: int) -> _Representatives:
        dag, links = self.dag, self.links(id_)
        if not dag.is_described(id_):
            return _Representatives(id_, id_, id_)
        lists, first = self._walker.lists_dependencies(id_), self._firsts.setdefault
        edges = self._walker.name(id_), lists, bool(self._build_spec(id_))
        own = first((dag.configuration(id_), lists, dag.lists(id_)), id_)
        kinds = first((*edges, *((link.name, link.kind) for link in links)), id_)
        versions = (self._walker.version(link.id) for link in links)
        return _Representatives(first((own, kinds, *versions), id_), own, kinds)

    def _read_differences(self, a: int, b: int) -> tuple[Difference, ...]:
        if not (self.dag.is_described(a) and self.dag.is_described(b)):
            return ()
        own = self._own(self._alike(a).own, self._alike(b).own)
        if not all(map(self._walker.lists_dependencies, (a, b))):
            return own
        return (*own, *_with_follows(self._link_differences(a, b), own))

    def _read_own(self, a: int, b: int) -> tuple[Difference, ...]:
        return _with_follows([*_attribute_differences(self.dag, a, b)])

    def _sides(self, a: int, b: int) -> tuple[Sequence[Step], Sequence[Step]]:
        """Return the dependencies of two specs as they are compared.

        A spliced spec lists no build dependencies, so that they are not compared with it.
        """
        sides = self.links(a), self.links(b)
        if not self._is_spliced(a, b):
            return sides
        of_a, of_b = (
            [
                link._replace(kind=link.kind._replace(deptypes=deptypes))
                for link in side
                if (deptypes := run_time_deptypes(link.kind.deptypes))
            ]
            for side in sides
        )
        return of_a, of_b

    def _is_spliced(self, a: int, b: int) -> bool:
        return any(map(self._build_spec, (a, b)))

    def _match(self, a: int, b: int) -> _Matched:
        """Match the dependencies of two specs by their names.

        Several edges of a spec to one name are told apart as link or run against build only, and
        then by their order.
        """
        package, sides = self._walker.name(a), self._sides(a, b)
        counts = [Counter(link.name for link in side) for side in sides]
        several = {name for count in counts for name, number in count.items() if number > 1}
        keyed: list[dict[tuple[str, bool, int], int]] = []
        for side in sides:
            keyed.append({})
            numbers: Counter[tuple[str, bool]] = Counter()
            for place, link in enumerate(side):
                runs = link.name not in several or is_run(link.kind.deptypes)
                keyed[-1][link.name, runs, numbers[link.name, runs]] = place
                numbers[link.name, runs] += 1
        of_a, of_b = keyed
        links_a, links_b = sides
        both = [(place, of_b[key]) for key, place in of_a.items() if key in of_b]
        of_edges = [
            Difference(name, of_x, of_y, dependency=links_a[x].name, package=package)
            for x, y in both
            for name, of_x, of_y in zip(
                EdgeKind._fields, links_a[x].kind, links_b[y].kind, strict=True
            )
            if of_x != of_y
        ]
        only_a, only_b = (
            sorted(
                (place for key, place in of_side.items() if key not in other),
                key=lambda place: (links[place].name, is_run(links[place].kind.deptypes)),
            )
            for of_side, other, links in ((of_a, of_b, links_a), (of_b, of_a, links_b))
        )
        providing = [y for y in only_b if links_b[y].kind.virtuals]
        shared = (
            (x, y, tuple(v for v in links_a[x].kind.virtuals if v in links_b[y].kind.virtuals))
            for x in only_a
            for y in (providing if links_a[x].kind.virtuals else ())
            if links_a[x].name != links_b[y].name
        )
        providers = [*islice(filter(itemgetter(2), shared), _MAX_PROVIDERS)]
        of_both = [{provider[side] for provider in providers} for side in (0, 1)]
        return _Matched(
            both,
            of_edges,
            providers,
            [x for x in only_a if x not in of_both[0]],
            [y for y in only_b if y not in of_both[1]],
        )

    def _link_differences(self, a: int, b: int) -> Iterator[Difference]:
        package, (links_a, links_b) = self._walker.name(a), self._sides(a, b)
        matched = self._matched(self._alike(a).edges, self._alike(b).edges)

        def label(link: Step) -> str:
            version = self._walker.version(link.id)
            return f"{link.name}@{version}" if version else link.name

        def lone(link: Step, of_a: str | None, of_b: str | None) -> Difference:
            kind = link.kind
            return Difference(
                "dependency", of_a, of_b, "", link.name, kind.virtuals, kind.deptypes, package
            )

        yield from matched.of_edges
        for x, y, virtuals in matched.providers:
            deptypes, labels = links_a[x].kind.deptypes, (label(links_a[x]), label(links_b[y]))
            yield Difference("provider", *labels, "", "", virtuals, deptypes, package)
        yield from (lone(links_a[x], label(links_a[x]), None) for x in matched.only_a)
        yield from (lone(links_b[y], None, label(links_b[y])) for y in matched.only_b)

    def are_one_build(self, number: int) -> bool:
        """Check whether specs with different hashes were built as one, and then spliced."""
        ids = self.ids(number)
        built = [*map(self._build_spec, ids)]
        if not any(built):
            return False
        a, b = (build or self.dag.hash(id_) for build, id_ in zip(built, ids, strict=True))
        return a == b

    def _read_compilers(self, id_: int) -> tuple[str, ...]:
        """Return the compilers of a spec as `name@version`, by the names since Spack 1.0.

        Before Spack 1.0 the one compiler is an attribute; since then compilers are dependencies.
        The languages do not count here: older documents do not have them. Only the name is known
        of a compiler that no document describes.
        """
        dag = self.dag
        children = {
            link.id: link.name
            for link in self.links(id_)
            if compiled_languages(link.kind.virtuals)
        }
        if children:
            names = (
                f"{name}@{dag.version(child)}" if dag.is_described(child) else name
                for child, name in children.items()
            )
            return tuple(sorted({*names}))
        stated = str(dag.attributes(id_).get("compiler", ""))
        name, _, version = stated.partition("/")[0].partition("@")
        return (f"{compiler_name(name)}@{version.removeprefix('=')}",) if stated else ()

    def count_causes(self, a: int, b: int, most: int = MAX_PAIRS) -> int | None:
        """Return the number of causes between two specs, or None if there are more than `most`."""
        start = self.number(a, b)
        waiting, seen, causes = [start], {start}, 0
        while waiting:
            number = waiting.pop()
            below = self.below(number)
            self.steps += 1 + len(below)
            causes += bool(self.differences(number))
            # All causes below a pair count here, too.
            if causes > most or self._least.get(number, 0) > most:
                self._least[start] = most + 1
                return None
            if len(seen) < MAX_PAIRS:
                entered = below.keys() - seen
                seen |= entered
                waiting += entered
        self._least[start] = causes
        return causes

    def compare(self, a: int, b: int) -> Comparison:
        """Compare two specs and their closures.

        Causes are in this order: the differences of the specs themselves; dependencies to link or
        run before dependencies for building only; the most depended on; the nearest; by name.
        Raises Cancelled.

            first = Pairs(dag_of(catalog)).compare(a, b).causes[0]
            first.path  # ('mpich', 'libxml2', 'libiconv')
        """
        dag = self.dag
        is_listed = dag.lists_dependencies(a) and dag.lists_dependencies(b)
        if dag.identity(a) == dag.identity(b):
            return Comparison(lists_dependencies=is_listed)
        start = self.number(a, b)
        # The pairs, the nearest first, the levels of each, the pair through which it was found,
        # and the pairs that it leads to.
        order, depths, parents = [start], {start: 1}, {start: start}
        below: dict[int, dict[int, int]] = {}
        links, is_cut = 0, False
        for number in order:
            check_cancelled()
            children = self.below(number) if links < MAX_LINKS else {}
            links += len(children)
            is_cut |= links >= MAX_LINKS
            entered = below[number] = {}
            for child in sorted(children, key=lambda n: (self.name(n), n)):
                if child not in depths:
                    if len(order) == MAX_PAIRS or depths[number] > MAX_DEPTH:
                        is_cut = True
                        continue
                    depths[child], parents[child] = depths[number] + 1, number
                    order.append(child)
                entered[child] = children[child]
        self.steps += len(order) + sum(map(len, below.values()))
        run_parents = nearest_first(
            [start], lambda number: (child for child, use in below[number].items() if use & _RUNS)
        )
        compiling = {
            child
            for number in run_parents
            for child, use in below[number].items()
            if use & _COMPILES
        }

        above = count_dependents(order, below, lambda number: [*below[number]])
        causes, unexplained = list[Cause](), dict[str, None]()
        for number in order:
            check_cancelled()
            package, differences = self.name(number), self.differences(number)
            if not (differences or below[number] or self.are_one_build(number)):
                unexplained[package] = None
            if not differences:
                continue
            runs = number in run_parents
            cause = Cause(
                package,
                tuple(map(self.name, path_to(parents, number)[1:])),
                *self.ids(number),
                runs,
                above[number],
                differences,
                self.compiler_of_runtime(number),
                number in compiling,
                tuple(map(self.name, path_to(run_parents, number)[1:])) if runs else (),
            )
            causes.append(cause)
        return Comparison(
            tuple(sorted(causes, key=_rank)),
            len(order),
            tuple(unexplained),
            is_listed,
            is_cut or self.is_full,
        )

    def replaced(self, a: int, b: int) -> list[Replaced]:
        """Return the dependencies in place of others between two specs of one build, by name.

        They are the nearest of different builds; at least one of the two specs is spliced.
        """
        start = self.number(a, b)
        reached = nearest_first(
            [start], lambda number: self.below(number) if self.are_one_build(number) else ()
        )
        replaced = (n for n in reached if n != start and not self.are_one_build(n))
        return sorted(Replaced(self.name(n), *self.dag.hashes(self.ids(n))) for n in replaced)


def _rank(cause: Cause) -> tuple[bool, bool, int, int, str]:
    return bool(cause.path), not cause.run, -cause.above, len(cause.path), cause.package


@lru_cache(None)
def _use(kind: EdgeKind, other: EdgeKind) -> int:
    compiles = bool(compiled_languages(kind.virtuals + other.virtuals))
    return _RUNS * is_run(kind.deptypes + other.deptypes) | _COMPILES * compiles


def _attribute_differences(dag: Dag, a: int, b: int) -> Iterator[Difference]:
    """Yield the attributes that differ and that both sources list."""
    if dag.configuration(a) == dag.configuration(b):
        return
    ids, are_listed = (a, b), dag.lists_dependencies(a) and dag.lists_dependencies(b)
    package = dag.name(a)
    values, lists = [dag.attributes(id_) for id_ in ids], [dag.lists(id_) for id_ in ids]
    for name in differing_names(values):
        # Pages list the compiler of a Spack 1.0 spec; other sources list a dependency instead.
        is_stated = name != "compiler" or are_listed or all(name in each for each in values)
        if not (is_stated and all(dag.would_list(id_, name) for id_ in ids)):
            continue
        # The document has a tuple of a list with one text.
        value_a, value_b = (
            (value,) if name in its and isinstance(value, str) else value
            for value, its in zip((each.get(name) for each in values), lists, strict=True)
        )
        yield Difference(name, value_a, value_b, package=package)


def _with_follows(
    differences: Iterable[Difference], others: Iterable[Difference] = ()
) -> tuple[Difference, ...]:
    """Add to differences of a node the attributes that they normally come with.

    These may be among `others` of the node.
    """
    # The first of each kind: there may be thousands of variants.
    leaders: dict[str, str] = {}
    differences = [*differences]
    for item in chain(others, differences):
        if item.attribute != "provider" or compiled_languages(item.virtuals):
            leaders.setdefault(item.attribute.partition(":")[0], item.attribute)
    return tuple(
        item._replace(
            follows=follows(
                item.attribute,
                leaders.values(),
                is_lacking=None in (item.a, item.b),
                dependency=item.dependency,
                virtuals=item.virtuals,
            )
        )
        for item in differences
    )

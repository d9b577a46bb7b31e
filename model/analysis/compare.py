"""Compare specs and their closures: differences, the places of these, and consequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from spackscope.model.analysis.dag import (
    AttributeValue,
    Dag,
    Step,
    Walker,
    by_package,
    compiled_languages,
    post_order,
    run_time_deptypes,
    texts,
)
from spackscope.model.analysis.follows import COMPILERS_OF_RUNTIMES, follows
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import compiler_name, is_run
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.core.variants import spell_variant
from spackscope.model.index.edges import EdgeKind, nearest_first, path_to

MAX_PAIRS = 5_000
"""Pairs of one comparison; two real specs have some hundred."""

MAX_DEPTH = 250
"""Levels of dependencies that are compared; real specs have some thirty."""

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


def changes_of(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """Return the differences of a node as changes that other nodes may share.

    Differences that follow others are left out, unless all do.
    """
    chosen = [difference for difference in differences if not difference.follows]
    return tuple(difference.change for difference in chosen or differences)


class Cause(Frozen):
    """Two nodes whose own configurations differ, at the same place below two specs.

    `path` has the names from the specs, which are not in it, down to these nodes; `a` and `b` are
    their ids. `run` is True if either is linked or run, rather than used for building only. The
    `deepest` causes have no other cause below them. `above` counts the differing pairs that reach
    this pair, itself included. A runtime `follows` its compiler if this differs below it, and a
    compiler of a spec that is linked or run `compiles`. `run_path` is a path over link and run
    edges only; it may be longer than `path`.
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
    """The difference between two specs: its causes, the most important one first.

    `pairs` counts the pairs of nodes with different hashes, 0 if the specs have the same hash.
    `unexplained` names packages whose hashes differ, though no document says why. If
    `lists_dependencies` is False, a source of the specs lists none, and there may be more causes.
    `is_cut` is True if there are more pairs than are compared. `replaced` has the dependencies
    that differ between two specs of one build, of which at least one is spliced.
    """

    causes: tuple[Cause, ...] = ()
    pairs: int = 0
    unexplained: tuple[str, ...] = ()
    lists_dependencies: bool = True
    is_cut: bool = False
    replaced: tuple[Replaced, ...] = ()


def compare(dag: Dag, a: int, b: int) -> Comparison:
    """Compare two specs and their closures.

    Causes are in this order: the differences of the specs themselves; dependencies to link or run
    before dependencies for building only; the most depended on; the nearest; by name. Raises
    Cancelled.

        first = compare(dag_of(catalog), a, b).causes[0]
        first.path  # ('mpich', 'libxml2', 'libiconv')
    """
    return Pairs(dag).compare(a, b)


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
    changed = sorted(
        name
        for name, value in other.items()
        if name.startswith("variant:") and own.get(name) != value
    )
    variants = (
        spell_variant(name.partition(":")[2], texts(other[name]))
        for name in changed[:_MAX_CHANGED]
    )
    return " ".join(variants) or "differs"


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
        self.compilers = lru_cache(None)(self._read_compilers)
        self._twin = lru_cache(None)(self._read_twin)
        self._twins: dict[Hashable, int] = {}
        self._matched = lru_cache(None)(self._match)
        self._differences = lru_cache(None)(self._read_differences)
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
        key = self._walker.identity(a), self._walker.identity(b)
        if (number := self._numbers.get(key)) is None:
            number = self._numbers[key] = len(self._pairs)
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
            of_a, of_b = self.links(a), self.links(b)
            for x, y in self._matched(self._twin(a), self._twin(b)):
                if x is None or y is None or of_a[x].identity == of_b[y].identity:
                    continue
                child = self.number(of_a[x].id, of_b[y].id)
                below[child] = below.get(child, 0) | _use(of_a[x].kind, of_b[y].kind)
        return below

    def differences(self, number: int) -> tuple[Difference, ...]:
        """Return the differences between the own configurations of a pair.

        First the attributes by name, then dependencies that both have, providers, and dependencies
        that only one has. Attributes that a source does not list are not compared, nor are specs
        that no document describes.
        """
        return self._differences(*map(self._twin, self._pairs[number]))

    def _read_twin(self, id_: int) -> int:
        """Return the first spec that is equal to this one but for the hashes.

        Of ten specs of a cache, seven have such a twin, with other hashes below.
        """
        dag = self.dag
        if not dag.is_described(id_):
            return id_
        key = (
            dag.configuration(id_),
            dag.lists(id_),
            self._walker.lists_dependencies(id_),
            bool(self._build_spec(id_)),
            *((link.name, link.kind, self._walker.version(link.id)) for link in self.links(id_)),
        )
        return self._twins.setdefault(key, id_)

    def _read_differences(self, a: int, b: int) -> tuple[Difference, ...]:
        dag = self.dag
        if not (dag.is_described(a) and dag.is_described(b)):
            return ()
        found = [*_attribute_differences(dag, a, b)]
        if all(map(self._walker.lists_dependencies, (a, b))):
            found += self._link_differences(a, b)
        return _with_follows(found)

    def _sides(self, a: int, b: int) -> tuple[Sequence[Step], Sequence[Step]]:
        """Return the dependencies of two specs as they are compared.

        A spliced spec lists no build dependencies, so that they are not compared with it.
        """
        of_a, of_b = self.links(a), self.links(b)
        if self._is_spliced(a, b):
            of_a, of_b = (
                [
                    link._replace(
                        kind=link.kind._replace(deptypes=run_time_deptypes(link.kind.deptypes))
                    )
                    for link in side
                ]
                for side in (of_a, of_b)
            )
        return of_a, of_b

    def _is_spliced(self, a: int, b: int) -> bool:
        return any(map(self._build_spec, (a, b)))

    def _match(self, a: int, b: int) -> list[tuple[int | None, int | None]]:
        """Match the dependencies of two specs by their names, and return their places.

        A dependency that only one has is matched with None. Several edges of a spec to one name
        are told apart as link or run against build only, and then by their order.
        """
        sides = self._sides(a, b)
        counts = [Counter(link.name for link in side) for side in sides]
        several = {name for count in counts for name, number in count.items() if number > 1}
        keyed: list[dict[tuple[str, bool, int], int]] = []
        for side in sides:
            keyed.append({})
            numbers: Counter[tuple[str, bool]] = Counter()
            for place, link in enumerate(side):
                if not link.kind.deptypes and self._is_spliced(a, b):
                    continue
                runs = link.name not in several or is_run(link.kind.deptypes)
                keyed[-1][link.name, runs, numbers[link.name, runs]] = place
                numbers[link.name, runs] += 1
        of_a, of_b = keyed
        return [(of_a.get(key), of_b.get(key)) for key in {**of_a, **of_b}]

    def _link_differences(self, a: int, b: int) -> Iterator[Difference]:
        package = self._walker.name(a)

        def label(link: Step) -> str:
            version = self._walker.version(link.id)
            return f"{link.name}@{version}" if version else link.name

        def lone(link: Step, of_a: str | None, of_b: str | None) -> Difference:
            kind = link.kind
            return Difference(
                "dependency", of_a, of_b, "", link.name, kind.virtuals, kind.deptypes, package
            )

        only_a, only_b = list[Step](), list[Step]()
        links_a, links_b = self._sides(a, b)
        for x, y in self._matched(a, b):
            of_a, of_b = None if x is None else links_a[x], None if y is None else links_b[y]
            if of_a is None or of_b is None:
                only_a += [of_a] if of_a else []
                only_b += [of_b] if of_b else []
                continue
            for name in ("deptypes", "virtuals"):
                values = getattr(of_a.kind, name), getattr(of_b.kind, name)
                if values[0] != values[1]:
                    yield Difference(name, *values, dependency=of_a.name, package=package)
        for side in (only_a, only_b):
            side.sort(key=lambda link: (link.name, is_run(link.kind.deptypes)))
        providing = [link for link in only_b if link.kind.virtuals]
        shared = (
            (of_a, of_b, tuple(v for v in of_a.kind.virtuals if v in of_b.kind.virtuals))
            for of_a in only_a
            for of_b in (providing if of_a.kind.virtuals else ())
            if of_a.name != of_b.name
        )
        provided = set[Step]()
        for of_a, of_b, virtuals in islice(filter(itemgetter(2), shared), _MAX_PROVIDERS):
            provided |= {of_a, of_b}
            deptypes, labels = of_a.kind.deptypes, (label(of_a), label(of_b))
            yield Difference("provider", *labels, "", "", virtuals, deptypes, package)
        yield from (lone(link, label(link), None) for link in only_a if link not in provided)
        yield from (lone(link, None, label(link)) for link in only_b if link not in provided)

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
        """Compare two specs, as the function `compare`."""
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
        # Damaged documents may have cycles, whose pairs are in any order.
        bottom_up = [*post_order([start], below.__getitem__)]

        run_parents = nearest_first(
            [start], lambda number: (child for child, use in below[number].items() if use & _RUNS)
        )
        compiling = {
            child
            for number in run_parents
            for child, use in below[number].items()
            if use & _COMPILES
        }

        differences: dict[int, tuple[Difference, ...]] = {}
        unexplained: dict[str, None] = {}
        for number in order:
            check_cancelled()
            if own := self.differences(number):
                differences[number] = own
            elif not below[number] and not self.are_one_build(number):
                unexplained[self.name(number)] = None
        have_below = set[int]()
        for number in bottom_up:
            if any(child in differences or child in have_below for child in below[number]):
                have_below.add(number)
        # The pairs above each, as the bits of a number: sets would take a hundred times the room.
        above = {number: 1 << place for place, number in enumerate(order)}
        for number in reversed(bottom_up):
            for child in below[number]:
                above[child] |= above[number]

        def path(number: int, parents: Mapping[int, int]) -> tuple[str, ...]:
            return tuple(self.name(each) for each in path_to(parents, number)[1:])

        def cause(number: int) -> Cause:
            package = self.name(number)
            compiler = COMPILERS_OF_RUNTIMES.get(package, "")
            return Cause(
                package,
                path(number, parents),
                *self.ids(number),
                number in run_parents,
                number not in have_below,
                above[number].bit_count(),
                differences[number],
                compiler if compiler in (self.name(n) for n in below[number]) else "",
                number in compiling,
                path(number, run_parents) if number in run_parents else (),
            )

        return Comparison(
            tuple(sorted(map(cause, differences), key=_rank)),
            len(order),
            tuple(unexplained),
            is_listed,
            is_cut or self.is_full,
            self._replaced(start, below, bottom_up) if self._is_spliced(a, b) else (),
        )

    def _replaced(
        self, start: int, below: Mapping[int, Iterable[int]], bottom_up: Sequence[int]
    ) -> tuple[Replaced, ...]:
        """Return the nearest pairs of different builds below pairs of nodes of one build."""
        replaced, below_one_build = [], {start}
        for number in reversed(bottom_up):
            if number not in below_one_build:
                continue
            if self.are_one_build(number):
                below_one_build.update(below[number])
            elif number != start:
                replaced.append(Replaced(self.name(number), *self.dag.hashes(self.ids(number))))
        return tuple(sorted(replaced))


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
    for name in sorted({name for name, _ in values[0].items() ^ values[1].items()}):
        # Pages list the compiler of a Spack 1.0 spec; other sources list a dependency instead.
        is_stated = name != "compiler" or are_listed or all(name in each for each in values)
        if not (is_stated and all(dag.tells(id_, name) for id_ in ids)):
            continue
        # The document has a tuple of a list with one text.
        value_a, value_b = (
            (value,) if name in its and isinstance(value, str) else value
            for value, its in zip((each.get(name) for each in values), lists, strict=True)
        )
        yield Difference(name, value_a, value_b, package=package)


def _with_follows(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """Add to the differences of a node the attributes that they normally come with."""
    # The first of each kind: there may be thousands of variants.
    names: dict[str, str] = {}
    for item in differences:
        if item.attribute != "provider" or compiled_languages(item.virtuals):
            names.setdefault(item.attribute.partition(":")[0], item.attribute)

    def leading(item: Difference) -> str:
        return follows(
            item.attribute,
            names.values(),
            is_lacking=None in (item.a, item.b),
            dependency=item.dependency,
            virtuals=item.virtuals,
        )

    return tuple(
        item._replace(follows=leader) if (leader := leading(item)) else item
        for item in differences
    )

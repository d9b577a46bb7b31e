"""Read the own attributes of the records of a catalog, and number their combinations.

Everything is read from the dictionaries of the index: a row of it for each spec would take ten
times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import count
from typing import cast

from spackscope.model.analysis.graphs.graph import COMPILED_IN, Attributes
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.edge_arrays import EdgeKind
from spackscope.model.core.columns import Value
from spackscope.model.core.records import LANGUAGES
from spackscope.model.core.variants import split_variant, variant_key

_PATCHES = "patches"
_NO_COMPILER = "none"

_Texts = tuple[str, ...]
_Links = Callable[[int], Iterable[tuple[int, EdgeKind]]]


class OwnAttributes:
    """The attributes of records by their ids; `links` returns the dependencies of one.

    Safe to use from several threads.
    """

    def __init__(self, catalog: Catalog, links: _Links) -> None:
        self._columns = catalog.column_arrays
        self._dictionaries = catalog.dictionaries
        self._links = links
        # Numbers from a counter, since threads that add at once would see the same length.
        self._numbers: dict[tuple[int, ...], int] = {}
        self._next_number: Callable[[], int] = count().__next__
        self._number_of: dict[int, int] = {}
        self._attributes: dict[int, Attributes] = {}

    def number(self, id_: int) -> int:
        """Return a number that is equal for records with equal attributes."""
        if (known := self._number_of.get(id_)) is not None:
            return known
        look_alike, column = self._columns.look_alike(id_), self._columns.column
        node, arch = column("node")[id_], column("arch")[look_alike]
        key = (
            column("package")[look_alike],
            column("version")[look_alike],
            column("extra")[look_alike],
            self._variant_sets[column("variant_set")[look_alike]],
            arch if self._states_compiler(id_, node) else self._bare_arches[arch],
            node,
        )
        if (number := self._numbers.get(key)) is None:
            number = self._numbers.setdefault(key, self._next_number())
        self._number_of[id_] = number
        return number

    def _lists(self, column: str) -> Sequence[_Texts]:
        return cast(Sequence[_Texts], self._dictionaries.values(column))

    @cached_property
    def _variant_sets(self) -> list[int]:
        """For each set of variants the first with the same variants in any order."""
        first: dict[_Texts, int] = {}
        sets = self._lists("variants")
        keys = (tuple(sorted(map(variant_key, set_))) for set_ in sets)
        return [first.setdefault(key, code) for code, key in enumerate(keys)]

    @cached_property
    def _arches(self) -> list[tuple[str, str, str]]:
        texts = self._dictionaries.texts
        return list(zip(texts("platform"), texts("os"), texts("target"), strict=True))

    @cached_property
    def _bare_arches(self) -> list[int]:
        """A number for each architecture without its compiler, apart from those with one."""
        first: dict[_Texts, int] = {}
        return [-1 - first.setdefault(arch, code) for code, arch in enumerate(self._arches)]

    def _states_compiler(self, id_: int, node: int) -> bool:
        """Check whether the compiler of a record is its attribute, and not a dependency."""
        format_ = self._dictionaries.nodes[node].spec_format
        if format_:
            return format_ < COMPILED_IN
        kinds = (kind for _, kind in self._links(id_))
        return not any(set(LANGUAGES).intersection(kind.virtuals) for kind in kinds)

    def attributes(self, id_: int) -> Attributes:
        """Return the own attributes of a record."""
        number = self.number(id_)
        if (attributes := self._attributes.get(number)) is None:
            attributes = self._attributes[number] = self._read(id_)
        return attributes

    def _read(self, id_: int) -> Attributes:
        look_alike, column = self._columns.look_alike(id_), self._columns.column
        arch, code = column("arch")[look_alike], column("node")[id_]
        node, texts = self._dictionaries.nodes[code], self._dictionaries.texts
        compiler = texts("compiler")[arch]
        if compiler == _NO_COMPILER or not self._states_compiler(id_, code):
            compiler = ""
        variant_set = column("variant_set")[look_alike]
        variants = dict(self._variants[variant_set])
        patches = variants.pop(_PATCHES, ())
        extra = column("extra")[look_alike]
        return Attributes(
            package=texts("package")[column("package")[look_alike]],
            version=texts("version")[column("version")[look_alike]],
            namespace=texts("namespace")[extra],
            variants=variants,
            lists=frozenset(_names_of_lists(self._lists("variants")[variant_set])),
            flags=self._flags[extra],
            patches=node.patches or patches,
            package_hash=node.package_hash,
            platform=texts("platform")[arch],
            os=texts("os")[arch],
            target=texts("target")[arch],
            compiler=compiler,
            external=node.external,
            external_modules=node.external_modules,
            external_attributes=node.external_attributes,
            spec_format=node.spec_format,
        )

    @cached_property
    def _variants(self) -> _Decoded:
        """The values of the variants in each set, by their names."""
        return _Decoded(self._dictionaries.values("variants"), _split_variant)

    @cached_property
    def _flags(self) -> _Decoded:
        """The words of the compiler flags in each set, by the names of the flags."""
        return _Decoded(self._dictionaries.values("flags"), _split_flag)


class _Decoded(dict[int, dict[str, _Texts]]):
    """What the codes of lists of texts mean, each read when it is first needed."""

    def __init__(
        self, values: Sequence[Value], split: Callable[[str], tuple[str, _Texts]]
    ) -> None:
        self._values = cast(Sequence[_Texts], values)
        self._split = split

    def __missing__(self, code: int) -> dict[str, _Texts]:
        decoded = self[code] = dict(map(self._split, self._values[code]))
        return decoded


def _split_variant(variant: str) -> tuple[str, _Texts]:
    return split_variant(variant_key(variant))


def _split_flag(flag: str) -> tuple[str, _Texts]:
    name, _, words = flag.partition("=")
    return name, tuple(words.split())


def _names_of_lists(variants: _Texts) -> Iterator[str]:
    """Yield the names of variants that are written as `name:=values`."""
    for variant in variants:
        name, equals, _ = variant.partition("=")
        if equals and name.endswith(":") and name[:-1] != _PATCHES:
            yield name[:-1]

"""The column registry: everything about each column, and how its values are spelt.

A column is one entry of `REGISTRY`. The tables of the index, the query keys, the table, its
filters and its title, the detail pane, `find`, the exports and the completions read it from there.

To add one, add an entry, such as `Column("digest", attribute="package_hash")`: its name, and the
attribute of `Spec` that it shows if that has another name. Indexes are then built anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal

from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.records import NO_COMPILER, STATES, UNKNOWN, YES, Spec
from spackscope.model.core.text import cell_width, clean, shorten
from spackscope.model.core.versions import version_key

SHORT_HASH = 7
"""Characters of a hash that Spack shows in lists."""

MAX_SIZE_WIDTH = len("1000 MB")
"""Cells that a size takes at most."""

_SOURCE_WIDTH = 20
"""Cells of a source in the table; sources differ at their ends."""


def spec_name(package: str, version: str) -> str:
    """Return the clean name of a spec, as `hdf5@1.14.6`; without a version only the package."""
    return clean(f"{package}@{version}" if version else package) or "(no name)"


def value_cell(value: Any) -> str:
    """Return a text, or several texts separated by blanks; `-` for an empty text."""
    return clean(" ".join(value)) if isinstance(value, tuple) else clean(str(value or "")) or "-"


def compiler_cell(value: str) -> str:
    """Return a compiler with a short hash, or words for none, and where none is stated."""
    if not value or value == NO_COMPILER:
        return "no compiler" if value else UNKNOWN
    compiler, slash, hash_ = value.partition("/")
    return value_cell(compiler + slash + hash_[:SHORT_HASH])


def stacks_cell(stacks: tuple[str, ...]) -> str:
    """Return stacks separated by commas, without `root`, the union of all, if there are others."""
    return clean(", ".join([stack for stack in stacks if stack != "root"] or stacks))


def sources_cell(sources: tuple[str, ...]) -> str:
    """Return sources, each cut to whole parts of its path."""
    return ", ".join(shorten_path(clean(source), _SOURCE_WIDTH) for source in sources)


def shorten_path(name: str, cells: int) -> str:
    """Shorten a path or an address to some cells: to whole parts from its end if any fit."""
    parts = name.split("/")
    if cell_width(name) > cells:
        for first in range(1, len(parts)):
            tail = "/".join(parts[first:])
            if cell_width(tail) <= cells and parts[first] and parts[-1]:
                return tail
    return shorten(name, cells)


def size_text(size: float | None) -> str:
    """Return a size in bytes in a fitting unit with at most three digits; `-` for None."""
    if size is None:
        return "-"
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        # 999.96 MB would be shown as 1000 MB, and 99.96 MB as 100.0 MB.
        if size >= factor * 0.9995:
            number = size / factor
            return f"{number:.0f} {unit}" if number >= 99.95 else f"{number:.1f} {unit}"
    return f"{size:.0f} B"


def sizes_text(sizes: Sequence[float | None]) -> str:
    """Return the sum of sizes in bytes, some of them unknown: `210 MB + 4 unknown`."""
    known = [size for size in sizes if size is not None]
    if sizes and not known:
        return "size unknown"
    unknown = len(sizes) - len(known)
    return size_text(sum(known)) + (f" + {unknown:,} unknown" if unknown else "")


Value = str | tuple[str, ...] | float | None

BY_HOST = "host"
"""The storage of columns whose values depend on the host, which an index does not have."""


class Column(Frozen):
    """One column.

    `name` is its key in a query, and by default all of these: `label` is its head, `storage` the
    table of the index that has its values, each once (a dictionary, which columns may share), and
    `attribute` the attribute of a record that is stored there. A column with `derive` stores
    nothing; it computes its value from attributes that other columns store.

    Orders count from 1; 0 leaves the column out. Columns with the same order are in the order of
    the registry.
    """

    name: str
    label: str = ""
    storage: str = ""
    attribute: str = ""

    # The value.
    derive: Callable[[Any], Value] | None = None
    """Computes the value from a record, or from an entry of the dictionary, alike."""
    is_list: bool = False
    """Whether the value is a tuple of texts, not a text."""
    restores: tuple[str, ...] = ()
    """The fields of `Spec` that a stored value stands for, if not the attribute."""
    restore: Callable[[Any], tuple[Any, ...]] = lambda value: (value,)
    """Returns the values of the fields in `restores` for a stored value."""
    sort_key: Callable[[Any], Any] = lambda value: value
    mask: Callable[[Any, Any], bytes] | None = None
    """Marks the records of an `IndexData`, by their ids, that a `Term` fits, negated or not.

    None for a column of a dictionary, whose values look-alikes share.
    """
    empty: str = "none"
    """The word for an empty value where values are counted."""
    absent: str = ""
    """The value of a record that has none; it is the last where values are counted."""
    rests_on_configuration: bool = False
    """Whether its values rest on the configuration of Spack, too."""

    # In a query.
    syntax: Literal["spack", "spec", "record"] = "record"
    """Who knows the key: Spack, or spackscope, for any spec or only for whole records."""
    aliases: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    """The words that mean a value without the key, each with its value."""
    once: bool = False
    """Whether Spack refuses a spec that states it twice."""
    completes: tuple[Literal["key", "values"], ...] = ("key", "values")
    is_guessed: bool = True
    """Whether advice suggests values that are spelt nearly like one without a match."""
    sigil: str | None = None
    """The text that a completion writes before a value; None: the key and `=`."""

    # In the table.
    format: Callable[[Any], str] = value_cell
    """Spells a value as a cell."""
    shown: Literal["always", "if_any", "if_varied", "if_named", "never"] = "if_varied"
    width: int = 0
    """Cells of the longest value, for a column without a dictionary."""
    min_width: int = 99
    """The width in cells below which the table leaves the column out rather than cut it."""
    align_right: bool = False
    cut_at_end: bool = False
    """Whether long values are cut at the end, as suits lists; others are cut in the middle."""

    # In the title of the table, where all rows have the same value.
    in_title: Callable[[Collection[Value]], bool] = lambda values: True
    """Whether the title mentions the column, by its values in the whole index."""
    title: Callable[[Any], str] | None = None
    """Spells the value; None: as a cell."""

    # In the detail pane.
    detail_order: int = 50
    empty_in_detail: Callable[[Spec], bool] = lambda spec: False
    """Whether a record without a value has a line for it."""

    # In the output of commands.
    in_find: bool = True
    """Whether the table of `find` has it."""
    meaning: str = ""
    """What the values are, in a few words."""
    find_prefix: str | None = ""
    """The text before a value that all rows share; None leaves the value out."""
    export_order: int = 50

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.name)
        object.__setattr__(self, "storage", self.storage or self.name)
        if self.derive is None:
            object.__setattr__(self, "attribute", self.attribute or self.name)
            object.__setattr__(self, "restores", self.restores or (self.attribute,))

    @cached_property
    def value(self) -> Callable[[Any], Value]:
        """The function that returns the value of a record, or of an entry of the dictionary."""
        return self.derive or attrgetter(self.attribute)

    def cell(self, value: Value) -> str:
        """Return a value, or one text of a list, as a cell: clean, on one line, in full length."""
        is_text_of_list = self.is_list and isinstance(value, str)
        return value_cell(value) if is_text_of_list else self.format(value)

    def is_absent(self, value: Value) -> bool:
        """Check whether a record with this value has none, as with no compiler."""
        return not value or value == self.absent

    @property
    def keys(self) -> tuple[str, ...]:
        """Its keys in a query."""
        return (self.name, *self.aliases)

    @property
    def json_key(self) -> str:
        """Its key in JSON and CSV."""
        return self.attribute or self.name

    @property
    def has_dictionary(self) -> bool:
        """Whether the index has a dictionary of its values, which many records share."""
        return self.mask is None

    @property
    def is_by_host(self) -> bool:
        """Whether its values depend on the host."""
        return self.storage == BY_HOST


_TITLE_WIDTH = 24


def _vary(values: Collection[Value]) -> bool:
    return len(values) > 1


def _by_compiler(compiler: str) -> tuple[Any, ...]:
    name, _, version = compiler.partition("@")
    return name, version_key(version), compiler


def _by_variant_names(variants: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple((text.lstrip("+~"), text) for text in variants)


def _vary_unexpectedly(values: Collection[Value]) -> bool:
    """Check whether states vary more than in sources where nothing is installed."""
    return len(set(values) - {(), ("explicit",), ("needed",)}) > 1


def _source_title(sources: tuple[str, ...]) -> str:
    if len(sources) > 1:
        return f"in {len(sources):,} sources"
    return shorten_path(clean(sources[0]), _TITLE_WIDTH)


def _answer_cell(values: tuple[str, ...]) -> str:
    """Return an answer about the host; for `no` the first reason, as `target too new +1`."""
    answer, *reasons = values or (UNKNOWN,)
    if answer == UNKNOWN or not reasons:
        return answer
    return clean(reasons[0]) + (f" +{len(reasons) - 1}" if len(reasons) > 1 else "")


def _always(_: object) -> bool:
    """Show the column of a record even if it is empty."""
    return True


# Each line has one group of the fields of a column.
# fmt: off
REGISTRY = (
    Column(
        "hash", mask=lambda data, term: data.hashes.mask(term),
        syntax="spec", once=True, completes=(),
        format=lambda hash_: clean(hash_)[:SHORT_HASH],
        shown="always", width=SHORT_HASH,
        detail_order=0, export_order=2,
        meaning="the full hash",
    ),
    Column(
        "package",
        once=True, completes=("values",),
        min_width=10,
        detail_order=1, empty_in_detail=_always, export_order=1,
        meaning="the name of the package",
    ),
    Column(
        "version", sort_key=lambda version: (version_key(version), version),
        syntax="spec", once=True, completes=("key",),
        shown="always", min_width=7,
        detail_order=2, empty_in_detail=_always, find_prefix="version ", export_order=3,
        meaning="the version",
    ),
    Column(
        "compiler", storage="arch", sort_key=_by_compiler, empty=UNKNOWN, absent=NO_COMPILER,
        syntax="spec", sigil="%",
        format=compiler_cell, shown="always", min_width=11,
        detail_order=3, empty_in_detail=_always, find_prefix="%", export_order=4,
        meaning="such as `gcc@13.2.0`; `none` if it has none",
    ),
    Column(
        "os", storage="arch",
        syntax="spack", aliases=("operating_system",), once=True,
        shown="always", min_width=11,
        detail_order=5, empty_in_detail=_always, export_order=6,
        meaning="the operating system, such as `ubuntu24.04`",
    ),
    Column(
        "target", storage="arch",
        syntax="spack", once=True,
        shown="always", min_width=9,
        detail_order=6, empty_in_detail=_always, export_order=7,
        meaning="the microarchitecture, such as `x86_64_v3`",
    ),
    Column(
        "fits", label="runs here", storage=BY_HOST, is_list=True,
        mask=lambda data, term: data.by_host.mask(term),
        derive=lambda record: record.fit.fits_values if record.fit is not None else (),
        words={"fits": YES}, completes=("key",),
        format=_answer_cell, shown="if_named", min_width=17, cut_at_end=True,
        detail_order=0, export_order=0,
        meaning="whether it runs on the host",
    ),
    Column(
        "reusable", storage=BY_HOST, is_list=True, rests_on_configuration=True,
        mask=lambda data, term: data.by_host.mask(term),
        derive=lambda record: record.fit.reusable_values if record.fit is not None else (),
        words={"reusable": YES}, completes=("key",),
        format=_answer_cell, shown="if_named", min_width=17, cut_at_end=True,
        detail_order=0, export_order=0,
        meaning="whether Spack can reuse it",
    ),
    Column(
        "variants", storage="variant_set", is_list=True, sort_key=_by_variant_names,
        syntax="spec", aliases=("variant",), once=True, completes=(),
        shown="always", min_width=16, cut_at_end=True,
        in_title=lambda values: False, detail_order=0, find_prefix=None, export_order=8,
        meaning="the variants as Spack writes them",
    ),
    Column(
        "stack", label="stacks", storage="stack_set", attribute="stacks", is_list=True,
        aliases=("stacks",),
        format=stacks_cell, shown="if_any", min_width=12, cut_at_end=True,
        detail_order=10, find_prefix="stacks ", export_order=9,
        meaning="the stacks of the cache that contain it",
    ),
    Column(
        "platform", storage="arch",
        syntax="spack", once=True,
        detail_order=4, empty_in_detail=_always, export_order=5,
        in_find=False,  # the name of the operating system implies it
        meaning="such as `linux`",
    ),
    Column(
        "tag",
        min_width=10,
        in_title=_vary, detail_order=8, export_order=11,
        meaning="the tag of the cache",
    ),
    Column(
        "size", mask=lambda data, term: bytes(map(term.matcher("size"), data.sizes)),
        completes=("key",), is_guessed=False,
        format=size_text, width=MAX_SIZE_WIDTH, align_right=True,
        detail_order=9, empty_in_detail=lambda spec: spec.cached, export_order=10,
        meaning="the bytes of its archive, if the source has its size",
    ),
    Column(
        "arch", label="architecture",
        derive=lambda source: (source.platform, source.os, source.target),
        syntax="spack", aliases=("architecture",), completes=(), is_guessed=False,
        shown="never",
        detail_order=0, export_order=0,
    ),
    Column(
        "namespace", storage="extra",
        syntax="spack", once=True, completes=(),
        shown="never",
        detail_order=7, export_order=14,
        meaning="that of the recipe, such as `builtin`",
    ),
    Column(
        "flags", storage="extra", is_list=True,
        syntax="spack", completes=(), is_guessed=False,
        shown="never",
        detail_order=0, export_order=15,
        meaning="compiler flags, such as `cflags=-O2`",
    ),
    Column(
        "provides", attribute="provided_virtuals", is_list=True,
        syntax="spec",
        shown="never",
        detail_order=12, export_order=16,
        meaning="such as `mpi@:3`; `none` if it has none; empty if unknown",
    ),
    Column(
        "state", storage="presence", attribute="states", is_list=True,
        restores=("in_cache", "cached", "installed", "explicit"),
        restore=lambda states: ("needed" not in states, *(s in states for s in STATES[:3])),
        words={state: state for state in STATES}, completes=("values",), sigil="",
        is_guessed=False,
        format=lambda states: clean(", ".join(states)),
        in_title=_vary_unexpectedly, detail_order=11,
        in_find=False, find_prefix=None, export_order=13,
        meaning="some of cached, installed, explicit, needed and spliced",
    ),
    Column(
        "source", storage="presence", attribute="sources", is_list=True,
        restores=("listed_in",),
        completes=("key",),
        format=sources_cell, min_width=16,
        in_title=_vary, title=_source_title, detail_order=0, find_prefix="from ", export_order=12,
        meaning="the sources that list it",
    ),
)
# fmt: on
"""All columns; the columns of the table are in its order."""

FIELDS = {column.name: column for column in REGISTRY}
"""All columns, by name."""

COLUMNS = tuple(column for column in REGISTRY if column.shown != "never")
"""The columns of the table."""

BY_NAME = {column.name: column for column in COLUMNS}

WITH_DICTIONARY = tuple(column.name for column in COLUMNS if column.has_dictionary)
"""The columns whose values an index can count."""

HOST_COLUMNS = frozenset(column.name for column in COLUMNS if column.is_by_host)
"""The columns whose values depend on the host."""

COUNTED = (*WITH_DICTIONARY, *(column.name for column in COLUMNS if column.is_by_host))
"""The columns whose values can be counted."""

WORDS = {word: (column.name, value) for column in REGISTRY for word, value in column.words.items()}
"""The words of a query that mean a value of a column."""

DETAILED = sorted((c for c in REGISTRY if c.detail_order), key=lambda c: c.detail_order)
"""The columns with lines of their own in the detail pane."""

EXPORTED = sorted((c for c in REGISTRY if c.export_order), key=lambda c: c.export_order)
"""The columns of JSON and CSV."""

ALIASES = {alias: column.name for column in REGISTRY for alias in column.aliases}

FLAGS = ("cflags", "cppflags", "cxxflags", "fflags", "ldflags", "ldlibs")
"""The compiler flags of Spack (`lib/spack/spack/spec.py`)."""

INDEXES = Column("indexes", storage="presence", is_list=True)
"""The indexes of sources that list a spec, as `ListedIn.parse` reads them; not shown."""

STORED: dict[str, tuple[Column, ...]] = {
    column.storage: tuple(
        c for c in (*EXPORTED, INDEXES) if c.attribute and c.storage == column.storage
    )
    for column in REGISTRY
    if column.has_dictionary and column.attribute
}
"""The dictionaries, each with the columns that it stores."""

"""The column registry.

A column is one entry of `REGISTRY`. The tables of the index, the query keys, the table, its
filters and its title, the detail pane, `find`, the exports and the completions read it from there.

To add one, add an entry, such as `Column("digest", attribute="package_hash")`: its name, and the
attribute of `Spec` that it shows if that has another name. Then raise SCHEMA_VERSION of the index.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from spackscope.model.core import cells
from spackscope.model.core.column import BY_HOST, PER_RECORD, Column, Value
from spackscope.model.core.records import STATES, UNKNOWN, YES
from spackscope.model.core.text import clean
from spackscope.model.core.versions import version_key

_TITLE_WIDTH = 24


def _vary(values: Collection[Value]) -> bool:
    return len(values) > 1


def _by_compiler(compiler: str) -> tuple[Any, ...]:
    name, _, version = compiler.partition("@")
    return name, version_key(version), compiler


def _by_variant_names(variants: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple((text.lstrip("+~"), text) for text in variants)


def _vary_unexpectedly(values: Collection[Value]) -> bool:
    """Check whether states differ by more than what is normal where nothing is installed."""
    return len(set(values) - {(), ("explicit",), ("needed",)}) > 1


def _source_title(sources: tuple[str, ...]) -> str:
    if len(sources) > 1:
        return f"in {len(sources):,} sources"
    return cells.shorten_path(clean(sources[0]), _TITLE_WIDTH)


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
        "hash", storage=PER_RECORD,
        syntax="spec", once=True, completes=(),
        format=lambda hash_: clean(hash_)[:cells.SHORT_HASH],
        shown="always", width=cells.SHORT_HASH,
        detail_order=0, export_order=2,
    ),
    Column(
        "package",
        once=True, completes=("values",),
        min_width=12,
        detail_order=1, empty_in_detail=_always, export_order=1,
    ),
    Column(
        "version", sort_key=lambda version: (version_key(version), version),
        syntax="spec", once=True, completes=("key",),
        shown="always", min_width=10,
        detail_order=2, empty_in_detail=_always, find_prefix="version ", export_order=3,
    ),
    Column(
        "compiler", storage="arch", sort_key=_by_compiler,
        syntax="spec", sigil="%",
        format=cells.compiler_cell, shown="always", min_width=11,
        detail_order=3, empty_in_detail=_always, find_prefix="%", export_order=4,
    ),
    Column(
        "os", storage="arch",
        syntax="spack", aliases=("operating_system",), once=True,
        shown="always", min_width=11,
        detail_order=5, empty_in_detail=_always, export_order=6,
    ),
    Column(
        "target", storage="arch",
        syntax="spack", once=True,
        shown="always", min_width=9,
        detail_order=6, empty_in_detail=_always, export_order=7,
    ),
    Column(
        "fits", storage=BY_HOST, is_list=True,
        derive=lambda record: record.fit.fits_values if record.fit is not None else (),
        words={"fits": YES}, completes=("key",),
        format=_answer_cell, shown="if_named", min_width=17, cut_at_end=True,
        detail_order=0, export_order=0,
    ),
    Column(
        "reusable", storage=BY_HOST, is_list=True,
        derive=lambda record: record.fit.reusable_values if record.fit is not None else (),
        words={"reusable": YES}, completes=("key",),
        format=_answer_cell, shown="if_named", min_width=17, cut_at_end=True,
        detail_order=0, export_order=0,
    ),
    Column(
        "variants", storage="variant_set", is_list=True, sort_key=_by_variant_names,
        syntax="spec", aliases=("variant",), once=True, completes=(),
        shown="always", min_width=16, cut_at_end=True,
        in_title=lambda values: False, detail_order=0, find_prefix=None, export_order=8,
    ),
    Column(
        "stack", label="stacks", storage="stack_set", attribute="stacks", is_list=True,
        aliases=("stacks",),
        format=cells.stacks_cell, shown="if_any", min_width=12, cut_at_end=True,
        detail_order=10, find_prefix="stacks ", export_order=9,
    ),
    Column(
        "platform", storage="arch",
        syntax="spack", once=True,
        detail_order=4, empty_in_detail=_always, export_order=5,
        in_find=False,  # the name of the operating system implies it
    ),
    Column(
        "tag",
        min_width=10,
        in_title=_vary, detail_order=8, export_order=11,
    ),
    Column(
        "size", storage=PER_RECORD,
        completes=("key",),
        format=cells.size_text, width=cells.MAX_SIZE_WIDTH, align_right=True,
        detail_order=9, empty_in_detail=lambda spec: spec.cached, export_order=10,
    ),
    Column(
        "arch", label="architecture",
        derive=lambda source: (source.platform, source.os, source.target),
        syntax="spack", aliases=("architecture",), completes=(),
        shown="never",
        detail_order=0, export_order=0,
    ),
    Column(
        "namespace", storage="extra",
        syntax="spack", once=True, completes=(),
        shown="never",
        detail_order=7, export_order=14,
    ),
    Column(
        "flags", storage="extra", is_list=True,
        syntax="spack", completes=(),
        shown="never",
        detail_order=0, export_order=15,
    ),
    Column(
        "state", storage="presence", attribute="states", is_list=True,
        restores=("in_cache", "cached", "installed", "explicit"),
        restore=lambda states: ("needed" not in states, *(s in states for s in STATES[:3])),
        words={state: state for state in STATES}, completes=("values",), sigil="",
        format=lambda states: clean(", ".join(states)),
        in_title=_vary_unexpectedly, detail_order=11,
        in_find=False, find_prefix=None, export_order=13,
    ),
    Column(
        "source", storage="presence", attribute="sources", is_list=True,
        restores=("listed_in",),
        completes=("key",),
        format=cells.sources_cell, min_width=16,
        in_title=_vary, title=_source_title, detail_order=0, find_prefix="from ", export_order=12,
    ),
)
# fmt: on
"""All columns; those of the table in its order."""

FIELDS = {column.name: column for column in REGISTRY}
"""All that a query can ask for, by name."""

COLUMNS = tuple(column for column in REGISTRY if column.shown != "never")
"""The columns of the table."""

BY_NAME = {column.name: column for column in COLUMNS}

FACETED = tuple(column.name for column in COLUMNS if column.has_dictionary)
"""The columns whose values an index can count."""

HOST_COLUMNS = frozenset(column.name for column in COLUMNS if column.is_by_host)
"""The columns whose values depend on the host."""

COUNTED = (*FACETED, *(column.name for column in COLUMNS if column.is_by_host))
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

STORED: dict[str, tuple[Column, ...]] = {
    column.storage: tuple(c for c in EXPORTED if c.attribute and c.storage == column.storage)
    for column in REGISTRY
    if column.has_dictionary and column.attribute
}
"""The dictionaries, each with the columns that it stores."""

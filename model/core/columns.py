"""Name the columns of a record: what one table, one query term and one export key are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from spackscope.model.core.records import Spec

Value = str | tuple[str, ...] | float | None
Place = Literal[
    "package", "version", "arch", "variant_set", "stack_set", "tag", "presence", "extra", "spec"
]


@dataclass(frozen=True, slots=True)
class Column:
    """Describe one column.

    `name` is its key in a query, `label` its head, `place` the table of the index that holds its
    value, `value` takes it from a record. A `core` column is always shown; another one only
    where its values differ.
    """

    name: str
    label: str
    place: Place
    value: Callable[[Spec], Value]
    core: bool = True
    hint: str = ""


COLUMNS = (
    Column("hash", "hash", "spec", lambda spec: spec.hash, hint="beginning of the hash"),
    Column("package", "package", "package", lambda spec: spec.package, core=False),
    Column("version", "version", "version", lambda spec: spec.version, hint="1.2 or 1.2:1.4"),
    Column("compiler", "compiler", "arch", lambda spec: spec.compiler, hint="gcc or gcc@13:"),
    Column("os", "os", "arch", lambda spec: spec.os),
    Column("target", "target", "arch", lambda spec: spec.target),
    Column("variants", "variants", "variant_set", lambda spec: spec.variants, hint="+mpi ~cuda"),
    Column("stack", "stacks", "stack_set", lambda spec: spec.stacks),
    Column("platform", "platform", "arch", lambda spec: spec.platform, core=False),
    Column("tag", "tag", "tag", lambda spec: spec.tag, core=False),
    Column("size", "size", "spec", lambda spec: spec.size, core=False, hint="10MB:1GB"),
    Column("state", "state", "presence", lambda spec: spec.states, core=False, hint="installed"),
    Column("source", "source", "presence", lambda spec: spec.sources, core=False),
)
"""All columns, in the order of the table."""

FLAGS = ("cflags", "cppflags", "cxxflags", "fflags", "ldflags", "ldlibs")
"""The compiler flags of Spack (`lib/spack/spack/spec.py`)."""

BY_NAME = {column.name: column for column in COLUMNS}

FIELDS = {
    **BY_NAME,
    "arch": Column(
        "arch", "architectures", "arch", lambda spec: (spec.platform, spec.os, spec.target)
    ),
    "namespace": Column("namespace", "namespaces", "extra", lambda spec: spec.namespace),
    "flags": Column("flags", "flags", "extra", lambda spec: spec.flags),
}
"""All that a query can ask for: the columns, and what no table shows."""

ALIASES = {
    "stacks": "stack",
    "variant": "variants",
    "operating_system": "os",
    "architecture": "arch",
}

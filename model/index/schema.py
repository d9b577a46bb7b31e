"""Name the tables of an index.

Everything but the hash and the size of a record goes through dictionaries, which the column
registry lists: a *look-alike* is one combination of their codes, shared by all specs that differ
in nothing else. Ids are given in display order: by the codes in the order of `CODES`, then by
hash. So look-alikes are adjacent, a range of ids is a range of rows, and the order of codes is
the order of values. Dependency-only specs are *unlisted*, and have the last ids.

`codes` repeats the columns of look_alike, each as one blob of numbers of `width` bytes, and
`first` with the number of specs after it. `preferred` has the ids of look-alikes in the order in
which they are listed by default. The edges to dependencies are there too, in CSR form: spec i
owns the edges edge_first[i]:edge_first[i + 1] of `edge_child`, the ids of the dependencies, and
`edge_kind`, the codes of deptypes and virtuals. The ids after those of all specs are those of
`absent`: dependencies that no document describes. `up_first`, `up_parent` and `up_kind` are the
same edges from dependencies to dependents.

`node` has what nodes state beside the columns, each combination once; the code `node` of each spec
is in `codes`. `provenance` has what is known of few records, and read for one record at a time.
"""

from __future__ import annotations

from spackscope.model.core.columns import STORED

SCHEMA_VERSION = 10
"""Raise it with every change of the tables, or of what the readers make of a document."""

_STORAGES = tuple(STORED)
_DOCUMENT = _STORAGES.index("tag") + 1

CODES = (*_STORAGES[:_DOCUMENT], "document", *_STORAGES[_DOCUMENT:], "unlisted")
"""The columns of a look-alike that hold codes, in display order."""


def _dictionary(storage: str) -> str:
    columns = "".join(f", {column.attribute} TEXT" for column in STORED[storage])
    counts = ", first INTEGER, n INTEGER" if storage == "package" else ""
    return f"CREATE TABLE {storage} (id INTEGER PRIMARY KEY{columns}{counts});\n"


TABLES = f"""
{"".join(map(_dictionary, STORED))}
CREATE TABLE look_alike (id INTEGER PRIMARY KEY, {" INTEGER, ".join(CODES)} INTEGER,
                         first INTEGER, n INTEGER);
CREATE TABLE codes (name TEXT PRIMARY KEY, width INTEGER, data BLOB) WITHOUT ROWID;
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, layout TEXT, checked REAL,
                     remark TEXT, failure TEXT, specs INTEGER);
CREATE TABLE document (id INTEGER PRIMARY KEY, source INTEGER, origin TEXT, fingerprint TEXT,
                       specs INTEGER, dependencies INTEGER, page INTEGER, merged INTEGER);
CREATE TABLE edge_kind (id INTEGER PRIMARY KEY, deptypes TEXT, virtuals TEXT);
CREATE TABLE absent (id INTEGER PRIMARY KEY, name TEXT, hash TEXT);
CREATE TABLE spec (id INTEGER PRIMARY KEY, hash TEXT, look_alike INTEGER, size REAL);
CREATE TABLE node (id INTEGER PRIMARY KEY, package_hash TEXT, external TEXT, external_modules TEXT,
                   external_attributes TEXT, patches TEXT, spec_format INTEGER);
CREATE TABLE provenance (spec INTEGER PRIMARY KEY, path TEXT, installed_at REAL, build_spec TEXT);
CREATE TABLE problem (id INTEGER PRIMARY KEY, source INTEGER, document INTEGER, origin TEXT,
                      place TEXT, reason TEXT);
"""

# Created last: keeping an index in order while rows come in at random is several times slower.
INDEXES = """
CREATE INDEX spec_by_hash ON spec (hash);
CREATE INDEX look_alike_by_package ON look_alike (package);
"""

"""Name the tables of an index.

Everything but the hash and the size of a record goes through dictionaries: a *look-alike* is one
combination of package, version, architecture, variants, stacks, tag, document, extra (namespace
and flags) and presence (sources and states), shared by all specs that differ in nothing else. Ids
are given in display order (package, version as Spack orders it, architecture, variants, stacks,
tag, document, then hash). So look-alikes stand together, a range of ids is a range of rows, and
the order of codes is the order of values. What a document lists only because others depend on it
is *unlisted*, and has the last ids.

`codes` holds the columns of look_alike once more, each as one blob of 32-bit numbers, and `first`
with the number of specs behind it. The edges to dependencies stand there too, in the order of the
specs that have them: `edge_first` says where those of each spec begin, `edge_child` has the ids of
the dependencies, and behind all ids those of `absent`, which no document holds, `edge_kind`
the codes of deptypes and virtuals. `up_first`, `up_parent` and `up_kind` say the same the other
way round: who depends on each spec, and on what is absent.

`provenance` holds what is told of some records only, and asked of one at a time.
"""

from __future__ import annotations

SCHEMA_VERSION = 6
"""Raise it with every change of the tables, or of what the readers make of a document."""

CODES = (
    "package",
    "version",
    "arch",
    "variant_set",
    "stack_set",
    "tag",
    "document",
    "extra",
    "presence",
    "unlisted",
)
"""The columns of a look-alike that hold codes, in display order."""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, layout TEXT, checked REAL,
                     remark TEXT, failure TEXT);
CREATE TABLE document (id INTEGER PRIMARY KEY, source INTEGER, origin TEXT, fingerprint TEXT,
                       specs INTEGER, dependencies INTEGER, page INTEGER, merged INTEGER);
CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE package (id INTEGER PRIMARY KEY, name TEXT, first INTEGER, n INTEGER);
CREATE TABLE version (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE arch (id INTEGER PRIMARY KEY, compiler TEXT, os TEXT, platform TEXT, target TEXT);
CREATE TABLE variant_set (id INTEGER PRIMARY KEY, texts TEXT);
CREATE TABLE stack_set (id INTEGER PRIMARY KEY, texts TEXT);
CREATE TABLE extra (id INTEGER PRIMARY KEY, namespace TEXT, flags TEXT);
CREATE TABLE presence (id INTEGER PRIMARY KEY, sources TEXT, states TEXT);
CREATE TABLE edge_kind (id INTEGER PRIMARY KEY, deptypes TEXT, virtuals TEXT);
CREATE TABLE absent (id INTEGER PRIMARY KEY, name TEXT, hash TEXT);
CREATE TABLE look_alike (id INTEGER PRIMARY KEY, package INTEGER, version INTEGER, arch INTEGER,
                         variant_set INTEGER, stack_set INTEGER, tag INTEGER, document INTEGER,
                         extra INTEGER, presence INTEGER, unlisted INTEGER, first INTEGER,
                         n INTEGER);
CREATE TABLE codes (place TEXT PRIMARY KEY, data BLOB) WITHOUT ROWID;
CREATE TABLE spec (id INTEGER PRIMARY KEY, hash TEXT, look_alike INTEGER, size REAL);
CREATE TABLE provenance (spec INTEGER PRIMARY KEY, package_hash TEXT, external TEXT, path TEXT,
                         installed_at REAL, build_spec TEXT);
CREATE TABLE problem (id INTEGER PRIMARY KEY, source INTEGER, document INTEGER, origin TEXT,
                      place TEXT, reason TEXT);
"""

# Made last: keeping an index in order while rows come in at random is several times slower.
INDEXES = """
CREATE INDEX spec_by_hash ON spec (hash);
CREATE INDEX look_alike_by_codes
    ON look_alike (arch, variant_set, stack_set, version, package, tag, document, extra, presence,
                   unlisted, first, n);
CREATE INDEX look_alike_by_package ON look_alike (package);
"""

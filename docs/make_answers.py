"""Make the table of the columns of every answer, by asking each on the example files."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import tempfile
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from spackscope.model.report.sheet import Sheet
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import parse_arguments
from spackscope.tui.cli.command_table import LISTED
from spackscope.tui.cli.commands.command_line import CommandLine
from spackscope.tui.settings import DEFAULTS

_QUESTIONS = {
    "find": "find --host=zen3 -f mirror",
    "show": "show xb7lgxu -f mirror -f tree; show pfqg2xi -f sample",
    "needs": "needs bzip2 -f mirror",
    "files": "files hdf5 -f tree",
    "cover": "cover new/spack.lock -f index.json",
    "cover --host": "cover new/spack.lock -f index.json --host zen3",
    "why": "why new/spack.lock -f index.json; why hdf5 -f index.json",
    "duplicates": "duplicates old/spack.lock",
    "diff": "diff uehz56w wuqgt3p -f index.json; diff uehz56w nobwc3y -f sample",
    "diff of sources": "diff old/spack.lock new/spack.lock",
    "stats": "stats mpi -f sample hdf5",
    "sources": "sources -f mirror; sources -f index.json",
    "sources --tags": "sources --tags",
    "sources --problems": "sources --problems -f index.json",
}
"""The answers, each with command lines that have rows; others are asked without words.

Each column without a value in some row has none in a row of one of them.
"""

_EXAMPLES = Path(__file__).parents[1] / "sample_data" / "examples.zip"

_HASH = "xb7lgxuszfsvwe7mgdjsuqrntq3ejdcm"
"""The hash on standard input."""

_TAGS = '{"develop-2026-01-18": [{"label": "root", "url": "index.json"}]}'

_TYPES = {str: "text", bool: "true, false", int: "number", float: "number", type(None): ""}

_NEVER_KNOWN = {
    "document": "text",
    "build_seconds": "number",
    "checked": "number",
    "built_with": "text",
    "failure": "text",
    "follows": "text",
    "page": "text",
    "place": "text",
    "rule": "text",
    "remark": "text",
    "source": "text",
    "state": "text",
}
"""The types of columns in which the examples have no value."""

_MEANINGS = {
    "package": "the name of the package",
    "hash": "the full hash",
    "version": "the version",
    "compiler": "such as `gcc@13.2.0`; `none` if it has none",
    "platform": "such as `linux`",
    "os": "the operating system, such as `ubuntu24.04`",
    "target": "the microarchitecture, such as `x86_64_v3`",
    "variants": "the variants as Spack writes them",
    "stacks": "the stacks of the cache that contain it",
    "size": "bytes of the archive, if the source has its size; of `files` those of the file",
    "tag": "the tag of the cache",
    "sources": "the sources that list it",
    "states": "some of cached, installed, explicit, needed and spliced",
    "namespace": "that of the recipe, such as `builtin`",
    "flags": "compiler flags, such as `cflags=-O2`",
    "provided_virtuals": "such as `mpi@:3`; `none` if it has none; empty if unknown",
    "build_spec": "the hash that a spliced spec was built as; else empty",
    "page": "the address of its page on cache.spack.io",
    "fits": "whether it runs on the host; null if unknown",
    "reusable": "whether Spack can reuse it; null if unknown; of `why` the value that a query "
    "has for the reason, such as `aarch64 target`, if there is one",
    "reasons": "why not: objects with the name of a rule in `rule`, `of_dependency`, `label` and "
    "`sentence`",
    "rule": "the name of the rule that it breaks",
    "dependencies": "objects with `deptypes` and `virtuals`; null if the source lists none",
    "package_hash": "the hash of the recipe",
    "external": "the prefix of an external",
    "external_modules": "the modules of an external",
    "external_attributes": "further attributes of an external",
    "patches": "checksums of the patches",
    "spec_format": "the version of the spec file",
    "installed_at": "when it was installed",
    "in_cache": "whether a cache has the binary",
    "origin": "the document that has the record",
    "mirrors": "what each mirror answered: `signed`, `key`, and the state of the `archive`",
    "needed_to": "run, external or build",
    "virtuals": "the virtuals that it provides here",
    "state": "cached, installed, external or missing",
    "reason": "why it is missing or not reused, or what is wrong",
    "role": "root, run, build or not needed",
    "differs_in": "how the nearest build differs",
    "nearest": "the hash of the nearest cached spec",
    "tied": "how many specs are equally near",
    "needed_by": "how many specs need it",
    "recorded": "whether an index describes it, without a binary",
    "order": "the position in which it can be built",
    "to": "fetch or build: what an install does",
    "build_seconds": "how long the build took, in an install tree",
    "where": "the sources that have it, or the prefix of an external; of `diff` the path as text",
    "missing": "why the spec itself is missing",
    "place": "the file and line of the rule; of a problem its place in the document",
    "change": "what to change",
    "built_with": "compiler, os and target",
    "mode": "the permissions of a file that can be run, such as 755",
    "link_to": "what a link leads to",
    "causes": "the packages that make the builds differ, each with the fields: `zlib:version`",
    "used_by": "the packages that depend directly on the builds",
    "attribute": "what differs",
    "HASH": "the value of a spec: a column per spec, named by its hash",
    "follows": "the difference that this one follows from",
    "path": "the prefix in the install tree; of `files` the path in the prefix; of `diff` the "
    "dependencies that lead to it",
    "kind": "of a change, a file or a source",
    "part": "own, run, build or users: what the row is about",
    "what": "the package or spec, and what differs or its change",
    "specs": "how many specs",
    "through": "how many more specs changed because of it",
    "old_hash": "the hash before",
    "hashes": "the hashes of all specs of the row",
    "source": "the source",
    "builds": "how many builds",
    "labels": "the names of the indexes of a tag",
    "environment": "the environment; `stack` without one",
    "cached": "how many specs are cached or installed",
    "percent": "the same as a percentage",
    "host": "a host",
    "runs": "the percentage that runs on it",
    "unknown": "how many specs may or may not run there",
    "archives": "bytes of all archives",
    "unknown_sizes": "how many archives have no known size",
    "most_needed": "missing specs that most others need",
    "mpi": "the value of the column or variant: a column each",
    "count": "how many specs have it",
    "share": "their share of all specs, from 0 to 1",
    "layout": "v2 or v3, of a mirror",
    "problems": "how many problems it has",
    "checked": "seconds since the Epoch when it was last known to be current",
    "remark": "a note, such as an age",
    "failure": "why it cannot be read",
    "indexes": "how many indexes the tag has",
    "days": "the age of the tag by its name; a month counts from its first day",
    "stale": "whether it is outdated",
    "urls": "the addresses of its indexes",
    "document": "the document that has the record",
}
"""What columns mean, by their names; those of each spec or axis have one name here."""


@functools.cache
def answer_columns() -> dict[str, list[dict[str, Any]]]:
    """Return the columns of all answers: the name, type and meaning of each, by the answers."""
    names = [command.name for command in LISTED if command.is_answer]
    others = {name: f"{name} -f index.json" for name in names if name not in _QUESTIONS}
    columns: dict[str, list[dict[str, Any]]] = {}
    # A column without a value in one answer has the type that it has in another.
    known = dict(_NEVER_KNOWN)
    with _example_files(), contextlib.redirect_stderr(io.StringIO()):
        for answer, questions in {**_QUESTIONS, **others}.items():
            columns[answer], types_of = [], dict[str, tuple[set[str], str]]()
            for question in questions.split("; "):
                for name, types, label in _columns(_sheet(question)):
                    types_of.setdefault(name, (set(), label))[0].update(types)
            for name, (types, label) in types_of.items():
                known[name] = "".join(types) or known[name]
                columns[answer].append(
                    {
                        "name": name,
                        "type": known[name],
                        "null": "" in types,
                        "meaning": _MEANINGS.get(name, label),
                    }
                )
    explained = {column["name"] for each in columns.values() for column in each}
    assert explained >= set(_MEANINGS), set(_MEANINGS) - explained
    return columns


def answer_table() -> str:
    """Return the table of the columns of all answers in Markdown, each explained once."""
    lines = ["| answer | column | value | meaning |", "|---|---|---|---|"]
    explained: set[str] = set()
    answers = answer_columns()
    types: dict[str, list[str]] = {}
    for column in chain.from_iterable(answers.values()):
        types.setdefault(column["name"], []).append(column["type"])
    for answer, columns in answers.items():
        head, known = f"`{answer}`", list[str]()
        for column in columns:
            name = column["name"]
            if name in explained:
                known.append(f"`{name}`")
                continue
            explained.add(name)
            value = " or ".join([*dict.fromkeys(types[name]), *["null"] * column["null"]])
            lines.append(f"| {head} | `{name}` | {value} | {column['meaning']} |")
            head = ""
        if known:
            lines.append(f"| {head} | {', '.join(known)} | | as above |")
    return "\n".join(lines)


@contextlib.contextmanager
def _example_files() -> Iterator[None]:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as directory:
        with ZipFile(_EXAMPLES) as archive:
            archive.extractall(directory)
        Path(directory, "tags.json").write_text(_TAGS)
        Path(directory, "hashes").write_text(_HASH)
        os.chdir(directory)
        try:
            yield
        finally:
            os.chdir(before)


def _sheet(question: str) -> Sheet[Any]:
    options = parse_arguments(question.split())
    environ = {"XDG_CACHE_HOME": os.getcwd(), "XDG_STATE_HOME": os.getcwd(), "HOME": os.getcwd()}
    session = Session(
        environ,
        host=options.host,
        tag_list="tags.json",
        piped={"-": "hashes"},
    )
    asked = CommandLine(options, options.sources or ["index.json"], session, DEFAULTS)
    sheet: Sheet[Any] = import_module(f"spackscope.model.answers.{options.command}").answer(asked)
    return sheet


def _columns(sheet: Sheet[Any]) -> Iterator[tuple[str, set[str], str]]:
    """Yield the name of each column, the types of its values, with "" for null, and its label."""
    for column in sheet.columns:
        name = re.sub(r"^[a-z2-7]{32}$", "HASH", column.name)
        values = [column.value(item) for item in sheet.rows[: len(sheet.rows)]]
        types = {_TYPES.get(type(value), "list") for value in values}
        yield name, types, column.label

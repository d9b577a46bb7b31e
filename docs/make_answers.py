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
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from spackscope.model.report.sheet import Sheet
from spackscope.model.sources.session import Session
from spackscope.tui.cli.arguments import parse_arguments
from spackscope.tui.cli.command_line import CommandLine
from spackscope.tui.cli.command_table import ANSWERS
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


@functools.cache
def answer_columns() -> dict[str, list[dict[str, Any]]]:
    """Return the columns of all answers: the name, type and meaning of each, by the answers."""
    others = {name: f"{name} -f index.json" for name in sorted(ANSWERS - _QUESTIONS.keys())}
    columns: dict[str, list[dict[str, Any]]] = {}
    # A column without a value in one answer has the type that it has in another.
    known = dict(_NEVER_KNOWN)
    with _example_files(), contextlib.redirect_stderr(io.StringIO()):
        for answer, questions in {**_QUESTIONS, **others}.items():
            columns[answer], types_of = [], dict[str, tuple[set[str], str]]()
            for question in questions.split("; "):
                for name, types, meaning in _columns(_sheet(question)):
                    types_of.setdefault(name, (set(), meaning))[0].update(types)
            for name, (types, meaning) in types_of.items():
                known[name] = "".join(types) or known[name]
                columns[answer].append(
                    {
                        "name": name,
                        "type": known[name],
                        "null": "" in types,
                        "meaning": meaning,
                    }
                )
    without = [
        column["name"] for each in columns.values() for column in each if not column["meaning"]
    ]
    assert not without, without
    return columns


def answer_table() -> str:
    """Return the table of the columns of all answers in Markdown, each meaning once."""
    lines = ["| answer | column | value | meaning |", "|---|---|---|---|"]
    explained: dict[str, str] = {}
    for answer, columns in answer_columns().items():
        head, known = f"`{answer}`", list[str]()
        for column in columns:
            name = column["name"]
            if explained.get(name) == column["meaning"]:
                known.append(f"`{name}`")
                continue
            explained.setdefault(name, column["meaning"])
            value = " or ".join([column["type"], *["null"] * column["null"]])
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
    """Yield the name of each column, the types of its values ("" for null), and its meaning."""
    for column in sheet.columns:
        name = re.sub(r"^[a-z2-7]{32}$", "HASH", column.name)
        values = [column.value(item) for item in sheet.rows[: len(sheet.rows)]]
        types = {_TYPES.get(type(value), "list") for value in values}
        yield name, types, column.meaning

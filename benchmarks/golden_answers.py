"""Compare the answers of two programs: what both can say must be the same.

    python -m benchmarks.golden_answers OLD/.venv/bin/spackscope .venv/bin/spackscope

Both answer the same questions about the sample, two indexes that Spack wrote, an environment and a
configuration of Spack, as JSON. Rows, their order, the exit codes, and each column that both have
are compared; columns that only one has, and other words on stderr, are listed, and are no
difference. `--data DIRECTORY` names a directory with `spack0.index.json` and `spack1.index.json`;
without it, the parts of them that the tests use are read. Exits with 1 where an answer differs.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]

_QUERIES = (
    "",
    "hdf5",
    "hdf5 +mpi",
    "hdf5 ~mpi",
    "hdf5@1.14:",
    "%gcc@12:13",
    "%gcc@11.4.0 target=:zen3",
    "target=x86_64_v3",
    "os=ubuntu22.04 | os=ubuntu24.04",
    "!+shared",
    "build_type=Release",
    "cuda_arch=8*",
    "+cuda cuda_arch=80",
    "^zlib-ng@2:",
    "^[virtuals=mpi] openmpi",
    "^mpi !fits",
    "cached fits",
    "reusable",
    "py-*",
    "zlib-ng@2.2: %gcc",
)
_AXES = ("package", "version", "compiler", "os", "target", "state", "mpi", "cuda_arch")

_CONFIGURATION = {
    "packages.yaml": """packages:
  all:
    prefer: ["%gcc@13:"]
  hdf5:
    require: "+mpi"
  zlib-ng:
    require: "@2.2:"
  openmpi:
    buildable: false
    externals: [{spec: "openmpi@4.1.5", prefix: /usr}]
""",
    "concretizer.yaml": """concretizer:
  reuse:
    roots: true
    exclude: ["python@:3.9", "%gcc@:11"]
""",
}
_HOST = "target=zen3 os=ubuntu22.04 glibc=2.36"


class Answer(NamedTuple):
    """An answer: the exit code, the rows on stdout, or the text if it is no JSON, and stderr."""

    code: int
    rows: Any
    messages: str


def main() -> int:
    """Ask both programs each question, and print where they differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("old", type=Path, help="the program whose answers are right")
    parser.add_argument("new", type=Path, help="the program that is checked")
    parser.add_argument("--data", type=Path, help="directory with the two whole indexes")
    parser.add_argument("--quiet", action="store_true", help="print no columns and words of one")
    parser.add_argument("--any-order", action="store_true", help="compare rows as a set")
    options = parser.parse_args()
    programs = (str(options.old.absolute()), str(options.new.absolute()))
    asked = differing = 0
    with tempfile.TemporaryDirectory() as scratch:
        environs = [_environ(Path(scratch) / name) for name in ("old", "new")]
        for words in _questions(Path(scratch), programs[0], environs[0], options.data):
            old, new = (
                _ask(program, words, environ)
                for program, environ in zip(programs, environs, strict=True)
            )
            asked += 1
            notes: list[str] = []
            differences = list(_compare(old, new, notes, any_order=options.any_order))
            differing += bool(differences)
            if differences or (notes and not options.quiet):
                print("spackscope", *(word or "''" for word in words))
            for line in (*differences, *(notes if not options.quiet else ())):
                print(f"    {line[:300]}")
    print(f"{asked} questions, {differing} answers differ")
    return int(differing > 0)


def _environ(home: Path) -> dict[str, str]:
    """Make a home with a configuration of Spack, and return the environment that names it."""
    configuration = home / "spack-config"
    configuration.mkdir(parents=True)
    for name, text in _CONFIGURATION.items():
        (configuration / name).write_text(text, encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "SPACK_USER_CONFIG_PATH": str(configuration),
        "SPACKSCOPE_HOST": _HOST,
        "NO_COLOR": "1",
    }


def _questions(
    scratch: Path, program: str, environ: Mapping[str, str], data: Path | None
) -> Iterator[Sequence[str]]:
    """Yield the words of all questions; hashes in them are those that the program finds."""
    if data is None:
        data, ending = ROOT / "tests" / "data" / "spack", ".json.gz"
    else:
        ending = ".json"
    indexes = [str(data.absolute() / f"{name}.index{ending}") for name in ("spack0", "spack1")]
    lock = str(ROOT / "sample_data" / "environment" / "spack.lock")
    made = scratch / "made.lock"
    packed = ROOT / "tests" / "data" / "spack" / "analysis" / "made.lock.xz"
    made.write_bytes(lzma.decompress(packed.read_bytes()))

    def hashes(source: str, query: str) -> list[str]:
        rows = _ask(program, ["find", "-f", source, "--json", *query.split()], environ).rows
        return [row["hash"] for row in rows]

    for source in ("sample", *indexes):
        for query in _QUERIES:
            words = ["-f", source, *query.split()]
            yield ["find", "--hashes", *words]
            yield ["find", "--json", *words]
        for flags in (["--config", "none"], ["--host", "zen4"], ["--all"], ["--sort", "-version"]):
            yield ["find", "--json", "-f", source, *flags, "hdf5", "reusable"]
            yield ["find", "--json", "-f", source, *flags, "hdf5"]
        for axis in _AXES:
            yield ["stats", "--json", "-f", source, axis]
        yield ["stats", "--json", "-f", source, "--by", "target", "--by", "compiler", "hdf5"]
        found = hashes(source, "hdf5")
        for count in (2, 5):
            yield ["diff", "--json", "-f", source, *found[:count]]
            yield ["diff", "--json", "-f", source, *found[-count:]]
        yield ["diff", "--json", "--build", "--all", "-f", source, *found[:2]]
        for spec in (*found[:3], *hashes(source, "zlib-ng")[:2], *hashes(source, "py-*")[:2]):
            for command in ("show", "needs", "why"):
                yield [command, "--json", "-f", source, spec]
        for query in ("hdf5", "hdf5 +mpi", "zlib-ng", "hdf5@9.9", "openmpi"):
            yield ["why", "--json", "-f", source, *query.split()]
        yield ["why", "--json", "--config", "none", "-f", source, "hdf5"]
        for environment in (lock, str(made)):
            yield ["cover", "--json", "-f", source, environment]
            yield ["cover", "--json", "--missing", "-f", source, environment]
            yield [
                "cover",
                "--json",
                "-f",
                source,
                "--host",
                "zen3",
                "--host",
                "zen4",
                environment,
            ]
            yield ["why", "--json", "-f", source, environment]
        yield ["cover", "--json", "-f", source]
        yield ["duplicates", "--json", "-f", source]
        yield ["duplicates", "--json", "--run", "--inherited", "-f", source, "hdf5"]
        yield ["sources", "--json", "-f", source]
        yield ["sources", "--json", "--problems", "-f", source]
    for command in ("duplicates", "needs"):
        for environment in (lock, str(made)):
            yield [command, "--json", environment]
    for one, other in ((indexes[0], indexes[1]), (lock, str(made)), (lock, indexes[1])):
        yield ["diff", "--json", one, other]
    yield ["find", "--json", "-f", "sample", "-f", indexes[1], "hdf5"]
    yield ["find", "--json", "-f", "sample", "hdff5"]
    yield ["find", "--json", "-f", "sample", "hdf5", "("]
    yield ["find", "--json", "-f", "/nonexistent.json", "hdf5"]


def _ask(program: str, words: Sequence[str], environ: Mapping[str, str]) -> Answer:
    process = subprocess.run(
        [program, *words], env=dict(environ), capture_output=True, text=True, cwd=environ["HOME"]
    )
    try:
        rows = json.loads(process.stdout)
    except ValueError:
        rows = process.stdout.splitlines()
    # Each program has a home of its own, which it may name.
    return Answer(process.returncode, rows, process.stderr.replace(environ["HOME"], "~"))


def _compare(
    old: Answer, new: Answer, notes: list[str], *, any_order: bool = False
) -> Iterator[str]:
    """Yield the differences of two answers, and add what only one of them has to the notes."""
    if old.code != new.code:
        yield f"exit code: {old.code}, now {new.code}"
    if old.messages != new.messages:
        notes.append(f"messages: {old.messages!r}, now {new.messages!r}")
    if not (_is_table(old.rows) and _is_table(new.rows)):
        lines = [sorted(its) if any_order else its for its in (old.rows, new.rows)]
        if lines[0] != lines[1]:
            yield f"lines: {_first_difference(*lines)}"
        return
    if len(old.rows) != len(new.rows):
        yield f"rows: {len(old.rows)}, now {len(new.rows)}"
    columns = [
        list(dict.fromkeys(name for row in rows for name in row)) for rows in (old.rows, new.rows)
    ]
    common = [name for name in columns[0] if name in columns[1]]
    tables = [
        [[row.get(name) for name in common] for row in rows] for rows in (old.rows, new.rows)
    ]
    if any_order:
        tables = [sorted(table, key=json.dumps) for table in tables]
    for number, name in enumerate(common):
        values = [[row[number] for row in table] for table in tables]
        if values[0] != values[1]:
            yield f"column {name}: {_first_difference(*values)}"
    for which, names, others in (("gone", *columns), ("new", *reversed(columns))):
        if only := [name for name in names if name not in others]:
            notes.append(f"columns {which}: {', '.join(only)}")


def _is_table(rows: object) -> bool:
    return isinstance(rows, list) and all(isinstance(row, dict) for row in rows)


def _first_difference(old: Sequence[object], new: Sequence[object]) -> str:
    for number, (one, other) in enumerate(zip(old, new, strict=False), 1):
        if one != other:
            return f"row {number}: {one!r}, now {other!r}"
    return f"{len(old)} rows, now {len(new)}"


if __name__ == "__main__":
    sys.exit(main())

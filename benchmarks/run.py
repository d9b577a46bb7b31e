"""Run all benchmarks, or those named on the command line: `python -m benchmarks.run`."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import analyses, corpus, pairs, spack_index, terminal
from benchmarks.processes import cost
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.view import View
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.loader.load import load, open_cached
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session


def decode_pages(directory: Path) -> int:
    """Decode the JSON of all pages: the minimum work of any reader."""
    count = 0
    for page in directory.rglob("specs.md"):
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("spec_details: "):
                count += len(json.loads(line.removeprefix("spec_details: ")))
    return count


def answer(catalog: Catalog, text: str) -> int:
    """Answer one keystroke as the browser does: packages, listing, summary, first rows."""
    query = parse(text, bare="any")
    catalog.packages(query)
    listing = catalog.listing(View(query))
    listing.precompute()
    catalog.rows(listing.ids[:64])
    return listing.shown


def time_typing(source: str, environ: Mapping[str, str], text: str) -> tuple[float, int]:
    """Time the answers while a text is typed: seconds per key, and the number of keys."""
    catalog = open_cached([source], Session(environ))
    assert catalog is not None
    answer(catalog, "")
    keys, started = 0, time.perf_counter()
    for length in range(1, len(text) + 1):
        with contextlib.suppress(QueryError, Unanswerable):
            answer(catalog, text[:length])
            keys += 1
    return (time.perf_counter() - started) / keys, keys


def time_scans(lines: Sequence[str], text: str, keys: int) -> float:
    """Time scans over lines of text for prefixes of a text: seconds per scan."""
    started = time.perf_counter()
    for length in range(1, keys + 1):
        sum(text[:length] in line for line in lines)
    return (time.perf_counter() - started) / keys


def text_lines(catalog: Catalog) -> list[str]:
    """Return one line of text for each record, for the scan."""
    everything = catalog.listing(View())
    return [
        " ".join((s.package, s.version, s.compiler, s.os, s.target, *s.variants, *s.stacks))
        for s in catalog.specs(everything)
    ]


_INDEX = """
import sys
from spackscope.tui.cli.main import main
sys.exit(main(["index", "--rebuild", "-f", sys.argv[1]]))
"""
_JSON_LOAD = "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))"
_OPEN = """
import os, sys
from spackscope.model.loader.load import open_cached
from spackscope.model.query.ast import Query
from spackscope.model.sources.session import Session
print(len(open_cached([sys.argv[1]], Session(os.environ)).packages(Query())))
"""
_DEPENDENCIES = ("^glibc", "^zlib-ng@2: +shared", "%gcc@13", "^[virtuals=mpi] openmpi", "++shared")


def index_and_query(index: Path, environ: Mapping[str, str], many: int) -> None:
    """Index a Spack database, open the index again, and query dependencies."""
    costs = [
        (cost(_INDEX, [str(index)], environ), cost(_JSON_LOAD, [str(index)], environ))
        for _ in range(max(1, many // 3))
    ]
    seconds = [(ours.seconds, theirs.seconds) for ours, theirs in costs]
    pairs.report("index: time, to json.load", seconds, "ms", 1e3)
    peaks = [(ours.peak, theirs.peak) for ours, theirs in costs]
    pairs.report("index: memory, to json.load", peaks, "MB", 1e-6)
    opened = [
        (cost(_OPEN, [str(index)], environ).seconds, cost("import sqlite3", [], environ).seconds)
        for _ in range(many)
    ]
    pairs.report("index: open", opened, "ms", 1e3)
    catalog = open_cached([str(index)], Session(environ))
    assert catalog is not None
    children = catalog.column_arrays.column("edge_child")
    for text in _DEPENDENCIES:
        # Answers are cached, so each is measured once. The first one reads the edges.
        measured = pairs.seconds(lambda text=text: catalog.count(parse(text)))
        reference = pairs.seconds(lambda: sum(map(bool, children)))
        pairs.report(f"index: {text}", [(measured, reference)], "ms", 1e3)


def main() -> None:
    """Build the corpus and run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--specs", type=int, default=60_000)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument(
        "names",
        nargs="*",
        default=["index", "analyses", "start", "build", "open", "keystroke", "echo", "step"],
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if "index" in arguments.names:
            # First, as it measures memory, and that of this process counts too.
            index = spack_index.build_index(Path(scratch, "index.json"), arguments.specs)
            index_and_query(index, {**os.environ, "XDG_CACHE_HOME": scratch}, arguments.pairs)
        if "analyses" in arguments.names:
            environ = {**os.environ, "XDG_CACHE_HOME": scratch}
            analyses.measure(Path(scratch), environ, arguments.specs, arguments.pairs)
        if {"index", "analyses"}.issuperset(arguments.names):
            return
        pages = corpus.build_pages(Path(scratch, "pages"), arguments.specs)
        environ = {**os.environ, "XDG_CACHE_HOME": scratch}
        source, many = str(pages), arguments.pairs
        catalog = load([source], Session(environ), keep=True)
        print(f"{catalog.total:,} specs in {len(catalog.packages(parse(''))):,} packages")
        if "start" in arguments.names:
            pairs.report("start", terminal.starts(source, environ, many), "ms", 1e3)
        if "build" in arguments.names:
            pairs.compare(
                "build",
                lambda: load([source], Session(environ), rebuild=True, keep=True),
                lambda: decode_pages(pages),
                pairs=max(1, many // 2),
            )
        if "open" in arguments.names:
            pairs.compare(
                "open",
                lambda: subprocess.run(
                    [sys.executable, "-c", _OPEN, source],
                    env=environ,
                    check=True,
                    capture_output=True,
                ),
                lambda: subprocess.run(
                    [sys.executable, "-c", "import sqlite3"], check=True, capture_output=True
                ),
                pairs=many,
            )
        if "keystroke" in arguments.names:
            lines = text_lines(catalog)
            for text in ("ubuntu", "+mpi %gcc@13: target=x86_64_v3", "stack=e4s ~cuda"):
                measured = []
                for _ in range(many):
                    ours, keys = time_typing(source, environ, text)
                    measured.append((ours, time_scans(lines, text, keys)))
                pairs.report(f"keystroke {text[:23]}", measured, "ms", 1e3)
        if "echo" in arguments.names:
            pairs.report("echo", terminal.echoes(source, environ, many), "ms", 1e3)
        if "step" in arguments.names:
            pairs.report("step", terminal.steps(source, environ, many), "bytes")


if __name__ == "__main__":
    main()

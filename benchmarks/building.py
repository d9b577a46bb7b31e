"""Measure how an index is built, refreshed and opened."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from benchmarks import corpus
from benchmarks.measurements import (
    MEGABYTES,
    MILLISECONDS,
    SECONDS,
    Figures,
    Pair,
    alternate,
    seconds,
)
from benchmarks.processes import SPACKSCOPE, Cost, cost, seconds_of
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import open_cached
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session

_INDEX = """
import sys
from spackscope.tui.cli.main import main
sys.exit(main(["index", "--rebuild", "-f", sys.argv[1]]))
"""
_PARSE_PAGES = """
import json, os, sys
for top, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(top, name), encoding="utf-8") as file:
            for line in file:
                if line.startswith("spec_details: "):
                    json.loads(line.removeprefix("spec_details: "))
"""
_JSON_LOAD = "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))"
_OPEN = """
import os, sys
from spackscope.model.index.load import open_cached
from spackscope.model.query.ast import Query
from spackscope.model.sources.session import Session
print(len(open_cached([sys.argv[1]], Session(os.environ)).packages(Query())))
"""
_IMPORT = "import json, zlib"
_DEPENDENCIES = ("^glibc", "^zlib-ng@2: +shared", "%gcc@13", "^[virtuals=mpi] openmpi", "++shared")
CHANGED = 12


def build(source: str, environ: Mapping[str, str]) -> None:
    """Build the index of a source."""
    seconds_of([SPACKSCOPE, "index", "-f", source], environ)


def measure_pages(figures: Figures, source: Path, environ: Mapping[str, str], pairs: int) -> None:
    """Compare building from pages with reading them and parsing their JSON."""
    costs = [
        (cost(_INDEX, [str(source)], environ), cost(_PARSE_PAGES, [str(source)], environ))
        for _ in range(max(1, pairs // 3))
    ]
    _report_costs(figures, "build from pages", "read, parse JSON", costs)


def measure_refresh(
    figures: Figures, source: Path, environ: Mapping[str, str], pairs: int
) -> None:
    """Compare a refresh after a change of a few pages with a whole build."""
    measured: list[Pair] = []
    for number in range(max(1, pairs // 3)):
        corpus.change_pages(source, CHANGED, seed=number)
        index = [SPACKSCOPE, "index", "-f", str(source)]
        measured.append((seconds_of(index, environ), seconds_of([*index, "--rebuild"], environ)))
    figures.add(f"refresh, {CHANGED} pages changed", "whole build", measured, MILLISECONDS)


def measure_json(figures: Figures, index: Path, environ: Mapping[str, str], pairs: int) -> None:
    """Compare indexing a Spack database with `json.load`, and query its dependencies."""
    costs = [
        (cost(_INDEX, [str(index)], environ), cost(_JSON_LOAD, [str(index)], environ))
        for _ in range(max(1, pairs // 3))
    ]
    _report_costs(figures, "build from `index.json`", "`json.load`", costs)
    catalog = _open(index, environ)
    children = catalog.column("edge_child")
    for text in _DEPENDENCIES:
        # Answers are cached, so each is measured once. The first one reads the edges.
        measured = seconds(partial(catalog.count, parse(text)))
        reference = seconds(lambda: sum(map(bool, children)))
        figures.add(f"`{text}`", "add one number an edge", [(measured, reference)], MILLISECONDS)


def measure_open(figures: Figures, source: Path, environ: Mapping[str, str], pairs: int) -> None:
    """Compare opening an index in a new process with importing json and zlib in one."""
    measured = alternate(
        lambda: seconds_of([sys.executable, "-c", _OPEN, str(source)], environ),
        lambda: seconds_of([sys.executable, "-c", _IMPORT], environ),
        pairs,
    )
    figures.add("open an index, count packages", "`import json, zlib`", measured, MILLISECONDS)


def _report_costs(
    figures: Figures, name: str, reference: str, costs: list[tuple[Cost, Cost]]
) -> None:
    times = [(ours.seconds, theirs.seconds) for ours, theirs in costs]
    peaks = [(ours.peak, theirs.peak) for ours, theirs in costs]
    figures.add(name, reference, times, SECONDS)
    figures.add(f"{name}: peak of memory", reference, peaks, MEGABYTES)


def _open(source: Path, environ: Mapping[str, str]) -> Catalog:
    catalog = open_cached([str(source)], Session(environ))
    assert catalog is not None
    return catalog

"""Measure the analyses: run-time kinds, differences of two specs, coverage, fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks import dag_index
from benchmarks.measurements import MILLISECONDS, Figures, seconds
from benchmarks.processes import cost
from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.host import parse_host
from spackscope.model.analysis.kinds import run_kinds
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import load, open_cached
from spackscope.model.sources.session import Session

GROUP_SIZE = 60
LOCKED = 1200

_WALK = "walk the dependencies of each"

_MAIN = """
import sys
from spackscope.tui.cli.main import main
code = main(sys.argv[1:])
sys.exit(code if code > 1 else 0)
"""


def measure(
    figures: Figures, scratch: Path, environ: Mapping[str, str], specs: int, many: int
) -> None:
    """Build an index with real DAGs, and measure each analysis on it."""
    index = dag_index.build_index(Path(scratch, "dags.json"), specs)
    load([str(index)], Session(environ), keep=True)
    catalog = _open(index, environ)
    groups = _groups(catalog)
    print(f"{catalog.total:,} specs in {len(groups):,} groups of look-alikes")
    _kinds(figures, index, environ, groups, many)
    _fits(figures, index, environ)
    lock = dag_index.build_lock(Path(scratch, "spack.lock"), index, LOCKED)
    _processes(figures, index, lock, environ, _two_of(catalog, groups), many)


def _open(index: Path, environ: Mapping[str, str]) -> Catalog:
    catalog = open_cached([str(index)], Session(environ))
    assert catalog is not None
    return catalog


def _groups(catalog: Catalog) -> list[range]:
    """Return the ids of each group of look-alikes."""
    count = len(catalog.first) - 1
    spans = (catalog.span(look_alike) for look_alike in range(count))
    return [range(start, stop) for start, stop in spans if stop - start > 1]


def _two_of(catalog: Catalog, groups: Sequence[range]) -> list[str]:
    """Return the hashes of two look-alikes of a large group."""
    group = max(groups, key=len)
    return [f"/{hash_}" for hash_ in dag_of(catalog).hashes([group[0], group[-1]])]


def _kinds(
    figures: Figures,
    index: Path,
    environ: Mapping[str, str],
    groups: Sequence[range],
    many: int,
) -> None:
    like_60 = sorted(groups, key=lambda group: abs(len(group) - GROUP_SIZE))[:many]
    graph = dag_of(_open(index, environ))
    run_kinds(graph, groups[0])
    measured = [
        (
            seconds(partial(run_kinds, graph, group)),
            seconds(partial(_closures, graph, group)),
        )
        for group in like_60
    ]
    figures.add(f"kinds of {GROUP_SIZE} look-alikes", _WALK, measured, MILLISECONDS)
    graph = dag_of(_open(index, environ))
    ours = seconds(lambda: [run_kinds(graph, group) for group in groups])
    theirs = seconds(lambda: [_closures(graph, group) for group in groups])
    figures.add("kinds of all look-alikes", _WALK, [(ours, theirs)], MILLISECONDS)


def _fits(figures: Figures, index: Path, environ: Mapping[str, str]) -> None:
    catalog = _open(index, environ)
    graph = dag_of(catalog)
    everything = range(graph.count)
    fit = HostFit(catalog, parse_host("target=zen3 glibc=2.34 os=rocky9"))
    measured = seconds(fit.coded), seconds(lambda: graph.reached(everything, run_only=True))
    figures.add("which specs run on a host", "one walk from all specs", [measured], MILLISECONDS)


def _closures(graph: Dag, group: range) -> list[set[int]]:
    """Walk the dependencies of each spec: the least that comparing specs one by one takes."""
    down = graph.catalog.edges.down
    first, nodes = down.first, down.nodes
    closures = []
    for id_ in group:
        reached, waiting = {id_}, [id_]
        while waiting:
            parent = waiting.pop()
            for child in nodes[first[parent] : first[parent + 1]]:
                if child not in reached:
                    reached.add(child)
                    waiting.append(child)
        closures.append(reached)
    return closures


def _processes(
    figures: Figures,
    index: Path,
    lock: Path,
    environ: Mapping[str, str],
    two: Sequence[str],
    many: int,
) -> None:
    """Compare whole processes with one that finds a hash in the same index."""
    source = ["-f", str(index)]
    commands = {
        "`diff` of two specs": ["diff", *source, *two],
        f"`cover` of a lock file of {LOCKED:,} specs": ["cover", *source, str(lock)],
    }
    for name, words in commands.items():
        measured = [
            (
                cost(_MAIN, words, environ).seconds,
                cost(_MAIN, ["find", *source, two[0]], environ).seconds,
            )
            for _ in range(many + 1)
        ]
        figures.add(name, "`find` of one hash", measured[1:], MILLISECONDS)

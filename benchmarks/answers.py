"""Measure the answers of a catalog in one process: to letters, sorting, folding, counts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from benchmarks.measurements import MILLISECONDS, Figures, seconds
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import open_cached
from spackscope.model.index.order import Sort, View
from spackscope.model.index.value_counts import value_counts
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session

_TYPED = ("ubuntu", "+mpi %gcc@13: target=x86_64_v3", "stack=e4s ~cuda")
_COLUMNS = ("version", "compiler", "target", "variants", "stack")
_SCAN = "one scan over lines of text"
_BROWSED = View(best_first=True, folded=True)


def open_catalog(source: str, environ: Mapping[str, str]) -> Catalog:
    """Open the index of a source that was built before; nothing of it is cached yet."""
    catalog = open_cached([source], Session(environ))
    assert catalog is not None
    return catalog


def first_spec(source: str, environ: Mapping[str, str]) -> Spec:
    """Return the first spec of an index."""
    (row,) = open_catalog(source, environ).rows([0])
    return row.spec


def text_lines(catalog: Catalog) -> Iterable[str]:
    """Yield one line of text for each record."""
    for s in catalog.records(catalog.listing(View()).ids):
        yield " ".join((s.package, s.version, s.compiler, s.os, s.target, *s.variants, *s.stacks))


def answer(catalog: Catalog, view: View) -> int:
    """Answer as the browser does: packages, listing, summary, first rows."""
    catalog.packages(view.query)
    listing = catalog.listing(view)
    listing.precompute()
    catalog.rows(listing.ids[:64])
    return listing.shown


def measure(
    figures: Figures, source: str, lines: Sequence[str], environ: Mapping[str, str], pairs: int
) -> None:
    """Compare answers with one scan over a line of text a record."""

    def scan(text: str = "ubuntu22.04") -> float:
        return seconds(lambda: sum(text in line for line in lines))

    for text in _TYPED:
        measured = [(_time_typing(source, environ, text), scan(text)) for _ in range(pairs)]
        figures.add(f"a letter of `{text}`", _SCAN, measured, MILLISECONDS)
    by_version = replace(_BROWSED, sort=Sort("version"))
    changes: dict[str, Callable[[Catalog], object]] = {
        "unfold all": lambda catalog: answer(catalog, replace(_BROWSED, folded=False)),
        "fold all": lambda catalog: answer(catalog, _BROWSED),
        "sort all by version": lambda catalog: answer(catalog, by_version),
        "sort all by hash": lambda catalog: answer(catalog, View(sort=Sort("hash"))),
        "values of all": lambda catalog: [
            value_counts(catalog, Query(), name) for name in _COLUMNS
        ],
    }
    for name, change in changes.items():
        measured = []
        for _ in range(max(1, pairs // 2)):
            catalog = open_catalog(source, environ)
            # The first view of the browser; what it reads is there when a key is pressed.
            answer(catalog, _BROWSED if name != "fold all" else View())
            measured.append((seconds(partial(change, catalog)), scan()))
        figures.add(name, _SCAN, measured, MILLISECONDS)


def _time_typing(source: str, environ: Mapping[str, str], text: str) -> float:
    """Return the mean seconds of an answer while a text is typed."""
    catalog = open_catalog(source, environ)
    answer(catalog, _BROWSED)
    keys, took = 0, 0.0
    for length in range(1, len(text) + 1):
        with contextlib.suppress(QueryError, Unanswerable):
            query = parse(text[:length], packages=())
            took += seconds(partial(answer, catalog, replace(_BROWSED, query=query)))
            keys += 1
    return took / keys

"""Whatever is asked of a catalog can be stopped, and has an end on cycles, pages and no specs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from spackscope.model.analysis.cover import cover, find_nearest
from spackscope.model.analysis.dag import Walker, dag_of
from spackscope.model.analysis.differences import compare_specs
from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.host import parse_host
from spackscope.model.analysis.kinds import run_kinds
from spackscope.model.analysis.nearest import NearestSearch
from spackscope.model.analysis.source_differences import compare_sources
from spackscope.model.answers.duplicates import duplicates
from spackscope.model.answers.stats import find_axis, frequency
from spackscope.model.assist.advice import advise, check_input, relaxations
from spackscope.model.assist.completion import complete
from spackscope.model.core.errors import Cancelled, Unanswerable
from spackscope.model.core.tasks import cancelled_when
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.order import View
from spackscope.model.index.tree import read_tree
from spackscope.model.index.value_counts import value_counts, value_sections
from spackscope.model.query.parser import parse, parse_input
from spackscope.model.report.row_notes import row_notes
from spackscope.model.report.titles import package_summaries
from tests.builders.catalogs import catalog_of, on_host
from tests.builders.nodes import edge, node
from tests.builders.pages import SAMPLE_PAGES, hash_of, record, write_page
from tests.builders.spack import write_index

HOST = "target=x86_64_v3 glibc=2.39"


def summarise(catalog: Catalog) -> object:
    query = parse("fits")
    catalog = on_host(catalog, HOST)
    return [*package_summaries(catalog, query, catalog.packages(query))]


QUESTIONS: dict[str, Callable[[Catalog], object]] = {
    "match": lambda c: c.match(parse("os=x !os=y")),
    "host": lambda c: on_host(c, HOST).match(parse("fits")),
    "values": lambda c: value_counts(c, parse("os=x"), "target"),
    "sections": lambda c: [*value_sections(c, parse("!os=x"))],
    "count": lambda c: frequency(c, parse("!os=x"), [find_axis(c, "os")]),
    "summaries": summarise,
    "tree": lambda c: (tree := read_tree(c, 0)) and tree.read_matching("zlib"),
    "fit": lambda c: HostFit(c, parse_host(HOST)).coded(),
    "differences": lambda c: compare_specs(Walker(dag_of(c)), [0, 1]),
    "kinds": lambda c: run_kinds(dag_of(c), [0, 1]),
    "nearest": lambda c: NearestSearch(dag_of(c)).nearest(0, [0, 1]),
    "cover": lambda c: find_nearest(cover(c, catalog_of(SAMPLE_PAGES))),
    "sources": lambda c: [*compare_sources(c, catalog_of(SAMPLE_PAGES))],
    "duplicates": lambda c: duplicates(c, range(c.total), {}).rows,
    "notes": lambda c: row_notes(c).of(c.listing(View()), c.rows([0])),
    "complete": lambda c: complete(c, parse_input("os=u zl", 7)),
    "advise": lambda c: advise(c, parse("os=x")),
    "check": lambda c: check_input(c, parse_input("os=x", 4)),
    "relax": lambda c: relaxations(c, parse("zlib os=nosuch")),
}


def write_cycles(directory: Path) -> None:
    """Write two builds of hdf5 and zlib that need each other, as Spack writes none."""
    ends = {1: ("hdf5", 3), 2: ("hdf5", 4), 3: ("zlib", 1), 4: ("zlib", 2)}
    nodes = [
        node(hash_of(n), name=name, version=f"1.{n}",
             dependencies=[edge(ends[to][0], hash_of(to), ["link"])])
        for n, (name, to) in ends.items()
    ]  # fmt: skip
    write_index(directory, *nodes)


def write_pages(directory: Path) -> None:
    write_page(directory, [record(1), record(2, versions=["1.2"])], title="zlib")


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("write", [write_cycles, write_pages])
def test_a_question_can_be_stopped_and_has_an_end(
    question: str, write: Callable[[Path], None], tmp_path: Path
) -> None:
    write(tmp_path)
    ask = QUESTIONS[question]
    if write is write_cycles:
        with pytest.raises(Cancelled), cancelled_when(lambda: True):
            ask(catalog_of(tmp_path))
    ask(catalog_of(tmp_path))


@pytest.mark.parametrize("query", ["^zlib", "os=linux ^zlib", "++shared", "cflags=-O2"])
def test_what_pages_do_not_tell_is_refused_and_not_nothing(query: str, tmp_path: Path) -> None:
    write_pages(tmp_path)
    catalog = catalog_of(tmp_path)
    asks: list[Callable[[], object]] = [
        lambda: value_counts(catalog, parse(query), "os"),
        lambda: [*value_sections(catalog, parse(query))],
        lambda: frequency(catalog, parse(query), [find_axis(catalog, "os")]),
        lambda: find_axis(catalog, "flags"),
    ]
    for ask in asks:
        with pytest.raises(Unanswerable):
            ask()

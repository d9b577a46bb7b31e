"""A damaged index is never trusted, and one that is read stays as it was read."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from spackscope.model.analysis.compare import compare
from spackscope.model.analysis.cover import cover
from spackscope.model.analysis.dag import dag_of
from spackscope.model.analysis.doubles import find_doubles
from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.host import parse_host
from spackscope.model.analysis.kinds import run_kinds
from spackscope.model.analysis.nearest import nearest
from spackscope.model.analysis.needs import read_needs
from spackscope.model.analysis.source_differences import compare_sources
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import facets
from spackscope.model.catalog.tree import SECTIONS, read_tree
from spackscope.model.catalog.view import Order, Sort, View
from spackscope.model.core.columns import FACETED
from spackscope.model.index.columns import HEADER, Columns
from spackscope.model.loader.load import index_path, load, open_cached
from spackscope.model.presentation import export
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session

DATA = Path(__file__).parents[2] / "data" / "spack"
SOURCE = str(DATA / "install-tree-1.2")
QUERIES = ("", "gcc", "^gcc", "%gcc", "target=x86_64:", "/a", "++shared", "size=1:")


class Kept:
    """The index file of a real install tree."""

    def __init__(self, directory: Path) -> None:
        self.environ = {"XDG_CACHE_HOME": str(directory / "cache")}
        self.whole = answers(load([SOURCE], Session(self.environ), keep=True))
        kept_at = index_path([SOURCE], Session(self.environ))
        assert kept_at is not None
        path = Path(kept_at)
        self.path = path
        self.data = path.read_bytes()
        self.sections = self.read_sections()

    def load(self) -> Catalog:
        return load([SOURCE], Session(self.environ))

    def flip(self, seed: int, places: Sequence[int]) -> None:
        """Write the file with one byte changed, at one of some places."""
        chance = random.Random(seed)
        data = bytearray(self.data)
        data[chance.choice(places)] ^= chance.randrange(1, 256)
        self.path.write_bytes(data)

    def read_sections(self) -> dict[str, bytes]:
        """Return the sections of the file but the one with the time at which it was built."""
        columns = Columns(self.path.read_bytes())
        return {name: columns.raw(name) for name in columns if name != "meta"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


def answers(catalog: Catalog) -> list[object]:
    """Query a catalog for all that commands and the browser need."""
    answers: list[object] = [catalog.total, catalog.problems, catalog.sources]
    answers.append(catalog.problem_sources)
    rows = catalog.rows(range(catalog.total))
    answers.append(list(export.full_json_lines(map(catalog.full_record, rows))))
    for text in QUERIES:
        query = parse(text)
        folded = View(query, sort=Sort("compiler"), order=Order.PREFERRED, folded=True)
        for view in (View(query), folded):
            listing = catalog.listing(view)
            listing.precompute()
            answers += [list(listing.ids), listing.values.constants, listing.values.widths]
        answers.append(catalog.packages(query))
    for spell in (export.hashes, export.csv_lines, export.tab_lines, export.json_array):
        answers.append(list(spell(catalog.specs(catalog.listing(View(Query()))))))
    answers += [facets(catalog, Query(), column) for column in FACETED]
    catalog.edges.prepare()
    for row in rows:
        answers.append(read_tree(catalog, row.id, SECTIONS))
    return answers + analyses(catalog)


def analyses(catalog: Catalog) -> list[object]:
    """Compare, count and cover what a catalog has."""
    graph = dag_of(catalog)
    ids = range(graph.count)
    host = HostFit(catalog, parse_host("target=zen3 glibc=2.34"))
    return [
        [(graph.attributes(id_), list(graph.links(id_))) for id_ in ids],
        run_kinds(graph, ids),
        [compare(graph, 0, id_) for id_ in ids],
        [nearest(graph, id_, ids) for id_ in ids[:3]],
        [read_needs(catalog, id_) for id_ in ids],
        [(host.of(id_), host.brief(id_)) for id_ in ids],
        list(host.codes()),
        find_doubles(catalog),
        compare_sources(catalog, catalog).same,
        cover(catalog, catalog).hits,
    ]


@pytest.mark.parametrize("end", [HEADER, None], ids=["header", "anywhere"])
@pytest.mark.parametrize("seed", range(30))
def test_whichever_byte_changes_the_answers_stay(seed: int, end: int | None, kept: Kept) -> None:
    kept.flip(seed, range(end or len(kept.data)))

    catalog = kept.load()

    # An index of another version is replaced, and is not damaged.
    assert catalog.was_damaged or answers(catalog) == kept.whole
    assert kept.read_sections() == kept.sections
    again = kept.load()
    assert (again.meta, again.was_damaged) == (catalog.meta, False)


def test_what_is_built_after_damage_answers_as_before(kept: Kept) -> None:
    kept.flip(0, range(HEADER, len(kept.data)))

    catalog = kept.load()

    assert catalog.was_damaged
    assert answers(catalog) == kept.whole


@pytest.mark.parametrize("whole", [True, False], ids=["load", "open"])
@pytest.mark.parametrize("content", [b"", b"\0" * 100_000], ids=["cut", "overwritten"])
def test_what_happens_to_the_file_of_an_index_in_use_changes_no_answer(
    content: bytes, whole: bool, kept: Kept
) -> None:
    kept.path.write_bytes(kept.data)
    catalog = kept.load() if whole else open_cached([SOURCE], Session(kept.environ))
    assert catalog is not None

    kept.path.write_bytes(content)

    assert answers(catalog) == kept.whole


@pytest.mark.parametrize("seed", range(10))
def test_what_is_opened_without_its_sources_is_verified(seed: int, kept: Kept) -> None:
    kept.flip(seed, range(len(kept.data)))

    assert open_cached([SOURCE], Session(kept.environ)) is None

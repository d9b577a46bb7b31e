"""A damaged index is never trusted, and every damage raises IndexDamaged."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest

from spackscope.model.analysis.compare import compare
from spackscope.model.analysis.cover import cover
from spackscope.model.analysis.dag import dag_of
from spackscope.model.analysis.doubles import find_doubles
from spackscope.model.analysis.environment import Availability, environment_of
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
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.loader.load import index_path, load, open_cached
from spackscope.model.presentation import export
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session
from tests.builders import all_records, fix_checksum, hash_of, record, write_page

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
        self.rows = self.read_rows()
        self.used = [at for at in range(len(self.data)) if any(self.data[max(at - 4, 0) : at + 5])]

    def load(self) -> Catalog:
        return load([SOURCE], Session(self.environ))

    def flip(self, seed: int, places: Sequence[int]) -> None:
        """Write the file with one byte changed, at one of some places."""
        chance = random.Random(seed)
        data = bytearray(self.data)
        data[chance.choice(places)] ^= chance.randrange(1, 256)
        self.path.write_bytes(data)

    def read_rows(self) -> list[str]:
        """Return all rows of the file but the time at which it was built."""
        with closing(sqlite3.connect(self.path)) as connection:
            return [row for row in connection.iterdump() if "'built'" not in row]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


def answers(catalog: Catalog) -> list[object]:
    """Query a catalog for all that commands and the browser need."""
    answers: list[object] = [catalog.total, catalog.problems, catalog.sources]
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
    catalog.dependencies.prepare()
    for row in rows:
        answers.append(read_tree(catalog, row.id, SECTIONS))
    return answers + analyses(catalog)


def analyses(catalog: Catalog) -> list[object]:
    """Compare, count and cover what a catalog has."""
    graph = dag_of(catalog)
    ids = range(graph.count)
    host = HostFit(catalog, parse_host("target=zen3 glibc=2.34"))
    wanted = environment_of(catalog, catalog)
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
        cover(wanted, Availability(catalog)).hits,
    ]


# The schema version follows the first 68 bytes; an index of another one is replaced, not damaged.
@pytest.mark.parametrize("end", [68, None], ids=["header", "anywhere"])
@pytest.mark.parametrize("seed", range(30))
def test_whichever_byte_changes_the_answers_stay(seed: int, end: int | None, kept: Kept) -> None:
    kept.flip(seed, range(end or len(kept.data)))

    catalog = kept.load()

    assert catalog.was_damaged or answers(catalog) == kept.whole
    assert kept.read_rows() == kept.rows
    again = kept.load()
    assert (again.meta, again.was_damaged) == (catalog.meta, False)


@pytest.mark.parametrize("seed", range(100))
def test_what_passes_the_checksum_is_answered_or_reported_as_damaged(
    seed: int, kept: Kept
) -> None:
    kept.flip(seed, kept.used)
    fix_checksum(kept.path)

    catalog = open_cached([SOURCE], Session(kept.environ))

    if catalog is not None:
        with suppress(IndexDamaged):
            answers(catalog)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW other AS SELECT 1",
        "CREATE TRIGGER other AFTER INSERT ON spec BEGIN DELETE FROM spec; END",
        "CREATE TABLE other (a)",
        "CREATE INDEX other ON spec (size)",
        "DROP TABLE problem; CREATE VIEW problem AS SELECT * FROM spec",
        "DROP INDEX spec_by_hash",
        "DROP TABLE meta",
        "DELETE FROM codes WHERE name = 'first'",
        "UPDATE codes SET data = zeroblob(1 << 20) WHERE name = 'first'",
        "UPDATE codes SET data = x'00000000ffffffff' WHERE name = 'first'",
        "UPDATE codes SET data = substr(data, 5) WHERE name = 'arch'",
        "UPDATE codes SET data = 'text' WHERE name = 'package'",
        "UPDATE codes SET data = substr(data, 5) || x'ffffffff' WHERE name = 'edge_kind'",
        "UPDATE spec SET hash = '$(reboot)'",
        "UPDATE spec SET hash = upper(hash)",
        "UPDATE spec SET hash = NULL",
        "UPDATE spec SET size = 'large'",
        "UPDATE spec SET size = 1e999",
        "UPDATE spec SET look_alike = 1 << 40",
        "DELETE FROM spec WHERE id = 1",
        "UPDATE look_alike SET version = 1 << 40",
        "UPDATE look_alike SET variant_set = NULL",
        "UPDATE package SET package = x'ff'",
        "UPDATE package SET id = 1 << 40 WHERE id = 1",
        "UPDATE package SET id = -1 WHERE id = 1",
        "UPDATE package SET n = 1 << 62",
        "UPDATE package SET first = 1 << 40",
        "UPDATE package SET n = 1 << 40 WHERE id = 1",
        "UPDATE codes SET width = 3",
        "UPDATE codes SET width = NULL WHERE name = 'package'",
        "UPDATE codes SET data = zeroblob(length(data) - width) WHERE name = 'preferred'",
        "UPDATE codes SET data = x'ff' || substr(data, 2) WHERE name = 'preferred'",
        "UPDATE package SET n = 'many'",
        "UPDATE version SET version = CAST(x'ff' AS TEXT)",
        "UPDATE version SET version = NULL",
        "UPDATE tag SET tag = x'00'",
        "UPDATE arch SET compiler = NULL",
        "UPDATE variant_set SET variants = '{}'",
        "UPDATE variant_set SET variants = '[[1]]'",
        "UPDATE variant_set SET variants = 'text'",
        "UPDATE variant_set SET variants = replace(hex(zeroblob(50000)), '0', '[')",
        "UPDATE extra SET flags = 'null'",
        "UPDATE presence SET states = '[null]'",
        "UPDATE edge_kind SET virtuals = x'00'",
        "UPDATE source SET name = x'00'",
        "UPDATE source SET checked = 'yesterday'",
        "UPDATE source SET failure = NULL",
        "UPDATE source SET specs = 'all'",
        "UPDATE document SET origin = NULL",
        "INSERT INTO problem (origin) VALUES (NULL)",
        "INSERT OR REPLACE INTO provenance VALUES (0, NULL, NULL, '')",
        "DELETE FROM node",
        "UPDATE node SET patches = 'null'",
        "UPDATE node SET spec_format = 'new'",
        "UPDATE codes SET data = x'00000000' WHERE name = 'node'",
        "UPDATE codes SET data = substr(data, 5) || x'ffffffff' WHERE name = 'node'",
        "UPDATE codes SET data = substr(data, 5) || x'ffffffff' WHERE name = 'edge_child'",
        "UPDATE node SET external = x'00'",
        "UPDATE node SET spec_format = -1",
        "UPDATE node SET patches = replace(hex(zeroblob(50000)), '0', '[')",
        "UPDATE node SET id = id + 1000",
        "INSERT OR REPLACE INTO provenance VALUES (0, '', 'today', '')",
    ],
)
def test_an_index_that_somebody_wrote_is_damaged(statement: str, kept: Kept) -> None:
    kept.path.write_bytes(kept.data)
    with closing(sqlite3.connect(kept.path)) as connection:
        connection.executescript(statement)
    fix_checksum(kept.path)

    catalog = kept.load()
    if not catalog.was_damaged:
        with pytest.raises(IndexDamaged):
            answers(catalog)
        catalog = load([SOURCE], Session(kept.environ), was_damaged=True)

    assert catalog.was_damaged
    assert kept.read_rows() == kept.rows
    assert not kept.load().was_damaged


def test_what_is_built_after_damage_answers_as_before(kept: Kept) -> None:
    kept.flip(0, kept.used)

    catalog = kept.load()

    assert catalog.was_damaged
    assert answers(catalog) == kept.whole


def test_an_error_in_an_index_that_is_reused_builds_it_from_the_documents(
    tmp_path: Path,
) -> None:
    for number in (1, 2):
        write_page(tmp_path / "mirror", [record(number)], title=f"package-{number}")
    sources, environ = [str(tmp_path / "mirror")], {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    load(sources, Session(environ), keep=True)
    kept_at = index_path(sources, Session(environ))
    assert kept_at is not None
    path = Path(kept_at)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE spec SET hash = ''")
    fix_checksum(path)
    write_page(tmp_path / "mirror", [record(3)], title="package-2")

    catalog = load(sources, Session(environ))

    assert catalog.was_damaged
    assert [spec.hash for spec in all_records(catalog)] == [hash_of(1), hash_of(3)]

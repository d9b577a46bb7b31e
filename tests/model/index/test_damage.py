"""A damaged index is never trusted, and every damage raises IndexDamaged."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from contextlib import suppress
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
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.index.columns import HEADER
from spackscope.model.loader.load import index_path, load, open_cached
from spackscope.model.presentation import export
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session
from tests.builders import (
    all_records,
    fix_checksum,
    hash_of,
    read_sections,
    record,
    write_page,
    write_section,
)
from tests.builders.catalogs import Section

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
        self.used = [at for at in range(len(self.data)) if any(self.data[max(at - 4, 0) : at + 5])]

    def load(self) -> Catalog:
        return load([SOURCE], Session(self.environ))

    def flip(self, seed: int, places: Sequence[int]) -> None:
        """Write the file with one byte changed, at one of some places."""
        chance = random.Random(seed)
        data = bytearray(self.data)
        data[chance.choice(places)] ^= chance.randrange(1, 256)
        self.path.write_bytes(data)

    def read_sections(self) -> dict[str, Section]:
        """Return the sections of the file but the one with the time at which it was built."""
        sections = read_sections(self.path)
        del sections["meta"]
        return sections


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
    catalog.dependencies.prepare()
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


def json_of(value: object) -> bytes:
    return json.dumps(value).encode()


DEEP = b"[" * 100_000
ALTERED: list[tuple[str, bytes | None]] = [
    ("meta", None),
    ("meta", b"[]"),
    ("meta", b"{}"),
    ("meta", b"text"),
    ("meta", json_of({"fingerprint": "", "nodes": -1})),
    ("first", None),
    ("first", b""),
    ("first", bytes([0, 1])),
    ("first", bytes([1, 1, 1])),
    ("hash", None),
    ("hash", b"x" * 20),
    ("hash_order", b"\xff" * 20),
    ("hash_order", b""),
    ("hash_repeats", bytes([0, 1])),
    ("size", b""),
    ("size", bytes(7)),
    ("arch", b""),
    ("package", None),
    ("version", b"\xff"),
    ("preferred", b""),
    ("edge_kind", b"\xff"),
    ("edge_child", b""),
    ("up_first", b""),
    ("up_parent", b"\xff"),
    ("edge_kinds", json_of([[["link"], [1]]])),
    ("edge_kinds", json_of([["link"]])),
    ("absent", json_of([["a"]])),
    ("package.texts", b"\xff"),
    ("package.texts", json_of(["only one"])),
    ("package.texts", json_of([1, 2])),
    ("package.first", b"\xff"),
    ("package.specs", b"\xff"),
    ("version.texts", json_of([None])),
    ("compiler.texts", json_of([])),
    ("variants.texts", json_of({})),
    ("variants.texts", DEEP),
    ("variants.texts", b"[]"),
    ("variants.lengths", b"\xff"),
    ("variants.places", b"\xff"),
    ("flags.texts", b"null"),
    ("state.lengths", b""),
    ("source.texts", json_of([["a"]])),
    ("sources", json_of([["a"]])),
    ("sources", json_of([["a", "", "", 0, "yesterday", "", ""]])),
    ("sources", json_of([["a", "", "", -1, None, "", ""]])),
    ("sources", json_of([[None, "", "", 0, None, "", ""]])),
    ("documents.0", b"[]"),
    ("documents.0", json_of([None])),
    ("documents.source", b"\xff"),
    ("problems", json_of([[None, None, "", ""]])),
    ("problems", json_of([["a", None, "", "", ""]])),
    ("problems", json_of([[7, None, "", "", ""]])),
    ("provenance.spec", b"\xff"),
    ("provenance.0", json_of([["", "today", ""]] * 100)),
    ("provenance.0", json_of([[None, None, ""]] * 100)),
    ("build_specs", b"{}"),
    ("nodes.0", None),
    ("nodes.0", DEEP),
    ("nodes.0", json_of([["", "", [], "", [], -1]] * 100)),
    ("nodes.0", json_of([["", "", [], "", "null", 0]] * 100)),
    ("node", b"\xff"),
    ("node", bytes(1)),
]


@pytest.mark.parametrize(
    ("name", "data"), ALTERED, ids=[f"{name}-{str(data)[:20]}" for name, data in ALTERED]
)
def test_an_index_that_somebody_wrote_is_damaged(
    name: str, data: bytes | None, kept: Kept
) -> None:
    kept.path.write_bytes(kept.data)
    before = kept.sections.get(name, (b"", 0))[0]
    size = kept.sections.get(name, (b"", 0))[1]
    if data == b"\xff" and size:
        # Only the last number is too large.
        data = before[: len(before) // size - 1] + data + before[len(before) // size :]
    write_section(kept.path, name, data)

    catalog = kept.load()
    if not catalog.was_damaged:
        with pytest.raises(IndexDamaged):
            answers(catalog)
        catalog = load([SOURCE], Session(kept.environ), was_damaged=True)

    assert catalog.was_damaged
    assert kept.read_sections() == kept.sections
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
    write_section(path, "hash", b"")
    write_page(tmp_path / "mirror", [record(3)], title="package-2")

    catalog = load(sources, Session(environ))

    assert catalog.was_damaged
    assert [spec.hash for spec in all_records(catalog)] == [hash_of(1), hash_of(3)]

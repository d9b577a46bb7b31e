"""Tests of the notes on the rows of look-alikes."""

from pathlib import Path

import pytest

from spackscope.model.index.catalog import Catalog
from spackscope.model.index.order import View
from spackscope.model.report.row_notes import MAX_COMPARED, RowNote, row_notes
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import Node, edge, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import write_index

A, B, C, LIB, OTHER, USER, GMAKE = (hash_of(number) for number in range(11, 18))


def app(hash_: str, lib: str, *dependencies: Node) -> Node:
    return node(hash_, name="app", dependencies=[edge("lib", lib, ["link"]), *dependencies])


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """Index two builds of app that run the same, and another that links another lib."""
    nodes = [
        app(A, LIB),
        app(B, LIB, edge("gmake", GMAKE, ["build"])),
        app(C, OTHER),
        *(leaf(LIB, "lib", "1"), leaf(OTHER, "lib", "2"), leaf(GMAKE, "gmake", "4")),
        node(USER, name="user", dependencies=[edge("app", B, ["link"])]),
        *(leaf(hash_of(n), "twin", "1") for n in (30, 31)),
    ]
    nodes[-1]["package_hash"] = "other"
    return catalog_of(write_index(tmp_path, *nodes))


def notes_on(catalog: Catalog, view: View) -> list[tuple[str, int, RowNote]]:
    notes = row_notes(catalog)
    listing = catalog.listing(view, partition=notes.partition)
    rows = catalog.rows(*listing.part())
    found = notes.of(listing, rows)
    return [
        (row.spec.hash, row.count, note) for row, note in zip(rows, found.values(), strict=True)
    ]


def test_folded_rows_have_the_users_of_all_their_builds(catalog: Catalog) -> None:
    assert notes_on(catalog, View(folded=True)) == [
        (B, 3, RowNote(1)),
        (GMAKE, 1, RowNote(1)),
        (LIB, 1, RowNote(2)),
        (OTHER, 1, RowNote(1)),
        (hash_of(30), 2, RowNote(0)),
        (USER, 1, RowNote(0)),
    ]


def test_builds_of_a_row_have_the_packages_in_which_they_differ(catalog: Catalog) -> None:
    ids = [row.id for row in catalog.rows(range(catalog.total)) if row.spec.hash in (A, B, C)]
    assert row_notes(catalog).telling(ids) == "lib"


def test_kinds_have_what_they_differ_in(catalog: Catalog) -> None:
    opened = frozenset(row.look_alike for row in catalog.rows(range(catalog.total)))
    notes = notes_on(catalog, View(folded=True, opened=opened))

    assert notes[:3] == [
        (B, 3, RowNote(1)),
        (B, 2, RowNote(1, ("only build tools",))),
        (C, 1, RowNote(0, ("lib 2, others 1",))),
    ]
    assert notes[-4:-1] == [
        (hash_of(30), 2, RowNote(0)),
        (hash_of(30), 1, RowNote(0, ("twin recipe abc====",))),
        (hash_of(31), 1, RowNote(0, ("twin recipe other",))),
    ]


def test_specs_of_a_kind_have_what_they_are_built_with(catalog: Catalog) -> None:
    rows = catalog.rows(range(catalog.total))
    look_alike = next(row.look_alike for row in rows if row.spec.hash == A)
    opened_kinds = frozenset(row.id for row in rows if row.spec.hash == A)
    view = View(folded=True, opened=frozenset({look_alike}), opened_kinds=opened_kinds)

    assert notes_on(catalog, view)[1:4] == [
        (B, 2, RowNote(1, ("only build tools",))),
        (B, 1, RowNote(1, ("with gmake 4",))),
        (A, 1, RowNote(0, ("without gmake",))),
    ]


def test_pages_tell_nothing(tmp_path: Path) -> None:
    catalog = catalog_of(write_page(tmp_path, [record(1), record(2)], title="zlib"))

    ((_, _, note),) = notes_on(catalog, View(folded=True))
    assert note == RowNote()
    assert row_notes(catalog).partition([0, 1]) == ()


def test_rows_are_told_apart_by_what_the_columns_do_not_show(tmp_path: Path) -> None:
    variants = ("+hl ~mpi", "~hl +mpi", "+hl +mpi", "+hl +mpi +map")
    rows = [record(n, variants=texts.split()) for n, texts in enumerate(variants)]
    rows.append(record(9, variants=["+hl"], os="sles15"))
    catalog = catalog_of(write_page(tmp_path, rows, title="hdf5"))
    listing = catalog.listing(View(folded=True))

    def apart(*widths: tuple[str, int]) -> dict[str, tuple[str, ...]]:
        shown = catalog.rows(*listing.part())
        notes = row_notes(catalog).of(listing, shown, dict(widths))
        found = zip(shown, notes.values(), strict=True)
        return {" ".join(row.spec.variants): note.unlike for row, note in found}

    assert apart(("os", 11)) == {
        "+hl ~mpi": ("~mpi",),
        "~hl +mpi": ("~hl",),
        "+hl +mpi": ("+mpi", "+hl", "no map"),
        "+hl +mpi +map": ("+map",),
        "+hl": ("no mpi",),
    }
    assert apart()["+hl"] == ("sles15",), "what it has is said before what it lacks"
    assert apart(("os", 11), ("variants", 20))["+hl ~mpi"] == (), "a cell says it already"
    alone = catalog_of(write_page(tmp_path / "alone", [record(1)]))
    listing = alone.listing(View(folded=True))
    (note,) = row_notes(alone).of(listing, alone.rows([0]), {}).values()
    assert note.unlike == ()


def test_sources_that_rows_differ_in_have_the_names_of_the_title(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("today", "yesterday")]
    for number, path in enumerate(paths):
        write_page(path, [record(number)])
    catalog = catalog_of(*paths)
    listing = catalog.listing(View(folded=True))
    notes = row_notes(catalog).of(listing, catalog.rows(*listing.part()), {})
    assert sorted(note.unlike for note in notes.values()) == [("today",), ("yesterday",)]


def test_more_builds_than_anybody_reads_are_not_compared(tmp_path: Path) -> None:
    count = MAX_COMPARED + 1
    nodes = [node(hash_of(n), dependencies=..., package_hash=str(n)) for n in range(count)]
    catalog = catalog_of(write_index(tmp_path, *nodes))
    opened = frozenset({catalog.rows([0])[0].look_alike})
    notes = notes_on(catalog, View(folded=True, opened=opened))

    assert notes[0][2] == RowNote(0)
    assert notes[1][2] == RowNote(0, ("one of 501 groups, too many to compare",))

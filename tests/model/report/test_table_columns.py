"""The columns of the table follow from its rows, share a width, and leave the head line."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.text import cell_width
from spackscope.model.index.catalog import Catalog, Listing
from spackscope.model.index.order import USED_BY, View
from spackscope.model.query.parser import parse
from spackscope.model.report.row_cells import RowCells, cut_phrases
from spackscope.model.report.table_columns import (
    MAX_VARIANT_COLUMNS,
    UNLIKE_OTHERS,
    HeadText,
    Layout,
    TableColumn,
    TableColumns,
    choose_columns,
    head_line,
    lay_out,
    variants_line,
)
from spackscope.model.report.titles import shared_texts
from tests.builders.catalogs import all_records, catalog_of
from tests.builders.pages import Record, record, write_page
from tests.tui.browser.look_alike_index import write_look_alikes

HEAD = (
    HeadText("version", "hdf5@1.14.6"),
    HeadText("os", "linux"),
    HeadText("+shared", "+shared"),
    HeadText("+java", "~java"),
    HeadText("+api", "api=default"),
)


def listing_of(path: Path, *variants: str, **fields: Any) -> Listing:
    """List records with some variants each, separated by blanks."""
    records: list[Record] = [
        record(number, variants=texts.split(), **fields) for number, texts in enumerate(variants)
    ]
    return listing_of_pages(write_page(path, records, title="hdf5"))


def listing_of_pages(*pages: Path) -> Listing:
    listing = catalog_of(*pages).listing(View(folded=True))
    listing.precompute()
    return listing


def columns_of(listing: Listing, *filtered: str) -> TableColumns:
    return choose_columns(listing, shared_texts(listing), filtered)


def heads(columns: TableColumns) -> list[str]:
    return [head.text for head in columns.head]


def test_what_all_rows_share_is_in_the_head_line_and_never_a_column(tmp_path: Path) -> None:
    columns = columns_of(listing_of(tmp_path, "api=x +hl ~java +mpi", "api=x ~hl ~java +mpi"))

    assert columns.names == ["+hl", "hash", UNLIKE_OTHERS]
    assert heads(columns) == [
        *("hdf5@1.3.1", "%gcc@13.2.0", "ubuntu24.04", "x86_64_v3", "e4s", "linux"),
        *("+mpi", "~java", "api=x"),
    ]
    assert columns.head[-1].column == "+api"


def test_packages_with_one_build_each_differ_from_nothing(tmp_path: Path) -> None:
    pages = [
        write_page(tmp_path / name, [record(n)], title=name) for n, name in enumerate(("a", "b"))
    ]

    assert UNLIKE_OTHERS not in columns_of(listing_of_pages(*pages)).names


def test_where_a_spec_is_from_follows_the_variants_unless_it_is_filtered(tmp_path: Path) -> None:
    pages = [
        write_page(tmp_path / tag, [record(n, variants=[text])], title="hdf5", tag=tag)
        for n, (tag, text) in enumerate((("v1", "+hl"), ("v2", "~hl")))
    ]
    listing = listing_of_pages(*pages)

    assert columns_of(listing).names[:2] == ["+hl", "tag"]
    assert columns_of(listing, "tag").names[:2] == ["tag", "+hl"]


@pytest.mark.parametrize(
    ("rows", "filtered", "names"),
    [
        # What splits the rows most evenly comes first.
        (
            ("+a +b c=1 patches=1", "+a ~b c=2 patches=2", "+a ~b c=3 patches=3", "~a +b c=1"),
            (),
            ["+b", "+c", "+a", "+patches"],
        ),
        # What was filtered under its head stays a column, and is not in the head line.
        (("+a +b", "~a +b"), ("os", "+b"), ["os", "+b", "+a"]),
    ],
)
def test_what_differs_and_what_was_filtered_is_a_column(
    rows: tuple[str, ...], filtered: tuple[str, ...], names: list[str], tmp_path: Path
) -> None:
    listing = listing_of(tmp_path, *rows)
    columns = columns_of(listing, *filtered)

    assert columns.names == [*names, "hash", UNLIKE_OTHERS]
    assert {head.column for head in columns.head}.isdisjoint(columns.names)
    hidden = choose_columns(listing, (), hidden={*names})
    assert hidden.names == ["hash", UNLIKE_OTHERS]


def test_a_column_has_the_sign_or_the_value_of_a_variant(tmp_path: Path) -> None:
    listing = listing_of(tmp_path, "+a f=x,y", "~a f=z", "+a")
    specs = all_records(catalog_of(tmp_path / "develop" / "hdf5" / "specs.md"))
    columns = {column.name: column for column in columns_of(listing).all}

    cells = {tuple(columns[name].cell(spec) for name in ("+a", "+f")) for spec in specs}
    assert cells == {("+", "x,y"), ("~", "z"), ("+", "")}
    assert columns["+f"].width == 3
    assert columns["+a"].min_width == 1


def test_there_are_not_more_variants_than_can_be_walked_through(tmp_path: Path) -> None:
    many = " ".join(f"+v{number}" for number in range(100))
    columns = columns_of(listing_of(tmp_path, many, many.replace("+", "~")))

    assert len(columns.scrolled) == MAX_VARIANT_COLUMNS


def test_notes_come_last_where_the_source_lists_dependencies(tmp_path: Path) -> None:
    catalog = catalog_of(write_look_alikes(tmp_path / "index.json"))

    def names(**view: Any) -> list[str]:
        return columns_of(catalog.listing(View(parse("hdf5"), **view))).names

    assert names(folded=True) == ["version", "hash", USED_BY, UNLIKE_OTHERS]
    assert names()[-2:] == [USED_BY, UNLIKE_OTHERS]


@pytest.mark.parametrize(("text", "package"), [("package=py-build", False), ("py-*", True)])
def test_package_and_version_are_frozen_where_they_differ(
    text: str, package: bool, sample: Catalog
) -> None:
    columns = columns_of(sample.listing(View(parse(text, packages=()))))

    assert [column.name for column in columns.frozen] == [*["package"] * package, "version"]
    assert "package" not in [column.name for column in columns.scrolled]


def test_one_spec_has_its_fields_in_columns(tmp_path: Path) -> None:
    columns = columns_of(listing_of(tmp_path, "+a"))

    assert {"version", "compiler", "os", "target", "hash"} <= set(columns.names)
    assert "+a" in heads(columns)


def field(name: str, width: int, least: int) -> TableColumn:
    return TableColumn(name, name, width, least, BY_NAME[name])


PACKAGE = field("package", 20, 12)
FIELDS = (field("compiler", 14, 11), field("os", 11, 11))
VARIANTS = tuple(
    TableColumn(f"+{name}", name, len(name), min(len(name), 4))
    for name in ("hl", "fortran", "mpi", "subfiling", "threadsafe")
)
LAST = (
    field("hash", 8, 8),
    TableColumn(USED_BY, USED_BY, 4, 4),
    TableColumn(UNLIKE_OTHERS, UNLIKE_OTHERS, 56, 13),
)
ONE_PACKAGE = TableColumns((), FIELDS + VARIANTS, LAST)
SEVERAL = TableColumns((PACKAGE,), FIELDS + VARIANTS, LAST)


def widths(layout: Layout) -> dict[str, int]:
    return {placed.column.name: placed.width for placed in layout.placed}


def test_every_column_has_its_width_where_there_is_room() -> None:
    layout = lay_out(ONE_PACKAGE, 140)

    assert (layout.before, layout.after) == (0, 0)
    assert all(widths(layout)[c.name] == c.width for c in (*FIELDS, *VARIANTS, *LAST[:2]))
    assert layout.placed[-1].end == 140, "what rows differ in takes the rest"
    second = layout.placed[1]
    assert (layout.at(second.at), layout.at(second.at - 1)) == (second, None)


def test_what_rows_differ_in_has_room_before_variants_at_80_columns() -> None:
    layout = lay_out(ONE_PACKAGE, 73)

    assert widths(layout)[UNLIKE_OTHERS] >= len(UNLIKE_OTHERS)
    assert [name for name in widths(layout) if name[0] == "+"] == [
        "+hl",
        "+fortran",
        "+mpi",
        "+subfiling",
    ]
    assert layout.after == 1


def test_the_target_comes_before_the_compiler_where_there_is_room_for_one() -> None:
    columns = ONE_PACKAGE._replace(scrolled=(FIELDS[0], field("target", 9, 9), FIELDS[1]))
    assert [*widths(lay_out(columns, 36))] == ["target", "hash", UNLIKE_OTHERS]
    assert [*widths(lay_out(columns, 52))][:2] == ["compiler", "target"]
    assert USED_BY in widths(lay_out(columns, 52)), "it has room where the os has none"


@pytest.mark.parametrize("columns", [ONE_PACKAGE, SEVERAL])
@pytest.mark.parametrize("current", [*ONE_PACKAGE.names, ""])
def test_columns_fit_any_width_with_the_hash_and_the_current_one(
    columns: TableColumns, current: str
) -> None:
    for width in range(20, 150):
        layout = lay_out(columns, width, current=current)
        assert layout.placed[-1].end <= width
        assert {"hash"} | {column.name for column in columns.frozen} <= set(widths(layout))
        if width >= 50 and (current in columns.names and current != USED_BY):
            assert current in widths(layout)
        ends = [(placed.at, placed.end) for placed in layout.placed]
        assert all(end < at for (_, end), (at, _) in itertools.pairwise(ends))


def test_scrolling_keeps_the_package_in_view_and_ends_where_all_columns_fit() -> None:
    layout = lay_out(SEVERAL, 70, current="+threadsafe")

    assert next(iter(widths(layout))) == "package"
    assert layout.before > 0
    assert layout.after == 0
    back = lay_out(SEVERAL, 70, current="+threadsafe", first=layout.before)
    assert back == layout, "what is in view is not scrolled"
    assert lay_out(ONE_PACKAGE, 140, first=3).before == 0


def test_a_filter_has_room_for_its_text() -> None:
    assert widths(lay_out(ONE_PACKAGE, 80, floors={"+hl": 9}))["+hl"] == 9


def test_no_column_is_cut_beside_blank_cells() -> None:
    without_notes = TableColumns((), FIELDS + VARIANTS, LAST[:1])
    for width in range(60, 120):
        layout = lay_out(without_notes, width)
        cut = [p for p in layout.placed if p.width < p.column.width]
        assert not cut or layout.placed[-1].end == width


def test_variants_have_the_styles_of_their_signs() -> None:
    for are_marked, style in ((False, ""), (True, "differs")):
        pieces = variants_line("+mpi ~cxx api=v18", are_values_marked=are_marked)
        styles = {text: look for text, look in pieces if text != " "}
        assert styles == {"+mpi": "good", "~cxx": "dim", "api=v18": style}


def line(width: int, current: str = "", before: str = "") -> str:
    pieces = head_line(HEAD, width, current=current, before=before)
    return "".join(piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("width", "options", "shown"),
    [
        (80, {}, "hdf5@1.14.6 · same in all: linux +shared ~java api=default"),
        (58, {}, "hdf5@1.14.6 · same in all: linux +shared ~java api=default"),
        (57, {}, "hdf5@1.14.6 · same in all: linux +shared ~java … 1 more"),
        (50, {}, "hdf5@1.14.6 · same in all: linux +shared … 2 more"),
        (36, {}, "hdf5@1.14.6 · 4 same in all"),
        (38, {"current": "+java", "before": "3 hidden"}, "3 hidden · hdf5@1.14.6 · 4 same in all"),
        (37, {"current": "+java", "before": "3 hidden"}, "3 hidden · hdf5@1.14.6"),
        (26, {}, "hdf5@1.14.6"),
        (10, {}, "hd…@1.14.6"),
    ],
)
def test_values_are_cut_off_whole_and_counted(
    width: int, options: dict[str, str], shown: str
) -> None:
    assert line(width, **options) == shown


def test_the_line_fits_and_has_the_current_value() -> None:
    for width in range(70):
        assert len(line(width)) <= width
        for head in HEAD if width >= 46 else ():
            assert len(line(width, head.column)) <= width
            assert head.text in line(width, head.column)


def test_a_value_knows_its_column_and_a_long_one_is_cut_only_without_room() -> None:
    pieces = {piece.text: piece.column for piece in head_line(HEAD, 80)}
    columns = {"~java": "+java", "hdf5@1.14.6": "version", " · same in all: ": ""}
    assert columns.items() <= pieces.items()
    assert head_line((), 80) == []
    assert [piece.text for piece in head_line((), 80, before="fits hides 4")] == ["fits hides 4"]
    assert head_line(HEAD, 20, before="fits hides 29 of 54 builds")[-1].text.endswith("of 54…")
    (_, piece) = head_line((HeadText("+libs", "libs=" + "x" * 90),), 80)
    assert (len(piece.text), piece.text[-1]) == (28, "…")
    assert head_line((HeadText("+libs", "libs=" + "x" * 60),), 80)[1].text == "libs=" + "x" * 60


def test_the_cells_of_a_row_fill_their_columns(mixed: Catalog) -> None:
    listing = mixed.listing(View(parse("zlib")))
    columns = choose_columns(listing, shared_texts(listing))
    cells, rows = RowCells(listing), mixed.rows(*listing.part())
    for width in (60, 90, 140):
        placed = lay_out(columns, width).placed
        for row in rows[::7]:
            for current, style in (("", "hash"), ("hash", "hash current")):
                pieces = cells.pieces(row, placed, current)
                assert sum(cell_width(text) for text, _ in pieces) == placed[-1].end
                of_hash = [text.strip() for text, its in pieces if its == style]
                assert of_hash == [row.spec.hash[:7]]


@pytest.mark.parametrize(
    ("phrases", "width", "cut"),
    [
        (["+hl", "~cxx", "libxml2"], 12, "+hl … 2"),
        (["only build dependencies differ"], 16, "only build…"),
        (["cflags=-O2 cxxflags=-O3 fflags=-g", "+hl"], 20, "cflags=-O2…"),
        (["neoverse_v1-or-v2", "+hl"], 12, "neove…-or-v2"),
        (["python 3.13.11", "+hl"], 12, "pytho….13.11"),
        ([], 5, ""),
    ],
)
def test_whole_phrases_are_shown_and_the_others_counted(
    phrases: list[str], width: int, cut: str
) -> None:
    assert cut_phrases(phrases, width) == cut

"""Each cell of a row has its place, its text and its style."""

import pytest

from spackscope.model.core.text import cell_width
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.view import View
from spackscope.model.query.parser import parse
from spackscope.model.report.row_cells import RowCells, cut_phrases
from spackscope.model.report.table_columns import choose_columns, lay_out
from spackscope.model.report.titles import shared_texts


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

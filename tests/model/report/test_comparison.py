"""The lines and cells of specs side by side."""

from __future__ import annotations

import pytest

from spackscope.model.analysis.varying import UNKNOWN, Cell, ComparedRow
from spackscope.model.core.frozen import replace
from spackscope.model.report.comparison import (
    ComparedSpec,
    ComparedTable,
    cell_sentence,
    grouped,
    path_in,
    ranks,
    row_label,
    row_path,
    rows_in_sight,
    table_section,
    users_text,
    value_texts,
)
from spackscope.model.report.report import Row, styled

SPECS = tuple(ComparedSpec(number, f"{number}" * 32) for number in range(3))


def cells(*texts: str | None) -> tuple[Cell, ...]:
    return tuple((text and tuple(text.split(","))) or None for text in texts)


def row(attribute: str, *texts: str | None, **fields: object) -> ComparedRow:
    values = cells(*texts)
    return ComparedRow("run", "mpich", attribute, values, **fields)  # type: ignore[arg-type]


def lines_of(table: ComparedTable) -> list[str]:
    """Return the labels of the rows of a table, and its other lines."""
    rows = table_section(table, 80).rows
    return [row.texts[0].strip() for row in rows if isinstance(row, Row)]


def test_equal_rows_and_what_follows_are_folded_away() -> None:
    rows = (
        row("version", "1", "1", "2"),
        row("package_hash", "a", "a", "b", follows="version"),
        row("target", "zen3", "zen3", "?"),
    )
    table = ComparedTable("hdf5", SPECS, 3, (True,) * 3, rows, (), kinds=2)
    assert lines_of(table) == [
        "run-time dependencies",
        "mpich",
        "1 more follows from these (= shows all)",
        "build dependencies nothing differs",
    ]
    assert rows_in_sight(table) == [rows[0]]
    assert rows_in_sight(table, shows_equal=True) == list(rows)


def test_columns_that_are_alike_in_some_rows_are_one() -> None:
    rows = row("version", "1", "2", "1"), row("target", "zen3", "zen3", "zen4")
    specs = [replace(spec, users=2, user_names=(f"p{n}",)) for n, spec in enumerate(SPECS)]
    table = ComparedTable("hdf5", tuple(specs), 3, (True,) * 3, rows, kinds=3)
    first, second = grouped(table, rows[:1]).specs
    assert (first.alike, first.users, first.user_names) == ((0, 2), 4, ("p0", "p2"))
    assert second == specs[1]
    assert [each.values for each in grouped(table, rows[:1]).rows or ()] == [
        cells("1", "2"),
        cells("zen3", "zen3"),
    ]
    assert grouped(table, rows) is table, "each differs from the others"
    assert grouped(table, ()) is table, "nothing to tell them apart by"


def test_it_is_said_what_is_not_told() -> None:
    def notes(table: ComparedTable) -> list[str]:
        rows = (row for row in table_section(table, 80).rows if isinstance(row, Row))
        return [
            row.texts[0].strip() for row in rows if row.cells[0] == styled(row.texts[0], "dim")
        ]

    assert notes(ComparedTable("hdf5", SPECS, 3, (False,) * 3, ())) == [
        "nothing that is listed differs",
        "Dependencies not listed: not compared",
    ]
    mixed = ComparedTable("hdf5", SPECS, 3, (True, True, False), (), ())
    assert notes(mixed) == ["? stands where a source lists no dependencies"]
    assert not mixed.runs_the_same
    own = ComparedRow("own", "hdf5", "version", cells("1", "2", "1"))
    differing = ComparedTable("hdf5", SPECS, 3, (True,) * 3, (own,), (), kinds=2)
    assert notes(differing) == ["nothing differs"]
    assert notes(replace(differing, kinds=1)) == ["nothing differs: all run the same"]
    pending = ComparedTable("hdf5", SPECS, 3, (True,) * 3)
    read = [pending, replace(pending, rows=()), replace(pending, rows=(), build_rows=())]
    assert list(map(lines_of, read)) == [
        ["run-time dependencies", "comparing…"],
        ["run-time dependencies", "nothing differs: all run the same", "build dependencies …"],
        [
            "run-time dependencies",
            "nothing differs: all run the same",
            "build dependencies nothing differs",
        ],
    ]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (cells("1", "1", "2"), ["common", "common", "rare"]),
        (cells("2", "1", "1"), ["rare", "common", "common"]),
        (cells("1", "2"), ["common", "rare"]),
        (cells(None, None, "1"), ["missing", "missing", "common"]),
        ((UNKNOWN, ("1",), ("2",)), ["unknown", "common", "rare"]),
        ((None, UNKNOWN), ["missing", "unknown"]),
    ],
)
def test_the_most_common_value_is_what_others_differ_from(
    values: tuple[Cell, ...], expected: list[str]
) -> None:
    assert ranks(values) == expected


@pytest.mark.parametrize(
    ("attribute", "values", "label", "texts"),
    [
        ("version", ("4.3", None, "?"), "mpich", ["4.3", "-", "?"]),
        ("variant:hwloc", ("+", "~", None), "mpich", ["+hwloc", "~hwloc", "-"]),
        ("variant:pmi", ("pmix", "pmi2"), "mpich", ["pmi=pmix", "pmi=pmi2"]),
        ("variant:wrapperrpath", ("+", "~"), "mpich wrapperrpath", ["+", "~"]),
        ("variant:fabrics", ("rxm,tcp", "tcp", "?"), "mpich fabrics", ["+rxm", "~rxm", "?"]),
        ("variant:netmod", ("a,b,c", "d"), "mpich", ["netmod=a,b,c", "netmod=d"]),
        ("package_hash", ("a" * 32, "b" * 32), "mpich recipe", ["aaaaaaa", "bbbbbbb"]),
        ("patches", (f"{'a' * 64},{'b' * 64}",), "mpich patches", ["aaaaaaa,bbbbbbb"]),
        ("target", ("zen3", "zen4"), "mpich target", ["zen3", "zen4"]),
        ("cflags", ("-O2", None), "mpich cflags", ["-O2", "-"]),
        ("version", ("\x1b[1m",), "mpich", ["␛[1m"]),
    ],
)
def test_values_are_spelled_as_spack_does(
    attribute: str, values: tuple[str, ...], label: str, texts: list[str]
) -> None:
    compared = row(attribute, *values)
    assert (row_label(compared), value_texts(compared)) == (label, texts)
    # Of the specs themselves the attribute alone is named.
    own = replace(compared, part="own")
    assert row_label(own) == (label.partition(" ")[2] or attribute.rpartition(":")[2])


def test_packages_with_the_same_values_are_counted() -> None:
    assert row_label(row("os", "a", "b", packages=("mpich", "zlib", "curl"))) == (
        "mpich and 2 more os"
    )


def test_a_cell_is_described_in_full() -> None:
    compared = row("version", "1.3", "1.3", None, path=("hdf5", "mpich"))
    flags = row("cflags", "?", "-O2", None)
    table = ComparedTable("hdf5", SPECS, 3, (True,) * 3, (compared, flags))
    assert (
        cell_sentence(table, compared, 0) == "0000000: mpich 1.3 · hdf5 › mpich · 2 of 3 the same"
    )
    assert "has no such package" in cell_sentence(table, compared, 2)
    assert [cell_sentence(table, flags, column) for column in range(3)] == [
        "0000000: not listed by its source",
        "1111111: mpich cflags -O2 · 1 of 3 the same",
        "2222222: mpich cflags has none · 1 of 3 the same",
    ]


def test_paths_users_and_summary_are_short() -> None:
    assert row_path(row("version", "1", path=("mpich",))) == ""
    long = row("version", "1", path=("cmake", "curl", "zlib"))
    assert row_path(long) == "cmake › curl › zlib"
    provider = row("provider", "mpich@4", "openmpi@5", None, path=("mpich",))
    assert [path_in(provider, column) for column in range(3)] == [
        ("mpich",),
        ("openmpi",),
        ("mpich",),
    ]
    assert users_text(("vtk", "vtk", "silo")) == "vtk silo"
    specs = (ComparedSpec(1, "a" * 32, (1, 2, 3)), ComparedSpec(4, "b" * 32, (4, 5)), SPECS[0])
    table = ComparedTable("hdf5", specs, 6, left_out=4)
    assert table.summary == (
        "3 of 6 · 2 more are like aaaaaaa · 1 more is like bbbbbbb · 4 not compared"
    )
    assert [table.column_of(id_) for id_ in (3, 5, 0, 99)] == [0, 1, 2, 0]

"""The cells of specs side by side."""

from __future__ import annotations

import pytest

from spackscope.model.presentation.comparison import (
    MISSING,
    UNKNOWN,
    ComparedRow,
    ComparedSpec,
    ComparedTable,
    cell_sentence,
    path_in,
    ranks,
    row_label,
    row_path,
    table_lines,
    users_text,
    value_texts,
)

SPECS = tuple(ComparedSpec(number, f"{number}" * 32) for number in range(3))


def row(attribute: str, *values: str, **fields: object) -> ComparedRow:
    return ComparedRow("run", "mpich", attribute, values, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("1", "1", "2"), ["common", "common", "rare"]),
        (("2", "1", "1"), ["rare", "common", "common"]),
        (("1", "2"), ["common", "rare"]),
        ((MISSING, MISSING, "1"), ["missing", "missing", "common"]),
        ((UNKNOWN, "1", "2"), ["unknown", "common", "rare"]),
        ((MISSING, UNKNOWN), ["missing", "unknown"]),
    ],
)
def test_the_most_common_value_is_what_others_differ_from(
    values: tuple[str, ...], expected: list[str]
) -> None:
    assert ranks(values) == expected


@pytest.mark.parametrize(
    ("attribute", "values", "label", "texts"),
    [
        ("version", ("4.3", MISSING, UNKNOWN), "mpich", ["4.3", "-", "?"]),
        ("variant:hwloc", ("+", "~", MISSING), "mpich", ["+hwloc", "~hwloc", "-"]),
        ("variant:pmi", ("pmix", "pmi2"), "mpich", ["pmi=pmix", "pmi=pmi2"]),
        ("variant:wrapperrpath", ("+", "~"), "mpich wrapperrpath", ["+", "~"]),
        ("variant:fabrics", ("rxm,tcp", "tcp"), "mpich fabrics", ["+rxm", "~rxm"]),
        ("variant:netmod", ("a,b,c", "d"), "mpich", ["netmod=a,b,c", "netmod=d"]),
        ("package_hash", ("a" * 32, "b" * 32), "mpich recipe", ["aaaaaaa", "bbbbbbb"]),
        ("patches", (f"{'a' * 64},{'b' * 64}",), "mpich patches", ["aaaaaaa,bbbbbbb"]),
        ("target", ("zen3", "zen4"), "mpich target", ["zen3", "zen4"]),
        ("cflags", ("-O2", MISSING), "mpich cflags", ["-O2", "-"]),
        ("version", ("\x1b[1m",), "mpich", ["␛[1m"]),
    ],
)
def test_values_are_spelled_as_spack_does(
    attribute: str, values: tuple[str, ...], label: str, texts: list[str]
) -> None:
    compared = row(attribute, *values)
    assert (row_label(compared), value_texts(compared)) == (label, texts)


def test_rows_of_the_specs_themselves_name_the_attribute_only() -> None:
    rows = [
        ComparedRow("own", "hdf5", attribute, values)
        for attribute, values in (("version", ("1", "2")), ("variant:hl", ("+", "~")))
    ]
    assert [(row_label(row), *value_texts(row)) for row in rows] == [
        ("version", "1", "2"),
        ("hl", "+", "~"),
    ]


def test_a_cell_is_described_in_full() -> None:
    compared = row("version", "1.3", "1.3", MISSING, path=("hdf5", "mpich"))
    table = ComparedTable("hdf5", SPECS, 3, (True,) * 3, (compared,))
    line = next(line for line in table_lines(table) if line.row)
    assert cell_sentence(table, line, 0) == "0000000: mpich 1.3 · hdf5 › mpich · 2 of 3 the same"
    assert "has no such package" in cell_sentence(table, line, 2)
    assert cell_sentence(table, table_lines(table)[0], 0) == ""


def test_paths_users_and_summary_are_short() -> None:
    assert row_path(row("version", "1", path=("mpich",))) == ""
    long = row("version", "1", path=("cmake", "curl", "openssl", "zlib"))
    assert [row_path(long, width) for width in (29, 28, 20, 15, 8, 5)] == [
        "cmake › curl › openssl › zlib",
        "cmake › curl › … › zlib",
        "cmake › … › zlib",
        "… › zlib",
        "… › zlib",
        "cm…ib",
    ]
    provider = row("provider", "mpich@4", "openmpi@5", path=("mpich",))
    assert [path_in(provider, column) for column in (0, 1)] == [("mpich",), ("openmpi",)]
    assert users_text(ComparedSpec(1, "a", user_names=("vtk", "vtk", "silo"))) == "vtk silo"
    specs = (ComparedSpec(1, "a" * 32, (1, 2, 3)), ComparedSpec(4, "b" * 32, (4, 5)), SPECS[0])
    table = ComparedTable("hdf5", specs, 6, left_out=4)
    assert table.summary == (
        "3 of 6 · 2 more are like aaaaaaa · 1 more is like bbbbbbb · 4 not compared"
    )
    assert [table.column_of(id_) for id_ in (3, 5, 0, 99)] == [0, 1, 2, 0]

"""The lines of specs side by side."""

from __future__ import annotations

from spackscope.model.core.frozen import replace
from spackscope.model.presentation.comparison import (
    UNKNOWN,
    ComparedRow,
    ComparedSpec,
    ComparedTable,
    table_lines,
)

SPECS = tuple(ComparedSpec(number, f"{number}" * 32) for number in range(3))


def row(attribute: str, *values: str, **fields: object) -> ComparedRow:
    return ComparedRow("run", "mpich", attribute, values, **fields)  # type: ignore[arg-type]


def test_equal_rows_and_what_follows_are_folded_away() -> None:
    rows = (
        row("version", "1", "1", "2"),
        row("package_hash", "a", "a", "b", follows="version"),
        row("target", "zen3", "zen3", UNKNOWN),
    )
    table = ComparedTable("hdf5", SPECS, 3, (True,) * 3, rows, (), kinds=2)
    assert [line.row or line.text for line in table_lines(table)] == [
        "linked or run",
        rows[0],
        "1 more follows from these (= shows all)",
        "to build only nothing differs",
    ]
    assert [line.row for line in table_lines(table, shows_equal=True) if line.row] == list(rows)


def test_it_is_said_what_is_not_told() -> None:
    def notes(table: ComparedTable) -> list[str]:
        return [line.text for line in table_lines(table) if line.kind == "note"]

    assert notes(ComparedTable("hdf5", SPECS, 3, (False,) * 3, ())) == [
        "nothing that is listed differs",
        "Dependencies not listed: not compared",
    ]
    mixed = ComparedTable("hdf5", SPECS, 3, (True, True, False), (), ())
    assert notes(mixed) == ["? stands where a source lists no dependencies"]
    assert not mixed.runs_the_same
    own = ComparedRow("own", "hdf5", "version", ("1", "2", "1"))
    differing = ComparedTable("hdf5", SPECS, 3, (True,) * 3, (own,), (), kinds=2)
    assert notes(differing) == ["nothing differs"]
    assert notes(replace(differing, kinds=1)) == ["nothing differs: all run the same"]
    assert notes(ComparedTable("hdf5", SPECS, 3, (True,) * 3)) == ["comparing…"]

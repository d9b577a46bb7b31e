"""How the rows of specs side by side are spelled."""

import pytest

from spackscope.model.analysis.differences import UNKNOWN, Cell, Difference
from spackscope.model.answers.diff import differing


def cells(*texts: str | None) -> tuple[Cell, ...]:
    return tuple((text and tuple(text.split(","))) or None for text in texts)


def row(attribute: str, *texts: str | None, **fields: object) -> Difference:
    values = cells(*texts)
    return Difference("run", "mpich", attribute, values, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (cells("1", "1", "2"), ["dim", "dim", "differs"]),
        (cells("2", "1", "1"), ["differs", "dim", "dim"]),
        (cells("1", "2"), ["dim", "differs"]),
        (cells(None, None, "1"), ["", "", "dim"]),
        ((UNKNOWN, ("1",), ("2",)), ["dim", "dim", "differs"]),
        ((None, UNKNOWN), ["", "dim"]),
    ],
)
def test_the_most_common_value_is_what_others_differ_from(
    values: tuple[Cell, ...], expected: list[str]
) -> None:
    assert differing(row("version")._replace(values=values)).styles == expected


@pytest.mark.parametrize(
    ("attribute", "values", "label", "texts"),
    [
        ("version", ("4.3", None, "?"), "mpich", ["4.3", "without", "?"]),
        ("variant:hwloc", ("+", "~", None), "mpich", ["+hwloc", "~hwloc", "without"]),
        ("variant:pmi", ("pmix", "pmi2"), "mpich", ["pmi=pmix", "pmi=pmi2"]),
        ("variant:wrapperrpath", ("+", "~"), "mpich wrapperrpath", ["+", "~"]),
        ("variant:fabrics", ("rxm,tcp", "tcp", "?"), "mpich fabrics", ["+rxm", "~rxm", "?"]),
        ("variant:netmod", ("a,b,c", "d"), "mpich", ["netmod=a,b,c", "netmod=d"]),
        ("package_hash", ("a" * 32, "b" * 32), "mpich recipe", ["aaaaaaa", "bbbbbbb"]),
        ("patches", (f"{'a' * 64},{'b' * 64}",), "mpich patches", ["aaaaaaa,bbbbbbb"]),
        ("target", ("zen3", "zen4"), "mpich target", ["zen3", "zen4"]),
        ("cflags", ("-O2", None), "mpich cflags", ["-O2", "without"]),
        ("version", ("\x1b[1m",), "mpich", ["␛[1m"]),
    ],
)
def test_values_are_spelled_as_spack_does(
    attribute: str, values: tuple[str, ...], label: str, texts: list[str]
) -> None:
    compared = row(attribute, *values)
    spelled = differing(compared)
    assert (spelled.label, spelled.texts) == (label, texts)
    # Of the specs themselves the attribute alone is named.
    own = differing(compared._replace(part="own"))
    assert own.label == (label.partition(" ")[2] or attribute.rpartition(":")[2])


def test_packages_with_the_same_values_are_counted_and_paths_are_short() -> None:
    several = row("os", "a", "b", packages=("mpich", "zlib", "curl"))
    assert differing(several).label == "mpich and 2 more os"
    assert differing(row("version", "1", path=("mpich",))).where == ""
    long = row("version", "1", path=("cmake", "curl", "zlib"))
    assert differing(long).where == "cmake › curl › zlib"

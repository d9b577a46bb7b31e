"""A column is one entry of the registry; its values are shown short, on one line, and clean."""

import pytest

from spackscope.model.core.columns import (
    BY_NAME,
    COLUMNS,
    EXPORTED,
    FIELDS,
    REGISTRY,
    Value,
    shorten_path,
    size_text,
)


def test_names_keys_and_orders_are_unambiguous() -> None:
    keys = [key for column in REGISTRY for key in column.keys]

    assert len(set(keys)) == len(keys)
    assert len({column.json_key for column in EXPORTED}) == len(EXPORTED)
    assert set(BY_NAME) == {column.name for column in COLUMNS} <= set(FIELDS)


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("hash", "23r4fq5ly72u3bfmbi3o3unokk4d5ipr", "23r4fq5"),
        ("compiler", "gcc@13.2.0/5o2zn6vqwerthjkl", "gcc@13.2.0/5o2zn6v"),
        ("variants", ("api=x", "~cxx", "libs:=shared,static"), "api=x ~cxx libs:=shared,static"),
        ("stack", ("e4s", "hep", "root"), "e4s, hep"),
        ("state", ("cached", "installed"), "cached, installed"),
        ("compiler", "none", "no compiler"),
        *(("os", "ubuntu24.04", "ubuntu24.04"), ("os", "", "-"), ("fits", (), "unknown")),
        *(("variants", "+mpi", "+mpi"), ("variants", (), ""), ("state", (), "")),
        *(("stack", ("e4s", "root"), "e4s"), ("stack", ("root",), "root"), ("stack", (), "")),
        *(("size", 5_100_000, "5.1 MB"), ("size", None, "-"), ("source", ("mirror",), "mirror")),
        *(("fits", ("no", "x", "y", "z"), "x +2"), ("fits", ("no", "x", "y"), "x +1")),
        *(("fits", ("no", "x"), "x"), ("fits", ("unknown", "x"), "unknown")),
    ],
)
def test_a_cell_shows_its_value(column: str, value: Value, text: str) -> None:
    assert BY_NAME[column].cell(value) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        *((None, "-"), (0, "0 B"), (0.4, "0 B"), (999, "999 B"), (999.4, "999 B")),
        *((999.9, "1.0 kB"), (1_000, "1.0 kB"), (1_449, "1.4 kB"), (99_940, "99.9 kB")),
        *((99_960, "100 kB"), (999_400, "999 kB"), (999_600, "1.0 MB"), (5_100_000, "5.1 MB")),
        *((999_960_000, "1.0 GB"), (1.5e9, "1.5 GB"), (123.4e9, "123 GB")),
    ],
)
def test_a_size_has_three_digits_at_most(size: float | None, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mirror", "mirror"),
        ("/far/away/and/long/builds", "away/and/long/builds"),
        ("https://mirror.example.org/builds", "builds"),
        ("https://example.org/b", "example.org/b"),
        ("/far/away/" + "x" * 30, "/far/away…" + "x" * 10),
        ("/far/away/and/long/builds/", "/far/away…ng/builds/"),
    ],
)
def test_a_long_source_is_shortened_to_its_end(name: str, text: str) -> None:
    assert shorten_path(name, 20) == text
    assert BY_NAME["source"].cell((name, "mine")) == f"{text}, mine"

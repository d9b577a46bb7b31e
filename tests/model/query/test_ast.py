"""The package of a query is read, replaced and removed."""

from __future__ import annotations

import pytest

from spackscope.model.query.ast import exact_term
from spackscope.model.query.parser import parse


@pytest.mark.parametrize(
    ("text", "package", "rest"),
    [
        ("hdf5 +mpi", "hdf5", "+mpi"),
        ("+mpi os=a", None, "+mpi os=a"),
        ("hdf5 | zlib", None, "hdf5 | zlib"),
        ("hdf5*", None, "hdf5*"),
        ("!hdf5", None, "!hdf5"),
    ],
)
def test_the_package_of_a_query_is_named_and_removed(
    text: str, package: str | None, rest: str
) -> None:
    query = parse(text)

    assert query.package == package
    assert query.with_package(None) == parse(rest)
    assert query.with_package("zlib").package == "zlib"


@pytest.mark.parametrize("name", ["\x1b[31m", "a b", "", "a*b"])
def test_a_package_of_an_odd_name_can_be_set_and_removed(name: str) -> None:
    query = parse("os=a", packages=())

    chosen = query.with_package("zlib").with_package(name)

    assert chosen.package_term == exact_term("package", name)
    assert chosen.with_package(None) == query

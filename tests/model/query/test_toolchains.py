"""Toolchains stand for what a Spack asks for in their place."""

import pytest

from spackscope.model.core.errors import QueryError
from spackscope.model.query.parser import parse
from spackscope.model.query.toolchains import Toolchains, parse_toolchain, with_toolchains

TOOLCHAINS: Toolchains = {
    "plain": parse_toolchain([("%gcc@12", "")]),
    "both": parse_toolchain([("%c=gcc@12", "%c"), ("cflags=-O3 %cxx=llvm@19", "%cxx")]),
}


@pytest.mark.parametrize(
    ("query", "expanded"),
    [
        ("hdf5 %plain", "hdf5 %gcc@12"),
        ("hdf5 !%plain", "hdf5 !%gcc@12"),
        ("hdf5 %plain | %clang", "hdf5 %gcc@12 | %clang"),
        ("%both", "cflags=-O3 %c=gcc@12 | !%c %cxx=llvm@19 | !%cxx"),
        ("!%both", "|".join(("!%c=gcc@12", "!%cxx=llvm@19", "!cflags=-O3"))),
        ("hdf5 ^zlib %plain", "hdf5 ^zlib %gcc@12"),
        # These are no toolchains: more than a name is asked for.
        ("hdf5 %plain@1", "hdf5 %plain@1"),
        ("hdf5 %c=plain ^plain", "hdf5 %c=plain ^plain"),
        ("hdf5 %other", "hdf5 %other"),
    ],
)
def test_a_toolchain_is_replaced_where_it_is_named(query: str, expanded: str) -> None:
    found = with_toolchains(parse(query), TOOLCHAINS)
    if query == "!%both":
        assert expanded.count("|") == 2
        assert len(found.groups) == 4, "(!a | !b | !f) with each of the conditions"
    else:
        assert found == parse(expanded)


def test_a_toolchain_asks_for_direct_dependencies_only() -> None:
    with pytest.raises(QueryError, match="only for %"):
        parse_toolchain([("%gcc ^zlib", "")])


def test_too_many_toolchains_are_refused() -> None:
    many = {"many": parse_toolchain([(f"%p{n}", "%c") for n in range(20)])}
    with pytest.raises(QueryError, match="too much"):
        with_toolchains(parse("!%many"), many)
    assert len(with_toolchains(parse("%many"), many).groups) == 20

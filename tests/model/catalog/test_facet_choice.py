"""What including, excluding and clearing a value makes of the query."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spackscope.model.catalog import facets as facet_choice
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import FacetKey, FacetSection, FacetValue, facet_sections
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import parse

KEYS = {"shared": FacetKey("variants", "shared"), "libs": FacetKey("variants", "libs")}


def section_of(catalog: Catalog, query: Query, name: str) -> FacetSection:
    key = KEYS.get(name) or FacetKey(name)
    sections = facet_sections(catalog, query, wanted=key)
    return next(section for section in sections if section.key == key)


def value_of(section: FacetSection, text: str) -> FacetValue:
    return next(value for value in section.values if value.text == text)


Choice = Callable[[Query, FacetSection, FacetValue], Query]

CASES: list[tuple[Choice, str, str, str, str]] = [
    # The first value, another one, and no more.
    (facet_choice.include, "", "os", "linux", "os=linux"),
    (facet_choice.include, "os=linux", "os", "centos7", "os=linux | os=centos7"),
    (facet_choice.include, "os=linux | os=centos7", "os", "linux", "os=centos7"),
    (facet_choice.include, "os=linux", "os", "linux", ""),
    (facet_choice.include, "+mpi os=linux", "os", "linux", "+mpi"),
    # What was typed counts like what was chosen.
    (facet_choice.include, "zlib@1.10", "version", "1.10", "zlib"),
    (facet_choice.include, "zlib@1.10", "version", "develop", "zlib @1.10 | @=develop"),
    (facet_choice.include, "+shared", "shared", "+shared", ""),
    (facet_choice.include, "+shared", "shared", "~shared", "+shared | ~shared"),
    # A value of a range takes its place; one outside is added.
    (facet_choice.include, "os=*u*", "os", "linux", "os=linux"),
    (facet_choice.include, "os=*u*", "os", "*u*", ""),
    (facet_choice.include, "os=*u*", "os", "centos7", "os=*u* | os=centos7"),
    # From excluded to included, and back.
    (facet_choice.include, "!os=linux", "os", "linux", "os=linux"),
    (facet_choice.include, "!os=linux", "os", "centos7", "os=centos7 !os=linux"),
    (facet_choice.exclude, "", "os", "linux", "!os=linux"),
    (facet_choice.exclude, "!os=linux", "os", "linux", ""),
    (facet_choice.exclude, "os=linux", "os", "linux", "!os=linux"),
    (facet_choice.exclude, "os=linux", "os", "centos7", "os=linux !os=centos7"),
    (facet_choice.exclude, "!os=linux", "os", "centos7", "!os=linux !os=centos7"),
    (facet_choice.exclude, "os=*u*", "os", "linux", "os=*u* !os=linux"),
    (facet_choice.exclude, "os=*u*", "os", "*u*", "!os=*u*"),
    (facet_choice.exclude, "+shared", "shared", "~shared", "+shared !~shared"),
    # Records without a value.
    (facet_choice.include, "zlib", "shared", "none", "zlib !shared=*"),
    (facet_choice.include, "zlib !shared=*", "shared", "none", "zlib"),
    (facet_choice.exclude, "zlib", "shared", "none", "zlib shared=*"),
    (facet_choice.exclude, "zlib shared=*", "shared", "none", "zlib"),
    (facet_choice.include, "zlib shared=*", "shared", "+shared", "zlib +shared"),
    (facet_choice.exclude, "zlib +shared", "shared", "none", "zlib +shared"),
    # Only this.
    (facet_choice.only, "os=linux !os=centos7 +mpi", "os", "centos7", "os=centos7 +mpi"),
    (facet_choice.only, "+shared libs=shared", "shared", "~shared", "~shared libs=shared"),
    (facet_choice.only, "!os=*u*", "os", "*u*", "os=*u*"),
    # Others are left alone.
    (facet_choice.include, "os=linux | +mpi", "os", "linux", "os=linux | +mpi os=linux"),
    (facet_choice.include, "!+mpi", "shared", "+shared", "!+mpi +shared"),
]


@pytest.mark.parametrize(("choose", "before", "name", "text", "after"), CASES)
def test_a_choice_is_written_into_the_query(
    mixed: Catalog, choose: Choice, before: str, name: str, text: str, after: str
) -> None:
    query = parse(before)
    section = section_of(mixed, query, name)
    chosen = choose(query, section, value_of(section, text))
    assert chosen == parse(after)


def test_a_section_is_cleared_and_nothing_else(mixed: Catalog) -> None:
    query = parse("zlib os=linux !os=centos7 +shared libs=shared")
    for name, rest in (
        ("os", "zlib +shared libs=shared"),
        ("shared", "zlib os=linux !os=centos7 libs=shared"),
        ("target", str(query)),
    ):
        assert facet_choice.clear(query, section_of(mixed, query, name)) == parse(rest)


@pytest.mark.parametrize("text", ["", "zlib", "+shared", "os=linux"])
def test_each_value_can_be_chosen_alone_and_excluded(mixed: Catalog, text: str) -> None:
    query = parse(text)
    for section in facet_sections(mixed, query):
        rest = mixed.count(section.key.without(query))
        for value in section.values:
            only = facet_choice.only(query, section, value)
            # A compiler without a hash fits those with one too.
            alike = [v for v in section.values if v.value.startswith(value.value or "?")]
            most = max(value.count, sum(v.count for v in alike))
            assert value.count <= mixed.count(only) <= most, value
            assert parse(str(only), packages=()) == only
            cleared = facet_choice.clear(query, section)
            excluded = facet_choice.exclude(cleared, section, value)
            assert mixed.count(excluded) == rest - mixed.count(only)

"""Where a query has no match, the condition that excludes everything is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.assist.no_match import explain_no_match
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import parse
from tests.builders import catalog_of, record, write_page


@pytest.fixture
def three(tmp_path: Path) -> Catalog:
    """Index three packages of one, two and three specs."""
    for count, title in enumerate(("zlib", "bzip2", "HDF5"), 1):
        records = [record(10 * count + n, os=f"os{n}") for n in range(count)]
        write_page(tmp_path, records, title=title)
    return catalog_of(tmp_path)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("os=os9", "No spec has os=os9, only os0, os1 and os2"),
        ("!os=*", "No spec matches !os=*"),
        ("nothing", "Unknown package nothing"),
        ("nothing none", "No package nothing or none"),
        ("zlib os=os1", "No zlib has os=os1, only os0"),
        ("os=os0 os=*1", "No match. Without os=os0: 2 · without os=*1: 3"),
        ("os=*0 os=*1 os=*2", "No match for os=*1 together with os=*0"),
        ("os=os1 os=*1 !os=*s1", "No match. Without !os=*s1: 2"),
        ("target=* bzip2 os=os1 os=*2", "No bzip2 has os=*2, only os0 and os1"),
        (
            "!os=os0 !os=os1 !os=os2",
            "No match. Without !os=os0: 3 · without !os=os1: 2 · without !os=os2: 1",
        ),
    ],
)
def test_the_excluding_condition_is_named(query: str, sentence: str, three: Catalog) -> None:
    asked = parse(query)
    assert three.count(asked) == 0

    assert explain_no_match(three, asked) == sentence


def test_a_condition_that_several_others_exclude_is_named_with_them(tmp_path: Path) -> None:
    records = [
        record(1, os="a", target="b", platform="x"),
        record(2, os="a", target="x", platform="c"),
        record(3, os="x", target="b", platform="c"),
        record(4, versions=["9"], variants=["+x"]),
    ]
    write_page(tmp_path, records)
    catalog = catalog_of(tmp_path)

    assert explain_no_match(catalog, parse("os=a target=b platform=c @1.3.1 +x")) == (
        "No match for platform=c together with os=a target=b"
    )


def test_an_index_without_specs_says_so(tmp_path: Path) -> None:
    write_page(tmp_path, [])
    catalog = catalog_of(tmp_path)

    assert explain_no_match(catalog, Query()) == "There are no specs"
    assert explain_no_match(catalog, parse("zlib")) == "Unknown package zlib"


@pytest.mark.parametrize(
    ("word", "hinted"), [("2222", True), ("222", False), ("zzzz", False), ("no/hash", False)]
)
def test_a_hash_read_as_a_package_is_recognised(three: Catalog, word: str, hinted: bool) -> None:
    assert (f"/{word} is a hash" in explain_no_match(three, parse(word))) == hinted

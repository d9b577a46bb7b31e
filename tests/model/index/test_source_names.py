"""A source is found by the end of its name, as the screen shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.core.errors import Unanswerable
from spackscope.model.index.evaluate import source_term, unique_end, with_full_name
from spackscope.model.query.ast import Term
from spackscope.model.query.parser import parse
from tests.builders import catalog_of, record, write_page

NAMES = ["/a/site.json", "/a/old-site.json", "/b/x/index.json", "/b/y/index.json", "public:v1"]


@pytest.mark.parametrize(
    ("patterns", "name"),
    [
        (["/a/site.json", "site.json", "…/site.json"], "/a/site.json"),
        (["old-site.json"], "/a/old-site.json"),
        (["y/index.json"], "/b/y/index.json"),
        (["v1"], "public:v1"),
        *(([odd], odd) for odd in ("nowhere", "*.json", "")),
    ],
)
@pytest.mark.parametrize("is_negated", [False, True])
def test_the_end_of_a_name_is_enough(patterns: list[str], name: str, is_negated: bool) -> None:
    for pattern in patterns:
        term = with_full_name(Term("source", pattern, is_negated), NAMES)
        assert term == Term("source", name, is_negated)


def test_an_end_of_several_names_lists_them() -> None:
    told = "^2 sources end in index.json: /b/x/index.json and /b/y/index.json$"
    with pytest.raises(Unanswerable, match=told):
        with_full_name(Term("source", "index.json"), NAMES)


def test_a_query_has_the_records_of_the_source(tmp_path: Path) -> None:
    for number, name in enumerate(("one", "two")):
        write_page(tmp_path / name, [record(number)])
    catalog = catalog_of(tmp_path / "one", tmp_path / "two")

    assert list(catalog.match(parse("source=one"))) == [0]
    assert list(catalog.match(parse("!source=one"))) == [1]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("/a/site/derecho.lock", "derecho.lock"),
        ("/a/one/spack.lock", "one/spack.lock"),
        ("https://mirror.example/build/", "build/"),
        ("spack:site", "spack:site"),
    ],
)
def test_a_source_is_shown_by_the_end_that_no_other_has(name: str, shown: str) -> None:
    others = ["/a/two/spack.lock", "/a/one/spack.lock", "/b/x_derecho.lock"]

    assert unique_end(name, [*others, name]) == shown
    assert with_full_name(source_term(name, others), {*others, name}).pattern == name

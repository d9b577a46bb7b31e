"""An index holds every record in display order, each once, and every Problem."""

from __future__ import annotations

from itertools import chain, repeat
from pathlib import Path

import pytest

from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import Problem, Spec
from spackscope.model.core.versions import version_key
from spackscope.model.index import build as build_module
from spackscope.model.index.build import build
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import load
from spackscope.model.index.staged import Staged
from spackscope.model.index.view import View
from spackscope.model.query.parser import parse
from spackscope.model.readers import pages as cache_pages
from spackscope.model.sources.discover import discover
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import absolute_path
from tests.builders import Record, all_records, catalog_of, hash_of, page, read, record, write_page
from tests.hostile import HOSTILE_TEXT


def reasons(catalog: Catalog) -> list[str]:
    return [problem.reason for problem in catalog.problems]


def test_the_sample_is_indexed_with_nothing_lost(sample: Catalog) -> None:
    on_pages = {
        (spec.package, spec.hash): spec
        for path in Path(absolute_path("sample_data")).rglob("specs.md")
        for spec in read(path.read_bytes())[0]
    }

    assert sample.total == len(on_pages) == 346
    assert sample.problems == []
    for spec in all_records(sample):
        origin = f"sample_data/{spec.package}/specs.md"
        assert (spec.origin, spec.source) == (origin, "sample_data")
        on_page = on_pages[spec.package, spec.hash]
        for column in BY_NAME.values():
            if column.name != "source":
                assert column.value(spec) == column.value(on_page)


def test_a_hash_may_be_in_several_tags_and_packages(tmp_path: Path) -> None:
    write_page(tmp_path, [record(1)])
    write_page(tmp_path, [record(1)], tag="v0.23.0")
    write_page(tmp_path, [record(1)], title="bzip2")

    catalog = catalog_of(tmp_path)

    assert [(row.spec.package, row.spec.tag) for row in catalog.by_hash(hash_of(1))] == [
        ("bzip2", "develop"),
        ("zlib", "develop"),
        ("zlib", "v0.23.0"),
    ]
    assert catalog.texts("tag") == ["develop", "v0.23.0"]
    assert catalog.hashes.first(hash_of(1), limit=10) == [hash_of(1)]
    assert catalog.problems == []


def test_hostile_text_comes_back_as_it_was(tmp_path: Path) -> None:
    expected, packages = [], set()
    problems = []
    for number, (_, text) in enumerate(HOSTILE_TEXT):
        fields = record(2 * number, variants=[text, text], stacks=[text], versions=[text])
        fields |= dict.fromkeys(("compiler", "os", "platform", "target"), text)
        data = page([fields, record(2 * number + 1), record(hash=text)], title=text, tag=text)
        path = tmp_path / f"{number:02}.md"
        path.write_bytes(data)
        specs, reported = read(data)
        expected += specs
        packages.add(specs[0].package)
        problems += [Problem(str(path), p.place, p.reason) for p in reported]

    catalog = catalog_of(tmp_path)

    for spec in expected:
        (row,) = catalog.by_hash(spec.hash)
        for column in BY_NAME.values():
            if column.name != "source":
                assert column.value(row.spec) == column.value(spec)
    assert catalog.problems == problems
    assert {package.name for package in catalog.packages(parse(""))} == packages


@pytest.mark.parametrize(
    ("written", "size"),
    [("-", "None"), (0, "0"), ("0.5", "0.5"), (51, "51"), ("5.1 MB", "5100000"),
     ("9" * 18 + " GB", str(int(1e27)))],
)  # fmt: skip
def test_a_size_comes_back_in_bytes(written: object, size: str, tmp_path: Path) -> None:
    write_page(tmp_path, [record(1, size=written)])

    (spec,) = all_records(catalog_of(tmp_path))

    assert str(spec.size) == size


def display_order(spec: Spec) -> tuple[object, ...]:
    name, _, version = spec.compiler.partition("@")
    variants = [(text.lstrip("+~"), text) for text in spec.variants]
    arch = (name, version_key(version), spec.platform, spec.os, spec.target)
    key = (spec.package, version_key(spec.version), arch, variants, spec.stacks)
    return (*key, spec.hash)


def test_ids_are_in_display_order(sample: Catalog, mixed: Catalog) -> None:
    for catalog in (sample, mixed):
        specs = all_records(catalog)
        assert [row.id for row in catalog.rows(range(catalog.total))] == list(range(len(specs)))
        assert specs == sorted(specs, key=display_order)


def two_pages(directory: Path, one: list[Record], other: list[Record]) -> Catalog:
    """Index two pages of one source, tag and package."""
    (directory / "one.md").write_bytes(page(one))
    (directory / "other.md").write_bytes(page(other))
    return catalog_of(directory)


def test_records_that_two_pages_repeat_are_shown_once(tmp_path: Path) -> None:
    catalog = two_pages(tmp_path, [record(1), record(2)], [record(2), record(1), record(3)])

    assert [spec.hash for spec in all_records(catalog)] == [hash_of(1), hash_of(2), hash_of(3)]
    assert catalog.total == sum(package.total for package in catalog.packages(parse(""))) == 3
    assert [str(problem) for problem in catalog.problems] == [
        f"{tmp_path}/other.md: 2 of its records are also in another page of the same source,"
        " tag and package; shown once"
    ]


@pytest.mark.parametrize("change", [{"os": "centos7"}, {"size": 5}, {"stacks": []}])
def test_a_hash_that_two_pages_fill_differently_stays_in_both_forms(
    change: Record, tmp_path: Path
) -> None:
    catalog = two_pages(tmp_path, [record(1)], [record(1) | change])

    assert [row.spec.hash for row in catalog.by_hash(hash_of(1))] == [hash_of(1)] * 2
    assert reasons(catalog) == [
        f"hash {hash_of(1)} has different content in 2 pages of the same source, tag and package"
    ]


def test_a_hash_that_a_page_lists_with_different_content_is_reported_once(tmp_path: Path) -> None:
    catalog = two_pages(tmp_path, [record(1), record(1, os="centos7")], [record(2)])

    assert catalog.total == 3
    assert reasons(catalog) == [f"hash {hash_of(1)} is listed twice with different content"]


@pytest.mark.parametrize("records", [[], [record(hash="none")]])
def test_a_page_without_records_makes_an_empty_index(
    records: list[Record], tmp_path: Path
) -> None:
    write_page(tmp_path, records)

    catalog = catalog_of(tmp_path)

    assert catalog.total == 0
    assert catalog.packages(parse("")) == catalog.packages(parse("x")) == []
    assert len(catalog.listing(View())) == len(catalog.listing(View(parse("x"), folded=True))) == 0
    assert catalog.listing(View()).values.constants == {}


def test_building_reports_its_progress_and_can_be_stopped(tmp_path: Path) -> None:
    for number in range(3):
        write_page(tmp_path, [record(number)], title=f"p{number}")
    discovered = discover([str(tmp_path)], Session({}))
    reports: list[tuple[str, int, int | None]] = []

    build(discovered, Session({}, on_progress=lambda *what: reports.append(what)))
    for patience in range(4):
        should_stop = chain([False] * patience, repeat(True)).__next__
        with pytest.raises(Cancelled):
            build(discovered, Session({}, should_stop=should_stop))

    size = sum(document.size for document in discovered[0].documents)
    assert reports[0] == (f"reading {tmp_path}", 0, size)
    assert reports[-1] == (f"reading {tmp_path}", size, size)


def test_an_error_before_a_reader_begins_hides_no_other_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_page(tmp_path / "good", [record(1)], title="good")
    write_page(tmp_path / "wrong", [record(2)], title="wrong")

    def is_page(data: bytes) -> bool:
        if b"wrong" in data:
            raise MemoryError
        return cache_pages.is_page(data)

    monkeypatch.setattr(build_module, "is_page", is_page)
    catalog = catalog_of(tmp_path)
    assert catalog.total == 1
    (reason,) = reasons(catalog)
    assert reason == "cannot be read: there is not enough memory"


def test_an_error_in_the_old_index_is_not_a_problem_of_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_page(tmp_path / "pages", [record(1)])
    sources, environ = [str(tmp_path / "pages")], {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    load(sources, Session(environ), keep=True)
    write_page(tmp_path / "pages" / "more", [record(2)])

    def keep(*_: object) -> bool:
        raise KeyError("damaged")

    monkeypatch.setattr(Staged, "keep", keep)
    with pytest.raises(KeyError):
        load(sources, Session(environ), keep=True)

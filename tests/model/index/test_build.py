"""An index holds every record once, whatever documents list it, and every Problem."""

import os
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Dependency, Problem, Records, Spec
from spackscope.model.core.tasks import cancelled_when, progress_to
from spackscope.model.core.versions import version_key
from spackscope.model.index import build as build_module
from spackscope.model.index.build import build
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.index_file import Columns
from spackscope.model.index.load import load
from spackscope.model.index.order import View
from spackscope.model.index.staged import Staged
from spackscope.model.query.parser import parse
from spackscope.model.readers import pages as cache_pages
from spackscope.model.readers.formats import read_document
from spackscope.model.sources.discover import discover
from spackscope.model.sources.session import Session
from tests.builders.catalogs import all_records, catalog_of, read
from tests.builders.nodes import GLIBC, ZLIB, edge, leaf, node, zlib_nodes
from tests.builders.pages import SAMPLE_PAGES, Record, hash_of, page, record, write_page
from tests.builders.spack import write_index
from tests.hostile import HOSTILE_TEXT


def test_the_sample_is_indexed_with_nothing_lost(sample: Catalog) -> None:
    paths = SAMPLE_PAGES.rglob("specs.md")
    specs = [spec for path in paths for spec in read(path.read_bytes())[0]]

    assert sample.total == len(specs) == 346
    assert sample.problems == []
    assert by_hash(all_records(sample)) == by_hash(specs)
    for spec in all_records(sample):
        origin = f"{SAMPLE_PAGES}/{spec.package}/specs.md"
        assert (spec.origin, spec.source) == (origin, str(SAMPLE_PAGES))


def by_hash(specs: list[Spec]) -> dict[str, dict[str, object]]:
    """Return the values of all columns, but for the source, by the hashes of records."""
    columns = [column for column in BY_NAME.values() if column.name != "source"]
    return {spec.hash: {c.name: c.value(spec) for c in columns} for spec in specs}


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
    expected, problems = list[Spec](), list[Problem]()
    for number, (_, text) in enumerate(HOSTILE_TEXT):
        sizes = ("-", 0, "0.5", "5.1 MB", "9" * 18 + " GB")
        lists = {"variants": [text, text], "stacks": [text], "versions": [text]}
        fields = record(2 * number, size=sizes[number % 5], **lists)
        fields |= dict.fromkeys(("compiler", "os", "platform", "target"), text)
        data = page([fields, record(2 * number + 1), record(hash=text)], title=text, tag=text)
        path = tmp_path / f"{number:02}.md"
        path.write_bytes(data)
        specs, reported = read(data)
        expected += specs
        problems += [Problem(str(path), p.place, p.reason) for p in reported]

    catalog = catalog_of(tmp_path)

    assert by_hash(all_records(catalog)) == by_hash(expected)
    assert catalog.problems == problems
    packages = {package.name for package in catalog.packages(parse(""))}
    assert packages == {spec.package for spec in expected}


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


@pytest.mark.parametrize(
    ("one", "other", "hashes", "reasons"),
    [
        ([record(1), record(2)], [record(2), record(1), record(3)], [1, 2, 3], []),
        ([record(1)], [record(1, os="centos7")], [1, 1],
         [f"hash {hash_of(1)} is another spec in other.md"]),
        ([record(1), record(1, os="centos7")], [record(2)], [1, 1, 2],
         [f"hash {hash_of(1)} is listed twice with different content"]),
    ],
)  # fmt: skip
def test_what_two_pages_list_is_shown_once_unless_it_is_another_spec(
    one: list[Record], other: list[Record], hashes: list[int], reasons: list[str], tmp_path: Path
) -> None:
    (tmp_path / "one.md").write_bytes(page(one))
    (tmp_path / "other.md").write_bytes(page(other))

    catalog = catalog_of(tmp_path)

    assert sorted(spec.hash for spec in all_records(catalog)) == [*map(hash_of, hashes)]
    assert sum(package.total for package in catalog.packages(parse(""))) == len(hashes)
    found = [problem.reason.replace(f"{tmp_path}/", "") for problem in catalog.problems]
    assert found == reasons


def test_a_record_of_two_pages_has_what_either_states(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_bytes(page([record(1, size="-", stacks=["e4s"])]))
    (tmp_path / "other.md").write_bytes(page([record(1, size=5, stacks=["root"])]))

    (spec,) = all_records(catalog_of(tmp_path))

    assert (spec.size, spec.stacks) == (5, ("e4s", "root"))


@pytest.mark.parametrize("records", [[], [record(hash="none")]])
def test_a_page_without_records_makes_an_empty_index(
    records: list[Record], tmp_path: Path
) -> None:
    catalog = catalog_of(write_page(tmp_path, records))

    assert catalog.total == 0
    for query in (parse(""), parse("x")):
        assert catalog.packages(query) == []
        assert len(catalog.listing(View(query, folded=True))) == 0
    assert catalog.listing(View()).values.constants == {}


def test_building_reports_its_progress_and_can_be_stopped(tmp_path: Path) -> None:
    for number in range(3):
        write_page(tmp_path, [record(number)], title=f"p{number}")
    discovered = discover([str(tmp_path)], Session({}))
    reports: list[tuple[str, int, int | None]] = []

    with progress_to(lambda *what: reports.append(what)):
        build(discovered, Session({}))
    for patience in range(4):
        should_stop = chain([False] * patience, repeat(True)).__next__
        with pytest.raises(Cancelled), cancelled_when(should_stop):
            build(discovered, Session({}))

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
    (reason,) = [problem.reason for problem in catalog.problems]
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


def found(catalog: Catalog, query: str) -> list[str]:
    return catalog.hashes.of(catalog.match(parse(query)))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Write the index of a build cache of zlib and all it needs."""
    return write_index(tmp_path / "cache.json", *zlib_nodes())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write the database of an install tree with zlib, which was installed by name, and glibc."""
    nodes = node(dependencies=[edge("glibc", GLIBC, ["link"])]), leaf(GLIBC, "glibc", "2.39")
    installed = {"installed": True, "explicit": True, "installation_time": 1_700_000_000.5}
    return write_index(tmp_path / "tree.json", *nodes, path="/opt/zlib", **installed)


def test_a_hash_in_a_mirror_and_an_install_tree_is_one_row_with_both_marks(
    cache: Path, tree: Path
) -> None:
    catalog = catalog_of(cache, tree)

    (row,) = catalog.by_hash(ZLIB)
    assert row.spec.states == ("cached", "installed", "explicit")
    assert row.spec.sources == (str(cache), str(tree))
    provenance = catalog.with_provenance(row.id, row.spec)
    assert (provenance.path, provenance.installed_at) == ("/opt/zlib", 1_700_000_000.5)
    assert provenance.package_hash == "abc===="
    assert catalog.total == 4
    assert catalog.problems == []


def test_edges_lead_to_the_record_that_stays(cache: Path, tree: Path) -> None:
    for sources in ((cache, tree), (tree, cache)):
        catalog = catalog_of(*sources)

        assert set(found(catalog, "^glibc")) == {ZLIB}
        assert set(found(catalog, "^glibc installed")) == {ZLIB}
        (row,) = catalog.by_hash(ZLIB)
        children = [edge.child for edge in catalog.edges.of(row.id)]
        assert len(children) == len(set(children))


def test_what_one_source_lacks_is_found_in_another(tmp_path: Path, cache: Path) -> None:
    alone = write_index(tmp_path / "alone.json", node())
    others = write_index(tmp_path / "tree.json", *zlib_nodes()[1:], installed=True)

    assert found(catalog_of(alone, others), "^glibc@2.39") == [ZLIB]
    assert found(catalog_of(alone), "^glibc@2.39") == []
    # The record that tells the version of the compiler stays.
    (row,) = catalog_of(alone, cache).by_hash(ZLIB)
    assert row.spec.compiler == "gcc@13.2.0"


def test_what_no_source_describes_stays_absent(tmp_path: Path) -> None:
    needing = node(dependencies=[edge("glibc", GLIBC, ["link"])])
    catalog = catalog_of(*(write_index(tmp_path / f"{n}.json", needing) for n in range(2)))

    (row,) = catalog.by_hash(ZLIB)
    (dependency,) = catalog.edges.of(row.id)
    assert catalog.edges.absent_at(dependency.child) == Dependency(GLIBC, "glibc")


def test_a_record_that_one_source_only_depends_on_is_listed_for_the_other(tmp_path: Path) -> None:
    needed = write_index(tmp_path / "a.json", node(), in_buildcache=False)
    pushed = write_index(tmp_path / "b.json", node())

    catalog = catalog_of(needed, pushed)

    (row,) = catalog.by_hash(ZLIB)
    assert (catalog.total, row.spec.in_cache, row.spec.cached) == (1, True, True)
    assert row.spec.sources == (str(pushed),)
    assert "source" not in catalog.listing(View()).values.varying_columns
    # Where everything is asked for, both list it, and it is not only needed.
    (row,) = catalog_of(needed, pushed, dependency_only=True).by_hash(ZLIB)
    assert row.spec.sources == (str(needed), str(pushed))
    assert (row.spec.in_cache, row.spec.states) == (True, ("cached",))
    again = write_index(tmp_path / "c.json", node(), in_buildcache=False)
    (row,) = catalog_of(needed, again).by_hash(ZLIB)
    assert (row.spec.in_cache, row.spec.states) == (False, ("needed",))


def test_a_page_and_an_index_make_one_record_with_tag_stacks_and_dependencies(
    tmp_path: Path, cache: Path
) -> None:
    write_page(tmp_path / "site", [record(1, stacks=["e4s"])])

    catalog = catalog_of(tmp_path / "site", cache)

    (row,) = catalog.by_hash(ZLIB)
    assert (row.spec.tag, row.spec.stacks) == ("develop", ("e4s",))
    assert found(catalog, "tag=develop ^glibc") == [ZLIB]


def test_what_names_no_tag_is_seen_in_every_tag(tmp_path: Path, tree: Path) -> None:
    write_page(tmp_path / "site", [record(1)])
    write_page(tmp_path / "site", [record(1)], tag="v1.0")

    rows = catalog_of(tmp_path / "site", tree).by_hash(ZLIB)

    assert sorted(row.spec.tag for row in rows) == ["develop", "v1.0"]
    assert all(row.spec.installed and row.spec.cached for row in rows)


ARCH = {"platform": "linux", "platform_os": "rocky9", "target": "zen4"}


@pytest.mark.parametrize("field", [{"version": "1.2"}, {"name": "zlib-ng"}, {"arch": ARCH}])
def test_a_hash_that_is_another_spec_elsewhere_stays_apart_and_is_a_problem(
    field: dict[str, Any], tmp_path: Path, cache: Path
) -> None:
    other = write_index(tmp_path / "other.json", node(**field))

    catalog = catalog_of(cache, other)

    assert len(catalog.by_hash(ZLIB)) == 2
    assert f"hash {ZLIB} is another spec in {other}" in [p.reason for p in catalog.problems]


def problems_after(directory: Path, change: Callable[[Path], object]) -> list[str]:
    """Change a page that the scan has just found, read on, and give the problems."""
    write_page(directory, [record(1)], title="first")
    victim = write_page(directory, [record(2)], title="victim")
    discovered = discover([str(directory)], Session({}))
    change(victim)
    catalog = Catalog(Columns(build(discovered, Session({}))))
    assert catalog.by_hash(hash_of(1))
    return [problem.reason for problem in catalog.problems]


def put_pipe(path: Path) -> str:
    path.unlink()
    os.mkfifo(path)
    return str(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (os.unlink, "no such file or directory"),
        # With a writer, reading it would wait.
        (lambda path: os.open(put_pipe(path), os.O_RDWR), "it is not a regular file"),
    ],
)
def test_a_page_that_is_no_file_any_more_is_reported_without_waiting(
    change: Callable[[Path], object], reason: str, tmp_path: Path
) -> None:
    assert problems_after(tmp_path, change) == [f"cannot be read: {reason}"]


def test_a_page_that_is_being_written_is_read_as_far_as_it_is(tmp_path: Path) -> None:
    problems = problems_after(tmp_path, lambda path: os.truncate(path, path.stat().st_size - 20))

    assert problems[0] == "the front matter has no closing line of three dashes"
    assert problems[1].startswith("file is cut off")


BUGS: dict[str, Callable[[Any], Any]] = {
    "a list": lambda spec: replace(spec, stacks=["e4s"]),
    "an object": lambda spec: SimpleNamespace(in_cache=True, hash=spec.hash),
    "no edges": lambda spec: replace(spec, dependencies=(), package_hash={}),
    "an exception": lambda spec: raised(RecursionError("https://user:hunter2@host")),
}


def raised(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("bug", BUGS)
@pytest.mark.parametrize("place", range(3))
def test_an_error_in_one_document_ends_with_it(
    bug: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{number}.json" for number in range(3)]
    for number, path in enumerate(paths):
        write_index(path, *(leaf(hash_of(2 * number + n), f"p{n}", "1") for n in range(2)))
    bad = str(paths[place])

    def read_with_bug(data: bytes, *, origin: str, **options: Any) -> Iterator[Records | Problem]:
        for item in read_document(data, origin=origin, **options):
            if origin != bad or not isinstance(item, Records):
                yield item
                continue
            looks: Any = item.looks
            good, other = looks
            yield Records([good], [0], item.hashes[:1], [None])
            yield Records([BUGS[bug](other)], [0], item.hashes[1:], [None])

    monkeypatch.setattr("spackscope.model.index.build.read_document", read_with_bug)
    session = Session({})
    discovered = discover([str(path) for path in paths], session)
    columns = Columns(build(discovered, session))
    again = Columns(build(discovered, session, old=columns))

    for each in (columns, again):
        catalog = Catalog(each)
        expected = {hash_of(number) for number in range(6)} - {hash_of(2 * place + 1)}
        assert {spec.hash for spec in all_records(catalog)} == expected
        (problem,) = catalog.problems
        assert str(problem).startswith(f"{bad}: cannot be read to its end: ")
        assert "hunter2" not in str(problem)


def test_an_error_in_one_page_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write_page(tmp_path, [record(number)], title=f"p{number}") for number in range(3)]

    def read_with_bug(data: bytes, *, origin: str, **options: Any) -> Iterator[Records | Problem]:
        for item in read_document(data, origin=origin, **options):
            if origin == str(paths[1]) and isinstance(item, Records):
                (look,) = item.looks
                item = item._replace(looks=[cast(Any, look)._replace(variants=["+a list"])])
            yield item

    monkeypatch.setattr("spackscope.model.index.build.read_document", read_with_bug)

    catalog = catalog_of(tmp_path)

    assert [spec.hash for spec in all_records(catalog)] == [hash_of(0), hash_of(2)]
    (problem,) = catalog.problems
    assert str(problem).startswith(f"{paths[1]}: cannot be read to its end: ")

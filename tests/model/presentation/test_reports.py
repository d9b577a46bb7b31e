"""Reports on sources and problems, and the queries for what they are about."""

from __future__ import annotations

from pathlib import Path

from spackscope.model.loader.load import load
from spackscope.model.presentation.sources import problem_rows, source_rows
from spackscope.model.sources.session import Session
from tests.builders import ZLIB, database, hash_of, installs, node, record, write_page

NOW = 1_700_000_000.0


def test_a_problem_is_told_in_full_with_the_specs_of_its_source(tmp_path: Path) -> None:
    write_page(tmp_path / "hdf5", [record(1), record(2, hash="TOO-SHORT")])
    catalog = load([str(tmp_path)], Session({}))
    (report,) = problem_rows(catalog)
    assert report.cells[0] == "zlib/specs.md"
    assert report.cells[1].startswith("record 2: hash is 'TOO-SHORT'")
    assert report.note.startswith(f"{tmp_path}/hdf5/develop/zlib/specs.md\nrecord 2\nhash is")
    assert [catalog.count(query) for query in report.queries] == [1]


def test_a_problem_of_a_record_that_was_read_is_found_by_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    path.write_bytes(database(installs(node(ZLIB, name="zlib", version=3))))
    catalog = load([str(path)], Session({}))
    (report, *_) = problem_rows(catalog)
    record_, source = report.queries
    assert str(record_) == f"/{ZLIB[:7]}"
    assert catalog.count(source) >= catalog.count(record_)


def test_a_source_that_cannot_be_read_says_why_and_counts_as_a_problem(tmp_path: Path) -> None:
    write_page(tmp_path / "good", [record(1)])
    gone = tmp_path / "gone"
    catalog = load([str(tmp_path / "good"), str(gone)], Session({}))
    good, bad = source_rows(catalog.sources, NOW)
    assert (good.style, good.cells[1]) == ("", "pages · 1 spec · 0 problems")
    assert bad.style == "error"
    assert "does not exist" in bad.cells[1]
    assert bad.note.splitlines()[1:] == [
        "unreadable · 0 specs · 1 problem",
        f"the source {gone} does not exist",
    ]
    assert catalog.problem_count == 1
    assert {row.spec.hash for row in catalog.rows(catalog.match(good.queries[0]))} == {hash_of(1)}

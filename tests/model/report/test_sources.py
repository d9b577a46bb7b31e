"""Sources are described in cells, sentences and rows; problems lead to what they are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import SourceStatus
from spackscope.model.index.load import load
from spackscope.model.report.report import styled
from spackscope.model.report.sources import age, problem_rows, source_rows, stale_copies
from spackscope.model.sources.session import Session
from tests.builders import ZLIB, database, hash_of, installs, node, record, write_page

NOW = 1_000_000.0
MIRROR = SourceStatus("mirror", "mirror", "v3", 1_200, NOW - 7_300, "", "", 3)


def test_a_cached_copy_that_is_stale_is_reported_with_its_age() -> None:
    stale = replace(MIRROR, remark="the host does not answer")

    assert stale_copies([MIRROR, stale, replace(stale, failure="no")], NOW) == [
        "mirror: using its cached copy, checked 2 hours ago: the host does not answer"
    ]
    assert stale_copies([replace(stale, checked=None)], NOW) == [
        "mirror: using its cached copy: the host does not answer"
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7_300, "2 hours ago"),
        (86_400, "1 day ago"),
        (400 * 86_400, "400 days ago"),
    ],
)
def test_an_age_is_in_the_largest_unit_that_fits(seconds: float, text: str) -> None:
    assert age(seconds) == text


def test_a_problem_is_told_in_full_with_the_specs_of_its_source(tmp_path: Path) -> None:
    write_page(tmp_path / "hdf5", [record(1), record(2, hash="TOO-SHORT")])
    catalog = load([str(tmp_path)], Session({}))
    (report,) = problem_rows(catalog)
    reason, *where = report.texts
    assert reason.startswith("hash is 'TOO-SHORT'"), "before all that may be cut"
    assert where == ["record 2", "zlib/specs.md"]
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
    assert good.texts[1] == "pages · 1 spec · 0 problems · no dependencies listed"
    assert bad.cells[1] == styled(bad.texts[1], "error")
    assert "does not exist" in bad.texts[1]
    assert bad.note.splitlines()[1:] == [
        "unreadable · 0 specs · 1 problem",
        f"the source {gone} does not exist",
    ]
    assert len(catalog.problems) == 1
    assert {row.spec.hash for row in catalog.rows(catalog.match(good.queries[0]))} == {hash_of(1)}

"""How far a task is, in words and as a bar; bars are as long as their counts; ages of copies."""

import re

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import SourceStatus
from spackscope.model.core.text import cell_width
from spackscope.model.report.progress import Progress, Stages, age, bar, minutes, stale_copies

NOW = 1_000_000.0
MIRROR = SourceStatus("mirror", "mirror", "v3", 1_200, NOW - 7_300, "", "", 3)


@pytest.mark.parametrize(
    ("stage", "pattern"),
    [
        (("records", 12_000, 60_000), r"12,000 of 60,000 records, [\d,]+ a second"),
        (("pages\x1b[2J", 3, None), r"3 pages[^\x1b]*, [\d,]+ a second"),
        (("bytes of index.json", 5_100_000, 10**7), r"index\.json: 5\.1 MB of 10\.0 MB, .*"),
        (("bytes of \x1b[2J", 1, None), r"[^\x1b]*"),
    ],
)
def test_what_is_done_is_counted_with_its_rate(
    stage: tuple[str, int, int | None], pattern: str
) -> None:
    assert re.fullmatch(pattern, Stages().progress(*stage).fitted(100))


def test_one_line_has_the_size_of_a_download() -> None:
    progress = Stages().progress("bytes of 12 indexes", 0, 640_000_000)

    assert (
        progress.line("esc stops")
        == "░" * 12 + "   0 %  downloading 12 indexes, 640 MB  esc stops"
    )


def test_a_stage_that_begins_again_has_no_negative_rate() -> None:
    stages = Stages()
    stages.progress("specs read", 9_000, None)

    assert stages.progress("specs read", 0, None).fitted(100) == "0 specs read, 0 a second"


@pytest.mark.parametrize(
    ("fraction", "bar"),
    [
        *((0.0, "░░░░░░░░   0 %"), (0.5, "████░░░░  50 %"), (1.0, "████████  99 %")),
        *((1.2, "████████  99 %"), (None, "")),
    ],
)
def test_a_bar_shows_the_part_that_is_done(fraction: float | None, bar: str) -> None:
    assert Progress("reading", "index.json", "", fraction).bar(8) == bar


def test_what_is_read_and_what_is_downloaded_is_named() -> None:
    reading = Stages().progress("reading a/index.json", 5, 10)

    assert (reading.title, reading.fraction) == ("reading a/index.json", 0.5)
    assert Stages().progress("bytes of index.json", 5, None).title == "downloading index.json"


@pytest.mark.parametrize(
    ("count", "most", "cells", "drawn"),
    [
        *((8, 8, 4, "████"), (5, 8, 4, "██▌"), (1, 10_000, 4, "▏")),
        *((0, 8, 4, ""), (0, 0, 4, ""), (3, 8, 0, "")),
    ],
)
def test_a_bar_is_drawn(count: int, most: int, cells: int, drawn: str) -> None:
    assert bar(count, most, cells) == drawn


def test_a_longer_count_has_no_shorter_bar() -> None:
    drawn = [cell_width(bar(count, 300, 10)) for count in range(301)]
    assert drawn == sorted(drawn)
    assert (drawn[0], drawn[1], drawn[-1]) == (0, 1, 10)


def test_the_name_gets_what_the_amount_leaves() -> None:
    progress = Stages().progress("bytes of a-name-that-is-long.json", 0, 2_000_000)

    assert progress.fitted(50) == "a-name-tha…-long.json: 0 B of 2.0 MB, 0 B a second"
    assert progress.fitted(10) == "0 B …econd"


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


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min"), (3_599, "1 h 0 min"), (11_100, "3 h 5 min")],
)
def test_a_duration_is_in_its_largest_units(seconds: float, text: str) -> None:
    assert minutes(seconds) == text

"""Sources are described in cells and sentences, and progress in the unit of what is counted."""

from __future__ import annotations

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import SourceStatus
from spackscope.model.presentation.sources import age, source_cells, sources_note, stale_copies

NOW = 1_000_000.0
MIRROR = SourceStatus("mirror", "mirror", "v3", 1_200, NOW - 7_300, "", "", 3)


def test_a_source_has_a_cell_for_each_head() -> None:
    assert source_cells(MIRROR, NOW) == ("mirror", "mirror v3", "1,200", "3", "2 hours ago")
    local = replace(MIRROR, layout="", checked=None, failure="cannot be read")
    assert source_cells(local, NOW)[1:] == ("unreadable", "1,200", "3", "-")


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
    ("sources", "note"),
    [
        (["sample_data"], "Sample data. Your own cache: spackscope -f URL · spackscope sources"),
        (
            ["spack:", "sample_data"],
            "Sample data: your Spack has no mirror of binaries. To add one: spackscope sources · "
            "without: spackscope -f public",
        ),
        (["spack:a"], "Mirror of your Spack: a. Others: spackscope -f URL"),
        (
            [f"spack:{name}" for name in "abcde"],
            "Mirrors of your Spack: a, b, c and 2 more. Others: spackscope -f URL",
        ),
        (["https://example.com/mirror"], ""),
    ],
)
def test_sources_that_were_found_are_named(sources: list[str], note: str) -> None:
    assert sources_note(sources) == note

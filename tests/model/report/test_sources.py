"""How old a cached copy is."""

from __future__ import annotations

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import SourceStatus
from spackscope.model.report.sources import age, stale_copies

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

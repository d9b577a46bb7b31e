"""Progress is described in the unit of what is counted."""

from __future__ import annotations

from spackscope.model.presentation.progress import Stages


def test_records_are_counted_with_their_rate() -> None:
    text = Stages().describe("records", 12_000, 60_000)

    assert text.startswith("12,000 of 60,000 records, ")
    assert text.endswith(" a second")
    assert Stages().describe("pages\x1b[2J", 3, None).startswith("3 pages")


def test_bytes_are_shown_as_sizes_with_the_name_of_the_file() -> None:
    text = Stages().describe("bytes of index.json", 5_100_000, 10_000_000)

    assert text.startswith("index.json: 5.1 MB of 10.0 MB, ")
    assert "\x1b" not in Stages().describe("bytes of \x1b[2J", 1, None)

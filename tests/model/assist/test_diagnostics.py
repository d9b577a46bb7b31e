"""What is wrong with a text while it is typed comes with its place."""

from __future__ import annotations

import pytest

from spackscope.model.assist.completion import complete
from spackscope.model.assist.diagnostics import (
    Note,
    check_input,
    is_unfinished,
    unanswerable_note,
)
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import Cancelled, Unanswerable
from spackscope.model.core.progress import never
from spackscope.model.query.parsed_input import parse_filter_input, parse_input
from spackscope.model.query.parser import parse

SYSTEMS = "sequoia, ubuntu22.04, ubuntu24.04"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("", None),
        ("package=py-build os=ubuntu24.04", None),
        ("os=sequoia @9 tag=x", Note("No spec has @9, only 0.4.0, 0.4.5, 2.4.3 and 3 more", 11)),
        ("os=nosuch", Note(f"No spec has os=nosuch, only {SYSTEMS} and 1 more", 0)),
    ],
)
def test_the_first_impossible_condition_is_noted(
    sample: Catalog, text: str, note: Note | None
) -> None:
    assert check_input(sample, parse_input(text, len(text)), never) == note


def test_the_condition_at_the_cursor_is_checked_last(sample: Catalog) -> None:
    text = "os=nosuch @9"

    for cursor, offset in ((len(text), 0), (len("os=nosuch"), 10), (len("os=n"), 10)):
        note = check_input(sample, parse_input(text, cursor), never)
        assert note is not None
        assert note.offset == offset


def test_a_condition_of_a_filter_is_noted_at_its_word(sample: Catalog) -> None:
    parsed = parse_filter_input("!24 =x", 6, "os", parse("package=py-build"))

    noted = check_input(sample, parsed, never)

    assert noted is not None
    assert (noted.sentence[:20], noted.offset) == ("No py-build has os=x", 4)


def test_a_check_can_be_stopped(sample: Catalog) -> None:
    with pytest.raises(Cancelled):
        check_input(sample, parse_input("os=x", 4), lambda: True)


def test_a_condition_without_an_answer_is_noted_at_its_place(sample: Catalog) -> None:
    parsed = parse_input("os=sequoia ^zlib", 16)
    assert parsed.query is not None

    with pytest.raises(Unanswerable) as raised:
        sample.count(parsed.query)

    assert unanswerable_note(raised.value, parsed).offset == len("os=sequoia ")


def test_an_error_at_a_word_that_can_be_completed_is_unfinished(sample: Catalog) -> None:
    parsed = parse_input("os=", 3)
    assert parsed.error is not None
    note = Note(str(parsed.error), parsed.error.offset)

    assert note == Note("Expected a value after os=", 2)
    assert is_unfinished(note, complete(sample, parsed))
    assert not is_unfinished(None, complete(sample, parsed))
    assert not is_unfinished(note, complete(sample, parse_input("os=", 0)))

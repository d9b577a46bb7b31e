"""The marks of the values dialog: what the keys change, and what Enter applies."""

from __future__ import annotations

import pytest

from spackscope.model.assist.value_choice import Choice, Values
from spackscope.tui.dialogs.values import ValueMarks


def os_choice(included: str = "", excluded: str = "") -> Choice:
    return Choice("os", frozenset(included.split()), frozenset(excluded.split()))


def test_a_value_is_included_excluded_and_cleared() -> None:
    marks = ValueMarks("os")
    for include, after in (
        (True, {"a": True}),
        (False, {"a": False}),
        (False, {}),
        (False, {"a": False}),
        (True, {"a": True}),
        (True, {}),
    ):
        marks.toggle("a", include=include)
        assert marks == after


def test_enter_takes_the_value_under_the_cursor_until_a_mark_is_changed() -> None:
    marks = ValueMarks("os")
    marks.load(Values((), frozenset({"a"}), frozenset({"b"}), has_conditions=True))
    assert marks.hints[0] == ("⏎", "apply")
    assert marks.choice("c") == os_choice("c")
    marks.toggle("c", include=True)
    assert marks.hints[0] == ("⏎", "apply 3 marked")
    assert marks.choice("d") == os_choice("a c", "b")


@pytest.mark.parametrize(
    ("has_filters", "hint", "choice"),
    [(True, "⏎ remove filters", os_choice()), (False, "⏎ apply", os_choice("a"))],
)
def test_enter_on_no_marks_removes_the_filters_if_there_are_any(
    has_filters: bool, hint: str, choice: Choice
) -> None:
    marks = ValueMarks("os")
    marks.load(Values((), frozenset("a"), frozenset(), has_conditions=has_filters))
    marks.clear()
    assert " ".join(marks.hints[0]) == hint
    assert marks.choice("a") == choice


def test_where_there_is_no_value_nothing_is_chosen() -> None:
    assert ValueMarks("os").choice(None) is None

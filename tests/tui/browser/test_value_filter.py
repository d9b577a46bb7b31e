"""Which values are counted and what a choice makes of the query, without an app."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spackscope.model.assist.value_choice import Choice, Values
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.query.conditions import Term, exact_term
from spackscope.tui.browser import value_filter
from spackscope.tui.dialogs.values import ValuesDialog
from tests.browsing import sample_where
from tests.tui.browser.fake_host import FakeBrowser


@pytest.fixture
def browser() -> FakeBrowser:
    return FakeBrowser().load()


class Dialogs:
    """What was shown in dialogs of values."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.values: list[dict[str, int]] = []
        self.failures: list[str] = []
        monkeypatch.setattr(ValuesDialog, "show_values", lambda _, values: self._show(values))
        monkeypatch.setattr(
            ValuesDialog, "show_failure", lambda _, failure: self.failures.append(failure)
        )

    def _show(self, values: Values) -> None:
        self.values.append({facet.value: facet.count for facet in values.facets})


@pytest.fixture
def dialogs(monkeypatch: pytest.MonkeyPatch) -> Dialogs:
    return Dialogs(monkeypatch)


def open_values(browser: FakeBrowser, **where: object) -> None:
    browser.host.where = replace(browser.host.where, **where)  # type: ignore[arg-type]
    browser.controllers.value_filter.open()
    browser.settle()


def choose(browser: FakeBrowser, choice: Choice | None) -> None:
    _, done = browser.host.dialogs[-1]
    assert done is not None
    done(choice)
    browser.settle()


def test_the_values_of_the_column_are_counted_under_the_other_conditions(
    browser: FakeBrowser, dialogs: Dialogs
) -> None:
    browser.type("package=py-ml-dtypes target=aarch64 os=ubuntu24.04")
    open_values(browser, pane="specs", column="os")
    records = sample_where(lambda r: r["package"] == "py-ml-dtypes" and r["target"] == "aarch64")
    assert sum(dialogs.values[-1].values()) == len(records)
    open_values(browser, pane="packages")
    assert "py-build" in dialogs.values[-1], "other packages can be chosen"


def test_in_the_detail_the_values_are_those_of_the_line(
    browser: FakeBrowser, dialogs: Dialogs
) -> None:
    row = browser.host.where.row
    assert row is not None
    open_values(browser, pane="detail", term=exact_term("os", row.spec.os))
    assert row.spec.os in dialogs.values[-1]
    open_values(browser, pane="detail", term=Term("variants", row.spec.variants[0]))
    assert row.spec.variants[0] in dialogs.values[-1]
    open_values(browser, pane="detail", term=None)
    assert browser.host.message == "Nothing to filter by on this line"
    assert len(dialogs.values) == 2


@pytest.mark.parametrize("column", ["hash", "size"])
def test_columns_without_a_value_list_say_so(browser: FakeBrowser, column: str) -> None:
    open_values(browser, pane="specs", column=column)
    values = {"hash": "Hashes", "size": "Sizes"}[column]
    assert browser.host.message == f"{values} have no value list. Press f to filter."
    assert browser.host.dialogs == []


def test_a_choice_becomes_a_filter_and_none_changes_nothing(
    browser: FakeBrowser, dialogs: Dialogs
) -> None:
    open_values(browser, pane="specs", column="os")
    choose(browser, None)
    assert browser.query == ""
    choose(browser, Choice("os", frozenset({"ubuntu22.04", "sequoia"})))
    assert browser.shown == sample_where(lambda r: r["os"] in ("ubuntu22.04", "sequoia"))
    assert browser.host.rewritten[-1]
    choose(browser, Choice("os", excluded=frozenset({"sequoia"})))
    assert browser.query == "!os=sequoia"
    choose(browser, Choice("package", frozenset({"py-build"})))
    assert browser.selected == "py-build"
    choose(browser, Choice("package", frozenset({"py-build", "py-ml-dtypes"})))
    assert browser.selected is None
    choose(browser, Choice("package", excluded=frozenset({"py-build"})))
    assert "py-build" not in browser.packages


def test_before_there_is_a_catalog_there_are_no_values() -> None:
    browser = FakeBrowser()
    browser.controllers.value_filter.open()
    assert browser.host.message == "there are no values to choose from yet"


def test_the_dialog_explains_what_the_records_cannot_answer(
    browser: FakeBrowser, dialogs: Dialogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.type_text("^zlib")
    browser.host.jobs.clear()
    open_values(browser, pane="specs", column="os", input=None)
    assert dialogs.failures
    assert "^zlib asks for dependencies" in dialogs.failures[-1]

    def fail(*_: object) -> None:
        raise IndexDamaged("a hash is missing")

    monkeypatch.setattr(value_filter, "count_values", fail)
    catalog = browser.state.catalog
    open_values(browser)
    assert dialogs.failures[-1] == value_filter.DAMAGED
    assert browser.host.damaged == [(catalog, "a hash is missing")]
    assert browser.state.catalog is not catalog, "it was rebuilt"


def test_counting_stops_when_the_dialog_is_closed(browser: FakeBrowser, dialogs: Dialogs) -> None:
    browser.host.where = replace(browser.host.where, pane="specs", column="os")
    browser.controllers.value_filter.open()
    choose(browser, None)
    assert dialogs.values == []

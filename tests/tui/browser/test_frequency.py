"""What is counted under the cursor, and what a chosen value makes of the query, without an app."""

from __future__ import annotations

from collections import Counter

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.query.ast import Term, exact_term
from spackscope.model.query.parser import parse
from spackscope.model.report.frequency import frequency_section
from spackscope.tui.browser.answers import with_value
from spackscope.tui.dialogs.frequency import Chosen, FrequencyDialog
from spackscope.tui.dialogs.pick import PickDialog
from tests.browsing import SAMPLE, sample_where
from tests.tui.browser.fake_host import FakeBrowser


@pytest.fixture
def browser() -> FakeBrowser:
    return FakeBrowser().load()


def open_frequency(browser: FakeBrowser, **where: object) -> FrequencyDialog:
    browser.host.where = replace(browser.host.where, **where)  # type: ignore[arg-type]
    browser.controllers.answers.count()
    browser.settle()
    dialog, _ = browser.host.dialogs[-1]
    assert isinstance(dialog, FrequencyDialog)
    return dialog


def counts(dialog: FrequencyDialog) -> dict[str, int]:
    assert dialog.counts is not None
    return {facet.value: facet.count for facet in dialog.counts.facets[0]}


def choose(browser: FakeBrowser, dialog: FrequencyDialog, *values: str) -> None:
    _, done = browser.host.dialogs[-1]
    assert done is not None
    assert dialog.counts is not None
    pairs = zip(dialog.counts.axes, values, strict=False)
    done(tuple(Chosen(axis, value) for axis, value in pairs))
    browser.settle()


def test_the_rows_are_counted_by_the_column(browser: FakeBrowser) -> None:
    browser.type("os=ubuntu24.04")
    dialog = open_frequency(browser, pane="specs", column="target", input=None)
    expected = Counter(r["target"] for r in SAMPLE if r["os"] == "ubuntu24.04")
    assert counts(dialog) == expected
    assert counts(open_frequency(browser, column="os")) == {"ubuntu24.04": sum(expected.values())}
    assert len(counts(open_frequency(browser, pane="packages"))) > 1


def test_a_value_is_a_filter_and_undo_removes_it(browser: FakeBrowser) -> None:
    browser.type("os=ubuntu24.04 | os=sequoia")
    browser.leave()
    dialog = open_frequency(browser, pane="specs", column="os")
    choose(browser, dialog, "sequoia")
    assert browser.query == "os=sequoia", "a text has one value, so it replaces the others"
    assert len(browser.shown) == counts(dialog)["sequoia"]
    assert browser.host.message == "Added os=sequoia (⌫ goes back)"
    browser.navigation.retrace(-1)
    browser.settle()
    assert browser.query == "os=ubuntu24.04 | os=sequoia"


def test_a_cell_filters_by_both(browser: FakeBrowser) -> None:
    dialog = open_frequency(browser, pane="specs", column="os")
    dialog.names = ("os", "target")
    browser.controllers.answers.fill_counts(dialog)
    browser.settle()
    assert dialog.counts is not None
    expected = Counter((r["os"], r["target"]) for r in SAMPLE)
    assert dialog.counts.cells == expected
    cell = ("ubuntu22.04", "x86_64_v3")
    choose(browser, dialog, *cell)
    assert browser.shown == sample_where(lambda r: (r["os"], r["target"]) == cell)
    assert len(browser.shown) == expected[cell]


def test_two_columns_of_no_specs_are_an_empty_matrix(browser: FakeBrowser) -> None:
    dialog = open_frequency(browser, pane="specs", column="os")
    dialog.names = ("os", "target")
    browser.type("hdf5@9.9")
    browser.controllers.answers.fill_counts(dialog)
    browser.settle()
    assert dialog.counts is not None
    assert not frequency_section(dialog.counts, 80).rows


def test_on_a_variant_of_the_detail_its_values_are_counted(browser: FakeBrowser) -> None:
    row = browser.host.where.row
    assert row is not None
    name = "build_system"
    dialog = open_frequency(browser, pane="detail", term=Term("variants", f"{name}=python_pip"))
    assert sum(counts(dialog).values()) >= len(SAMPLE)
    assert all(value.startswith(f"{name}=") or not value for value in counts(dialog))
    text = exact_term("os", row.spec.os)
    assert row.spec.os in counts(open_frequency(browser, term=text))
    browser.host.where = replace(browser.host.where, term=None)
    browser.controllers.answers.count()
    assert browser.host.message == "Nothing to count by on this line"


@pytest.mark.parametrize("column", ["hash", "size"])
def test_on_columns_without_shared_values_one_is_chosen(browser: FakeBrowser, column: str) -> None:
    browser.host.where = replace(browser.host.where, pane="specs", column=column)
    browser.controllers.answers.count()
    dialog, done = browser.host.dialogs[-1]
    assert isinstance(dialog, PickDialog)
    assert done is not None
    done(None)
    assert len(browser.host.dialogs) == 1
    done("os")
    browser.settle()
    dialog, _ = browser.host.dialogs[-1]
    assert isinstance(dialog, FrequencyDialog)
    assert counts(dialog) == Counter(r["os"] for r in SAMPLE)


def test_before_there_is_a_catalog_there_is_nothing_to_count() -> None:
    browser = FakeBrowser()
    browser.controllers.answers.count()
    assert browser.host.message == "there is nothing to count yet"


def test_counting_stops_when_the_dialog_is_closed(browser: FakeBrowser) -> None:
    browser.host.where = replace(browser.host.where, pane="specs", column="os")
    browser.controllers.answers.count()
    dialog, done = browser.host.dialogs[-1]
    assert done is not None
    done(None)
    browser.settle()
    assert isinstance(dialog, FrequencyDialog)
    assert dialog.counts is None


def test_what_cannot_be_counted_is_explained(
    browser: FakeBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[str] = []
    monkeypatch.setattr(FrequencyDialog, "show_failure", lambda _, text: failures.append(text))
    browser.type_text("^zlib")
    browser.host.jobs.clear()
    open_frequency(browser, pane="specs", column="os", input=None)
    assert "^zlib asks for dependencies" in failures[-1]


@pytest.mark.parametrize(
    ("query", "term", "expected"),
    [
        ("hdf5 os=a | os=b", Term("os", "a"), "hdf5 os=a"),
        ("@1.2: +mpi", exact_term("version", "1.3"), "@=1.3 +mpi"),
        ("stack=a", Term("stack", "b"), "stack=a stack=b"),
        ("+mpi", Term("variants", "+cuda"), "+mpi +cuda"),
        ("+mpi", Term("variants", "cuda=*", negated=True), "+mpi !cuda=*"),
        ("!os=a", Term("os", "b"), "os=b"),
    ],
)
def test_a_value_takes_the_place_of_what_it_fulfils(query: str, term: Term, expected: str) -> None:
    assert with_value(parse(query), term) == parse(expected)

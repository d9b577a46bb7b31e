"""The counts of values, and the query that a choice makes, without an app."""

from collections import Counter

import pytest

from spackscope.model.index.value_counts import SectionKey, SectionValue, ValueSection, Verb
from spackscope.model.query.ast import Term, exact_term
from spackscope.tui.browser import jobs
from spackscope.tui.browser.answers import stats
from spackscope.tui.browser.state import SPECS, CountedValues
from spackscope.tui.browser.values import choose_value, count_values, open_values
from tests.browsing import SAMPLE, sample_where
from tests.tui.browser.fake_host import FakeBrowser


def press_v(browser: FakeBrowser, **where: object) -> None:
    browser.put(**where)
    browser.do(open_values, browser.host)


def shown(browser: FakeBrowser) -> CountedValues:
    assert browser.state.values is not None
    return browser.state.values


def section_of(browser: FakeBrowser, label: str) -> ValueSection:
    return next(s for s in shown(browser).sections if s.key.label == label)


def counts(browser: FakeBrowser) -> dict[str, dict[str, int]]:
    """The counts of the values of each section."""
    return {
        section.key.label: {v.text: v.count for v in section.values if v.condition is None}
        for section in shown(browser).sections
    }


def choose(browser: FakeBrowser, verb: Verb, label: str, text: str) -> None:
    section = section_of(browser, label)
    value: SectionValue | None = next((v for v in section.values if v.text == text), None)
    choose_value(browser.controllers.search, browser.host.state.view.query, verb, section, value)
    browser.settle()
    browser.do(count_values, browser.host)


def test_v_goes_to_the_section_of_the_column_of_a_variant_and_of_a_line_of_the_detail(
    browser: FakeBrowser,
) -> None:
    browser.type("package=py-ml-dtypes target=aarch64 os=ubuntu24.04")
    spec = browser.row.spec
    press_v(browser, pane="specs", column="os", input=None)
    assert browser.host.focused[-1] == "values"
    assert shown(browser).place == (SectionKey("os"), spec.os)
    assert counts(browser)["os"] == Counter(
        r["os"] for r in SAMPLE if (r["package"], r["target"]) == ("py-ml-dtypes", "aarch64")
    )
    open_values(browser.host)
    assert browser.host.focused[-1] == "specs", "v again goes back"

    pip = "build_system=python_pip"
    press_v(browser, pane="specs", column="+build_system")
    assert shown(browser).place == (SectionKey("variants", "build_system"), pip)
    assert "build_system" in counts(browser), "it is shown even with one value"
    for term, key, value in (
        (exact_term("os", spec.os), SectionKey("os"), spec.os),
        (Term("variants", pip), SectionKey("variants", "build_system"), pip),
    ):
        press_v(browser, pane="detail", term=term)
        assert shown(browser).place == (key, value)


@pytest.mark.parametrize(("column", "label"), [("hash", "Hashes"), ("size", "Sizes")])
def test_columns_without_a_value_list_say_so(
    browser: FakeBrowser, column: str, label: str
) -> None:
    press_v(browser, pane="specs", column=column)
    assert browser.message == f"{label} have no value list. Press f to filter."
    assert browser.host.focused[-1:] != ["values"]


def test_before_there_is_a_catalog_there_are_no_values() -> None:
    browser = FakeBrowser()
    open_values(browser.host)
    assert browser.message == "there are no values to choose from yet"


def test_rows_are_counted_once_and_not_those_that_were_left_before(browser: FakeBrowser) -> None:
    press_v(browser, pane="specs", column="os", input=None)
    before = counts(browser)
    count_values(browser.host)
    assert not browser.host.is_running(jobs.VALUES)
    for package in ("py-build", None):
        browser.search.select_package(package)
        browser.host.work("view")
        count_values(browser.host)
        assert browser.host.is_running(jobs.VALUES)
    browser.settle()
    assert counts(browser) == before
    browser.put(pane="packages")
    open_values(browser.host)
    assert not browser.host.is_running(jobs.VALUES), "nor are they for the list of packages"


def test_what_is_chosen_is_the_query_at_once_and_one_step_of_undo(browser: FakeBrowser) -> None:
    press_v(browser, pane="specs", column="os")
    choose(browser, "include", "os", "ubuntu22.04")
    choose(browser, "include", "os", "sequoia")
    both = {"ubuntu22.04", "sequoia"}
    assert browser.shown == sample_where(lambda r: r["os"] in both)
    assert {v.text for v in section_of(browser, "os").values if v.mark} == both
    for verb, label, value, query in (
        ("exclude", "os", "sequoia", "os=ubuntu22.04 !os=sequoia"),
        ("only", "os", "ubuntu24.04", "os=ubuntu24.04"),
        ("exclude", "target", "aarch64", "os=ubuntu24.04 !target=aarch64"),
        ("clear", "target", "", "os=ubuntu24.04"),
        ("clear", "os", "", ""),
    ):
        before = browser.query
        choose(browser, verb, label, value)  # type: ignore[arg-type]
        assert browser.query == query
        for by, text in ((-1, before), (1, query)):
            browser.retrace(by, query=text)


def test_f_counts_by_the_section_under_the_cursor(browser: FakeBrowser) -> None:
    value = SectionKey("variants", "build_system"), "build_system=python_pip"
    browser.put(pane="values", value=value)
    browser.do(stats, browser.controllers.sheets)
    assert browser.state.table is not SPECS
    assert browser.state.table.command == ("stats", "--by", "build_system")

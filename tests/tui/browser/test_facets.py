"""What is counted in the facets, and what a choice makes of the query, without an app."""

from __future__ import annotations

from collections import Counter

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.index.facets import FacetKey, FacetSection, FacetValue, Verb
from spackscope.model.query.ast import Term, exact_term
from spackscope.tui.browser.state import Facets
from spackscope.tui.dialogs.frequency import FrequencyDialog
from tests.browsing import SAMPLE, sample_where
from tests.tui.browser.fake_host import FakeBrowser


@pytest.fixture
def browser() -> FakeBrowser:
    return FakeBrowser().load()


def open_facets(browser: FakeBrowser, **where: object) -> None:
    browser.host.where = replace(browser.host.where, **where)  # type: ignore[arg-type]
    browser.controllers.facets.open()
    browser.settle()


def shown(browser: FakeBrowser) -> Facets:
    shown = browser.state.facets
    assert shown is not None
    return shown


def section_of(browser: FakeBrowser, label: str) -> FacetSection:
    return next(s for s in shown(browser).sections if s.key.label == label)


def counts(browser: FakeBrowser) -> dict[str, dict[str, int]]:
    """The counts of the values of each section."""
    return {
        section.key.label: {v.text: v.count for v in section.values if v.condition is None}
        for section in shown(browser).sections
    }


def choose(browser: FakeBrowser, verb: Verb, label: str, text: str) -> None:
    section = section_of(browser, label)
    value: FacetValue | None = next((v for v in section.values if v.text == text), None)
    browser.controllers.facets.choose(verb, section, value)
    browser.settle()
    browser.controllers.facets.count()
    browser.settle()


def test_v_counts_all_sections_and_goes_to_that_of_the_column(browser: FakeBrowser) -> None:
    browser.type("package=py-ml-dtypes target=aarch64 os=ubuntu24.04")
    open_facets(browser, pane="specs", column="os", input=None)
    assert browser.host.focused[-1] == "facets"
    os = browser.host.where.row.spec.os if browser.host.where.row is not None else ""
    assert shown(browser).place == (FacetKey("os"), os)
    assert counts(browser)["os"] == Counter(
        r["os"] for r in SAMPLE if (r["package"], r["target"]) == ("py-ml-dtypes", "aarch64")
    )
    browser.controllers.facets.open()
    assert browser.host.focused[-1] == "specs", "v again goes back"


def test_rows_left_before_they_were_counted_leave_the_counts_as_they_were(
    browser: FakeBrowser,
) -> None:
    open_facets(browser, pane="specs", column="os", input=None)
    before = counts(browser)
    for package in ("py-build", None):
        browser.search.select_package(package)
        browser.host.work("view")
        browser.controllers.facets.count()
    browser.settle()
    assert counts(browser) == before


def test_v_goes_to_the_section_of_a_variant_and_of_a_line_of_the_detail(
    browser: FakeBrowser,
) -> None:
    row = browser.host.where.row
    assert row is not None
    open_facets(browser, pane="specs", column="+build_system", input=None)
    assert shown(browser).place == (
        FacetKey("variants", "build_system"),
        "build_system=python_pip",
    )
    assert "build_system" in counts(browser), "it is shown even with one value"
    open_facets(browser, pane="detail", term=exact_term("os", row.spec.os))
    assert shown(browser).place == (FacetKey("os"), row.spec.os)
    variant = row.spec.variants[0]
    open_facets(browser, pane="detail", term=Term("variants", variant))
    place = shown(browser).place
    assert place is not None
    assert place[1] == variant


@pytest.mark.parametrize(("column", "label"), [("hash", "Hashes"), ("size", "Sizes")])
def test_columns_without_a_facet_say_so(browser: FakeBrowser, column: str, label: str) -> None:
    open_facets(browser, pane="specs", column=column)
    assert browser.host.message == f"{label} have no facet. Press f to filter."
    assert browser.host.focused[-1:] != ["facets"]


def test_what_is_chosen_is_the_query_at_once(browser: FakeBrowser) -> None:
    open_facets(browser, pane="specs", column="os")
    choose(browser, "include", "os", "ubuntu22.04")
    choose(browser, "include", "os", "sequoia")
    assert browser.shown == sample_where(lambda r: r["os"] in ("ubuntu22.04", "sequoia"))
    assert {v.text for v in section_of(browser, "os").values if v.mark} == {
        "ubuntu22.04",
        "sequoia",
    }
    choose(browser, "exclude", "os", "sequoia")
    assert browser.query == "os=ubuntu22.04 !os=sequoia"
    choose(browser, "only", "os", "ubuntu24.04")
    assert browser.query == "os=ubuntu24.04"
    choose(browser, "exclude", "package", "py-build")
    assert "py-build" not in browser.packages
    choose(browser, "clear", "package", "")
    choose(browser, "clear", "os", "")
    assert browser.query == ""
    choose(browser, "only", "package", "py-build")
    assert browser.selected == "py-build"


def test_each_choice_is_one_step_of_undo(browser: FakeBrowser) -> None:
    open_facets(browser, pane="specs", column="os")
    choose(browser, "include", "os", "ubuntu22.04")
    choose(browser, "include", "os", "sequoia")
    browser.navigation.retrace(-1)
    browser.settle()
    assert browser.query == "os=ubuntu22.04"
    browser.navigation.retrace(-1)
    browser.settle()
    assert browser.query == ""


def test_before_there_is_a_catalog_there_are_no_values() -> None:
    browser = FakeBrowser()
    browser.controllers.facets.open()
    assert browser.host.message == "there are no values to choose from yet"


def test_what_is_counted_is_not_counted_again(browser: FakeBrowser) -> None:
    open_facets(browser, pane="specs", column="os")
    before = shown(browser)
    browser.controllers.facets.count()
    assert not browser.host.is_running("facets")
    browser.type("os=sequoia")
    browser.controllers.facets.count()
    assert browser.host.is_running("facets")
    browser.settle()
    assert shown(browser) is not before


def test_f_counts_by_the_section_under_the_cursor(browser: FakeBrowser) -> None:
    facet = FacetKey("variants", "build_system"), "build_system=python_pip"
    browser.host.where = replace(browser.host.where, pane="facets", facet=facet)
    browser.controllers.frequency.open()
    browser.settle()
    dialog, _ = browser.host.dialogs[-1]
    assert isinstance(dialog, FrequencyDialog)
    assert dialog.counts is not None
    assert [axis.name for axis in dialog.counts.axes] == ["build_system"]

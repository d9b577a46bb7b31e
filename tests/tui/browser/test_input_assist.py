"""Completions of what is typed, without an app."""

from collections import Counter

from spackscope.model.assist.offers import Completion
from spackscope.model.query.ast import Query
from spackscope.model.query.column_filter import parse_filter_input
from spackscope.tui.browser.search import Replacement
from tests.browsing import SAMPLE
from tests.tui.browser.fake_host import FakeBrowser, call_now


def items(browser: FakeBrowser) -> dict[str, int]:
    draft = browser.draft
    assert draft.completions is not None
    return {item.text: item.count for item in draft.completions.items}


def test_a_completion_that_changes_nothing_ends_the_completion(browser: FakeBrowser) -> None:
    browser.ask("os=sequoi")
    browser.search.accept(Completion("os=sequoi", 1), "query", "os=sequoi")
    assert items(browser) == {}


def test_an_accepted_completion_replaces_the_word_and_is_not_completed_further(
    browser: FakeBrowser,
) -> None:
    browser.ask("!os=seq")
    accept = browser.search.accept
    item = Completion("os=sequoia", 1)
    assert accept(item, "os", "!os=seq") is None, "another input"
    assert accept(item, "query", "!os=sequ") is None, "typed on in the meantime"
    assert accept(None, "query", "!os=seq") is None
    assert accept(item, "query", "!os=seq") == Replacement("os=sequoia", 1, 7)
    browser.ask("!os=sequoia")
    assert items(browser) == {}
    browser.ask("!os=sequoi")
    assert items(browser), "a letter asks for completions again"


def test_completions_of_a_word_that_is_not_begun_are_shown_on_demand(
    browser: FakeBrowser,
) -> None:
    browser.ask("", "os")
    assert items(browser) == {}
    browser.search.request_completions(parse_filter_input("", 0, "os", Query()))
    browser.settle()
    assert items(browser) == Counter(f"={r['os']}" for r in SAMPLE)


def test_only_the_completions_of_the_text_that_is_there_are_shown(browser: FakeBrowser) -> None:
    browser.search.request_completions(browser.type_text("os="))
    late = browser.host.jobs["completions"]
    browser.ask("os=ub")
    shown = items(browser)
    late.done(late.work(call_now))
    assert items(browser) == shown


def test_without_a_catalog_nothing_is_awaited() -> None:
    browser = FakeBrowser()
    browser.ask("os=")
    assert items(browser) == {}

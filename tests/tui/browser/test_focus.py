"""Keys that wait, without an app."""

from pathlib import Path

from spackscope.tui.browser import jobs
from spackscope.tui.browser.copy import open_menu
from spackscope.tui.keymap import ANYWHERE, COMPLETIONS, DETAIL, LINES, LISTS
from tests.builders.spack import INSTALL_TREE
from tests.tui.browser.fake_host import FakeBrowser


def at(browser: FakeBrowser, pane: str, input_: str | None = None) -> None:
    browser.put(pane=pane, input=input_, key_panes=(pane, LISTS, ANYWHERE))


def late(browser: FakeBrowser, *keys: str) -> list[str]:
    """Return which of some keys wait."""
    return [key for key in keys if browser.controllers.awaited(key, frozenset())]


def test_only_keys_for_rows_wait_for_rows(browser: FakeBrowser) -> None:
    browser.search.select_package("py-build")
    at(browser, "packages")
    assert late(browser, "j", "enter", "slash", "y", "t", "backspace") == [
        *("y", "t", "backspace")
    ]
    for pane in ("specs", "detail"):
        at(browser, pane)
        assert late(browser, "j", "slash", "q") == ["j"]
    browser.settle()
    for pane in ("packages", "specs", "detail"):
        at(browser, pane)
        assert late(browser, "j", "y", "t") == []


def test_keys_for_a_row_wait_until_it_is_read(browser: FakeBrowser) -> None:
    browser.host.run(lambda _: None, lambda _: None, jobs.ROWS)
    at(browser, "specs")
    assert late(browser, "j", "enter", "space", "y") == ["enter", "space", "y"]
    at(browser, "packages")
    assert late(browser, "j", "enter", "space", "y") == ["y"]


def test_keys_for_the_detail_wait_until_it_shows_the_row(browser: FakeBrowser) -> None:
    browser.settle()
    browser.host.shown_late = frozenset((LINES, DETAIL))
    at(browser, "specs")
    assert late(browser, "j", "space", "y", "t") == ["t"]
    at(browser, "detail")
    assert late(browser, "j") == ["j"]


def test_keys_in_the_detail_wait_for_its_lines_and_its_tree(tmp_path: Path) -> None:
    browser = FakeBrowser(INSTALL_TREE).load()
    browser.move_to(1)
    at(browser, "specs")
    assert late(browser, "j", "y", "t", "u") == ["t", "u"]
    at(browser, "detail")
    assert late(browser, "j", "y", "t", "u") == ["j", "y", "t", "u"]
    browser.settle()
    assert late(browser, "j", "y", "t", "u") == []


def test_tab_waits_for_completions_and_escape_for_nothing(browser: FakeBrowser) -> None:
    browser.type_text("os=sequoia")
    assert late(browser, "x", "tab", "ctrl+n", "escape", "enter") == ["tab", "ctrl+n"]
    browser.host.work("view")
    assert late(browser, "x", "tab", "escape") == ["tab"]
    browser.host.work()
    assert late(browser, "x", "tab", "escape") == []
    browser.host.shown_late = frozenset((COMPLETIONS,))
    assert late(browser, "x", "tab", "escape") == ["tab"]


def test_a_key_waits_for_the_dialog_that_the_one_before_it_opens(browser: FakeBrowser) -> None:
    at(browser, "specs")
    open_menu(browser.controllers)
    assert late(browser, "s", "escape") == ["s", "escape"]
    browser.settle()
    assert late(browser, "s") == []


def test_keys_for_specs_wait_for_sources_and_those_that_lead_out_do_not() -> None:
    for query, waiting in (("", []), ("hdf5", ["slash"])):
        browser = FakeBrowser(query=query)
        browser.controllers.loading.load()
        assert late(browser, "j", "y", "enter") == ["j", "y", "enter"]
        assert late(browser, "slash", "question_mark", "escape", "O", "q") == waiting

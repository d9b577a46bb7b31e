"""Marks, picking and copying, without an app."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spackscope.tui.copy_forms import FORMS, CopyForm
from spackscope.tui.dialogs.copy import CopyDialog
from tests.browsing import SAMPLE
from tests.builders import INSTALL_TREE, Record, record, write_page
from tests.tui.browser.fake_host import FakeBrowser


@pytest.fixture
def browser() -> FakeBrowser:
    return FakeBrowser().load()


def hash_at(browser: FakeBrowser, number: int) -> str:
    browser.move_to(number)
    browser.settle()
    assert browser.host.where.row is not None
    return browser.host.where.row.spec.hash


def mark(browser: FakeBrowser, number: int) -> str:
    hash_ = hash_at(browser, number)
    assert browser.host.where.row is not None
    browser.controllers.selection.mark(browser.host.where.row)
    return hash_


def choose(browser: FakeBrowser, form: CopyForm) -> str:
    """Choose a form in the menu, and return what was copied."""
    browser.controllers.selection.open_menu()
    browser.settle()
    dialog, done = browser.host.dialogs[-1]
    assert isinstance(dialog, CopyDialog)
    assert done is not None
    done(form)
    browser.settle()
    return browser.copied[-1]


def test_the_whole_hash_of_the_selected_spec_is_copied(browser: FakeBrowser) -> None:
    hash_ = hash_at(browser, 2)
    browser.controllers.selection.copy_hash()
    browser.settle()
    assert browser.copied == [hash_]
    assert browser.host.message == f"Copied {hash_[:7]}… (test)"


def test_all_marks_are_copied_in_the_order_of_marking(browser: FakeBrowser) -> None:
    hashes = [mark(browser, 2), mark(browser, 0)]
    browser.controllers.selection.copy_hash()
    browser.settle()
    assert browser.copied == ["\n".join(hashes)]
    assert browser.host.message == "Copied 2 marked hashes (test)"
    assert choose(browser, FORMS[1]).splitlines() == [f"/{hash_}" for hash_ in hashes]


def test_marks_go_by_the_hash_and_outlast_queries(browser: FakeBrowser) -> None:
    first, second = mark(browser, 0), mark(browser, 5)
    browser.type("os=windows")
    browser.leave()
    assert list(browser.state.marks) == [first, second]
    browser.search.clear()
    browser.settle()
    assert mark(browser, 0) == first
    assert list(browser.state.marks) == [second]
    browser.controllers.selection.clear()
    assert not browser.state.marks


def test_the_first_of_a_fold_is_marked_with_a_message(browser: FakeBrowser) -> None:
    browser.search.fold()
    browser.settle()
    hash_ = mark(browser, 0)
    row = browser.host.where.row
    assert row is not None
    assert row.count > 1
    assert browser.host.message == f"Marked the first of {row.count} look-alikes"
    browser.controllers.selection.clear()
    browser.controllers.selection.copy_hash()
    browser.settle()
    assert browser.copied == [hash_]
    assert f"the first of {row.count} look-alikes" in browser.host.message


def is_form(key: str, text: str, record: Record) -> bool:
    """Check whether a text is a record in the form that a key of the menu stands for."""
    if key == "y":
        return bool(text == record["hash"])
    if key == "slash":
        return bool(text == f"/{record['hash']}")
    if key == "i":
        return bool(text == f"spack install --cache-only /{record['hash']}")
    if key == "s":
        beginning = f"py-build@{record['versions'][0]}~virtualenv build_system="
        return text.startswith(beginning) and f"os={record['os']} target=" in text
    found = json.loads(text)
    return found["hash"] == record["hash"] and set(found["variants"]) == set(record["variants"])


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.key)
def test_each_form_is_copied(browser: FakeBrowser, form: CopyForm) -> None:
    hash_ = hash_at(browser, 0)
    (selected,) = (r for r in SAMPLE if r["hash"] == hash_)
    text = choose(browser, form)
    assert is_form(form.key, text, selected)
    assert not text.endswith("\n")


def test_equal_lines_are_copied_once(browser: FakeBrowser) -> None:
    for number in range(3):
        mark(browser, number)
    assert len(choose(browser, FORMS[3]).splitlines()) == 3
    assert len(choose(browser, FORMS[2]).splitlines()) == 1


def test_where_no_spec_is_shown_there_is_nothing_to_copy(browser: FakeBrowser) -> None:
    browser.type("zzz")
    browser.leave()
    browser.controllers.selection.copy_hash()
    browser.settle()
    assert browser.host.message == "there is no spec to copy"
    browser.controllers.selection.open_menu()
    browser.settle()
    assert browser.host.message == "there is no spec to copy"
    assert browser.copied == []
    assert browser.host.dialogs == []


def test_what_is_unsafe_to_paste_is_not_copied(tmp_path: Path) -> None:
    write_page(tmp_path, [record(1, variants=["x=\u202e1"])])
    browser = FakeBrowser(tmp_path).load()
    for form in FORMS:
        assert "\u202e" not in choose(browser, form)


def test_a_copied_spec_has_its_compilers_and_is_found_again() -> None:
    browser = FakeBrowser(INSTALL_TREE, query="curl").load()
    hash_ = hash_at(browser, 0)
    copied = choose(browser, FORMS[2])
    assert copied.endswith(" %c,cxx=gcc@12.2.0")
    assert FakeBrowser(INSTALL_TREE, query=copied).load().shown == {hash_}


@pytest.mark.parametrize("is_marked", [False, True])
def test_picking_ends_with_the_row_or_all_marks(is_marked: bool, tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    browser = FakeBrowser(query="os=sequoia", is_pick=True, environ=environ).load()
    browser.type("os=sequoia")
    marked = [mark(browser, 1), mark(browser, 0)] if is_marked else []
    hash_ = hash_at(browser, 2)
    assert browser.host.where.row is not None
    browser.controllers.selection.pick(browser.host.where.row)
    browser.settle()
    assert browser.host.ended == (marked or [hash_], 0)
    assert (tmp_path / "spackscope" / "history").read_text() == "os=sequoia\n"


def test_every_form_has_a_letter_of_its_own() -> None:
    keys = [form.key for form in FORMS]
    assert len(set(keys)) == len(keys)
    assert not {"escape", "q", "enter", "up", "down"} & set(keys)

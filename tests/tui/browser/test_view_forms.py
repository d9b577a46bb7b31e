"""The command line that is offered for a view prints exactly the hashes that are shown."""

import shlex
import subprocess
from pathlib import Path

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.sources.session import Session
from spackscope.tui.browser.copy import ALL_MARKS, FORMS, ViewForm, open_menu, view_forms
from spackscope.tui.browser.state import SPECS
from spackscope.tui.dialogs.pick import PickDialog
from tests.builders.pages import SAMPLE_PAGES, record, write_page
from tests.builders.spack import INSTALL_TREE
from tests.program import COMMAND, environment
from tests.tui.browser.fake_host import FakeBrowser
from tests.tui.browser.hdf5_index import HDF5
from tests.tui.browser.look_alike_index import write_look_alikes

HOST = "target=zen3 glibc=2.35"


def forms(browser: FakeBrowser, *sources: object) -> dict[str, ViewForm]:
    """Return the forms of the view by their keys."""
    catalog, loading = browser.state.catalog, browser.controllers.loading
    assert catalog is not None
    names = [str(source) for source in sources] or [str(SAMPLE_PAGES)]
    found = view_forms(SPECS, catalog, browser.state.view, names, loading.session)
    keys = [*(form.key for form in (*FORMS, ALL_MARKS)), *(form.key for form in found)]
    assert len({*keys}) == len(keys), "the menu has one form of a letter"
    return {form.key: form for form in found}


def run(text: str, home: Path) -> list[str]:
    """Run a command line in a shell in another directory, and return the lines that it prints."""
    function = f'spackscope() {{ {shlex.join(COMMAND)} "$@"; }}'
    result = subprocess.run(
        ["sh", "-c", f"{function}\n{text}"],
        cwd="/",
        env=environment(home),
        capture_output=True,
        encoding="utf-8",
    )
    assert result.returncode in (0, 1), result.stderr
    return result.stdout.splitlines()


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "py-build",
        "virtualenv os=ubuntu24.04",
        "!virtualenv",
        "py-build@1.2.1 py-safetensors target=aarch64",
        "stack='root' | !os=sequoia",
        "py-* ~virtualenv",
        "fits",
        "target=:host !os=sequoia",
        "%gcc@12: 'py ml' | 24.04",
    ],
)
def test_the_command_line_prints_the_shown_hashes(tmp_path: Path, typed: str) -> None:
    session = Session({}, host=HOST)
    browser = FakeBrowser(session=session).load()
    browser.type(typed)
    browser.leave()
    printed = run(forms(browser)["c"].read(), tmp_path)
    assert len(printed) == len(set(printed))
    assert set(printed) == browser.shown


def test_neither_folding_nor_marks_nor_the_order_change_the_command_line(tmp_path: Path) -> None:
    index = tmp_path / "it's $HOME; `x`" / "index.json"
    index.parent.mkdir()
    write_look_alikes(index)
    browser = FakeBrowser(index, query="hdf5").load()
    text = forms(browser, index)["c"].read()
    assert set(run(text, tmp_path)) == browser.shown
    browser.controllers.specs.mark_all()
    browser.search.fold()
    browser.settle()
    assert forms(browser, index)["c"].read() == text


def test_dependency_only_specs_are_in_the_command_line_while_they_are_shown(
    tmp_path: Path,
) -> None:
    browser = FakeBrowser(INSTALL_TREE, SAMPLE_PAGES).load()
    before = browser.shown
    browser.controllers.loading.toggle_dependency_only()
    browser.settle()
    text = forms(browser, INSTALL_TREE, SAMPLE_PAGES)["c"].read()
    assert "--all" in text
    assert set(run(text, tmp_path)) == browser.shown >= before


def test_hashes_are_those_of_all_rows_in_their_order(hdf5_index: Path) -> None:
    browser = FakeBrowser(hdf5_index, query="hdf5").load()
    assert forms(browser, hdf5_index)["h"].read() == HDF5


def test_the_query_is_offered_as_a_requirement_if_it_is_one(tmp_path: Path) -> None:
    write_page(tmp_path, [record()], title="zlib")
    browser = FakeBrowser(tmp_path, query="zlib +shared stack=root").load()
    requirement = forms(browser, tmp_path)["R"]
    assert requirement.read() == 'packages:\n  zlib:\n    require:\n    - "+shared"'
    assert requirement.after == "without stack=root"
    assert "R" not in forms(FakeBrowser(tmp_path, query="stack=root").load(), tmp_path)


def test_a_folded_row_of_several_kinds_still_offers_the_forms_of_the_view(
    look_alikes: Path,
) -> None:
    browser = FakeBrowser(look_alikes, query="hdf5@1.14").load()
    browser.host.focus("specs")
    browser.move_to(0)
    open_menu(browser.controllers)
    browser.settle()
    dialog, done = browser.host.dialogs[-1]
    assert isinstance(dialog, PickDialog)
    done(replace(forms(browser, look_alikes)["h"], after="a remark"))
    browser.settle(message="Copied all shown hashes (test) · a remark")
    assert {*browser.copied[-1].splitlines()} == browser.shown


def test_the_address_of_a_query_is_offered_if_the_site_can_show_it() -> None:
    browser = FakeBrowser(query="py-build ~virtualenv %gcc").load()
    address = forms(browser)["O"]
    top = "https://cache.spack.io/?package=py-build"
    assert address.read() == f"{top}&variant=~virtualenv&release=develop"
    assert address.after == "without %gcc"
    assert "O" not in forms(FakeBrowser(query="~virtualenv").load())

"""Copying, with a real program that takes the bytes: the forms, and the lines for a view."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.model.sources.session import Session
from spackscope.tui.browser.copy import FORMS, HASH, summary
from tests.browsing import Browser, browsing
from tests.builders.pages import SAMPLE_PAGES, record, write_page
from tests.builders.spack import INSTALL_TREE
from tests.clipboard import Clipboard
from tests.program import COMMAND, environment
from tests.tui.browser.look_alike_index import write_look_alikes


async def test_y_copies_wherever_the_focus_is_but_in_a_filter(clipboard: Clipboard) -> None:
    async with browsing(environ=clipboard.environ, folded=False) as browser:
        await browser.press("2", "j", "j", "y")
        hash_ = browser.current_hash
        assert clipboard.text == hash_
        assert browser.status.startswith(f"Copied {hash_[:7]}… (")
        assert browser.status.endswith("copy-it)")
        assert browser.status[:20] in browser.lines[-2], "above the hints"
        for key in ("1", "3"):
            clipboard.stored.unlink(missing_ok=True)
            await browser.press(key, "y")
            assert clipboard.text == browser.current_hash
        clipboard.stored.unlink()
        await browser.press("slash", "y", query="y")
        assert not clipboard.stored.exists()
        await browser.clear("1", "home")
        await browser.type_ahead("j", "j", "enter", "j", "y", cursor=1)
        assert browser.current.spec.package == "py-ml-dtypes"
        assert clipboard.text == browser.current_hash, "keys typed ahead copy their row"

    environ = {"SPACKSCOPE_COPY": "/no/such/program", "PATH": "", "TERM": "dumb"}
    async with browsing(environ=environ, folded=False) as browser:
        await browser.press("y", says="/no/such/program is not installed")
        assert browser.status.startswith("Nothing was copied. ")


async def test_the_menu_copies_each_form_by_its_letter_and_by_enter(clipboard: Clipboard) -> None:
    async with browsing(size=(120, 30), environ=clipboard.environ, folded=False) as browser:
        await browser.press("2", "Y")
        hash_ = browser.current_hash
        for form in FORMS:
            assert form.name in browser.text
        assert f"spack install --cache-only /{hash_}" in browser.text
        for key in ("escape", "q"):
            await browser.press(key, dialog=None, focus="spec-rows")
            assert not clipboard.stored.exists()
            await browser.press("Y")
        await browser.press("escape")
        for at, form in [*enumerate(FORMS)][::3]:
            clipboard.stored.unlink(missing_ok=True)
            await browser.press("Y", form.key, dialog=None)
            by_letter = clipboard.text
            assert not by_letter.endswith("\n")
            clipboard.stored.unlink()
            await browser.type_ahead("Y", *["down"] * at, "enter")
            assert clipboard.text == by_letter
        await browser.press("space", "space", "Y", shows="copy 2 marked specs")
        await browser.press("i")
        assert len(clipboard.text.split()) == 5


async def test_in_pick_mode_a_folded_row_is_opened_and_a_kind_says_what_it_takes(
    look_alikes: Path,
) -> None:
    async with browsing(look_alikes, query="hdf5@1.14", pick=True) as browser:
        await browser.press("2", "right")
        assert browser.current.count == 4
        await browser.press("j")
        row = browser.current
        assert "pick any of 3" in browser.lines[-1]
        await browser.press("space", hints="pick 1 marked")
        await browser.press("k", "k", hints="pick 1 marked")
        assert browser.current.has_look_alikes
        await browser.press("U", "j")
        assert browser.current == row
        assert row.spec.hash[:7] in browser.lines[browser.table.rows.region.y + 1]
        browser.send("enter")
        await browser.until(lambda: browser.app.return_value is not None)
        assert browser.app.return_value == [row.spec.hash]


async def test_a_row_that_was_scrolled_away_is_shown_before_it_is_copied(
    clipboard: Clipboard,
) -> None:
    async with browsing(environ=clipboard.environ) as browser:
        await browser.press("2", "z")
        assert browser.current.count == 1
        hash_ = browser.current_hash
        for _ in range(8):
            await browser.wheel(browser.table.rows)
        assert browser.table.rows.top > browser.table.rows.cursor
        await browser.press("y", says="was out of sight")
        assert clipboard.take() is None
        await browser.press("y")
        assert clipboard.take() == hash_


async def test_a_form_and_its_example_take_one_line_with_blanks_between() -> None:
    async with browsing(query="py-build", size=(160, 48), folded=False) as browser:
        for size in ((160, 48), (80, 40), (80, 20), (60, 20), (40, 12)):
            await browser.resize(*size)
            await browser.press("Y")
            at = next(n for n, line in enumerate(browser.lines) if "hash, as Spack" in line)
            assert "s  spec string " in browser.lines[at + 1]
            assert not re.search("[a-z]https://", browser.text)
            await browser.press("escape")


async def test_a_list_that_is_too_long_to_be_copied_can_be_written(tmp_path: Path) -> None:
    write_page(tmp_path, [record(number) for number in range(4_000)])
    environ = {"SPACKSCOPE_COPY": "", "PATH": "", "TERM": "xterm", "SSH_TTY": "/dev/pts/0"}
    async with browsing(tmp_path, environ=environ) as browser:
        await browser.press("2", "Y", "h")
        assert browser.status.startswith("Nothing was copied. ")
        assert browser.status.endswith("e writes a file.")


HOST = "target=zen3 glibc=2.35"


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


async def copied(browser: Browser, clipboard: Clipboard, key: str, **seen: Any) -> str:
    """Return what a form in the menu copies."""
    await browser.press("Y", key, dialog=None, **seen)
    return clipboard.take() or ""


async def test_the_command_line_prints_the_shown_hashes(
    tmp_path: Path, clipboard: Clipboard
) -> None:
    session = Session(clipboard.environ, host=HOST)
    async with browsing(session=session) as browser:
        for typed in (
            "",
            "py-build",
            "virtualenv os=ubuntu24.04",
            "!virtualenv",
            "py-build@1.2.1 py-safetensors target=aarch64",
            "stack='root' | !os=sequoia",
            "py-* ~virtualenv",
            "fits=unknown",
            "target=:host !os=sequoia",
            "%gcc@12: 'py ml' | 24.04",
        ):
            await browser.ask(typed, "enter")
            printed = run(await copied(browser, clipboard, "c"), tmp_path)
            assert len(printed) == len(set(printed))
            assert set(printed) == browser.shown, typed


async def test_neither_folding_nor_marks_nor_the_order_change_the_command_line(
    tmp_path: Path, clipboard: Clipboard
) -> None:
    index = tmp_path / "it's $HOME; `x`" / "index.json"
    index.parent.mkdir()
    write_look_alikes(index)
    async with browsing(index, query="hdf5", environ=clipboard.environ) as browser:
        text = await copied(browser, clipboard, "c")
        assert set(run(text, tmp_path)) == browser.shown
        await browser.press("A", "1", "z", "2", "s")
        assert await copied(browser, clipboard, "c") == text


async def test_dependency_only_specs_are_in_the_command_line_while_they_are_shown(
    tmp_path: Path, clipboard: Clipboard
) -> None:
    async with browsing(INSTALL_TREE, SAMPLE_PAGES, environ=clipboard.environ) as browser:
        before = browser.shown
        await browser.press("a")
        text = await copied(browser, clipboard, "c")
        assert "--all" in text
        assert set(run(text, tmp_path)) == browser.shown >= before


async def test_the_hashes_of_all_rows_are_copied_also_on_a_folded_row_of_several_kinds(
    look_alikes: Path, clipboard: Clipboard
) -> None:
    async with browsing(look_alikes, query="hdf5@1.14", environ=clipboard.environ) as browser:
        text = await copied(browser, clipboard, "h", says="Copied all shown hashes (")
        assert set(text.splitlines()) == browser.shown


async def test_a_query_is_offered_as_an_address_if_it_is_one(
    clipboard: Clipboard,
) -> None:
    top = "https://cache.spack.io/?package=py-build"
    async with browsing(environ=clipboard.environ, size=(120, 40)) as browser:
        await browser.ask("py-build ~virtualenv %gcc", "enter", "Y")
        letters = [line.split()[0] for line in browser.picks if re.match(r" *\S  ", line)]
        assert {"y", "J", "c", "O", "h"} < {*letters}
        assert len(letters) == len({*letters})
        await browser.press("escape")
        address = await copied(browser, clipboard, "O", says="· without %gcc")
        assert address == f"{top}&variant=~virtualenv&release=develop"
        await browser.ask("~virtualenv", "enter", "Y")
        assert not any(line.strip().startswith("O  ") for line in browser.picks)


HASHES = ("a" * 32, "b" * 32, "a" * 32)
ZLIBS = [
    replace(
        Spec("zlib", hash_, "1.3", "none", "linux", "rhel9", "zen3", (), (), None, "", "specs.md"),
        cached=True,
    )
    for hash_ in HASHES
]
BY_KEY = {form.key: form for form in FORMS}
SLASH, SPEC, INSTALL, JSON, REQUIREMENT = (BY_KEY[key] for key in ("slash", *"siJr"))


def test_the_message_names_what_is_copied() -> None:
    assert summary(HASH, ZLIBS[:1], marked=False) == "aaaaaaa…"
    assert summary(SLASH, ZLIBS[:1], marked=False) == f"/{HASHES[0]}"
    assert summary(HASH, ZLIBS[:2], marked=True) == "2 marked hashes"
    assert summary(HASH, ZLIBS[:1], marked=True) == "marked aaaaaaa…"
    assert summary(SPEC, ZLIBS[:2], marked=True) == "1 spec string of 2 marked"
    assert summary(JSON, ZLIBS[:2], marked=True) == "2 marked JSON records"
    assert summary(REQUIREMENT, ZLIBS[:1], marked=False) == "the packages.yaml requirement"


def test_a_spec_without_an_archive_or_an_address_is_left_out() -> None:
    assert INSTALL.spell([replace(ZLIBS[0], cached=False)]) == ""
    tagged = replace(ZLIBS[0], tag="develop")
    address = f"https://cache.spack.io/?package=zlib&hash={tagged.hash}"
    (address_form,) = (form for form in FORMS if form.key == "o")
    assert address_form.spell([ZLIBS[1], tagged, tagged]) == address
    assert address_form.spell(ZLIBS) == ""

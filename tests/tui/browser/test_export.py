"""The shown or the marked rows are written to a file, in the formats of `find`."""

import csv
import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.report.sheet import Sheet
from spackscope.model.report.writers import FORMATS, csv_lines
from spackscope.tui.browser.export import proposed_name
from spackscope.tui.dialogs.dialog import PickList
from tests.browsing import HOST, Browser, browsing, reading
from tests.program import PATIENCE, Program


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to an empty directory."""
    (tmp_path / "files").mkdir()
    monkeypatch.chdir(tmp_path / "files")
    return tmp_path / "files"


async def name_file(browser: Browser, name: str, *keys: str, **seen: Any) -> None:
    """Replace the name of the file, all at once, then press keys."""
    await browser.press("end", "ctrl+u")
    await browser.paste(name, *keys, **seen)


def hashes_in(path: Path) -> set[str]:
    """Return the hashes in a file of CSV, of which no two are equal."""
    with path.open(newline="") as file:
        hashes = [row["hash"] for row in csv.DictReader(file)]
    assert len(hashes) == len(set(hashes))
    return set(hashes)


async def test_the_shown_rows_are_written_in_the_format_of_the_ending(directory: Path) -> None:
    async with browsing(folded=True) as browser:
        await browser.ask("py-build target=aarch64")
        await browser.press("enter", "e", dialog="ExportDialog", shows="py-build.csv")
        assert f"write {len(browser.shown)} records" in browser.text
        assert str(directory)[:20] in browser.text
        assert [each.split()[0] for each in browser.picks][:3] == [
            "py-build.csv",
            "py-build.json",
            "py-build.jsonl",
        ]
        await name_file(browser, "all.txt", "enter", dialog=None)
        assert f"Wrote {len(browser.shown)} hashes to" in browser.status
        written = (directory / "all.txt").read_text().splitlines()
        assert len(written) == len(set(written))
        assert set(written) == browser.shown, "the specs of folded rows too"


async def test_a_name_without_a_known_ending_gets_one_of_each_format(directory: Path) -> None:
    async with browsing(folded=False) as browser:
        await browser.press("2", "e")
        await name_file(browser, "x.other", shows="x.other.tsv")
        await browser.press("down", "down", "enter", dialog=None)
        assert os.listdir(directory) == ["x.other.jsonl"]
        await browser.press("e", "end", "ctrl+u", "enter", dialog="ExportDialog")


async def test_a_path_is_completed(directory: Path) -> None:
    (directory / "some where").mkdir()
    for name in ("one.csv", "one.json"):
        (directory / "some where" / name).touch()
    async with browsing(folded=False) as browser:
        await browser.press("2", "e")
        await name_file(browser, "so", "tab", shows="some where/one.csv")
        await browser.press("tab", "j", "tab", "enter", says="some where/one.json exists, 0 B: ")
        await browser.press("escape", "escape", dialog=None)


async def test_a_directory_is_gone_into(directory: Path) -> None:
    (directory / "there").mkdir()
    async with browsing(folded=False) as browser:
        await browser.press("2", "e")
        await name_file(browser, "ther", "end", "enter", dialog="ExportDialog")
        await browser.type("x")
        await browser.press("enter", dialog=None)
        assert hashes_in(directory / "there" / "x.csv") == browser.shown


async def test_an_old_file_is_replaced_only_after_it_was_named(directory: Path) -> None:
    (directory / "py.csv").write_text("old")
    async with browsing(folded=False) as browser:
        await browser.press("2", "e")
        await name_file(browser, "py", shows="csv, exists")
        await browser.press("enter", says="py.csv exists, 3 B: ⏎ again replaces it")
        await browser.press("down", "enter", dialog=None)  # another one in between
        await browser.press("e")
        await name_file(browser, "py.csv", "enter", says="py.csv exists")
        assert (directory / "py.csv").read_text() == "old"
        await browser.press("enter", dialog=None)
        assert hashes_in(directory / "py.csv") == browser.shown


async def test_marked_rows_in_sight_are_written_alone(directory: Path) -> None:
    async with browsing(folded=False) as browser:
        await browser.press("2", "space", "j", "space")
        marked = set(browser.state.marks)
        await browser.press("e", shows="write 2 marked records")
        await name_file(browser, "marked.txt", "enter")
        assert set((directory / "marked.txt").read_text().split()) == marked

        await browser.ask("os=sequoia", "enter", "e")
        assert f"write {len(browser.shown)} records" in browser.text
        await name_file(browser, "shown.txt", "enter")
        assert set((directory / "shown.txt").read_text().split()) == browser.shown


async def test_what_cannot_be_written_is_one_sentence_and_another_name_can_be_typed(
    directory: Path,
) -> None:
    async with browsing(folded=False) as browser:
        await browser.press("2", "e")
        await name_file(browser, "none/x.csv", "enter", says="There is no directory")
        await name_file(browser, "y" * 300 + ".csv", "enter", says="name too long")
        await name_file(browser, "x.csv", "enter")
        assert hashes_in(directory / "x.csv") == browser.shown


async def test_the_dialog_fits_any_screen() -> None:
    async with browsing(size=(60, 20), folded=False) as browser:
        await browser.press("2", "e")
        for size in ((60, 20), (40, 10), (30, 6)):
            await browser.resize(*size, dialog="ExportDialog")
            assert all(len(line) <= size[0] for line in browser.lines)
        await browser.press("escape", dialog=None)


async def test_a_file_is_written_completely_or_not_at_all(directory: Path) -> None:
    async with browsing(folded=False) as browser:
        await browser.press("2", "e")
        await name_file(browser, "x.txt")
        await browser.type_ahead("enter", "escape")
        if browser.dialog is None:
            assert set((directory / "x.txt").read_text().split()) == browser.shown
        else:
            assert "Stopped: nothing was written" in browser.text
            assert not os.listdir(directory)


def records(name: str, text: str) -> list[str]:
    """Return the records of a format in one order, without what only the browser writes."""
    lines = text.splitlines()
    by_host = ("fits", "reusable", "reasons")
    if name == "hashes":
        return sorted(lines)
    if name == "markdown":
        return sorted(cell for line in lines for cell in re.findall("`([a-z2-7]{7})`", line))
    delimiter = {"csv": ",", "tab": "\t"}.get(name)
    each = csv.DictReader(lines, delimiter=delimiter) if delimiter else map(json.loads, lines)
    read = json.loads(text) if name == "json" else each
    return sorted(str({key: its[key] for key in its if key not in by_host}) for its in read)


async def test_a_file_is_what_find_prints(directory: Path, program: Program) -> None:
    query = "py-build", "target=aarch64"
    async with browsing(query=" ".join(query), environ={"SPACKSCOPE_HOST": HOST}) as browser:
        for format_ in (each for each in FORMATS if each.ending):
            await browser.press("e")
            name = f"x{format_.ending}"
            await name_file(browser, name, "enter", says=f"/files/{name}")
            option = f"--{format_.name}" if format_.name != "tab" else "--flat"
            with reading():
                result = program("find", *query, option, SPACKSCOPE_HOST=HOST)
            written = (directory / name).read_text()
            assert records(format_.name, written) == records(format_.name, result.stdout)


@pytest.mark.parametrize(
    ("package", "old", "name"),
    [
        ("hdf5", [], "hdf5.csv"),
        ("hdf5", ["hdf5.csv", "hdf5-2.csv"], "hdf5-3.csv"),
        ("", [], "specs.csv"),
        ("../..", [], "specs.csv"),
        ("-é/x", [], "x.csv"),
        ("x" * 5000, [f"{'x' * 240}.csv"], f"{'x' * 240}-2.csv"),
    ],
)
def test_the_proposed_name_is_free(
    directory: Path, package: str, old: list[str], name: str
) -> None:
    for each in old:
        (directory / each).touch()
    assert proposed_name(package, ".csv") == name


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Let the first format write its last line only once the event is set."""
    event = threading.Event()

    def lines(sheet: Sheet[Any]) -> Iterator[str]:
        yield from csv_lines(sheet)
        event.wait(PATIENCE)

    formats = (replace(FORMATS[0], of_sheet=lines), *FORMATS[1:])
    monkeypatch.setattr("spackscope.tui.browser.export.FORMATS", formats)
    yield event
    event.set()


async def test_writing_is_stopped_by_escape(directory: Path, held: threading.Event) -> None:
    async with browsing(folded=False) as browser:
        await browser.press("2", "e")
        browser.send("enter")
        await browser.until(lambda: "esc stop" in browser.lines[-1])
        browser.send("escape")
        await browser.until(lambda: re.search("stopping…|Stopped", browser.text))
        held.set()
        await browser.until(lambda: "Stopped: nothing was written" in browser.text)
        await browser.settle()
        assert not os.listdir(directory)
        await browser.press("escape", dialog=None)


async def test_nothing_is_chosen_while_a_file_is_written(directory: Path) -> None:
    async with browsing(folded=False) as browser:
        await browser.press("2", "e")
        async with browser.holding("export"):
            browser.send("enter")
            await browser.until(lambda: "esc stop" in browser.lines[-1])
            rows = browser.app.screen.query_one(PickList)
            await browser.pilot.click(rows, offset=(5, 1), times=2)
        assert os.listdir(directory) == ["specs.csv"]

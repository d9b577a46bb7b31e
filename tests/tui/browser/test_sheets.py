"""Answers in the place of the table: read, sorted, filtered, marked, copied, left again."""

import json
import re
import shlex
import shutil
import threading
from collections import Counter
from pathlib import Path

import pytest

from spackscope.model.answers.diff import COMMAND as DIFF
from spackscope.model.query.lexer import quoted
from spackscope.model.sources.session import Session
from spackscope.tui.browser.state import NO_ROWS, NO_SPEC, SPECS
from spackscope.tui.keymap import KEYS
from tests.browsing import HOST, SAMPLE, browsing, sample_where
from tests.builders.mirrors import with_bzip2
from tests.builders.nodes import edge, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import (
    SpackRoot,
    database,
    environment,
    installs,
    write_index,
    write_tree,
)
from tests.clipboard import Clipboard
from tests.examples import some_and_all
from tests.program import PATIENCE
from tests.tui.cli.commands.test_files import BIN, BZIP2, archive
from tests.web_server import Exchange, serving

ZLIB, XZ, HDF5, OTHER, ALONE = (hash_of(number) for number in range(1, 6))
OLD, NEW = (letter * 32 for letter in "on")
RHEL = {"platform": "linux", "platform_os": "rhel8", "target": "x86_64_v3"}


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """Write an environment, and a cache that has zlib, and hdf5 for another system."""
    zlib = node(ZLIB, dependencies=...)
    xz = node(XZ, name="xz", version="5.8", dependencies=...)
    below = [edge("zlib", ZLIB, ["link"]), edge("xz", XZ, ["build"])]
    hdf5 = node(HDF5, name="hdf5", version="1.14", dependencies=below)
    other = node(OTHER, name="hdf5", version="1.14", dependencies=below, arch=RHEL)
    (tmp_path / "spack.lock").write_bytes(environment([zlib, xz, hdf5], HDF5))
    records = installs(zlib, other) | installs(xz, in_buildcache=False)
    (tmp_path / "index.json").write_bytes(database(records))
    return [tmp_path / "spack.lock", tmp_path / "index.json"]


@pytest.fixture
def session(spack: SpackRoot, tmp_path: Path) -> Session:
    """Configure a Spack that takes no zlib 1.2 from caches."""
    text = "concretizer:\n  reuse:\n    exclude:\n    - zlib@1.2\n"
    spack.write("home/.spack/concretizer.yaml", text)
    # No C library is asked for, as the leaves have none.
    return Session(
        {**spack.environ, "XDG_STATE_HOME": str(tmp_path / "state")}, host="target=zen3"
    )


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    nodes = leaf(OLD, "zlib", "1.2"), leaf(NEW, "zlib", "1.3")
    return write_index(tmp_path / "cache.json", *nodes)


# Rows, and what keys do with them


async def test_coverage_stands_in_the_place_of_the_table(sources: list[Path]) -> None:
    async with browsing(*sources, size=(120, 30)) as browser:
        await browser.press("2", "C", command=f"cover {sources[0]}")
        assert "1 of 3 cached · 2 missing" in browser.text
        assert "1 of 2 missing: os only: ubuntu24.04 ≠ rhel8" in browser.text
        assert browser.cells("hash") == [XZ, HDF5, ZLIB]
        # The cursor passes over the heading, and the detail is that of its row.
        assert browser.item_hash == XZ
        assert "─ xz@5.8 ─" in browser.text
        await browser.press("j", shows=("─ hdf5@1.14 ─", HDF5), item_hash=HDF5)
        # Packages and values are those of the specs: the sheet has their room.
        assert "packages 3" not in browser.text
        await browser.press("1", shows="packages 3")
        await browser.press("escape", "d", command=f"diff /{HDF5} /{OTHER}")
        await browser.press("escape", "enter", command="", query=f"/{OTHER}")
        await browser.press("backspace", item_hash=HDF5)
        await browser.press("escape", command="", query="")
        await browser.press("right_square_bracket", item_hash=HDF5)


async def test_packages_with_several_builds_lead_to_these(cache: Path) -> None:
    async with browsing(cache, size=(120, 30)) as browser:
        await browser.press("P", command="duplicates")
        assert (browser.cells("package"), browser.cells("builds")) == (["zlib"], [2])
        assert browser.item_hash in (NEW, OLD)
        await browser.press("enter", query="package=zlib")


async def test_what_cells_cut_is_in_the_detail_of_a_row_without_a_spec(tmp_path: Path) -> None:
    below = [edge("zlib", ZLIB, ["link"])]
    roots = [node(hash_of(n), name=f"root-{n}", dependencies=below) for n in range(10, 50)]
    hashes = [root["hash"] for root in roots]
    zlib = leaf(ZLIB, "zlib", "1.3")
    for name in ("a.lock", "b.lock"):
        (tmp_path / name).write_bytes(environment([zlib, *roots], *hashes))
    write_index(tmp_path, zlib)
    sources = [tmp_path / name for name in ("a.lock", "b.lock", "index.json")]
    async with browsing(*sources, size=(100, 30)) as browser:
        await browser.press("2", "C")
        rules = [number for number, line in enumerate(browser.lines) if line.startswith("──")]
        rule = rules[0]
        above, below_it = browser.lines[:rule], browser.lines[rule:]
        detail = [line.rpartition("│")[2].strip() for line in below_it if "root-" in line]
        assert detail[0].startswith("missing, most needed first root-10@")
        assert len(detail) > 3
        assert detail[-1].endswith("…")
        assert not any("first root-10@" in line for line in above)
        await browser.resize(160, 45, shows="root-49@")
        await browser.press("backspace", hides="first root-10@")


async def test_rows_about_no_spec_have_the_room_of_the_detail(sources: list[Path]) -> None:
    async with browsing(*sources, size=(100, 30)) as browser:
        await browser.press("2", "F")
        assert not browser.browser.panes.detail.is_on_screen
        await browser.press("3", shows="This row is about no spec")
        # After the filters of both columns.
        await browser.press("tab", "tab", "tab")
        assert browser.browser.host.where.pane == "query"
        await browser.press("escape", "escape", "3")
        assert browser.browser.host.where.pane == "detail"
        await browser.press("F", "enter")
        assert browser.browser.host.where.pane == "specs"
        assert not browser.browser.panes.detail.is_on_screen
        # An answer that cannot be read has no rows.
        await browser.press("escape", "2", "i", shows="files in hdf5")
        assert not browser.browser.panes.detail.is_on_screen


async def test_rows_are_sorted_filtered_and_columns_hidden(sources: list[Path]) -> None:
    async with browsing(*sources, size=(120, 30)) as browser:
        await browser.press("2", "C", "s", cells={"package": ["hdf5", "xz", "zlib"]})
        await browser.press("s", cells={"package": ["zlib", "xz", "hdf5"]})
        await browser.press("s")
        heads = next(line for line in browser.lines if "package" in line and "hash" in line)
        await browser.press("f", *"!x")
        assert heads in browser.lines, "columns stay where they are while a filter is typed"
        assert browser.cells("package") == ["hdf5", "zlib"]
        assert "2 of 3 rows" in browser.lines[1]
        await browser.press("tab", *"1.3", "enter", cells={"package": ["zlib"]})
        # Escape gives back what the input showed before.
        await browser.press("f", "q", "escape", focus="spec-rows", cells={"package": ["zlib"]})
        await browser.press("minus", hides=" version ")
        assert browser.cells("package") == ["hdf5", "zlib"], "its filter went with the column"
        await browser.press("c", *"version", "enter", shows=" version ")


async def test_values_that_all_rows_share_are_above_the_heads_and_can_be_filtered(
    tmp_path: Path, cache: Path
) -> None:
    xz = tmp_path / "xz.json"
    write_index(xz, leaf(ALONE, "xz", "5.8"))
    async with browsing(cache, xz, size=(120, 30)) as browser:
        await browser.press("2", "S", head_line="same in all: kind file · problems 0")
        assert browser.cells("kind") == ["file", "file"]
        assert browser.table.columns.columns.names == ["source", "specs"]
        await browser.press("h", "s", status="All rows have the same kind")
        await browser.press("f", *"!file", head_line="same in all: problems 0")
        assert "kind" in browser.table.columns.columns.names
        assert browser.cells("kind") == []
        # The columns stay as long as the filter that no row fits.
        await browser.press("enter")
        assert "kind" in browser.table.columns.columns.names
        await browser.press("f", "end", "ctrl+u", "enter")
        assert browser.head_line == "same in all: kind file · problems 0"


async def test_a_filter_of_a_sheet_is_none_of_the_specs(cache: Path) -> None:
    async with browsing(cache, size=(120, 30)) as browser:
        await browser.press("2", "S", "l", "f", *"dir", "enter", shows="No row matches")
        await browser.press("escape", builds=2)
        await browser.ask("zlib@1.3", builds=1)


async def test_the_cursor_stays_on_its_spec_whose_row_has_changed(sources: list[Path]) -> None:
    async with browsing(*sources, size=(120, 30)) as browser:
        await browser.press("2", "C", "j", shows="os only: ubuntu24.04 ≠ rhel8")
        write_index(sources[1], node(ZLIB, dependencies=...))
        await browser.press("r", hides="os only: ubuntu24.04 ≠ rhel8", item_hash=HDF5)


async def test_a_problem_leads_to_its_record_or_else_to_its_source(tmp_path: Path) -> None:
    write_index(tmp_path, leaf(OLD, "a", "1") | {"arch": 5})
    write_page(tmp_path / "pages", [record(2, hash="TOO-SHORT"), record(3)])
    paths = (tmp_path / "index.json", tmp_path / "pages")
    async with browsing(*paths, size=(120, 30)) as browser:
        for row, query in enumerate((f"/{OLD[:7]}", f"source={quoted(str(paths[1]))}")):
            await browser.press("2", "S", "S", *["j"] * row, "enter", query=query)
            await browser.press("backspace", "escape")


async def test_a_sheet_without_rows_is_sorted_and_has_no_filters() -> None:
    async with browsing() as browser:
        await browser.press("2", "S", "S", "s", shows="No rows")
        await browser.press("minus", says=NO_ROWS)
        assert not {"write", "filter"} & {*browser.lines[-1].split()}
        lines = browser.lines
        await browser.press("f")
        assert (browser.lines, browser.focus) == (lines, "spec-rows")
        await browser.press("tab")
        assert browser.focus != "spec-rows"
        await browser.press("2", "backspace", command="")


async def test_letters_are_commands_in_every_sheet(
    sources: list[Path], clipboard: Clipboard
) -> None:
    async with browsing(*sources, size=(120, 30), environ=clipboard.environ) as browser:
        await browser.press("2", "C", "space", "y")
        assert clipboard.text == XZ
        await browser.press("A")
        assert set(browser.state.marks) == {XZ, HDF5, ZLIB}
        await browser.press("U", "j", "t", focus="detail")
        await browser.press("escape", "W")
        assert browser.command.startswith("why /")
        await browser.press("escape")
        assert browser.command.startswith("cover")


async def test_keys_mean_the_marks_in_a_sheet_about_no_specs(
    sources: list[Path], here: Path, clipboard: Clipboard
) -> None:
    async with browsing(sources[1], size=(120, 30), environ=clipboard.environ) as browser:
        await browser.press("2", "space", "space")
        marks = browser.state.marks
        assert set(marks) == {ZLIB, OTHER}
        for key in "FS":
            await browser.press(key, *["enter"] * (browser.dialog is not None))
            assert browser.state.table is not SPECS
            assert {"copy", "diff"} <= {*browser.lines[-1].split()}
            assert "2 marked" in browser.marks_line
            assert "out of sight" not in browser.marks_line
            await browser.press("y")
            assert clipboard.text.split() == [*marks]
            await browser.press("Y", "slash")
            assert clipboard.text.split() == [f"/{mark}" for mark in marks]
            await browser.press("d", no_hint="d diff")
            assert browser.command == " ".join(["diff", *(f"/{mark}" for mark in marks)])
            await browser.press("d", "W")
            assert {*browser.cells("hash")} == {*marks}
            await browser.press("backspace", "e", "enter")
            assert re.match(r"Wrote \d rows? to", browser.status), "none is of a marked spec"
            await browser.press("backspace")


async def test_marks_are_copied_beside_an_answer_without_rows(
    cache: Path, clipboard: Clipboard
) -> None:
    async with browsing(cache, size=(120, 30), environ=clipboard.environ) as browser:
        await browser.press("2", "space", "S", "S", shows="No rows")
        assert "d diff" not in browser.text, "one spec is marked"
        await browser.press("y")
        assert (clipboard.text,) == browser.state.marks
        await browser.press("d")
        assert browser.status.startswith("Mark two rows")


async def test_a_diff_is_hinted_where_there_is_something_to_compare(sources: list[Path]) -> None:
    async with browsing(sources[1], size=(160, 30)) as browser:

        def is_hinted() -> bool:
            return "d diff" in browser.lines[-1]

        await browser.press("2")
        assert not is_hinted()
        await browser.press("space")
        assert is_hinted(), "the marked row and this one"
        await browser.press("k")
        assert not is_hinted()


async def test_the_help_of_a_sheet_begins_with_the_answer(sources: list[Path]) -> None:
    async with browsing(*sources, size=(120, 40)) as browser:
        await browser.press("C", "question_mark")
        first = browser.lines.index(
            next(line for line in browser.lines if "In this answer" in line)
        )
        text = " ".join(browser.lines[first : first + 6])
        for part in ("Show what of an environment is cached", "Go to it.", "Go back"):
            assert part in text
        assert "look-alikes" not in " ".join(browser.lines[: first + 8])


async def test_a_sheet_is_copied_as_a_command_and_written_to_a_file(
    sources: list[Path], here: Path, clipboard: Clipboard
) -> None:
    async with browsing(*sources, size=(120, 40), environ=clipboard.environ) as browser:
        await browser.press("2", "C", "Y", "c")
        line = clipboard.text
        words = ("spackscope", "cover", str(sources[0]), "-f", str(sources[1]))
        assert line.startswith(shlex.join(words))
        await browser.press("Y", "h")
        assert clipboard.text.split() == [XZ, HDF5, ZLIB]
        await browser.press("Y", "m")
        assert "| zlib | 1.3.1 |" in clipboard.text, "a table in Markdown"
        await browser.press(
            "f", *"hdf", "enter", "e", "backspace", "backspace", "backspace", *"json", "enter"
        )
        assert browser.status == f"Wrote 1 row to {here}/cover.json"
        (row,) = json.loads((here / "cover.json").read_text())
        assert (row["hash"], row["nearest"]) == (HDF5, OTHER)


async def test_slash_searches_all_columns_of_a_sheet(sources: list[Path]) -> None:
    async with browsing(*sources, size=(120, 30)) as browser:
        await browser.press("2", "C", hints="/ search")
        await browser.press("slash", *"zli")
        assert {*browser.cells("package")} == {"zlib"}
        assert "· with zli " in browser.lines[1]
        await browser.press("enter", "f", *"zl", "enter")
        assert {*browser.cells("package")} == {"zlib"}
        await browser.press("slash", "escape")
        assert {*browser.cells("package")} == {"zlib"}, "esc brings back what was typed before"
        await browser.press("slash", "ctrl+u", *"!zlib", "enter")
        assert "zlib" not in browser.cells("package")
        await browser.press("escape", command="")


async def test_a_filter_with_a_sign_of_equality_is_for_whole_cells(sources: list[Path]) -> None:
    async with browsing(*sources, size=(120, 30)) as browser:
        await browser.press("2", "C", "f", *"hdf", cells={"package": ["hdf5"]})
        await browser.press("end", "ctrl+u", *"=hdf", cells={"package": []})
        await browser.press("5", cells={"package": ["hdf5"]})
        await browser.press("end", "ctrl+u", *"=*d* | =xz", cells={"package": ["xz", "hdf5"]})


async def test_the_filters_of_a_sheet_are_removed_by_the_key_of_all_filters(
    sources: list[Path],
) -> None:
    async with browsing(*sources, query="zlib", size=(120, 30)) as browser:
        await browser.press("2", "C", "f", *"xz", "enter", cells={"package": ["xz"]})
        await browser.press(
            "X", says="Removed the filters of the answer", command=f"cover {sources[0]}"
        )
        assert len(browser.cells("package")) == 3
        await browser.press("X", says="There are none to remove")
        await browser.press("escape", query="package=zlib")


async def test_the_command_of_a_filtered_sheet_prints_all_rows_and_says_so(
    sources: list[Path], clipboard: Clipboard
) -> None:
    async with browsing(*sources, size=(120, 30), environ=clipboard.environ) as browser:
        await browser.press("2", "C", "Y", "c")
        assert "without its filters" not in browser.status
        await browser.press("f", *"xz", "enter", "Y", "c", says="without its filters")


async def test_an_answer_that_is_shown_already_is_no_step(sources: list[Path]) -> None:
    async with browsing(*sources, size=(120, 30)) as browser:
        await browser.press("2", "P", "P", "backspace", command="")


async def test_more_specs_than_a_command_takes_are_compared_without_one() -> None:
    async with browsing(query="py-build", size=(120, 40)) as browser:
        await browser.press("2", "A", "d")
        assert DIFF.most is not None
        assert len(browser.state.table.words) > DIFF.most
        await browser.press("Y", hides="command line")


async def test_a_query_takes_the_place_of_a_sheet(sources: list[Path]) -> None:
    async with browsing(*sources, size=(120, 30)) as browser:
        await browser.press("2", "C", "1", "slash", *"zlib", "enter", command="", query="zlib")
        await browser.press("C", "1", "slash", "escape")
        assert browser.command.startswith("cover"), "nothing was typed"


@some_and_all(step=4)
async def test_each_sheet_fits_every_size_and_hostile_text_is_plain(
    tmp_path: Path, step: int
) -> None:
    odd = node(HDF5, name="\x1b[31mhdf5", version="1\u202e", dependencies=...)
    (tmp_path / "spack.lock").write_bytes(environment([odd], HDF5))
    write_page(tmp_path / "pages", [record(1)])
    async with browsing(tmp_path / "spack.lock", tmp_path / "pages") as browser:
        sizes = (160, 45), (80, 24), (50, 12), (40, 9), (20, 5)
        for number, keys in enumerate((("2", "C"), ("2", "F"), ("2", "P"), ("2", "W"))):
            await browser.press(*keys)
            for size in sizes[number % step :: step]:
                await browser.resize(*size)
                assert not {"\x1b", "\u202e"} & set(browser.text)
            await browser.press("escape", "escape")


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (160, 48)])
async def test_every_sheet_shows_its_remarks_whole(
    sources: list[Path], session: Session, size: tuple[int, int]
) -> None:
    gone = sources[0].with_name("a-source-with-a-name-of-some-length.json")
    gone.write_text("{")
    async with browsing(*sources, gone, size=size, session=session) as browser:
        for keys in ("C", "D enter", "P", "W", "F", "S", "S S", "i", "A d"):
            await browser.press("2", *keys.split())
            if browser.dialog is not None:
                await browser.press("enter")
            table = browser.state.table
            notes = browser.table.notes
            lines = browser.lines[notes.region.y : notes.region.bottom]
            text = " ".join(" ".join(line[notes.region.x :] for line in lines).split())
            sheet = table.shown
            for remark in (*sheet.gaps, *sheet.remarks, *sheet.notes):
                assert " ".join(remark.split()) in text, table.command
            assert browser.table.rows.size.height >= min(3, len(sheet.rows))
            await browser.press("escape", "escape")


# The answers


async def test_several_environments_are_a_row_each(sources: list[Path], tmp_path: Path) -> None:
    alone = node(ALONE, name="alone", version="1", dependencies=...)
    (tmp_path / "other.lock").write_bytes(environment([alone], ALONE))
    async with browsing(*sources, tmp_path / "other.lock", size=(140, 30)) as browser:
        await browser.press("2", "C")
        assert browser.command.startswith(f"cover {sources[0]} {tmp_path / 'other.lock'}")
        assert browser.cells("specs") == [3, 1]
        await browser.press("down", "enter", command=f"cover {tmp_path / 'other.lock'}")
        await browser.press("backspace", cells={"specs": [3, 1]})


async def test_what_an_answer_lacks_is_added_from_inside(
    sources: list[Path], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sources[0].parent)
    lock, index = "spack.lock", "index.json"
    for first, other, keys in (
        (lock, index, ["C", *"ind", "enter"]),
        (index, lock, ["C", "enter"]),
        (lock, index, ["O", *"ind", "ctrl+a", "C"]),
    ):
        async with browsing(first, size=(80, 24)) as browser:
            await browser.press(*keys, command="cover spack.lock", shows="1 of 3 cached")
            assert browser.browser.host.sources == [first, other]
    async with browsing(index, size=(80, 24), query="zlib") as browser:
        await browser.press("D", *"cac", "enter", command="diff index.json cache.json")
        await browser.press("escape", query="package=zlib")


async def test_coverage_of_stacks_leads_to_that_of_an_environment(
    sources: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sources[0].parent)
    async with browsing(size=(80, 24)) as browser:
        await browser.press("C", status="C adds an environment, or a host to run on")
        assert browser.state.table.title == "coverage of the stacks"
        await browser.press("C", "enter", command="cover spack.lock")


async def test_an_environment_is_compared_with_the_sample_that_is_open(
    sources: list[Path],
) -> None:
    async with browsing("sample", sources[0], size=(120, 30)) as browser:
        await browser.press("C", command=f"cover {sources[0]}", shows="of 3 cached")


async def test_an_environment_of_spack_is_added_by_its_name(
    sources: list[Path], session: Session, tmp_path: Path
) -> None:
    directory = tmp_path / "spack" / "var" / "spack" / "environments" / "climate"
    directory.mkdir(parents=True)
    shutil.copy(sources[0], directory)
    async with browsing(sources[1], session=session, size=(120, 30)) as browser:
        await browser.press("C", *"cli", "enter", command=f"cover {directory}")
        assert "of 3 cached" in browser.text


async def test_coverage_is_asked_for_hosts_from_inside(sources: list[Path]) -> None:
    async with browsing(*sources, size=(120, 30)) as browser:
        await browser.press("C", "C", *"zen4", "enter", "C", *"target=zen2", "enter")
        assert browser.command == f"cover --host zen4 --host target=zen2 {sources[0]}"
        assert browser.cells("host") == ["zen4, linux", "zen2, linux"]
        await browser.press("C", *"nothing", "enter", says="does not exist", shows="› nothing")


@pytest.mark.parametrize("name", ["gone", "part.json"])
async def test_what_was_not_read_is_said_above_the_answer(
    sources: list[Path], tmp_path: Path, name: str
) -> None:
    (tmp_path / "part.json").write_bytes(
        database(installs(node(ZLIB, dependencies=...)) | {OTHER: {"spec": []}})
    )
    async with browsing(*sources, tmp_path / name, size=(140, 30)) as browser:
        for key in "CW":
            await browser.press("2", key)
            assert name in browser.lines[3] + browser.lines[4]
            await browser.press("escape")


async def test_an_environment_that_has_gone_is_explained(sources: list[Path]) -> None:
    async with browsing(*sources) as browser:
        sources[0].unlink()
        await browser.press("2", "C")
        opened = browser.state.table
        assert not opened.is_read
        assert "goes back" in opened.text
        assert browser.lines[-1].startswith(" esc back")
        assert not {"write", "filter"} & {*browser.lines[-1].split()}
        await browser.press("e")
        assert browser.status.endswith(NO_ROWS)
        await browser.press("escape", command="")


async def test_the_line_of_the_configuration_is_named(session: Session, cache: Path) -> None:
    async with browsing(cache, session=session, query=f"/{OLD}", size=(130, 30)) as browser:
        await browser.press("W", shows=f"zlib@1.2 /{OLD[:7]}: Spack cannot reuse it on zen3")
        assert "concretizer:reuse excludes zlib@1.2" in browser.text
        assert "concretizer.yaml:4" in str(browser.cells("place"))


async def test_all_builds_of_a_row_are_asked_and_those_to_reuse_come_first(
    spack: SpackRoot, tmp_path: Path
) -> None:
    old, new = leaf(OLD, "lib", "1"), leaf(NEW, "lib", "2")
    excludes = "concretizer:\n  reuse:\n    exclude:\n    - app ^lib@2\n"
    spack.write("home/.spack/concretizer.yaml", excludes)
    session = Session(spack.environ, host="target=zen3")
    apps = [
        node(letter * 32, name="app", dependencies=[edge("lib", hash_, ["link"])])
        for letter, hash_ in (("a", OLD), ("b", NEW), ("c", OLD))
    ]
    path = write_index(tmp_path, old, new, *apps)
    async with browsing(path, session=session, query="app", size=(110, 24)) as browser:
        assert browser.current.count == 3
        await browser.press("W", shows="Spack can reuse 2 of 3 builds on zen3")
        assert browser.cells("hash") == ["c" * 32, "a" * 32, "b" * 32]


async def test_the_palette_names_the_answers_after_the_common_commands(cache: Path) -> None:
    async with browsing(cache, size=(110, 30)) as browser:
        await browser.press("2", "colon")
        common = [key for key in KEYS if key.is_common]
        answers = [key for key in KEYS if key.is_answer and not key.is_common]
        commands = [
            f"{key.as_text.partition(' ')[0]}: " * key.is_answer + key.sentence.rstrip(".")
            for key in (*common, *answers)
        ]
        assert all(map(str.startswith, browser.picks, (command[:40] for command in commands)))
        assert len(browser.picks) > len(commands)


async def test_files_are_shown_and_who_has_one_of_the_name(tmp_path: Path) -> None:
    names = ("lib/libz[1].so", "lib/libz1.so", "bin/\x1b[31mz")
    files = {name: {"mode": 0o100644, "size": 7} for name in names}
    tree = write_tree(tmp_path / "tree", *map(leaf, (OLD, NEW), "ab", "12"), files=files)
    async with browsing(tree, query="a | b", size=(130, 30)) as browser:
        await browser.press("2", "i")
        shown = browser.command.removeprefix("files /")
        assert shown in (OLD, NEW)
        assert browser.cells("path") == ["bin/\x1b[31mz", *names[1::-1], ".spack/spec.json"]
        assert "bin/␛[31mz" in browser.text
        assert "4 files, 31 B, from" in browser.text
        assert "⏎ who has it" in browser.lines[-1]
        await browser.press("j", "j", "enter", hints="⏎ go to it")
        assert browser.command == "files --having libz[[]1].so package=a | package=b"
        assert browser.cells("path") == ["lib/libz[1].so"] * 2
        assert {*browser.cells("package")} == {"a", "b"}
        await browser.press("backspace", command=f"files /{shown}")
        await browser.press("j", "j", "enter", "enter", command="")
        assert browser.query in (f"/{OLD}", f"/{NEW}")


async def test_a_long_title_is_cut_with_a_sign(tmp_path: Path) -> None:
    top = tmp_path / ("long-" * 40) / ("long-" * 40)
    tree = write_tree(top, leaf(OLD, "a", "1"), files={"bin/a": {}})
    async with browsing(tree, size=(80, 24)) as browser:
        await browser.press("2", "i")
        last = browser.table.notes.region.bottom - 1
        assert browser.lines[last].rstrip().endswith("…")


async def test_a_sheet_says_what_it_says_besides_on_few_lines_if_it_has_few_rows() -> None:
    async with browsing("sample", query="hdf5/cbzn2nm", size=(40, 12)) as browser:
        await browser.press("2", "W", shows="reuse it on zen3")
        await browser.press("escape", "S", "S", shows="All documents were read")


async def test_an_archive_is_downloaded_from_the_palette_and_that_can_be_stopped(
    tmp_path: Path,
) -> None:
    files = with_bzip2(archive(BIN))
    downloads: list[threading.Event] = []

    def script(exchange: Exchange) -> None:
        request = exchange.request
        data = files.get(request.path.lstrip("/"))
        is_whole = request.method == "GET" and "range" not in request.headers
        if data is None:
            exchange.respond(404)
        elif data.startswith(b"\x1f\x8b") and is_whole:
            downloads[-1].wait(PATIENCE)
            exchange.respond(200, data)
        else:
            exchange.respond(200, data)

    session = Session({"XDG_CACHE_HOME": str(tmp_path / "cache")}, host=HOST)
    with serving() as server:
        server.default = script
        async with browsing(server.url, session=session, query="bzip2", size=(120, 30)) as browser:
            await browser.press("2", "i")
            way = "(: files-download reads all of it)"
            assert f"does not begin with a list of the files {way}" in browser.table_text
            for stops in (True, False):
                # A slow machine stops the first before it has asked the server.
                downloads.append(threading.Event())
                await browser.press("colon", *"Download the whole archive")
                await browser.press("enter", until=lambda: "esc stops" in browser.text)
                if stops:
                    await browser.press("escape", command=f"files /{BZIP2}")
                downloads[-1].set()
            await browser.settle()
            assert browser.cells("path")[:1] == ["bin/bzip2"]
            assert browser.command == f"files --download /{BZIP2}"


# Counts


async def test_rows_are_counted_by_the_column_and_a_value_is_a_filter() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.ask("os=ubuntu24.04 | os=sequoia")
        await browser.go_to_column("os", "F")
        expected = Counter(r["os"] for r in SAMPLE if r["os"] in ("ubuntu24.04", "sequoia"))
        assert dict(zip(browser.cells("os"), browser.cells("count"), strict=True)) == expected
        bar, *_ = (number for number, line in enumerate(browser.lines) if "█" in line)
        assert len(re.findall("▁+", browser.lines[bar - 1])) == 2, "none of the bar"
        least = min(expected, key=expected.__getitem__)
        await browser.press(*["l", "minus"] * 4, placed_names={"os"})
        assert browser.status == "The column os cannot be hidden: it names the rows"
        await browser.press("z", status="Only the specs of the table are folded (⌫ goes back)")
        await browser.press("end", "enter", shown=sample_where(lambda r: r["os"] == least))
        assert browser.query == f"os={least}", "it takes the place of the others"
        await browser.press("backspace", command="stats --by os os=ubuntu24.04 | os=sequoia")


async def test_keys_for_a_spec_say_so_on_a_row_without_one_and_are_no_hints() -> None:
    async with browsing(size=(140, 30)) as browser:
        await browser.press("2", "S")
        for hint in ("y copy", "d diff", "space mark", "t tree"):
            assert hint not in browser.lines[-1]
        assert browser.lines[-1].startswith(" esc back  ⏎ go to it"), "the way back comes first"
        for key in ("space", "y", "W", "i"):
            await browser.press(key)
            assert browser.status == NO_SPEC, key
            await browser.press("j")
        await browser.press("A", status="No row is about a spec of these sources")
        await browser.press("backspace", "S", "S", "A", no_hint="⏎", status=NO_ROWS)


async def test_counts_are_counted_by_a_second_column() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.go_to_column("os", "F", "F", shows="count by os and by")
        await browser.press(*"target", "enter")
        pairs = zip(browser.cells("os"), browser.cells("target"), strict=True)
        expected = Counter((r["os"], r["target"]) for r in SAMPLE)
        assert dict(zip(pairs, browser.cells("count"), strict=True)) == expected
        await browser.press("enter")
        ((pair, count),) = expected.most_common(1)
        assert browser.shown == sample_where(lambda r: (r["os"], r["target"]) == pair)
        assert len(browser.shown) == count


async def test_a_bar_that_is_cut_is_not_written_out_below_the_rows(tmp_path: Path) -> None:
    compilers = ("gcc@12.2.0-release-7", "gcc@13.2.0-release-7")
    records = [record(n, compiler=compilers[n > 0]) for n in range(4)]
    write_page(tmp_path, records, title="ca-certificates-mozilla-all")
    write_page(tmp_path, [record(9)], title="zlib")
    async with browsing(tmp_path, size=(80, 24)) as browser:
        await browser.press("2", "F", "F", *"compiler", "enter", shows="█▸")  # it is cut
        assert "count by package and compiler" in browser.text
        assert not re.search(r"(?m)^ *[█▏▎▍▌▋▊▉▸]+ *$", browser.text)


async def test_the_rows_of_another_answer_are_not_mistaken_for_specs_to_count() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.press("2", "S", "F", command="sources")
        assert browser.status == "Only the specs of the table are counted: go back (⌫), then F"


async def test_the_variants_to_count_by_begin_with_what_splits_the_rows_most(
    tmp_path: Path,
) -> None:
    signs = (("+", "~"), ("~", "~"), ("~", "+"), ("~", "+"))
    records = [
        record(number, variants=[f"{few}few", f"{half}half", f"number={number}"])
        for number, (few, half) in enumerate(signs)
    ]
    write_page(tmp_path, records)
    async with browsing(tmp_path, size=(120, 30)) as browser:
        await browser.go_to_column("hash", "F")
        shown = [name for name in browser.picks if name in ("few", "half", "number")]
        assert shown == ["number", "half", "few"]


async def test_on_a_column_without_shared_values_one_is_chosen() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.go_to_column("hash", "F", shows="count by")
        await browser.press(*"target", "enter", command="stats --by target")


async def test_the_values_beside_a_sheet_have_the_hints_of_their_keys() -> None:
    async with browsing(size=(160, 30)) as browser:
        await browser.go_to_column("target", "F", "v", focus="value-rows", hints="space include")


async def test_the_row_of_a_package_stands_for_the_build_that_the_table_shows_first(
    clipboard: Clipboard,
) -> None:
    async with browsing("sample", size=(120, 30), environ=clipboard.environ) as browser:
        for package in ("conduit", "hdf5"):
            await browser.ask(package, "enter")
            first = browser.rows[0].spec.hash
            await browser.press("P", "f", *package, "enter", "y")
            assert clipboard.take() == first
            (total,) = browser.cells("builds")
            assert f"the first of {total} builds of {package}" in browser.status
            await browser.press("space", says=f"Marked {first[:7]}…, the first of {total} builds")
            await browser.press("U", "backspace")

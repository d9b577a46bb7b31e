"""Search: the rows of a query, and what is there while a text or a query has no rows."""

from pathlib import Path

import pytest

from spackscope.model.index.order import Sort
from spackscope.tui.widgets.table_rows import TableRows
from tests.browsing import INDEX, Browser, browsing, sample_where
from tests.builders.nodes import Node, edge, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import write_index
from tests.hostile import HOSTILE_TEXT
from tests.tui.browser.test_hostile_text import assert_plain


def hashes_in_order(browser: Browser) -> list[str]:
    """Return the hashes of the rows."""
    return [row.spec.hash for row in browser.rows]


# Rows


async def test_filters_and_the_package_are_conditions_of_one_query() -> None:
    async with browsing(size=(200, 30)) as browser:
        await browser.open_package("py-ml-dtypes")
        await browser.filter("os", "24")
        await browser.filter("target", "!aarch64", "enter")
        assert browser.query == "package=py-ml-dtypes os=*24* !target=*aarch64*"
        rest = sample_where(lambda r: "24" in r["os"] and "aarch64" not in r["target"])
        assert browser.shown == rest & sample_where(lambda r: r["package"] == "py-ml-dtypes")
        assert sum(browser.packages.values()) == len(rest), "the others can still be selected"
        await browser.press("1", "home", query="os=*24* !target=*aarch64*", shown=rest)
        await browser.ask("package=py-ml-dtypes", selected="py-ml-dtypes")


async def test_the_cursor_is_on_the_first_row_of_another_query_at_any_speed() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.open_package("py-ml-dtypes", "j", "j")
        for text in ("package=py-ml-dtypes os=ubuntu24.04", "", "!os=ubuntu24.04"):
            await browser.ask(text, "enter", cursor=0)
            await browser.press("j", "j")
        row = browser.current
        await browser.press("slash", "enter", current=row)  # the same query
        await browser.clear("1", "home")
        for do in (browser.press, browser.type_ahead):
            number = [row.spec.package for row in browser.rows].index("py-safetensors")
            await browser.press("2", *["j"] * (number + 2), "1")
            await do("j", "j", "j", "j", selected="py-safetensors", cursor=0)
            await browser.press("home")


async def test_folding_keeps_the_cursor_on_its_spec_and_closes_what_was_opened() -> None:
    async with browsing(folded=False) as browser:
        await browser.open_package("py-safetensors", "j", "j", "j")
        look_alike, unfolded = browser.current.look_alike, browser.row_count
        await browser.press("z")
        assert browser.current.look_alike == look_alike
        folded = browser.row_count
        await browser.press("enter")
        assert (browser.current.look_alike, browser.current.count) == (look_alike, 1)
        await browser.press("z", row_count=unfolded)
        await browser.press("z", row_count=folded)


async def test_newest_versions_come_first_then_what_runs_here_then_the_most_used(
    tmp_path: Path,
) -> None:
    def lib(number: int, version: str, target: str = "x86_64_v3") -> Node:
        arch = {"platform": "linux", "platform_os": "ubuntu22.04", "target": target}
        return node(hash_of(number), name="lib", version=version, arch=arch, dependencies=...)

    users = [
        node(hash_of(10 + n), name="user", dependencies=[edge("lib", hash_of(used), ["link"])])
        for n, used in enumerate((3, 3, 2))
    ]
    nodes = [lib(1, "1.9"), lib(2, "1.10"), lib(3, "1.10", "zen5"), lib(4, "1.10", "x86_64")]
    async with browsing(write_index(tmp_path, *nodes, *users), query="lib") as browser:
        assert hashes_in_order(browser) == [hash_of(n) for n in (2, 4, 3, 1)]
        await browser.go_to_column("target", "s")
        assert browser.state.view.sort == Sort("target")
        assert hashes_in_order(browser)[:3] == [hash_of(n) for n in (4, 2, 1)], "equal ones too"


async def test_where_nothing_matches_it_is_said_why_and_what_helps() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.ask("version=0.4.5 os=windows", "enter", shown=set())
        assert "No spec has os=windows" in browser.text
        assert "X removes all filters" in browser.text
        await browser.ask("package=py-build version=0.4.5")
        assert browser.note, "the rows stay, and a note says why"
        assert browser.shown
        await browser.press("enter", shown=set(), selected="py-build")
        assert browser.packages["py-build"] == 0, "it stays in the list"
        assert "of other packages match" in browser.text
        await browser.press("j", "j", "enter", query="@0.4.5", builds=116)


async def test_a_query_of_the_start_without_rows_does_not_say_that_a_key_goes_back() -> None:
    async with browsing(query="os=windows") as browser:
        assert "X removes all filters" in browser.text
        assert "goes back" not in browser.text
        await browser.press("X")
        await browser.ask("os=windows", "enter", shows="goes back")


# While a text is typed


async def test_a_text_that_has_no_rows_has_a_note_at_its_place_and_the_rows_stay() -> None:
    async with browsing(query="os=ubuntu24.04", size=(120, 30)) as browser:
        rows = browser.shown
        await browser.press("slash")
        focused = browser.app.screen.focused
        assert focused is not None
        at = focused.content_region.x
        for rest, note in (
            (" &x", 'Unexpected "&"'),
            (" os=ubuntu22.04", "twice"),
            (" | ", "|"),
            (" ^zlib", "needs dependencies"),
            (" target=x86_64_w", "target x86_64_w"),
        ):
            await browser.press("end", "ctrl+u")
            await browser.paste("os=ubuntu24.04", shown=rows)
            await browser.paste(rest, shown=rows)
            assert note in browser.note
            assert browser.caret == at + len("os=ubuntu24.04 "), rest


async def test_a_word_that_is_not_typed_to_its_end_is_not_an_error() -> None:
    async with browsing(query="os=ubuntu24.04", size=(120, 30)) as browser:
        rows, packages = browser.shown, browser.packages
        await browser.press("slash", "space")
        await browser.type("target=")
        for letter in "x86_64_v":
            await browser.type(letter, shown=rows, packages=packages, note="")
            assert browser.completions
        await browser.type("3")
        assert browser.shown == sample_where(
            lambda r: r["os"] == "ubuntu24.04" and r["target"] == "x86_64_v3"
        )


@pytest.mark.parametrize("before", ["targ", "os=ubuntu24.04"])
async def test_a_late_answer_to_an_earlier_text_is_not_taken_for_one_to_the_present_text(
    before: str,
) -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.press("slash")
        async with browser.holding("view"):
            browser.send(*before, " ", *"target=")
            await browser.until(lambda: browser.query == f"{before} target=")
            await browser.settle_but("view")
            completions = browser.completions
            assert completions
            assert all(text.startswith("target=") for text in completions)
        browser.check("the answer", completions=completions, count="?", note="")


async def test_escape_leaves_nothing_that_could_be_undone() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.ask("os=ubuntu24.04", "enter", "j", "j", "j")
        row, count = browser.current, browser.count
        for typed in ("target=x86_64_w", "&", "^zlib", "target=x86", "target=aarch64", "tar"):
            await browser.press("slash", "space")
            await browser.paste(typed)
            await browser.press("escape", query="os=ubuntu24.04", current=row, count=count)
        await browser.press("backspace", query="")


async def test_the_count_says_whether_the_rows_are_those_of_the_text() -> None:
    async with browsing(query="os=ubuntu24.04", size=(120, 30)) as browser:
        count = browser.count
        await browser.press("slash")
        for rest, seen in (
            (" @99", "0"),
            (" &", "?"),
            (" ^zlib", "?"),
            (" target=", "?"),
            ("", count),
        ):
            await browser.press("end", "ctrl+u")
            await browser.paste(f"os=ubuntu24.04{rest}", count=seen)


async def test_a_wrong_text_is_left_by_a_click_for_the_last_query() -> None:
    async with browsing(query="os=ubuntu24.04") as browser:
        rows = browser.shown
        for wrong in (" &x", " ^zlib"):
            await browser.press("slash")
            await browser.type(wrong)
            await browser.click(browser.table.rows, 5, 2, says="Back to the last query: ")
            assert (browser.query, browser.shown) == ("os=ubuntu24.04", rows)


async def test_tab_and_enter_do_not_leave_a_text_without_rows() -> None:
    async with browsing() as browser:
        for wrong, keys in (
            ("os=", ["enter"]),
            ("&x", ["enter", "tab"]),
            ("^zlib", ["enter", "tab"]),
            ("target=x86_64_w", ["tab"]),
        ):
            await browser.ask(wrong)
            for key in keys:
                await browser.press(key, focus="filter query", query=wrong, says="esc")
                assert browser.note
            await browser.press("escape")


# The beginning


async def test_a_start_text_that_is_not_a_query_is_returned_to_its_input() -> None:
    async with browsing(query="\x1b &x") as browser:
        assert (browser.query, browser.focus) == ("␛ &x", "filter query")
        assert 'Unexpected "␛"' in browser.note
        assert browser.builds == 346


@pytest.mark.parametrize("text", ["os=windows", "^zlib"])
async def test_what_is_typed_while_the_sources_are_read_is_answered_all_the_same(
    text: str,
) -> None:
    async with browsing(settled=False) as browser:
        await browser.type_ahead("slash", *text, query=text)
        assert browser.note
        assert browser.shown


async def test_the_list_is_walked_and_chosen_from_in_the_place_of_the_rows() -> None:
    async with browsing(size=(100, 30)) as browser:
        rows = browser.app.screen.query_one(TableRows)
        await browser.ask("package=py-build os=sequoia")
        await browser.press("enter", shows="┃ without os=sequoia", hints=" ⏎ take it ")
        assert browser.app.screen.focused is rows
        assert "No py-build has os=sequoia" in browser.text.replace("│", "")
        labels = [each.label for each in rows.shown.choices]
        assert browser.lines[-1].endswith(f" 1/{len(labels)} ")
        await browser.press("j")
        assert browser.lines[-1].endswith(f" 2/{len(labels)} ")
        await browser.press("3", status="No rows are shown", panes=["packages", "specs", "detail"])
        await browser.press("enter", status=f"Now {labels[1]} (⌫ goes back)", query="os=sequoia")
        assert isinstance(browser.app.screen.focused, TableRows)
        await browser.press("backspace", query="package=py-build os=sequoia")
        assert browser.app.screen.focused is rows
        await browser.press("enter", shown=sample_where(lambda r: r["package"] == "py-build"))
        for key in ("y", "space", "z", "s", "3", "2", "t", "l"):
            await browser.press("backspace", key, "escape")

        await browser.press("1")
        await browser.ask("os=sequoia target=x86_64_v3", "escape", "2")
        if not browser.shown:
            await browser.click(rows, 5, 0, times=2)
        assert browser.shown


async def test_hostile_conditions_are_plain_on_any_screen(tmp_path: Path) -> None:
    records = [record(n, os=text, variants=[]) for n, (_, text) in enumerate(HOSTILE_TEXT)]
    write_page(tmp_path, records)
    async with browsing(tmp_path, query="zlib os='[red' os='x [/foo] y'") as browser:
        for size in ((160, 45), (80, 24), (40, 12)):
            await browser.resize(*size)
            assert_plain(browser)
    write_page(tmp_path, [record(1, os="x" * 3_000), record(2, os="語" * 3_000)])
    async with browsing(tmp_path, query=f"os={'x' * 2_990}", size=(60, 20)) as browser:
        await browser.press("2", "j")
        assert_plain(browser)


async def test_a_package_of_which_there_are_only_dependencies_is_not_called_unknown() -> None:
    async with browsing("sample", size=(80, 24)) as browser:
        await browser.ask("zlib-ng", "enter", shows="zlib-ng is only a dependency here")
        assert "┃ ^zlib-ng instead of zlib-ng" in browser.text
        assert "a shows dependency-only specs" in browser.text
        await browser.press("a")
        assert browser.rows[0].spec.package == "zlib-ng"
        await browser.press("a")
        await browser.ask("hdf5 %gcc@99 +nosuch", "enter")
        assert "a shows dependency-only specs" not in browser.text, "a compiler is no package"


async def test_escape_leaves_the_query_as_it_is() -> None:
    async with browsing(size=(160, 45)) as browser:
        await browser.open_package("py-build", "escape", "escape", "escape", focus="package-rows")
        assert (browser.query, browser.selected) == ("package=py-build", "py-build")
        assert browser.status == "Press q to quit"


@pytest.mark.parametrize("keys", [("slash", *"package=hdf5", "enter"), ("X",)])
async def test_scrolling_keeps_package_and_version_and_ends_with_the_query(
    keys: tuple[str, ...],
) -> None:
    async with browsing(INDEX, query="+mpi", size=(80, 24)) as browser:
        await browser.press("2")
        await browser.go_to_column(browser.table.columns.columns.scrolled[-1].name)
        heads = next(line for line in browser.lines if "‹" in line)
        assert heads.partition("‹")[2].split()[:2] == ["package", "version"]
        await browser.press(*keys, shows="version")
        assert not any("‹" in line for line in browser.lines)


async def test_no_rows_have_nothing_in_common() -> None:
    async with browsing() as browser:
        await browser.ask("py-build os=ubuntu24.04", "enter", shows="same in all")
        await browser.ask("py-build os=nothing", "enter", hides="same in all")

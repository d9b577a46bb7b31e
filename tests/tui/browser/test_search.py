"""Search: which view is requested, and what is there while a text or a query has no rows."""

from pathlib import Path

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.index.catalog import Row
from spackscope.model.index.order import Sort
from spackscope.model.query.ast import Term
from spackscope.model.query.parser import parse
from spackscope.tui.browser.search import MANY
from spackscope.tui.widgets.table_rows import TableRows
from tests.browsing import INDEX, SAMPLE, browsing, sample_where
from tests.builders.nodes import Node, edge, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import write_index
from tests.hostile import HOSTILE_TEXT
from tests.tui.browser.fake_host import FakeBrowser
from tests.tui.browser.test_hostile_text import assert_plain


def cursor(browser: FakeBrowser) -> int:
    """Return the number of the row that the cursor is put on."""
    return browser.results.cursor


def rows(browser: FakeBrowser) -> list[Row]:
    results = browser.state.results
    assert results is not None
    return results.catalog.rows(results.listing.ids)


def hashes_in_order(browser: FakeBrowser) -> list[str]:
    """Return the hashes of the rows."""
    return [row.spec.hash for row in rows(browser)]


# Views


def test_filters_of_several_columns_and_the_package_hold_together(browser: FakeBrowser) -> None:
    browser.search.select_package("py-ml-dtypes")
    browser.ask("24", "os")
    browser.ask("!aarch64", "target")

    rest = sample_where(lambda r: "24" in r["os"] and "aarch64" not in r["target"])
    assert browser.query == "package=py-ml-dtypes os=*24* !target=*aarch64*"
    assert browser.shown == rest & sample_where(lambda r: r["package"] == "py-ml-dtypes")
    assert sum(browser.packages.values()) == len(rest), "the others can still be selected"


def test_a_package_is_a_condition_of_the_query(browser: FakeBrowser) -> None:
    browser.ask("os=ubuntu24.04")
    browser.select("py-build", query="package=py-build os=ubuntu24.04", selected="py-build")
    browser.select(None, query="os=ubuntu24.04")
    browser.ask("package=py-ml-dtypes", selected="py-ml-dtypes")


def test_the_selected_package_stays_in_the_list_when_nothing_of_it_matches(
    browser: FakeBrowser,
) -> None:
    browser.ask("package=py-build version=0.4.5", stale="0")
    assert browser.note, "the rows stay, and a note says why"
    browser.leave(shown=set())
    assert browser.packages["py-build"] == 0
    assert browser.results.explanation.endswith("of other packages match")
    queries = [relaxation.query for relaxation in browser.results.relaxations]
    assert parse("@0.4.5") in queries, "it is offered"


def test_folding_keeps_the_cursor_on_its_spec(browser: FakeBrowser) -> None:
    browser.search.fold()
    browser.select("py-safetensors")
    browser.move_to(3)
    spec = browser.row
    browser.do(browser.search.fold)
    row = browser.row
    assert row.look_alike == spec.look_alike
    browser.do(browser.controllers.specs.toggle, row)
    assert browser.row.count == 1
    browser.search.fold()
    browser.search.fold()
    assert browser.state.view.opened == frozenset()


def test_the_cursor_is_on_the_first_row_of_another_query(browser: FakeBrowser) -> None:
    browser.select("py-ml-dtypes")
    for text in ("os=ubuntu24.04", "", "!os=ubuntu24.04"):
        browser.move_to(2)
        browser.ask(text)
        assert cursor(browser) == 0, text
    browser.move_to(2)
    spec = browser.row
    browser.leave()
    assert browser.host.where.row == spec, "the same query leaves it where it is"


@pytest.mark.parametrize("is_fast", [False, True])
def test_the_cursor_does_not_depend_on_the_answers_that_were_passed_over(
    browser: FakeBrowser, is_fast: bool
) -> None:
    number = next(n for n, row in enumerate(rows(browser)) if row.spec.package == "py-safetensors")
    browser.move_to(number + 2)
    for name in ("py-build", "py-safetensors"):
        browser.search.select_package(name)
        if not is_fast:
            browser.settle()
    browser.settle()
    assert cursor(browser) == 0


def test_a_filter_that_the_detail_adds_leaves_the_cursor_on_its_spec(browser: FakeBrowser) -> None:
    browser.move_to(4)
    row = browser.row
    browser.do(browser.search.add, Term("os", row.spec.os))
    assert browser.host.where.row == row


def test_newest_versions_come_first_then_what_runs_here_then_the_most_used(
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
    path = write_index(tmp_path, *nodes, *users)
    browser = FakeBrowser(path, query="lib").load()
    assert hashes_in_order(browser) == [hash_of(n) for n in (2, 4, 3, 1)]
    browser.do(browser.controllers.specs.sort, Sort("target"))
    assert hashes_in_order(browser)[:3] == [hash_of(n) for n in (4, 2, 1)], "equal ones likewise"


def test_where_nothing_matches_the_condition_to_blame_is_named(browser: FakeBrowser) -> None:
    browser.enter("version=0.4.5 os=windows", shown=set())
    assert "No spec has os=windows" in browser.results.explanation
    assert browser.results.explanation.endswith("X removes all filters")


# While a text is typed


@pytest.mark.parametrize(
    ("text", "offset", "sentence"),
    [
        ("os=ubuntu22.04 &x", 15, 'Unexpected "&"'),
        ("os=ubuntu22.04 os=ubuntu24.04", 15, "twice"),
        ("os=ubuntu24.04 | ", 15, "|"),
        ("os=ubuntu24.04 ^zlib", 15, "needs dependencies"),
        ("os=ubuntu24.04 target=x86_64_w", 15, "target x86_64_w"),
    ],
)
def test_a_text_that_has_no_rows_has_a_note_and_the_rows_stay(
    browser: FakeBrowser, text: str, offset: int, sentence: str
) -> None:
    browser.ask("os=ubuntu24.04")
    results = browser.state.results
    browser.ask(text)

    draft = browser.draft
    assert draft.note is not None
    assert draft.note.offset == offset
    assert sentence.lower() in draft.note.sentence.lower()
    assert browser.state.results is results, "the rows stay"
    assert browser.state.is_refused or draft.parsed.query is None


def test_the_note_of_a_filter_is_about_its_text(browser: FakeBrowser) -> None:
    browser.ask("r", "hash")
    shown = browser.shown
    browser.ask("r18", "hash", shown=shown)
    assert "hash" in browser.note
    draft = browser.draft
    assert draft.note is not None
    assert draft.note.offset == 0
    browser.ask("r", "hash", note="")


@pytest.mark.parametrize(("before", "is_refused"), [("targ", True), ("os=ubuntu24.04", False)])
def test_an_answer_to_an_earlier_text_is_not_taken_for_one_to_a_text_without_query(
    browser: FakeBrowser, before: str, is_refused: bool
) -> None:
    browser.type_text(before)
    browser.type_text(before + " target=")
    note = browser.note
    browser.do(browser.host.work, "completions", note=note, stale="?")
    assert browser.completions
    assert all(text.startswith("target=") and text != "target=" for text in browser.completions)
    assert browser.state.is_refused == is_refused


def test_a_word_that_is_not_typed_to_its_end_is_not_an_error(browser: FakeBrowser) -> None:
    browser.ask("os=ubuntu24.04")
    shown, packages = browser.shown, browser.packages
    for end in range(len("target="), len("target=x86_64_v") + 1):
        browser.ask("os=ubuntu24.04 " + "target=x86_64_v"[:end], shown=shown, packages=packages)
        assert browser.completions
        assert browser.state.is_refused or end == len("target=")
    browser.ask("os=ubuntu24.04 target=x86_64_v3")
    assert browser.shown == sample_where(
        lambda r: r["os"] == "ubuntu24.04" and r["target"] == "x86_64_v3"
    )


@pytest.mark.parametrize(
    "typed", ["target=x86_64_w", "&", "^zlib", "target=x86", "target=aarch64", "tar"]
)
def test_escape_restores_what_stood_there_when_the_input_was_entered(
    browser: FakeBrowser, typed: str
) -> None:
    browser.enter("os=ubuntu24.04")
    browser.move_to(3)
    row, view = browser.host.where.row, browser.state.view
    browser.search.enter("query", " os=ubuntu24.04  ")
    for text in (f"os=ubuntu24.04 {typed}", f"os=ubuntu24.04 {typed} x", typed):
        browser.ask(text)
    assert browser.search.give_up("query") == " os=ubuntu24.04", "as it was spelled"
    browser.leave()

    assert browser.state.view == view
    assert browser.host.rewritten[-1]
    assert browser.shown == sample_where(lambda r: r["os"] == "ubuntu24.04")
    assert browser.host.where.row == row
    assert browser.state.draft is None
    assert browser.state.stale == ""
    assert browser.search.given_up == typed
    browser.navigation.retrace(-1)
    assert browser.query == "", "nothing was done that could be undone"


def test_rows_of_an_older_query_are_stale_until_there_are_new_ones(browser: FakeBrowser) -> None:
    for text, stale in (
        ("os=ubuntu24.04", ""),
        ("os=ubuntu24.04 @99", "0"),
        ("os=ubuntu24.04 @99 target=x", "0"),
        ("os=ubuntu24.04 &", "?"),
        ("os=ubuntu24.04 ^zlib", "?"),
        ("os=ubuntu24.04", ""),
        ("os=ubuntu24.04 &", "?"),
    ):
        before = browser.state.stale
        browser.type_text(text)
        assert browser.state.stale in (before, stale), "it does not flicker at each letter"
        browser.settle()
        assert browser.state.stale == stale, text
    browser.leave(stale="")
    browser.ask("os=ubuntu24.04 @99")
    browser.leave(stale="", shown=set())  # there are none, and they say so


@pytest.mark.parametrize("wrong", ["os=ubuntu24.04 &x", "os=ubuntu24.04 ^zlib"])
def test_leaving_a_wrong_text_goes_back_to_the_last_query(
    browser: FakeBrowser, wrong: str
) -> None:
    browser.ask("os=ubuntu24.04")
    browser.ask(wrong)
    browser.leave(query="os=ubuntu24.04", shown=sample_where(lambda r: r["os"] == "ubuntu24.04"))
    assert browser.host.message.startswith("Back to the last query: ")


@pytest.mark.parametrize("wrong", ["os=", "&x", "^zlib", "target=x86_64_w"])
def test_tab_and_enter_do_not_leave_a_text_without_rows(browser: FakeBrowser, wrong: str) -> None:
    browser.ask(wrong)
    assert not browser.search.may_leave("query")
    assert browser.search.may_leave("names")
    browser.check(says="esc")
    browser.search.reject()
    assert browser.draft.insists
    assert "esc" in browser.host.message


def test_a_letter_in_another_input_leaves_the_first_one(browser: FakeBrowser) -> None:
    browser.ask("os=ubuntu24.04 target=x86_64_w")
    browser.ask("0", "version", query="os=ubuntu24.04 target=x86_64_w @*0*")
    assert browser.draft.input == "version"


def test_a_letter_waits_for_the_next_one_in_a_large_catalog(browser: FakeBrowser) -> None:
    browser.type_text("o")
    assert browser.host.jobs["view"].delay == 0
    summary = browser.summary
    browser.host.change(summary=replace(summary, total=MANY + 1))
    browser.type_text("os")
    assert browser.host.jobs["view"].delay > 0
    browser.search.clear()
    assert browser.host.jobs["view"].delay == 0


# The beginning


def test_the_query_of_the_command_line_is_asked() -> None:
    browser = FakeBrowser(query="py-build os=ubuntu24.04").load()
    assert browser.query == "package=py-build os=ubuntu24.04"
    assert browser.selected == "py-build"


def test_a_start_text_that_is_not_a_query_is_returned_to_its_input() -> None:
    browser = FakeBrowser(query="\x1b &x").load()
    draft = browser.draft
    assert draft.is_wrong
    assert draft.parsed.text == "␛ &x"
    assert browser.host.focused == ["query"]
    assert len(browser.shown) == len(SAMPLE)


@pytest.mark.parametrize("text", ["os=windows", "target=x86_64_v", "^zlib", "&", "os="])
def test_what_is_typed_while_the_sources_are_read_is_answered_all_the_same(text: str) -> None:
    browser = FakeBrowser()
    browser.controllers.loading.load()
    browser.ask(text)
    assert browser.state.is_shown
    assert len(browser.shown) in (0, len(SAMPLE))
    assert browser.note or browser.shown == set() or browser.completions


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

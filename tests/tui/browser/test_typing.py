"""The query line while it is typed: the box under it, what Tab and Enter do, and the history.

What is requested, and what has a note, is tested in test_search.py.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.strip import Strip

from spackscope.model.core.text import is_clean
from spackscope.tui.widgets.query_line import CompletionPopup, FilterInput
from tests.browsing import INDEX, SAMPLE, Browser, browsing, hashes, sample_where
from tests.examples import some_and_all
from tests.hostile import HOSTILE_TEXT
from tests.parse_counts import ParseCounts
from tests.program import Program

SIZES = [(160, 45), (120, 30), (80, 24), (50, 20)]
GARBAGE = [
    "x" * 10_000,
    "+" * 10_000,
    "\x1b[2J\x00\x9b31m\u202e" * 100,
    "[@click=app.quit]x[/]",
    "a[/]b $accent {{x}} %s \\",
    "os='" + "é漢" * 2000,
    "^" * 50 + "[virtuals=",
    *(text for _, text in HOSTILE_TEXT),
]


def input_at(browser: Browser) -> FilterInput:
    focused = browser.browser.focused
    assert isinstance(focused, FilterInput)
    return focused


def assert_the_box_is_on_the_screen(browser: Browser) -> None:
    box = browser.browser.query_one(CompletionPopup)
    if not box.display:
        return
    width, height = browser.app.size
    assert 0 <= box.region.x < box.region.right <= width
    assert input_at(browser).region.y < box.region.y
    assert box.region.bottom < height, "the status line stays free"
    assert all(is_clean(line) for line in browser.box)


# Completions


async def test_tab_takes_the_marked_completion_and_then_goes_on() -> None:
    async with browsing() as browser:
        await browser.press("slash")
        await browser.type("os=")
        counts = Counter(f"os={r['os']}" for r in SAMPLE)
        assert browser.completions == counts
        assert browser.marked == counts.most_common(1)[0][0]
        *_, last = browser.completions
        await browser.press("ctrl+p", marked=last)  # the marks go round
        await browser.press("ctrl+n")
        await browser.type("ub")
        _, second, *_ = browser.completions
        await browser.press("ctrl+n", marked=second)
        await browser.press("tab", query=second, focus="filter query", box=[])
        assert browser.shown == sample_where(lambda r: f"os={r['os']}" == second)
        await browser.press("tab", focus="package-rows")

        await browser.ask("!os=seq", "tab", query="!os=sequoia", box=[])
        await browser.press("backspace")
        assert browser.completions, "a letter asks for completions again"
        await browser.press("escape")

        await browser.ask("targ")
        while browser.marked != "target=":
            await browser.press("ctrl+n")
        await browser.press("tab", query="target=")
        second = list(browser.completions)[1]
        await browser.click(browser.browser.query_one(CompletionPopup), 4, 1)
        assert browser.query == second, "a completion can be clicked"

        await browser.clear()
        await browser.ask("target=x86_64_v3:ze")
        assert "target=x86_64_v3:zen3" in browser.completions, "that no record has"
        assert browser.note == "", "a word that can be completed is not wrong yet"
        await browser.press("enter")
        assert browser.note.startswith("Unknown target ze."), "until it is finished"


async def test_completions_of_a_filter_are_shown_where_they_are_asked_for() -> None:
    async with browsing(size=(160, 30)) as browser:
        await browser.go_to_filter("target")
        assert browser.box == [], "nothing covers the rows before something is typed"
        await browser.press("ctrl+n", completions=Counter(f"={r['target']}" for r in SAMPLE))
        await browser.type(":ze")
        assert not browser.box, "nothing covers the rows"
        await browser.press("ctrl+n")
        assert ":zen3" in browser.completions, "unless it is asked for"
        await browser.press("ctrl+u", *"neo", "ctrl+n")
        marked = browser.marked
        await browser.press("tab", query=f"target{marked}")
        assert browser.filter_text("target") == marked
        await browser.press("tab")
        assert browser.focus not in ("filter target", "spec-rows")
        await browser.press("1", "f", "tab")
        assert browser.focus != "filter names"


async def test_tab_waits_until_the_box_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    async with browsing() as browser:
        await browser.press("slash")
        undrawn: list[Callable[[], object]] = []
        with monkeypatch.context() as patch:
            patch.setattr(browser.browser, "call_after_refresh", undrawn.append)
            browser.send(*"os=seq", "tab")
            await browser.until(
                lambda: bool(undrawn and browser.state.draft and browser.state.draft.completions)
            )
            for _ in range(20):
                await browser.pilot.pause()
            assert browser.query == "os=seq"
            assert browser.focus == "filter query"
        for show in undrawn:
            show()
        await browser.settle()
        assert browser.query == "os=sequoia"


async def test_the_box_follows_fast_keys_the_cursor_and_the_focus(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with browsing() as browser:
        await browser.type_ahead("slash", *"os=seq", "tab", "enter", "j", query="os=sequoia")
        assert browser.focus == "spec-rows"
        assert browser.table.rows.cursor == 1
        await browser.clear("slash")
        await browser.type("os=ub targ")
        assert all(text.startswith("target") for text in browser.completions)
        await browser.press(*["left"] * len(" targ"))
        assert all(text.startswith("os=") for text in browser.completions)
        await browser.press("left", completions={})  # nothing is offered within a word
        await browser.press("end", "enter", box=[])
        await browser.clear("slash")
        await browser.type("os=")
        box = browser.browser.query_one(CompletionPopup)
        drawn: list[int] = []
        render = box.render_line

        def draw(y: int) -> Strip:
            drawn.append(y)
            return render(y)

        monkeypatch.setattr(box, "render_line", draw)
        await browser.press("home", "end")
        browser.look()
        assert drawn
        drawn.clear()
        browser.browser.panes.show_draft_soon()
        await browser.settle()
        browser.look()
        assert drawn == []


# What is wrong


async def test_an_error_is_shown_under_its_column_and_the_rows_stay() -> None:
    async with browsing() as browser:
        await browser.ask("os=ubuntu24.04")
        rows = browser.shown
        for text, note in (("&x", 'Unexpected "&"'), ("target=x86_64_w", "target x86_64_w")):
            await browser.press("end", "ctrl+u")
            await browser.paste(f"os=ubuntu24.04 {text}")
            for size in SIZES[1:]:
                await browser.resize(*size)
                assert browser.caret == input_at(browser).content_region.x + len("os=ubuntu24.04 ")
                assert note in browser.note
                assert_the_box_is_on_the_screen(browser)
                assert rows <= browser.shown
            await browser.resize(80, 24, shows="rows of: all builds")  # the box covers no head
        await browser.resize(60, 20)
        await browser.press("ctrl+u")
        await browser.paste("os=ubuntu24.04 " + "!os=windows " * 8 + "&x")
        inside, cell = input_at(browser).content_region, browser.caret
        assert inside.x <= cell < inside.right
        assert browser.lines[inside.y][cell] == "&", "a long line is scrolled to its end"

        await browser.resize(160, 30)
        await browser.clear()
        await browser.filter("hash", "r18", box=[], query_line="hash")


async def test_enter_escape_and_the_mouse_leave_a_text_without_rows_as_they_should() -> None:
    async with browsing() as browser:
        await browser.ask("os=ubuntu24.04", "enter", "slash")
        await browser.paste("target=x86_64_w")
        assert browser.shown
        await browser.press("enter", focus="spec-rows", shown=set())
        assert browser.specs_title.startswith("0 of 346 builds")
        assert "Unknown target x86_64_w" in browser.text
        await browser.press("backspace", shown=sample_where(lambda r: r["os"] == "ubuntu24.04"))

        await browser.clear()
        await browser.ask("^zlib", "enter", query="^zlib", focus="filter query", says="esc")
        assert browser.note
        await browser.press("escape", query="", focus="spec-rows", box=[])

        await browser.ask("os=ubuntu24.04")
        await browser.ask("os=ubuntu24.04 &x")
        await browser.click(browser.table.rows, 5, 2)
        agreed = sample_where(lambda r: r["os"] == "ubuntu24.04")
        assert browser.shown == {"os=ubuntu24.04": agreed, "": hashes(SAMPLE)}[browser.query]


@some_and_all(step=6)
async def test_pasted_garbage_does_no_harm(step: int) -> None:
    async with browsing(size=(80, 24)) as browser:
        # The query line and a filter take pasted text in the same way.
        for number, keys in enumerate((["slash"], ["2", "f"])):
            await browser.press(*keys)
            for garbage in GARBAGE[number * 3 % step :: step]:
                browser.send("ctrl+u")
                await browser.paste(garbage)
                assert all(is_clean(line) for line in browser.lines), garbage
                assert_the_box_is_on_the_screen(browser)
            await browser.clear()
        assert browser.app.is_running


@some_and_all(step=2)
async def test_the_box_stays_on_the_screen_in_every_size(step: int) -> None:
    async with browsing(size=SIZES[0]) as browser:
        for number, size in enumerate(SIZES[::-step]):
            await browser.resize(*size)
            # The first and the last filter are at the edges: each is tried in every other size.
            for start in (["slash"], ["2", *["l"] * 9 * (number % 2), "f"]):
                await browser.press(*start, settle=False)
                # Every text is tried in one size or two.
                for text in (
                    *("os=", "os=ubuntu24.04 " * 3 + "stack=", *("m", "ml-", "zzzz")[number::3]),
                    *GARBAGE[number:7:4],
                ):
                    browser.send("ctrl+u")
                    await browser.paste(text)
                    assert_the_box_is_on_the_screen(browser)
                await browser.resize(size[0] - 7, size[1] - 3)
                assert_the_box_is_on_the_screen(browser)
                await browser.resize(*size)
                await browser.clear()
        assert browser.app.is_running


# The history


def state(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


async def test_up_and_down_go_through_the_queries_that_were_used(tmp_path: Path) -> None:
    history = tmp_path / "state" / "spackscope" / "history"
    history.parent.mkdir(parents=True)
    history.write_text("~virtualenv\nos=sequoia\n")
    async with browsing(environ=state(tmp_path)) as browser:
        await browser.ask("os=ubuntu22.04", "enter")
        await browser.ask("py-b")
        for query in ("os=ubuntu22.04", "os=sequoia", "~virtualenv", "~virtualenv"):
            await browser.press("up", query=query, box=[])
        assert browser.shown == sample_where(lambda r: "~virtualenv" in r["variants"])
        await browser.press("down", "down", "down", query="py-b", focus="filter query")
        await browser.press("down", focus="spec-rows")
        await browser.go_to_filter("version", "up")
        assert browser.filter_text("version") == "", "filters have no history"
        await browser.press("down", focus="spec-rows")
        for query in ("", "&x"):
            await browser.ask(query, "enter", "escape")
    lines = ["~virtualenv", "os=sequoia", "os=ubuntu22.04", "any=py-b"]
    assert history.read_text(encoding="utf-8").splitlines() == lines


async def test_each_letter_is_lexed_and_parsed_once(parse_counts: ParseCounts) -> None:
    async with browsing() as browser:
        await browser.press("slash")
        before = parse_counts.parses, parse_counts.lexer_runs
        for letter in "build %gcc":
            await browser.type(letter)
            await browser.settle()
        parses = parse_counts.parses - before[0]
        lexer_runs = parse_counts.lexer_runs - before[1]

    # A sign alone, as %, has its rest parsed once more for the completions.
    assert len("build %gcc") <= parses <= len("build %gcc") + 1
    assert lexer_runs == parses


async def test_a_long_query_is_shown_from_its_start_unless_it_is_typed_in() -> None:
    async with browsing(size=(60, 20)) as browser:
        await browser.ask("py-build target=x86_64_v3 os=ubuntu22.04 !version=1.2.1")
        assert "!version=1.2.1" in browser.lines[1]
        await browser.press("enter", query_line="py-build target=")
        await browser.press("slash", query_line="!version=1.2.1")


async def test_an_input_that_was_left_before_its_text_is_handled_is_left() -> None:
    async with browsing() as browser:
        await browser.press("slash")
        left = input_at(browser)
        await browser.press("escape")
        left.value = "target=x86_64_w"
        await browser.settle()
        assert browser.state.draft is None
        assert browser.state.is_shown
        assert browser.query == "target=x86_64_w"


async def test_a_query_means_the_same_as_in_the_shell(program: Program) -> None:
    found = {
        query: set(program("find", "-f", str(INDEX), "--hashes", query).stdout.split())
        for query in ("hdf5 +mpi", "hdf5 %gcc", "hdf5-vol-* zstd")
    }
    assert [len(hashes) for hashes in found.values()][:2] == [14, 17]
    async with browsing(INDEX) as browser:
        for query, hashes in found.items():
            await browser.ask(query, shown=hashes)
        await browser.ask("hd", query="hd")
        assert len(browser.shown) > 17, "a word that is still typed is looked for everywhere"
        await browser.press("enter", query="any=hd")


async def test_a_word_that_names_no_package_is_shown_with_its_key_once_it_is_left() -> None:
    async with browsing(size=(120, 30)) as browser:
        await browser.ask("ubuntu !'24' py-build")
        rows = browser.shown
        assert rows == sample_where(
            lambda r: r["package"] == "py-build" and "ubuntu" in r["os"] and "24" not in str(r)
        )
        assert browser.query == "ubuntu !'24' py-build", "not while it is typed"
        await browser.press("enter", query="any=ubuntu !any=24 py-build", shown=rows)


async def test_undo_brings_the_text_back_as_it_was_typed() -> None:
    async with browsing() as browser:
        for keys in (("X", "backspace"), ("slash", *"os=sequoia", "enter", "backspace")):
            await browser.ask("py-build~virtualenv   target=aarch64")
            await browser.press("enter", *keys, query="py-build~virtualenv   target=aarch64")


async def test_an_unknown_word_is_named_as_in_the_shell(
    hdf5_index: Path, program: Program
) -> None:
    for query in ("hdf5 h5p@1", "hdf5 or zlib"):
        first = program("find", "-f", str(hdf5_index), query).stderr.splitlines()[1]
        sentence = first.removeprefix("spackscope: ")
        async with browsing(hdf5_index, query=query, size=(140, 30)) as browser:
            assert sentence in browser.text, "as the argument"
            await browser.ask("zlib", "enter", builds=2)
            await browser.ask(query)
            assert browser.shown, "the last rows stay"
            await browser.press("enter", shown=set(), shows=sentence)  # once it is left


async def test_a_word_that_no_column_shows_is_named_as_a_package_would_be(
    hdf5_index: Path,
) -> None:
    async with browsing(hdf5_index, size=(140, 30)) as browser:
        await browser.ask("hdf5 latest")
        sentence = "Unknown package latest, and no hdf5 shows it in any column"
        assert sentence in browser.text
        await browser.press("enter", shows=(sentence, "without any=latest"))

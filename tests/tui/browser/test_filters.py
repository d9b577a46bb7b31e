"""The query line and the filters of the columns: each shows what is typed in the other.

What a query shows is tested in test_search.py.
"""

from tests.browsing import SAMPLE, browsing, sample_where
from tests.examples import some_and_all


async def test_query_line_filters_and_package_list_show_each_other() -> None:
    async with browsing(size=(200, 30)) as browser:
        await browser.ask("os=ubuntu24.04 !target=aarch64 version=0.4:")
        assert browser.filter_text("os") == "=ubuntu24.04"
        assert browser.filter_text("target") == "!=aarch64"
        assert browser.filter_text("version") == "0.4:"
        await browser.ask("")
        assert browser.filter_text("os") == browser.filter_text("target") == ""

        await browser.filter("os", "24")
        await browser.filter("target", "!=aarch64", query="os=*24* !target=aarch64")
        await browser.filter("os", "", query="!target=aarch64")
        await browser.clear()

        await browser.filter("package", "=py-build")
        assert browser.focus == "filter package", "its column stays while it is typed in"
        assert browser.selected == "py-build"
        assert browser.shown == sample_where(lambda r: r["package"] == "py-build")
        assert browser.count == "24 py-build"
        assert sum(browser.packages.values()) == len(SAMPLE)
        await browser.press("ctrl+u", selected=None, builds=len(SAMPLE))


@some_and_all(step=3)
async def test_what_is_typed_is_never_rewritten_and_no_letter_is_lost(step: int) -> None:
    async with browsing() as browser:
        await browser.go_to_filter("compiler")
        for typed in ("gcc ", "gcc  x", "gcc@13: ", "!", "gcc !", "=", 'gcc " "')[::step]:
            await browser.press("ctrl+u")
            await browser.type(typed, focus="filter compiler")
            assert browser.filter_text("compiler") == typed
        await browser.clear("slash")
        texts = ("py ", "os=", "os=z  ", "!", "'py", "version=1:2 ", "Os=a", 'a="b c" ', "/")
        for typed in texts[2::step]:
            await browser.press("ctrl+u")
            await browser.type(typed, query=typed)

        await browser.clear()
        text = "gcc@11.4.0 !x y z neoverse 11 22 33"
        for start in ("slash", "f"):
            await browser.go_to_column("os", start)
            for at in range(0, len(text), 3):
                browser.send(*text[at : at + 3])
                for _ in range(at % 4 // step):
                    await browser.pilot.pause(0)
            await browser.settle()
            column = browser.table.column
            assert (browser.query if start == "slash" else browser.filter_text(column)) == text
            await browser.clear()


async def test_filters_are_removed_at_once_and_undone_wherever_the_focus_is() -> None:
    async with browsing() as browser:
        text = "package=py-build   os=ubuntu24.04"
        for pane in ("1", "3"):
            await browser.ask(text)
            await browser.leave_filter()
            rows = browser.shown
            await browser.press(pane, "X", builds=len(SAMPLE), selected=None)
            assert browser.query == browser.filter_text("os") == ""
            await browser.press("X", status="There are no filters to remove")
            await browser.press("backspace", query=text, shown=rows, selected="py-build")
            await browser.press("right_square_bracket", query="")


async def test_escape_restores_the_text_and_the_rows_of_each_input() -> None:
    async with browsing(size=(140, 40)) as browser:
        await browser.ask("py-build   os=ubuntu24.04", "enter", "j")
        rows, current = browser.shown, browser.current.id
        for keys, typed in (("/", "+mpi"), ("/", "tar"), ("f", "x"), ("1f", "saf")):
            await browser.press(*keys)
            await browser.type(typed)
            await browser.press("escape", shown=rows)
            assert not browser.focus.startswith("filter")
            assert browser.query.split() == ["py-build", "os=ubuntu24.04"], typed
            assert keys != "/" or "   " in browser.query, "as it was spelled"
            assert browser.current.id == current
            await browser.press("2")


async def test_values_of_the_detail_are_filters_that_keep_the_record() -> None:
    async with browsing(folded=False) as browser:
        spec = browser.current.spec
        values = [value for row in browser.detail.lines.values for value in row]
        variant = next(value.text for value in values if value.style in ("differs", "same"))
        await browser.to_value(variant)
        await browser.press("enter", query=variant, status=f"Added {variant} (⌫ removes)")
        await browser.to_value(variant)
        await browser.press("enter", query=variant, status=f"Already filtered by {variant}")
        await browser.to_value(spec.hash)
        await browser.press("enter", shown={spec.hash})
        await browser.to_value(f"{spec.package}@")
        await browser.press("enter", says="Nothing to filter by")
        await browser.clear()

        await browser.open_package("py-safetensors")
        spec = browser.current.spec
        labels = ("package", "version", "tag", "stacks", "source")
        facts = (spec.os, spec.target, spec.platform, spec.compiler)
        for number, label in enumerate((*labels, *facts), 1):
            await browser.to_value(label)
            await browser.press("enter", focus="detail")
            assert len(browser.query.split()) == number
            assert spec.hash in browser.shown
            assert browser.current.spec == spec


async def test_pasted_text_becomes_one_clean_line_of_bounded_length() -> None:
    async with browsing() as browser:
        before = browser.text
        await browser.paste("qqq\nrm -rf ~\n")
        assert browser.text == before, "pasting into a list does nothing"
        await browser.press("slash")
        await browser.paste("\n  py-build\t\r\nos=ubuntu24.04\n", selected="py-build")
        assert browser.focus.startswith("filter")
        assert browser.query == "  py-build  os=ubuntu24.04"
        await browser.press("ctrl+u")
        await browser.paste("py\x1b[31m\x07\x9b2J\u202e", query="py␛[31m␇\\x9b2J\\u202e")
        await browser.press("ctrl+u")
        await browser.paste("x" * 1_000_000, builds=len(SAMPLE))
        assert 0 < len(browser.query) <= 10_000
        await browser.press("ctrl+u")
        await browser.paste("+" * 1_000_000)
        assert browser.note
        await browser.press("ctrl+u")
        await browser.paste(" ".join(f"a{number}" for number in range(1000)))
        assert "Unknown package a0" in browser.note
        assert len(browser.query) == 2_000


async def test_a_query_typed_while_loading_or_given_at_the_start_is_kept() -> None:
    async with browsing(settled=False) as browser:
        await browser.type_ahead("slash", *"py-build", query="py-build")
        assert browser.shown == sample_where(lambda r: r["package"] == "py-build")
    async with browsing(query="os=ubuntu24.04 ^zlib") as browser:
        assert browser.query == "os=ubuntu24.04 ^zlib"
        assert browser.focus == "filter query", "what cannot be asked is given back to be mended"
        assert "needs dependencies" in browser.note
        assert len(browser.shown) == len(SAMPLE)
        await browser.press(*["backspace"] * 6)
        assert browser.shown == sample_where(lambda r: r["os"] == "ubuntu24.04")


async def test_a_filter_stays_in_view_where_its_column_has_no_room() -> None:
    async with browsing(size=(80, 24)) as browser:
        await browser.press("2", "c")
        await browser.type("compiler")
        await browser.press("enter", "f")
        await browser.resize(30, 8)
        focused = browser.app.screen.focused
        assert focused is not None
        assert browser.app.screen.region.contains_region(focused.region)

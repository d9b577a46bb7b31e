"""The query line and the filters under the column heads: they filter live, and they agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browsing import SAMPLE, browsing, hashes, sample_where
from tests.builders import Record, hash_of, record, write_page


def major(record: Record) -> tuple[int, int]:
    first, second = record["versions"][0].split(".")[:2]
    return int(first), int(second)


def without_root(record: Record) -> list[str]:
    return [stack for stack in record["stacks"] if stack != "root"] or record["stacks"]


COLUMN_FILTERS: list[tuple[str, str, Callable[[Record], bool]]] = [
    ("hash", "r", lambda r: r["hash"].startswith("r")),
    ("package", "ml", lambda r: "ml" in r["package"]),
    ("package", "!py-build", lambda r: r["package"] != "py-build"),
    ("version", "0.4", lambda r: "0.4" in r["versions"][0]),
    ("version", "1.0:", lambda r: major(r) >= (1, 0)),
    ("version", "!=0.4.5", lambda r: r["versions"][0] != "0.4.5"),
    ("compiler", "gcc", lambda r: "gcc" in r["compiler"]),
    ("compiler", "gcc@12:", lambda r: r["compiler"].replace("=", "").startswith("gcc@13")),
    ("compiler", "!gcc", lambda r: "gcc" not in r["compiler"]),
    ("os", "24", lambda r: "24" in r["os"]),
    ("os", "=ubuntu22.04", lambda r: r["os"] == "ubuntu22.04"),
    ("target", "arch64", lambda r: "arch64" in r["target"]),
    ("target", "!aarch64 !verse_v1", lambda r: r["target"] in ("x86_64_v3", "neoverse_v2")),
    ("variants", "~virtualenv", lambda r: "~virtualenv" in r["variants"]),
    ("variants", "build_system", lambda r: "build_system" in " ".join(r["variants"])),
    ("stack", "rocm", lambda r: any("rocm" in stack for stack in r["stacks"])),
    ("stack", "cuda !x86", lambda r: "cuda" in (s := " ".join(r["stacks"])) and "x86" not in s),
]


async def test_a_column_filter_shows_the_records_of_the_pages_that_it_means() -> None:
    async with browsing(size=(190, 16)) as browser:
        for column, text, holds in COLUMN_FILTERS:
            wanted = sample_where(holds)
            assert 0 < len(wanted) <= len(SAMPLE)
            await browser.filter(column, text)

            assert browser.shown == wanted, (column, text)
            assert browser.filter_text(column) == text
            of_all = "" if len(wanted) == len(SAMPLE) else f" of {len(SAMPLE)}"
            assert browser.specs_title.startswith(f"specs {len(wanted)}{of_all}")
            assert f"{len(wanted)} of {len(SAMPLE)}" in browser.lines[1]
            assert sum(browser.packages.values()) == len(wanted)

            await browser.press("ctrl+r")
            assert len(browser.shown) == len(SAMPLE)
            assert browser.filter_text(column) == ""


async def test_the_filter_of_the_package_column_selects_a_package_and_stays_in_sight() -> None:
    async with browsing(size=(190, 16)) as browser:
        await browser.filter("package", "=py-build")
        assert browser.focus == "filter package"
        assert browser.selected == "py-build"
        assert browser.shown == sample_where(lambda r: r["package"] == "py-build")
        assert sum(browser.packages.values()) == len(SAMPLE)
        await browser.press("ctrl+u")
        assert browser.selected is None
        assert len(browser.shown) == len(SAMPLE)


async def test_what_the_query_line_says_of_a_filter_means_the_same_as_the_filter() -> None:
    async with browsing(size=(190, 16)) as browser:
        for column, text, _ in COLUMN_FILTERS[1::4]:
            await browser.filter(column, text)
            query, shown = browser.query, browser.shown
            await browser.ask("")
            await browser.ask(query)
            assert browser.shown == shown, query
            assert browser.filter_text(column) == text
            await browser.press("ctrl+r")


VARIANT_FILTERS: list[tuple[str, set[int]]] = [
    ("+mpi", {1, 2}),
    ("~mpi", {3}),
    ("!+mpi", {3, 4, 5}),
    ("!~mpi", {1, 2, 4, 5}),
    ("mpi", {1, 2, 3, 4}),
    ("+mpi ~cuda", {2}),
    ("cuda_arch=80", {1, 5}),
    ("cuda_arch=90", {5}),
    ("cuda_arch=8*", {1, 5}),
    ("cuda_arch=80,90", {5}),
    ("build_type=Release", {1}),
    ("!build_type=Release", {2, 3, 4, 5}),
]


async def test_variants_are_matched_as_wholes_by_their_sign_and_by_their_values(
    tmp_path: Path,
) -> None:
    variants = {
        1: ["+mpi", "+cuda", "cuda_arch=80", "build_type=Release"],
        2: ["+mpi", "~cuda", "build_type=Debug"],
        3: ["~mpi"],
        4: ["+mpi_extra"],
        5: ["cuda_arch=80,90"],
    }
    write_page(tmp_path, [record(n, variants=v) for n, v in variants.items()], title="hdf5")
    async with browsing(tmp_path) as browser:
        for text, wanted in VARIANT_FILTERS:
            await browser.filter("variants", text)
            assert browser.shown == {hash_of(number) for number in wanted}, text


async def test_every_key_in_a_filter_filters() -> None:
    async with browsing() as browser:
        await browser.go_to_filter("os")
        counts = []
        for typed in ("u", "ub", "ubuntu2", "ubuntu24"):
            await browser.type(typed[len(browser.filter_text("os")) :])
            counts.append(len(browser.shown))
            assert counts[-1] == len(sample_where(lambda r, typed=typed: typed in r["os"]))  # type: ignore[misc]
        assert counts[-1] < counts[0]


async def test_filters_of_several_columns_and_the_package_hold_together() -> None:
    async with browsing() as browser:
        await browser.open_package("py-ml-dtypes")
        await browser.filter("os", "24")
        await browser.filter("target", "!aarch64")
        assert browser.shown == sample_where(
            lambda r: (
                r["package"] == "py-ml-dtypes" and "24" in r["os"] and "aarch64" not in r["target"]
            )
        )
        assert browser.packages == {
            name: len(
                sample_where(
                    lambda r, name=name: (
                        r["package"] == name  # type: ignore[misc]
                        and "24" in r["os"]
                        and "aarch64" not in r["target"]
                    )
                )
            )
            for name in browser.packages
        }


async def test_the_query_line_shows_itself_in_the_filters() -> None:
    async with browsing(size=(200, 30)) as browser:
        await browser.ask("os=ubuntu24.04 !target=aarch64 version=0.4:")
        assert browser.filter_text("os") == "=ubuntu24.04"
        assert browser.filter_text("target") == "!=aarch64"
        assert browser.filter_text("version") == "0.4:"
        await browser.ask("")
        assert browser.filter_text("os") == browser.filter_text("target") == ""


async def test_the_filters_show_themselves_in_the_query_line() -> None:
    async with browsing(size=(200, 30)) as browser:
        await browser.filter("os", "24")
        await browser.filter("target", "!=aarch64")
        assert browser.query == "os=*24* !target=aarch64"
        await browser.filter("os", "")
        assert browser.query == "!target=aarch64"


async def test_a_bare_word_is_looked_for_in_every_column() -> None:
    async with browsing() as browser:
        await browser.ask("rocm")
        assert browser.shown == sample_where(lambda r: "rocm" in " ".join(r["stacks"]))
        await browser.ask("r23 !x")
        await browser.press("enter")
        assert browser.shown == set()
        await browser.ask("py-build !aarch64")
        assert browser.shown == sample_where(
            lambda r: r["package"] == "py-build" and "aarch64" not in str(r)
        )


async def test_what_is_typed_in_a_filter_is_never_rewritten_under_the_cursor() -> None:
    async with browsing() as browser:
        await browser.go_to_filter("compiler")
        for typed in ("gcc ", "gcc  x", "gcc@13: ", "!", "gcc !", "=", 'gcc " "'):
            await browser.press("ctrl+u")
            await browser.type(typed)
            assert browser.filter_text("compiler") == typed
            assert browser.focus == "filter compiler"


async def test_what_is_typed_in_the_query_line_is_never_rewritten_under_the_cursor() -> None:
    async with browsing() as browser:
        await browser.press("slash")
        for typed in ("py ", "os=", "os=z  ", "!", "'py", "version=1:2 ", "Os=a", 'a="b c" ', "/"):
            await browser.press("ctrl+u")
            await browser.type(typed)
            assert browser.query == typed


@pytest.mark.parametrize("start", ["slash", "f"])
async def test_no_letter_is_lost_however_fast_they_come(start: str) -> None:
    text = "gcc@11.4.0 !x y z neoverse 11 22 33"
    async with browsing() as browser:
        await browser.press("2", "l", "l", "l", start)
        for at in range(0, len(text), 3):
            browser.send(*text[at : at + 3])
            for _ in range(at % 4):
                await browser.pilot.pause(0)
        await browser.settle()
        column = browser.table.column
        assert (browser.query if start == "slash" else browser.filter_text(column)) == text


async def test_where_nothing_matches_the_condition_to_blame_is_named() -> None:
    async with browsing(size=(160, 24)) as browser:
        for query, said in (
            ("os=windows", "No spec has os=windows"),
            ("os=ubuntu22.04 !os=ubuntu22.04", "Without os=ubuntu22.04"),
            ("version=0.4.5 os=windows", "No spec has os=windows"),
            ("zzzzz", "No spec shows zzzzz"),
        ):
            await browser.ask(query)
            await browser.press("enter")
            assert browser.shown == set()
            assert browser.query == query
            assert browser.specs_title.startswith("specs 0 of 346")
            assert said in " ".join(line[27:110].strip(" │") for line in browser.lines)


async def test_the_cursor_stays_on_its_hash_while_that_is_shown() -> None:
    async with browsing() as browser:
        await browser.open_package("py-ml-dtypes")
        await browser.press(*["j"] * 9)
        spec = browser.current.spec
        await browser.ask(f"os={spec.os}")
        assert browser.current.spec == spec
        await browser.ask("")
        assert browser.current.spec == spec
        await browser.ask(f"!os={spec.os}")
        assert browser.current.spec.os != spec.os


async def test_enter_on_a_value_of_the_detail_makes_it_a_filter() -> None:
    async with browsing() as browser:
        await browser.open_package("py-pdm-backend")
        spec = browser.current.spec
        await browser.to_detail_line("target")
        await browser.press("enter")
        assert browser.query == f"package=py-pdm-backend target={spec.target}"
        assert browser.status == f"target={spec.target} is a condition now; ⌫ takes it off"
        assert browser.focus == "detail"
        assert browser.shown == sample_where(
            lambda r: r["package"] == "py-pdm-backend" and r["target"] == spec.target
        )
        await browser.press("enter")
        assert "is a condition already" in browser.status


async def test_every_value_of_the_detail_is_a_filter_that_keeps_the_record() -> None:
    async with browsing() as browser:
        await browser.open_package("py-safetensors")
        spec = browser.current.spec
        labels = ("package", "version", "compiler", "platform", "os", "tag", "stacks", "source")
        for number, label in enumerate(labels, 1):
            await browser.to_detail_line(label)
            await browser.press("enter")
            assert len(browser.query.split()) == number
            assert spec.hash in browser.shown
            assert browser.current.spec == spec


async def test_variants_and_the_hash_in_the_detail_are_filters_too() -> None:
    async with browsing() as browser:
        spec = browser.current.spec
        await browser.to_detail_line("≠ ~virtualenv")
        await browser.press("enter")
        assert browser.query == "~virtualenv"
        assert browser.shown == sample_where(lambda r: "~virtualenv" in r["variants"])
        await browser.to_detail_line(spec.hash)
        await browser.press("enter")
        assert browser.shown == {spec.hash}


async def test_a_line_of_the_detail_that_is_no_value_says_so() -> None:
    async with browsing() as browser:
        await browser.to_detail_line("py-build@")
        await browser.press("enter")
        assert browser.query == ""
        assert "no condition" in browser.lines[-1]


async def test_backspace_takes_the_last_condition_off_in_lists_and_in_empty_filters() -> None:
    async with browsing() as browser:
        await browser.ask("os=ubuntu24.04 target=aarch64 stack=root rocm")
        await browser.leave_filter()
        await browser.press("backspace")
        assert browser.query == "os=ubuntu24.04 target=aarch64 stack=root"
        await browser.press("3", "backspace")
        assert browser.query == "os=ubuntu24.04 target=aarch64"
        await browser.go_to_filter("version")
        await browser.press("backspace")
        assert browser.query == "os=ubuntu24.04"
        assert browser.focus == "filter version"
        await browser.type("1")
        await browser.press("backspace")
        assert browser.query == "os=ubuntu24.04"
        await browser.press("backspace", "backspace")
        assert browser.query == ""
        assert len(browser.shown) == len(SAMPLE)


async def test_all_conditions_are_taken_off_at_once_wherever_the_focus_is() -> None:
    async with browsing() as browser:
        for place in ("query", "os", "rows"):
            await browser.ask("os=ubuntu24.04 rocm")
            if place == "os":
                await browser.go_to_filter("os")
            elif place == "rows":
                await browser.leave_filter()
            await browser.press("ctrl+r")
            assert browser.query == ""
            assert browser.filter_text("os") == ""
            assert len(browser.shown) == len(SAMPLE)


async def test_a_query_given_at_the_start_is_shown_and_its_package_opened() -> None:
    async with browsing(query="py-build os=ubuntu24.04") as browser:
        assert browser.selected == "py-build"
        assert browser.query == "package=py-build os=ubuntu24.04"
        assert browser.shown == sample_where(
            lambda r: r["package"] == "py-build" and r["os"] == "ubuntu24.04"
        )


async def test_a_megabyte_pasted_into_a_filter_does_no_harm() -> None:
    async with browsing() as browser:
        await browser.press("slash")
        await browser.paste("x" * 1_000_000)
        assert 0 < len(browser.query) <= 10_000
        assert len(browser.shown) == len(SAMPLE)
        await browser.press("ctrl+u")
        assert len(browser.shown) == len(SAMPLE)
        await browser.paste("+" * 1_000_000)
        assert browser.said
        await browser.press("ctrl+u")
        await browser.paste(" ".join(f"a{number}" for number in range(1000)))
        assert browser.said == "No spec shows a0 in any column"
        assert len(browser.query) == 2_000


async def test_several_pasted_lines_become_one() -> None:
    async with browsing() as browser:
        await browser.press("slash")
        await browser.paste("\n  py-build\t\r\nos=ubuntu24.04\n")
        assert browser.focus.startswith("filter")
        assert browser.query == "  py-build  os=ubuntu24.04"
        assert list(browser.packages) == ["py-build"]


async def test_control_characters_in_a_paste_become_visible_marks() -> None:
    async with browsing() as browser:
        await browser.press("slash")
        await browser.paste("py\x1b[31m\x07\x9b2J\u202e")
        assert browser.query == "py␛[31m␇\\x9b2J\\u202e"


async def test_pasting_into_a_list_does_nothing() -> None:
    async with browsing() as browser:
        before = browser.text
        await browser.paste("qqq\nrm -rf ~\n")
        assert browser.text == before
        assert browser.app.is_running


async def test_a_query_typed_while_the_sources_are_read_is_kept() -> None:
    async with browsing(settled=False) as browser:
        browser.send("slash", *"py-build")
        await browser.settle()
        assert browser.query == "py-build"
        assert browser.shown == sample_where(lambda r: r["package"] == "py-build")


async def test_the_sizes_of_specs_can_be_filtered(tmp_path: Path) -> None:
    sizes = {1: 500, 2: 5_000_000, 3: "-", 4: 20_000_000_000}
    write_page(tmp_path, [record(number, size=size) for number, size in sizes.items()], title="a")
    async with browsing(tmp_path) as browser:
        await browser.ask("size=1MB:")
        assert browser.shown == {hash_of(2), hash_of(4)}
        assert hashes([]) == set()

"""The list of packages: its filter, its counts, and what selecting one shows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.browsing import SAMPLE, browsing, hashes
from tests.builders import record, write_page

SPECS_OF = Counter(record["package"] for record in SAMPLE)


async def test_all_packages_stand_there_with_the_numbers_of_their_specs() -> None:
    async with browsing() as browser:
        assert browser.packages == SPECS_OF
        assert browser.packages_title == f"packages {len(SPECS_OF)}"
        assert browser.specs_title.startswith(f"specs {len(SAMPLE)}")
        assert f"{len(SAMPLE)} specs · {len(SPECS_OF)} packages" in browser.lines[0]
        assert browser.selected is None


async def test_selecting_a_package_fills_the_table_with_its_specs() -> None:
    async with browsing() as browser:
        for package in sorted(SPECS_OF):
            await browser.press("j")
            assert browser.selected == package
            assert browser.shown == hashes(r for r in SAMPLE if r["package"] == package)
            assert browser.specs_title.startswith(f"specs {SPECS_OF[package]} ")


async def test_all_packages_shows_all_specs_again() -> None:
    async with browsing() as browser:
        await browser.press("j", "j", "k", "k")

        assert browser.selected is None
        assert len(browser.shown) == len(SAMPLE)


async def test_every_letter_filters_the_names_and_selects_the_best() -> None:
    async with browsing() as browser:
        await browser.press("f")
        assert browser.focus == "filter names"
        await browser.type("p")
        assert len(browser.packages) == 4
        await browser.type("y-s")
        assert browser.packages == {"py-safetensors": SPECS_OF["py-safetensors"]}
        assert browser.packages_title == "packages 1 of 4"
        assert browser.selected == "py-safetensors"
        assert len(browser.shown) == SPECS_OF["py-safetensors"]

        await browser.press("backspace")
        assert len(browser.packages) == 4
        assert browser.selected == "py-build"


async def test_a_name_is_found_by_a_word_in_its_middle_and_by_scattered_letters() -> None:
    async with browsing() as browser:
        await browser.press("f")
        await browser.type("DTYPES")
        assert list(browser.packages) == ["py-ml-dtypes"]
        await browser.press("ctrl+u")
        await browser.type("pybckd")
        assert list(browser.packages) == ["py-pdm-backend"]


async def test_a_word_behind_an_exclamation_mark_takes_names_away() -> None:
    async with browsing() as browser:
        await browser.press("f")
        await browser.type("py !ml !pdm")
        assert list(browser.packages) == ["py-build", "py-safetensors"]


async def test_enter_in_the_name_filter_goes_to_the_rows_and_again_to_the_specs() -> None:
    async with browsing() as browser:
        await browser.press("f")
        await browser.type("pdm")
        await browser.press("enter")
        assert browser.focus == "package-rows"
        await browser.press("enter")
        assert browser.focus == "spec-rows"
        assert browser.current.spec.package == "py-pdm-backend"


async def test_a_name_that_nothing_has_is_said_and_can_be_taken_back() -> None:
    async with browsing() as browser:
        await browser.press("f")
        await browser.type("zzz")
        assert browser.packages == {}
        assert "no package matches" in browser.text
        assert browser.shown, "the specs stay as they were"
        await browser.press("ctrl+u")
        assert browser.packages == SPECS_OF


@pytest.mark.parametrize("typed", ["zzz", "pdm", "pdm!pdm"])
async def test_escape_leads_back_to_all_packages_whatever_the_name_filter_holds(
    typed: str,
) -> None:
    async with browsing() as browser:
        await browser.press("j", "f")
        await browser.type(typed)
        await browser.press("escape", "escape")
        assert len(browser.shown) == len(SAMPLE)
        assert browser.selected is None


async def test_the_counts_of_the_packages_follow_the_query() -> None:
    async with browsing() as browser:
        await browser.ask("os=ubuntu22.04")
        wanted = Counter(r["package"] for r in SAMPLE if r["os"] == "ubuntu22.04")
        assert browser.packages == wanted
        assert browser.packages_title == f"packages {len(wanted)}"
        assert f"{wanted.total()} of {len(SAMPLE)}" in browser.lines[1]


async def test_the_selected_package_is_a_condition_of_the_query() -> None:
    async with browsing() as browser:
        await browser.ask("os=ubuntu24.04")
        await browser.open_package("py-build")
        assert browser.query == "package=py-build os=ubuntu24.04"
        assert browser.packages == Counter(
            r["package"] for r in SAMPLE if r["os"] == "ubuntu24.04"
        ), "the others can still be selected"
        await browser.press("1", "home")
        assert browser.query == "os=ubuntu24.04"
        await browser.ask("package=py-ml-dtypes")
        assert browser.selected == "py-ml-dtypes"
        await browser.press("ctrl+r")
        assert browser.selected is None


async def test_the_selected_package_stays_in_the_list_when_nothing_of_it_matches() -> None:
    async with browsing() as browser:
        await browser.open_package("py-build")
        await browser.ask("package=py-build version=0.4.5")
        await browser.press("enter")
        assert browser.selected == "py-build"
        assert browser.packages["py-build"] == 0
        assert browser.shown == set()


async def test_a_package_goes_by_its_title_and_several_pages_of_it_come_together(
    tmp_path: Path,
) -> None:
    write_page(tmp_path / "a", [record(1)])
    write_page(tmp_path / "b", [record(2), record(3)], tag="v1")
    async with browsing(tmp_path) as browser:
        assert browser.packages == {"zlib": 3}


async def test_a_long_list_of_packages_can_be_walked(tmp_path: Path) -> None:
    write_page(tmp_path / "a", [record(0)], title="z-last")
    for number in range(1, 600):
        write_page(tmp_path / f"p{number}", [record(number)], title=f"pkg-{number:05}")
    async with browsing(tmp_path) as browser:
        await browser.press("end")
        assert browser.selected == "z-last"
        assert browser.current.spec.package == "z-last"
        await browser.press("pageup", "ctrl+u", "home", "pagedown", "k")
        assert browser.selected is not None
        assert browser.current.spec.package == browser.selected

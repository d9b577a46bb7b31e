"""The list of packages: its filter, its counts, and what is shown and typed once one is chosen."""

from collections import Counter
from pathlib import Path

import pytest

from tests.browsing import SAMPLE, browsing, hashes
from tests.builders.pages import hash_of, record, write_page

SPECS_OF = Counter(record["package"] for record in SAMPLE)


async def test_packages_are_walked_and_filtered_and_left() -> None:
    async with browsing() as browser:
        assert browser.packages == SPECS_OF
        assert browser.packages_title == f"packages {len(SPECS_OF)}"
        assert browser.specs_title.startswith(f"{len(SAMPLE)} builds of {len(SPECS_OF)} packages")
        assert "develop" in browser.lines[0]
        assert browser.selected is None
        for number, package in enumerate(sorted(SPECS_OF), 2):
            await browser.press("j", selected=package, query=f"package={package}")
            assert browser.lines[-1].endswith(f" {number}/{len(SPECS_OF) + 1} ")
            assert browser.shown == hashes(r for r in SAMPLE if r["package"] == package)
            assert browser.specs_title.startswith(f"{SPECS_OF[package]} {package}")
        await browser.press("home", selected=None, builds=len(SAMPLE))

        await browser.ask("os=ubuntu22.04")
        counts = Counter(r["package"] for r in SAMPLE if r["os"] == "ubuntu22.04")
        assert browser.packages == counts
        assert f"{counts.total()} of {len(SAMPLE)}" in browser.lines[1]


async def test_every_letter_filters_the_names_and_escape_restores_what_was_there() -> None:
    async with browsing() as browser:
        await browser.press("f", focus="filter names")
        await browser.type("p")
        assert len(browser.packages) == 4
        await browser.type("y-s", packages={"py-safetensors": SPECS_OF["py-safetensors"]})
        assert browser.packages_title == "packages 1 of 4"
        assert browser.selected == "py-safetensors"
        assert len(browser.shown) == SPECS_OF["py-safetensors"]
        await browser.press("backspace", selected="py-build")
        assert len(browser.packages) == 4
        for text, names in (
            ("DTYPES", ["py-ml-dtypes"]),
            ("pybckd", ["py-pdm-backend"]),
            ("pbc", ["py-pdm-backend"]),
            ("pb", ["py-build", "py-pdm-backend"]),
            ("py !ml !pdm", ["py-build", "py-safetensors"]),
            ("zzz", []),
        ):
            await browser.press("ctrl+u", *text)
            assert list(browser.packages) == names
        assert "no package matches" in browser.text
        assert browser.shown, "the specs stay as they were"
        await browser.press("ctrl+u", packages=SPECS_OF)
        await browser.press(*"pdm", "enter", focus="package-rows")
        await browser.press("enter", focus="spec-rows")
        assert browser.current.spec.package == "py-pdm-backend"

        await browser.press("1", "f", "ctrl+u", "enter")
        for typed in ("zzz", "pdm", "pdm!pdm"):
            await browser.press("1", "home", "j", "f", *typed)
            await browser.press("escape", focus="package-rows", packages=SPECS_OF)
            assert browser.selected == "py-build", "as it was before"
            assert len(browser.shown) == SPECS_OF["py-build"]


async def test_a_long_list_of_packages_can_be_walked(tmp_path: Path) -> None:
    write_page(tmp_path / "a", [record(0)], title="z-last")
    for number in range(1, 600):
        write_page(tmp_path / f"p{number}", [record(number)], title=f"pkg-{number:05}")
    async with browsing(tmp_path) as browser:
        await browser.press("end", selected="z-last")
        assert browser.current.spec.package == "z-last"
        await browser.press("pageup", "ctrl+u", "home", "pagedown", "k")
        assert browser.selected is not None
        assert browser.current.spec.package == browser.selected


@pytest.mark.parametrize(("pane", "key"), [("1", "f"), ("v", "f")])
async def test_a_filter_of_a_list_has_a_line_while_it_is_typed_or_has_a_text(
    pane: str, key: str
) -> None:
    async with browsing() as browser:
        await browser.press("2", hides="filter…")
        await browser.press(pane, hides="filter…")  # letters are keys
        await browser.press(key, shows="filter…")
        await browser.press(*"cu", shows="cu ")
        await browser.press("enter", shows="cu ")
        await browser.press(key, "ctrl+u", "enter", hides="filter…")


async def test_the_filter_that_hides_all_packages_is_the_one_that_is_named() -> None:
    async with browsing() as browser:
        await browser.press("1", "f", *"safe", "enter", "home")
        await browser.ask("os=nosuch", "enter", "1", shows="no package matches the")
        assert "no package matches safe" not in browser.text
        await browser.clear("1", "f", *"zzz", shows="no package matches zzz")


PACKAGES = {"zlib": 1, "zlib-ng": 2, "hdf5": 3, "cuda": 4}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    for name, number in PACKAGES.items():
        variants = ["+cuda"] if name == "hdf5" else ["+shared"]
        write_page(tmp_path / name, [record(number, variants=variants)], title=name)
    return tmp_path


async def test_another_name_replaces_the_chosen_package(pages: Path) -> None:
    async with browsing(pages) as browser:
        for text, line, packages in (
            ("zlib", "zlib", {"zlib"}),
            ("zlib-ng", "zlib-ng", {"zlib-ng"}),
            ("zl os=ubuntu24.04", "zl os=ubuntu24.04", {"zlib", "zlib-ng"}),
            ("zlib@1.3.1", "zlib@1.3.1", {"zlib"}),
            ("package=zlib", "package=zlib", {"zlib"}),
            ("cuda", "cuda", {"cuda"}),
            ("any=cuda", "package=hdf5 any=cuda", {"hdf5"}),
            ("+cuda", "package=hdf5 +cuda", {"hdf5"}),
        ):
            shown = {hash_of(PACKAGES[name]) for name in packages}
            await browser.clear()
            await browser.open_package("hdf5", "slash")
            for letter in text:
                await browser.press(letter)
            browser.check(text, query=line, shown=shown)
            assert {name for name, count in browser.packages.items() if count} >= packages
            await browser.press("enter", shown=shown)
            await browser.press("backspace", query="package=hdf5")  # it is one step


async def test_what_no_spec_of_the_chosen_package_has_is_offered_without_it(pages: Path) -> None:
    async with browsing(pages, size=(120, 30)) as browser:
        await browser.open_package("hdf5", "slash")
        await browser.type("+shared", query="package=hdf5 +shared")
        await browser.press("enter", shown=set(), shows="without hdf5")
        await browser.press("j", "enter", query="+shared", builds=3)


async def test_the_line_shows_that_the_package_was_replaced(pages: Path) -> None:
    async with browsing(pages) as browser:
        await browser.open_package("hdf5", "slash")
        await browser.type("zlib-ng", query="zlib-ng", shown={hash_of(2)})
        await browser.press("escape", query="package=hdf5", selected="hdf5")
        await browser.type_ahead("slash", *"zlib@1.3", "enter", query="zlib@1.3")
        assert browser.shown == {hash_of(1)}


async def test_a_name_that_is_typed_to_its_end_is_marked_before_longer_ones(pages: Path) -> None:
    write_page(pages / "more", [record(5)], title="zlib-ng", tag="more")
    async with browsing(pages) as browser:
        await browser.press("slash", *"zli", marked="package=zlib-ng")
        await browser.type("b", marked="package=zlib")

"""What the browser says about the host: in the title, the detail, the table and its values."""

from pathlib import Path

import pytest

from tests.browsing import browsing
from tests.builders.nodes import node
from tests.builders.pages import hash_of
from tests.builders.spack import write_index
from tests.tui.browser.test_values import counts

RUNS, NEWER, OLD = map(hash_of, (1, 2, 3))
OLD_FORMAT = {"annotations": {"original_specfile_version": 4}}


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Write an index of three zlibs: one runs on HOST, one does not, and one is too old."""
    arch = {"platform": "linux", "platform_os": "ubuntu22.04", "target": "zen3"}
    nodes = (
        node(RUNS, version="1", arch=arch, dependencies=[]),
        node(NEWER, version="2", arch={**arch, "target": "zen4"}, dependencies=[]),
        node(OLD, version="3", arch=arch, dependencies=[], **OLD_FORMAT),
    )
    return write_index(tmp_path, *nodes)


async def test_the_detail_says_whether_a_spec_runs_and_filters_by_that(index: Path) -> None:
    async with browsing(index, size=(120, 30)) as browser:
        for row, value, text, query in (
            (0, "runs here", "✓ runs on zen3", "fits"),
            (0, "reusable", "built before Spack 1.0", "reusable='built before Spack 1.0'"),
            (1, "runs here", "target zen4 > zen3", "fits='target too new'"),
        ):
            await browser.clear("2", "home", *["j"] * row, shows=text)
            await browser.to_value(value)
            await browser.press("enter", query=query)


@pytest.mark.parametrize(
    ("width", "title"),
    [(160, "host: zen3, glibc 2.35, ubuntu22.04"), (60, "  host: zen3, glibc 2.35")],
)
async def test_the_title_shows_the_host_and_a_query_what_it_hides(
    index: Path, width: int, title: str
) -> None:
    async with browsing(index, size=(width, 30), pane="specs") as browser:
        assert title in browser.lines[0]
        assert "hides" not in browser.specs_title
        assert "fits" not in browser.head_line
        await browser.press("/", *"zlib fits", "enter", shown={RUNS, OLD})
        assert "fits hides 1 of 3: target too new 1" in browser.specs_title
        assert "fits" not in browser.placed_names, "all rows share it"
        await browser.resize(160, 30)
        assert "fits=yes" in browser.head_line


async def test_the_values_are_the_answers_and_their_reasons(index: Path) -> None:
    async with browsing(index, size=(160, 45)) as browser:
        await browser.ask("zlib fits")
        assert counts(browser)["runs here"] == {"yes": 2, "no": 1, "target too new": 1}
        await browser.ask("zlib reusable=no")
        reasons = {"target too new": 1, "built before Spack 1.0": 1}
        assert counts(browser)["reusable"] == {"yes": 1, "no": 2, **reasons}


async def test_words_are_completed(index: Path) -> None:
    async with browsing(index) as browser:
        for text, completed in (
            ("fi", "fits="),
            ("fits=ye", "fits=yes"),
            ("fits=t", "'target too new'"),
        ):
            await browser.ask(text)
            assert any(completed in item for item in browser.completions), text

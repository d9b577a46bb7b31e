"""What the browser says about the host: in the title, the detail, the table and its values."""

from pathlib import Path

import pytest

from spackscope.model.analysis.host import parse_host
from spackscope.model.query.ast import Term
from spackscope.model.report.table_columns import choose_columns
from tests.browsing import browsing
from tests.builders.nodes import node
from tests.builders.pages import hash_of
from tests.builders.spack import write_index
from tests.tui.browser.fake_host import FakeBrowser
from tests.tui.browser.test_values import counts, press_v

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


def test_the_detail_says_whether_a_spec_runs_and_what_filters_by_that(index: Path) -> None:
    browser = FakeBrowser(index).load()
    lines: dict[str, list[tuple[str, Term]]] = {}
    for row in range(3):
        version = browser.go_to(row).spec.version
        lines[version] = [
            (line.text, line.term)
            for line in browser.details.related.lines
            if line.term is not None and line.term.column in ("fits", "reusable")
        ]
    runs, too_new = Term("fits", "yes"), Term("fits", "target too new")
    assert lines["1"] == [("✓ runs on zen3", runs)]
    assert lines["2"] == [
        ("✗ target too new", too_new),
        ("does not run on zen3: target zen4 > zen3", too_new),
    ]
    old = Term("reusable", "built before Spack 1.0")
    assert [term for _, term in lines["3"]] == [runs, runs, old]


def test_a_term_shows_its_column_and_what_it_hides(index: Path) -> None:
    browser = FakeBrowser(index).load()
    results = browser.results
    assert "fits" not in choose_columns(results.listing, results.shared).names
    assert results.hidden == ""
    browser.type("zlib fits")
    results = browser.results
    assert browser.shown == {RUNS, OLD}
    assert ("fits", "yes") in results.shared, "what all rows share is no column"
    head = choose_columns(results.listing, results.shared).head
    assert "fits=yes" in [shared.text for shared in head]
    assert results.hidden == "fits hides 1 of 3: target too new 1"


def test_the_values_are_the_answers_and_their_reasons(index: Path) -> None:
    browser = FakeBrowser(index).load()
    for query, column, head, answers in (
        ("zlib fits", "fits", "runs here", {"yes": 2, "no": 1, "target too new": 1}),
        (
            "zlib reusable=no",
            "reusable",
            "reusable",
            {"yes": 1, "no": 2, "target too new": 1, "built before Spack 1.0": 1},
        ),
    ):
        browser.type(query)
        press_v(browser, pane="specs", column=column, input=None)
        assert counts(browser)[head] == answers


def test_words_are_completed(index: Path) -> None:
    browser = FakeBrowser(index).load()
    for text, completed in (
        ("fi", "fits="),
        ("fits=ye", "fits=yes"),
        ("fits=t", "'target too new'"),
    ):
        browser.type(text)
        assert any(completed in item for item in browser.completions), text


def test_the_host_is_known_once_rows_are_shown(index: Path) -> None:
    for text in ("target=zen3 glibc=2.35", "target=m1"):
        browser = FakeBrowser(index, environ={"SPACKSCOPE_HOST": text}).load()
        assert browser.host.state.machine == parse_host(text)


@pytest.mark.parametrize(
    ("width", "title"),
    [(160, "host: zen3, glibc 2.35, ubuntu22.04"), (60, "  host: zen3, glibc 2.35")],
)
async def test_the_title_shows_the_host(index: Path, width: int, title: str) -> None:
    async with browsing(index, size=(width, 30)) as browser:
        assert title in browser.lines[0]
        await browser.press("/", *"zlib fits", "enter")
        assert "fits hides 1 of 3" in browser.specs_title

"""Loading the sources without an app: progress, failure, reload."""

from pathlib import Path

from spackscope.model.core.frozen import replace
from spackscope.model.index.load import load
from spackscope.model.sources.session import Session
from spackscope.tui.browser.state import Summary
from tests.builders.nodes import GCC, ZLIB, leaf, node
from tests.builders.pages import record, write_page
from tests.builders.spack import database, installs
from tests.tui.browser.fake_host import FakeBrowser


def missing(browser: FakeBrowser) -> list[str]:
    """Return what was shown instead of rows, and the keys that were offered."""
    return [
        "\n".join([text, " ".join(choice.key for choice in choices)]).strip()
        for text, choices in browser.host.missing
    ]


def test_progress_is_shown_and_stopping_ends_it(tmp_path: Path) -> None:
    for number in range(3):
        write_page(tmp_path / str(number), [record(number)])
    browser = FakeBrowser(tmp_path)
    browser.controllers.loading.load()
    assert browser.controllers.loading.is_loading
    browser.controllers.loading.show_waiting()
    assert missing(browser) == ["reading the sources\nesc stops"]
    browser.controllers.loading.stop()
    assert not browser.controllers.loading.is_loading
    assert missing(browser)[-1] == "reading was stopped\nr O q"
    assert browser.controllers.loading.failure == ""
    browser.settle()
    assert browser.state.catalog is None
    browser.load()
    assert len(browser.shown) == 3
    (reading, bar, amount, stops) = next(t.split("\n") for t in missing(browser) if " %" in t)
    assert reading == f"reading {tmp_path}"
    assert bar.startswith("░")
    assert " of " in amount
    assert stops == "esc stops"
    write_page(tmp_path / "another", [record(3)])
    browser.load()
    assert any(text.startswith("░") for text in browser.host.progress)
    assert any(text.endswith("  esc stops") for text in browser.host.progress)
    assert browser.host.progress[-1] == ""
    assert browser.state.summary is not None
    whole = browser.state.catalog
    browser.load()
    assert browser.state.catalog is whole
    browser.host.change(summary=replace(browser.state.summary, is_part=True))
    browser.load()
    assert browser.state.catalog is not whole, "a part is read as if nothing was shown"
    browser.host.change(summary=replace(browser.state.summary, is_part=True))
    browser.controllers.loading.load()
    browser.controllers.loading.stop()
    assert browser.host.message == "reading was stopped"
    assert not browser.state.summary.is_part, "or Tab waits for a reload that nobody awaits"
    assert len(browser.shown) == 4


def test_reloading_picks_up_changes_and_keeps_package_cursor_marks_and_query(
    tmp_path: Path,
) -> None:
    zlib = write_page(tmp_path / "z", [record(n) for n in range(10, 20)])
    browser = FakeBrowser(tmp_path, is_folded=False).load()
    browser.type("package=zlib os=ubuntu24.04")
    browser.leave()
    browser.move_to(3)
    browser.settle()
    row = browser.row
    browser.controllers.specs.mark(row)

    write_page(tmp_path / "a", [record(n) for n in range(5)], title="abinit")
    zlib.unlink()
    write_page(tmp_path / "z", [record(n) for n in range(1000, 8, -1)])
    browser.load()

    assert set(browser.packages) == {"abinit", "zlib"}
    assert (browser.selected, browser.query) == ("zlib", "package=zlib os=ubuntu24.04")
    assert len(browser.shown) == 992
    assert browser.row.spec.hash == row.spec.hash
    assert browser.state.marks == (row.spec.hash,)
    assert browser.host.focused == []


def test_a_cursor_on_the_first_row_stays_there_where_newer_specs_come(tmp_path: Path) -> None:
    specs = [record(1, versions=["1.9"]), record(2, versions=["1.10"])]
    write_page(tmp_path, specs[:1])
    browser = FakeBrowser(tmp_path).load()
    write_page(tmp_path, specs)
    browser.load()
    assert browser.row.spec.version == "1.10"


def test_reloading_where_the_package_is_gone_goes_back_to_all(tmp_path: Path) -> None:
    write_page(tmp_path / "a", [record(1)], title="abinit")
    page = write_page(tmp_path / "z", [record(2)])
    browser = FakeBrowser(tmp_path).load()
    browser.select("zlib")
    page.unlink()
    browser.load()
    assert (browser.packages, browser.selected, browser.query) == ({"abinit": 1}, None, "")


def test_dependency_only_specs_are_shown_and_hidden(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    outside = installs(leaf(GCC, "gcc", "13.2.0"), in_buildcache=False)
    path.write_bytes(database(installs(node()) | outside))
    browser = FakeBrowser(path).load()
    for shown in ({ZLIB, GCC}, {ZLIB}):
        browser.controllers.loading.toggle_dependency_only()
        browser.settle(shown=shown)
        is_mentioned = "with dependency-only specs" in browser.summary.remark
        assert is_mentioned == (len(shown) == 2)


def test_an_index_that_is_ready_is_shown_before_it_is_compared(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    source = tmp_path / "pages"
    for page in range(4):
        records = [record(page * 100 + n, variants=["x" * 5_000]) for n in range(60)]
        write_page(source, records, title=f"p{page}")
    load([str(source)], Session(environ), keep=True)
    browser = FakeBrowser(source, environ=environ)
    totals: list[int] = []
    change = browser.host.change

    def note(**fields: object) -> None:
        summary = fields.get("summary")
        if isinstance(summary, Summary):
            totals.append(summary.total)
        change(**fields)

    browser.host.change = note  # type: ignore[method-assign]
    write_page(source, [record(9_000)], title="p0")
    browser.load()
    assert totals == [240, 181]
    assert len(browser.shown) == 181

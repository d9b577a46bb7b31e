import pytest

from spackscope.model.index.view import Sort
from spackscope.tui.settings import Origin, Settings
from spackscope.tui.settings.checks import browser_mistakes, first_sort, hidden_columns
from tests.browsing import browsing

ORIGINS = {name: Origin("config.toml", 3) for name in ("sort", "hidden")}


def mistakes(sort: str = "", hidden: tuple[str, ...] = ()) -> list[str]:
    return list(map(str, browser_mistakes(Settings(sort=sort, hidden=hidden, origins=ORIGINS))))


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("size", Sort("size")),
        ("-size", Sort("size", descending=True)),
        ("Version", Sort("version")),
        ("-+mpi", Sort("+mpi", descending=True)),
        ("used by", Sort("used by")),
        ("stacks", Sort("stack")),
        ("operating_system", Sort("os")),
        ("", None),
    ],
)
def test_rows_are_sorted_by_a_column_or_a_variant(text: str, sort: Sort | None) -> None:
    assert first_sort(Settings(sort=text)) == sort
    assert mistakes(sort=text) == []


def test_columns_are_hidden_by_their_names() -> None:
    hidden = ("os", "+mpi", "used_by", "unlike others")
    assert hidden_columns(Settings(hidden=hidden)) == {"os", "+mpi", "used by", "unlike others"}
    assert mistakes(hidden=hidden) == []


@pytest.mark.parametrize(
    ("sort", "hidden", "mistake"),
    [
        ("versoin", (), "sort: there is no column versoin. Did you mean version?"),
        ("-", (), "sort: there is no column -; a variant is written +NAME"),
        ("mpi", (), "sort: there is no column mpi; a variant is written +mpi"),
        ("unlike others", (), "rows cannot be sorted by unlike others"),
        ("", ("os", "~zzz"), "hidden: there is no column ~zzz; a variant is written +zzz"),
        ("", ("hash",), "hidden: the hash stays, rows are known by it"),
    ],
)
def test_other_columns_are_refused(sort: str, hidden: tuple[str, ...], mistake: str) -> None:
    assert mistakes(sort, hidden) == [f"config.toml:3: {mistake}"]


async def test_the_browser_begins_as_it_is_set() -> None:
    settings = Settings(fold=False, sort="-version", hidden=("os",))
    async with browsing(settings=settings, query="py-build") as browser:
        view = browser.state.view
        assert (view.folded, view.sort) == (False, Sort("version", descending=True))
        assert "os" not in browser.table.columns.columns.names
        assert "target" in browser.table.columns.columns.names


@pytest.mark.parametrize("sort", ["used by", "-size", "+zzz", "fits"])
async def test_every_sort_has_rows(sort: str) -> None:
    async with browsing(settings=Settings(sort=sort), query="py-build") as browser:
        assert browser.state.listing is not None
        assert browser.state.listing.shown > 0

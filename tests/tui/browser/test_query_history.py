"""The history of queries, and other remembered files: a broken or planted one does no harm."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from spackscope.tui.browser.remembered import MAX_LENGTH, MAX_QUERIES, QueryHistory
from tests.browsing import browsing


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "state" / "spackscope").mkdir(parents=True)
    return tmp_path / "state" / "spackscope" / "history"


def read(environ: dict[str, str]) -> QueryHistory:
    """Return the history of another run."""
    history = QueryHistory(environ)
    history.read()
    return history


def test_what_is_remembered_is_there_in_the_next_run(environ: dict[str, str]) -> None:
    first = read(environ)
    for query in ("+mpi", "os=a", "+mpi", "  ~cuda  ", "", " "):
        first.remember(query)
    assert first.queries == read(environ).queries == ("os=a", "+mpi", "~cuda")


def test_the_oldest_queries_give_way(environ: dict[str, str], path: Path) -> None:
    path.write_text("".join(f"a{number}\n" for number in range(MAX_QUERIES + 20)))
    history = read(environ)
    assert history.queries[0] == "a20"
    history.remember("new")
    assert len(history.queries) == MAX_QUERIES
    assert path.read_text().splitlines() == list(history.queries)


def test_two_programs_keep_the_queries_of_each_other(environ: dict[str, str]) -> None:
    one, two = read(environ), read(environ)
    assert one.queries == two.queries == ()
    one.remember("one")
    two.remember("two")
    one.remember("three")
    assert read(environ).queries == ("one", "two", "three")


@pytest.mark.parametrize(
    ("data", "queries"),
    [
        (b"", ()),
        (b"no end", ("no end",)),
        (b"a\r\nb\n\n  \nc\n", ("a", "b", "c")),
        (b"good\n\xff\xfe bad\nafter\n", ("good", "after")),
        (b"\x1b[2J\n\x00\x00\nos=\xc2\x9b2J\n\xe2\x80\xaex\ngood\n", ("good",)),
        (b"x" * 50_000_000 + b"\ngood\n", ("good",)),
        (b"x" * (MAX_LENGTH + 1) + b"\ngood", ("good",)),
    ],
    ids=["empty", "no line end", "blank lines", "no UTF-8", "controls", "huge", "long line"],
)
def test_lines_that_are_not_queries_are_ignored(
    environ: dict[str, str], path: Path, data: bytes, queries: tuple[str, ...]
) -> None:
    path.write_bytes(data)
    history = read(environ)
    assert history.queries == queries
    history.remember("new")
    assert read(environ).queries == (*queries, "new")


def _directory(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _file_in_the_way(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _unwritable(path: Path) -> None:
    path.parent.rmdir()
    path.parent.symlink_to("/proc/self")


@pytest.mark.parametrize("spoil", [_directory, _pipe, _file_in_the_way, _loop, _unwritable])
def test_where_nothing_can_be_kept_queries_last_for_the_session(
    environ: dict[str, str], path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(path)
    history = read(environ)
    assert not history.queries
    history.remember("new")
    assert history.queries == ("new",)


def test_a_path_that_is_none_does_no_harm() -> None:
    history = QueryHistory({"XDG_STATE_HOME": "/a\0b"})
    history.remember("new")
    assert history.queries == ("new",)


def test_nothing_but_the_file_is_left_and_nobody_else_may_read_it(
    environ: dict[str, str], tmp_path: Path
) -> None:
    before = os.umask(0)
    try:
        QueryHistory(environ).remember("new")
    finally:
        os.umask(before)
    (directory,) = (tmp_path / "state").iterdir()
    assert [file.name for file in directory.iterdir()] == ["history"]
    assert directory.stat().st_mode & 0o077 == 0
    assert (directory / "history").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("query", ["a\nb", "\x1b[2J", "x" * (MAX_LENGTH + 1)])
def test_what_is_not_one_clean_line_is_not_kept(environ: dict[str, str], query: str) -> None:
    history = QueryHistory(environ)
    history.remember(query)
    assert history.queries == ()


def test_a_query_with_a_password_is_not_kept(environ: dict[str, str]) -> None:
    history = QueryHistory(environ)
    history.remember(
        "hdf5 source=https://ann:secret@host/x", "source='https://host/x?token=secret'"
    )
    history.remember("hdf5@1.14 source='https://host/x?…'")

    assert history.queries == ("hdf5@1.14 source='https://host/x?…'",)


async def test_a_letter_begins_another_walk_and_a_text_that_was_given_up_comes_first(
    environ: dict[str, str],
) -> None:
    QueryHistory(environ).remember("~virtualenv", "os=sequoia")
    async with browsing(environ=environ) as browser:
        await browser.press("slash")
        await browser.type("os=sequoia ")
        await browser.press("up", query="~virtualenv")  # The other one is in the line already.
        await browser.press("up", query="~virtualenv")
        await browser.press("down", query="os=sequoia ")
        await browser.press("up", "x", query="~virtualenvx")
        await browser.press("up", query="os=sequoia")
        await browser.press("escape", "slash")
        await browser.type("os=&")
        await browser.press("escape", "slash")
        for query in ("os=&", "os=sequoia", "~virtualenv", "~virtualenv"):
            await browser.press("up", query=query)


async def test_queries_are_kept_however_they_were_made(environ: dict[str, str]) -> None:
    async with browsing(environ=environ, size=(160, 45)) as browser:
        await browser.ask("os=sequoia", "enter")
        await browser.to_value("aarch64")
        await browser.press("enter", query="os=sequoia target=aarch64")
        await browser.clear()
        await browser.go_to_column("os", "v", "space", "escape")
        first = browser.query
        await browser.open_package("py-ml-dtypes")
        for text in ("&x", "^zlib"):
            await browser.ask(text, "escape")
        kept = ("os=sequoia", "os=sequoia target=aarch64", first)
        assert read(environ).queries == (*kept, f"package=py-ml-dtypes {first}")
        await browser.press("ctrl+r", *"aarch64", "enter", query="os=sequoia target=aarch64")
        assert browser.focus == "spec-rows"


async def test_the_history_is_a_list_that_is_searched(environ: dict[str, str]) -> None:
    for query in ("os=sequoia", "os=ubuntu24.04", "target=aarch64 os=ubuntu22.04"):
        QueryHistory(environ).remember(query)
    async with browsing(environ=environ, size=(80, 24)) as browser:
        await browser.press("ctrl+r", dialog="PickDialog")
        listed = [line for line in browser.lines if "os=" in line]
        assert "target=aarch64" in listed[0], "the newest first"
        await browser.type("os 24", hides="os=sequoia")
        await browser.press("enter", dialog=None, query="os=ubuntu24.04", focus="spec-rows")
        await browser.press("slash", "ctrl+r")
        assert "os=ubuntu24.04" not in browser.text.split("queries")[1], "it is shown already"
        await browser.press("escape", "escape", query="os=ubuntu24.04")


NAMES = ("history", "columns.json")
NOBODY = 65534


@pytest.mark.parametrize("is_foreign", [False, True])
async def test_no_planted_link_is_followed(is_foreign: bool, tmp_path: Path) -> None:
    state = tmp_path / "state" / "spackscope"
    state.mkdir(parents=True)
    for name in NAMES:
        (tmp_path / name).write_text("mine")
        (state / name).symlink_to(tmp_path / name)
    if is_foreign:
        if os.geteuid():
            pytest.skip("only root makes the files of another user")
        os.chown(state, NOBODY, -1)

    async with browsing(environ={"XDG_STATE_HOME": str(tmp_path / "state")}) as browser:
        await browser.press("slash", *"os=sequoia", "enter", "minus", "ctrl+r", hides="mine")

    assert [(tmp_path / name).read_text() for name in NAMES] == ["mine"] * len(NAMES)
    assert sorted(path.name for path in state.iterdir()) == sorted(NAMES)


async def test_the_directory_is_for_its_owner_alone(tmp_path: Path) -> None:
    state = tmp_path / "state" / "spackscope"
    state.mkdir(parents=True, mode=0o755)

    async with browsing(environ={"XDG_STATE_HOME": str(tmp_path / "state")}) as browser:
        await browser.press("slash", *"os=sequoia", "enter")

    assert (state / "history").read_text() == "os=sequoia\n"
    assert state.stat().st_mode & 0o777 == 0o700

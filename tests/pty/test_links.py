"""Links in the terminal: where they lead, where they are off, and that no text ends them."""

from __future__ import annotations

import os
import re

import pytest

from spackscope.tui.process.stdio import link_to
from tests.builders import SAMPLE_PAGES, hash_of, node, record, write_page, write_tree
from tests.hostile import HOSTILE_TEXT
from tests.program import Program, Terminal, wait_until
from tests.pty.test_screens import Shown

pytestmark = pytest.mark.pty

LINK = re.compile("\x1b]8;[^;]*;([^\x1b\x07\x9c]*)\x1b\\\\(.*?)\x1b]8;;\x1b\\\\", re.DOTALL)
LOOK = re.compile("\x1b\\[[0-9;]*m")
RECORD = "pfqg2xienllgkr2rb23fugktb23zwwbr"
PAGE = f"https://cache.spack.io/?package=py-build&hash={RECORD}"


def links(text: str) -> dict[str, str]:
    """Return the addresses of the links in what was written, by their texts."""
    return {LOOK.sub("", shown): address for address, shown in LINK.findall(text)}


def test_show_links_names_hashes_files_and_sources(program: Program) -> None:
    _, text = program.on_terminal("show", RECORD)
    top = f"file://{os.uname().nodename}{SAMPLE_PAGES}"
    assert links(text) == {
        "py-build@1.2.1": "https://cache.spack.io/?package=py-build",
        RECORD: PAGE,
        PAGE: PAGE,
        str(SAMPLE_PAGES): top,
        f"{SAMPLE_PAGES}/py-build/specs.md": f"{top}/py-build/specs.md",
    }


def test_what_is_in_no_public_cache_leads_to_its_file_alone(program: Program) -> None:
    write_tree(program.home / "tree", node(hash_of(1)))
    _, text = program.on_terminal("show", hash_of(1), "-f", "tree")
    assert set(links(text)) == {"tree", "tree/.spack-db/index.json"}


SCREEN = {"TERM": "screen-256color"}
TMUX = {**SCREEN, "TMUX": "/tmp/tmux", "TERM_PROGRAM": "tmux"}


@pytest.mark.parametrize(
    ("changes", "has_links"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "linux"}, False),
        ({"TERM": "dumb"}, False),
        (SCREEN, False),
        ({"TERM": "tmux-256color"}, False),
        ({**TMUX, "TERM_PROGRAM_VERSION": "3.3a"}, False),
        ({**TMUX, "TERM_PROGRAM_VERSION": "3.4"}, True),
        ({**TMUX, "TERM_PROGRAM_VERSION": "next-3.10"}, True),
        ({**TMUX, "TERM_PROGRAM_VERSION": "3.5", "STY": "1.pts"}, False),
    ],
)
def test_links_are_off_where_the_terminal_would_not_take_them(
    program: Program, changes: dict[str, str], has_links: bool
) -> None:
    _, text = program.on_terminal("show", RECORD, changes=changes)
    assert (links(text) != {}, "\x1b]8" in text) == (has_links, has_links)


def test_a_setting_decides_and_a_pipe_gets_none(program: Program) -> None:
    config = program.home / "config" / "spackscope" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("links = true\n")
    assert links(program.on_terminal("show", RECORD, changes={"TERM": "linux"})[1])[RECORD] == PAGE
    assert "\x1b" not in program("show", RECORD).stdout
    config.write_text("links = false\n")
    assert "\x1b]8" not in program.on_terminal("show", RECORD)[1]


def links_of_detail(terminal: Terminal, start: int = 0) -> dict[str, str]:
    """Wait for the link of the hash in the detail; return all links written from a byte on."""
    end = re.compile(b"/[a-z2-7]{32}\x1b]8;;\x1b")
    wait_until(lambda: end.search(terminal.output, start), step=terminal.read)
    return links(terminal.output[start:].decode(errors="ignore"))


def test_the_browser_links_once_no_key_is_pressed_and_only_what_changed(program: Program) -> None:
    with program.in_terminal("py-build", columns=120, lines=40) as terminal:
        Shown(terminal, 120, 40).until("24 py-build")
        terminal.send("2")
        first = links_of_detail(terminal)
        rows = {text for text in first if len(text) == 7}
        assert len(rows) > 5
        assert all(first[row].split("hash=")[1].startswith(row) for row in rows)
        assert first[str(SAMPLE_PAGES)] == f"file://{os.uname().nodename}{SAMPLE_PAGES}"
        start = len(terminal.output)
        terminal.send("j")
        again = links_of_detail(terminal, start)
        assert len(rows & set(again)) <= 2, "the rows that the cursor left and reached"
        terminal.send("q")
        assert terminal.wait() == 0


def test_no_text_ends_a_link_or_begins_one(program: Program) -> None:
    text = "zlib\x07;\x1b]8;;x\x1b\\ \x9c\x9d8;;y\x9c é"
    path = program.home / f"a ;{text}.md"
    write_page(path, [record(7, os=text)], title=f"x;{text}")
    _, shown = program.on_terminal("show", hash_of(7), "-f", str(path))
    assert not {"\x1b", "\x07", "\x9c", "\x9d"} & set(LOOK.sub("", LINK.sub("", shown)))
    addresses = [address for address, _ in LINK.findall(shown)]
    assert len(addresses) == 5
    for address in addresses:
        assert re.fullmatch("(https://cache.spack.io/|file://)[!-:<-~]+", address)


@pytest.mark.parametrize("text", [text for _, text in HOSTILE_TEXT])
def test_an_address_has_visible_ascii_only_and_a_bound(text: str) -> None:
    assert re.fullmatch("\x1b]8;;[!-~]{0,2083}\x1b\\\\", link_to(f"https://x/{text}"))

"""The title, the hints, and what the line above them says of the marked specs."""

from pathlib import Path
from typing import get_args

import pytest

from spackscope.model.analysis.host import parse_host
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import cell_width
from spackscope.model.query.ast import Term
from spackscope.model.report.report import Style
from spackscope.model.report.titles import SourceChip
from spackscope.tui import keymap
from spackscope.tui.widgets.drawing import STYLES
from spackscope.tui.widgets.frame import (
    OPEN,
    PROBLEMS,
    SOURCES,
    Marks,
    MarksLine,
    Title,
    fitting_hints,
    lay_out,
    mark_pieces,
)
from spackscope.tui.widgets.table_rows import MarkedSpec
from tests.browsing import browsing
from tests.clipboard import Clipboard

CHIPS = (
    SourceChip(Term("source", "spack1.json"), "spack1.json", 8_980, True, False),
    SourceChip(Term("source", "derecho.lock"), "derecho.lock", 1_238, False, False),
    SourceChip(Term("source", "gone"), "gone", 0, False, True),
)
MACHINE = parse_host("target=zen3 glibc=2.35 os=ubuntu22.04")
TITLE = Title(CHIPS, "develop", 3, MACHINE)


def text(title: Title, width: int) -> str:
    left, right = (
        "".join(piece for part in parts for piece, _ in part.pieces)
        for parts in lay_out(title, width)
    )
    return left + " " * (width - len(left + right)) + right


def words(width: int) -> str:
    return " ".join(text(TITLE, width).split())


def test_a_wide_title_shows_counts_and_the_whole_machine() -> None:
    assert words(140) == (
        "spackscope ● spack1.json 8,980 ○ derecho.lock 1,238 ▲ gone 0 develop host: "
        "zen3, glibc 2.35, ubuntu22.04 ▲ 3 problems"
    )


@pytest.mark.parametrize("width", [20, 40, 80, 160])
def test_the_purpose_of_a_choice_has_half_of_the_title(width: int) -> None:
    shown = text(replace(TITLE, purpose="choose for: spack install hdf5 +mpi"), width)
    assert cell_width(shown) == width
    assert shown.startswith((" choose for: spack install hdf5 +mpi ", " cho"))


def test_a_narrow_title_shows_names() -> None:
    assert words(80) == "spackscope ● spack1.json ○ derecho.lock ▲ gone host: zen3, glibc 2.35 ▲ 3"
    assert words(75) == "spackscope ● spack1.json ○ derecho.lock ▲ gone zen3, glibc 2.35 ▲ 3"


def test_the_title_of_the_sample_names_the_key_that_opens_a_cache() -> None:
    sample = replace(TITLE, chips=(CHIPS[0]._replace(name="sample"),), is_sample=True)
    assert text(sample, 80).split() == [
        *("spackscope", "●", "sample", "develop", "host:", "zen3,", "glibc", "2.35"),
        *("O", "open", "yours", "▲", "3"),
    ]
    assert OPEN in [part.target for part in lay_out(sample, 60)[1]]


def test_the_title_is_as_wide_as_the_screen() -> None:
    for width in range(1, 170):
        line = text(TITLE, width)
        assert len(line) == max(width, len("  ▲ 3 "))
        assert "▲ 3" in line


def test_sources_without_room_are_counted() -> None:
    chips = tuple(CHIPS[0]._replace(name=f"source-number-{n}.json") for n in range(20))

    assert text(Title(chips), 40).split() == ["●", "source…0.json", "●", "source…1.json", "+18"]
    assert lay_out(Title(chips), 40)[0][-1].target == SOURCES


def test_what_can_be_clicked_has_a_target() -> None:
    targets = [part.target for parts in lay_out(TITLE, 80) for part in parts if part.target]

    assert targets == [*(chip.term for chip in CHIPS), PROBLEMS]


HINTS = [hint for name in ("packages-open", "copy", "help", "quit") for hint in keymap.hint(name)]


@pytest.mark.parametrize(
    ("width", "keys"), [(40, "⏎y?q"), (32, "⏎y?q"), (26, "⏎y?"), (17, "⏎?"), (10, "?"), (3, "?")]
)
def test_the_last_hints_go_then_quit_then_copying_and_never_the_help(
    width: int, keys: str
) -> None:
    assert "".join(key.shown for key in fitting_hints(HINTS, width)) == keys


def spec(number: int, title: str = "hdf5@1.14.6") -> MarkedSpec:
    return MarkedSpec(f"{number:07}".ljust(32, "a"), title, (number,), frozenset())


HIDDEN = "◆ 4 marked, 2 out of sight  hdf5@1.14.6 /0000002 /0000003"


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (90, f"{HIDDEN}  zlib@1.3 /0000004 and 1 more"),
        (70, f"{HIDDEN} and 2 more"),
        (50, "◆ 4  hdf5@1.14.6 /0000002 /0000003 and 2 more"),
        (30, "◆ 4 (2 hidden) /0000002 +3"),
        (18, "◆ 4 /0000002 +3"),
        (10, "◆ 4"),
    ],
)
def test_marks_in_sight_are_named_first_as_far_as_there_is_room(width: int, text: str) -> None:
    in_sight = (spec(2), spec(3))
    marked = (spec(4, "zlib@1.3"), in_sight[0], spec(5, "zlib@1.4"), in_sight[1])

    def said(width: int) -> str:
        pieces = mark_pieces(Marks(4, marked, in_sight), width)
        return "".join(text for text, _ in pieces)

    assert said(width) == text
    for size in (*range(10, 43), *range(45, 130)):
        assert cell_width(said(size)) <= size
        assert said(cell_width(said(size))) == said(size), "it needs no cell more"


def test_the_last_hash_takes_the_place_of_a_longer_text() -> None:
    three = (spec(1), spec(2), spec(3))
    text = "".join(text for text, _ in mark_pieces(Marks(3, three, three), 43))
    assert text == "◆ 3  hdf5@1.14.6 /0000001 /0000002 /0000003"


async def test_a_click_on_a_key_presses_it_and_messages_leave_the_line_free(
    tmp_path: Path,
) -> None:
    async with browsing(size=(80, 24), environ=Clipboard(tmp_path).environ) as browser:
        await browser.press("2", "z", "space", "space", "y")
        line = browser.browser.query_one(MarksLine)
        assert "Copied 2 marked hashes" in browser.text
        shown = browser.lines[line.region.y]
        assert shown.startswith(" ◆ 2")
        assert shown.rstrip().endswith("d diff  y copy  U clear")
        await browser.click(line, shown.index("U"), 0)
        assert not browser.state.marks
        assert not line.display


async def test_a_long_message_is_cut_with_a_sign() -> None:
    async with browsing(size=(40, 12)) as browser:
        browser.browser.host.say("a word of a long message " * 20)
        await browser.settle()
        last = [line for line in browser.lines if "a word" in line][-1]
        assert last.rstrip().endswith("…")


def test_the_screen_has_a_look_for_each_style() -> None:
    assert set(get_args(Style)) - STYLES.keys() == {""}

"""The title shows sources, the machine and the number of problems in whatever width there is."""

from __future__ import annotations

import pytest

from spackscope.model.analysis.host import parse_host
from spackscope.model.query.ast import Term
from spackscope.model.report.frame import SourceChip
from spackscope.tui.widgets.frame import PROBLEMS, SOURCES, Title, lay_out

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
        "spackscope ● spack1.json 8,980 ○ derecho.lock 1,238 ▲ gone 0 develop this machine "
        "zen3 · glibc 2.35 · ubuntu22.04 ▲ 3 problems"
    )


def test_a_narrow_title_shows_names() -> None:
    assert words(80) == "● spack1.json ○ derecho.lock ▲ gone develop zen3 · 2.35 ▲ 3"


@pytest.mark.parametrize("width", range(1, 170))
def test_the_title_is_as_wide_as_the_screen(width: int) -> None:
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

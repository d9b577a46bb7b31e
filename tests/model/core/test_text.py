"""Text from outside is safe to show, and fits its width."""

import unicodedata
from collections.abc import Callable
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spackscope.model.core.text import (
    cell_width,
    clean,
    counted,
    cut_name,
    cut_words,
    is_clean,
    pad,
    shorten,
    wrap,
)
from tests.examples import some_and_all
from tests.hostile import HOSTILE_TEXT

LONGEST_MARK = len("\\U000e0041")

any_text = st.one_of(
    st.text(st.characters(exclude_categories=[])),
    st.text("ab …語👍🏽🇩\u0301\u0903\u1161\u200d\ufe0f\x1b\xa0"),
    st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)),
    st.sampled_from([text for _, text in HOSTILE_TEXT]),
)
clean_text = any_text.map(clean)
widths = st.integers(min_value=-1, max_value=40)


@given(any_text)
def test_whatever_comes_in_comes_out_printable_and_stays_as_it_then_is(text: str) -> None:
    assert_is_cleaned(text)


def test_hostile_text_comes_out_printable() -> None:
    for _, text in HOSTILE_TEXT:
        assert_is_cleaned(text)


def assert_is_cleaned(text: str) -> None:
    cleaned = clean(text)

    assert cleaned.isprintable()
    assert clean(cleaned) == cleaned
    assert is_clean(text) is (text == cleaned)
    assert len(cleaned) <= LONGEST_MARK * len(text) + 1
    # A cell has at most five characters: a base and four marks.
    assert len(cleaned) <= 5 * cell_width(cleaned)


@some_and_all(7)
def test_no_character_that_acts_on_a_terminal_passes(step: int) -> None:
    # From 0x40000 on no character is assigned but tags and variation selectors, and private ones.
    codes = [*range(0x3000), *range(0x3000, 0x40000, step), *range(0x40000, 0x110000, 101)]
    codes += range(0xE0000, 0xE1000)
    passed = [chr(code) for code in codes if is_clean(chr(code))]

    kinds = {unicodedata.category(character) for character in passed if character != " "}
    assert kinds.isdisjoint({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
    assert all(cell_width(character) in (1, 2) for character in passed)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        *((same, same) for same in ("", "   ", "a[/]b {{x}} %s $accent \\", "naïve", "日本語")),
        *((same, same) for same in ("שלום", "cafe\u0301", "ubuntu…4.04", "a" + "\u0301" * 4)),
        ("\x1b[31m", "␛[31m"),
        ("a\x00b\tc\nd\x7f", "a␀b␉c␊d␡"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200db", "a\\u200db"),
        ("a\u00adb", "a\\xadb"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("\ue0a0", "\\ue0a0"),
        ("❤\ufe0f", "❤\\ufe0f"),
        ("a\xa0b\u2003c\u3000d", "a b c d"),
        ("a" + "\u0301" * 300 + "b", "a" + "\u0301" * 4 + "…b"),
        ("\u0301a", "\u25cc\u0301a"),
    ],
)
def test_each_danger_has_its_visible_mark_and_the_rest_is_left_alone(
    text: str, shown: str
) -> None:
    assert clean(text) == shown


@given(clean_text)
@example("\u1112\u1161\u11ab")
@example("क्" * 5)
@example("\u4dc0")
def test_the_width_is_the_one_that_the_drawing_library_counts(text: str) -> None:
    cells = pytest.importorskip("rich.cells")

    assert cell_width(text) == cells.cell_len(text)


@given(clean_text, widths, st.sampled_from(["ends", "start"]))
def test_a_shortened_text_is_clean_and_wastes_at_most_a_cell_on_each_side(
    text: str, width: int, keep: Literal["ends", "start"]
) -> None:
    short = shorten(text, width, keep=keep)

    assert is_clean(short)
    if cell_width(text) <= width:
        assert short == text
    else:
        assert max(0, width - 2) <= cell_width(short) <= max(0, width)
    for right in (False, True):
        padded = pad(text, width, right=right)
        assert cell_width(padded) == max(0, width)
        assert padded.endswith(shorten(text, width)) or not right


@given(clean_text, st.integers(min_value=2, max_value=40))
def test_a_wrapped_text_has_all_its_words_in_lines_that_fit(text: str, width: int) -> None:
    lines = wrap(text, width)

    assert lines
    assert all(cell_width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_text_is_wrapped_at_blanks_where_possible() -> None:
    assert wrap("two words and abcdefghij", 9) == ["two words", "and", "abcdefghi", "j"]
    assert wrap("", 9) == [""]
    assert wrap("語", 1) == ["語"]


@pytest.mark.parametrize(
    ("cut", "text", "width", "short"),
    [
        (shorten, "ubuntu24.04", 11, "ubuntu24.04"),
        (shorten, "ubuntu24.04", 8, "ubu…4.04"),
        (shorten, "ubuntu24.04", 7, "ubu….04"),
        (shorten, "ubuntu24.04", 2, "…4"),
        (shorten, "ubuntu24.04", 1, "…"),
        (shorten, "ubuntu24.04", 0, ""),
        (shorten, "日本語パッケージ", 8, "日…ージ"),
        (shorten, "日本語", 2, "…"),
        (shorten, "cafe\u0301-au-lait-cafe\u0301", 9, "cafe\u0301…cafe\u0301"),
        (cut_words, "libiconv 1.17, others 1.18", 26, "libiconv 1.17, others 1.18"),
        (cut_words, "libiconv 1.17, others 1.18", 20, "libiconv 1.17…"),
        (cut_words, "libiconv 1.17, others 1.18", 15, "libiconv 1.17…"),
        (cut_words, "libiconv 1.17", 9, "libiconv…"),
        (cut_words, "libiconv", 4, "lib…"),
        (cut_words, "a bcdefghijkl", 10, "a bcdefgh…"),
        (cut_words, "x", 0, ""),
        (cut_name, "oneapi@2024.0.2", 15, "oneapi@2024.0.2"),
        (cut_name, "oneapi@2024.0.2", 13, "one…@2024.0.2"),
        (cut_name, "oneapi@2024.0.2", 12, "on…@2024.0.2"),
        (cut_name, "oneapi@2024.0.2", 11, "oneap…4.0.2"),
        (cut_name, "neoverse_v1", 9, "neov…e_v1"),
    ],
)
def test_a_text_is_cut_in_its_middle_a_sentence_after_a_word_and_the_name_before_a_version(
    cut: Callable[[str, int], str], text: str, width: int, short: str
) -> None:
    assert cut(text, width) == short


def test_things_are_counted() -> None:
    told = [counted(n, noun) for n, noun in ((1, "spec"), (2052, "spec"), (2, "dependency"))]
    assert told == ["1 spec", "2,052 specs", "2 dependencies"]

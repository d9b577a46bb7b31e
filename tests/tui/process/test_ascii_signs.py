"""A terminal without UTF-8 gets a letter for each sign."""

import ast
import unicodedata
from collections.abc import Iterator

import pytest

from spackscope.model.core.text import cell_width
from spackscope.tui.process.stdio import SIGNS, in_ascii, key_word
from tests.browsing import browsing
from tests.documents import ROOT
from tests.program import Program

SOURCES = sorted(path for top in ("model", "tui") for path in (ROOT / top).rglob("*.py"))


def literals(text: str) -> Iterator[str]:
    """Yield the texts of a module without its docstrings."""
    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield node.value if isinstance(node.value, str) else ""


def test_every_sign_in_the_program_has_a_letter() -> None:
    for path in SOURCES:
        module = path.read_text("utf-8")
        signs = set() if module.isascii() else set("".join(literals(module)))
        # Marks and formats are looked for in texts from outside, and never written.
        written = {sign for sign in signs if unicodedata.category(sign) not in ("Mn", "Cf")}
        assert {sign for sign in written if not sign.isascii()} <= {"…", *map(chr, SIGNS)}, path


def test_a_letter_is_as_wide_as_its_sign() -> None:
    for code, letter in SIGNS.items():
        assert (cell_width(chr(code)), len(letter), letter.isascii()) == (1, 1, True)


def test_letters_differ_as_signs_do_and_are_no_wildcards_or_words() -> None:
    signs = "●○◆◇▲✓✗┃·×≠"
    assert len(set(in_ascii(signs))) == len(signs)
    # These two stand before the data, in cells of their own.
    letters = "".join(letter for sign, letter in SIGNS.items() if chr(sign) not in "▾┃")
    assert not any(letter.isalnum() or letter in "*?[]" for letter in letters)
    assert in_ascii("✓ runs here") == "+ runs here"
    assert in_ascii("▸▾┃") == ">v*"
    assert in_ascii("▸ überOS 日本 …") == "> überOS 日本.."
    assert in_ascii("+hl … 2") == "+hl ..2", "+hl is whole"
    assert in_ascii("› libxml2 ›…  +mpi") == "> libxml2 ..  +mpi"


def test_a_cut_takes_the_cell_before_it_and_no_command_of_the_terminal() -> None:
    assert in_ascii("hdf…") == "hd.."
    assert in_ascii("a\x1b[0m\x1b[2m… b") == ".\x1b[0m\x1b[2m. b"
    assert in_ascii("\x1b[5;10H\x1b[2m…") == "\x1b[5;10H\x1b[2m."
    assert in_ascii("日…") == "日.", "a cell that is half of a letter"


@pytest.mark.parametrize(("shown", "name"), [("⏎", "enter"), ("⇧⇥", "shift-tab"), ("y", "y")])
def test_keys_have_names(shown: str, name: str) -> None:
    assert key_word(shown) == name


def test_a_pipe_gets_the_signs(program: Program) -> None:
    words = "diff", "pfqg2xi", "23r4fq5"
    assert program(*words, LC_ALL="C").stdout == program(*words).stdout


async def test_the_hints_have_signs_where_there_are_any() -> None:
    async with browsing() as browser:
        await browser.press("2", hints="⏎")

import json
import re
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from markdown_it import MarkdownIt

from spackscope.model.core.text import cell_width, clean, cut_name
from tests.builders.pages import hash_of, record, write_page
from tests.examples import cases
from tests.hostile import HOSTILE_TEXT, MARKUP
from tests.program import Program

Answers = Callable[..., "CompletedProcess[str]"]

SHARED = hash_of(0)
GITHUB = MarkdownIt("gfm-like", {"html": True})
FORBIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def is_harmless(text: str) -> bool:
    return all(c in "\n\t" or unicodedata.category(c) not in FORBIDDEN for c in set(text))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages whose records hold each hostile text in each field, and whose names hold some."""
    top = tmp_path_factory.mktemp("hostile")
    for number, (_, text) in enumerate(HOSTILE_TEXT, 1):
        plain = text.isascii() and text.isprintable() and "/" not in text and len(text) < 99
        name = f"{number}" if plain else f"{number}\x1b]0;owned\x07\n"
        everywhere = {
            "versions": [text],
            "compiler": text,
            "platform": text,
            "os": text,
            "target": text,
            "variants": [text, f"+{text}", f"name={text}"],
            "stacks": [text],
        }
        records: list[object] = [
            record(number * 100, **everywhere),
            record(os=text, variants=[f"patches={text}"]),
            {"hash": text},
            record(number * 100 + 1, versions=[], compiler=[text], size=text),
        ]
        write_page(top / f"{name}.md", records, title=text, tag=text)
    return top


@pytest.fixture(scope="module")
def answers(pages: Path, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """Run a command on the pages, each once."""
    program = Program(tmp_path_factory.mktemp("home"))
    program("index", "-f", str(pages))
    return cache(lambda *words: program(*words, "-f", str(pages)))


LINES = [
    ["find"],
    ["find", "--csv"],
    ["find", "--markdown", "-n0"],
    ["find", "--plain"],
    ["show", "--json", SHARED],
    ["show", "--plain", SHARED],
    ["index"],
    ["show", "2"],
    ["diff", hash_of(100), hash_of(200), "--all"],
]
MORE = [
    *(["find", "--jsonl"], ["show", SHARED], ["needs", hash_of(100)]),
    *(["duplicates"], ["duplicates", "--json"], ["stats", "os"], ["stats", "version", "--csv"]),
    ["diff", hash_of(100), hash_of(200), hash_of(300)],
]


@cases("lines", [LINES], more=[MORE])
def test_no_control_character_reaches_a_pipe(answers: Answers, lines: list[list[str]]) -> None:
    for words in lines:
        result = answers(*words)
        expected = 1 if words[0] == "diff" else 2 if words == ["show", "2"] else 0
        assert result.returncode == expected
        assert is_harmless(result.stdout)
        assert is_harmless(result.stderr)
        assert "Traceback" not in result.stderr
        assert max(map(len, result.stderr.splitlines())) <= 500
        if "--plain" in words:
            assert all(re.match(r"[\w -]+: |$", line) for line in result.stdout.splitlines())
        elif words[0] == "find":
            # A record is a line whatever it holds.
            heads = 0 if "--jsonl" in words else 2 if "--markdown" in words else 1
            assert len(result.stdout.splitlines()) == 3 * len(HOSTILE_TEXT) + heads


def test_no_control_character_is_in_the_diff_of_two_sources(program: Program, pages: Path) -> None:
    write_page(program.home / "other.md", [record(7)])
    result = program("diff", str(pages), "other.md", "--all", code=1)
    assert is_harmless(result.stdout)


@pytest.mark.parametrize(
    "words", [["find"], ["stats", "os"], ["stats", "--by", "os", "--by", "target"]], ids=" ".join
)
def test_no_control_character_reaches_a_terminal_and_no_line_is_too_long(
    program: Program, pages: Path, words: list[str]
) -> None:
    for columns in (30, 90):
        code, text = program.on_terminal(*words, "-f", str(pages), columns=columns)
        assert code == 0
        text = re.sub(r"\x1b\[(0|1|2|32|33|36)m", "", text)
        assert is_harmless(text)
        table = [line for line in text.splitlines() if not line.startswith("spackscope: ")]
        assert len(table) >= 40
        assert max(map(cell_width, table)) <= columns


def test_data_is_never_markup_in_markdown(program: Program) -> None:
    texts = [*MARKUP, *(text for _, text in HOSTILE_TEXT if text.strip())]
    records = [
        record(number, os=text, versions=[f"1.{number}"]) for number, text in enumerate(texts)
    ]
    page = write_page(program.home / "pages.md", records)
    words = ("find", "--markdown", "-n0", "-f", str(page), "--columns", "version,os")
    _, _, *cells = (each for each in GITHUB.parse(program(*words).stdout) if each.type == "inline")
    shown = {}
    for version, cell in zip(cells[::2], cells[1::2], strict=True):
        parts = cell.children or []
        assert {part.type for part in parts} <= {"text", "code_inline"}, cell.content
        for part in parts:
            # What GitHub makes links of once the Markdown is read.
            is_plain = not re.search(r"[@#:$]|\bgh-|www\.", part.content, re.IGNORECASE)
            assert part.type == "code_inline" or is_plain, cell.content
        shown[version.content] = "".join(part.content for part in parts)
    for number, text in enumerate(texts):
        written = cut_name(clean(text.encode("utf-8", "replace").decode()), 200)
        assert shown[f"1.{number}"].split() == written.split()


def test_json_gives_back_what_the_page_holds(answers: Answers) -> None:
    by_hash = {spec["hash"]: spec for spec in json.loads(answers("find", "--json").stdout)}
    for number, (_, text) in enumerate(HOSTILE_TEXT, 1):
        stored, spec = text.encode("utf-8", "replace").decode(), by_hash[hash_of(number * 100)]
        for name in ("package", "compiler", "platform", "os", "target", "tag"):
            assert spec[name] == stored, name
        assert spec["version"] == stored.removeprefix("=")
        assert (spec["variants"][0], spec["stacks"]) == (stored, [stored])


@pytest.mark.parametrize(
    "word", [text for _, text in HOSTILE_TEXT if text and "\0" not in text and len(text) < 999]
)
def test_what_the_user_types_is_cleaned_too(
    program: Program, word: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from spackscope.tui.cli.main import main

    page = write_page(program.home / "zlib.md", [record(1)])
    monkeypatch.setenv("XDG_CACHE_HOME", str(program.home))
    monkeypatch.setenv("SPACKSCOPE_FROM", str(page))
    for argv in (["find", "--", word], ["show", "--", word], ["find", "-f", f"x{word}"]):
        main(argv)
    out, err = capfd.readouterr()
    assert is_harmless(out)
    assert is_harmless(err)

"""The documents are true: tables are up to date, examples print what they show, links lead on."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from spackscope.model.core.columns import REGISTRY
from spackscope.tui.cli.arguments import parse_arguments
from spackscope.tui.cli.main import main
from spackscope.tui.process import ExitCode
from spackscope.tui.query_reference import LANGUAGE, Form
from spackscope.tui.settings import read_settings
from spackscope.tui.settings.checks import mistakes_of
from spackscope.tui.settings.table import SETTINGS, Setting
from tests.builders.sample import unpack_examples
from tests.documents import (
    HISTORY,
    PAGES,
    ROOT,
    Block,
    Example,
    anchors,
    blocks,
    command_lines,
    examples,
    inline_commands,
    links,
    make_docs,
    pattern_of,
    tables,
)
from tests.program import Program, environment

INTERNAL = {"SPACKSCOPE_PYZ"}
"""Variables that the program sets for itself."""

HOW_TO = [each for each in examples() if each.block.page.name == "how-to.md"]
FORMS = [form for forms in LANGUAGE.values() for form in forms]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with the files that the documents read."""
    home = tmp_path_factory.mktemp("home")
    unpack_examples(home)
    return home


def run(home: Path, command: str, preparation: list[str]) -> tuple[int, str]:
    """Run a command in a terminal; return its exit code, and what it prints in /home/ann."""
    path = os.pathsep.join((str(Path(sys.executable).parent), environment(home)["PATH"]))
    # Progress would be drawn on a terminal.
    with (
        (home / "messages").open("w+") as messages,
        Program(home).in_terminal(
            "\n".join([*preparation, command]),
            columns=100,
            command=("/usr/bin/env", "bash", "-c"),
            changes={
                "PATH": path,
                "NO_COLOR": "1",
                "SPACKSCOPE_FROM": "",
                # What runs there comes first.
                "SPACKSCOPE_HOST": "target=zen3 glibc=2.36",
            },
            streams={"stderr": messages},
        ) as terminal,
    ):
        code = terminal.wait()
        messages.seek(0)
        text = terminal.text.replace("\r\n", "\n") + messages.read()
    lines = text.replace(str(home), "/home/ann").splitlines()
    return code, "".join(f"{line.rstrip()}\n" for line in lines)


@pytest.mark.parametrize(
    "example",
    [
        # Each page is tried, the long one by every fourth of its examples.
        pytest.param(each, id=str(each.block), marks=pytest.mark.exhaustive if at % 4 else ())
        for each in examples()
        for at in [HOW_TO.index(each) if each in HOW_TO else 0]
    ],
)
def test_an_example_prints_what_the_page_shows(
    home: Path, tmp_path: Path, example: Example
) -> None:
    # A fresh clone has nothing but the sample.
    home = tmp_path if example.block.page == ROOT / "README.md" else home
    preparation = [*example.preparation]
    for command in example.commands:
        code, printed = run(home, command.typed, preparation)
        assert code in (0, 1, 2), f"{command.typed}: {code}\n{printed}"
        matches = re.fullmatch(pattern_of(command.printed), printed)
        assert matches, f"{command.typed}\nprints:\n{printed}"
        preparation += [command.typed] if command.prepares else []


@pytest.mark.parametrize("block", blocks("sh"), ids=str)
def test_what_is_only_typed_is_understood(block: Block) -> None:
    if block.page == HISTORY:
        return
    subprocess.run(["bash", "-n", "-c", block.text], check=True)
    for words in command_lines(block.text):
        parse_arguments(words)


@pytest.mark.parametrize("page", [page for page in PAGES if page != HISTORY], ids=name_of)
def test_the_commands_in_a_sentence_are_understood(page: Path) -> None:
    for text in inline_commands(page):
        for words in command_lines(text):
            # A command alone is a name.
            if len(words) > 1:
                parse_arguments(words)


@pytest.mark.parametrize("block", blocks("toml"), ids=str)
def test_a_configuration_is_right(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(block.text, encoding="utf-8")
    settings = read_settings({"SPACKSCOPE_CONFIG": str(path)})
    assert not mistakes_of(settings)
    assert settings.origins


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_the_example_of_a_setting_is_right(setting: Setting, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"{setting.name} = {setting.example}\n", encoding="utf-8")
    assert not mistakes_of(read_settings({"SPACKSCOPE_CONFIG": str(path)}))


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_yaml_is_a_mapping(block: Block) -> None:
    assert isinstance(yaml.safe_load(block.text), dict)


def test_code_of_the_shell_is_in_a_block_that_is_checked() -> None:
    for block in blocks("", "bash", "shell", "text"):
        assert not re.search(r"^(\$ )?spackscope ", block.text, re.MULTILINE), block


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if "://" in link:
            assert link.startswith("https://"), link
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_rows_of_a_table_have_as_many_cells_as_its_head(page: Path) -> None:
    for table in tables(page):
        assert len({len(row) for row in table}) == 1, table


def test_each_of_the_questions_has_a_line_that_answers_it() -> None:
    text = (ROOT / "docs" / "how-to.md").read_text("utf-8")
    questions = re.split(r"^## (\d+) ", text, flags=re.MULTILINE)[1:]

    assert [int(number) for number in questions[::2]] == [*range(1, len(questions) // 2 + 1)]
    for section in questions[1::2]:
        assert section.partition("\n")[0].endswith("?")
        assert re.search(r"^\$ spackscope |`spackscope \w", section, re.MULTILINE)


def test_every_page_of_the_documentation_can_be_reached() -> None:
    reached, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        paths = [link.partition("#")[0] for link in links(page) if "://" not in link]
        left += [(page.parent / path).resolve() for path in paths if path]
    assert set((ROOT / "docs").rglob("*.md")) <= reached


@pytest.mark.parametrize("form", [form for form in FORMS if form.example], ids=lambda f: f.example)
def test_an_example_of_the_language_finds_something(
    form: Form, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPACKSCOPE_FROM", raising=False)
    assert main(["find", "--hashes", "--", form.example]) == 0
    assert capfd.readouterr().out


def test_the_questions_of_the_how_to_are_counted() -> None:
    for page in make_docs.COUNTED:
        text = page.read_text("utf-8")
        assert make_docs.with_count(text) == text, "run docs/make_docs.py"
        assert re.search(r"\d questions", text)


@pytest.mark.parametrize("name", make_docs.TABLES)
def test_a_table_of_the_documents_is_up_to_date(name: str) -> None:
    page, build = make_docs.TABLES[name]
    text = page.read_text("utf-8")

    assert make_docs.with_table(text, name, build()) == text, "run docs/make_docs.py"


def test_the_files_functions_and_tables_that_documents_name_exist() -> None:
    names: list[tuple[str, str]] = []
    for page in PAGES:
        text = " ".join(page.read_text("utf-8").split()) if page != HISTORY else ""
        for path in re.findall(r"`((?:model|tui|tests|docs|packaging|\.github)/[\w./-]*)", text):
            assert (ROOT / path).exists() or (ROOT / f"{path}.py").exists(), path
        names += re.findall(r"`(\w+)` (?:of|in) `([\w/]+\.py)`", text)
        names += [(name, path) for path, name in re.findall(r"`([\w/]+\.py): ([\w.]+)`", text)]
    assert len(names) > 50
    folders = [ROOT / name for name in (".", "model", "tui", "model/readers", "model/report")]
    for name, path in names:
        (module,) = [folder / path for folder in folders if (folder / path).is_file()]
        for part in name.split("."):
            # What begins a line with words only defines one of them.
            defined = re.search(rf"^[\w ,]*\b{part}\b", module.read_text("utf-8"), re.MULTILINE)
            assert defined, f"{name} of {path}"


def test_every_variable_of_the_environment_is_documented() -> None:
    page = (ROOT / "docs/reference/configuration.md").read_text("utf-8")
    documented = {*re.findall(r"`(SPACKSCOPE_[A-Z_]+)`", page)}
    sources = [
        path.read_text("utf-8")
        for folder in ("model", "tui", "packaging")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".sh")
    ]
    used = {name for text in sources for name in re.findall(r"\bSPACKSCOPE_[A-Z_]+\b", text)}

    assert used - INTERNAL <= documented
    assert documented <= used


def test_each_exit_code_is_explained() -> None:
    page = (ROOT / "docs/reference/output.md").read_text("utf-8")
    _, table = page.split("| exit code | meaning |")
    assert {str(code.value) for code in ExitCode} <= {
        *re.findall(r"^\| (\w+) \|", table, re.MULTILINE)
    }


def test_the_language_has_every_key_and_word_that_is_completed() -> None:
    words = {word for form in FORMS for word in re.findall(r"\w+", form.written)}
    assert {column.name for column in REGISTRY if "key" in column.completes} <= words
    assert {word for column in REGISTRY for word in column.words} <= words


def test_the_pictures_are_small_and_load_nothing() -> None:
    named = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in links(page)
        if link.endswith(".svg")
    }
    assert len(named) == 4
    assert named == set((ROOT / "docs").glob("*.svg"))
    pictures = [path.read_text("utf-8") for path in named]
    assert sum(map(len, pictures)) < 400_000
    for picture in pictures:
        assert not re.search(r"href|url\(|@import|<script", picture)
        ElementTree.fromstring(picture)

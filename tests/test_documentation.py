"""The documents are true: their tables are up to date, and their examples run."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from spackscope.tui.cli.main import main
from spackscope.tui.query_reference import LANGUAGE, Form

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "query-language.md"

spec = importlib.util.spec_from_file_location("make_docs", ROOT / "docs" / "make_docs.py")
assert spec is not None
assert spec.loader is not None
make_docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_docs)

FORMS = [form for forms in LANGUAGE.values() for form in forms]


def sessions(page: Path) -> list[tuple[str, str]]:
    """Return each command of the console examples with its output."""
    examples = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        for part in block.split("$ ")[1:]:
            command, _, printed = part.partition("\n")
            examples.append((command, printed))
    return examples


@pytest.mark.parametrize(("command", "printed"), sessions(PAGE))
def test_an_example_prints_what_the_page_says(tmp_path: Path, command: str, printed: str) -> None:
    environ = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path),
    }
    environ.pop("SPACKSCOPE_FROM", None)
    result = subprocess.run(
        ["bash", "-c", command],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout + result.stderr == printed


@pytest.mark.parametrize("form", [form for form in FORMS if form.example], ids=lambda f: f.example)
def test_an_example_of_the_language_finds_something(
    form: Form, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPACKSCOPE_FROM", raising=False)
    assert main(["find", "--hashes", "--", form.example]) == 0
    assert capfd.readouterr().out


@pytest.mark.parametrize("name", make_docs.TABLES)
def test_a_table_of_the_documents_is_up_to_date(name: str) -> None:
    page, build = make_docs.TABLES[name]
    text = page.read_text("utf-8")

    assert make_docs.with_table(text, name, build()) == text, "run docs/make_docs.py"


def test_the_page_on_the_architecture_names_what_exists() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = re.findall(r"`([a-z_/]+\.py): ([\w.]+)`", text)

    assert len(named) > 20
    for path, name in named:
        (module,) = [
            part / path for part in (ROOT / "model", ROOT / "tui") if (part / path).exists()
        ]
        source = module.read_text("utf-8")
        for part in name.split("."):
            assert re.search(rf"\b(def|class) {part}\b", source), f"{path} has no {part}"


def test_the_forms_fit_the_help() -> None:
    for form in FORMS:
        assert len(form.written) <= 33
        assert form.sentence.endswith(".")


def test_the_help_on_queries_lists_every_form(capfd: pytest.CaptureFixture[str]) -> None:
    page = PAGE.read_text("utf-8")
    assert main(["help", "query"]) == 0
    text = capfd.readouterr().out
    for form in FORMS:
        assert f"  {form.written} " in text
        assert f"`{form.written}`".replace("|", "\\|") in page


def test_the_pictures_are_small_and_load_nothing() -> None:
    named = re.findall(r"!\[[^\]]+\]\((docs/[\w.]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert len(named) == 4
    assert {ROOT / name for name in named} == set((ROOT / "docs").glob("*.svg"))
    pictures = [(ROOT / name).read_text("utf-8") for name in named]
    assert sum(map(len, pictures)) < 400_000
    for picture in pictures:
        assert not re.search(r"href|url\(|@import|<script", picture)
        ElementTree.fromstring(picture)

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.program import Program, environment

HEAVY = ("textual", "rich", "yaml", "archspec", "wcwidth", "asyncio", "email")
OF_A_HOST = (["show", "pfqg2xi"],)
"""What says whether specs run on the host, whose target only archspec knows."""

NOT_TO_OPEN = (
    *("argparse", "dataclasses", "difflib", "importlib.metadata", "importlib.resources"),
    *("inspect", "pathlib", "shutil", "tempfile", "urllib.parse", "socket", "email"),
    *("spackscope.model.index.build", "sqlite3"),
    "spackscope.model.report.paste",
)
NOT_OURS_TO_OPEN = (
    "spackscope.model.readers.",
    "spackscope.model.storage.http",
    "spackscope.model.sources.mirror",
    *("tomllib", "spackscope.tui.settings.config_file", "spackscope.tui.settings.table"),
)
ALL_MODULES = """
import sys
from importlib.util import find_spec
# Some Pythons import them to find an editable install.
sys.modules.pop("pathlib", None), sys.modules.pop("urllib.parse", None)
before = {*sys.modules}
from spackscope.tui.cli.main import main
main(sys.argv[1:])
print(*{*sys.modules} - before, sep="\\n", file=sys.stderr)
"""
PROGRAM = """
import sys
from importlib.util import find_spec
from spackscope.tui.cli.main import main
code = main(sys.argv[1:])
print(int(code), *[name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    [
        ["find", "--hashes", "py-build", "+mpi", "!os=sequoia"],
        ["find", "--csv", "py-build"],
        ["find", "--json", "py-build"],
        ["show", "pfqg2xi"],
        ["needs", "pfqg2xi"],
        ["doubles", "--json"],
        ["cover", "sample_data"],
        ["index"],
        ["stats", "--by", "target", "--by", "virtualenv"],
        ["diff", "pfqg2xi", "pfqg2xi"],
        ["sources", "--verify"],
        ["extension"],
        ["config", "--check"],
        ["man", "query"],
        ["--help"],
        ["find", "--nope"],
    ],
    ids=" ".join,
)
def test_a_line_command_loads_nothing_that_draws(program: Program, words: list[str]) -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(heavy=HEAVY), *words],
        env=environment(program.home),
        capture_output=True,
        encoding="utf-8",
    )
    loaded = " archspec" if words in OF_A_HOST else ""
    assert result.stderr.splitlines()[-1] in [f"{code}{loaded}" for code in (0, 1, 2)]


@pytest.mark.parametrize("words", [["find", "py-build"], ["sources"], ["index"]], ids=" ".join)
def test_an_index_that_is_current_is_opened_without_what_builds_it(
    program: Program, words: list[str]
) -> None:
    program("find", "py-build")
    result = subprocess.run(
        [sys.executable, "-c", ALL_MODULES, *words],
        env=environment(program.home),
        capture_output=True,
        encoding="utf-8",
    )
    modules = set(result.stderr.split())
    assert not modules.intersection(NOT_TO_OPEN)
    assert not [name for name in modules if name.startswith(NOT_OURS_TO_OPEN)]


@pytest.mark.parametrize("call", ["", "sys.argv[1:] = ['--version']; main.main();"])
def test_only_main_is_imported_before_the_program_runs_and_for_its_version(call: str) -> None:
    code = (
        f"import sys; before = {{*sys.modules}}; from spackscope.tui.cli import main; {call}"
        "print(*{name for name in {*sys.modules} - before if name.startswith('spackscope.')})"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert set(result.stdout.splitlines()[-1].split()) == {
        "spackscope.tui",
        "spackscope.tui.cli",
        "spackscope.tui.cli.main",
    }


def test_the_browser_imports_what_its_first_screen_needs() -> None:
    code = (
        "import sys, spackscope.tui.app;"
        "print(*[name for name in sys.modules if name.startswith('spackscope.')])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    loaded = set(result.stdout.split())
    dialogs = {name for name in loaded if name.startswith("spackscope.tui.dialogs.")}
    assert dialogs == {"spackscope.tui.dialogs.base"}
    later = (
        *("analysis.compare", "analysis.kinds", "analysis.nearest", "analysis.varying"),
        *("assist.completion", "assist.advice", "sources.discover"),
        *("index.build", "index.facets", "index.listing", "index.tree"),
        *("report.detail", "report.export", "report.kinds", "report.paste"),
    )
    assert all(find_spec(f"spackscope.model.{name}") for name in later)
    assert not {name for name in later if f"spackscope.model.{name}" in loaded}
    of_rows = ("browser.read_results", "browser.read_details", "widgets.detail_layout")
    assert not {name for name in of_rows if f"spackscope.tui.{name}" in loaded}
    handed_out = ("browser.copy", "browser.export")
    copying = (*handed_out, "clipboard", "copy_forms")
    assert not {name for name in copying if f"spackscope.tui.{name}" in loaded}


def test_a_configuration_file_is_read_without_what_only_the_browser_needs(
    program: Program,
) -> None:
    path = program.home / "config" / "spackscope" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text('theme = "nord"\nfold = false\n[views]\nmine = "+mpi"\n[keys]\nquit = "Q"')
    program("find", "py-build")
    result = subprocess.run(
        [sys.executable, "-c", ALL_MODULES, "find", "py-build"],
        env=environment(program.home),
        capture_output=True,
        encoding="utf-8",
    )
    modules = set(result.stderr.split())
    assert "spackscope.tui.settings.config_file" in modules
    assert not modules.intersection((*HEAVY, *NOT_TO_OPEN))
    settings = {name for name in modules if name.startswith("spackscope.tui.settings.")}
    assert settings <= {f"spackscope.tui.settings.{name}" for name in ("config_file", "table")}


def test_an_index_of_pages_is_built_without_the_readers_of_nodes(program: Program) -> None:
    code = (
        "import sys; from spackscope.tui.cli.main import main;"
        "main(['index', '--rebuild', '-f', 'sample_data']);"
        "print(*[name for name in sys.modules if name.startswith('spackscope.model.readers.')])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(program.home),
        capture_output=True,
        encoding="utf-8",
    )
    loaded = {name.rpartition(".")[2] for name in result.stdout.splitlines()[-1].split()}
    assert {"formats", "pages"} <= loaded
    assert not loaded & {"nodes", "openpgp"}

import sys
from importlib.util import find_spec

import pytest
from _pytest.mark import ParameterSet

from tests.builders.pages import SAMPLE_PAGES
from tests.program import Program

HEAVY = ("textual", "rich", "yaml", "archspec", "wcwidth", "asyncio", "email")
OF_A_HOST = ("spackscope.model.core.rules", "spackscope.model.index.run_sets")
NOT_TO_OPEN = (
    *("argparse", "dataclasses", "difflib", "importlib.metadata", "importlib.resources"),
    *("inspect", "pathlib", "shutil", "tempfile", "urllib.parse", "socket", "email"),
    *("spackscope.model.index.build", "sqlite3"),
    *("spackscope.model.report.paste", *OF_A_HOST),
)
NOT_OURS_TO_OPEN = (
    "spackscope.model.readers.",
    "spackscope.model.storage.http",
    "spackscope.model.sources.mirror",
    *("tomllib", "spackscope.tui.settings.config_file"),
)
ALL_MODULES = """
import sys
from importlib.util import find_spec
# Some Pythons import them to find an editable install; pathlib is a package from 3.13 on.
for name in [*sys.modules]:
    if name in ("pathlib", "urllib.parse") or name.startswith("pathlib."):
        del sys.modules[name]
before = {*sys.modules}
from spackscope.tui.cli.main import main
code = main(sys.argv[1:])
print("\\n" + " ".join({*sys.modules} - before), file=sys.stderr)
sys.exit(code)
"""
BROWSER = """
import sys, spackscope.tui.app
print(*sys.modules, file=sys.stderr)
"""
ONLY_MAIN = """
import sys; before = {*sys.modules}
from spackscope.tui.cli import main
sys.argv[1:] == [] or main.main()
print(*{*sys.modules} - before, file=sys.stderr)
"""


def loaded_by(program: Program, *words: str, code: str = ALL_MODULES) -> set[str]:
    """Return the modules that are imported for a command, by a new process."""
    result = program.run(sys.executable, "-c", code, *words)
    assert result.returncode in (0, 1, 2)
    return {*result.stderr.splitlines()[-1].split()}


def exhaustive(*words: str) -> ParameterSet:
    return pytest.param(words, marks=pytest.mark.exhaustive)


@pytest.mark.parametrize(
    "words",
    [
        ("find", "--json", "py-build", "+mpi", "!os=sequoia"),
        ("show", "pfqg2xi"),
        ("cover", "sample"),
        ("stats", "--by", "target", "--by", "virtualenv"),
        ("config", "--check"),
        ("--help",),
        exhaustive("find", "--csv", "py-build"),
        exhaustive("needs", "pfqg2xi"),
        exhaustive("duplicates", "--json"),
        exhaustive("index"),
        exhaustive("diff", "pfqg2xi", "pfqg2xi"),
        exhaustive("sources"),
        exhaustive("extension"),
        exhaustive("find", "--nope"),
    ],
    ids=" ".join,
)
def test_a_line_command_loads_nothing_that_draws(program: Program, words: tuple[str, ...]) -> None:
    # What runs here comes first.
    needs_host = words[0] in ("show", "duplicates") or words[:2] == ("find", "--csv")
    of_a_host = {"archspec"} if needs_host else set()
    assert loaded_by(program, *words) & {*HEAVY} == of_a_host


@pytest.mark.parametrize(
    "words", [("find", "py-build"), exhaustive("sources"), exhaustive("index")], ids=" ".join
)
def test_an_index_that_is_current_is_opened_without_what_builds_it(
    program: Program, words: tuple[str, ...]
) -> None:
    program("find", "py-build")
    modules = loaded_by(program, *words)
    needed = {
        "find": {"pathlib", "urllib.parse", *OF_A_HOST},
        # The problems of the configuration are those of its rules, too.
        "sources": {"spackscope.model.core.rules"},
    }
    assert modules.intersection(NOT_TO_OPEN) <= needed.get(words[0], set())
    assert not [name for name in modules if name.startswith(NOT_OURS_TO_OPEN)]
    answers = {name for name in modules if name.startswith("spackscope.model.answers.")}
    assert answers <= {f"spackscope.model.answers.{words[0]}"}


@pytest.mark.parametrize("word", ["--host=zen3", "-fsample"])
def test_an_option_with_its_value_before_the_command_loads_no_answer(
    program: Program, word: str
) -> None:
    modules = loaded_by(program, word, "config")
    assert not [name for name in modules if name.startswith("spackscope.model.answers.")]


@pytest.mark.parametrize("words", [(), ("--version",)])
def test_only_main_is_imported_before_the_program_runs_and_for_its_version(
    program: Program, words: tuple[str, ...]
) -> None:
    loaded = loaded_by(program, *words, code=ONLY_MAIN)
    main = {"spackscope.tui", "spackscope.tui.cli", "spackscope.tui.cli.main"}
    assert {name for name in loaded if name.startswith("spackscope.")} == main


def test_the_browser_imports_what_its_first_screen_needs(program: Program) -> None:
    loaded = loaded_by(program, code=BROWSER)
    of_model = (*("analysis.cover", "analysis.nearest", "index.build", "sources.discover"),)
    of_tui = ("browser.read_details", "browser.copy", "browser.export", "browser.open_source")
    later = {f"spackscope.model.{name}" for name in of_model}
    later |= {f"spackscope.tui.{name}" for name in of_tui}
    assert all(map(find_spec, later))
    assert not later & loaded


def test_copying_pays_for_no_screen(program: Program) -> None:
    code = BROWSER.replace("tui.app", "tui.clipboard")
    assert not loaded_by(program, code=code) & {*HEAVY}


def test_a_configuration_file_is_read_without_what_only_the_browser_needs(
    program: Program,
) -> None:
    program.configure('theme = "nord"\nfold = false\n[keys]\nquit = "Q"')
    program("stats", "os")
    modules = loaded_by(program, "stats", "os")
    assert "spackscope.tui.settings.config_file" in modules
    assert not modules.intersection((*HEAVY, *NOT_TO_OPEN))
    settings = {name for name in modules if name.startswith("spackscope.tui.settings.")}
    assert settings <= {f"spackscope.tui.settings.{name}" for name in ("config_file", "table")}


def test_an_index_of_pages_is_built_without_the_readers_of_nodes(program: Program) -> None:
    loaded = loaded_by(program, "index", "--rebuild", "-f", str(SAMPLE_PAGES))
    assert "spackscope.model.readers.pages" in loaded
    assert "spackscope.model.readers.nodes" not in loaded

"""The completion scripts are those that the tables make."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess

import pytest

from spackscope.tui.cli.completion.shells import SHELLS, script
from tests.documents import ROOT
from tests.program import Program


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_up_to_date(shell: str) -> None:
    pytest.importorskip("shtab")
    spec = importlib.util.spec_from_file_location("made", ROOT / "docs" / "make_completions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    assert script(shell) == module.script(shell), "run docs/make_docs.py"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_printed_and_the_shell_can_read_it(shell: str, program: Program) -> None:
    result = program("completion", shell)

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == script(shell)
    if (path := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    check = subprocess.run(
        [path, "-n"], input=result.stdout, capture_output=True, encoding="utf-8"
    )
    assert (check.returncode, check.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_names_no_folder_of_this_machine(shell: str) -> None:
    assert str(ROOT) not in script(shell)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "completion needs one shell, bash, zsh or fish; see `spackscope completion --help`"),
        (["fsh"], "completion needs one shell, bash, zsh or fish: fsh. Did you mean"),
        (["bash", "zsh"], "completion needs one shell, bash, zsh or fish: bash zsh"),
    ],
)
def test_another_shell_is_refused(program: Program, words: list[str], sentence: str) -> None:
    result = program("completion", *words)

    assert result.returncode == 2
    assert result.stderr.startswith(f"spackscope: {sentence}")

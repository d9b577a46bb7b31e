"""`spackscope extension`, with a Spack whose own Python has no spackscope."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from spackscope.tui.process import ExitCode
from tests.program import Program, environment, write_script
from tests.spack_start import make_spack


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "spack"
    make_spack(root)
    return root


@pytest.fixture
def copy(program: Program) -> Path:
    """Return where the extension is copied to."""
    return program.home / ".local" / "share" / "spackscope" / "spack-scope"


def run(root: Path, line: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell that has the Spack on its path."""
    path = f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return Program(root.parent).run("sh", "-c", line, variables={"PATH": path, **changes})


def lines_of(program: Program, **changes: str) -> tuple[str, str]:
    """Return the lines that add the extension and remove it."""
    result = program("extension", stdin=None, **changes, code=0)
    added, removed = result.stdout.splitlines()
    return added, removed


def read_config(program: Program) -> object:
    return yaml.safe_load((program.home / ".spack" / "config.yaml").read_text())["config"]


def test_the_first_line_adds_the_copy_and_the_second_removes_it(
    program: Program, root: Path, copy: Path
) -> None:
    result = program("extension", says=f"the extension is in {copy}; ")
    assert "no command of Spack starts once such a directory is gone" in result.stderr
    added, removed = lines_of(program)
    assert result.stdout == f"{added}\n{removed}\n"

    assert run(root, added).returncode == 0
    assert read_config(program) == {"extensions": [str(copy)]}
    assert "  scope  " in run(root, "spack help").stdout
    assert run(root, removed).returncode == 0
    assert read_config(program) == {"extensions": []}
    assert "  scope  " not in run(root, "spack help").stdout


def test_a_spack_that_a_missing_copy_stops_is_mended(
    program: Program, root: Path, copy: Path
) -> None:
    added, removed = lines_of(program)
    assert run(root, added).returncode == 0
    shutil.rmtree(copy)
    assert run(root, "spack commands").returncode == 3
    assert lines_of(program) == (added, removed)
    assert run(root, "spack commands").returncode == 0
    shutil.rmtree(copy)
    assert run(root, removed).returncode == 0
    assert run(root, "spack commands").returncode == 0


def test_the_copy_starts_the_program_that_wrote_it_last(program: Program, root: Path) -> None:
    for name in ("first", "second file"):
        pyz = write_script(program.home / f"{name}.pyz", f'#!/bin/sh\necho {name} "$@"\n')
        added, _ = lines_of(program, SPACKSCOPE_PYZ=str(pyz))
        run(root, added)
        assert run(root, "spack scope find +mpi").stdout == f"{name} find +mpi\n"


def test_spack_starts_without_the_program_that_wrote_the_copy(
    program: Program, root: Path
) -> None:
    command = f"{sys.executable} -c 'import sys; sys.argv[0] = sys.argv.pop(1)\n"
    command += "from spackscope.tui.cli.main import main; sys.exit(main())'"
    text = f'#!/bin/sh\nexec {command} "$0" "$@"\n'
    script = write_script(program.home / "venv" / "bin" / "spackscope", text)
    environ = environment(program.home, PATH="/usr/bin:/bin")
    printed = subprocess.check_output([str(script), "extension"], env=environ, text=True)
    run(root, printed.splitlines()[0])
    assert run(root, "spack scope --version").stdout.startswith("spackscope ")

    script.unlink()
    path = f"{root / 'bin'}:/usr/bin:/bin"
    assert run(root, "spack commands", PATH=path).returncode == 0
    result = run(root, "spack scope find", PATH=path)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert "the program spackscope is not found" in result.stderr


def test_the_copy_is_among_the_data_of_the_user(program: Program, root: Path) -> None:
    data = program.home / "my data"
    added, _ = lines_of(program, XDG_DATA_HOME=str(data))
    assert run(root, added).returncode == 0
    assert read_config(program) == {"extensions": [f"{data}/spackscope/spack-scope"]}
    assert (data / "spackscope" / "spack-scope" / "scope" / "cmd" / "scope.py").is_file()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("file", "{data}/spackscope/spack-scope cannot be written: Not a directory"),
        (
            "a#b",
            "the path {data}/spackscope/spack-scope has characters that Spack does not take; "
            "set XDG_DATA_HOME to another directory",
        ),
    ],
)
def test_a_copy_that_cannot_be_written_is_named(program: Program, name: str, reason: str) -> None:
    data = program.home / name
    (program.home / "file").touch()
    result = program("extension", XDG_DATA_HOME=str(data), code=ExitCode.UNREADABLE, stdout="")
    assert result.stderr == f"spackscope: {reason.format(data=data)}\n"

from __future__ import annotations

from pathlib import Path

from spackscope.tui.process import ExitCode
from tests.program import Program


def test_the_files_are_written_into_a_new_directory(program: Program, tmp_path: Path) -> None:
    directory = tmp_path / "some" / "where"
    result = program("examples", str(directory))

    assert (result.returncode, result.stderr) == (ExitCode.FOUND, "")
    assert result.stdout == f"{directory}: index.json, mirror, new, old, pruned, recipes, tree\n"
    for source in ("index.json", "mirror", "tree", "new/spack.lock", "old/mirror"):
        assert program("sources", "-f", str(directory / source)).returncode == ExitCode.FOUND


def test_nothing_is_written_where_files_are(program: Program, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    result = program("examples", str(tmp_path))

    assert (result.returncode, result.stdout) == (ExitCode.USAGE, "")
    assert result.stderr == f"spackscope: {tmp_path} is not empty; name a new directory\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_directory_that_cannot_be_made_is_named(program: Program, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = program("examples", str(tmp_path / "file" / "new"))

    assert result.returncode == ExitCode.UNREADABLE
    assert result.stderr == f"spackscope: {tmp_path}/file/new cannot be written: Not a directory\n"

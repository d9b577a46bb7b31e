"""`make release-check` names what a version lacks, in small repositories of git."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.documents import ROOT

RECIPE = "packaging/spack/spack_repo/spackscope/packages/py_spackscope/package.py"
FILES = {
    "tui/__init__.py": 'VERSION = "0.10.0"\nRELEASED = "2026-12-01"\n',
    "CHANGELOG.md": "## Unreleased\n\n## 0.10.0 - 2026-12-01\n\n- All.\n\n## 0.9.0\n",
    "CITATION.cff": "version: 0.10.0\ndate-released: 2026-12-01\n",
    RECIPE: 'version("0.10.0", tag="v0.10.0")\nversion("0.9.0", tag="v0.9.0")\n',
    "README.md": "Get spackscope 0.10.0.\n",
}


def git(home: Path, *words: str) -> None:
    identity = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
    subprocess.run(["git", *identity, *words], cwd=home, check=True, capture_output=True)


def commit(home: Path) -> None:
    git(home, "add", ".")
    git(home, "commit", "-qm", "Change", "--allow-empty")


def checked(home: Path) -> tuple[int, list[str]]:
    """Run the check; return its exit code and its lines."""
    command = [sys.executable, str(ROOT / "packaging" / "release_check.py")]
    result = subprocess.run(command, cwd=home, capture_output=True, text=True)
    assert result.stderr == ""
    return result.returncode, result.stdout.splitlines()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository whose tag can be pushed."""
    git(tmp_path, "init", "-q")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    commit(tmp_path)
    for tag in ("v0.9.0", "v0.10.0", "vintage"):
        git(tmp_path, "tag", tag)
    return tmp_path


def test_nothing_is_missing_where_all_names_the_version_of_the_tag(clone: Path) -> None:
    assert checked(clone) == (0, ["Nothing is missing: push the tag to release it."])


@pytest.mark.parametrize(
    ("name", "old", "new", "lines"),
    [
        (
            "CHANGELOG.md",
            "Unreleased\n",
            "Unreleased\n\n- More.\n",
            ['CHANGELOG.md has entries under "Unreleased" (1), which belong to a version'],
        ),
        ("CHANGELOG.md", " - 2026-12-01", "", ["CHANGELOG.md has no date for 0.10.0"]),
        ("CHANGELOG.md", "- All.", "", ["CHANGELOG.md has no entry for 0.10.0"]),
        (
            "CHANGELOG.md",
            "2026-12-01",
            "2026-12-02",
            [
                "CHANGELOG.md has the date 2026-12-02 for 0.10.0, "
                "and tui/__init__.py has 2026-12-01"
            ],
        ),
        (
            "CITATION.cff",
            "0.10.0\ndate-released: 2026-12-01",
            "0.9.0",
            [
                "CITATION.cff names 0.9.0, not 0.10.0",
                "CITATION.cff names no version, not 2026-12-01",
            ],
        ),
        (RECIPE, "v0.10", "v0.1", [f"{RECIPE} names 0.9.0, not 0.10.0"]),
        ("README.md", "0.10", "0.9", ["README.md names 0.9.0, not 0.10.0"]),
        (
            "tui/__init__.py",
            "0.10.0",
            "0.9.1",
            [
                'CHANGELOG.md has no section "## 0.9.1 - 2026-12-01" before all others',
                "CITATION.cff names 0.10.0, not 0.9.1",
                f"{RECIPE} names 0.10.0 and 0.9.0, not 0.9.1",
                "README.md names 0.10.0, not 0.9.1",
                "tui/__init__.py has the version 0.9.1, and there is a tag v0.10.0",
            ],
        ),
    ],
)
def test_each_file_that_differs_is_named(
    clone: Path, name: str, old: str, new: str, lines: list[str]
) -> None:
    text = (clone / name).read_text()
    assert old in text
    (clone / name).write_text(text.replace(old, new, 1))
    commit(clone)
    git(clone, "tag", "--force", "v0.10.0")
    assert checked(clone) == (1, lines)


def untag(clone: Path) -> None:
    git(clone, "tag", "--delete", "v0.10.0")


def tag_another_version(clone: Path) -> None:
    untag(clone)
    (clone / "tui/__init__.py").write_text('VERSION = "0.9.0"\n')
    commit(clone)
    git(clone, "tag", "v0.10.0")
    git(clone, "revert", "--no-edit", "HEAD")


def leave_a_file(clone: Path) -> None:
    (clone / "note").touch()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (untag, "there is no tag v0.10.0"),
        (tag_another_version, "the tag v0.10.0 is on a commit of version 0.9.0"),
        (
            commit,
            "tui/__init__.py still has the version 0.10.0 of the tag v0.10.0, an earlier commit",
        ),
        (leave_a_file, "not committed: note"),
    ],
)
def test_the_tag_has_to_be_on_a_commit_of_its_version_with_nothing_after_it(
    clone: Path, change: Callable[[Path], None], line: str
) -> None:
    change(clone)
    assert checked(clone) == (1, [line])

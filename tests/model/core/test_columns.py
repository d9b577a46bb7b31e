"""A column is one entry of the registry, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import spackscope.model as model
from spackscope.model.core.columns import BY_NAME, COLUMNS, EXPORTED, FIELDS, REGISTRY
from tests.program import PATIENCE

ROOT = Path(__file__).parents[3]
END_OF_REGISTRY = ")\n# fmt: on\n"
ADDED = """\
    Column("digest", label="digests", attribute="package_hash", aliases=("recipe",)),
    Column("series", storage="version", derive=lambda s: ".".join(s.version.split(".")[:2])),
"""


def copy_with_added_columns(directory: Path) -> None:
    """Copy the program by links, but for the registry, which gets two more columns."""
    (program,) = model.__path__
    part, core = Path(program), directory / "spackscope" / "model" / "core"
    core.mkdir(parents=True)
    for other in ("tui", "sample_data"):
        (directory / "spackscope" / other).symlink_to(part.parent / other)
    for path in part.iterdir():
        if path.name not in ("core", "__pycache__"):
            (directory / "spackscope" / "model" / path.name).symlink_to(path)
    for path in (part / "core").glob("*.py"):
        (core / path.name).symlink_to(path)
    registry = core / "columns.py"
    text = registry.read_text(encoding="utf-8")
    registry.unlink()
    assert text.count(END_OF_REGISTRY) == 1
    registry.write_text(text.replace(END_OF_REGISTRY, ADDED + END_OF_REGISTRY), encoding="utf-8")


def test_an_added_entry_is_in_table_filter_detail_find_export_and_completion(
    tmp_path: Path,
) -> None:
    copy_with_added_columns(tmp_path)

    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/added_column.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )

    assert result.returncode == 0, result.stdout
    assert " passed" in result.stdout


def test_names_keys_and_orders_are_unambiguous() -> None:
    keys = [key for column in REGISTRY for key in column.keys]

    assert len(set(keys)) == len(keys)
    assert len({column.json_key for column in EXPORTED}) == len(EXPORTED)
    assert set(BY_NAME) == {column.name for column in COLUMNS} <= set(FIELDS)

"""A directory is visited once, however many links lead to it and when the first of them comes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from spackscope.model.core.tasks import never
from spackscope.model.sources import directory
from spackscope.model.sources.directory import LeftOut, Walk


def walked(top: Path) -> list[str]:
    def paths() -> Iterator[str]:
        walk = Walk(str(top), top.stat(), (), lambda directory, names: True, never)
        for found in walk.found():
            yield from [found.path] if isinstance(found, LeftOut) else found.paths

    return [os.path.relpath(path, top) for path in paths()]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("b/1", "b/2", "c/1", "d/deep/1"):
        path = tmp_path / "top" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "top"


def test_a_link_to_what_was_visited_leads_nowhere(tree: Path) -> None:
    (tree / "c" / "back").symlink_to("../b")

    assert walked(tree) == ["b/1", "b/2", "c/1", "d/deep/1"]


def test_what_a_link_has_led_to_is_not_visited_again(tree: Path) -> None:
    (tree / "b" / "before").symlink_to("../d/deep")

    assert walked(tree) == ["b/1", "b/2", "b/before/1", "c/1"]


def test_a_link_among_directories_comes_in_its_order(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x").touch()
    (tree / "bb").symlink_to(tmp_path / "other")

    assert walked(tree) == ["b/1", "b/2", "bb/x", "c/1", "d/deep/1"]


def test_where_mounts_are_not_told_each_directory_is_asked(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "c" / "back").symlink_to("../b")
    for table in (str(tree / "none"), os.devnull, str(tree / "mounts")):
        monkeypatch.setattr(directory, "MOUNTS", table)
        (tree.parent / "mounts").write_text(f"1 2 3:4 / {tree}/b\\040x rw\n")

        assert walked(tree) == ["b/1", "b/2", "c/1", "d/deep/1"]


def test_no_status_of_a_plain_directory_is_asked_for(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(100):
        (tree / "many" / str(number)).mkdir(parents=True)
        (tree / "many" / str(number) / "specs.md").touch()
    asked: list[os.stat_result] = []
    monkeypatch.setattr(directory.Visited, "add", lambda self, status: asked.append(status))

    assert len(walked(tree)) == 104
    assert not asked

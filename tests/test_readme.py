"""The examples of the README print what it says, on a terminal of 100 columns.

A line `…` stands for any lines. The examples read an index of Spack and a lock file made of it.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.readers.node_hash import content_hash
from tests.builders import SPACK_DATA, whole_index
from tests.program import Program, environment

README = Path(__file__).parents[1] / "README.md"
NEWER = {("zlib-ng", "2.3.2"): "2.3.3", ("libiconv", "1.17"): "1.18"}
SECTION = "## Which of these hashes?\n"


def examples() -> list[tuple[str, list[str]]]:
    """Return the commands of the section, each with the lines that it prints."""
    section = README.read_text("utf-8").partition(SECTION)[2].partition("\n## ")[0]
    found = []
    for block in re.findall(r"```console\n(.*?)```", section, re.DOTALL):
        for part in block.split("$ ")[1:]:
            command, _, printed = part.partition("\n")
            found.append((command, printed.splitlines()))
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with what the examples read."""
    home = tmp_path_factory.mktemp("home")
    (home / "index.json").write_bytes(whole_index("spack1"))
    lock = json.loads(lzma.decompress((SPACK_DATA / "analysis" / "made.lock.xz").read_bytes()))
    for path, document in {"": lock, "old": lock, "new": later(lock)}.items():
        (home / path).mkdir(exist_ok=True)
        (home / path / "spack.lock").write_text(json.dumps(document))
    return home


def later(lock: dict[str, Any]) -> dict[str, Any]:
    """Return a lock file as if concretized again: with newer versions, and without a root."""
    nodes = lock["concrete_specs"]
    below = {hash_: [edge["hash"] for edge in edges_of(node)] for hash_, node in nodes.items()}
    new: dict[str, Any] = {}
    for hash_ in TopologicalSorter(below).static_order():
        node = dict(nodes[hash_])
        node["version"] = NEWER.get((node["name"], node["version"]), node["version"])
        if edges := edges_of(node):
            node["dependencies"] = [e | {"hash": new[e["hash"]]["hash"]} for e in edges]
        is_changed = node | {"hash": ""} != nodes[hash_] | {"hash": ""}
        new[hash_] = node | ({"hash": content_hash(node)} if is_changed else {})
    gone = next(root for root in lock["roots"] if root["spec"].startswith("glm"))
    kept = [root for root in lock["roots"] if root != gone]
    return lock | {
        "roots": [root | {"hash": new[root["hash"]]["hash"]} for root in kept],
        "concrete_specs": {
            node["hash"]: node for hash_, node in new.items() if hash_ != gone["hash"]
        },
    }


def edges_of(node: dict[str, Any]) -> list[dict[str, Any]]:
    edges: list[dict[str, Any]] = node.get("dependencies", [])
    return edges


def test_there_are_examples() -> None:
    assert len(examples()) >= 5


@pytest.mark.parametrize(
    ("command", "expected"), examples(), ids=[command for command, _ in examples()]
)
def test_an_example_of_the_readme_prints_what_it_says(
    home: Path, command: str, expected: list[str]
) -> None:
    path = os.pathsep.join((str(Path(sys.executable).parent), environment(home)["PATH"]))
    changes = {"PATH": path, "SPACKSCOPE_FROM": "index.json", "NO_COLOR": "1"}
    # Progress would be drawn on stderr.
    with (
        (home / "messages").open("w") as messages,
        Program(home).in_terminal(
            command,
            columns=100,
            command=("/bin/sh", "-c"),
            changes=changes,
            streams={"stderr": messages},
        ) as terminal,
    ):
        code = terminal.wait()
    printed = [line.rstrip() for line in terminal.text.replace("\r\n", "\n").splitlines()]
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line) + r"\n" for line in expected
    )
    assert code in (0, 1)
    assert re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)), "\n".join(printed)

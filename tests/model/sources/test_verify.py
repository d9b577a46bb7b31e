"""Sources are verified document by document; a hash counts once."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.tasks import cancelled_when, progress_to
from spackscope.model.sources.discover import discover
from spackscope.model.sources.session import Session
from spackscope.model.sources.verify import VerifiedSource, verify
from tests.builders import SPEC_FILES, node, record, write_page

SESSION = Session({})


def verified(source: Path) -> VerifiedSource:
    (discovered,) = discover([str(source)], SESSION)
    return verify(discovered)


def test_a_hash_of_several_documents_counts_once(tmp_path: Path) -> None:
    folder = tmp_path / "build_cache"
    folder.mkdir()
    for path in SPEC_FILES[:4]:
        shutil.copy(path, folder)
    nodes = [json.loads(path.read_bytes())["spec"]["nodes"] for path in SPEC_FILES[:4]]
    hashes = {node["hash"] for listed in nodes for node in listed}

    mirror = verified(tmp_path)
    assert (mirror.whole, mirror.wrong_count) == (hashes, 0)

    common = set.intersection(
        *({node["hash"] for node in listed if "external" not in node} for listed in nodes)
    )
    changed = common.pop()
    for path in folder.iterdir():
        text = path.read_text()
        document = json.loads(text)
        for listed in document["spec"]["nodes"]:
            if listed["hash"] == changed:
                listed["version"] = "0"
        path.write_text(json.dumps(document))

    mirror = verified(tmp_path)
    ((wrong, document_name),) = mirror.wrong.items()
    assert (wrong.hash, wrong.version, mirror.wrong_count) == (changed, "0", 1)
    assert document_name in map(str, folder.iterdir())
    assert mirror.whole == hashes - {changed}


def test_what_cannot_be_read_is_a_problem_and_the_failure_if_that_is_all(tmp_path: Path) -> None:
    write_page(tmp_path / "zlib" / "specs.md", [record(1), record(2)])
    (tmp_path / "zlib" / "README.md").write_text("hello")
    pages = verified(tmp_path)
    assert (pages.whole, pages.wrong, pages.failure) == (set(), {}, "")
    assert [len(hashes) for hashes in pages.unchecked.values()] == [2]

    folder = tmp_path / "build_cache"
    folder.mkdir()
    shutil.copy(SPEC_FILES[0], folder)
    (folder / "cut.spec.json").write_bytes(SPEC_FILES[1].read_bytes()[:100])
    mirror = verified(tmp_path)
    assert mirror.whole
    assert ["cut.spec.json" in problem.origin for problem in mirror.problems] == [True]
    assert mirror.failure == ""

    file = tmp_path / "index.json"
    file.write_text('{"database": {"version": "8", "installs": {}}}')
    assert verified(file) == VerifiedSource(str(file), "file")
    file.write_text("{}")
    assert verified(file).failure.startswith(f"the source {file} cannot be read: {file}: it is")
    (tmp_path / "empty").mkdir()
    assert verified(tmp_path / "empty").failure
    assert "does not exist" in verified(tmp_path / "gone").failure


def test_progress_is_reported_and_verifying_can_be_stopped(tmp_path: Path) -> None:
    file = tmp_path / "spec.json"
    file.write_text(json.dumps([node()]))
    reported: list[str] = []
    with progress_to(lambda what, *_: reported.append(what)):
        verified(file)
    assert reported == ["files read"]

    (discovered,) = discover([os.fspath(file)], SESSION)
    with pytest.raises(Cancelled), cancelled_when(lambda: True):
        verify(discovered)

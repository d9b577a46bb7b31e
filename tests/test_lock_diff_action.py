"""The action for pull requests comments how a lock file differs, once, and edits the comment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from tests.builders import environment, hash_of, leaf
from tests.documents import ROOT, blocks
from tests.program import environment as environ_of

pytestmark = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")

ACTION = ROOT / ".github" / "actions" / "lock-diff" / "action.yml"
STEPS = yaml.safe_load(ACTION.read_text("utf-8"))["runs"]["steps"]

GH = f"""#!{sys.executable}
import json, pathlib, subprocess, sys
words, store = sys.argv[1:], pathlib.Path("comments.json")
comments = json.loads(store.read_text())
(url,) = [word for word in words if word.startswith("repos/")]
if "--jq" in words:
    expression = words[words.index("--jq") + 1]
    subprocess.run(["jq", "-r", expression], input=json.dumps(comments), text=True, check=True)
    sys.exit()
body = pathlib.Path(words[words.index("--field") + 1].removeprefix("body=@")).read_text()
if "PATCH" in words:
    (edited,) = [each for each in comments if url.endswith(f"/issues/comments/{{each['id']}}")]
    edited["body"] = body
else:
    assert url == "repos/ann/site/issues/7/comments", url
    user = {{"type": "Bot"}}
    comments.append({{"id": len(comments), "body": body, "user": user}})
store.write_text(json.dumps(comments))
"""
"""The program of GitHub, with the comments of a pull request in a file."""


class Repository:
    """A git repository with a lock file, in which the steps of the action run."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.temp = directory, directory / "temp"
        (self.temp / "spackscope" / "bin").mkdir(parents=True)
        program = self.temp / "spackscope" / "bin" / "spackscope"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m spackscope "$@"\n')
        (directory / "gh").write_text(GH)
        for path in (program, directory / "gh"):
            path.chmod(0o755)
        (directory / "comments.json").write_text(
            json.dumps([{"id": 0, "body": "Looks good", "user": {"type": "User"}}])
        )
        self.git("init", "--quiet")

    def git(self, *words: str) -> None:
        identity = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
        subprocess.run(["git", *identity, *words], cwd=self.directory, check=True)

    def commit(self, lock: bytes) -> None:
        (self.directory / "spack.lock").write_bytes(lock)
        self.git("add", "spack.lock")
        self.git("commit", "--quiet", "--allow-empty", "--message", "lock")

    def run(self, *, code: int = 0, limit: int = 100) -> str:
        """Run all steps after the installation as GitHub does; return the summary of the job."""
        summary, output = self.directory / "summary", self.directory / "output"
        summary.write_text("")
        output.write_text("")
        environ = environ_of(self.directory) | {
            "BASE": "HEAD^1",
            "GITHUB_OUTPUT": str(output),
            "GITHUB_REPOSITORY": "ann/site",
            "GITHUB_STEP_SUMMARY": str(summary),
            "LIMIT": str(limit),
            "LOCK": "spack.lock",
            "NUMBER": "7",
            "RUNNER_TEMP": str(self.temp),
        }
        environ["PATH"] = f"{self.directory}{os.pathsep}{environ['PATH']}"
        for step in STEPS[1:]:
            shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            ended = subprocess.run(
                shell, cwd=self.directory, env=environ, capture_output=True, text=True
            )
            self.messages = ended.stdout + ended.stderr
            assert ended.returncode == code, self.messages
            if code:
                break
            environ["CODE"] = output.read_text().strip().removeprefix("code=")
        return summary.read_text()

    @property
    def comments(self) -> list[str]:
        """The comments of the action."""
        first, *others = json.loads((self.directory / "comments.json").read_text())
        assert first["body"] == "Looks good"
        return [each["body"] for each in others]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def lock(*packages: str) -> bytes:
    """Return a lock file with packages, each as `name@version`."""
    return environment(
        [leaf(hash_of(sum(map(ord, package))), *package.rsplit("@", 1)) for package in packages]
    )


def test_a_difference_is_commented_once_and_then_edited(repository: Repository) -> None:
    repository.commit(lock("zlib@1.2"))
    repository.commit(lock("zlib@1.2"))
    assert "**1 spec unchanged**" in repository.run()
    assert not repository.comments

    repository.commit(lock("zlib@1.3"))
    summary = repository.run()
    (comment,) = repository.comments
    assert comment == summary
    assert comment.startswith(
        "<!-- spackscope lock-diff: spack.lock -->\n`spack.lock`: **1 → 1 spec"
    )
    assert "| zlib 1.2 → 1.3 |" in comment

    repository.commit(lock("zlib@1.4"))
    repository.run()
    (comment,) = repository.comments
    assert "| zlib 1.3 → 1.4 |" in comment

    # A later push that takes the change back is said in the comment, too.
    repository.commit(lock("zlib@1.4"))
    repository.run()
    (comment,) = repository.comments
    assert "**1 spec unchanged**" in comment


def test_a_new_and_a_removed_lock_file_are_said(repository: Repository) -> None:
    repository.git("commit", "--quiet", "--allow-empty", "--message", "no lock")
    repository.commit(lock("zlib@1.2"))
    assert "`spack.lock`: a new lock file\n" in repository.run()
    (repository.directory / "spack.lock").unlink()
    repository.git("commit", "--quiet", "--all", "--message", "no lock")
    assert "`spack.lock`: the lock file is removed\n" in repository.run()
    assert len(repository.comments) == 1


def test_names_in_a_lock_file_are_not_markup(repository: Repository) -> None:
    repository.commit(lock("zlib@1.2"))
    names = ("@ann", "#12", "a|b", "<img src=x>", "`", "[x](y)", "\n- x")
    repository.commit(lock(*(f"{name}@1.2" for name in names)))
    repository.run()
    (comment,) = repository.comments
    tokens = MarkdownIt("gfm-like", {"html": True}).parse(comment.partition("\n")[2])
    parts = [part for token in tokens for part in token.children or ()]
    assert {part.type for part in parts} <= {"text", "code_inline", "strong_open", "strong_close"}
    assert not any(set("@#|<[") & set(part.content) for part in parts if part.type == "text")
    assert any("@ann" in part.content for part in parts)


def test_what_stops_the_comparison_fails_the_step(repository: Repository) -> None:
    repository.commit(lock("zlib@1.2"))
    repository.run(code=2)
    assert "::error::there is no commit HEAD^1" in repository.messages
    repository.commit(b"{")
    repository.run(code=3)
    # The runner takes no line between the two for a command.
    first, *messages, last = repository.messages.splitlines()
    assert first == f"::stop-commands::{last.strip(':')}"
    assert any("spack.lock" in line for line in messages)
    assert not repository.comments


def test_what_is_too_long_for_a_comment_is_only_in_the_summary(repository: Repository) -> None:
    repository.commit(lock("zlib@1.2"))
    repository.commit(lock(*(f"{'x' * number}@1" for number in range(1, 500))))
    assert len(repository.run(limit=0)) > 65_536
    (comment,) = repository.comments
    assert comment.startswith("<!-- spackscope lock-diff: spack.lock -->\nThe summary of the job")


def test_the_action_and_its_workflow_ask_for_no_more_than_they_need() -> None:
    for step in STEPS:
        assert step["shell"] == "bash"
        # An input in a script could be run; in a variable it is a text.
        assert "${{" not in step["run"]
        # A module in the work tree of the pull request could be run, too.
        assert "python3 -m" not in step["run"]
        subprocess.run(["bash", "-n", "-c", step["run"]], check=True)
    assert (ACTION.parent / ".." / ".." / ".." / "pyproject.toml").resolve().exists()
    assert "head.repo.full_name == github.repository" in STEPS[-1]["if"]
    (workflow,) = [
        yaml.safe_load(block.text)
        for block in blocks("yaml")
        if "lock-diff" in block.text and block.page.name == "how-to.md"
    ]
    # YAML takes `on` for a boolean.
    assert [*workflow[True]] == ["pull_request"]
    assert workflow["permissions"] == {}
    assert workflow["jobs"]["lock-diff"]["permissions"] == {
        "contents": "read",
        "pull-requests": "write",
    }
    checkout, action = workflow["jobs"]["lock-diff"]["steps"]
    assert checkout["with"] == {"fetch-depth": 2, "persist-credentials": False}
    assert action["uses"].partition("@")[0].endswith("/.github/actions/lock-diff")

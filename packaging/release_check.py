"""Print what is missing before the version in tui/__init__.py can be released, a line each.

    make release-check

Nothing is changed. The exit code is 1 if something is missing.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

VERSIONS = "tui/__init__.py"
CHANGELOG = "CHANGELOG.md"
RECIPE = "packaging/spack/spack_repo/spackscope/packages/py_spackscope/package.py"
NEEDED = {
    "CITATION.cff": (r"^version: *(\S+)$", r"^date-released: *(\S+)$"),
    RECIPE: (r'version\("([\d.]+)", tag="v\1"\)',),
}
"""How files write the version, or its date, that they have to name."""

EXAMPLES = (
    *("README.md", "packaging/spack/README.md", ".github/ISSUE_TEMPLATE/*.yml"),
    *("docs/**/*.md", "tui/cli/man_pages/*"),
)
"""Files that may name a version."""

EXAMPLE = re.compile(r"\bspackscope[-@ ]v?(\d+\.\d+\.\d+)\b")
TAG = re.compile(r"v\d+\.\d+\.\d+")


def missing(root: Path) -> Iterator[str]:
    """Yield a sentence for each thing that is missing in a clone. Raises CalledProcessError."""
    text = (root / VERSIONS).read_text("utf-8")
    version, released = _assigned(text, "VERSION"), _assigned(text, "RELEASED")
    yield from _of_changelog((root / CHANGELOG).read_text("utf-8"), version, released)
    for name, patterns in NEEDED.items():
        text = (root / name).read_text("utf-8")
        for pattern in patterns:
            named = re.findall(pattern, text, re.MULTILINE)
            wanted = released if "date" in pattern else version
            if wanted not in named:
                yield f"{name} names {' and '.join(named) or 'no version'}, not {wanted}"
    for path in sorted(path for pattern in EXAMPLES for path in root.glob(pattern)):
        for other in sorted({*EXAMPLE.findall(path.read_text("utf-8"))} - {version}):
            yield f"{path.relative_to(root)} names {other}, not {version}"
    changed = [line[3:] for line in _git(root, "status", "--porcelain").splitlines()]
    if changed:
        yield f"not committed: {', '.join(changed)}"
    yield from _of_tags(root, version)


def _of_changelog(text: str, version: str, released: str) -> Iterator[str]:
    _, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    entries = {
        head.strip(): len(re.findall(r"^- ", body, re.MULTILINE))
        for head, _, body in (section.partition("\n") for section in sections)
    }
    if count := entries.pop("Unreleased", 0):
        yield f'{CHANGELOG} has entries under "Unreleased" ({count}), which belong to a version'
    head = next(iter(entries), "")
    name, _, date = head.partition(" - ")
    if name != version:
        yield f'{CHANGELOG} has no section "## {version} - {released}" before all others'
    elif not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        yield f"{CHANGELOG} has no date for {version}"
    elif date != released:
        yield f"{CHANGELOG} has the date {date} for {version}, and {VERSIONS} has {released}"
    elif not entries[head]:
        yield f"{CHANGELOG} has no entry for {version}"


def _of_tags(root: Path, version: str) -> Iterator[str]:
    tag = f"v{version}"
    tags = [*filter(TAG.fullmatch, _git(root, "tag").split())]
    newest = max([tag, *tags], key=lambda each: [*map(int, each[1:].split("."))])
    if newest != tag:
        yield f"{VERSIONS} has the version {version}, and there is a tag {newest}"
    elif tag not in tags:
        yield f"there is no tag {tag}"
    elif (tagged := _assigned(_git(root, "show", f"{tag}:{VERSIONS}"), "VERSION")) != version:
        yield f"the tag {tag} is on a commit of version {tagged}"
    elif _git(root, "rev-list", f"{tag}..HEAD"):
        yield f"{VERSIONS} still has the version {version} of the tag {tag}, an earlier commit"


def _assigned(text: str, name: str) -> str:
    (value,) = re.findall(rf'^{name} = "(.*)"$', text, re.MULTILINE)
    return str(value)


def _git(root: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", root, *words], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


if __name__ == "__main__":
    lines = [*missing(Path.cwd())]
    print("\n".join(lines) or "Nothing is missing: push the tag to release it.")
    sys.exit(1 if lines else 0)

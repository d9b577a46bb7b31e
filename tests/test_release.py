"""The version is written in one place, and what repeats it for others says the same."""

import contextlib
import gzip
import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import types
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import pytest
import yaml

from spackscope.tui import VERSION
from tests.builders.pages import SAMPLE_PAGES
from tests.builders.sample import EXAMPLES, INDEX, LOCK, example_files, sample_index, sample_lock
from tests.documents import PYPROJECT, ROOT
from tests.program import write_script

PROJECT = PYPROJECT["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
RECIPES = ROOT / "packaging" / "spack" / "spack_repo" / "spackscope" / "packages"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def spack_range(specifiers: str) -> str:
    """Spell the versions that pyproject.toml allows as Spack does.

    >>> spack_range(">=14.2,<16")
    '@14.2:15'
    """
    lower = re.search(r">=([\d.]+)", specifiers)
    upper = re.search(r"<([\d.]+)", specifiers)
    last = ""
    if upper is not None:
        *leading, number = upper[1].split(".")
        last = ".".join((*leading, str(int(number) - 1)))
    return f"@{lower[1]}:{last}" if lower is not None else ""


class Directive(NamedTuple):
    """A directive that a recipe calls, such as `version`."""

    name: str
    text: str
    options: dict[str, Any]


def read_recipe(recipe: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[Directive]]:
    """Import a recipe as Spack does; return its class, and the directives it called."""
    called: list[Directive] = []
    package: Any = types.ModuleType("spack.package")
    for name in ("depends_on", "license", "variant", "version"):

        def note(*words: str, name: str = name, **options: Any) -> None:
            called.append(Directive(name, words[0], options))

        setattr(package, name, note)
    for name in ("default_args", "when"):
        setattr(package, name, lambda *_, **__: contextlib.nullcontext())
    monkeypatch.setitem(sys.modules, "spack", types.ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", package)
    base = {
        "build_systems.python": "PythonPackage",
        "packages.py_rich.package": "PyRich",
        "packages.py_textual.package": "PyTextual",
    }
    for name, class_name in base.items():
        path = f"spack_repo.builtin.{name}".split(".")
        for end in range(1, len(path) + 1):
            module = types.ModuleType(".".join(path[:end]))
            setattr(module, class_name, type(class_name, (), {}))
            monkeypatch.setitem(sys.modules, module.__name__, module)
    spec = importlib.util.spec_from_file_location(recipe, RECIPES / recipe / "package.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, recipe.replace("_", " ").title().replace(" ", "")), called


def test_the_citation_says_what_the_project_says() -> None:
    assert CITATION["abstract"] == f"{PROJECT['description']}."
    assert " OR ".join(CITATION["license"]) == PROJECT["license"]


def test_the_recipe_builds_the_clone_that_it_is_in(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, called = read_recipe("py_spackscope", monkeypatch)
    assert recipe.git == f"file://{ROOT.resolve()}"
    (version,) = (each for each in called if each.name == "version")
    assert version == ("version", "main", {"branch": "main"})


def test_the_recipe_needs_what_the_project_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    _, called = read_recipe("py_spackscope", monkeypatch)
    needed: dict[str, str] = {"python": spack_range(PROJECT["requires-python"])}
    extras = PROJECT["optional-dependencies"]
    for text in (*PROJECT["dependencies"], *extras["s3"], *extras["zstd"]):
        match = re.match(r"([\w-]+)(?:\[(\w+)\])?([^;]*)", text)
        assert match is not None
        needed[f"py-{match[1].lower()}"] = spack_range(match[3])
        if match[2] is not None:
            assert match[2] == "socks"
            needed[f"py-{match[1].lower()}"] += f"+{match[2]}"
    written = {}
    for directive in called:
        if directive.name == "depends_on":
            name, _, versions = directive.text.partition("@")
            written[name] = f"@{versions}" if versions else ""
    assert written.pop("py-setuptools") == "@77:"
    assert written == needed


@pytest.mark.parametrize("path", sorted(RECIPES.iterdir()), ids=lambda path: path.name)
def test_a_recipe_can_be_imported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, called = read_recipe(path.name, monkeypatch)
    assert any(each.name == "version" for each in called)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_do_nothing_but_what_a_job_asks_for(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    writes = {
        (name, permission)
        for name, job in workflow["jobs"].items()
        for permission, access in job["permissions"].items()
        if access == "write"
    }
    assert workflow["permissions"] == {}
    assert writes <= {("pypi", "id-token"), ("github", "contents")}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    for action in (step["uses"] for step in steps if "uses" in step):
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), f"{action} can be moved"
    # They check no hashes: .ci/tool does.
    assert not re.search(r"\b(pipx|uvx)\b", path.read_text("utf-8"))


def test_the_release_publishes_without_a_token_and_after_all_checks() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]

    assert "secrets." not in text
    assert (jobs["pypi"]["needs"], jobs["github"]["needs"]) == ("build", "pypi")
    commands = [step.get("run", "") for step in jobs["build"]["steps"]]
    for needed in (".ci/run", "twine", "pip-audit", "make_pyz.py --wheel"):
        assert any(needed in command for command in commands), needed


def run_step(name: str, directory: Path, **variables: str) -> int:
    """Run a step of the release as GitHub does; return its exit code."""
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))[
        "jobs"
    ]
    (script,) = [
        step["run"]
        for job in jobs.values()
        for step in job["steps"]
        if step.get("name", "").startswith(name)
    ]
    environ = {"PATH": f"{directory}{os.pathsep}{os.environ['PATH']}", **variables}
    return subprocess.run(["bash", "-e", "-c", script], cwd=directory, env=environ).returncode


@pytest.mark.parametrize(("tag", "fits"), [(f"v{VERSION}", True), ("v0.0.1", False)])
def test_a_tag_of_another_version_is_not_released(tag: str, fits: bool) -> None:
    assert (run_step("The tag names", ROOT, GITHUB_REF_NAME=tag) == 0) is fits


def release_with(directory: Path, changelog: str) -> int:
    """Run the step that releases, with a file to release and a `gh` that notes its words."""
    write_script(directory / "gh", '#!/bin/sh\nprintf "%s\\n" "$@" >words\n')
    (directory / "CHANGELOG.md").write_text(changelog)
    (directory / "files").mkdir()
    (directory / "files" / "spackscope.pyz").write_text("")
    return run_step("The section", directory, GITHUB_REF_NAME=f"v{VERSION}")


def test_the_release_has_its_section_of_the_changelog_and_checksums(tmp_path: Path) -> None:
    heads = ("Unreleased", f"{VERSION} - 2027-01-31", "0.0.1 - 2027-01-01")
    sections = (f"## {head}\n\n- What is in {head}.\n" for head in heads)

    assert release_with(tmp_path, "\n".join(sections)) == 0
    assert (tmp_path / "notes.md").read_text("utf-8").strip() == f"- What is in {heads[1]}."
    assert (tmp_path / "files" / "SHA256SUMS").read_text().endswith("  spackscope.pyz\n")
    words = (tmp_path / "words").read_text().splitlines()
    assert words[:3] == ["release", "create", f"v{VERSION}"]
    assert words[-2:] == ["files/SHA256SUMS", "files/spackscope.pyz"]


def test_a_version_without_a_section_in_the_changelog_is_not_released(tmp_path: Path) -> None:
    assert release_with(tmp_path, "## Unreleased\n\n- All.\n") != 0
    assert not (tmp_path / "words").exists()


def test_the_release_says_the_line_for_the_recipe(tmp_path: Path) -> None:
    archive = tmp_path / "dist" / f"spackscope-{VERSION}.tar.gz"
    archive.parent.mkdir()
    archive.write_bytes(b"sources")
    summary = tmp_path / "summary"
    variables = {"GITHUB_REF_NAME": f"v{VERSION}", "GITHUB_STEP_SUMMARY": str(summary)}

    assert run_step("The line for", tmp_path, **variables) == 0
    checksum = hashlib.sha256(b"sources").hexdigest()
    assert f'version("{VERSION}", sha256="{checksum}")' in summary.read_text()


def test_the_single_file_is_started_in_containers_as_in_every_check() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]
    scripts = [step.get("run", "") for step in jobs["pyz"]["steps"]]
    for script in ("\n".join(scripts), (ROOT / ".ci" / "run").read_text("utf-8")):
        assert ".ci/check_pyz " in script


SETTINGS = PYPROJECT["tool"]["setuptools"]
LISTED = SETTINGS["packages"][1:]


def test_the_program_is_a_module() -> None:
    command = [sys.executable, "-m", "spackscope", "--version"]
    assert subprocess.check_output(command, text=True) == f"spackscope {VERSION}\n"


def test_every_folder_with_python_in_it_is_listed_and_no_other() -> None:
    assert set(LISTED) == {
        ".".join(("spackscope", *module.parent.relative_to(ROOT).parts))
        for top in ("model", "sample_data", "tui")
        for module in (ROOT / top).rglob("*.py")
        # What is in spack-scope belongs to Spack's packages.
        if "spack-scope" not in module.parts
    }


@pytest.mark.parametrize("package", LISTED)
def test_every_listed_package_is_found_under_its_import_name(package: str) -> None:
    spec = importlib.util.find_spec(package)

    assert spec is not None
    assert spec.origin is not None, f"{package} has no __init__.py"
    folder = ROOT.joinpath(*package.split(".")[1:])
    assert Path(spec.origin).resolve() == folder / "__init__.py"


@pytest.mark.skipif(
    not (ROOT / "packaging" / "typings").exists(), reason="an sdist has no links to folders"
)
def test_editors_find_every_folder_under_its_import_name() -> None:
    folders = dict(SETTINGS["package-dir"])
    assert folders.pop("spackscope") == "packaging/start", "the start of `python -m`"
    links = {name: ROOT.joinpath("packaging", "typings", *name.split(".")) for name in folders}

    assert {name: link.resolve() for name, link in links.items()} == {
        name: ROOT / folder for name, folder in folders.items()
    }
    assert not any(link.readlink().is_absolute() for link in links.values())


def test_the_sample_pages_are_found_as_resources() -> None:
    develop = resources.files("spackscope.sample_data") / "cache" / "develop"
    pages = {package.name: (package / "specs.md").read_bytes() for package in develop.iterdir()}

    assert pages == {
        page.parent.name: page.read_bytes() for page in SAMPLE_PAGES.glob("*/specs.md")
    }
    assert pages


def test_the_sample_is_what_its_script_writes_and_small() -> None:
    assert json.loads(gzip.decompress(INDEX.read_bytes())) == sample_index()
    assert json.loads(LOCK.read_bytes()) == sample_lock()
    with ZipFile(EXAMPLES) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == example_files()
    packed = INDEX.read_bytes() + gzip.compress(LOCK.read_bytes()) + EXAMPLES.read_bytes()
    assert len(packed) < 560_000
    assert (resources.files("spackscope.sample_data") / "cache" / "index.json.gz").is_file()

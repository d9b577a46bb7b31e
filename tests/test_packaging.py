"""The packages installed are the folders, and have the sample."""

import gzip
import importlib.util
import json
import subprocess
import sys
from importlib import resources
from pathlib import Path
from zipfile import ZipFile

import pytest

from spackscope.tui import VERSION
from tests.builders.pages import SAMPLE_PAGES
from tests.builders.sample import EXAMPLES, INDEX, LOCK, example_files, sample_index, sample_lock
from tests.documents import PYPROJECT, ROOT

SETTINGS = PYPROJECT["tool"]["setuptools"]
LISTED = SETTINGS["packages"][1:]


def import_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("spackscope", *(part for part in parts if part != "__init__")))


def test_the_program_is_a_module() -> None:
    command = [sys.executable, "-m", "spackscope", "--version"]
    assert subprocess.check_output(command, text=True) == f"spackscope {VERSION}\n"


def test_every_folder_with_python_in_it_is_listed_and_no_other() -> None:
    assert set(LISTED) == {
        import_name(module.parent)
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

"""Write package repositories, with a recipe for each way in which one deprecates versions."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent, indent

HEAD = """\
import platform

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *
"""

BODIES = {
    # The versions of spack1 that recipes of 2026-07 deprecate.
    "expat": """
        version("2.8.0", sha256="a")
        with default_args(deprecated=True):
            for patch in (4, 2, 1, 0):
                version(f"2.7.{patch}", sha256="a")
        """,
    "openssh": """
        version("10.3p1", sha256="a")
        version(
            "10.2p1", "0123", deprecated=True
        )
        version("9.9p1", sha256="a", deprecated=False)
        """,
    "py_idna": """
        for old in _OLD:
            version(old, sha256="a", deprecated=True)
        """,
    "py_requests": """
        versions_of = {"2.33.0": {"sha256": "a"}, "2.32.5": {"sha256": "b", "old": True}}
        for ver, facts in versions_of.items():
            is_old = False
            if "old" in facts:
                is_old = facts["old"]
            version(ver, sha256=facts["sha256"], deprecated=is_old)
        """,
    "py_aiohttp": """
        for ver in ("3.13.5", "3.12.15", "3.9.0"):
            version(ver, sha256="a", deprecated=ver != "3.13.5")
        """,
    "py_tornado": """
        for v in ["6.5.5", "6.5.2"]:
            version(v, sha256="a", deprecated=(v < "6.5.3"))
        """,
    "python": """
        for minor, patch in [(14, 3), (13, 12), (13, 11), (12, 12), (11, 14), (10, 19)]:
            version("3.{0}.{1}".format(minor, patch), sha256="a", deprecated="true")
        version("3.14.5", sha256="a")
        # What comes last counts.
        version("3.14.4", sha256="a", deprecated=True)
        version("3.14.4", sha256="a")
        """,
    "cmake": """
        version("4.3.1", sha256="a")
        with default_args(sha256="a", deprecated=False):
            with default_args(deprecated=True):
                version("4.2.2")
                version("4.2.0")
                version("4.1.2")
                version("4.1.1", deprecated=True)
                version("4.2.3", deprecated=False)
        """,
    # They follow other recipes.
    "cmake_gui": "license('MIT')",
    "py_torch_nightly": """
        for v in PyTorch.versions:
            version(str(v), **PyTorch.versions[v])
        """,
    "py_torch_wheel": """
        for ver, args in PyTorch.versions.items():
            version(str(ver), **args)
        version("2.6.0", sha256="a")
        """,
    "py_torch": """
        key = f"{platform.system()}-{platform.machine()}"
        if key != "Plan 9":
            version("2.5.0", sha256="a", deprecated=key in (key, "none"))
        if platform.system().lower() == "plan9":
            version("2.5.1", sha256="a", deprecated=True)
        version("2.10.0", sha256="a")
        version(3, sha256="a", deprecated=True)
        """,
    "_7zip": 'version("1", sha256="a", deprecated=True)',
}
"""The statements of classes by the directories of their recipes."""

BEFORE = {
    "py_idna": '_OLD = ("3.10", "3.9")',
    "cmake_gui": "from spack_repo.{namespace}.packages.cmake.package import Cmake",
    "py_torch_nightly": "from ..py_torch.package import PyTorch",
    "py_torch_wheel": "from spack_repo.{namespace}.packages.py_torch.package import PyTorch",
}
BASES = {"cmake_gui": "Cmake"}


def class_name(directory: str) -> str:
    """Return the class of the recipe in a directory."""
    name = "".join(part.capitalize() for part in directory.replace("-", "_").split("_"))
    return f"_{name}" if name[0].isdigit() else name


def recipe(directory: str, body: str, *, before: str = "", base: str = "Package") -> str:
    """Return a recipe with these statements."""
    lines = indent(dedent(body).strip(), "    ")
    return f"{HEAD}{dedent(before)}\n\nclass {class_name(directory)}({base}):\n{lines}\n"


def recipes(namespace: str = "site") -> dict[str, str]:
    """Return all recipes of the second layout, by their directories."""
    return {
        name: recipe(
            name,
            body,
            before=BEFORE.get(name, "").replace("{namespace}", namespace),
            base=BASES.get(name, "Package"),
        )
        for name, body in BODIES.items()
    }


def write_repository(
    directory: Path, texts: Mapping[str, str], *, namespace: str = "site", api: str = "v2.0"
) -> Path:
    """Write a package repository of the layout of an API, v1 or v2."""
    described = f"repo:\n  namespace: {namespace}\n" + f"  api: {api}\n" * (api != "v1")
    (directory / "packages").mkdir(parents=True)
    (directory / "repo.yaml").write_text(described)
    for name, text in texts.items():
        folder = (
            directory / "packages" / (name.strip("_").replace("_", "-") if api == "v1" else name)
        )
        folder.mkdir()
        (folder / "package.py").write_text(text)
    return directory


def commit(directory: Path, bare: Path) -> Path:
    """Commit a directory, and return a bare git repository with the commit."""
    name = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost")
    for words in (
        ("init", "-q", str(directory)),
        ("-C", str(directory), "add", "."),
        ("-C", str(directory), *name, "commit", "-qm", "recipes"),
        ("clone", "-q", "--bare", str(directory), str(bare)),
    ):
        subprocess.run(["git", *words], check=True)
    return bare

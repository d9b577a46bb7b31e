"""Make a Spack with the configuration that a user may have."""

from __future__ import annotations

import shutil
from pathlib import Path
from textwrap import dedent

from tests.spack_documents import INSTALL_TREE


class SpackRoot:
    """A Spack of which everything is there but the program."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "spack"
        self.home = directory / "home"
        self.system = directory / "system"
        for folder in ("bin", "lib/spack/spack", "etc/spack/defaults"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "bin" / "spack").write_text("#!/bin/sh\n")
        (self.root / "bin" / "spack").chmod(0o755)
        (self.home / ".spack").mkdir(parents=True)
        self.environ = {
            "SPACK_ROOT": str(self.root),
            "HOME": str(self.home),
            "USER": "ada",
            "SPACK_SYSTEM_CONFIG_PATH": str(self.system),
        }

    def write(self, name: str, text: str) -> Path:
        """Write a file, by its path below the directory of all: spack, home or system."""
        path = self.root.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    def install(self, tree: str = "spack/opt/spack") -> str:
        """Give an install tree the database of a real one."""
        path = self.root.parent / tree
        (path / ".spack-db").mkdir(parents=True)
        shutil.copy(INSTALL_TREE, path / ".spack-db")
        return str(path)

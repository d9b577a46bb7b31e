"""Build documents as Spack writes them, and a Spack that reads its configuration."""

import json
import lzma
import shutil
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

from spackscope.model.sources.spack_config import SpackConfig, read_spack_config
from tests.builders.nodes import Node, zlib_nodes

SPACK_DATA = Path(__file__).parents[1] / "data" / "spack"
INDEX_OF_1_2 = next(SPACK_DATA.glob("mirror-v3/blobs/sha256/68/*"))
INDEX_OF_0_23 = SPACK_DATA / "mirror-v2" / "build_cache" / "index.json"
SIGNED = SPACK_DATA / "signed"
SITE_KEY = "1592E346D5AB64D28C81E06E3C68D8A127C007DD"
PROJECT_KEY = "4013F755DD4F8C9F92702341ECF17D0BB2372FBC"
PROJECT_SUBKEY = "928EB6E5CF80CF6FAA9AFE44D6DC6B6847720F86"
INSTALL_TREE = SPACK_DATA / "install-tree-1.2" / ".spack-db" / "index.json"
SPEC_FILES = sorted(SPACK_DATA.glob("mirror-v2/build_cache/*.spec.json"))


@cache
def whole_index(name: str) -> bytes:
    """Return one of the two large indexes that Spack wrote."""
    return lzma.decompress((SPACK_DATA / f"{name}.whole.json.xz").read_bytes())


def installs(*nodes: Node, **fields: Any) -> dict[str, Any]:
    """Build the `installs` of a database; without fields, the nodes are in a build cache."""
    fields = fields or {"in_buildcache": True}
    return {node["hash"]: {"spec": node, "ref_count": 1, **fields} for node in nodes}


def database(records: Mapping[str, Any], version: object = "8") -> bytes:
    """Format a database from its `installs`."""
    return json.dumps({"database": {"version": version, "installs": records}}).encode()


def write_index(path: Path, /, *nodes: Node, **fields: Any) -> Path:
    """Write the database of some nodes to a file, or as index.json of a directory."""
    path = path / "index.json" if path.is_dir() else path
    path.write_bytes(database(installs(*nodes, **fields)))
    return path


def write_tree(tree: Path, *nodes: Node, files: Mapping[str, Any] = {}) -> Path:
    """Write an install tree, in whose prefixes are the same files: what Spack lists of each."""
    records: dict[str, Any] = {}
    for each in nodes:
        prefix = tree / "linux-zen3" / f"{each['name']}-{each['version']}-{each['hash']}"
        (prefix / ".spack").mkdir(parents=True)
        entries = {".spack/spec.json": {"mode": 0o100644, "size": 10}, **files}
        manifest = {str(prefix): {"mode": 0o40755}}
        manifest |= {f"{prefix}/{path}": fields for path, fields in entries.items()}
        (prefix / ".spack" / "install_manifest.json").write_text(json.dumps(manifest))
        records |= installs(each, path=str(prefix), installed=True, explicit=True)
    (tree / ".spack-db").mkdir()
    (tree / ".spack-db" / "index.json").write_bytes(database(records))
    return tree


def environment(nodes: Iterable[Node], *roots: str, version: int = 6) -> bytes:
    """Format the lock file of an environment, with the hashes of its roots."""
    document = {
        "_meta": {"file-type": "spack-lockfile", "lockfile-version": version},
        "roots": [{"hash": root, "spec": "root"} for root in roots],
        "concrete_specs": {node["hash"]: node for node in nodes},
    }
    return json.dumps(document).encode()


def zlib_index(**fields: Any) -> bytes:
    """Format the index of a build cache of zlib, with the fields given, and its dependencies."""
    return database(installs(*zlib_nodes(**fields)))


def as_yaml(document: object) -> bytes:
    """Format a document as Spack writes YAML: without aliases."""
    return yaml.safe_dump(json.loads(json.dumps(document)), sort_keys=False).encode()


class SpackRoot:
    """A Spack installation without the program, with the configuration that a test writes."""

    def __init__(self, directory: Path, version: str = "") -> None:
        self.root = directory / "spack"
        self.home = directory / "home"
        self.system = directory / "system"
        for folder in ("bin", "lib/spack/spack", "etc/spack/defaults"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "bin" / "spack").write_text("#!/bin/sh\n")
        (self.root / "bin" / "spack").chmod(0o755)
        (self.home / ".spack").mkdir(parents=True)
        if version:
            self.write("spack/lib/spack/spack/__init__.py", f'__version__ = "{version}"\n')
        self.environ = {
            "SPACK_ROOT": str(self.root),
            "HOME": str(self.home),
            "USER": "ada",
            "SPACK_SYSTEM_CONFIG_PATH": str(self.system),
        }

    def write(self, name: str, text: str) -> Path:
        """Write a file; its name begins with one of the directories: spack, home or system."""
        path = self.root.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    def config(self, **environ: str) -> SpackConfig:
        """Read what is written, with more variables of the environment."""
        config = read_spack_config(self.environ | environ)
        assert config is not None
        return config

    def install(self, tree: str = "spack/opt/spack") -> str:
        """Create an install tree with the database of a real one, and return its path."""
        path = self.root.parent / tree
        (path / ".spack-db").mkdir(parents=True)
        shutil.copy(INSTALL_TREE, path / ".spack-db")
        return str(path)

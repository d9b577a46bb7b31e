"""Write what Spack writes, in each of its formats, and read it back."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.records import Problem, Spec
from spackscope.model.loader.load import load
from spackscope.model.readers.detect import read_document
from spackscope.model.sources.session import Session
from tests.builders import hash_of

DATA = Path(__file__).parents[0] / "data" / "spack"
INDEX_OF_1_2 = next(DATA.glob("mirror-v3/blobs/sha256/68/*"))
INDEX_OF_0_23 = DATA / "mirror-v2" / "build_cache" / "index.json"
INSTALL_TREE = DATA / "install-tree-1.2" / ".spack-db" / "index.json"
SPEC_FILES = sorted(DATA.glob("mirror-v2/build_cache/*.spec.json"))
FLAGS: dict[str, Any] = {
    name: [] for name in ("cflags", "cppflags", "cxxflags", "fflags", "ldflags", "ldlibs")
}
ZLIB, GCC, GLIBC, GMAKE = (hash_of(number) for number in (1, 2, 3, 4))

Node = dict[str, Any]


def whole_index(name: str) -> bytes:
    """Return one of Spack's two large indexes, without what no query looks at."""
    return lzma.decompress((DATA / f"{name}.whole.json.xz").read_bytes())


def whole_catalog(name: str, directory: Path) -> Catalog:
    """Index all records of a large index, those that are only dependencies among them."""
    path = directory / f"{name}.index.json"
    path.write_bytes(whole_index(name))
    return load([str(path)], Session({}, include_dependency_only=True))


def edge(name: str, hash_: str, deptypes: Iterable[str], virtuals: Iterable[str] = ()) -> Node:
    parameters = {"deptypes": list(deptypes), "virtuals": list(virtuals)}
    return {"name": name, "hash": hash_, "parameters": parameters}


def node(hash_: str = ZLIB, **fields: Any) -> Node:
    """Make a node as Spack 1 does; a field that is given as `...` is left out."""
    whole: Node = {
        "name": "zlib",
        "version": "1.3.1",
        "arch": {"platform": "linux", "platform_os": "ubuntu24.04", "target": "x86_64_v3"},
        "namespace": "builtin",
        "parameters": {"build_system": "generic", "shared": True, **FLAGS},
        "package_hash": "abc====",
        "dependencies": [
            edge("gcc", GCC, ["build"], ["c", "cxx"]),
            edge("glibc", GLIBC, ["link"], ["libc"]),
            edge("gmake", GMAKE, ["build"]),
        ],
        "annotations": {"original_specfile_version": 5},
        "hash": hash_,
    }
    whole |= fields
    return {key: value for key, value in whole.items() if value is not ...}


def leaf(hash_: str, name: str, version: str) -> Node:
    return node(hash_, name=name, version=version, dependencies=...)


def nodes(**fields: Any) -> list[Node]:
    """Make zlib, with the fields given, and the nodes of all that it depends on."""
    others = [leaf(GCC, "gcc", "13.2.0"), leaf(GLIBC, "glibc", "2.39"), leaf(GMAKE, "gmake", "4")]
    return [node(**fields), *others]


def in_format(number: int, new: Node) -> Node:
    """Write a node as an older specfile format does, with its compiler as a field."""
    old = {key: value for key, value in new.items() if key != "annotations"}
    if number == 5:
        return new
    old["compiler"] = {"name": "gcc", "version": "13.2.0"}
    edges = [dep for dep in new.get("dependencies", []) if dep["name"] != "gcc"]
    if number < 4:
        edges = [
            {"name": dep["name"], "hash": dep["hash"], "type": dep["parameters"]["deptypes"]}
            for dep in edges
        ]
    old["dependencies"] = edges
    if number == 1:
        old["dependencies"] = {
            dep["name"]: {"hash": dep["hash"], "type": dep["type"]} for dep in edges
        }
        return {old.pop("name"): old}
    return old


def installs(*given: Node, **record: Any) -> dict[str, Any]:
    record = record or {"in_buildcache": True}
    return {its["hash"]: {"spec": its, "ref_count": 1, **record} for its in given}


def database(records: Mapping[str, Any], version: object = "8") -> bytes:
    return json.dumps({"database": {"version": version, "installs": records}}).encode()


def index(**fields: Any) -> bytes:
    """Write the index of a build cache of zlib, with the fields given, and what it needs."""
    return database(installs(*nodes(**fields)))


def as_yaml(document: object) -> bytes:
    """Write a document as Spack writes YAML: without aliases."""
    return yaml.safe_dump(json.loads(json.dumps(document)), sort_keys=False).encode()


def split(items: Iterable[Spec | Problem]) -> tuple[list[Spec], list[Problem]]:
    specs: list[Spec] = []
    problems: list[Problem] = []
    for item in items:
        (problems if isinstance(item, Problem) else specs).append(item)  # type: ignore[arg-type]
    return specs, problems


def read(data: bytes) -> tuple[list[Spec], list[Problem]]:
    """Read a document into its records and its problems."""
    return split(read_document(data, origin="document"))


def zlib_of(data: bytes) -> tuple[Spec, list[str]]:
    """Give the first record of a document, and what is told of the document."""
    specs, problems = read(data)
    return specs[0], [str(problem) for problem in problems]


def texts_of(item: Spec | Problem) -> Iterator[str]:
    """Give all texts of a record or problem, however deep."""
    waiting: list[Any] = [item]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            waiting.extend(value)
        elif hasattr(value, "__slots__") and not isinstance(value, type):
            waiting.extend(getattr(value, name) for name in value.__slots__)

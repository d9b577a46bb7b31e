"""Build nodes as Spack writes them, in each of its formats."""

import base64
import hashlib
import json
from collections.abc import Iterable
from typing import Any

from tests.builders.pages import hash_of

FLAGS: dict[str, Any] = {
    name: [] for name in ("cflags", "cppflags", "cxxflags", "fflags", "ldflags", "ldlibs")
}
ZLIB, GCC, GLIBC, GMAKE = (hash_of(number) for number in (1, 2, 3, 4))
Node = dict[str, Any]


def edge(name: str, hash_: str, deptypes: Iterable[str], virtuals: Iterable[str] = ()) -> Node:
    """Build the edge from a node to a dependency."""
    parameters = {"deptypes": list(deptypes), "virtuals": list(virtuals)}
    return {"name": name, "hash": hash_, "parameters": parameters}


def node(hash_: str = ZLIB, **fields: Any) -> Node:
    """Build a node as Spack 1 does; a field given as `...` is left out."""
    fields = {
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
        **fields,
    }
    return {key: value for key, value in fields.items() if value is not ...}


def content_hash(node: Node) -> str:
    """Return the hash of the content of a node, as `Spec.spec_hash` of Spack's spec.py."""
    content = {key: value for key, value in node.items() if key != "hash"}
    text = json.dumps(content, separators=(",", ":"))
    return base64.b32encode(hashlib.sha1(text.encode()).digest()).decode().lower()


def leaf(hash_: str, name: str, version: str) -> Node:
    """Build a node without dependencies."""
    return node(hash_, name=name, version=version, dependencies=...)


def zlib_nodes(**fields: Any) -> list[Node]:
    """Build the node of zlib, with the fields given, and those of its dependencies."""
    others = [leaf(GCC, "gcc", "13.2.0"), leaf(GLIBC, "glibc", "2.39"), leaf(GMAKE, "gmake", "4")]
    return [node(**fields), *others]


def in_format(number: int, new: Node) -> Node:
    """Convert a node to a specfile format; before 5, the compiler is a field."""
    if number == 6:
        return in_format_6(new)
    if number == 5:
        return new
    old = {key: value for key, value in new.items() if key != "annotations"}
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


def in_format_6(new: Node, *provided: str, converted: bool = False) -> Node:
    """Write a node of format 5 as Spack 1.3 does: with the virtuals that it provides, if any.

    One that is `converted` keeps the format in which it was hashed, which is stated.
    """
    annotations = {"original_specfile_version": 5 if converted else 6}
    stated = {"provided_virtuals": list(provided)} if provided else {}
    newer: Node = {}
    for key, value in new.items():
        if key == "dependencies":
            newer |= stated
        newer[key] = {**value, **annotations} if key == "annotations" else value
    return newer | stated

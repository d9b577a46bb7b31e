"""Compute the DAG hash of a stored node, as Spack did when it concretized the spec.

`Spec.spec_hash` of lib/spack/spack/spec.py: the lower-case base 32 of the SHA-1 of the node as
JSON, without its hash, in the order of its keys. Spack 0.18 and 0.19 wrote that JSON with an
indentation of 2; before 0.18 it was YAML, and without the dependencies of type `build`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from spackscope.model.core.records import is_hash

Node = Mapping[str, Any]

_SPLICED = 7
"""The last characters of a spliced spec's hash, which are those of the spec it was built as."""


def content_hash(node: Node, hash_: str = "") -> str:
    """Return the hash that the content of a node gives, or "" where it cannot be written as JSON.

    Newer Spacks convert the nodes of older ones, but keep their hashes. Of the ways in which
    Spack may have written the node, the one that gives `hash_` counts, else the one of today.

        content_hash(node, node["hash"]) == node["hash"]
    """
    try:
        return _hash(node, hash_)
    except RecursionError:
        return ""


def _hash(node: Node, hash_: str) -> str:
    ending = _ending(node)
    first = ""
    for text in _texts({key: value for key, value in node.items() if key != "hash"}):
        sha1 = hashlib.sha1(text.encode("ascii"), usedforsecurity=False)
        digest = base64.b32encode(sha1.digest()).decode("ascii").lower()
        if ending:
            digest = digest[:-_SPLICED] + ending
        if digest == hash_:
            return digest
        first = first or digest
    return first


def _ending(node: Node) -> str:
    """Return the end of the hash that a spliced spec takes from the spec it was built as."""
    build_spec = node.get("build_spec")
    hash_ = build_spec.get("hash") if isinstance(build_spec, dict) else None
    return hash_[-_SPLICED:] if is_hash(hash_) else ""


def _texts(node: Node) -> Iterator[str]:
    """Yield the texts that Spack may have hashed for a node without its hash."""
    yield _compact(node)
    for older in _as_before(node):
        yield _compact(older)
        yield json.dumps(older, indent=2, separators=(",", ": "))


def _compact(node: Node) -> str:
    return json.dumps(node, separators=(",", ":"))


def _as_before(node: Node) -> Iterator[Node]:
    """Yield what a node was in format 4, and in format 3, if its format may have been older."""
    annotations = node.get("annotations")
    if annotations is not None:
        node = _with_compiler(node, annotations)
    if "compiler" not in node:
        return
    yield node
    edges = node.get("dependencies")
    if isinstance(edges, list) and all(map(_has_parameters, edges)):
        older = [
            {"name": edge["name"], "hash": edge["hash"], "type": edge["parameters"]["deptypes"]}
            for edge in edges
        ]
        yield {**node, "dependencies": older}


def _has_parameters(edge: object) -> bool:
    if not isinstance(edge, dict) or not {"name", "hash"} <= edge.keys():
        return False
    parameters = edge.get("parameters")
    return isinstance(parameters, dict) and "deptypes" in parameters


def _with_compiler(node: Node, annotations: object) -> Node:
    """Return a node of format 5 with the compiler after its architecture, as format 4 had it."""
    stated = annotations.get("compiler") if isinstance(annotations, dict) else None
    if not isinstance(stated, str):
        return node
    name, _, version = stated.partition("@")
    older: dict[str, Any] = {}
    for key, value in node.items():
        if key != "annotations":
            older[key] = value
        if key == "arch":
            older["compiler"] = {"name": name, "version": version.removeprefix("=")}
    return older

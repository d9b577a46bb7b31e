"""Read spec files: one spec with all its dependencies, as every build cache has them.

They are called `*.spec.json`, `*.spec.json.sig` if they are signed, and `spec.yaml` in caches
from before Spack 0.17; `Spec.to_dict` of lib/spack/spack/spec.py writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from spackscope.model.core.records import Problem, Spec
from spackscope.model.readers.json import mismatch, unknown_version
from spackscope.model.readers.spec_node import NodeReader, node_hash

FORMATS = ("2", "3", "4", "5")
"""The specfile formats that a file may state; format 1 is a list and states none."""

# The expression takes memory for each line.
_MAX_HEAD = 2**20
_YAML = re.compile(
    rb"(?:---[ \t]*\r?\n)?"
    rb"(?:(?:binary_cache_checksum|buildinfo|buildcache_layout_version|full_hash):[^\n]*\n"
    rb"(?:[ \t][^\n]*\n)*)*"
    rb"spec:[ \t]*\r?$",
    re.MULTILINE,
)


def is_spec_file(document: Any) -> bool:
    """Recognise a parsed spec file by its list of nodes."""
    spec = document.get("spec") if isinstance(document, dict) else None
    return isinstance(spec, list) or (isinstance(spec, dict) and "nodes" in spec)


def is_yaml_spec_file(data: bytes) -> bool:
    """Recognise a spec file in YAML: it begins with `spec:` or what a build cache adds to it."""
    return _YAML.match(data, 0, _MAX_HEAD) is not None


def read_spec_file(document: dict[str, Any], *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the spec of a parsed file, then its dependencies, then the problems.

    The dependencies are not `in_cache`. Format: `Spec.to_dict` of lib/spack/spack/spec.py.
    """
    spec = document["spec"]
    listed = spec if isinstance(spec, list) else spec["nodes"]
    if not isinstance(listed, list):
        yield Problem(origin, "", mismatch("nodes", listed, "a list"))
        return
    if not listed:
        yield Problem(origin, "", "nodes is empty")
    format_, reason = _format(spec)
    if reason:
        yield Problem(origin, "", reason)
    nodes = NodeReader(origin, format_)
    for number, node in enumerate(listed):
        nodes.add(node_hash(node), node, in_cache=number == 0)
    yield from nodes.finish()


def _format(spec: Any) -> tuple[int | None, str]:
    """Return the specfile format that a file states, and why it may be misread."""
    if isinstance(spec, list):
        return 1, ""
    meta = spec.get("_meta")
    version = meta.get("version") if isinstance(meta, dict) else None
    if isinstance(version, str) and version in FORMATS:
        return int(version), ""
    return None, unknown_version("version of the spec file", version, "2 to 5")

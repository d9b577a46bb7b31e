"""Read spec files: one spec with all its dependencies, as every build cache holds them.

They are called `*.spec.json`, `*.spec.json.sig` where they are signed, and `spec.yaml` in caches
from before Spack 0.17; `Spec.to_dict` of lib/spack/spack/spec.py writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from spackscope.model.core.errors import FrontMatterError
from spackscope.model.core.records import Problem, Spec
from spackscope.model.readers import front_matter
from spackscope.model.readers.json import kind, read_json, storable
from spackscope.model.readers.spec_node import NodeReader, node_hash

_ARMOUR = b"-----BEGIN PGP SIGNED MESSAGE-----"
_SIGNATURE = re.compile(rb"^-----BEGIN PGP SIGNATURE-----", re.MULTILINE)
_HEADERS = re.compile(rb"-+BEGIN PGP SIGNED MESSAGE-+[ \t]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n?")
# The expressions take memory for each line.
_LONGEST_HEAD = 2**20
_YAML = re.compile(
    rb"(?:---[ \t]*\r?\n)?"
    rb"(?:(?:binary_cache_checksum|buildinfo|buildcache_layout_version|full_hash):[^\n]*\n"
    rb"(?:[ \t][^\n]*\n)*)*"
    rb"spec:[ \t]*\r?$",
    re.MULTILINE,
)


def is_specfile(document: Any) -> bool:
    """Tell a spec file from other documents by its list of nodes."""
    spec = document.get("spec") if isinstance(document, dict) else None
    return isinstance(spec, list) or (isinstance(spec, dict) and "nodes" in spec)


def is_signed(data: bytes) -> bool:
    """Tell a document with an OpenPGP signature in clear text around it."""
    return data.startswith(_ARMOUR)


def is_yaml_specfile(data: bytes) -> bool:
    """Tell a spec file in YAML, which begins with `spec:` or what a build cache adds to that."""
    return _YAML.match(data, 0, _LONGEST_HEAD) is not None


def read_specfile(data: bytes, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the spec of a file, and then its dependencies, which are not `in_cache`.

    A signature is taken off and not verified.
    """
    if is_signed(data):
        data, remark = unsigned(data)
        if remark:
            yield Problem(origin, "", remark)
    if is_yaml_specfile(data):
        yield from _read_yaml(data, origin)
        return
    yield from read_json(
        data, origin=origin, name="Spack spec file", fits=is_specfile, records=specfile_records
    )


def unsigned(data: bytes) -> tuple[bytes, str]:
    """Take the signature off a signed document; tell where it is incomplete.

    The dashes that RFC 9580, section 7.2, puts before a line are taken off too.
    """
    opening = _HEADERS.match(data, 0, _LONGEST_HEAD)
    begin = opening.end() if opening else len(_ARMOUR)
    closing = _SIGNATURE.search(data, begin)
    body = data[begin : closing.start() if closing else len(data)]
    body = body.removeprefix(b"- ").replace(b"\n- ", b"\n")
    return body, "" if closing else "the signature that it announces is missing"


def _read_yaml(data: bytes, origin: str) -> Iterator[Spec | Problem]:
    try:
        document = front_matter.value(front_matter.decode(data).removeprefix("---"))
    except FrontMatterError as error:
        yield Problem(origin, "", f"the Spack spec file cannot be read: {error}")
        return
    if is_specfile(document):
        yield from specfile_records(document, origin=origin)
    else:
        yield Problem(origin, "", "it is no Spack spec file")


def specfile_records(document: Any, *, origin: str) -> Iterator[Spec | Problem]:
    """Yield the specs of a parsed spec file, first the one that it is about."""
    spec = document["spec"]
    listed = spec if isinstance(spec, list) else spec["nodes"]
    if not isinstance(listed, list):
        yield Problem(origin, "nodes", f"it is {kind(listed)}, and should be a list")
        return
    if not listed:
        yield Problem(origin, "nodes", "it is empty")
    format_, doubt = _format(spec)
    if doubt:
        yield Problem(origin, "_meta", storable(doubt))
    nodes = NodeReader(origin, format_)
    read: dict[str, Spec] = {}
    for number, node in enumerate(listed):
        found = nodes.spec(node_hash(node), node, in_cache=number == 0)
        if found is not None and read.setdefault(found.hash, found) != found:
            nodes.tell("it stands in the file twice with differing content; the first one counts")
    yield from map(nodes.settled, read.values())
    yield from nodes.problems()
    yield from nodes.absent()


def _format(spec: Any) -> tuple[int | None, str]:
    """Give the specfile format that a file states, and what is doubtful about it."""
    if isinstance(spec, list):
        return 1, ""
    meta = spec.get("_meta")
    version = meta.get("version") if isinstance(meta, dict) else None
    if isinstance(version, str) and version in ("2", "3", "4", "5"):
        return int(version), ""
    shown = version[:40] if isinstance(version, str) and version else kind(version)
    rest = "its specs are read as far as they are understood"
    return None, f"the version of the spec file is {shown}, and those known are 2 to 5; {rest}"

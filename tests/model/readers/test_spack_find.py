"""The output of spack find --json is read as the nodes that it is."""

from __future__ import annotations

import json

from spackscope.model.core.records import Spec
from tests.builders import INSTALL_TREE, ZLIB, read, reasons, zlib_nodes


def test_what_spack_find_prints_are_the_nodes_of_the_install_tree() -> None:
    tree = INSTALL_TREE.read_bytes()
    installed = json.loads(tree)["database"]["installs"]
    printed = json.dumps([record["spec"] for record in installed.values()])

    specs, problems = read(printed.encode())

    of_tree = {"installed", "explicit", "path", "installed_at", "in_cache"}
    assert problems == []
    for spec, other in zip(specs, read(tree)[0], strict=True):
        for name in set(Spec.__match_args__) - of_tree:
            assert getattr(spec, name) == getattr(other, name)


def test_what_spack_find_prints_need_not_hold_the_dependencies() -> None:
    specs, problems = read(json.dumps(zlib_nodes()[:1]).encode())

    assert [(spec.package, spec.compiler) for spec in specs] == [("zlib", "gcc")]
    assert problems == []


def test_what_is_none_in_a_list_of_specs_takes_no_other_along() -> None:
    specs, problems = read(
        json.dumps([7, *zlib_nodes()[:1], {**zlib_nodes()[0], "version": "2"}]).encode()
    )

    assert [spec.version for spec in specs] == ["1.3.1"]
    assert reasons(problems) == [
        "spec: hash is missing",
        f"zlib/{ZLIB[:7]}: it is listed twice with different content; the first one counts",
    ]

"""Tests of `fold_differences`, whose lines are those of the answers."""

from __future__ import annotations

import pytest

from spackscope.model.analysis.differences import Value, compare
from spackscope.model.analysis.folded_differences import FoldedDifference, fold_differences
from spackscope.model.analysis.spec_graph import spec_graph
from spackscope.model.catalog.catalog import Catalog
from tests.model.analysis.cases import spack_answers


def text_of(attribute: str, value: Value) -> str:
    if value is None or value == ():
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if attribute == "package_hash":
        return str(value)[:7]
    texts = [value] if isinstance(value, str) else value
    return ",".join(text[:7] if attribute == "patches" else text for text in texts)


def short_text(folded: FoldedDifference) -> str:
    """Return a line as the answers have it."""
    item = folded.difference
    kind, _, name = item.attribute.partition(":")
    between = {
        "version": "",
        "variant": name,
        "package_hash": "recipe",
        "provider": "+".join(item.virtuals) + ":",
        "deptypes": f"deptypes of {item.dependency}",
        "virtuals": f"virtuals of {item.dependency}",
    }.get(kind, kind)
    package = folded.package
    if package and kind in ("dependency", "deptypes", "virtuals"):
        package += ":"
    values = f"{text_of(kind, item.a)} | {text_of(kind, item.b)}"
    return " ".join(part for part in (package, between, values) if part)


@pytest.mark.parametrize("index", ["spack0", "spack1"])
def test_the_lines_and_their_nodes_are_those_of_the_answers(
    index: str, whole_catalogs: dict[str, Catalog]
) -> None:
    catalog = whole_catalogs[index]
    for answer in spack_answers("diff_pairs"):
        if answer["index"] == index:
            a, b = (catalog.by_hash(answer[side])[0].id for side in "ab")
            folded = fold_differences(compare(spec_graph(catalog), a, b).causes)
            lines = [{"text": short_text(line), "nodes": line.nodes} for line in folded]
            assert lines == answer["short"], answer["id"]


def test_what_only_builds_is_told_apart(whole_catalogs: dict[str, Catalog]) -> None:
    """The first pair is alike but for the python that builds it."""
    catalog, answer = whole_catalogs["spack1"], spack_answers("diff_pairs")[0]
    a, b = (catalog.by_hash(answer[side])[0].id for side in "ab")
    (line,) = fold_differences(compare(spec_graph(catalog), a, b).causes)

    assert (line.package, line.packages, line.run) == ("python", ("python",), False)

"""Tests of `fold_differences`, whose lines are those of the answers."""

from __future__ import annotations

from spackscope.model.analysis.compare import (
    Cause,
    Comparison,
    Difference,
    FoldedDifference,
    Value,
    fold_differences,
)
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


def test_the_lines_and_their_nodes_are_those_of_the_answers(
    comparisons: dict[str, Comparison],
) -> None:
    for answer in spack_answers("diff_pairs"):
        folded = fold_differences(comparisons[answer["id"]].causes)
        lines = [{"text": short_text(line), "nodes": len(line.causes)} for line in folded]
        assert lines == answer["short"], answer["id"]


def test_what_is_linked_or_run_differs_unless_the_kind_is_the_same(
    comparisons: dict[str, Comparison],
) -> None:
    for answer in spack_answers("diff_pairs"):
        folded = fold_differences(comparisons[answer["id"]].causes)
        assert any(line.run for line in folded) is not answer["run_equal"], answer["id"]


def test_the_version_of_a_compiler_counts_at_run_time() -> None:
    version, external = Difference("version", "13", "14"), Difference("external", "/a", "/b")

    def gcc(*, compiles: bool) -> Cause:
        differences = (version, external)
        return Cause("gcc", ("gcc",), 0, 1, False, True, 1, differences, compiles=compiles)

    assert [line.run for line in fold_differences([gcc(compiles=True)])] == [True, False]
    assert [line.run for line in fold_differences([gcc(compiles=False)])] == [False, False]

"""The list of steps, and how much of them is kept."""

from __future__ import annotations

from spackscope.model.index.tree import Node, Tree
from spackscope.model.index.view import View
from spackscope.tui.browser.undo import MAX_LINES, MAX_STEPS, Step, UndoList

LINES = 1_002


def tree() -> Tree:
    return Tree(tuple(Node(number, "dependents", 0) for number in range(LINES)))


def test_steps_are_kept_to_a_number_and_their_trees_to_a_number_of_lines() -> None:
    undo = UndoList()
    for _ in range(MAX_STEPS + 50):
        undo.push(Step(View(), tree=tree()))

    steps = [undo.current]
    while (step := undo.go(-1)) is not None:
        steps.append(step)
    assert len(steps) == MAX_STEPS
    with_trees = [step for step in steps if step is not None and step.tree is not None]
    assert len(with_trees) == MAX_LINES // LINES
    assert steps[: len(with_trees)] == with_trees, "the newest keep theirs"


def test_steps_that_share_a_tree_count_it_once() -> None:
    undo, shared = UndoList(), tree()
    for _ in range(MAX_STEPS):
        undo.push(Step(View(), tree=shared))
    while (step := undo.go(-1)) is not None:
        assert step.tree is shared


def test_a_step_replaces_those_that_were_ahead_and_can_be_updated() -> None:
    undo = UndoList()
    assert undo.current is None
    assert undo.go(-1) is None
    first, second, third = (Step(View(folded=n == 1), pane=str(n)) for n in range(3))
    undo.push(first)
    assert not undo.can_go_back
    undo.push(second)
    assert undo.can_go_back
    assert undo.go(-1) == first
    assert undo.go(-1) is None
    undo.push(third)
    assert undo.go(1) is None
    assert undo.current == third
    undo.update(second)
    assert (undo.current, undo.go(-1)) == (second, first)
    undo.clear()
    assert undo.current is None
    assert not undo.can_go_back

"""The keys of the dependency tree in the detail, without an app: what they request and show."""

from __future__ import annotations

import pytest
from textual.message import Message

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_tree import Tree, read_tree
from spackscope.model.presentation.detail import DetailLine
from spackscope.tui.widgets.detail_pane import DetailPane
from tests.model.catalog.test_dependency_tree import catalog_with

LINES = [DetailLine("p0@1.3.1", kind="title"), DetailLine("spec", kind="head")]


class Pane(DetailPane):
    """A pane that stores its messages, and answers a request by `answer`."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self.messages: list[Message] = []
        self.catalog = catalog

    def post_message(self, message: Message) -> bool:
        self.messages.append(message)
        return True

    def answer(self) -> None:
        """Answer the last request as a worker does."""
        requests = [m for m in self.messages if isinstance(m, DetailPane.UnfoldRequested)]
        self.take_tree(requests[-1].tree, requests[-1].read(self.catalog))

    def posted(self, kind: type[Message]) -> int:
        return sum(isinstance(message, kind) for message in self.messages)

    @property
    def line(self) -> str:
        node = self.current.line
        return (
            "" if isinstance(node, DetailLine) else node.spec.name if node.spec else node.section
        )


@pytest.fixture
def pane() -> Pane:
    catalog, ids = catalog_with({0: [1, 2], 1: [2], 2: []})
    pane = Pane(catalog)
    pane.show_spec(LINES, read_tree(catalog, ids[0]))
    return pane


def tree_of(pane: Pane) -> Tree:
    assert pane.dependency_tree is not None
    return pane.dependency_tree


def test_a_section_is_unfolded_once_its_lines_have_been_read(pane: Pane) -> None:
    pane.go_to("dependencies")
    assert pane.line == "dependencies"
    assert pane.is_waiting
    assert len(tree_of(pane).lines) == 2
    pane.answer()
    assert not pane.is_waiting
    assert pane.line == "dependencies"
    assert [m.sections for m in pane.messages if isinstance(m, DetailPane.Unfolded)] == [
        {"dependencies"}
    ]


def test_an_old_answer_and_one_without_lines_change_nothing(pane: Pane) -> None:
    folded = tree_of(pane)
    pane.go_to("dependencies")
    pane.take_tree(folded, folded)
    assert not pane.is_waiting
    assert tree_of(pane) is folded

    pane.action_unfold()
    pane.show_spec((), None)
    pane.answer()
    assert pane.dependency_tree is None
    assert not pane.is_waiting


def test_arrows_unfold_go_in_and_come_back_out(pane: Pane) -> None:
    pane.go_to("dependencies")
    pane.answer()
    pane.action_unfold()
    assert pane.line == "p1"
    pane.action_unfold()
    pane.answer()
    pane.action_unfold()
    assert (pane.line, tree_of(pane).is_repeated(pane.current.tree_row or 0)) == ("p2", True)
    deeper = pane.cursor
    pane.action_unfold()
    assert (pane.line, pane.cursor) == ("p2", deeper + 1), "it goes to where the spec is unfolded"
    pane.move_to(deeper)
    pane.action_fold()
    assert pane.line == "p1"
    pane.action_fold()
    assert len(tree_of(pane).lines) == 4
    pane.action_fold()
    assert pane.line == "dependencies"
    pane.action_fold()
    assert len(tree_of(pane).lines) == 2
    assert not pane.posted(DetailPane.Left)
    pane.action_fold()
    assert pane.posted(DetailPane.Left) == 1


def test_the_same_spec_is_not_laid_out_again(pane: Pane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("spackscope.tui.widgets.detail_pane.layout")
    pane.show_spec(list(LINES), tree_of(pane))

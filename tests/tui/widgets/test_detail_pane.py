"""The keys of the tree and of the values, without an app: what they request and show."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

from spackscope.model.index.catalog import Catalog
from spackscope.model.index.tree import Tree, read_tree
from spackscope.model.query.ast import Term
from spackscope.model.report.detail import DetailLine
from spackscope.tui.widgets.detail_pane import DetailLines, TreeRows
from spackscope.tui.widgets.virtual_list import Browse
from tests.model.index.test_dependency_tree import catalog_with

Posted = TypeVar("Posted", bound=Message)


class Recorder(Widget):
    """A widget that stores its messages."""

    messages: list[Message]

    def post_message(self, message: Message) -> bool:
        self.messages.append(message)
        return True

    def posted(self, kind: type[Posted]) -> list[Posted]:
        return [message for message in self.messages if isinstance(message, kind)]

    def asked(self, action: str) -> list[Any]:
        """Return the values with which the browser was asked for an action."""
        return [message.values for message in self.posted(Browse) if message.action == action]


class Rows(Recorder, TreeRows):
    """A tree that answers a request by `answer`."""

    def __init__(self, catalog: Catalog) -> None:
        self.messages = []
        super().__init__()
        self.catalog = catalog

    def answer(self) -> None:
        """Answer the last request as a worker does."""
        tree, read = self.asked("read_tree")[-1]
        self.take_tree(tree, read())

    @property
    def line(self) -> str:
        node = self.node
        assert node is not None
        return node.spec.name if node.spec is not None else node.section


@pytest.fixture
def rows() -> Rows:
    catalog, ids = catalog_with({0: [1, 2], 1: [2], 2: []})
    rows = Rows(catalog)
    rows.show_tree(read_tree(catalog, ids[0]), {})
    return rows


def tree_of(rows: TreeRows) -> Tree:
    assert rows.dependency_tree is not None
    return rows.dependency_tree


def test_an_old_answer_and_one_without_lines_change_nothing(rows: Rows) -> None:
    folded = tree_of(rows)
    rows.go_to("dependencies")
    rows.take_tree(folded, folded)
    assert not rows.is_waiting
    assert tree_of(rows) is folded

    rows.action_unfold()
    rows.show_tree(None, {})
    rows.answer()
    assert rows.dependency_tree is None
    assert not rows.is_waiting


def test_another_spec_is_shown_from_its_top_and_the_same_one_keeps_its_place(rows: Rows) -> None:
    rows.go_to("dependents")
    same = read_tree(rows.catalog, tree_of(rows).id)
    assert same is not None
    rows.show_tree(same, {}, is_same=True)
    assert rows.line == "dependents"
    (child, _) = rows.catalog.edges.of(same.id)
    rows.show_tree(read_tree(rows.catalog, child.child), {})
    assert (rows.cursor, rows.top) == (0, 0)


class Values(Recorder, DetailLines):
    """Values that store which regions were drawn again, () for all."""

    def __init__(self) -> None:
        self.messages, self.drawn = [], list[tuple[Region, ...]]()
        super().__init__()

    def refresh(self, *regions: Region, **options: Any) -> Values:
        self.drawn.append(regions)
        return self


def lines_of(package: str, count: int = 30) -> list[DetailLine]:
    title = DetailLine(f"{package}@1.0", style="title")
    return [
        title,
        DetailLine("ubuntu22.04", "os", ("os", "ubuntu22.04")),
        DetailLine("zlib@1", "uses", id=7),
        *(DetailLine(f"a long value with the number {n}", f"label {n}") for n in range(count)),
    ]


def test_the_next_spec_is_shown_from_its_top_and_the_same_one_keeps_its_place() -> None:
    values = Values()
    values.show_values(lines_of("hdf5"), is_same=False)
    values.move_to(20)
    assert values.top > 0
    here = values.value
    values.show_values([*lines_of("hdf5"), DetailLine("8 specs", "download")], is_same=True)
    assert values.value == here
    values.drawn.clear()
    values.show_values([*lines_of("zlib"), DetailLine("9 specs", "download")], is_same=False)
    assert (values.cursor, values.top, values.stop) == (0, 0, 0)
    assert () in values.drawn, "rows that both specs have are on other lines now"


def test_a_value_is_a_filter_or_leads_to_a_spec() -> None:
    values = Values()
    values.show_values(lines_of("hdf5"), is_same=False)
    for row in range(values.length):
        values.move_to(row)
        value = values.value
        assert value is not None
        if value.label in ("os", "uses"):
            values.action_choose()
    assert {*values.asked("add_term")} == {(Term("os", "ubuntu22.04"),)}
    assert {*values.asked("jump")} == {(7,)}


def test_left_goes_through_the_values_of_a_row_and_then_leaves() -> None:
    values = Values()
    hash_, count = DetailLine("abc", style="hash"), DetailLine("×8", lead=" ")
    values.show_values([DetailLine("hl", style="title"), hash_, count], is_same=False)
    values.action_step(1)
    assert values.value == count
    values.action_step(-1)
    assert values.value == hash_
    assert not values.asked("specs")
    values.action_step(-1)
    assert values.asked("specs")

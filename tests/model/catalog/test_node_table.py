"""Tests of what nodes state beside the columns, read one by one or all at once."""

from __future__ import annotations

import pytest

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.node_table import NodeTable


def test_single_nodes_are_those_of_the_whole_table(whole_catalogs: dict[str, Catalog]) -> None:
    database = whole_catalogs["spack1"].database
    whole = list(NodeTable(database))
    table = NodeTable(database)

    assert len(whole) > 400
    assert [table[code] for code in range(400)] == whole[:400]
    assert list(table) == whole


def test_a_node_that_there_is_not_is_an_error(whole_catalogs: dict[str, Catalog]) -> None:
    with pytest.raises(IndexError):
        NodeTable(whole_catalogs["spack1"].database)[10**6]

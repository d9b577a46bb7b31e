"""Compare all pairs of the answers once per session."""

from __future__ import annotations

import pytest

from spackscope.model.analysis.compare import Comparison, compare
from spackscope.model.analysis.dag import dag_of
from spackscope.model.index.catalog import Catalog
from tests.model.analysis.cases import ids_by_short_hash, spack_answers


@pytest.fixture(scope="session")
def comparisons(whole_catalogs: dict[str, Catalog]) -> dict[str, Comparison]:
    """Return the comparison of each pair in `diff_pairs` by the id of the answer."""
    graphs = {index: dag_of(catalog) for index, catalog in whole_catalogs.items()}
    ids = {index: ids_by_short_hash(graph) for index, graph in graphs.items()}
    return {
        answer["id"]: compare(
            graphs[answer["index"]],
            *(ids[answer["index"]][answer[side][:7]] for side in "ab"),
        )
        for answer in spack_answers("diff_pairs")
    }

"""Records of the public cache have an address on cache.spack.io; others have none."""

from __future__ import annotations

import json

import pytest

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.frozen import replace
from spackscope.model.presentation import export
from spackscope.model.presentation.detail import detail
from spackscope.model.presentation.export import page_address
from tests.builders import all_records


@pytest.mark.parametrize(
    ("package", "tag", "address"),
    [
        ("hdf5", "develop", "https://cache.spack.io/?package=hdf5&release=develop"),
        (
            "py-torch",
            "develop-2026-11-01",
            "https://cache.spack.io/?package=py-torch&release=develop-2026-11-01",
        ),
        ("a&b=c", "rel/1 é", "https://cache.spack.io/?package=a%26b%3Dc&release=rel%2F1%20%C3%A9"),
        ("hdf5", "", ""),
    ],
)
def test_the_address_names_package_and_tag(
    mixed: Catalog, package: str, tag: str, address: str
) -> None:
    spec = replace(all_records(mixed)[0], package=package, tag=tag)
    assert page_address(spec) == address
    (line,) = export.json_lines([spec])
    assert json.loads(line)["page"] == (address or None)
    _, row = export.csv_lines([spec])
    assert row.endswith(f",{address}")
    lines = [
        line.text for line in detail(spec, varying={}, alike=1, shown=0) if line.label == "page"
    ]
    assert lines == ([address] if address else [])

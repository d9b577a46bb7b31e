"""Records are exported with the same keys in every format, and without loss as JSON."""

from __future__ import annotations

import csv
import json

import pytest

from spackscope.model.core.columns import COLUMNS, EXPORTED
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Dependency
from spackscope.model.index.catalog import Catalog
from spackscope.model.report import export
from spackscope.model.report.detail import detail
from spackscope.model.report.export import page_address
from tests.builders import all_records


def test_every_format_has_all_records_and_the_same_keys(mixed: Catalog) -> None:
    specs = all_records(mixed)
    objects = [json.loads(line) for line in export.json_lines(specs)]
    heads, *rows = csv.reader(export.csv_lines(specs))

    assert json.loads("\n".join(export.json_array(specs))) == objects
    assert {tuple(record) for record in objects} == {tuple(heads)}
    assert heads == [*(column.json_key for column in EXPORTED), "build_spec", "page"]
    assert [row[heads.index("hash")] for row in rows] == [spec.hash for spec in specs]
    assert [record["variants"] for record in objects] == [list(spec.variants) for spec in specs]
    labels, *lines = (line.split("\t") for line in export.tab_lines(specs))
    columns = [column for column in COLUMNS if not column.is_by_host]
    assert labels == [column.label for column in columns]
    assert {len(line) for line in lines} == {len(columns)}


def test_a_full_record_has_its_dependencies_or_null(mixed: Catalog) -> None:
    (spec, *_) = all_records(mixed)
    edge = Dependency("2" * 32, "zlib", ("link",), ())
    with_edge = replace(spec, dependencies=(edge,), external="/usr")

    first, second = map(json.loads, export.full_json_lines([spec, with_edge]))
    assert first["dependencies"] is None
    assert second["dependencies"] == [
        {"hash": "2" * 32, "name": "zlib", "deptypes": ["link"], "virtuals": []}
    ]
    assert (first["external"], second["external"]) == ("", "/usr")


def test_no_records_make_an_empty_array_and_only_heads() -> None:
    assert list(export.json_array([])) == ["[]"]
    assert len(list(export.csv_lines([]))) == len(list(export.tab_lines([]))) == 1


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

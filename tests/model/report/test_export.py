"""Records are exported with the same keys in every format, and without loss as JSON."""

import csv
import json

import pytest

from spackscope.model.core.columns import COLUMNS, EXPORTED
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Dependency
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import IndexData
from spackscope.model.report import export
from spackscope.model.report.detail import detail
from spackscope.model.report.sheet import Sheet, SheetColumn
from spackscope.model.report.writers import csv_lines, json_array, json_lines, tabs
from spackscope.model.sources.site_url import record_url
from tests.builders.catalogs import all_records, on_host


def test_every_format_has_all_records_and_the_same_keys(mixed: Catalog) -> None:
    specs = all_records(mixed)
    sheet = export.spec_sheet(mixed, range(mixed.total))
    objects = [json.loads(line) for line in json_lines(sheet)]
    heads, *rows = csv.reader(csv_lines(sheet))

    assert json.loads("\n".join(json_array(sheet))) == objects
    assert {tuple(record) for record in objects} == {tuple(heads)}
    assert heads == [*(column.json_key for column in EXPORTED), "build_spec", "page"]
    assert [row[heads.index("hash")] for row in rows] == [spec.hash for spec in specs]
    assert [record["variants"] for record in objects] == [list(spec.variants) for spec in specs]
    names, *lines = (line.split("\t") for line in tabs(sheet))
    assert names == [column.json_key for column in EXPORTED if column in COLUMNS]
    assert {len(line) for line in lines} == {len(names)}


def test_hashes_are_listed_without_reading_the_records(
    mixed: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes = [spec.hash for spec in all_records(mixed)]
    sheet = export.spec_sheet(mixed, range(mixed.total))
    assert sheet.rows[-1].hash == hashes[-1]
    monkeypatch.delattr(IndexData, "records")

    assert list(sheet.hashes()) == list(dict.fromkeys(hashes))
    assert list(sheet.cut(2).hashes()) == hashes[:2]


def test_a_full_record_has_its_dependencies_or_null(mixed: Catalog) -> None:
    (spec, *_) = all_records(mixed)
    edge = Dependency("2" * 32, "zlib", ("link",), ())
    with_edge = replace(spec, dependencies=(edge,), external="/usr")

    sheet = export.full_sheet([spec, with_edge], [[], []])
    first, second = map(json.loads, json_lines(sheet))
    assert first["dependencies"] is None
    assert second["dependencies"] == [
        {"hash": "2" * 32, "name": "zlib", "deptypes": ["link"], "virtuals": []}
    ]
    assert (first["external"], second["external"]) == ("", "/usr")


def test_lists_are_sorted_beside_tuples() -> None:
    sheet = Sheet("", [SheetColumn[object]("x", lambda row: row)], [["b"], None, ("a",)])
    assert [*sheet.sorted("x").rows] == [("a",), ["b"], None]


def test_records_are_sorted_by_any_column(whole_catalogs: dict[str, Catalog]) -> None:
    catalog = on_host(whole_catalogs["spack1"], "target=zen3 glibc=2.17")
    of_fit = export.spec_sheet(catalog, range(200), tells_fit=True)
    whole = export.full_sheet(list(catalog.records(range(20))), [[{"key": n}] for n in range(20)])
    for sheet in (of_fit, whole):
        hashes = set(sheet.hashes())
        for column in sheet.columns:
            assert set(sheet.sorted(column.name).hashes()) == hashes, column.name


@pytest.mark.parametrize(
    ("package", "tag", "address"),
    [
        ("py-x", "develop-1", "https://cache.spack.io/?package=py-x&hash="),
        ("a&b=c \ud800é", "v1", "https://cache.spack.io/?package=a%26b%3Dc%20%3F%C3%A9&hash="),
        ("hdf5", "", ""),
        ("hdf5", "uo/develop", ""),
    ],
)
def test_the_address_names_package_and_hash(
    mixed: Catalog, package: str, tag: str, address: str
) -> None:
    spec = replace(all_records(mixed)[0], package=package, tag=tag)
    address = address and address + spec.hash
    assert record_url(spec) == address
    assert json.loads(export.json_text(spec))["page"] == (address or None)
    lines = detail(spec, varying={}, alike=1, shown=0)
    assert [line.text for line in lines if line.label == "page"] == [address][: bool(address)]

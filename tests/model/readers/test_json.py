"""What comes before an error in JSON is read, and repeated keys are reported."""

import json

import pytest

from spackscope.model.core.records import Problem, Spec
from spackscope.model.readers.formats import read_document
from spackscope.model.readers.json import parse
from tests.builders.catalogs import each_record, read, reasons
from tests.builders.nodes import ZLIB, leaf, zlib_nodes
from tests.builders.pages import hash_of
from tests.builders.spack import database, installs, zlib_index


def by_record(data: bytes) -> list[Spec | Problem]:
    return list(each_record(read_document(data, origin="document")))


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b'{"database": {"version": "8", "installs": %b, "installs": %b}}', "installs"),
        (
            b'{"database": {"installs": %b}, "database": {"version": "8", "installs": %b}}',
            "database",
        ),
        (
            b'{"database": {"version": "5", "installs": %b, "version": "8", "installs": %b}}',
            "installs",
        ),
        (b'{"x": 1, "database": {"version": "8", "installs": %b, "installs": %b}}', "installs"),
    ],
)
def test_the_records_of_repeated_keys_are_read(data: bytes, key: str) -> None:
    first = json.dumps(installs(*zlib_nodes()[:2])).encode()
    second = json.dumps(installs(*zlib_nodes()[2:])).encode()

    problem, *items = by_record(data % (first, second))

    assert problem == Problem("document", "", f'"{key}" is given twice', is_unread=True)
    assert items == by_record(zlib_index())


def test_repeated_hashes_are_counted() -> None:
    pairs = ", ".join(f'"{hash_of(number // 2)}": {{}}' for number in range(10))

    value, remarks = parse("{" + pairs + "}")

    assert len(value) == 5
    assert remarks == [f'"{hash_of(0)}" and 4 more keys are given twice']


@pytest.mark.parametrize("indent", [None, 1])
def test_a_database_damaged_anywhere_is_read_as_far_as_it_is_json(indent: int | None) -> None:
    data = json.dumps(json.loads(database(installs(leaf(ZLIB, "zlib", "1")))), indent=indent)
    valid = 0

    # White space only adds places to those that there are without it.
    for at in range(0, len(data), 3 if indent else 1):
        for sign in ('"', "}", ",", "[", ":", " ", ""):
            damaged = (data[:at] + sign + data[at + 1 :]).encode()
            specs, problems = read(damaged)
            try:
                again = json.dumps(json.loads(damaged)).encode()
            except ValueError:
                assert [spec.hash for spec in specs] in ([], [ZLIB])
                assert "character" in problems[0].reason
            else:
                assert (specs, problems) == read(again)
                valid += 1

    assert valid > (300 if indent else 1000)


def test_a_document_after_a_document_is_a_problem() -> None:
    specs, problems = read(zlib_index() + zlib_index())

    assert specs == read(zlib_index())[0]
    end = len(zlib_index())
    assert reasons(problems) == [
        f": Data after the end of the document (character {end}) was ignored"
    ]

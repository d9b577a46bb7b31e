"""What is added by the recipes of CONTRIBUTING.md is there without any other change.

Not collected: `test_contributing` runs it on a copy of the program whose registry has three more
columns: `digest`, which has a dictionary of its own, `series`, which is computed from another
column, and `successor`, which is a new field of records. It also has the predicate `external`, a
rule on reuse, a format, a command, an answer with a key, a setting, forms of `Y`, and a job that
a key waits for.
"""

import csv
import json
from importlib import import_module
from pathlib import Path

import pytest

from spackscope.model.assist.completion import complete
from spackscope.model.core.columns import COLUMNS
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import load
from spackscope.model.index.order import Sort, View
from spackscope.model.index.value_counts import value_counts
from spackscope.model.query.ast import Query
from spackscope.model.query.column_filter import parse_filter_input
from spackscope.model.query.parser import parse, parse_input
from spackscope.model.report.detail import detail
from spackscope.model.sources.session import Session
from spackscope.tui.browser.state import SPECS
from tests.browsing import browsing
from tests.builders.catalogs import all_records
from tests.builders.nodes import edge, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import database, write_index
from tests.clipboard import Clipboard
from tests.documents import ROOT
from tests.program import Program

PLAIN = {"NO_COLOR": "1"}
VERSIONS = {"1.2.13": "aaaa", "1.3.0": "bbbb", "1.3.1": "bbbb"}
"""The digest of the recipe by the version of zlib."""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    nodes = (
        node(hash_of(number), version=version, package_hash=digest, dependencies=[])
        for number, (version, digest) in enumerate(VERSIONS.items())
    )
    return write_index(tmp_path, *nodes)


@pytest.fixture
def catalog(source: Path) -> Catalog:
    return load([str(source)], Session({}))


def versions(catalog: Catalog, query: str, sort: Sort | None = None) -> list[str]:
    listing = catalog.listing(View(parse(query), sort=sort))
    return [spec.version for spec in catalog.records(listing.ids)]


def test_the_index_keeps_finds_orders_and_counts_its_values(catalog: Catalog) -> None:
    assert {s.version: s.package_hash for s in all_records(catalog)} == VERSIONS
    for query, expected in (
        ("digest=aaaa", ["1.2.13"]),
        ("digest=bb*", ["1.3.0", "1.3.1"]),
        ("!series=1.3", ["1.2.13"]),
        ("series=1.3 | digest=aaaa @1.2.13", ["1.2.13"]),
    ):
        assert versions(catalog, query) == expected
        assert parse(str(parse(query))) == parse(query)
    for name, counts in (
        ("digest", {"bbbb": 2, "aaaa": 1}),
        ("series", {"1.3": 2, "1.2": 1}),
    ):
        assert versions(catalog, "", Sort(name)) == list(VERSIONS)
        assert versions(catalog, "", Sort(name, descending=True)) == ["1.3.0", "1.3.1", "1.2.13"]
        counted = value_counts(catalog, Query(), name)
        assert {each.value: each.count for each in counted} == counts
        assert set(catalog.values(name)) == set(counts)


def test_a_predicate_is_a_key_that_no_table_has(tmp_path: Path) -> None:
    at: dict[str, object] = {"path": "/usr", "module": None, "extra_attributes": {}}
    libc = node(hash_of(7), name="glibc", version="2.39", dependencies=[], external=at)
    write_index(tmp_path, node(dependencies=[edge("glibc", hash_of(7), ["link"])]), libc)
    catalog = load([str(tmp_path)], Session({}))
    for query, expected in (
        *(("external=/usr hash=*", ["2.39"]), ("external=/u* hash=*", ["2.39"])),
        *(("!external=/usr", ["1.3.1"]), ("external=/opt hash=*", [])),
        *(("^[virtuals=libc] external=/usr", []), ("^glibc external=/usr", ["1.3.1"])),
    ):
        assert versions(catalog, query) == expected, query
    assert "external" not in [column.name for column in COLUMNS]


def test_its_key_its_values_and_its_filter_are_completed(catalog: Catalog) -> None:
    for text, completion in (
        ("dig", "digest="),
        ("digest=b", "digest=bbbb"),
        ("aa", "digest=aaaa"),
        ("1.2", "series=1.2"),
    ):
        completions = complete(catalog, parse_input(text, len(text)))
        assert completion in [item.text for item in completions.items]
    completions = complete(catalog, parse_filter_input("b", 1, "digest", Query()))
    assert [item.text for item in completions.items] == ["=bbbb"]


def test_the_detail_has_its_value_with_a_filter_for_it(catalog: Catalog) -> None:
    spec = all_records(catalog)[0]
    lines = {line.label: line for line in detail(spec, varying={}, alike=1, shown=1)}

    for label, query, text in (
        ("digest", "digest=aaaa", "aaaa"),
        ("series", "series=1.2", "1.2"),
    ):
        assert lines[label].text == text
        assert str(lines[label].term) == query


def test_the_table_of_find_shows_it(source: Path, tmp_path: Path) -> None:
    def table(*words: str) -> list[str]:
        program = Program(tmp_path)
        _, text = program.on_terminal(*words, "-f", str(source), columns=120, changes=PLAIN)
        return text.splitlines()

    *_, heads, first, second, third = table("find", "--flat")
    assert {"digest", "series"} <= set(heads.split())
    assert {"bbbb", "1.3"} <= set(first.split()) & set(second.split())
    assert {"1.2.13", "aaaa", "1.2"} <= set(third.split())
    assert " · bbbb · 1.3" in table("find", "--flat", "digest=bbbb")[0]


def test_exports_and_show_print_it(source: Path, tmp_path: Path) -> None:
    def output(*words: str) -> str:
        return Program(tmp_path)(*words, "-f", str(source)).stdout

    wanted = [("bbbb", "1.3"), ("bbbb", "1.3"), ("aaaa", "1.2")]
    objects = json.loads(output("find", "--json"))
    assert [(record["package_hash"], record["series"]) for record in objects] == wanted
    rows = csv.DictReader(output("find", "--csv").splitlines())
    assert [(row["package_hash"], row["series"]) for row in rows] == wanted
    heads, *lines = (line.split("\t") for line in output("find").splitlines())
    cells = [dict(zip(heads, line, strict=True)) for line in lines]
    assert [(cell["package_hash"], cell["series"]) for cell in cells] == wanted
    shown = [line.split() for line in output("show", f"/{hash_of(0)}").splitlines()]
    assert ["series", "1.2"] in shown
    assert output("find", "--names").split() == ["zlib"] * 3


def test_a_new_field_is_read_from_indexes_and_is_empty_on_pages(
    source: Path, tmp_path: Path
) -> None:
    page = write_page(tmp_path / "pages" / "zlib.md", [record(9)])
    nodes = {hash_of(7): {"spec": node(hash_of(7)), "deprecated_for": hash_of(1)}}
    (tmp_path / "tree.json").write_bytes(database(nodes))
    path = tmp_path / "tree.json"
    for paths in ([page], [page, source, path], [path, page]):
        catalog = load([str(path) for path in paths], Session({}))

        assert catalog.problems == [] or "missing" in catalog.problems[0].reason
        assert len(versions(catalog, "!successor=?* hash=*")) >= 1
        assert len(versions(catalog, f"successor={hash_of(1)}")) == (path in paths)
        assert len(versions(catalog, "!digest=?*")) >= 1
    flat = Program(tmp_path)("find", "--json", "-f", str(page)).stdout
    assert [record["successor"] for record in json.loads(flat)] == [""]


def test_why_names_the_new_rule(program: Program, source: Path) -> None:
    rows = json.loads(program("why", "zlib", "--json", "-f", str(source)).stdout)
    assert {row["rule"] for row in rows} == {"unwanted"}
    assert {row["change"] for row in rows} == {"remove it"}


def test_the_new_command_runs_and_is_in_the_help(tmp_path: Path) -> None:
    program = Program(tmp_path)
    assert program("greet").stdout == f"hello {program.home}\n"
    assert "Greet." in program("help", "greet").stdout
    assert "greet" in program("help").stdout
    assert "examples:" not in program("help", "greet").stdout


def test_a_new_setting_is_read_from_its_variable_before_the_file(
    program: Program, tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text('greeting = "good day"\n', "utf-8")
    for variable, word in (("", "good day"), ("hi", "hi")):
        greeted = program("greet", SPACKSCOPE_CONFIG=str(file), SPACKSCOPE_GREETING=variable)
        assert greeted.stdout == f"{word} {program.home}\n"
    assert "SPACKSCOPE_GREETING" in program("config", SPACKSCOPE_GREETING="hi").stdout


async def test_a_key_waits_for_the_new_job_that_brings_what_it_needs(source: Path) -> None:
    async with browsing(source) as browser:
        await browser.type_ahead("B", "V", shows="there are 3")


async def test_the_browser_shows_and_filters_it(source: Path) -> None:
    async with browsing(source, size=(200, 30)) as browser:
        assert {"digest", "series"} <= browser.placed_names
        assert any({"1.2.13", "aaaa", "1.2"} <= set(line.split()) for line in browser.lines)

        await browser.filter("digest", "bb", query="digest=*bb*")
        assert [row.spec.version for row in browser.rows] == ["1.3.1", "1.3.0"]
        assert "digest" in browser.text.split()


def test_an_answer_has_all_forms_and_a_sheet(program: Program, source: Path) -> None:
    words = ("tally", "-f", str(source), "zlib")
    assert json.loads(program(*words, "--json").stdout) == [{"package": "zlib", "builds": 3}]
    assert program(*words, "--format", "{package} {builds}").stdout == "zlib 3\n"
    assert "Count." in program("tally", "--help").stdout


def test_the_reference_lists_the_columns_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    table = import_module("make_answers").answer_table()
    assert "| `tally` | `package` | text | its name |" in table


async def test_the_menu_has_a_new_form(source: Path, tmp_path: Path) -> None:
    clipboard = Clipboard(tmp_path)
    async with browsing(source, environ=clipboard.environ) as browser:
        await browser.press("2", "Y", "n")
        assert clipboard.text == "zlib"
        await browser.press("Y", "N")
        assert clipboard.text == "3"
        await browser.press("y")
        assert clipboard.text == browser.current_hash


async def test_the_key_of_an_answer_shows_it_in_the_place_of_the_table(source: Path) -> None:
    async with browsing(source, query="@1.3:") as browser:
        await browser.press("T", shows="builds of each package")
        opened = browser.state.table
        assert opened.shown is not None
        assert [row.shown for row in opened.shown.rows] == [2], "those of the query"
        await browser.press("s", "f", *"zl", "enter", "escape")
        assert browser.state.table is SPECS

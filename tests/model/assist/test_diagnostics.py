"""Errors in a text that is being typed come with their offset."""

from pathlib import Path

import pytest

from spackscope.model.assist.advice import advise, check_input, explain_no_match, relaxations
from spackscope.model.assist.completion import complete
from spackscope.model.assist.offers import Note, is_unfinished
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query
from spackscope.model.query.column_filter import parse_filter_input
from spackscope.model.query.lexer import in_quotes
from spackscope.model.query.parser import parse, parse_input
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import write_index
from tests.hostile import HOSTILE_TEXT


def test_a_condition_of_a_filter_is_noted_at_its_word(sample: Catalog) -> None:
    parsed = parse_filter_input("!24 =x", 6, "os", parse("package=py-build"))

    noted = check_input(sample, parsed)

    assert noted is not None
    assert (noted.sentence[:20], noted.offset) == ("No py-build has os=x", 4)


def test_an_error_at_a_word_that_can_be_completed_is_unfinished(sample: Catalog) -> None:
    note, completions = (
        Note("Expected a value after os=", 2),
        complete(sample, parse_input("os=", 3)),
    )

    assert is_unfinished(note, completions)
    assert not is_unfinished(None, completions)
    assert not is_unfinished(note, complete(sample, parse_input("os=", 0)))


@pytest.mark.parametrize(
    ("text", "at", "sentence"),
    [
        ("", None, ""),
        ("py-build", None, ""),
        ("py-build %gcc | os=x", None, ""),
        ("py-build zlib", 9, "Unknown package zlib"),
        ("py-build zlib ^cmake", 9, "Unknown package zlib"),
        ("py-build !zlib", 10, "Unknown package zlib"),
        ("py-build | nosuch", 11, "Unknown package nosuch"),
        ("py-build py-m*", None, ""),
        ("py-build or py-ml-dtypes", 9, "Unknown package or. For either, write |"),
        # The condition at the cursor is checked last.
        ("os=sequoia @9 tag=x^I", 11, "No spec has @9, only 0.4.0, 0.4.5, 2.4.3 and 3 more"),
        ("os=nosuch @9^I", 0,
         "No spec has os=nosuch, only sequoia, ubuntu22.04, ubuntu24.04 and 1 more"),
        ("os=nosuch^I @9", 10, "No spec has @9, only 0.4.0, 0.4.5, 2.4.3 and 3 more"),
        ("os=n^Iosuch @9", 10, "No spec has @9, only 0.4.0, 0.4.5, 2.4.3 and 3 more"),
        ("py-bild", 0, "Unknown package py-bild. Did you mean py-build?"),
        ("py-build +virtualen", 9,
         "Unknown variant virtualen of py-build. Did you mean virtualenv?"),
        ("complier=gcc", 0, "Unknown variant complier. Did you mean compiler=?"),
        ("py-build+virtualenv", 8, "No py-build has +virtualenv, only ~virtualenv"),
        ("os=ubuntu24", 0,
         "No spec has os=ubuntu24. Did you mean ubuntu24.04, ubuntu22.04 or ubuntu20.04?"),
        ("py-build os=sequoia", 9,
         "No py-build has os=sequoia, only ubuntu22.04 and ubuntu24.04"),
        ("py-build@2", 8, "No py-build has @2, only 1.2.1 and 1.2.2"),
        ("@9", 0, "No spec has @9, only 0.4.0, 0.4.5, 2.4.3 and 3 more"),
        ("os=sequoia %clang", 11, "No spec is built with %clang. Did you mean apple-clang?"),
        ("%gcc@99", 0,
         "No spec is built with %gcc@99, only gcc@11.1.0, gcc@11.4.0 and gcc@13.2.0"),
        ("/7QY", 0, "No hash starts with 7QY: hashes contain only a-z and 2-7"),
        ("/zzzz", 0, "No hash starts with zzzz"),
        ("^zlib os=sequoia", 0, "^zlib os=sequoia needs dependencies, and pages list none"),
        ("os=x | os=y", 0, "No spec matches os=x | os=y"),
        ("!os=*", 1, "No spec matches !os=*"),
        ("hdf5@1 zlib@2", 0, "Unknown package hdf5"),
        ("hdf5 zlib", 0, "Unknown package hdf5"),
        ("any=safetensers", 0,
         "Unknown package safetensers, and no spec shows it in any column."
         " Did you mean py-safetensors?"),
    ],
)  # fmt: skip
def test_the_condition_is_named_with_its_offset(
    sample: Catalog, text: str, at: int | None, sentence: str
) -> None:
    before, _, after = text.partition("^I")
    parsed = parse_input(before + after, len(before) * ("^I" in text), packages=None)

    note = check_input(sample, parsed)

    assert note == (None if at is None else Note(sentence, at))


def test_hostile_text_is_clean_in_advice(mixed: Catalog) -> None:
    for label, text in HOSTILE_TEXT:
        if 0 < len(text) < 999:
            note = advise(mixed, parse(f"os={in_quotes(text)}"))
            assert note is None or note.sentence.isprintable(), label


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("os=os9", "No spec has os=os9, only os0, os1 and os2"),
        ("nothing", "Unknown package nothing"),
        ("zlib os=os1", "No zlib has os=os1, only os0"),
        ("os=os0 os=*1", "No match"),
        ("os=*0 os=*1 os=*2", "No match for os=*1 together with os=*0"),
        ("os=os1 os=*1 !os=*s1", "No match"),
        ("target=* bzip2 os=os1 os=*2", "No bzip2 has os=*2, only os0 and os1"),
        ("!os=os0 !os=os1 !os=os2", "No match"),
        (
            "os=os1 target=b platform=c @1.3.1 +x",
            "No match for platform=c together with os=os1 target=b",
        ),
    ],
)
def test_the_excluding_condition_is_named(query: str, sentence: str, small: Catalog) -> None:
    parsed_query = parse(query)
    assert small.count(parsed_query) == 0

    assert explain_no_match(small, parsed_query) == sentence


def test_dependencies_that_no_source_lists_are_unknown(tmp_path: Path) -> None:
    page = write_page(tmp_path, [record(1)], title="py-build")
    index = write_index(tmp_path, node(hash_of(2), name="hdf5"))
    catalog = catalog_of(page, index)

    unlisted = "The sources list no dependencies of py-build, so none matches ^hdf5"
    assert explain_no_match(catalog, parse("py-build ^hdf5")) == unlisted
    assert explain_no_match(catalog, parse("hdf5 ^py-build")) == "No hdf5 depends on ^py-build"


def test_a_hash_read_as_a_package_is_recognised(small: Catalog) -> None:
    words = ("2222", "222", "zzzz", "no/hash")
    assert [f"/{word} is a hash" in explain_no_match(small, parse(word)) for word in words] == [
        True, False, False, False
    ]  # fmt: skip


def test_an_index_without_specs_says_so(tmp_path: Path) -> None:
    catalog = catalog_of(write_page(tmp_path, []))

    assert explain_no_match(catalog, Query()) == "There are no specs"
    assert explain_no_match(catalog, parse("zlib")) == "Unknown package zlib"
    assert relaxations(catalog, parse("zlib")) == ()

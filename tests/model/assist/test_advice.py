"""A condition that nothing fulfils is named, with a guess of what was meant."""

from __future__ import annotations

import pytest

from spackscope.model.assist.advice import advise
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import (
    Cancelled,
)
from spackscope.model.query.lexer import in_quotes
from spackscope.model.query.parsed_input import parse_input
from spackscope.model.query.parser import parse
from tests.hostile import HOSTILE_TEXT


@pytest.mark.parametrize(
    ("text", "at", "sentence"),
    [
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
        ("^zlib os=sequoia", 0, "^zlib os=sequoia asks for dependencies, and pages list none"),
        ("os=x | os=y", 0, "No spec matches os=x | os=y"),
        ("!os=*", 1, "No spec matches !os=*"),
        ("hdf5@1 zlib@2", 0, "Unknown package hdf5"),
        ("hdf5 zlib", 0, "No package hdf5 or zlib"),
    ],
)  # fmt: skip
def test_the_condition_is_named_with_its_place(
    sample: Catalog, text: str, at: int, sentence: str
) -> None:
    parsed = parse_input(text, 0, bare="package")
    assert parsed.query is not None

    said = advise(sample, parsed.query)

    assert said is not None
    assert said.sentence == sentence
    assert parsed.spans[said.condition][0] == at


def test_a_word_that_nothing_shows_is_named(sample: Catalog) -> None:
    said = advise(sample, parse("py-build safetensor", bare="any"))
    assert said is None

    said = advise(sample, parse("safetensers", bare="any"))
    assert said is not None
    assert said.sentence == (
        "No spec shows safetensers in any column. Did you mean py-safetensors?"
    )


@pytest.mark.parametrize("text", ["", "py-build", "py-build %gcc | os=x", "py-build zlib"])
def test_possible_conditions_get_no_advice(sample: Catalog, text: str) -> None:
    assert advise(sample, parse(text)) is None


def test_the_selected_package_counts(sample: Catalog) -> None:
    said = advise(sample, parse("os=sequoia").with_package("py-build"))

    assert said is not None
    assert said.sentence.startswith("No py-build has os=sequoia")


def test_advice_can_be_stopped(sample: Catalog) -> None:
    with pytest.raises(Cancelled):
        advise(sample, parse("os=x"), should_stop=lambda: True)


@pytest.mark.parametrize("text", [text for _, text in HOSTILE_TEXT if 0 < len(text) < 999])
def test_hostile_text_is_clean_in_advice(mixed: Catalog, text: str) -> None:
    said = advise(mixed, parse(f"os={in_quotes(text)}"))

    assert said is None or said.sentence.isprintable()

"""A condition that nothing fulfils is named, with what was perhaps meant."""

from __future__ import annotations

import pytest

from spackscope.model.assist.advice import advice
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
        ("py-bild", 0, "unknown package py-bild: did you mean py-build?"),
        ("py-build +virtualen", 9,
         "unknown variant virtualen in py-build: did you mean virtualenv?"),
        ("complier=gcc", 0, "unknown variant complier: did you mean compiler=?"),
        ("py-build+virtualenv", 8, "no py-build has +virtualenv: there is only ~virtualenv"),
        ("os=ubuntu24", 0,
         "no spec has os=ubuntu24: did you mean ubuntu24.04, ubuntu22.04 or ubuntu20.04?"),
        ("py-build os=sequoia", 9,
         "no py-build has os=sequoia: there are ubuntu22.04, ubuntu24.04"),
        ("py-build@2", 8, "no py-build has @2: there are 1.2.1, 1.2.2"),
        ("@9", 0, "no spec has @9: there are 0.4.0, 0.4.5, 2.4.3 and 3 more"),
        ("os=sequoia %clang", 11, "no spec is built with %clang: did you mean apple-clang?"),
        ("%gcc@99", 0,
         "no spec is built with %gcc@99: there are gcc@11.1.0, gcc@11.4.0, gcc@13.2.0"),
        ("/7QY", 0, "no hash begins with 7QY: hashes have a-z and 2-7 only"),
        ("/zzzz", 0, "no hash begins with zzzz"),
        ("^zlib os=sequoia", 0, "^zlib os=sequoia asks for dependencies, and pages list none"),
        ("os=x | os=y", 0, "no spec fulfils os=x | os=y"),
        ("!os=*", 1, "no spec fulfils !os=*"),
        ("hdf5@1 zlib@2", 0, "unknown package hdf5"),
        ("hdf5 zlib", 0, "there is no package hdf5 or zlib"),
    ],
)  # fmt: skip
def test_the_condition_is_named_with_its_place(
    sample: Catalog, text: str, at: int, sentence: str
) -> None:
    parsed = parse_input(text, 0, bare="package")
    assert parsed.query is not None

    said = advice(sample, parsed.query)

    assert said is not None
    assert said.sentence == sentence
    assert parsed.spans[said.condition][0] == at


def test_a_word_that_nothing_shows_is_named(sample: Catalog) -> None:
    said = advice(sample, parse("py-build safetensor", bare="any"))
    assert said is None

    said = advice(sample, parse("safetensers", bare="any"))
    assert said is not None
    assert said.sentence == (
        "no spec shows safetensers in any column: did you mean py-safetensors?"
    )


@pytest.mark.parametrize("text", ["", "py-build", "py-build %gcc | os=x", "py-build zlib"])
def test_where_each_condition_can_be_fulfilled_nothing_is_said(sample: Catalog, text: str) -> None:
    assert advice(sample, parse(text)) is None


def test_the_selected_package_counts(sample: Catalog) -> None:
    said = advice(sample, parse("os=sequoia").with_package("py-build"))

    assert said is not None
    assert said.sentence.startswith("no py-build has os=sequoia")


def test_advice_can_be_stopped(sample: Catalog) -> None:
    with pytest.raises(Cancelled):
        advice(sample, parse("os=x"), should_stop=lambda: True)


@pytest.mark.parametrize("text", [text for _, text in HOSTILE_TEXT if 0 < len(text) < 999])
def test_hostile_text_is_clean_in_advice(mixed: Catalog, text: str) -> None:
    said = advice(mixed, parse(f"os={in_quotes(text)}"))

    assert said is None or said.sentence.isprintable()

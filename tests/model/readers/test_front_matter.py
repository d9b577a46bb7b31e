"""Front matter is split into values, and a value comes back as it was written."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.errors import Unreadable
from spackscope.model.readers.pages import parse_value, split
from tests.examples import examples

DEEP = 100_000


@pytest.fixture(params=["libyaml", "pure Python"])
def yaml_loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read YAML as a PyYAML with libyaml does, and as one that was built without it."""
    if request.param == "pure Python":
        monkeypatch.delattr(yaml, "CBaseLoader", raising=False)


def test_a_page_is_split_at_its_top_level_keys() -> None:
    text = (
        '---\ntitle: "zlib"\nlayout: cache\nspec_details:\n- hash: a\n  os: b\nempty:\n---\nbody'
    )

    assert split(text) == (
        {
            "title": '"zlib"',
            "layout": "cache",
            "spec_details": "\n- hash: a\n  os: b",
            "empty": "",
        },
        True,
        (),
    )


@pytest.mark.parametrize("end", ["---", "---  ", "...", "---\n", "---\nbody: no value"])
def test_front_matter_ends_at_its_closing_line(end: str) -> None:
    assert split(f"---\nlayout: cache\n{end}") == ({"layout": "cache"}, True, ())


def test_front_matter_without_a_closing_line_is_read_to_its_end() -> None:
    assert split("---\nlayout: cache\ntags: a") == ({"layout": "cache", "tags": "a"}, False, ())


def test_windows_line_ends_make_no_difference() -> None:
    assert split("---\r\nlayout: cache\r\n---\r\n") == ({"layout": "cache"}, True, ())


def test_the_last_of_two_equal_keys_counts() -> None:
    assert split("---\ntitle: a\ntitle: b\n---") == ({"title": "b"}, True, ("title",))


@pytest.mark.parametrize("text", ["", "\n---\ntitle: a\n---", "title: a", "----\ntitle: a\n---"])
def test_a_text_without_an_opening_line_has_no_front_matter(text: str) -> None:
    with pytest.raises(Unreadable, match="does not begin"):
        split(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"zlib"', "zlib"),
        ("zlib", "zlib"),
        ("'zlib'", "zlib"),
        ("[package, develop]", ["package", "develop"]),
        ("[package, 1.10]", ["package", "1.10"]),
        ("[]", []),
        ("[package, develop,]", ["package", "develop"]),
        ('{"num_specs": 24}', {"num_specs": "24"}),
        ("{num_specs: 24}", {"num_specs": "24"}),
        ('{"a": true, "b": null}', {"a": True, "b": None}),
        ("- 1.10\n- no\n- 12:30\n- 2024-10-06\n- 1e5\n- ~", None),
        ("[1.10, 1e5, NaN, -Infinity]", ["1.10", "1e5", "NaN", "-Infinity"]),
        ('["1.10", 1.10, NaN, -Infinity]', ["1.10", "1.10", "NaN", "-Infinity"]),
        ("9" * 5_000, "9" * 5_000),
        ("[" + "9" * 5_000 + "]", ["9" * 5_000]),
        ('{"os": "a", "os": "b"}', {"os": "b"}),
        ("{os: a, os: b}", {"os": "b"}),
        ("<<: {os: a}\ntarget: b", {"<<": {"os": "a"}, "target": "b"}),
        ('!!python/object/apply:os.system ["exit"]', ["exit"]),
        ("|\n  several\n  lines", "several\nlines"),
        ('["\x1b[31m", "a\x00b", "a\tb", "a\nb"]', ["\x1b[31m", "a\x00b", "a\tb", "a\nb"]),
        ('["\x7f\x9b\u2028"]', ["\x7f\x9b\u2028"]),
        (r'["\ud800"]', ["\ud800"]),
        ("", ""),
        ("# a comment", ""),
    ],
)
def test_a_value_is_read_as_it_is_written(text: str, expected: Any) -> None:
    if expected is None:
        expected = [line.removeprefix("- ") for line in text.split("\n")]

    assert parse_value(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1, 2", "neither JSON .* nor YAML"),
        ('{"a": "b', "neither JSON .* nor YAML"),
        ('"a" b', "neither JSON .* nor YAML"),
        ("\t- a", "token"),
        ("- a\n\t- b", "tab|token|expected"),
        ("{[a]: b}", "unhashable"),
        ("&a [*a]", "aliases"),
        ("*a", "aliases"),
        ('"\\UFFFFFFFF"', "."),
        ("- a\x9b", "acceptable"),
        ("!%ff a", "."),
    ],
)
@pytest.mark.usefixtures("yaml_loader")
def test_a_value_that_cannot_be_read_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parse_value(text)


def test_an_alias_bomb_does_not_go_off() -> None:
    bomb = "\n".join(
        ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    )

    with pytest.raises(Unreadable, match="aliases"):
        parse_value(bomb)


@pytest.mark.parametrize(
    "text",
    [
        "[" * DEEP,
        "[" * DEEP + "]" * DEEP,
        '{"a":' * DEEP,
        "- [" + "[" * DEEP,
        "[{a: " * DEEP,
        "- " * DEEP,
        "? " * DEEP,
        "['" + "]" * DEEP + "', " + "[" * DEEP,
        '["]",' * DEEP,
        "\n".join(" " * depth + "a:" for depth in range(1_000)),
    ],
    ids=range(10),
)
@pytest.mark.usefixtures("yaml_loader")
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(Unreadable, match="nested too deeply"):
        parse_value(text)


@given(
    st.recursive(
        st.text(st.characters(exclude_categories=[])),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_whatever_json_holds_comes_back(written: Any) -> None:
    assert parse_value(json.dumps([written])) == [written]


@given(st.text() | st.text("[]{}:,-?&*!|>'\"%@`# \n\t\\abuU0"))
@examples(300)
@pytest.mark.usefixtures("yaml_loader")
def test_no_text_does_more_than_be_refused(text: str) -> None:
    try:
        value = parse_value(text)
    except Unreadable as refusal:
        value = str(refusal)

    assert isinstance(value, str | list | dict)

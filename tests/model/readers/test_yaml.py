"""YAML of Spack's configuration is read as Spack's own parser reads it."""

from typing import Any

import pytest
from ruamel.yaml import YAML
from ruamel.yaml.constructor import RoundTripConstructor
from ruamel.yaml.error import YAMLError

from spackscope.model.core.errors import YamlError
from spackscope.model.readers.yaml import load_spack_yaml, load_yaml

DEEP = 100_000

FRAGMENTS = [
    # Plain scalars in flow collections.
    *("v: [:2.4.6]", "v: [2.4.6:]", "v: [1.2, :1.4]", "v: [1.2:1.4, 2:]", "{require: :1.10}"),
    *("{a: 1.2:}", "v: [:]", "v: [::]", "v: {a:1}", "v: {x:}", "v: {x: y:}", "v: [x:]"),
    *("v: [a:,b]", "v: {x: ::}", "v: {b: :}", "v: [[:1]:2]", 'v: [":1":2]', "v: [:1 :2]"),
    *('v: {"b":c}', "v: {'b':c, d: :e}", "v: [b: c]", "v: [b: :c]", "v: [:b: c]", "v: {a: :1, b}"),
    *("v: [:1,\n  :2]", "v: [:1 # one\n  , 2:]", "v: {\n  a: :1,\n  b: 2:\n}", "v: [:a\n  :b]"),
    *("v: [a?b]", "v: [?a]", "v: [? a]", "v: [a#b, :c#d]", "v: [https://x:80/y, :1]"),
    "[:1, [2:]]",
    *("v: [-1, :-1]", "v: [:1", "v: [:1}", "v: {a: :1 }", "v: [:1]\nw: a: b", "[:%gcc]", "[%gcc]"),
    *("v: [@1:2]", "v: ['@1:2', @3]", "v: [:'a']", "v: {a::b}", "v: {a :b}", "v: {a : b}"),
    # Keys twice, which override, and which are no strings.
    *("a: 1\na: 2", "{a: 1, a: 2}", "a:\n  b: 1\n  b: 2", "a: 1\n'a': 2", "a:: 1"),
    "'a:': 1\nb: 2",
    *("a:: 1\na: 2", "a: {x:: 1, y: 2}", "'@1:': 1", "a: x:", "'a::': 1", "[a]: 1", "{a: b}: 1"),
    # Merge keys, anchors and aliases.
    "b: &b {x: 1, y: 2}\nc:\n  <<: *b\n  x: 3",
    "b: &b {x: 1, y: 2}\nc:\n  x: 3\n  <<: *b\n  z: 4",
    "b: &b {x: 1}\nc: &c {x: 2, y: 3}\nd: {<<: [*b, *c], z: 4}",
    "b: &b {x: 1}\nc: &c {<<: *b, y: 3}\nd: {<<: *c}",
    "b: &b {x: 1}\nc: {<<: *b, <<: *b}",
    *("c: {<<: 1}", "c: {<<: [1]}", "c: {<<: {x: 1}, y: 2}", "c: {'<<': {x: 1}}", "a: <<"),
    *("a: &a 1\nb: *a", "a: &a [1, 2]\nb: [*a, *a]", "a: *b", "&a a: *a"),
    "a: &a 1\nb: &a 2\nc: *a",
    # Block collections, scalars of several lines, documents and tabs.
    *("a:\n- :1\n- 2:", "a: :1", "a: 2:", "a: b: c", "a:\n  b\n  c", "a: |\n  b\n   c\n"),
    "a: >-\n b\n c",
    *("? a\n: b", "a:\n- b\n-\n- c", "a: 'it''s'", 'a: "\\u00e9:"', "a: ~\nb:\nc: null", ""),
    "# x",
    *("a: b\n---\nc: d", "--- {a: b}\n", "a: b\n...\n", "%YAML 1.2\n---\na: b", "- a\nb: c"),
    *("a:\tb", "a: b\tc", "a: 'b\tc'", "a:\n\tb: c", "a: b # x\ty", "a: {b: c}\t"),
    "a: no\nb: 012\nc: 0x1",
    *("a: @b", "a: `b", "a: %b", "a: !x b", "a: [1, 2\nb: c", "a: 'b", "a: 'b' c"),
    "a:\n  b: 1\n c: 2",
]


class SpackConstructor(RoundTripConstructor):
    """Makes all scalars strings, without a last colon: `OrderedLineConstructor` of Spack."""

    def construct_text(self, node: Any) -> str:
        value = str(self.construct_scalar(node))
        return value[:-1] if value.endswith(":") and "@" not in value else value


for kind in ("str", "int", "float", "bool", "null", "timestamp"):
    tag = f"tag:yaml.org,2002:{kind}"
    SpackConstructor.add_constructor(tag, SpackConstructor.construct_text)


def plain(value: Any) -> Any:
    """Return lists, dicts and strings; of a tagged scalar its text."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise YAMLError
        return [(str(key), plain(each)) for key, each in value.items()]
    if isinstance(value, list):
        return [plain(each) for each in value]
    return str(getattr(value, "value", value))


def as_spack(text: str) -> Any:
    """Return the value that Spack reads, or None where it refuses the text."""
    reader = YAML(typ="rt", pure=True)
    reader.Constructor = SpackConstructor
    try:
        return plain(reader.load(text) or "")
    except YAMLError:
        return None


@pytest.mark.parametrize("text", FRAGMENTS)
@pytest.mark.usefixtures("yaml_loader")
@pytest.mark.filterwarnings("ignore::ruamel.yaml.error.ReusedAnchorWarning")
def test_a_fragment_is_read_as_spack_does(text: str) -> None:
    def text_of(value: str, line: int) -> str:
        return value[:-1] if value.endswith(":") and "@" not in value else value

    value, refused, error = load_spack_yaml(text, text_of)

    assert (None if refused or error else plain(value or "")) == as_spack(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- 1.10\n- no\n- 12:30\n- ~", ["1.10", "no", "12:30", "~"]),
        ("<<: {os: a}\ntarget: b", {"<<": {"os": "a"}, "target": "b"}),
        ('!!python/object/apply:os.system ["exit"]', ["exit"]),
        ("# a comment", None),
    ],
)
def test_all_scalars_of_a_document_are_strings(text: str, expected: Any) -> None:
    assert load_yaml(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- a\n\t- b", "tab|token|expected"),
        ("{[a]: b}", "a key has to be a string"),
        ("&a [*a]", "aliases"),
        ('"\\UFFFFFFFF"', "."),
        ("- a\x9b", "acceptable"),
        ("!%ff a", "."),
        ("[{a: " * DEEP, "nested too deeply"),
        ("- " * DEEP, "nested too deeply"),
        ("\n".join(" " * depth + "a:" for depth in range(1_000)), "nested too deeply"),
    ],
    ids=range(9),
)
@pytest.mark.usefixtures("yaml_loader")
def test_a_document_that_cannot_be_read_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(YamlError, match=reason):
        load_yaml(text)

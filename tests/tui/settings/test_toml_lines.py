from hypothesis import given
from hypothesis import strategies as st

from spackscope.tui.settings.config_file import lines_of_keys
from tests.documents import load_toml

TEXT = '''\
# a comment with [brackets] and "quotes
theme = "nord" # another
sources = [
  "a", # ]
  'b]',
]
"quoted key" = """
fold = true
ends in a quote"""" # ]
a.b = { c = 1, "d e" = [{ f = 2 }] }

[keys] # of actions
quit = ["Q"]
literal = \'\'\'
x = [\'\'\'

[tables.deep]
one = 1
[[many]]
x = 1
[[many]]
x = 2
y = 3'''


def test_each_key_has_the_line_of_its_statement() -> None:
    assert load_toml(TEXT)
    assert {".".join(path): line for path, line in lines_of_keys(TEXT).items()} == {
        "theme": 2,
        "sources": 3,
        "quoted key": 7,
        "a": 10,
        "a.b": 10,
        "a.b.c": 10,
        "a.b.d e": 10,
        "a.b.d e.f": 10,
        "keys": 12,
        "keys.quit": 13,
        "keys.literal": 14,
        "tables": 17,
        "tables.deep": 17,
        "tables.deep.one": 18,
        "many": 19,
        "many.x": 20,
        "many.y": 23,
    }


def test_a_text_without_statements_has_no_lines() -> None:
    assert lines_of_keys("") == lines_of_keys("\n# x\n\n") == {}


TEXTS = (
    *('"a"', '"a # [b"', "'c{]'", '""', "''", '"\\""', '"\\\\"', '""""""', "''''''"),
    *('"""x\n y = 1\n[z]\n"""', '""""q""""', "'''\nk = [\n'''", "''''v'''''", '"""\\""" "" """'),
)
values = st.recursive(
    st.sampled_from((*TEXTS, "1", "true", "2026-11-22")),
    lambda inner: st.builds(
        lambda items, gap: f"[{gap}{f',{gap}'.join(items)}{gap}]",
        st.lists(inner, max_size=3),
        st.sampled_from(("", " ", "\n", ' # ] "\n')),
    ),
    max_leaves=5,
)
statements = st.tuples(
    st.sampled_from(("", "\n", '# c "\n', "  \n")),
    st.one_of(st.none(), values),
    st.sampled_from(("", " # c", '  #"[')),
)


@given(st.lists(statements, max_size=8))
def test_any_key_is_found_in_its_line(drawn: list[tuple[str, str | None, str]]) -> None:
    text = ""
    table: tuple[str, ...] = ()
    expected = dict[tuple[str, ...], int]()
    for number, (before, value, after) in enumerate(drawn):
        text += before
        line = text.count("\n") + 1
        if value is None:
            table = (f"t{number}",)
            expected[table] = line
            text += f"[t{number}]{after}\n"
        else:
            key = *table, f"k {number}"
            expected[key] = line
            text += f'"k {number}" = {value}{after}\n'
    load_toml(text)
    assert lines_of_keys(text) == expected

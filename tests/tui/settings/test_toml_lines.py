from __future__ import annotations

import sys

from spackscope.tui.settings.toml_lines import key_lines

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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

[views.deep]
one = 1
[[many]]
x = 1
[[many]]
x = 2
y = 3'''


def test_each_key_has_the_line_of_its_statement() -> None:
    assert tomllib.loads(TEXT)
    assert {".".join(path): line for path, line in key_lines(TEXT, tomllib.loads).items()} == {
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
        "views": 17,
        "views.deep": 17,
        "views.deep.one": 18,
        "many": 19,
        "many.x": 20,
        "many.y": 23,
    }


def test_a_text_without_statements_has_no_lines() -> None:
    assert key_lines("", tomllib.loads) == key_lines("\n# x\n\n", tomllib.loads) == {}

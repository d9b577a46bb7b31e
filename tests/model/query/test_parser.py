"""A spec is parsed as Spack parses it, and an error says where it is and what was expected."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.assist.completion import without_word
from spackscope.model.core.errors import QueryError
from spackscope.model.query import lexer
from spackscope.model.query.ast import Condition, Query, Term
from spackscope.model.query.parser import MAX_QUERY_LENGTH, parse, parse_input
from tests.parse_counts import ParseCounts


def told(query: Query) -> str:
    """Return what a query asks: groups after commas, specs after semicolons."""
    specs = (query.groups, *query.specs)
    return "; ".join(
        ", ".join(" | ".join(map(told_condition, group)) for group in groups) for groups in specs
    )


def told_condition(condition: Condition) -> str:
    sign = "!" * condition.negated
    if isinstance(condition, Term):
        return f"{sign}{condition.column}:{condition.pattern}"
    virtuals, deptypes = map(",".join, (condition.virtuals, condition.deptypes))
    edge = f"[{virtuals};{deptypes}]" if virtuals or deptypes else ""
    terms = " ".join(map(told_condition, condition.terms))
    return f"{sign}{'%' if condition.direct else '^'}{edge}({terms})"


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("", ""),
        ("  \t\n ", ""),
        ("!hdf5", "!package:hdf5"),
        ("py-*", "package:py-*"),
        ("builtin.hdf5", "package:hdf5, namespace:builtin"),
        ("hdf5 @ 1.2, 1.4", "package:hdf5, version:1.2,1.4"),
        ("hdf5+mpi~cxx -hl", "package:hdf5, variants:+mpi, variants:~cxx, variants:~hl"),
        ("!+mpi", "!variants:+mpi"),
        ("cflags='-O2 -g'", "flags:cflags=-O2 -g"),
        # Spack takes no quotes from a value with a line break.
        ('cflags=="a\nb"', 'flags:cflags="a\nb"'),
        ("arch=linux-ubuntu24.04-zen4:", "platform:linux, os:ubuntu24.04, target:zen4:"),
        ("arch=-ubuntu24.04-", "os:ubuntu24.04"),
        ("stacks=e4s stack=e4s", "stack:e4s"),
        ("variants=os=none", "variants:os=none"),
        ("version==1.2", "version:=1.2"),
        ("operating_system=x", "os:x"),
        ("architecture=a-b-c", "platform:a, os:b, target:c"),
        ("os=x@1.2", "os:x, version:1.2"),
        ("k=a@1.2", "variants:k=a, version:1.2"),
        ("compiler=gcc@12:", "compiler:gcc@12:"),
        ("os='' target='' cflags=\"\" +mpi", "variants:+mpi"),
        ("size=10MB:", "size:10MB:"),
        ("os='a b'", "os:a b"),
        ('os="it\'s"', "os:it's"),
        ("os='it\\'s'", "os:it's"),
        ("os='a\\\\b'", "os:a\\\\b"),
        ("os='a\\\"b'", 'os:a\\"b'),
        ("k=''", "variants:k=''"),
        ("k==", "variants:k='='"),
        ("k='=x'", "variants:k='=x'"),
        ("k=='=x'", "variants:k=='=x'"),
        ("^[virtuals=mpi deptypes=link,build] openmpi", "^[mpi;build,link](package:openmpi)"),
        ("^zlib %gcc", "^(package:zlib %(package:gcc))"),
        (
            "%gcc@12: target=zen4 +graphite",
            "target:zen4, %(package:gcc version:12: variants:+graphite)",
        ),
        ("%[deptypes=build] c,cxx=gcc", "%[c,cxx;build](package:gcc)"),
        ("^[virtuals=mpi] lapack=openblas", "^[lapack,mpi;](package:openblas)"),
        ("^[virtuals:='c'] gcc", "^[c;](package:gcc)"),
        ("^[deptypes=x deptypes=link] gcc", "^[;link](package:gcc)"),
        ("^[virtuals=c virtuals=mpi] lapack=gcc", "^[lapack,mpi;](package:gcc)"),
        ("+tag", "variants:+tag"),
        ("target=a:b:c,^d", "target:a:b:c,^d"),
        ("+\xa0mpi", "variants:+mpi"),
        ("builtin.hdf5 namespace=builtin", "package:hdf5, namespace:builtin"),
        ("@git.main=1.2", "version:git.main=1.2"),
        ("@ git.main", "version:git.main"),
        ("^[] gcc", "^(package:gcc)"),
        ("%[virtuals=c]", "%[c;]()"),
        ("%[virtuals=c] @11:", "%[c;](version:11:)"),
        ("% k=*", "%(variants:k=*)"),
        ("% * k=v", "%(variants:k=v)"),
        ("% ^zlib", "%(), ^(package:zlib)"),
        ("^zlib target=zen4", "^(package:zlib target:zen4)"),
        ("^zlib !+pic", "!variants:+pic, ^(package:zlib)"),
        ("!^zlib", "!^(package:zlib)"),
        ("hdf5 zlib", "package:hdf5 | package:zlib"),
        ("hdf5@: zlib@:", "package:hdf5 | package:zlib"),
        ("package=hdf5 zlib*", "package:hdf5, package:zlib*"),
        ("hdf5 +mpi zlib", "; package:hdf5, variants:+mpi; package:zlib"),
        ("hdf5 +mpi zlib +mpi", "package:hdf5 | package:zlib, variants:+mpi"),
        ("hdf5 +mpi zlib +mpi os=x", "variants:+mpi; package:hdf5; package:zlib, os:x"),
        ("hdf5 os=x hdf5", "package:hdf5"),
        ("+mpi hdf5", "package:hdf5, variants:+mpi"),
        ("hdf5 | zlib +mpi", "package:hdf5 | package:zlib, variants:+mpi"),
        ("os=x|os=y", "os:x | os:y"),
        ("os=x | os=y", "os:x | os:y"),
        ("!arch=a-b-c", "!arch:a-b-c"),
        ("arch=a-b-c | os=x", "arch:a-b-c | os:x"),
        ("os=x | arch=a-b-c", "os:x | arch:a-b-c"),
        ("os=x | !os=y", "os:x | !os:y"),
        ("/abc /abd", "; hash:abc; hash:abd"),
        ("^zlib/abc /abd", "; ^(package:zlib hash:abc); hash:abd"),
    ],
)
def test_a_text_is_parsed_into_its_conditions(text: str, meaning: str) -> None:
    assert told(parse(text)) == meaning


REFUSED = [
    "operating_system=x architecture=a-b-c", "os='a\\'", "k='' k=a", "'os=a b'", "+cflags", "~os",
    "^[deptypes=all] gcc", "^[deptypes=link,] gcc", "^[deptypes='run, link'] gcc", "++patches",
    "++architecture", "~~tag", "builtin.hdf5 namespace=x", "@ git.main=1.2",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_can_mean_nothing_is_refused(text: str) -> None:
    with pytest.raises(QueryError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "keyed"),
    [
        ("mpi", "any=mpi"),
        ("hdf5 mpi", "hdf5 any=mpi"),
        ("mpi hdf5 | 24", "any=mpi package=hdf5 | any=24"),
        ("hdf", "any=hdf"),
        ("hdf5 py-x", "hdf5 py-x"),
        ("py-* *cuda*", "py-* any=*cuda*"),
        ("builtin.hdf5 a.mpi", "builtin.hdf5 any=a.mpi"),
        ("cached", "cached"),
        ("'c,c++' \"hdf5\"", "any='c,c++' any=hdf5"),
        ("!mpi !hdf5", "!any=mpi !package=hdf5"),
        ("hdf5@1.2 zlib+pic ^mpi", "hdf5@1.2 zlib+pic ^mpi"),
    ],
)
def test_a_bare_word_of_a_live_filter_is_a_package_or_a_text_in_any_column(
    text: str, keyed: str
) -> None:
    assert parse(text, packages=("hdf5", "py-x")) == parse(keyed, packages=("hdf5", "py-x"))
    assert parse(text, packages=("hdf5", "py-x")) == parse(keyed)


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("os=x 'y", 5, "Unclosed quote"),
        ('hdf5 os="', 8, "Unclosed quote"),
        ('na*me="a% na*me=in"', 0, r"Expected a key before =, found na\*me"),
        ("x na*me=in", 2, r"Expected a key before =, found na\*me"),
        ("!!hdf5", 1, 'Unexpected "!" after !'),
        ("!hdf5@1", 1, "apply to one condition"),
        ("zlib | hdf5@1", 7, "apply to one condition"),
        ("zlib@1 | hdf5", 7, r"\| joins two single conditions"),
        ("hdf5+mpi|zlib", 8, r"\| joins two single conditions"),
        ("!builtin.hdf5", 1, "this is two. Write hdf5 namespace=builtin"),
        ("builtin.hdf5 | zlib", 0, "this is two"),
        ("^[virtuals=mpi openmpi", 1, "Expected ] and a name"),
        ("size=1GB:1MB", 0, "is an empty range"),
        ("os=x !", 5, "Expected a condition after !"),
        ("a |", 2, r"Expected another condition after \|"),
        ("| a", 0, r"Expected a condition on each side of \|"),
        ("a | | b", 4, r"Expected a condition on each side of \|"),
        ("a +", 2, r"Expected a variant after \+"),
        ("a os=", 4, "Expected a value after os="),
        ("a !build_type=", 13, "Expected a value after build_type="),
        ("a /", 2, "Expected a hash prefix after /"),
        ("a @", 2, "Expected a version after @"),
        ("a ^", 2, r"Expected a dependency after \^"),
        ("a % !b", 2, "Expected a compiler or a direct dependency after %"),
        ("a version=1:2:3", 2, "more than one colon"),
        ("a @3:1", 2, "empty range"),
        ("compiler=gcc@", 0, "Expected a version"),
        ("size=10MB", 0, "not a size range"),
        *((f"size={size}:", 0, f"{size} is not a size") for size in ("big", "5iB")),
        ("+a ~a", 3, r"a is given twice. For either, write \+a \| ~a"),
        ("package=a or", 10, r"package is given twice\. For either, write \|\."),
        ("k=1 k=2", 4, r"k is given twice. For either, write k=1 \| k=2"),
        ("a os=x os=y", 7, "os is given twice"),
        ("@1 @2", 3, "version is given twice"),
        ("a ^b@1@2", 6, "version is given twice"),
        ("+a +a", 3, "a is given twice$"),
        ("a ^b+c+c", 6, "c is given twice$"),
        ("target=a target=a", 9, "target is given twice$"),
        ("os=x arch=zen4", 5, "os is given twice"),
        ("arch=a-b-c target=d", 11, "is given twice"),
        ("hash=abc /abc", 9, "hash is given twice$"),
        ("os==x", 0, "Use = after os"),
        ("patches==0df", 0, "Use = after patches"),
        ("a@1.", 3, 'Unexpected "[.]"'),
        ("a@1.,2", 3, 'Unexpected "[.]"'),
        ("a@1.2-", 5, 'Unexpected "-"'),
        ("a..b", 2, "a..b is not a package name"),
        ("a ^b.", 5, "b. is not a package name"),
        ("zlib-é", 5, 'Unexpected "é"'),
        ("k=é", 2, 'Unexpected "é"'),
        ("^ [virtuals=c] gcc", 2, r'Unexpected "\['),
        ("%c=gcc=x", 6, "Expected a package name, found ="),
        ("!os=''", 1, "is not a condition"),
        ("os='' | os=x", 6, r"Expected a condition on each side of \|"),
        ("^[when=x] a", 2, "Expected virtuals=… or deptypes=…"),
        ("^[deptypes=lnk] a", 11, "lnk is not a dependency type"),
        ("a (b)", 2, r'Unexpected "\(". Quote it, or use \| for or'),
        ("x" * (MAX_QUERY_LENGTH + 1), MAX_QUERY_LENGTH, "at most 50,000 characters"),
        (" ".join(f"p{n}" for n in range(1_001)), 4890, "at most 1,000 terms"),
    ],
)
def test_an_error_has_its_offset_and_a_reason(text: str, offset: int, message: str) -> None:
    with pytest.raises(QueryError, match=message) as refusal:
        parse(text)

    assert refusal.value.offset == offset
    in_line = parse_input(text, 0, packages=None)
    assert in_line.query is None
    assert str(in_line.error) == str(refusal.value)


@pytest.mark.parametrize(
    ("text", "parses"),
    [("py-b", 1), ("hdf5+mpi os=ubuntu24.04 ta", 1), ("a !b | c ", 1), ("%gcc", 1), ("os=", 2)],
)
def test_a_text_is_lexed_and_parsed_once_and_an_unfinished_one_once_more(
    text: str, parses: int, parse_counts: ParseCounts
) -> None:
    parsed = parse_input(text, len(text))
    without_word(parsed)
    str(parsed.query)

    assert (parse_counts.parses, parse_counts.lexer_runs) == (parses, parses)


@pytest.mark.parametrize(
    "text", ["hdf5'mpi'", "os=x'foo'", '%gcc"foo"', "'a''b' +x", "!'a'|'b'|os=x", "hdf5 'a'"]
)
def test_a_text_that_is_left_keeps_its_meaning(text: str) -> None:
    parsed = parse_input(text, len(text), packages=["hdf5"])
    assert parsed.query is not None
    assert parse_input(parsed.settled_text, 0, packages=["hdf5"]).query == parsed.query


any_text = st.text(st.characters(exclude_categories=[]), min_size=1)


@given(any_text | st.text("ab1!=+~@:*?/'\" ,|^%[]-"))
def test_no_character_of_a_text_is_lost(text: str) -> None:
    assert "".join(token.text for token in lexer.tokens(text)) == text
    pieces = list(lexer.highlights(lexer.tokens(text)))
    assert all(start < end for start, end, _ in pieces)
    assert all(one[1] <= two[0] for one, two in pairwise(pieces))


@pytest.mark.parametrize("text", ["'\\" * 5_000, '"\\' * 5_000, "'\"\\" * 5_000])
def test_an_unclosed_quote_is_searched_once(text: str) -> None:
    assert len(list(lexer.tokens(text))) < 10
    with pytest.raises(QueryError, match="Unclosed quote"):
        parse(text)


@given(any_text.filter(lambda text: "\n" not in text))
def test_a_quoted_value_is_one_token_and_is_unquoted_again(text: str) -> None:
    (token,) = lexer.tokens(f"k={lexer.in_quotes(text)}")

    # Between quotes a backslash at the end would protect the quote.
    back = re.sub(r"\\\Z", "?", text)
    assert lexer.unquoted(token.text.removeprefix("k=")) == back

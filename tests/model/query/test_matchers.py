"""One record satisfies a query, or does not, or lists too little to decide."""

from math import inf

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.model.query.ast import Query, Term
from spackscope.model.query.matchers import matcher, target_test
from spackscope.model.query.parser import parse
from tests.builders.pages import hash_of
from tests.evaluator import satisfies

SPEC = Spec(
    package="hdf5", hash=hash_of(123_456_789), version="1.14.5", compiler="gcc@13.2.0/5o2zn6v",
    platform="linux", os="ubuntu24.04", target="x86_64_v3",
    variants=("api=default", "+cxx", "~mpi", "libs:=shared,static", "languages:='c,c++'",
              "patches=1a2b3c4,f00dfee", "os=none"),
    stacks=("e4s", "root"), size=5_100_000, tag="develop", origin="mirror/specs.md",
    source="mirror",
)  # fmt: skip

SATISFIED = [
    "h*5", "HDF?", "zlib hdf5", "os=x | os=ubuntu24.04", "%c,cxx=gcc@12:13", "%gcc/5o2",
    "!%clang", "arch=linux-ubuntu24.04-x86_64_v2:", "languages:='c++,c'", "patches=1a2b3c4d5e",
    "patches=f00", "!zlib", "hash={hash}", "/{start}", "!/zzz", "hash=*{end}", "version=1.14",
    "version=1.14:", "version=:1.14", "version=1.2,1.14.5", "version==1.14.5", "version=1.1?.5",
    "compiler=gcc", "compiler=gcc@13", "compiler=gcc@=13.2.0", "compiler=gcc@12:",
    "compiler=gcc/5o2", "compiler=gcc@13/5o2", "compiler=*13*", "os=UBUNTU*", "mpi=False",
    "cxx=*", "api=d*", "libs=s*", "!libs:=shared", "libs=*", "variants=os=none",
    "variants=lang*", "stack=e4s", "!stack=hep", "tag=dev*", "size=1MB:10MB",
    "size=4MiB:5.2MB", "size=:", "source=mirror", "flags=''", "!stack=''",
]  # fmt: skip
UNSATISFIED = [
    "HDF5", "other.hdf5", "!%gcc", "os=x | os=y", "zlib | hdf5 +mpi", "patches:=f00", "/7QYOKW",
    "!hdf5", "hdf5 !h*", "version=1.1", "version==1.14", "compiler=gc", "compiler=gcc@12",
    "compiler=gcc@=13", "compiler=gcc/6", "api=DEFAULT", "libs:=shared", "libs=static,none",
    "os=none", "nothing=*", "stack=e4", "size=6MB:", "size=5MiB:", "platform=Linux",
]  # fmt: skip


@pytest.mark.parametrize("text", SATISFIED)
def test_a_query_that_a_record_satisfies(text: str) -> None:
    query = parse(text.format(hash=SPEC.hash, start=SPEC.hash[:9], end=SPEC.hash[-5:]))

    assert satisfies(SPEC, query)
    (*groups, last) = query.groups
    if len(last) == 1:
        turned = replace(last[0], negated=not last[0].negated)
        assert not satisfies(SPEC, Query((*groups, (turned,))))


@pytest.mark.parametrize("text", UNSATISFIED)
def test_a_query_that_a_record_does_not_satisfy(text: str) -> None:
    assert not satisfies(SPEC, parse(text))


def test_a_bare_word_is_found_in_any_column() -> None:
    found = ["hd", "HDF5", "14.5", "ubuntu", "v3", "api", "root", "mirr", "r"]
    found.append(SPEC.hash[:3].upper())
    words = [*found, SPEC.hash[3:], "5100000"]
    assert [word for word in words if satisfies(SPEC, parse(word, packages=()))] == found


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        *((":", 0, inf), ("10:20", 10, 20), (":1GB", 0, 10**9)),
        *(("1kB:2KiB", 1_000, 2_048), ("1.5mb:2 Gi", 1_500_000, 2**31)),
        ("9" * 5_000 + ":", inf, inf),
    ],
)
def test_sizes_are_read_in_bytes(text: str, low: float, high: float) -> None:
    fits = matcher("size", text)
    assert [fits(size) for size in (low, high)] == [True, True]
    assert [fits(size) for size in (low - 1, high + 1)] == [low == inf, high == inf]
    assert not satisfies(replace(SPEC, size=None), parse(f"size={text.replace(' ', '')}"))


@pytest.mark.parametrize("text", ["size=''", "size='1K\u0131:'", "size='1K\u0130b:'", "hash=''"])
def test_what_is_no_size_or_hash_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expected a|is not a size"):
        satisfies(SPEC, parse(text))


def test_many_stars_take_no_time_on_a_long_text() -> None:
    long = "a" * 100_000

    assert not Term("os", "*a" * 30 + "*b").fits("os", long)
    assert Term("os", "*" * 50 + "a").fits("os", long)
    assert not satisfies(SPEC, parse("*".join("abcdefgh"), packages=()))


def test_brackets_in_a_glob_are_brackets() -> None:
    assert Term("os", "[a]*").fits("os", "[a]b")
    assert not Term("os", "[a]*").fits("os", "ab")


@pytest.mark.parametrize(
    ("constraint", "fitting", "others"),
    [
        ("zen4", ["zen4"], ["zen3"]),
        ("x86_64_v3:", ["zen4"], ["aarch64"]),
        (":zen4", ["x86_64"], ["zen5"]),
        ("x86_64:zen3", ["zen3"], ["zen4"]),
        ("zen3,,zen4", ["zen4"], [""]),
        ("*", ["anything"], []),
        ("x86_64:", [], ["no-such-target"]),
        ("no-such-target", ["no-such-target"], []),
        ("", [""], ["zen4"]),
    ],
)
def test_a_target_fits_its_entries_and_ranges(
    constraint: str, fitting: list[str], others: list[str]
) -> None:
    fits = target_test(constraint)

    assert [*filter(fits, [*fitting, *others])] == fitting

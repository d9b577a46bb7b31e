"""Versions are ordered and matched as Spack orders and matches them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.versions import find_satisfying, satisfies, version_key

DATA = Path(__file__).parents[2] / "data"


PAIRS: list[dict[str, str]] = json.loads((DATA / "version_pairs.json").read_text("utf-8"))
MATCHES: list[dict[str, Any]] = json.loads((DATA / "version_satisfies.json").read_text("utf-8"))
VERSIONS = sorted({version for pair in PAIRS for version in (pair["a"], pair["b"])})

any_text = st.text(st.characters(exclude_categories=[]))
PIECES = ["0", "00", "1", "2", "9", "10", "99999", ".", "-", "_", "=", ":", "git.", "develop"]
PIECES += ["a", "z", "zz", "Z", "rc", "alpha", "beta", "final", "main", "stable", "HEAD"]
version_like = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
any_version = st.one_of(st.sampled_from(VERSIONS), version_like, any_text)


def relation(a: str, b: str) -> str:
    left, right = version_key(a), version_key(b)
    return "<" if left < right else ">" if left > right else "="


def test_two_versions_compare_as_in_spack() -> None:
    wrong = [pair for pair in PAIRS if relation(pair["a"], pair["b"]) != pair["result"]]
    assert wrong == []


def test_a_constraint_holds_where_it_holds_in_spack() -> None:
    wrong = []
    for match in MATCHES:
        try:
            answer = satisfies(match["version"], match["constraint"])
        except ValueError as error:
            if "error" not in match or "is not a version" not in str(error):
                wrong.append((match, str(error)))
        else:
            if "error" in match or answer is not match["satisfies"]:
                wrong.append((match, str(answer)))
    assert wrong == []


def test_sorted_versions_are_searched_as_each_is_checked() -> None:
    names = ["1.1", "1.2-3", "1.2.3", "1.4", "1.5rc1", "develop"]
    names += ["git.a", "git.a=1.2", "git.b=1.2"]
    keys = sorted(map(version_key, names))
    constraints = ["1.2", "=1.2.3", "1.2:1.4", ":1.4", "1.4:", ":", "1.1,1.4", "1:,1.2"]
    for constraint in [*constraints, "git.a", "git.a=1.2", "git.a=1:2", "git.c", "9"]:
        fitting = {version_key(name) for name in names if satisfies(name, constraint)}
        found = find_satisfying(keys, constraint)
        assert found == {at for at, key in enumerate(keys) if key in fitting}, constraint


def test_a_sorted_list_reads_from_names_over_numbers_to_develop() -> None:
    names = ["HEAD", "rc1", "v1.0"]
    prereleases = ["1.2-alpha", "1.2-beta1", "1.2-rc.1", "1.2rc2"]
    numbers = ["1.2", "1.2a", "1.2.0", "1.10", "1.10.stable", "2"]
    endless = ["stable", "nightly", "trunk", "head", "master", "main", "develop"]
    ordered = names + prereleases + numbers + endless

    with_git = ["1.2", "git.abc=1.2", "git.abd=1.2", "1.2.0", "develop", "git.unassigned"]
    for names in (ordered, with_git):
        backwards = names[::-1]
        assert sorted(backwards, key=version_key) == names


@pytest.mark.parametrize(
    "equal", [("1.2-3", "1_2.3"), ("2.0rc1", "2.0-rc_1"), ("00", "0"), ("1.0final", "1.0")]
)
def test_separators_zeros_and_final_make_no_difference(equal: tuple[str, str]) -> None:
    assert version_key(equal[0]) == version_key(equal[1])


def test_numbers_beyond_what_int_reads_are_compared_by_value() -> None:
    nines, power = "9" * 5_000, "1" + "0" * 5_000

    assert version_key(nines) < version_key(power) < version_key("develop")
    assert version_key("000" + nines) == version_key(nines)
    assert satisfies(f"{nines}.3", nines)
    assert not satisfies(power, nines)


@given(any_version, any_version, any_version)
def test_any_three_strings_have_one_order(a: str, b: str, c: str) -> None:
    assert relation(a, a) == "="
    assert relation(a, b) == {"<": ">", ">": "<", "=": "="}[relation(b, a)]
    if relation(a, b) != ">" and relation(b, c) != ">":
        assert relation(a, c) != ">"


@given(any_version, any_version)
def test_a_constraint_is_answered_or_refused_in_one_sentence(
    version: str, constraint: str
) -> None:
    try:
        answer = satisfies(version, constraint)
    except ValueError as error:
        message = str(error)
        assert message.isprintable()
        assert len(message) < 500
    else:
        assert isinstance(answer, bool)


@given(st.sampled_from(VERSIONS).filter(lambda version: "=" not in version))
def test_every_version_satisfies_itself_however_it_is_written(version: str) -> None:
    for form in ("{0}", "={0}", "{0}:{0}", "{0}:", ":{0}"):
        assert satisfies(version, form.format(version))


REFUSED = [
    "1.4:1.2", "2.0:2.0rc1", "develop:1.2", "=1.2:1.4", "1:2:3", "==1.2", ">=1.2", "=", "", "1.2,",
    ",1.2", "1.2+mpi", "1.2\n", "²", "git.main=", "git.a:b=1.2", "\x1b[31m", "x" * 100_000 + "!",
]  # fmt: skip


@pytest.mark.parametrize("constraint", REFUSED)
@pytest.mark.parametrize("version", ["1.2", "develop", "git.main=1.2"])
def test_a_constraint_that_spack_refuses_is_refused(version: str, constraint: str) -> None:
    with pytest.raises(ValueError, match=r"is not a|Expected a version|empty range") as refusal:
        satisfies(version, constraint)

    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 200


# A git reference matches by its version or by its name.
INCLUDED = [
    "1.5rc1 in :1.4", "2.0rc in 2.0rc", "2.0rc9 in 2.0rc9:2.0rc10", "release in r",
    "maste in :main", "main-2 in main", "develop.3 in main:", "1.3.9 in 1.2, 1.3 : 1.4",
    "git.main=1.2 in 1.2", "git.main=1.2 in git.main=1.2", "git.main=1.2 in git.main",
    "git.main=1.2 in git.main=1.1:1.3", "git.main in :", "git.main in git.main",
    "0123456789abcdef0123456789abcdef01234567=2.1 in 2",
]  # fmt: skip
NOT_INCLUDED = [
    "2.0rc1 in 2.0rc", "2.0rc10 in 2.0rc9", "zB in z", "master in mastep:mastez",
    "develop in :main", "1.3 in 1.3:1.2", "git.main=1.2 in =1.2", "1.2 in git.main=1.2",
    "git.main=1.2 in git.main=1.3", "git.main=1.2 in git.other=1.2",
    "git.main=1.4 in git.main=1.1:1.3", "git.main in 1.2:",
]  # fmt: skip


@pytest.mark.parametrize("text", [*INCLUDED, *NOT_INCLUDED])
def test_a_constraint_includes_what_it_does_in_spack(text: str) -> None:
    version, _, constraint = text.partition(" in ")
    assert satisfies(version, constraint) is (text in INCLUDED)

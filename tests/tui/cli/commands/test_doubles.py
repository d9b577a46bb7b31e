from __future__ import annotations

import json
import lzma

import pytest

from tests.builders import SPACK_DATA
from tests.model.analysis.lock_files import made, write_lock
from tests.program import Program

OLD, NEW = made("zlib", "1.2"), made("zlib", "1.3")


def write_environment(program: Program) -> str:
    cmake = made("cmake", links=[OLD])
    hdf5 = made("hdf5", links=[NEW], builds=[cmake])
    write_lock(program.home / "env" / "spack.lock", made("app", links=[hdf5]), OLD)
    return "env/spack.lock"


def test_doubles_are_listed_by_cause_with_their_roots(program: Program) -> None:
    words = "doubles", write_environment(program)
    code, text = program.on_terminal(*words, changes={"NO_COLOR": "1"})
    assert code == 1
    assert text.splitlines() == [
        "1 of 4 packages has several hashes: 1 at run time",
        "",
        "package  version  hash     with  used by     for  roots  dependents",
        "",
        "zlib 1.2 ≠ 1.3: 1 package",
        f"zlib     1.2      {OLD.hash[:7]}  1.2   a root      run      1           1",
        f"zlib     1.3      {NEW.hash[:7]}  1.3   app › hdf5  run      1           1",
    ]
    result = program(*words, "--json")
    assert result.returncode == 1
    assert json.loads(result.stdout) == [
        {
            "cause": "zlib 1.2 ≠ 1.3",
            "deepest": True,
            "package": "zlib",
            "version": zlib.node["version"],
            "hash": zlib.hash,
            "value": zlib.node["version"],
            "used_by": users,
            "run": True,
            "roots": 1,
            "dependents": 1,
        }
        for zlib, users in ((OLD, []), (NEW, ["app", "hdf5"]))
    ]


def test_an_environment_is_named_in_several_ways(program: Program) -> None:
    lock = write_environment(program)
    text = program("doubles", lock).stdout
    assert program("doubles", "env").stdout == text
    assert program("doubles", "-f", "env").stdout == text
    assert program("doubles", "-", stdin=program.home / lock).stdout == text
    assert "climate" in program.refused("doubles", "climate", code=3)


def test_ignored_packages_do_not_count(program: Program) -> None:
    lock = write_environment(program)
    for pattern in ("zlib", "z*"):
        result = program("doubles", lock, "--ignore", "hdf5", "--ignore", pattern)
        assert result.returncode == 0
        assert result.stderr == "spackscope: none of 4 packages has several hashes\n"


def test_doubles_are_certain_whatever_else_cannot_be_read(program: Program) -> None:
    (program.home / "broken.json").write_text("{")
    words = "doubles", write_environment(program), "broken.json"
    result = program(*words)
    assert (result.returncode, "broken.json" in result.stderr) == (1, True)
    assert program(*words, "--ignore", "zlib").returncode == 0


def test_a_real_environment_is_described(program: Program) -> None:
    data = lzma.decompress((SPACK_DATA / "analysis" / "made.lock.xz").read_bytes())
    (program.home / "spack.lock").write_bytes(data)
    changes = {"NO_COLOR": "1"}
    _, text = program.on_terminal("doubles", "spack.lock", columns=120, changes=changes)
    lines = text.splitlines()
    assert lines[0] == "28 of 59 packages have several hashes: 18 at run time, 10 only to build"
    assert lines[4] == "zlib-ng ~new_strategies ≠ +new_strategies: 15 packages"
    assert [line.split()[:4] for line in lines[5:8]] == [
        ["zlib-ng", "2.3.2", "3hbanml", "+new_strategies"],
        ["zlib-ng", "2.3.2", "lxdloq4", "~new_strategies"],
        ["cmake", "3.31.11", "alqml32", "+new_strategies"],
    ]
    assert lines[8] == "and 33 more; --limit 0 prints all"
    every = json.loads(program("doubles", "spack.lock", "--json").stdout)
    assert len({row["package"] for row in every}) == 28
    assert all(row["value"] for row in every if row["cause"])


def test_what_is_not_searched_is_a_value_of_its_own_in_every_form(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spackscope.model.answers.doubles.MAX_STEPS", 10_000)
    variants = ({f"v{n}": f"{build}" for n in range(40)} for build in range(30))
    write_lock(program.home / "spack.lock", *(made("big", variants=each) for each in variants))
    for form in ("--json", "--csv", "--jsonl", "--no-color"):
        result = program("doubles", "spack.lock", form)
        assert "of 30 builds are not searched" in result.stderr
        assert "not searched" in result.stdout

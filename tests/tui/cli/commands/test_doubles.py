from __future__ import annotations

import json
import lzma

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
    result = program("doubles", write_environment(program))
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        "1 of 4 packages has several hashes: 1 at run time",
        "",
        "zlib 1.2 ≠ 1.3: 1 package",
        "  zlib",
        f"    1.2  /{OLD.hash[:7]}  a root",
        f"    1.3  /{NEW.hash[:7]}  1 root: app › hdf5 › zlib",
    ]


def test_an_environment_is_named_in_several_ways(program: Program) -> None:
    lock = write_environment(program)
    text = program("doubles", lock).stdout
    assert program("doubles", "env").stdout == text
    assert program("doubles", "-f", "env").stdout == text
    assert program("doubles", "-", stdin=program.home / lock).stdout == text
    missing = program("doubles", "climate")
    assert (missing.returncode, missing.stdout) == (3, "")
    assert "climate" in missing.stderr


def test_ignored_packages_do_not_count(program: Program) -> None:
    lock = write_environment(program)
    for pattern in ("zlib", "z*"):
        result = program("doubles", lock, "--ignore", "hdf5", "--ignore", pattern)
        assert result.returncode == 0
        assert result.stdout == "no package of 4 has several hashes\n"


def test_json_has_builds_and_causes(program: Program) -> None:
    result = program("doubles", "--json", write_environment(program))
    document = json.loads(result.stdout)
    (double,) = document["doubles"]
    assert (result.returncode, double["package"], double["run"]) == (1, "zlib", True)
    assert [build["hash"] for build in double["builds"]] == [OLD.hash, NEW.hash]
    assert double["builds"][1]["path"] == ["app", "hdf5", "zlib"]
    assert [root["package"] for root in double["builds"][1]["roots"]] == ["app"]
    (cause,) = document["causes"]
    assert cause["packages"] == ["zlib"]
    assert cause["differences"] == [
        {"package": "zlib", "attribute": "version", "a": "1.2", "b": "1.3"}
    ]
    assert cause["pairs"] == [
        {"package": "zlib", "a": OLD.hash, "b": NEW.hash, "path": [], "run": True}
    ]


def test_a_real_environment_is_described(program: Program) -> None:
    data = lzma.decompress((SPACK_DATA / "analysis" / "made.lock.xz").read_bytes())
    (program.home / "spack.lock").write_bytes(data)
    lines = program("doubles", "spack.lock").stdout.splitlines()
    assert lines[:8] == [
        "28 of 59 packages have several hashes: 18 at run time, 10 to build only",
        "",
        "zlib-ng ~new_strategies ≠ +new_strategies: 15 packages",
        "  zlib-ng",
        "    2.3.2  /3hbanml  with +new_strategies  6 roots: cmake › zlib-ng",
        "    2.3.2  /lxdloq4  with ~new_strategies  2 roots: libevent › openssl › zlib-ng",
        "  cmake, to build only",
        "    3.31.11  /alqml32  with +new_strategies  3 roots: fmt › cmake",
    ]
    assert "  and openssl, pigz, py-pip, py-setuptools, py-wheel" in "\n".join(lines)
    every = program("doubles", "--all", "spack.lock").stdout.splitlines()
    assert len(every) > len(lines)
    assert all(line.isprintable() for line in every)


def test_headings_are_bold_on_a_terminal(program: Program) -> None:
    lock = write_environment(program)
    code, text = program.on_terminal("doubles", lock)
    assert code == 1
    assert "\x1b[1mzlib 1.2 ≠ 1.3: 1 package\x1b[0m\n  zlib\n" in text
    assert "\x1b" not in program.on_terminal("doubles", "--no-color", lock)[1]

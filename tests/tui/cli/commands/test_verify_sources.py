"""The command `sources --verify` names the records whose content does not give their hash."""

from __future__ import annotations

import json

from spackscope.model.readers.nodes import content_hash
from tests.builders import INSTALL_TREE, database, hash_of, installs, leaf, node
from tests.program import Program

WRONG = leaf(hash_of(7), "zlib-ng", "2.3.2")


def write_index(program: Program, *nodes: dict[str, object]) -> None:
    (program.home / "index.json").write_bytes(database(installs(*nodes)))


def test_whole_sources_give_exit_code_0(program: Program) -> None:
    result = program("sources", "--verify", "-f", str(INSTALL_TREE), "-f", "sample_data")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "source\tkind\twhole\twrong\tunchecked",
        f"{INSTALL_TREE}\tfile\t22\t0\t0",
        "sample_data\tpages\t0\t0\t346",
        "",
        "sample_data: 346 records cannot be checked: pages do not contain what Spack hashes",
    ]


def test_a_wrong_record_is_named_and_gives_exit_code_1(program: Program) -> None:
    external = leaf(hash_of(8), "gcc", "\x1b[31m") | {"external": {"path": "/usr"}}
    write_index(program, WRONG, external)
    options = ("--no-color", "--verify", "-f", "index.json", "-f", "gone")
    code, text = program.on_terminal("sources", *options)
    assert code == 1
    assert "\x1b" not in text
    assert text.splitlines() == [
        "spackscope: the source gone does not exist",
        "source      kind        whole  wrong  unchecked",
        "index.json  file            0      2          0",
        "gone        unreadable      0      0          0",
        "",
        "index.json: the content of 1 record gives another hash (changed after Spack hashed it):",
        f"  zlib-ng@2.3.2 /{hash_of(7)} gives {content_hash(WRONG)}",
        "",
        "index.json: the content of 1 record gives another hash (external, whose prefix or modules"
        " may have been rewritten):",
        f"  gcc@␛[31m /{hash_of(8)} gives {content_hash(external)}",
    ]


def test_scripts_get_one_object_for_each_source(program: Program) -> None:
    write_index(program, WRONG)
    result = program("sources", "--verify", "--json", "-f", "index.json", "-f", "sample_data")
    assert result.returncode == 1
    index, sample = map(json.loads, result.stdout.splitlines())
    assert index == {
        "name": "index.json",
        "kind": "file",
        "whole": 0,
        "wrong_count": 1,
        "wrong": [
            {
                "document": "index.json",
                "package": "zlib-ng",
                "version": "2.3.2",
                "hash": hash_of(7),
                "content_hash": content_hash(WRONG),
                "reason": "changed after Spack hashed it",
            }
        ],
        "unchecked": {},
        "problems": [],
        "failure": "",
    }
    assert sample["unchecked"] == {"pages do not contain what Spack hashes": 346}


def test_what_cannot_be_read_gives_exit_code_3(program: Program) -> None:
    made = node()
    good = made | {"hash": content_hash(made)}
    write_index(program, good)
    assert program("sources", "--verify", "-f", "index.json").returncode == 0
    assert program("sources", "--verify", "-f", "index.json", "-f", "gone").returncode == 3

    data = (program.home / "index.json").read_bytes()
    (program.home / "index.json").write_bytes(data[:-1])
    result = program("sources", "--verify", "-f", "index.json")
    assert result.returncode == 3
    assert "cut off" in result.stderr

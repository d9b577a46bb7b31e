from __future__ import annotations

import json

from tests.builders import MANIFEST, mirror_v3, record, serve_files, under, write_page, zlib_index
from tests.model.analysis.lock_files import Made, made, write_lock
from tests.program import Program

OLD, NEW = made("zlib", "1.2"), made("zlib", "1.3")


def roots(zlib: Made, *more: Made) -> list[Made]:
    hdf5 = made("hdf5", links=[zlib])
    return [hdf5, made("app", links=[hdf5]), *more]


def write_locks(program: Program) -> tuple[str, str]:
    write_lock(program.home / "old" / "spack.lock", *roots(OLD, made("bzip2")))
    write_lock(program.home / "new" / "spack.lock", *roots(NEW, made("xz", "5.4")))
    return "old/spack.lock", "new/spack.lock"


def test_two_lock_files_are_compared(program: Program) -> None:
    result = program("diff", *write_locks(program))
    assert result.returncode == 1
    bzip2, xz = made("bzip2").hash[:7], made("xz", "5.4").hash[:7]
    assert result.stdout.splitlines() == [
        "old/spack.lock → new/spack.lock",
        "4 → 4 specs: 3 changed, 1 added, 1 removed",
        "",
        "roots",
        f"  + xz@5.4 /{xz}",
        f"  - bzip2@1.0 /{bzip2}",
        "",
        "changed because of others",
        "  2 only because of zlib 1.2 → 1.3",
        "",
        "changed",
        "  zlib 1.2 → 1.3, and 2 specs through it",
        "",
        "added: 1 package",
        "  xz@5.4",
        "",
        "removed: 1 package",
        "  bzip2@1.0",
    ]


def test_equal_sources_are_alike(program: Program) -> None:
    old, _ = write_locks(program)
    for other in (old, "old"):
        result = program("diff", old, other)
        assert (result.returncode, result.stdout.splitlines()[1:]) == (0, ["the same 4 specs"])


def test_a_source_may_be_standard_input(program: Program) -> None:
    old, new = write_locks(program)
    result = program("diff", "-", new, stdin=program.home / old)
    assert result.returncode == 1
    assert result.stdout.splitlines()[1] == "4 → 4 specs: 3 changed, 1 added, 1 removed"


def test_json_has_packages_and_causes(program: Program) -> None:
    old, new = write_locks(program)
    result = program("diff", "--json", old, new)
    document = json.loads(result.stdout)
    assert result.returncode == 1
    assert (document["sources"], document["specs"], document["same"]) == ([old, new], [4, 4], 0)
    assert document["added"] == [
        {"package": "xz", "versions": ["5.4"], "hashes": [made("xz", "5.4").hash]}
    ]
    assert [package["package"] for package in document["removed"]] == ["bzip2"]
    changed = {package["package"]: package for package in document["changed"]}
    assert sorted(changed) == ["app", "hdf5", "zlib"]
    assert (changed["zlib"]["a"], changed["zlib"]["b"]) == (["1.2"], ["1.3"])
    assert changed["app"]["specs"][0]["own"] == []
    assert changed["app"]["specs"][0]["causes"] == [0]
    (cause,) = document["causes"]
    assert (cause["own"], cause["only"], cause["also"]) == (1, 2, 0)
    assert cause["differences"] == [
        {"package": "zlib", "attribute": "version", "a": "1.2", "b": "1.3"}
    ]
    assert [root["package"] for root in document["roots"]["changed"]] == ["app", "hdf5"]


def test_a_source_that_cannot_be_read_is_named(program: Program) -> None:
    old, _ = write_locks(program)
    (program.home / "empty").mkdir()
    for name in ("empty", "none.lock", "ftp://site.org/mirror"):
        result = program("diff", old, name)
        assert (result.returncode, result.stdout) == (3, "")
        assert name in result.stderr


def test_long_sections_are_cut(program: Program) -> None:
    old = write_lock(program.home / "old.lock", NEW)
    new = write_lock(program.home / "new.lock", NEW, *(made(f"p{n:03}") for n in range(150)))
    lines = program("diff", old.name, new.name).stdout.splitlines()
    assert lines[-1] == "  and 50 more; --all lists all"
    every = program("diff", "--all", old.name, new.name).stdout.splitlines()
    assert every[-1] == "  p149@1.0"


def test_pages_are_compared_by_what_they_tell(program: Program) -> None:
    for name, version in (("v1", "1.2"), ("v2", "1.3")):
        records = [record(int(name[1]), versions=[version]), record(int(name[1]) + 4)]
        write_page(program.home / f"{name}.md", records, tag=name)
    lines = program("diff", "v1.md", "v2.md").stdout.splitlines()
    assert lines[1:] == [
        "2 → 2 specs: 2 changed",
        "",
        "changed because of others",
        "  1 for reasons that the sources do not list",
        "",
        "changed",
        "  zlib 1.2 → 1.3",
    ]


def test_two_tags_of_the_public_cache_are_compared(program: Program) -> None:
    files = {
        **under("v1", mirror_v3(zlib_index())),
        **under("v2", mirror_v3(zlib_index(hash_="3" * 32, version="1.3.2"))),
    }
    tags = {
        tag: [{"label": "root", "url": f"s3://spack-binaries/{tag}/{MANIFEST}"}]
        for tag in ("v1", "v2")
    }
    files["cache_spack_io_index.json"] = json.dumps(tags).encode()
    with serve_files(files) as server:
        tag_list = f"{server.url}/cache_spack_io_index.json"
        result = program("diff", "public:v1", "public:v2", SPACKSCOPE_PUBLIC=tag_list)
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        "public:v1 → public:v2",
        "4 → 4 specs: 3 the same, 1 changed",
        "",
        "changed",
        "  zlib 1.3.1 → 1.3.2",
    ]

import subprocess

from tests.builders.pages import record, write_page
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


def rows_of(result: subprocess.CompletedProcess[str]) -> list[tuple[str, ...]]:
    """Return kind, text and number of specs of the rows, which are tabs in a pipe."""
    return [tuple(line.split("\t")[:3]) for line in result.stdout.splitlines()[1:]]


def test_two_lock_files_are_compared(program: Program) -> None:
    result = program("diff", *write_locks(program), code=1)
    assert result.stderr == "spackscope: 4 → 4 specs: 3 changed, 1 added, 1 removed\n"
    others = "changed because of dependencies"
    assert rows_of(result) == [
        ("roots", "+ xz@5.4", "1"),
        ("roots", "- bzip2@1.0", "1"),
        (others, "only because of zlib 1.2 → 1.3", "2"),
        ("changed", "zlib 1.2 → 1.3", "1"),
        ("added: 1 package", "xz@5.4", "1"),
        ("removed: 1 package", "bzip2@1.0", "1"),
        ("changed specs", "app@1.0", "1"),
        ("changed specs", "hdf5@1.0", "1"),
        ("changed specs", "zlib@1.2 → 1.3", "1"),
    ]


def test_equal_sources_are_alike(program: Program) -> None:
    old, _ = write_locks(program)
    for other in (old, "old"):
        result = program("diff", old, other)
        assert (result.returncode, rows_of(result)) == (0, [])
        assert result.stderr.endswith("spackscope: 4 specs unchanged\n")


def test_a_source_may_be_standard_input(program: Program) -> None:
    old, new = write_locks(program)
    result = program("diff", "-", new, stdin=program.home / old, code=1)
    assert result.stderr.endswith(" 4 → 4 specs: 3 changed, 1 added, 1 removed\n")


def test_json_has_the_hashes_before_and_after(program: Program) -> None:
    rows = program.rows("diff", *write_locks(program))
    by_what = {row["what"]: row for row in rows}
    assert by_what["zlib 1.2 → 1.3"]["through"] == 2
    changed = by_what["zlib@1.2 → 1.3"]
    assert (changed["old_hash"], changed["hash"]) == (OLD.hash, NEW.hash)
    assert by_what["xz@5.4"]["hashes"] == [made("xz", "5.4").hash]


def test_a_source_that_cannot_be_read_is_named(program: Program) -> None:
    old, _ = write_locks(program)
    (program.home / "empty").mkdir()
    for name in ("empty", "none.lock", "ftp://site.org/mirror"):
        assert name in program.refused("diff", old, name, code=3)


def test_pages_are_compared_by_what_they_tell(program: Program) -> None:
    for name, version in (("v1", "1.2"), ("v2", "1.3")):
        records = [record(int(name[1]), versions=[version]), record(int(name[1]) + 4)]
        write_page(program.home / f"{name}.md", records, tag=name)
    rows = rows_of(program("diff", "v1.md", "v2.md"))
    assert rows[:2] == [
        ("changed because of dependencies", "for reasons that the sources do not list", "1"),
        ("changed", "zlib 1.2 → 1.3", "1"),
    ]

from tests.model.analysis.lock_files import made, write_lock
from tests.program import Program

OLD, NEW = made("zlib", "1.2"), made("zlib", "1.3")


def write_environment(program: Program) -> str:
    cmake = made("cmake", links=[OLD])
    hdf5 = made("hdf5", links=[NEW], builds=[cmake])
    write_lock(program.home / "env" / "spack.lock", made("app", links=[hdf5]), OLD)
    return "env/spack.lock"


TITLE = "1 of 4 packages has several builds for one OS and target"


def test_packages_are_listed_with_what_makes_their_builds_differ(program: Program) -> None:
    words = "duplicates", write_environment(program)
    code, text = program.on_terminal(*words, changes={"NO_COLOR": "1"})
    assert code == 1
    assert text.splitlines() == [
        TITLE,
        "Of 5 builds 5 differ by their own fields",
        "",
        "package  builds  causes        used by      hash",
        f"zlib          2  zlib:version  cmake, hdf5  {NEW.hash[:7]}",
    ]


def test_an_environment_is_named_in_several_ways(program: Program) -> None:
    lock = write_environment(program)
    text = program("duplicates", lock).stdout
    assert program("duplicates", "./env").stdout == text
    assert program("duplicates", "-f", "env").stdout == text
    assert program("duplicates", "-", stdin=program.home / lock).stdout == text
    assert program("duplicates", "-f", lock, "zlib").stdout == text
    assert "nosuch" in program.refused("duplicates", "-f", lock, "nosuch", code=1)


def test_ignored_packages_do_not_count(program: Program) -> None:
    words = ("duplicates", write_environment(program), "--ignore", "hdf5", "--ignore", "z*")
    assert program(*words).returncode == 0


def test_duplicates_are_certain_whatever_else_cannot_be_read(program: Program) -> None:
    (program.home / "broken.json").write_text("{")
    words = "duplicates", write_environment(program), "broken.json"
    result = program(*words)
    assert (result.returncode, "broken.json" in result.stderr) == (1, True)
    assert program(*words, "--ignore", "zlib").returncode == 3, "others may be in what is unread"

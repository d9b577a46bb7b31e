"""The single file unpacks itself once, wherever it may, and starts with the Python that there is.

What is packed here is a program of two lines, so that no package has to be downloaded; `.ci/run`
builds the whole file.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.program import write_script

ROOT = Path(__file__).parents[1]
PROGRAM = """
import os, sys
def main():
    print(*sys.argv[1:], sep="|")
    print(os.environ["SPACKSCOPE_PYZ"])
    print(__file__)
    return 7
"""

spec = importlib.util.spec_from_file_location("make_pyz", ROOT / "packaging/pyz/make_pyz.py")
assert spec is not None
assert spec.loader is not None
make_pyz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_pyz)


@pytest.fixture
def pyz(tmp_path: Path) -> Path:
    """Return a file that is built of a small program."""
    module = tmp_path / "site" / "spackscope" / "tui" / "cli" / "main.py"
    module.parent.mkdir(parents=True)
    module.write_text(PROGRAM)
    path = tmp_path / "moved here.pyz"
    make_pyz.write_pyz(tmp_path / "site", path, "1.2.3")
    return path


def run(pyz: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the file in an environment that has nothing else."""
    return subprocess.run([pyz, *words], env=environ, capture_output=True, text=True, check=False)


def python_directory(directory: Path, name: str = "python3") -> str:
    """Create a directory with the Python of the tests under one name, and a few programs."""
    directory.mkdir()
    for program, path in ((name, sys.executable), ("id", None), ("find", None)):
        target = path or shutil.which(program)
        assert target is not None
        (directory / program).symlink_to(target)
    return str(directory)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return python_directory(tmp_path / "path")


def test_it_unpacks_into_the_cache_directory_once(pyz: Path, tmp_path: Path, path: str) -> None:
    (tmp_path / "spackscope").symlink_to(pyz)
    result = run(tmp_path / "spackscope", "find", "a b", "", "'*'", PATH=path, HOME=str(tmp_path))

    assert (result.returncode, result.stderr) == (7, "")
    words, name, module = result.stdout.splitlines()
    assert (words, name) == ("find|a b||'*'", f"{tmp_path}/spackscope")
    directory = tmp_path / ".cache" / "spackscope" / "pyz"
    assert Path(module).is_relative_to(directory)
    parts = (directory, directory.parent, directory.parents[1])
    assert {part.stat().st_mode & 0o777 for part in parts} == {0o700}
    packed = [part for part in directory.rglob("*") if "__pycache__" not in part.parts]
    modes = {(part.is_dir(), part.stat().st_mode & 0o777) for part in packed}
    assert modes == {(True, 0o700), (False, 0o600)}

    # The Python of the first start is used, although there is none in PATH.
    Path(module).write_text("def main(): print('what is there')\n")
    second = run(pyz, PATH=python_directory(tmp_path / "none", "other"), HOME=str(tmp_path))
    assert second.stdout == "what is there\n"

    shutil.rmtree(Path(module).parents[1])
    (unpacked,) = directory.iterdir()
    result = run(pyz, PATH=path, HOME=str(tmp_path))
    sentence = f"spackscope.tui is missing in {unpacked}: remove that directory"
    assert (result.returncode, result.stderr) == (3, f"spackscope: {sentence}\n")


def test_another_version_is_unpacked_beside_it_and_what_is_old_removed(
    pyz: Path, tmp_path: Path, path: str
) -> None:
    directory = tmp_path / "cache" / "spackscope" / "pyz"
    for name in ("1.0.0-old", ".unpacking-killed", "1.1.0-new"):
        (directory / name).mkdir(parents=True)
    for name in ("1.0.0-old", "1.1.0-new"):
        (directory / name / "start.py").touch()
    for name in ("1.0.0-old/start.py", ".unpacking-killed"):
        os.utime(directory / name, (0, 0))
    for _ in ("1.2.3", "1.2.4"):
        run(pyz, PATH=path, XDG_CACHE_HOME=str(tmp_path / "cache"))
        make_pyz.write_pyz(tmp_path / "site", pyz, "1.2.4")

    left = sorted(part.name.partition("-")[0] for part in directory.iterdir())
    assert left == ["1.1.0", "1.2.3", "1.2.4"]


@pytest.mark.parametrize("home", [{}, {"HOME": "/dev/null/none"}])
def test_without_a_home_it_unpacks_into_the_directory_for_temporary_files(
    pyz: Path, tmp_path: Path, path: str, home: dict[str, str]
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    for _ in ("unpacked", "unpacked again after files were removed"):
        result = run(pyz, "x", PATH=path, TMPDIR=str(temporary), **home)
        assert result.stderr == ""
        assert result.stdout.startswith("x\n")
        assert f"{temporary}/spackscope-{os.getuid()}/1.2.3-" in result.stdout
        module = Path(result.stdout.splitlines()[2])
        module.unlink()
        os.utime(module.parents[4] / "start.py", (0, 0))
    (directory,) = temporary.iterdir()
    assert directory.stat().st_mode & 0o777 == 0o700
    assert len([*directory.iterdir()]) == 1


def test_it_runs_nothing_that_others_could_have_put_there(
    pyz: Path, tmp_path: Path, path: str
) -> None:
    temporary = tmp_path / "tmp"
    shared = temporary / f"spackscope-{os.getuid()}"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    result = run(pyz, PATH=path, HOME="/dev/null", TMPDIR=str(temporary))

    assert result.returncode == 3
    assert result.stderr == (
        "spackscope cannot be unpacked (/dev/null/.cache/spackscope/pyz: Not a directory; "
        f"{shared}: it belongs to others, or they can write to it): "
        "set XDG_CACHE_HOME to a directory that you can write to\n"
    )
    shared.rmdir()
    shared.symlink_to(tmp_path)
    assert run(pyz, PATH=path, TMPDIR=str(temporary)).returncode == 3


@pytest.mark.parametrize("part", ["", "site", "start.py", "python"])
def test_it_unpacks_again_what_others_can_write_to(
    pyz: Path, tmp_path: Path, path: str, part: str
) -> None:
    module = Path(run(pyz, PATH=path, HOME=str(tmp_path)).stdout.splitlines()[2])
    module.write_text("def main(): print('what another user wrote')\n")
    other = python_directory(tmp_path / "other", "other")
    assert run(pyz, PATH=other, HOME=str(tmp_path)).stdout == "what another user wrote\n"

    (module.parents[4] / part).chmod(0o720)
    assert run(pyz, PATH=other, HOME=str(tmp_path)).stdout == ""
    for environ in ({"PATH": path}, {"PATH": other}):
        result = run(pyz, "x", HOME=str(tmp_path), **environ)
        assert (result.stdout.splitlines()[0], result.returncode) == ("x", 7)


def test_it_runs_nothing_from_the_directory_that_the_user_is_in(
    pyz: Path, tmp_path: Path, path: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("ntpath", "runpy", "zipfile", "zlib", "spackscope", "unpack", "start"):
        (elsewhere / f"{name}.py").write_text("open('ran', 'w')\n")
    for _ in ("unpacking it", "unpacked"):
        environ = {"PATH": path, "HOME": str(tmp_path)}
        result = subprocess.run(
            [pyz], env=environ, cwd=elsewhere, capture_output=True, check=False
        )
        assert result.returncode == 7
    assert not (elsewhere / "ran").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_it_runs_nothing_from_the_home_of_another_user(
    pyz: Path, tmp_path: Path, path: str
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environ = {"PATH": path, "HOME": str(tmp_path), "TMPDIR": str(temporary)}
    unpacked = Path(run(pyz, **environ).stdout.splitlines()[2]).parents[4]
    (unpacked / "start.py").write_text("print('what another user wrote')\n")
    os.chown(unpacked.parent, 4321, 4321)

    for words in ("1", "2"):
        result = run(pyz, words, **environ)
        assert result.stdout.startswith(f"{words}\n")
        assert f"{temporary}/spackscope-0/" in result.stdout


def test_a_newer_python_is_found_under_its_own_name(pyz: Path, tmp_path: Path) -> None:
    name = f"python3.{min(sys.version_info.minor, 14)}"
    directory = python_directory(tmp_path / "path", name)
    write_script(Path(directory, "python3"), "#!/bin/sh\nexit 1\n")

    assert run(pyz, "x", PATH=directory, HOME=str(tmp_path)).stdout.startswith("x\n")


def test_without_a_python_it_says_what_it_needs(pyz: Path, tmp_path: Path) -> None:
    directory = python_directory(tmp_path / "path", "other")
    result = run(pyz, PATH=directory, HOME=str(tmp_path))
    assert (result.returncode, result.stderr) == (
        2,
        "spackscope: no Python 3.10 or newer with zlib is in PATH; "
        "SPACKSCOPE_PYTHON can name one\n",
    )


def test_a_variable_names_the_python(pyz: Path, tmp_path: Path, path: str) -> None:
    for wrong in ("/bin/false", "/none/python3"):
        result = run(pyz, PATH=path, HOME=str(tmp_path), SPACKSCOPE_PYTHON=wrong)
        sentence = f"SPACKSCOPE_PYTHON: {wrong} is not Python 3.10 or newer with zlib"
        assert (result.returncode, result.stderr) == (2, f"spackscope: {sentence}\n")
    other = python_directory(tmp_path / "with a space", "other")
    right = run(pyz, "x y", PATH=path, HOME=str(tmp_path), SPACKSCOPE_PYTHON=f"{other}/other")
    assert right.stdout.startswith("x y\n")


def test_many_first_starts_at_once_all_work(pyz: Path, tmp_path: Path, path: str) -> None:
    environ = {"PATH": path, "HOME": str(tmp_path)}
    starts = [
        subprocess.Popen([pyz, str(number)], env=environ, stdout=subprocess.PIPE, text=True)
        for number in range(3)
    ]
    assert [start.communicate()[0].splitlines()[0] for start in starts] == [*"012"]
    (unpacked,) = (tmp_path / ".cache" / "spackscope" / "pyz").iterdir()
    assert unpacked.name.startswith("1.2.3-")


@pytest.mark.parametrize("damage", ["cut off", "changed"])
def test_a_damaged_file_is_refused_with_a_sentence(
    pyz: Path, tmp_path: Path, path: str, damage: str
) -> None:
    data = bytearray(pyz.read_bytes())
    if damage == "changed":
        with ZipFile(pyz) as file:
            at = file.getinfo("start.py").header_offset + 60
        data[at : at + 20] = bytes(20)
    else:
        del data[-100:]
    pyz.write_bytes(data)

    result = run(pyz, PATH=path, HOME=str(tmp_path))

    sentence = f"spackscope: {pyz} is damaged or cut off: copy it again\n"
    assert (result.returncode, result.stderr) == (3, sentence)
    assert not list(tmp_path.glob(".cache/spackscope/pyz/*"))


def test_a_file_that_is_cut_off_within_its_script_does_nothing(
    pyz: Path, tmp_path: Path, path: str
) -> None:
    whole = pyz.read_bytes()
    for size in (100, 1000, 2000):
        pyz.write_bytes(whole[:size])
        result = run(pyz, PATH=path, HOME=str(tmp_path))
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith(str(pyz)), "the shell names the file"


def test_it_is_packed_the_same_each_time(pyz: Path, tmp_path: Path) -> None:
    for name in ("bin/spackscope", "spackscope-1.2.3.dist-info/RECORD"):
        path = tmp_path / "site" / name
        path.parent.mkdir()
        path.write_text(sys.executable)
    make_pyz.write_pyz(tmp_path / "site", tmp_path / "again.pyz", "1.2.3")
    assert (tmp_path / "again.pyz").read_bytes() == pyz.read_bytes()

    with ZipFile(pyz) as archive:
        assert archive.testzip() is None
        assert "site/spackscope/tui/cli/main.py" in archive.namelist()


def test_what_it_packs_is_pinned_by_hash_in_the_versions_of_the_tests() -> None:
    locked = re.findall(
        r"^(\S+==\S+) \\\n +--hash=sha256:", make_pyz.LOCK.read_text(), re.MULTILINE
    )
    names = {each.partition("==")[0] for each in locked}

    assert {"archspec", "pysocks", "pyyaml", "textual", "tomli", "urllib3"} <= names
    assert not {"boto3", "pytest", "zstandard"} & names
    tested = (ROOT / "requirements-dev.txt").read_text()
    assert {each for each in locked if f"\n{each}" not in tested} == set()

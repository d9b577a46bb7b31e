"""`spack scope` in a Spack: what is typed, and what spackscope gets of it."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spackscope.tui.spack_extension import extension_path, path_for_spack
from tests.documents import PYPROJECT, ROOT
from tests.program import environment, write_script
from tests.spack_start import make_spack

EXTENSION = Path(extension_path())
COMMAND = EXTENSION / "scope" / "cmd" / "scope.py"
ECHO = """#!{python}
import json, os, sys
names = ("SPACK_ROOT", "SPACK_ENV")
environ = {{name: os.environ[name] for name in names if name in os.environ}}
print(json.dumps([os.path.realpath(sys.argv[0]), sys.argv[1:], environ]))
"""


class Site:
    """A Spack, and an installation of spackscope that prints what it was started with."""

    def __init__(self, directory: Path, version: str, *, has_plugins: bool = False) -> None:
        self.home = directory / "home"
        self.root = directory / "spack"
        self.spack = make_spack(self.root, version, has_plugins=has_plugins)
        self.prefix = directory / "venv"
        packages = self.prefix / "lib" / "python3.12" / "site-packages"
        self.extension = packages / "spackscope" / "tui" / "spack_extension" / EXTENSION.name
        command = self.extension / COMMAND.relative_to(EXTENSION)
        command.parent.mkdir(parents=True)
        command.write_bytes(COMMAND.read_bytes())
        self.program = self.prefix / "bin" / "spackscope"
        write_program(self.program)

    def register(self) -> None:
        done = self("config", "--scope", "user", "add", f"config:extensions:[{self.extension}]")
        assert (done.returncode, done.stderr) == (0, "")

    def __call__(self, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.spack), *words],
            env=environment(self.home, **changes),
            capture_output=True,
            encoding="utf-8",
        )

    def started(self, *words: str, **changes: str) -> tuple[str, list[str], dict[str, str]]:
        """Return the program that was started, its words, and its variables of Spack."""
        result = self(*words, **changes)
        assert result.stderr == ""
        program, arguments, environ = json.loads(result.stdout)
        return program, arguments, environ


def write_program(path: Path) -> None:
    write_script(path, ECHO.format(python=sys.executable))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site(tmp_path_factory.mktemp("site"), "1.2")
    site.register()
    return site


@pytest.fixture
def program(site: Site) -> Iterator[Path]:
    """Return the program of a site, which the test may remove or change."""
    yield site.program
    write_program(site.program)


@pytest.mark.parametrize(
    "words",
    [
        [],
        [
            *["-f", "x", "hdf5@1.14:", "^zlib-ng", "--json", "-cuda", "--", "-cuda", "find"],
            "é [b] $HOME",
        ],
        ["-e", "x", "--color", "--version"],
    ],
)
def test_all_words_arrive_in_their_order(site: Site, words: list[str]) -> None:
    program, arguments, environ = site.started("scope", *words, SPACK_ROOT="/elsewhere")
    assert (program, arguments) == (str(site.program), words)
    assert environ == {"SPACK_ROOT": str(site.root)}


@pytest.mark.parametrize("version", ["1.2", "develop"])
def test_the_active_environment_is_that_of_the_command_line_or_the_shell(
    version: str, tmp_path: Path
) -> None:
    site = Site(tmp_path, version)
    site.register()
    for words, active in (["-e", "/my/env"], "/my/env"), ([], "/other"), (["-E"], None):
        environ = site.started(*words, "scope", SPACK_ENV="/other")[2]
        assert environ.get("SPACK_ENV") == active


@pytest.mark.parametrize("option", ["-c", "--config-scope"])
def test_configuration_that_the_program_would_not_see_is_refused(site: Site, option: str) -> None:
    result = site(option, "mirrors:x:/mirror", "scope", "find")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "does not see what `spack -c` and `spack -C` configure" in result.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["help"], "  scope  "),
        (["help", "--all"], "  scope  "),
        (["help", "scope"], "usage: spack scope [COMMAND] [-f SOURCE]... [QUERY...]\n"),
        (["scope", "-h"], "spack -e myenv scope cover"),
    ],
)
def test_the_help_of_spack_has_the_command(site: Site, words: list[str], text: str) -> None:
    result = site(*words)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count(text) == 1
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_another_program_on_the_path_serves_where_the_own_one_does_not_start(
    site: Site, program: Path
) -> None:
    other = site.home / "bin" / "spackscope"
    write_program(other)
    path = f"{other.parent}{os.pathsep}{os.environ['PATH']}"
    program.write_text("#!/nowhere/python\n")
    for _ in ("that does not start", "that is gone"):
        assert site.started("scope", "x", PATH=path)[:2] == (str(other), ["x"])
        program.unlink(missing_ok=True)


def test_without_a_program_one_sentence_says_what_is_wrong(site: Site, program: Path) -> None:
    program.write_text("#!/nowhere/python\n")
    for sentence in (
        f"{program}: No such file or directory",
        "the program spackscope is not found: install it as by "
        "`pipx install spackscope`, or add its directory to PATH",
    ):
        result = site("scope", "find", PATH="/usr/bin:/bin")
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == f"spack scope: {sentence}\n"
        program.unlink(missing_ok=True)


def test_a_spack_with_the_package_finds_it_by_its_entry_point(tmp_path: Path) -> None:
    site = Site(tmp_path, "1.2", has_plugins=True)
    distribution = tmp_path / "packages" / "spackscope-0.dist-info"
    distribution.mkdir(parents=True)
    ((name, value),) = PYPROJECT["project"]["entry-points"]["spack.extensions"].items()
    (distribution / "METADATA").write_text("Name: spackscope\nVersion: 0\n")
    (distribution / "entry_points.txt").write_text(f"[spack.extensions]\n{name} = {value}\n")
    environ = {"PYTHONPATH": str(distribution.parent)}
    write_program(tmp_path / "bin" / "spackscope")
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"

    assert site.started("scope", "x", PATH=path, **environ)[1] == ["x"]
    assert site("help", **environ).stdout.count("  scope  ") == 1

    # Registered as well, it is there once, whichever of the two is another installation.
    site.register()
    assert site.started("scope", "x", **environ)[0] == str(site.program)
    assert site("help", **environ).stdout.count("  scope  ") == 1


def test_the_entry_point_imports_nothing_and_never_raises() -> None:
    code = (
        "import sys; before = {*sys.modules};"
        "from spackscope.tui.spack_extension import path_for_spack; path = path_for_spack();"
        "print(path, *sorted({*sys.modules} - before))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    path, *modules = result.stdout.split()
    assert Path(path).samefile(EXTENSION)
    assert {*modules} - {"spackscope"} == {"spackscope.tui", "spackscope.tui.spack_extension"}


class Config:
    """The configuration of Spack, as far as an extension asks for it."""

    def __init__(self, listed: object) -> None:
        self.listed = listed

    def get(self, path: str) -> object:
        if isinstance(self.listed, OSError):
            raise self.listed
        return self.listed


@pytest.mark.parametrize(
    ("listed", "gives_way"),
    [
        *((each, False) for each in (None, 7, [7], ["~/x/spack-scopes"], OSError("unreadable"))),
        *((["/a/spack-tools", each], True)
          for each in ("/apps/spack-scope", "~/spack-scope/", Path("/a/spack-scope"))),
    ],
)  # fmt: skip
def test_the_entry_point_gives_way_to_the_configuration_however_odd_that_is(
    monkeypatch: pytest.MonkeyPatch, listed: object, gives_way: bool
) -> None:
    monkeypatch.setitem(sys.modules, "spack.config", Config(listed))
    assert path_for_spack() == ("" if gives_way else extension_path())
    monkeypatch.setitem(sys.modules, "spack.config", object())
    assert path_for_spack() == extension_path()


@pytest.mark.parametrize("module", ["tui/__init__.py", "tui/spack_extension/__init__.py"])
def test_the_entry_point_is_valid_in_the_oldest_python_with_entry_points(module: str) -> None:
    # PYTHONPATH may show the packages of another Python to that of Spack.
    ast.parse((ROOT / module).read_text("utf-8"), feature_version=(3, 8))


def test_the_command_is_valid_in_the_oldest_python_of_spack() -> None:
    tree = ast.parse(COMMAND.read_text("utf-8"), feature_version=(3, 6))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported == {"argparse", "os", "sys", "spack.paths"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]

"""`spackscope extension`, with a Spack whose own Python has no spackscope."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
import yaml

from spackscope.tui.process import ExitCode
from spackscope.tui.spack_extension import extension_path
from tests.program import Program, environment
from tests.spack_start import make_spack


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "spack"
    make_spack(root)
    return root


@pytest.fixture
def copy(program: Program) -> Path:
    """Return where the extension is copied to."""
    return program.home / ".local" / "share" / "spackscope" / "spack-scope"


def spack(root: Path, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(root / "bin" / "spack"), *words],
        env=environment(root.parent, **changes),
        capture_output=True,
        encoding="utf-8",
    )


def extension(program: Program, root: Path, *words: str, code: int = 0, **changes: str) -> str:
    """Run the command beside a Spack; return what it prints, or what it says where it fails."""
    result = program("extension", *words, stdin=None, SPACK_ROOT=str(root), **changes)
    assert result.returncode == code
    assert (result.stdout if code else result.stderr) == ""
    return result.stderr if code else result.stdout


def write_config(directory: Path, *extensions: object) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    content = {"config": {"extensions": [*map(str, extensions)], "ccache": True}}
    (directory / "config.yaml").write_text(yaml.safe_dump(content))


def read_config(directory: Path) -> object:
    return yaml.safe_load((directory / "config.yaml").read_text())["config"]


def test_the_directory_is_printed_for_scripts(program: Program) -> None:
    result = program("extension")
    assert (result.returncode, result.stderr) == (0, "")
    assert Path(result.stdout.rstrip("\n"), "scope", "cmd", "scope.py").is_file()


def test_it_is_registered_once_and_removed(program: Program, root: Path, copy: Path) -> None:
    own = program.home / ".spack"
    assert extension(program, root, "--install", SPACK_ENV="/broken").splitlines() == [
        f"Registered {copy} in {own}",
        f"Type `spack scope` to start spackscope from {root}/bin/spack",
    ]
    assert "  scope  " in spack(root, "help").stdout
    again = extension(program, root, "--install")
    assert again == f"Spack has it already: {copy}, which {own} lists\n"
    assert read_config(own) == {"extensions": [str(copy)]}

    (copy / "program").write_text("/moved/spackscope")
    assert extension(program, root, "--install") == f"Updated {copy}, which {own} lists\n"
    shutil.rmtree(copy)
    assert spack(root, "commands").returncode == 3
    assert extension(program, root, "--install") == f"Restored {copy}, which {own} lists\n"

    assert extension(program, root, "--remove").splitlines() == [
        f"Removed {copy} from {own}",
        f"{copy} stays, as another Spack may list it",
    ]
    assert "  scope  " not in spack(root, "help").stdout
    nothing = extension(program, root, "--remove")
    assert nothing == "Your configuration of Spack does not list spackscope\n"


def test_the_spack_on_the_path_is_used(program: Program, root: Path, copy: Path) -> None:
    path = f"{root / 'bin'}{os.pathsep}/usr/bin:/bin"
    assert program("extension", "--install", PATH=path).returncode == 0
    assert read_config(program.home / ".spack") == {"extensions": [str(copy)]}


@pytest.mark.parametrize(("word", "home"), [("--install", "~"), ("--remove", "${HOME}")])
def test_a_spack_that_a_missing_directory_stops_is_mended(
    program: Program, root: Path, copy: Path, word: str, home: str
) -> None:
    own, tools = program.home / ".spack", program.home / "spack-tools"
    (tools / "tools" / "cmd").mkdir(parents=True)
    others = ["~/x/../spack-tools", "$HOME/spack-tools"]
    write_config(own, others[0], f"{home}/gone/spack-scope", others[1])
    assert spack(root, "commands").returncode == 3

    removed = f"Removed {program.home}/gone/spack-scope from {own}\n"
    assert extension(program, root, word).startswith(removed)
    added = [str(copy)] if word == "--install" else []
    assert read_config(own) == {"extensions": [*added, *others], "ccache": True}
    assert spack(root, "help").stdout.count("  scope  ") == len(added)


def test_a_missing_directory_is_removed_from_a_list_that_overrides(
    program: Program, root: Path, copy: Path
) -> None:
    own = program.home / ".spack"
    own.mkdir()
    (own / "config.yaml").write_text("config:\n  extensions:: [/gone/spack-scope]\n")
    extension(program, root, "--install")
    assert read_config(own) == {"extensions:": [str(copy)]}


def test_a_spack_is_mended_where_no_copy_can_be_written(program: Program, root: Path) -> None:
    write_config(program.home / ".spack", "/gone/spack-scope")
    (program.home / ".local").write_text("not a directory")
    result = program("extension", "--install", SPACK_ROOT=str(root))
    assert result.returncode == ExitCode.UNREADABLE
    assert "/spack-scope cannot be written: Not a directory\n" in result.stderr
    assert spack(root, "commands").returncode == 0


def test_spack_starts_without_the_program_that_registered_it(program: Program, root: Path) -> None:
    script = program.home / "venv" / "bin" / "spackscope"
    script.parent.mkdir(parents=True)
    command = f"{sys.executable} -c 'import sys; sys.argv[0] = sys.argv.pop(1)\n"
    command += "from spackscope.tui.cli.main import main; sys.exit(main())'"
    script.write_text(f'#!/bin/sh\nexec {command} "$0" "$@"\n')
    script.chmod(0o755)
    environ = environment(program.home, SPACK_ROOT=str(root), PATH="/usr/bin:/bin")
    subprocess.run([str(script), "extension", "--install"], env=environ, check=True)
    assert spack(root, "scope", "--version").stdout.startswith("spackscope ")

    script.unlink()
    assert spack(root, "commands").returncode == 0
    result = spack(root, "scope", "find", PATH="/usr/bin:/bin")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert "the program spackscope is not found" in result.stderr


def test_that_of_the_site_is_left_alone(program: Program, root: Path) -> None:
    site = root / "etc" / "spack"
    write_config(site, extension_path())
    same = extension(program, root, "--install")
    assert same == f"Spack has it already: {extension_path()}, which {site} lists\n"

    write_config(site, "/apps/spack-scope")
    for word in ("--install", "--remove"):
        assert extension(program, root, word, code=1) == (
            f"spackscope: the configuration in {site} lists /apps/spack-scope, which does not "
            "exist: remove it by `spack -c 'config:extensions::[]' config --scope NAME remove "
            "'config:extensions:[\"/apps/spack-scope\"]'`, as only that of your user is changed\n"
        )


def test_without_a_spack_the_lines_to_write_are_printed(program: Program, copy: Path) -> None:
    result = program("extension", "--install", PATH="/usr/bin:/bin")
    assert (result.returncode, result.stdout) == (ExitCode.UNREADABLE, "")
    sentence, *lines = result.stderr.splitlines()
    assert sentence == (
        "spackscope: no Spack is found: source its share/spack/setup-env.sh, or set SPACK_ROOT"
    )
    assert yaml.safe_load(lines[1]) == {"config": {"extensions": [str(copy)]}}
    assert copy.is_dir()


def test_a_configuration_that_cannot_be_written_is_named(
    program: Program, root: Path, copy: Path
) -> None:
    (program.home / ".spack").write_text("not a directory")
    message = extension(program, root, "--install", code=ExitCode.UNREADABLE)
    sentence, *lines = message.splitlines()
    assert sentence.startswith(
        f"spackscope: {root}/bin/spack cannot change its configuration: [Errno "
    )
    assert "/.spack" in sentence
    assert yaml.safe_load(lines[1]) == {"config": {"extensions": [str(copy)]}}


PRINTING = "#!/bin/sh\ncat >&2 <<'END'\n{}\nEND\nexit 2\n"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (PRINTING.format("usage: spack config\nspack config: error: invalid choice: 'user'"),
         "spack config: error:"),
        (PRINTING.format("==> Warning: old\n==> Error: config.yaml:2: bad\n  it is"),
         "config.yaml:2: bad\n"),
        (PRINTING.format("Traceback\n  File x\nOSError: [Errno 28] full"),
         "OSError: [Errno 28] full\n"),
        (PRINTING.format("==> Error: \033[31mhttps://ann:pw@host/x"), "␛[31mhttps://…@host/x\n"),
        (PRINTING.format(""), "exit code 2\n"),
        ("#!/nowhere\n", "No such file or directory\n"),
    ],
)  # fmt: skip
def test_the_reason_is_the_line_that_says_it(
    program: Program, root: Path, script: str, reason: str
) -> None:
    (root / "bin" / "spack").write_text(script)
    message = extension(program, root, "--install", code=ExitCode.UNREADABLE)
    assert f"spack cannot change its configuration: {reason}" in message


def test_of_a_flood_only_the_end_is_kept(program: Program, root: Path) -> None:
    flood = "yes '==> Warning: old' | head -c 30000000 >&2"
    (root / "bin" / "spack").write_text(
        f"#!/bin/sh\n{flood}\nprintf '\\n==> Error: full\\n' >&2; exit 1\n"
    )
    tracemalloc.start()
    try:
        message = extension(program, root, "--install", code=ExitCode.UNREADABLE)
        assert "cannot change its configuration: full\n" in message
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_spack_that_does_nothing_is_noticed(program: Program, root: Path) -> None:
    write_config(program.home / ".spack", "/gone/spack-scope")
    (root / "bin" / "spack").write_text("#!/bin/sh\nexit 0\n")
    for word in ("--install", "--remove"):
        message = extension(program, root, word, code=ExitCode.UNREADABLE)
        assert "it still lists /gone/spack-scope afterwards" in message


def test_one_file_registers_a_copy_that_stays(program: Program, root: Path, copy: Path) -> None:
    pyz = program.home / "spackscope.pyz"
    pyz.write_text('#!/bin/sh\necho started "$@"\n')
    pyz.chmod(0o755)

    assert extension(program, root, code=ExitCode.UNREADABLE, SPACKSCOPE_PYZ=str(pyz)) == (
        "spackscope: spackscope.pyz has the extension inside: "
        f"`spackscope extension --install` copies it to {copy}\n"
    )
    extension(program, root, "--install", SPACKSCOPE_PYZ=str(pyz))
    assert extension(program, root, SPACKSCOPE_PYZ=str(pyz)) == f"{copy}\n"
    assert spack(root, "scope", "find", "+mpi").stdout == "started find +mpi\n"
    extension(program, root, "--remove", SPACKSCOPE_PYZ=str(pyz))
    assert copy.exists()
    assert read_config(program.home / ".spack") == {"extensions": []}


def test_a_copy_that_cannot_be_written_is_named(program: Program, root: Path) -> None:
    data = program.home / "data"
    data.write_text("not a directory")
    changes = {"SPACKSCOPE_PYZ": "/x.pyz", "XDG_DATA_HOME": str(data)}
    message = extension(program, root, "--install", code=ExitCode.UNREADABLE, **changes)
    copy = f"{data}/spackscope/spack-scope"
    assert message == f"spackscope: {copy} cannot be written: Not a directory\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--install", "--remove"], "argument --remove: not allowed with argument --install"),
        (["zlib"], "extension takes no words: zlib"),
        (["-f", "x"], "unknown option -f"),
    ],
)
def test_wrong_usage_is_refused(program: Program, words: list[str], reason: str) -> None:
    assert reason in program.refused("extension", *words, code=ExitCode.USAGE)

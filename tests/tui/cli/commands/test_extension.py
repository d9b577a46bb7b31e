"""`spackscope extension`, with a Spack whose own Python has no spackscope."""

from __future__ import annotations

import os
import subprocess
import tracemalloc
from pathlib import Path

import pytest
import yaml

from spackscope.tui.cli.spack_registration import register
from spackscope.tui.process.exit_codes import ExitCode, Leave
from spackscope.tui.spack_extension import extension_path
from tests.program import Program, environment
from tests.spack_start import make_spack

PATH = str(Path(extension_path()))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "spack"
    make_spack(root)
    return root


def spack(program: Program, root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(root / "bin" / "spack"), *words],
        env=environment(program.home),
        capture_output=True,
        encoding="utf-8",
    )


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


def test_it_is_registered_once_and_removed(program: Program, root: Path) -> None:
    own = program.home / ".spack"
    result = program("extension", "--install", SPACK_ROOT=str(root), SPACK_ENV="/broken")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        f"Registered {PATH} in {own}",
        f"Type `spack scope` to start spackscope from {root}/bin/spack",
    ]
    assert "  scope  " in spack(program, root, "help").stdout

    again = program("extension", "--install", SPACK_ROOT=str(root))
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == f"Spack has it already: {PATH} is listed in {own}\n"
    assert read_config(own) == {"extensions": [PATH]}

    removed = program("extension", "--remove", SPACK_ROOT=str(root))
    assert (removed.returncode, removed.stderr) == (0, "")
    assert removed.stdout == f"Removed {PATH} from {own}\n"
    assert "  scope  " not in spack(program, root, "help").stdout

    nothing = program("extension", "--remove", SPACK_ROOT=str(root))
    assert (nothing.returncode, nothing.stderr) == (0, "")
    assert nothing.stdout == "Your configuration of Spack does not list spackscope\n"


def test_the_spack_on_the_path_is_used(program: Program, root: Path) -> None:
    path = f"{root / 'bin'}{os.pathsep}/usr/bin:/bin"
    assert program("extension", "--install", PATH=path).returncode == 0
    assert read_config(program.home / ".spack") == {"extensions": [PATH]}


def test_what_else_is_configured_stays(program: Program, root: Path) -> None:
    own = program.home / ".spack"
    write_config(own, "/apps/spack-tools")
    assert program("extension", "--install", SPACK_ROOT=str(root)).returncode == 0
    assert read_config(own) == {"extensions": [PATH, "/apps/spack-tools"], "ccache": True}
    assert program("extension", "--remove", SPACK_ROOT=str(root)).returncode == 0
    assert read_config(own) == {"extensions": ["/apps/spack-tools"], "ccache": True}


def test_an_installation_of_before_is_replaced(program: Program, root: Path) -> None:
    own = program.home / ".spack"
    write_config(own, "~/gone/spack-scope")
    broken = spack(program, root, "help")
    assert broken.returncode == 1
    result = program("extension", "--install", SPACK_ROOT=str(root))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[:2] == [
        f"Removed {program.home}/gone/spack-scope from {own}",
        f"Registered {PATH} in {own}",
    ]
    assert spack(program, root, "help").stdout.count("  scope  ") == 1


def test_that_of_the_site_is_left_alone(program: Program, root: Path) -> None:
    site = root / "etc" / "spack"
    write_config(site, PATH)
    same = program("extension", "--install", SPACK_ROOT=str(root))
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout == f"Spack has it already: {PATH} is listed in {site}\n"

    write_config(site, "/apps/spack-scope")
    other = program("extension", "--install", SPACK_ROOT=str(root))
    assert (other.returncode, other.stdout) == (1, "")
    assert other.stderr == (
        f"spackscope: the configuration in {site} lists /apps/spack-scope, which does not exist; "
        "Spack needs one only, so remove that first\n"
    )
    removed = program("extension", "--remove", SPACK_ROOT=str(root))
    assert (removed.returncode, removed.stdout) == (1, "")
    assert removed.stderr.startswith(
        f"spackscope: the configuration in {site} lists /apps/spack-scope: remove it by"
    )


def test_without_a_spack_the_lines_to_write_are_printed(program: Program) -> None:
    result = program("extension", "--install", PATH="/usr/bin:/bin")
    assert (result.returncode, result.stdout) == (ExitCode.UNREADABLE, "")
    sentence, *lines = result.stderr.splitlines()
    assert sentence == (
        "spackscope: no Spack is found: source its share/spack/setup-env.sh, or set SPACK_ROOT"
    )
    assert yaml.safe_load(lines[1]) == {"config": {"extensions": [PATH]}}


def test_a_configuration_that_cannot_be_written_is_named(program: Program, root: Path) -> None:
    (program.home / ".spack").write_text("not a directory")
    result = program("extension", "--install", SPACK_ROOT=str(root))
    assert (result.returncode, result.stdout) == (ExitCode.UNREADABLE, "")
    sentence, *lines = result.stderr.splitlines()
    assert sentence.startswith(
        f"spackscope: {root}/bin/spack cannot change its configuration: [Errno "
    )
    assert "/.spack" in sentence
    assert yaml.safe_load(lines[1]) == {"config": {"extensions": [PATH]}}


def test_a_spack_that_does_not_start_is_named(program: Program, root: Path) -> None:
    (root / "bin" / "spack").write_text("#!/nowhere\n")
    result = program("extension", "--install", SPACK_ROOT=str(root))
    assert (result.returncode, result.stdout) == (ExitCode.UNREADABLE, "")
    assert "cannot change its configuration: No such file or directory" in result.stderr


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        (
            "usage: spack config\nspack config: error: invalid choice: 'user'",
            "spack config: error:",
        ),
        ("==> Warning: old\n==> Error: config.yaml:2: bad\n  it is", "config.yaml:2: bad\n"),
        ("Traceback\n  File x\nOSError: [Errno 28] full", "OSError: [Errno 28] full\n"),
        ("", "exit code 2\n"),
    ],
)
def test_the_reason_is_the_line_that_says_it(
    program: Program, root: Path, printed: str, reason: str
) -> None:
    (root / "bin" / "spack").write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{printed}\nEND\nexit 2\n")
    result = program("extension", "--install", SPACK_ROOT=str(root))
    assert result.returncode == ExitCode.UNREADABLE
    assert f"spack cannot change its configuration: {reason}" in result.stderr


def test_of_a_flood_only_the_end_is_kept(tmp_path: Path, root: Path) -> None:
    flood = "yes '==> Warning: old' | head -c 30000000 >&2"
    (root / "bin" / "spack").write_text(
        f"#!/bin/sh\n{flood}\nprintf '\\n==> Error: full\\n' >&2; exit 1\n"
    )
    environ = environment(tmp_path, SPACK_ROOT=str(root))
    tracemalloc.start()
    try:
        with pytest.raises(Leave, match="cannot change its configuration: full"):
            register(PATH, environ)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_spack_that_does_nothing_is_noticed(program: Program, root: Path) -> None:
    own = program.home / ".spack"
    write_config(own, "/gone/spack-scope")
    (root / "bin" / "spack").write_text("#!/bin/sh\nexit 0\n")
    for word in ("--install", "--remove"):
        result = program("extension", word, SPACK_ROOT=str(root))
        assert (result.returncode, result.stdout) == (ExitCode.UNREADABLE, "")
        assert "it still lists /gone/spack-scope afterwards" in result.stderr


def test_what_spack_says_is_printed_without_secrets(program: Program, root: Path) -> None:
    script = "printf '==> Error: \\033[31mhttps://ann:pw@host/x\\n' >&2; exit 1"
    (root / "bin" / "spack").write_text(f"#!/bin/sh\n{script}\n")
    result = program("extension", "--install", SPACK_ROOT=str(root))
    assert result.stderr.splitlines()[0].endswith("configuration: ␛[31mhttps://…@host/x")


def test_one_file_registers_a_copy_that_stays(program: Program, root: Path) -> None:
    pyz = program.home / "spackscope.pyz"
    pyz.write_text('#!/bin/sh\necho started "$@"\n')
    pyz.chmod(0o755)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return program("extension", *words, SPACKSCOPE_PYZ=str(pyz), SPACK_ROOT=str(root))

    copy = program.home / ".local" / "share" / "spackscope" / "spack-scope"

    before = run()
    assert (before.returncode, before.stdout) == (ExitCode.UNREADABLE, "")
    assert before.stderr == (
        "spackscope: spackscope.pyz has the extension inside: "
        f"`spackscope extension --install` copies it to {copy}\n"
    )
    installed = run("--install")
    assert (installed.returncode, installed.stderr) == (0, "")
    assert run().stdout == f"{copy}\n"
    assert spack(program, root, "scope", "find", "+mpi").stdout == "started find +mpi\n"

    removed = run("--remove")
    assert (removed.returncode, removed.stderr) == (0, "")
    assert not copy.exists()
    assert read_config(program.home / ".spack") == {"extensions": []}


def test_a_copy_that_cannot_be_written_is_named(program: Program, root: Path) -> None:
    (program.home / "data").write_text("not a directory")
    result = program(
        *("extension", "--install"),
        SPACK_ROOT=str(root),
        SPACKSCOPE_PYZ="/x.pyz",
        XDG_DATA_HOME=str(program.home / "data"),
    )
    assert (result.returncode, result.stdout) == (ExitCode.UNREADABLE, "")
    copy = program.home / "data" / "spackscope" / "spack-scope"
    assert result.stderr == f"spackscope: {copy} cannot be written: Not a directory\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--install", "--remove"], "argument --remove: not allowed with argument --install"),
        (["zlib"], "extension takes no words: zlib"),
        (["-f", "x"], "unknown option -f"),
    ],
)
def test_wrong_usage_is_refused(program: Program, words: list[str], reason: str) -> None:
    result = program("extension", *words)
    assert (result.returncode, result.stdout) == (ExitCode.USAGE, "")
    assert reason in result.stderr

"""`cover --fail-on` is a gate before specs are published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import (
    PROJECT_SUBKEY,
    SITE_KEY,
    complete,
    edge,
    environment,
    hash_of,
    leaf,
    node,
    signed_v3,
    write_files,
    write_index,
)
from tests.builders.recipes import recipe, write_repository
from tests.program import Program

ZLIB, MKL, OLD, TOOL, HOST = map(hash_of, range(1, 6))
BZIP2, NCURSES = "xb7lgxuszfsvwe7mgdjsuqrntq3ejdcm", "vipihp75pz2ju5uhqfacbpmiqi7jjurb"


GATE = ("cover", "spack.lock", "-f", "index.json", "--recipes", "site")


def both(program: Program) -> Path:
    """Write the hashes of the two signed specs to a file."""
    path = program.home / "hashes"
    path.write_text(f"{BZIP2}\n{NCURSES}\n")
    return path


@pytest.fixture
def home(program: Program) -> Path:
    """Write an environment, of which a cache lacks the tool, and its recipes."""
    external: dict[str, object] = {"path": "/usr", "module": None, "extra_attributes": {}}
    cached = [
        leaf(ZLIB, "zlib", "1.3"),
        leaf(MKL, "mkl", "2024.2"),
        leaf(OLD, "old", "1"),
        node(HOST, name="mkl", version="2023.1", dependencies=[], external=external),
    ]
    below = [edge(name, hash_, ["link"]) for name, hash_ in (("zlib", ZLIB), ("mkl", MKL))]
    below += [edge("old", OLD, ["link"]), edge("mkl", HOST, ["link"])]
    tool = node(TOOL, name="tool", version="1", dependencies=below)
    write_index(program.home, *cached)
    (program.home / "spack.lock").write_bytes(environment([*cached, tool], TOOL))
    texts = {
        "zlib": recipe("zlib", "redistribute(binary=False, when='@:1.2')"),
        "mkl": recipe("mkl", "redistribute(source=False, binary=False)"),
        "old": recipe("old", "deprecated('@1', reason='vuln', severity='medium')"),
        "tool": recipe("tool", "redistribute(binary=is_free())"),
    }
    write_repository(program.home / "site", texts)
    return program.home


@pytest.mark.parametrize(
    ("checks", "code", "fails"),
    [
        ("missing", 1, {TOOL: ["missing"]}),
        ("restricted", 1, {MKL: ["restricted"]}),
        ("deprecated", 1, {OLD: ["deprecated=medium"]}),
        ("deprecated=medium, missing", 1, {OLD: ["deprecated=medium"], TOOL: ["missing"]}),
        ("deprecated=high", 3, {}),
        ("unsigned", 3, {}),
        ("deprecated=high,unknown", 1, {TOOL: ["unknown"]}),
        ("unknown", 0, {}),
    ],
)
def test_the_exit_code_tells_a_failure_from_what_is_not_known(
    program: Program, home: Path, checks: str, code: int, fails: dict[str, list[str]]
) -> None:
    result = program(*GATE, "--fail-on", checks, "--json")
    rows = json.loads(result.stdout)
    assert result.returncode == code, result.stderr
    assert {row["hash"]: row["fails"] for row in rows if row["fails"]} == fails
    assert len(rows) == 5
    hashes = program(*GATE, "--fail-on", checks, "--hashes")
    assert (hashes.returncode, set(hashes.stdout.split())) == (code, {*fails})


def test_failing_specs_come_first_and_what_is_unknown_has_a_reason(
    program: Program, home: Path
) -> None:
    form = "{package} {fails}|{unanswered}"
    result = program(*GATE, "--fail-on", "restricted", "--fail-on", "unsigned", "--format", form)
    no_signature = "signature: no mirror of the sources has the spec"
    assert (result.returncode, result.stdout.splitlines()) == (
        1,
        [
            f"mkl restricted|{no_signature}",
            "tool |the recipe cannot be read completely",
            f"zlib |{no_signature}",
            f"old |{no_signature}",
            "mkl |",
        ],
    )
    _, text = program.on_terminal(*GATE, "--fail-on", "restricted", changes={"NO_COLOR": "1"})
    assert "1 fail, 1 unknown · 3 of 4 cached" in text
    assert "\n1 × the recipe cannot be read completely\n" in text.replace("\r", "")
    assert "\nfails: cached\n" in text.replace("\r", "")


def test_both_limits_count(program: Program, home: Path) -> None:
    (home / "site" / "packages" / "tool" / "package.py").write_text("class Tool(Package): pass")
    words = (*GATE, "--fail-on", "deprecated=high")
    assert program(*words).returncode == 0
    assert program(*words, "--fail-under", "76").returncode == 1


def test_a_gate_does_not_open_while_a_cache_cannot_be_read(program: Program, home: Path) -> None:
    (home / "site" / "packages" / "tool" / "package.py").write_text("class Tool(Package): pass")
    words = (*GATE, "-f", "http://127.0.0.1:9/", "--fail-on", "deprecated=high")
    result = program(*words)
    assert result.returncode == 3
    assert result.stderr.endswith("spackscope: 1 source could not be read\n")


def test_without_recipes_nothing_is_known(program: Program, home: Path) -> None:
    result = program(*GATE[:4], "--fail-on", "restricted")
    assert result.returncode == 3
    assert "no recipes were found" in result.stderr
    assert result.stderr.endswith("spackscope: 4 specs could not be checked\n")


@pytest.mark.parametrize(
    ("checks", "code", "failing"),
    [
        ("unsigned", 0, set()),
        (f"unsigned-by={SITE_KEY}", 1, {NCURSES}),
        (f"unsigned-by=0x{PROJECT_SUBKEY[-8:].lower()}", 1, {BZIP2}),
        (f"unsigned-by={SITE_KEY[-16:]},unsigned-by={PROJECT_SUBKEY}", 0, set()),
    ],
)
def test_signatures_are_read_from_mirrors(
    program: Program, checks: str, code: int, failing: set[str]
) -> None:
    write_files(program.home / "site", complete(signed_v3()))
    words = ("cover", "-", "-f", "site", "--fail-on", checks, "--hashes")
    result = program(*words, stdin=both(program))
    assert (result.returncode, set(result.stdout.split())) == (code, failing)


def test_a_signature_that_cannot_be_read_is_unknown(program: Program) -> None:
    site = write_files(program.home / "site", complete(signed_v3()))
    (path,) = site.glob("v3/manifests/spec/bzip2/*")
    path.write_bytes(path.read_bytes().partition(b"-----BEGIN PGP SIGNATURE")[0])
    words = ("cover", "-", "-f", "site", "--fail-on", "unsigned", "--format", "{unanswered}")
    result = program(*words, stdin=both(program))
    first, second = result.stdout.splitlines()
    assert (result.returncode, second) == (3, "")
    assert first.startswith("signature: ")


@pytest.mark.parametrize(
    "words",
    [
        ("--fail-on", "restrict"),
        ("--fail-on", ""),
        ("--fail-on", "missing,"),
        ("--fail-on", "missing=1"),
        ("--fail-on", "deprecated=none"),
        ("--fail-on", "unsigned-by"),
        ("--fail-on", "unsigned-by=me"),
        ("--fail-on", "missing", "--host", "zen3"),
        ("--fail-on", "missing", "spack.lock", "other.lock"),
    ],
)
def test_a_wrong_check_is_refused(program: Program, home: Path, words: tuple[str, ...]) -> None:
    (home / "other.lock").write_bytes((home / "spack.lock").read_bytes())
    result = program(*GATE, *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert "--fail-on " in result.stderr

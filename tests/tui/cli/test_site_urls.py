"""Addresses of cache.spack.io are sources and queries of the command line."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.manifests import MANIFEST, Files
from tests.builders.mirrors import mirror_v3, serve_files, tag_list, under, write_files
from tests.builders.spack import zlib_index
from tests.program import Program
from tests.tui.cli.test_secrets import NOBODY

OLD, NEW = "3" * 32, "4" * 32
URL = "https://cache.spack.io/?package=zlib"


@pytest.fixture(scope="module")
def public() -> Iterator[str]:
    """Return the tag list of a copy of the public cache that has two tags."""
    indexes = {
        "develop": zlib_index(hash_=NEW, version="1.3.2"),
        "v1": zlib_index(hash_=OLD, version="1.2.13"),
    }
    tags = {
        tag: [{"label": "root", "url": f"s3://spack-binaries/{tag}/{MANIFEST}"}] for tag in indexes
    }
    files = {"cache_spack_io_index.json": json.dumps(tags).encode()}
    for tag, index in indexes.items():
        files.update(under(tag, mirror_v3(index)))
    with serve_files(files) as server:
        yield f"{server.url}/cache_spack_io_index.json"


def test_an_address_is_a_source_with_a_query(program: Program, public: str) -> None:
    for words in (
        [f"{URL}&release=v1"],
        ["-f", f"{URL}&tag=v1&version=1.2"],
        [f"{URL}&hash={OLD}&release=v1"],
    ):
        assert program("find", "--hashes", *words, SPACKSCOPE_PUBLIC=public).stdout == f"{OLD}\n"
    result = program(
        "find", "--hashes", f"{URL}&release=v1&compiler=gcc", "@1.2:", SPACKSCOPE_PUBLIC=public
    )
    assert result.stdout == f"{OLD}\n"
    assert (
        "Ignored in the address, since the site has no such condition: compiler=" in result.stderr
    )
    (shown,) = program.rows("show", f"{URL}&hash={OLD}&release=v1", SPACKSCOPE_PUBLIC=public)
    assert shown["page"] == f"{URL}&hash={OLD}"
    by_version = program(
        "stats", "version", f"{URL}&release=v1", "--csv", SPACKSCOPE_PUBLIC=public
    )
    assert "1.2.13" in by_version.stdout


RELEASES = {"v2025.11.0": OLD, "v2026.6.0": NEW, "develop": "5" * 32}


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    """Return the tag list of a copy of the public cache that has releases."""
    files: Files = {}
    for tag, hash_ in RELEASES.items():
        files |= under(tag, mirror_v3(zlib_index(hash_=hash_)))
    files["cache_spack_io_index.json"] = tag_list(files)
    return write_files(tmp_path / "public", files) / "cache_spack_io_index.json"


@pytest.mark.parametrize("address", [URL, URL.removeprefix("https://")])
def test_a_record_is_read_from_the_first_release_that_has_it(
    program: Program, releases: Path, address: str
) -> None:
    """The site shows all releases where the address names none."""
    for tag, hash_ in RELEASES.items():
        url = f"{address}&hash={hash_}"
        result = program("find", url, "--format", "{hash} {tag}", SPACKSCOPE_PUBLIC=str(releases))
        assert result.stdout == f"{hash_} {tag}\n"
    words = ("find", f"{URL}&hash={'6' * 32}", "--hashes")
    program(*words, SPACKSCOPE_PUBLIC=str(releases), code=1, stdout="")


def test_older_releases_than_the_one_with_the_record_are_not_read(
    program: Program, releases: Path
) -> None:
    shutil.rmtree(releases.parent / "v2025.11.0")
    url = f"{URL}&hash={NEW}"
    program("find", url, "--hashes", SPACKSCOPE_PUBLIC=str(releases), stdout=f"{NEW}\n", stderr="")


def test_all_releases_are_a_source_and_say_which_has_a_build(
    program: Program, releases: Path
) -> None:
    words = ("find", "-f", "public:*", "zlib", "--format", "{tag} {hash}")
    lines = program(*words, SPACKSCOPE_PUBLIC=str(releases)).stdout.splitlines()
    assert sorted(lines) == sorted(f"{tag} {hash_}" for tag, hash_ in RELEASES.items())


def test_two_addresses_are_compared_as_specs_or_as_tags(program: Program, public: str) -> None:
    addresses = [f"{URL}&release=v1&hash={OLD}", f"{URL}&release=develop&hash={NEW}"]
    assert "1.2.13" in program("diff", *addresses, SPACKSCOPE_PUBLIC=public).stdout
    tags = [f"https://cache.spack.io/tag/{tag}/" for tag in ("v1", "develop")]
    assert "zlib 1.2.13 → 1.3.2" in program("diff", *tags, SPACKSCOPE_PUBLIC=public).stdout


def test_the_browser_says_what_it_ignores_of_an_address(program: Program, public: str) -> None:
    with (
        open(program.home / "err", "w") as stderr,
        program.in_terminal(
            f"{URL}&compiler=gcc",
            streams={"stderr": stderr},
            changes={"SPACKSCOPE_PUBLIC": public},
        ) as terminal,
    ):
        terminal.end(after="Ignored in the address")


def test_without_a_network_one_sentence_says_what_can_be_done(program: Program) -> None:
    tag_list = f"https://{NOBODY}/cache_spack_io_index.json"
    message = program.refused("find", URL, code=3, SPACKSCOPE_PUBLIC=tag_list)
    assert message.startswith("spackscope: the source public cannot be read: ")
    assert message.endswith("; SPACKSCOPE_PUBLIC or the setting public names this tag list\n")
    assert message.count("\n") == 1

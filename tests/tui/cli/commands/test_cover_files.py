"""`cover --files` lists what of a mirror an install of an environment fetches."""

from __future__ import annotations

import json

import pytest

from tests.builders import (
    complete,
    leaf,
    serve_files,
    sha256,
    signed_v2,
    signed_v3,
    write_files,
    write_index,
)
from tests.program import Program

BZIP2 = "xb7lgxuszfsvwe7mgdjsuqrntq3ejdcm"
FORM = "{checksum} {size} {path}"


def listed(
    program: Program, *words: str, code: int = 0, hashes: str = BZIP2
) -> list[tuple[str, ...]]:
    """Return checksum, size and path of the files that an install of some specs fetches."""
    path = program.home / "hashes"
    path.write_text(hashes)
    result = program("cover", "-", *words, "--files", "--format", FORM, stdin=path)
    assert result.returncode == code, result.stderr
    return [tuple(line.split(" ")) for line in result.stdout.splitlines()]


def test_the_files_are_those_of_a_mirror(program: Program) -> None:
    files = complete(signed_v3())
    write_files(program.home / "site", files)
    found = listed(program, "-f", "site")
    assert {path.split("/")[3] for _, _, path in found if "manifests" in path} == {
        "bzip2",
        "gcc-runtime",
    }
    for checksum, size, path in found:
        assert size in (str(len(files[path])), "")
        assert path == f"blobs/sha256/{checksum[:2]}/{checksum}" or (
            checksum == sha256(files[path])
        )
    with serve_files(files) as server:
        assert listed(program, "-f", server.url) == found


def test_files_of_layout_v2_have_the_checksum_of_their_spec_file(program: Program) -> None:
    files = complete(signed_v2())
    write_files(program.home / "site", files)
    hashes = program("find", "-f", "site", "zlib-ng", "--hashes").stdout
    shown = json.loads(program("show", "-f", "site", "--json", hashes.strip()).stdout)
    archive = shown[0]["mirrors"][0]["archive_file"].partition("site/")[2]
    write_files(program.home / "site", {archive: b"archive"})
    # The mirror has no spec file of gcc-runtime.
    (document, size, path), (checksum, *rest) = listed(
        program, "-f", "site", hashes=hashes, code=3
    )
    assert (document, size) == (sha256(files[path]), str(len(files[path])))
    assert f'"{checksum}"' in files[path].decode()
    assert rest == ["", archive]


def test_a_spec_of_the_closure_without_files_is_not_left_out(program: Program) -> None:
    files = complete(signed_v3())
    site = write_files(program.home / "site", files)
    (manifest,) = site.glob("v3/manifests/spec/gcc-runtime/*")
    manifest.unlink()
    names = [path for _, _, path in listed(program, "-f", "site", code=1)]
    assert len(names) == 3
    assert "bzip2-1.0.8" in names[0]


def test_files_of_an_index_without_mirror_are_unknown(program: Program) -> None:
    write_index(program.home, leaf(BZIP2, "bzip2", "1.0.8"))
    assert listed(program, "-f", "index.json", code=3) == []


@pytest.mark.parametrize("words", [("--missing",), ("--host", "zen3")])
def test_other_questions_have_no_files(program: Program, words: tuple[str, ...]) -> None:
    write_files(program.home / "site", complete(signed_v3()))
    result = program("cover", "site", "-f", "site", "--files", *words)
    assert (result.returncode, result.stdout) == (2, "")

"""What the files of a mirror on this machine lack is listed, but not cached."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from spackscope.model.index.load import load
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session
from tests.builders.catalogs import all_records
from tests.builders.manifests import BZIP2_ARCHIVE, MANIFEST
from tests.builders.mirrors import complete, files_in, mirror_v3, write_files
from tests.builders.spack import SPACK_DATA, zlib_index

BZIP2 = "xb7lgxuszfsvwe7mgdjsuqrntq3ejdcm"
ARCHIVE = f"blobs/sha256/27/{BZIP2_ARCHIVE}"
BZIP2_MANIFEST = f"v3/manifests/spec/bzip2/bzip2-1.0.8-{BZIP2}.spec.manifest.json"
WHOLE = complete(files_in(SPACK_DATA / "mirror-v3"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda top: (top / ARCHIVE).unlink(), "the archive is missing"),
        (lambda top: (top / BZIP2_MANIFEST).unlink(), "listed, but not in the mirror"),
        (lambda top: (top / ARCHIVE).rename(top / "other"), "the archive is missing"),
        (lambda top: (top / BZIP2_MANIFEST).write_text("{}"), "it is not a manifest of a mirror"),
        (lambda top: (top / ARCHIVE).write_bytes(b"cut"), "the archive is incomplete"),
    ],
)
def test_what_cannot_be_installed_is_not_cached(
    change: Callable[[Path], object], problem: str, tmp_path: Path, home: dict[str, str]
) -> None:
    mirror = write_files(tmp_path / "m", WHOLE)
    for is_whole in (True, False, True):
        write_files(mirror, WHOLE)
        if not is_whole:
            change(mirror)
        # The index of before is kept, and the document of the mirror's index has not changed.
        catalog = load([str(mirror)], Session(home), keep=True)
        specs = {spec.hash: spec for spec in all_records(catalog)}
        assert specs[BZIP2].cached is is_whole
        assert specs[BZIP2].in_cache
        assert catalog.count(parse("cached")) == len(specs) - (not is_whole)
        reasons = [each.reason for each in catalog.problems]
        assert len(reasons) == (not is_whole)
        assert all(f"bzip2/{BZIP2[:7]}: " in each for each in reasons)
        assert all(problem in each for each in reasons)


def test_an_index_alone_is_believed(tmp_path: Path) -> None:
    catalog = load([str(write_files(tmp_path, mirror_v3(zlib_index())))], Session({}))
    assert {spec.cached for spec in all_records(catalog)} == {True}
    assert not catalog.problems


def test_spec_files_without_an_index_are_looked_at_as_well(tmp_path: Path) -> None:
    files = files_in(SPACK_DATA / "mirror-v3")
    del files[MANIFEST]
    files[ARCHIVE] = bytes(5636)
    catalog = load([str(write_files(tmp_path, files))], Session({}))
    found = {spec.package: (spec.cached, spec.size) for spec in all_records(catalog)}
    assert found["bzip2"] == (True, 5636)
    assert found["ncurses"][0] is False


def test_a_spec_file_that_is_gone_keeps_no_archive_from_being_installed(tmp_path: Path) -> None:
    mirror = write_files(tmp_path, WHOLE)
    blobs = json.loads((mirror / BZIP2_MANIFEST).read_text())["data"]
    (digest,) = (each["checksum"] for each in blobs if "spec" in each["mediaType"])
    (mirror / "blobs" / "sha256" / digest[:2] / digest).unlink()
    catalog = load([str(mirror)], Session({}))
    assert {spec.hash: spec for spec in all_records(catalog)}[BZIP2].cached
    (problem,) = catalog.problems
    assert problem.reason == f"bzip2/{BZIP2[:7]}: the spec file is missing"

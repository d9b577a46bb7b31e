"""The spec files of a mirror without an index are read."""

from __future__ import annotations

import gzip
from pathlib import Path

from spackscope.model.core.records import Spec
from spackscope.model.readers.detect import read_document
from spackscope.model.sources.document import Document
from tests.builders import (
    MANIFEST,
    SPACK_DATA,
    SPEC_TYPE,
    ZLIB,
    blob,
    contents,
    discover_one,
    entry,
    files_in,
    manifest,
    problem_text,
    split_problems,
    write_files,
)


def specs_of(document: Document) -> list[Spec]:
    items = read_document(Path(document.path).read_bytes(), origin=document.origin)
    return split_problems(items)[0]


def test_a_v2_mirror_without_an_index_is_its_spec_files(tmp_path: Path) -> None:
    files = files_in(SPACK_DATA / "mirror-v2")
    specs = {name: data for name, data in files.items() if name.endswith(".spec.json")}
    signed = f"{min(specs)}.sig"

    discovered = discover_one(write_files(tmp_path, {**specs, signed: specs[min(specs)]}))

    assert (discovered.kind, discovered.layout) == ("mirror", "v2 spec files")
    assert len(discovered.documents) == len(specs)
    assert all(document.cached for document in discovered.documents)
    assert {spec.hash for document in discovered.documents for spec in specs_of(document)[:1]} == {
        name.removesuffix(".spec.json")[-32:] for name in specs
    }


def test_a_v3_mirror_without_an_index_is_its_spec_files(tmp_path: Path) -> None:
    files = files_in(SPACK_DATA / "mirror-v3")
    del files[MANIFEST]

    discovered = discover_one(write_files(tmp_path, files))

    documents = [document for document in discovered.documents if document.kind == "known"]
    assert (discovered.layout, discovered.problems) == ("v3 spec files", ())
    assert [specs_of(document)[0].package for document in documents] == ["bzip2", "ncurses"]
    assert all(specs_of(document)[0].hash in document.origin for document in documents)
    assert len(discovered.documents) == 4


def test_a_missing_or_wrong_blob_does_not_hide_other_spec_files(tmp_path: Path) -> None:
    good, bad = gzip.compress(b"{}"), b"bad"
    files = {
        f"v3/manifests/spec/a/{name}-1-{ZLIB}.spec.manifest.json": manifest(entry(SPEC_TYPE, data))
        for name, data in (("good", good), ("gone", b"gone"), ("bad", bad))
    }
    files |= blob(good) | dict.fromkeys(blob(bad), b"other")
    files["v3/manifests/spec/a/none.spec.manifest.json"] = b"[]"

    discovered = discover_one(write_files(tmp_path, files))

    assert contents(discovered) == [good]
    assert "does not exist" in problem_text(discovered)
    assert "does not match its checksum" in problem_text(discovered)
    assert "none.spec.manifest.json: it is not a manifest" in problem_text(discovered)

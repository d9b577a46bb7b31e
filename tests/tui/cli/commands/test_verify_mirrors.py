"""`sources --verify` tells benign from suspicious differences between mirrors."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from typing import Any

import pytest

from spackscope.model.core.file_access import MAX_GZIP_MEMBERS
from spackscope.model.core.frozen import replace
from spackscope.model.readers.unpack import Signature
from spackscope.model.sources.mirror_copies import Copy, Reason, judge
from spackscope.model.sources.mirror_spec import MirrorEntry, Signer
from tests.builders import (
    ARCHIVE_TYPE,
    BZIP2_ARCHIVE,
    SPACK_DATA,
    Files,
    entry,
    files_in,
    manifest,
    serve_files,
    sha256,
    signed_v3,
    with_bzip2,
    write_files,
)
from tests.program import Program

BZIP2 = "v3/manifests/spec/bzip2/bzip2-1.0.8-{}.spec.manifest.json"
_INFO = "{{sbang_install_path: /x/bin/sbang, buildpath: {}, spackprefix: /x}}\n"
PADDED = "/opt/spack/__spack_path_placeholder__/__spack_path_placeholder__"


def archive(prefix: str, content: bytes = b"bzip2") -> bytes:
    """Build an archive as Spack does, for an install tree."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        files = {
            "usr/bzip2/bin/bzip2": content,
            "usr/bzip2/.spack/binary_distribution": _INFO.format(prefix).encode(),
        }
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


VERIFY = ("sources", "--verify", "--archives")


def compared(program: Program, *mirrors: Files, code: int = 0) -> list[Any]:
    """Return a row for each copy of bzip2 in some mirrors, if they differ."""
    names = ("one", "other", "third")[: len(mirrors)]
    for name, files in zip(names, mirrors, strict=True):
        write_files(program.home / name, files)
    sources = [word for name in names for word in ("-f", name)]
    result = program(*VERIFY, "bzip2", *sources, "--json")
    assert result.returncode == code
    rows: list[Any] = json.loads(result.stdout)
    assert {row["package"] for row in rows} <= {"bzip2"}
    return [row for row in rows if row["judgement"]]


SITE, ANOTHER = archive("/site/spack"), archive("/site/spack", b"something else")
WRONG = SITE[:-1] + b"!"


@pytest.mark.parametrize(
    ("other", "judgement", "reason"),
    [
        (with_bzip2(archive("/other/spack")), "benign", "built for different prefixes"),
        (with_bzip2(archive(PADDED)), "benign", "built for different prefixes, padded"),
        (with_bzip2(ANOTHER), "suspicious", "different archives for the same prefix"),
        (
            with_bzip2(SITE, WRONG),
            "suspicious",
            "the archive of other does not match its manifest",
        ),
        (with_bzip2(b""), "suspicious", "the archive of other is empty"),
        (with_bzip2(b"none"), "unknown", "different archives, and some prefixes are unknown"),
    ],
)
def test_each_difference_is_judged(
    other: Files, judgement: str, reason: str, program: Program
) -> None:
    spec, *_ = compared(program, with_bzip2(SITE), other, code=judgement == "suspicious")
    assert spec["judgement"] == judgement
    assert reason in spec["problem"]


def test_copies_that_are_alike_are_not_listed(program: Program) -> None:
    assert compared(program, with_bzip2(SITE), with_bzip2(SITE)) == []


def test_a_missing_archive_is_no_difference(program: Program) -> None:
    without = files_in(SPACK_DATA / "mirror-v3")
    assert compared(program, without, without, code=1) == []


def test_without_archives_documents_on_this_machine_are_compared(program: Program) -> None:
    write_files(program.home / "one", with_bzip2(SITE))
    write_files(program.home / "two", with_bzip2(ANOTHER))
    result = program("sources", "--verify", "bzip2", "-f", "one", "-f", "two", "--json")
    assert {row["problem"] for row in json.loads(result.stdout)} == {
        "different archives, and some prefixes are unknown"
    }
    assert result.returncode == 0
    with serve_files(with_bzip2(ANOTHER)) as server:
        result = program("sources", "--verify", "bzip2", "-f", "one", "-f", server.url)
    assert len(result.stdout.splitlines()) == 1
    assert "--archives compares archives, and copies on servers" in result.stderr


@pytest.mark.parametrize("words", [["--archives"], ["bzip2"]])
def test_only_verifying_takes_a_query_and_reads_archives(
    words: list[str], program: Program
) -> None:
    assert "need --verify" in program.refused("sources", *words, code=2)


def header(type_: bytes, size: int) -> bytes:
    member = tarfile.TarInfo("x")
    member.type = type_
    member.size = size
    return member.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    "members",
    [
        (header(tarfile.GNUTYPE_LONGNAME, 4) + b"abc".ljust(512, b"\0")) * 2000,
        header(tarfile.GNUTYPE_LONGNAME, 2**40),
        header(tarfile.GNUTYPE_LONGNAME, 2**17).ljust(2**17 + 512, b"x"),
        header(tarfile.XHDTYPE, 2**17) + b"11 k=value\n".ljust(2**17, b" "),
        header(tarfile.REGTYPE, -1024),
        header(tarfile.REGTYPE, 0) * 20_000,
        header(tarfile.REGTYPE, 2**26).ljust(2**26 + 512, b"\0"),
        None,
    ],
    ids=[
        *("names in names", "no name", "a name", "keywords", "a negative size", "files", "zeros"),
        "empty parts",
    ],
)
def test_an_archive_that_does_harm_tells_nothing(members: bytes | None, program: Program) -> None:
    if members is None:
        bomb = gzip.compress(b"") * (MAX_GZIP_MEMBERS + 1) + SITE
    else:
        bomb = gzip.compress(members + gzip.decompress(SITE))
    spec, *_ = compared(program, with_bzip2(SITE), with_bzip2(bomb))
    assert spec["judgement"] == "unknown"
    assert "; the prefix of the archive of other is unknown: " in spec["problem"]
    if members is None:
        assert spec["problem"].endswith("it has more than 65,536 parts; the others are ignored")


def test_all_archives_of_a_mirror_have_one_limit(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in enumerate(("one", "other")):
        data = archive("/site/spack", bytes(20_000 + number))
        files = with_bzip2(data)
        for path in list(files):
            if path.endswith(".spec.manifest.json"):
                files[path] = manifest(entry(ARCHIVE_TYPE, data))
        write_files(program.home / name, files)
    monkeypatch.setattr("spackscope.model.sources.archive.MAX_EXPANSION", 0)
    monkeypatch.setattr("spackscope.model.sources.archive.MAX_UNPACKED", 60_000)
    words = (*VERIFY, "-f", "one", "-f", "other", "--json", "bzip2 | ncurses")
    rows = json.loads(program(*words).stdout)
    problems = [row["problem"] for row in rows if row["judgement"]]
    assert problems[0] == "different archives for the same prefix"
    assert "the archives of the mirror unpack to too much data for their sizes" in problems[2]


ONE, OTHER = (
    MirrorEntry(name, "v3", archive="present", checksum="a" * 64, size=1)
    for name in ("one", "other")
)
"""What two mirrors tell of one archive."""

ALIKE = [Copy(ONE, ONE.checksum), Copy(OTHER, ONE.checksum)]


def signed(copy: Copy, key: str) -> Copy:
    return replace(copy, entry=replace(copy.entry, signer=Signer(Signature(key_id=key))))


@pytest.mark.parametrize(
    ("copies", "judged"),
    [
        (ALIKE, ()),
        ([signed(each, "A") for each in ALIKE], ()),
        (list(map(signed, ALIKE, "AB")), [("benign", "different signers")]),
        ([ALIKE[0], signed(ALIKE[1], "A")], [("benign", "not signed everywhere")]),
        (
            [Copy(ONE), Copy(OTHER, ONE.checksum)],
            [("unknown", "only the documents are compared, not the archives of one")],
        ),
        (
            [Copy(ONE, ONE.checksum), Copy(replace(OTHER, size=2), ONE.checksum)],
            [("suspicious", "one checksum, but different sizes")],
        ),
        (
            [Copy(ONE, ONE.checksum), Copy(replace(OTHER, checksum=""))],
            [("unknown", "other has no checksum for it")],
        ),
    ],
)
def test_copies_of_one_archive_differ_in_what_is_told(
    copies: list[Copy], judged: list[Reason]
) -> None:
    assert judge(copies) == tuple(judged)


def test_a_signature_more_is_benign(program: Program) -> None:
    unsigned = files_in(SPACK_DATA / "mirror-v3")
    path = f"blobs/sha256/27/{BZIP2_ARCHIVE}"
    copies = compared(program, signed_v3(), {**unsigned, path: bytes(5636)}, code=1)
    # The archives are not those that the manifests name, in both.
    assert "not signed everywhere" in copies[0]["problem"]
    assert [bool(copy["key"]) for copy in copies] == [True, False]


def test_the_hashes_of_each_judgement_are_counted(program: Program) -> None:
    for name in ("one", "other"):
        write_files(program.home / name, with_bzip2(SITE))
    result = program(*VERIFY, "-f", "one", "-f", "other")
    assert "20 hashes in several mirrors: 1 alike, 19 unknown\n" in result.stderr


def test_a_third_mirror_hides_nothing(program: Program) -> None:
    third = with_bzip2(archive("/third/spack"))
    spec, *_ = compared(program, with_bzip2(SITE), with_bzip2(ANOTHER), third, code=1)
    assert spec["judgement"] == "suspicious"
    problem = "different archives for the same prefix; built for different prefixes"
    assert spec["problem"] == problem


def test_servers_are_asked_for_their_documents_only(program: Program) -> None:
    write_files(program.home / "one", with_bzip2(SITE))
    with serve_files(with_bzip2(archive("/other/spack"))) as server:
        result = program(*VERIFY, "bzip2", "-f", "one", "-f", server.url, "--json")
        here, there = json.loads(result.stdout)
        assert here["judgement"] == "unknown"
        assert here["problem"].startswith("different archives, and some prefixes are unknown")
        assert (here["sha256"], here["prefix"]) == (sha256(SITE), "/site/spack")
        assert there["prefix"] is None
    assert result.returncode == 0


def test_what_an_archive_has_instead_is_shown(program: Program) -> None:
    copies = compared(program, with_bzip2(SITE), with_bzip2(SITE, WRONG), code=1)
    assert [copy["found_sha256"] for copy in copies] == [None, sha256(WRONG)]
    words = (*VERIFY, "bzip2", "-f", "one", "-f", "other")
    assert "actual sha256" in program.on_terminal(*words)[1]

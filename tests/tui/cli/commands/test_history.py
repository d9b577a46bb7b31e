"""`history` says since when specs are in a source; `snapshot` keeps what there is now."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from datetime import date
from pathlib import Path

import pytest

from spackscope.model.analysis.history import Snapshots
from spackscope.model.answers.history import of_revisions, timelines
from spackscope.model.core.errors import Cancelled, Unwritable
from spackscope.model.core.tasks import cancelled_when
from tests.builders import PAGES, environment, leaf, node, record, write_index, write_page
from tests.program import Program

OLD, NEW, OTHER = (letter * 32 for letter in "onx")
TODAY = date.today().isoformat()
CACHE = ("-f", "index.json")


def write_cache(home: Path, *hashes: str) -> None:
    nodes = [leaf(hash_, "zlib", "1.2" if hash_ == OLD else "1.3") for hash_ in hashes]
    write_index(home, *nodes)


def test_snapshots_tell_what_came_and_went(program: Program) -> None:
    write_cache(program.home, OLD)
    assert program("snapshot", *CACHE).stdout == "index.json: 1 spec, 1 new, 0 gone\n"
    write_cache(program.home, NEW, OTHER)
    assert program("snapshot", *CACHE).stdout == "index.json: 2 specs, 2 new, 1 gone\n"
    assert program("snapshot", *CACHE).stdout == "index.json: 2 specs, 0 new, 0 gone\n"

    _, text = program.on_terminal("history", "zlib", *CACHE, changes={"NO_COLOR": "1"})
    lines = text.splitlines()
    assert "zlib: 2 versions" in lines
    assert lines[-3] == f"index.json: 4 snapshots of {TODAY}"
    assert lines[-2].split() == ["zlib@1.3", TODAY, "still", "listed", "2", "·███"]
    gone = f"zlib@1.2 {OLD[:7]} {TODAY} or earlier {TODAY}, gone by {TODAY} 1 █···"
    assert lines[-1].split() == gone.split()

    result = program("history", f"/{NEW}", *CACHE, "--json")
    (row,) = json.loads(result.stdout)
    assert (row["source"], row["spec"]) == ("index.json", "zlib@1.3")
    assert (row["hashes"], row["counts"]) == ([NEW], [0, 1, 1, 1])
    assert row["labels"] == [*["snapshot"] * 3, "now"]
    assert program("history", "hdf5", *CACHE).returncode == 1


def test_lines_are_of_the_values_of_a_variant(program: Program) -> None:
    """Also of what went, and of what a snapshot from before there were variants has."""
    with_mpi, without, gone = (
        node(hash_, name="hdf5", version="1.14", parameters={"mpi": has_mpi}, dependencies=...)
        for hash_, has_mpi in ((OLD, True), (NEW, False), (OTHER, True))
    )
    cache = write_index(program.home, with_mpi, gone)
    program("snapshot", *CACHE)
    (path,) = program.home.rglob("snapshots/*.gz")
    kept = json.loads(gzip.decompress(path.read_bytes()))
    kept["snapshots"][0]["added"] = {OLD: "hdf5@1.14", OTHER: "hdf5@1.14"}
    path.write_bytes(gzip.compress(json.dumps(kept).encode()))
    write_index(cache, with_mpi, without)

    result = program("history", "hdf5", "--by", "mpi", *CACHE)
    lines = [line.split("\t") for line in result.stdout.splitlines()[1:]]
    assert [(line[1], line[5]) for line in lines] == [
        ("hdf5, mpi unknown", "1"),
        ("hdf5 +mpi", "1"),
        ("hdf5 ~mpi", "1"),
    ]
    result = program("history", "hdf5", "+mpi", "--by", "hash", *CACHE)
    assert "hdf5 +mpi: 1 hash\n" in result.stderr
    assert "left out: 1 build with unknown variants" in result.stderr

    # It is no other spec, and what is known of it from now on is kept when it goes.
    assert program("snapshot", *CACHE).stdout == "index.json: 2 specs, 1 new, 1 gone\n"
    write_index(cache, without)
    result = program("history", "hdf5", "+mpi", *CACHE)
    assert result.stdout.splitlines()[-1].endswith("\t1 1 0")
    result = program("history", "hdf5", "--by", "os", *CACHE)
    assert result.returncode == 2
    assert "--by takes version, hash or a variant, not os" in result.stderr


def test_each_directory_has_snapshots_of_its_own(program: Program) -> None:
    write_cache(program.home, OLD)
    program("snapshot", *CACHE)
    (program.home / "other").mkdir()
    write_cache(program.home / "other", NEW)
    answer = program("snapshot", "-f", "other/index.json").stdout
    assert answer == "other/index.json: 1 spec, 1 new, 0 gone\n"


def test_dated_tags_are_a_history(program: Program) -> None:
    for tag, hashes in (("develop-2026-01-04", [OLD]), ("develop-2026-01-11", [OLD, NEW]),
                        ("develop-2026-01-18", [NEW])):  # fmt: skip
        write_page(program.home / "pages", [record(hash=hash_) for hash_ in hashes], tag=tag)
    result = program("history", f"/{OLD}", "-f", "pages")
    assert result.stdout.splitlines()[-1].split("\t") == [
        *("pages", "zlib@1.3.1", OLD, "2026-01-04 or earlier"),
        *("2026-01-11 (develop-2026-01-11), gone by 2026-01-18", "1", "1 1 0"),
    ]


def git(home: Path, *words: str) -> bytes:
    identity = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
    command = ["git", "-C", str(home), *identity, *words]
    return subprocess.run(command, check=True, capture_output=True).stdout


def lock_of(hash_: str) -> bytes:
    return environment([leaf(hash_, "zlib", "1.2" if hash_ == OLD else "1.3")], hash_)


def revisions(lock: Path, *contents: bytes) -> str:
    """Make a revision of each content of a lock file; return the name of the file."""
    git(lock.parent, "init", "-q")
    for content in contents:
        lock.write_bytes(content)
        git(lock.parent, "add", ".")
        git(lock.parent, "commit", "-qm", "Lock")
    return str(lock)


@pytest.mark.parametrize("name", ["spack.lock", b"a\nb.lock", b"\xff.lock", b"-x :(top)*.lock"])
def test_the_revisions_of_a_lock_file_are_a_history(name: str | bytes, program: Program) -> None:
    lock = program.home / os.fsdecode(name)
    revisions(lock, lock_of(OLD), lock_of(NEW))
    result = program("history", "zlib", "-f", f"./{lock.name}")
    assert (result.returncode, result.stderr) == (0, "spackscope: zlib: 2 versions\n")
    lines = [line.split("\t") for line in result.stdout.splitlines()[1:]]
    assert [line[-1] for line in lines] == ["0 1 1", "1 0 0"]
    assert [line[1] for line in lines] == ["zlib@1.3", "zlib@1.2"]


def test_revisions_are_in_the_order_of_their_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hash_, when in ((OLD, "10:00:00+0900"), (NEW, "03:00:00+0000")):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"2026-02-01T{when}")
        revisions(tmp_path / "spack.lock", lock_of(hash_))
    # As git sets it for its hooks.
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    (tmp_path / "link").symlink_to("spack.lock")
    observations, failure = of_revisions(str(tmp_path / "link"))
    assert not failure
    assert [each.when for each in observations] == ["2026-02-01T01:00Z", "2026-02-01T03:00Z"]


def test_no_setting_of_a_work_tree_changes_what_is_told(tmp_path: Path) -> None:
    lock = revisions(tmp_path / "spack.lock", lock_of(OLD), lock_of(NEW))
    told = of_revisions(lock)
    for setting in (
        *("i18n.logOutputEncoding=UTF-16", "log.follow=true", "log.showRoot=false"),
        *("diff.orderFile=/nowhere", "core.abbrev=4"),
    ):
        git(tmp_path, "config", *setting.split("="))
    os.mkfifo(tmp_path / ".mailmap")
    assert of_revisions(lock) == told
    assert len(told[0]) == 2


@pytest.mark.parametrize("name", ["HEAD", "config", "packed-refs", "objects/info/alternates"])
def test_a_fifo_of_a_work_tree_is_not_waited_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = revisions(tmp_path / "spack.lock", lock_of(OLD))
    fifo = tmp_path / ".git" / name
    fifo.unlink(missing_ok=True)
    os.mkfifo(fifo)
    with pytest.raises(Cancelled), cancelled_when(lambda: True):
        of_revisions(lock)
    monkeypatch.setattr("spackscope.model.sources.git.GIT_TIMEOUT", 0.1)
    reason = "git takes more than 0.1 s"
    assert of_revisions(lock) == ([], f"not all revisions of {lock} were read: {reason}")


def test_the_newest_revisions_are_read_where_all_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = revisions(tmp_path / "spack.lock", *map(lock_of, (OLD, OTHER, NEW)))
    size = os.stat(lock).st_size
    monkeypatch.setattr("spackscope.model.answers.history.MAX_REVISIONS_SIZE", 2 * size + 1)
    (first, second), failure = of_revisions(lock)
    assert (list(first.came), list(second.came), second.went) == ([OTHER], [NEW], [OTHER])
    newer = f"the newer ones have {2 * size:,} bytes; at most {2 * size + 1:,} are read"
    assert failure == f"not all revisions of {lock} were read: {newer}"


def test_no_program_that_a_work_tree_names_is_run(tmp_path: Path) -> None:
    """Neither to verify a signed revision, nor to fetch what a partial clone lacks."""
    trap, ran = tmp_path / "trap.sh", tmp_path / "ran"
    trap.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    trap.chmod(0o755)
    lock = revisions(tmp_path / "spack.lock", lock_of(OLD))
    head, message = git(tmp_path, "cat-file", "commit", "HEAD").split(b"\n\n", 1)
    armour = b"-----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    (tmp_path / "signed").write_bytes(b"%b\ngpgsig %b\n\n%b" % (head, armour, message))
    signed = git(tmp_path, "hash-object", "-t", "commit", "-w", str(tmp_path / "signed"))
    git(tmp_path, "update-ref", "HEAD", signed.decode().strip())
    blob = git(tmp_path, "rev-parse", "HEAD:spack.lock").decode().strip()
    (tmp_path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for key, value in {
        "log.showSignature": "true",
        "gpg.program": str(trap),
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{trap} %S",
        "protocol.ext.allow": "always",
    }.items():
        git(tmp_path, "config", key, value)
    failure = f"not all revisions of {lock} were read: git does not have them"
    assert of_revisions(lock) == ([], failure)
    assert not ran.exists()


def test_what_git_does_not_tell_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "spack.lock"
    path.touch()
    assert of_revisions(str(path)) == ([], "")
    lock = revisions(path, b" " * 20_000, b"<<<<<<<", lock_of(OLD))
    # A few bytes of git's are so many blanks.
    monkeypatch.setattr("spackscope.model.core.file_access.SMALL_UNPACKED_SIZE", 1000)
    (observation,), failure = of_revisions(lock)
    assert list(observation.came) == [OLD]
    assert failure.startswith(f"not all revisions of {lock} were read: it has 20,000 bytes")
    git(tmp_path, "mv", "spack.lock", "other")
    git(tmp_path, "commit", "-qm", "Rename")
    path.touch()
    *_, gone = of_revisions(lock)[0]
    assert (gone.came, gone.went) == ({}, [OLD])
    monkeypatch.setenv("PATH", str(tmp_path))
    reason = "git cannot be run"
    assert of_revisions(lock) == ([], f"not all revisions of {lock} were read: {reason}")


@pytest.mark.parametrize(
    "data", [b"", b"no gzip", gzip.compress(b"[]", mtime=0), gzip.compress(b"{" * 99, mtime=0)]
)
def test_a_damaged_file_is_named_and_never_written_over(data: bytes, program: Program) -> None:
    write_cache(program.home, OLD)
    program("snapshot", *CACHE)
    (path,) = program.home.rglob("snapshots/*.gz")
    path.write_bytes(data)
    assert f"the snapshots in {path} cannot be read" in program.refused("snapshot", *CACHE, code=3)
    assert path.read_bytes() == data
    result = program("history", "zlib", *CACHE)
    assert "zlib: 1 version\n" in result.stderr
    assert f"the snapshots in {path} cannot be read" in result.stderr


def test_what_cannot_be_read_has_not_gone(program: Program) -> None:
    write_cache(program.home, OLD)
    program("snapshot", *CACHE)
    (program.home / "index.json").rename(program.home / "other.json")
    (program.home / "index.json").write_text("{")
    both = (*CACHE, "-f", "other.json")
    result = program("snapshot", *both)
    assert (result.returncode, result.stdout) == (3, "other.json: 1 spec, 1 new, 0 gone\n")
    assert "index.json could not be read" in result.stderr
    assert program("history", "zlib", *both).stdout.count("\tstill listed\t") == 2


def test_of_a_source_that_is_cut_off_nothing_has_gone(program: Program) -> None:
    path = program.home / "index.json"
    write_cache(program.home, OLD, NEW)
    program("snapshot", *CACHE)
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rindex(b'"spec"')])
    result = program("snapshot", *CACHE)
    assert result.stdout == "index.json: 1 spec, 0 new, 0 gone\n"
    assert "cut off" in result.stderr
    path.write_bytes(whole)
    assert program("snapshot", *CACHE).stdout == "index.json: 2 specs, 0 new, 0 gone\n"


def test_a_snapshot_needs_a_home_directory() -> None:
    with pytest.raises(Unwritable, match="there is no home directory to keep a snapshot in"):
        Snapshots("spack:site", {}).add({OLD: "zlib@1.2"}, 0)


def test_old_snapshots_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spackscope.model.analysis.history.MAX_OBSERVATIONS", 3)
    snapshots = Snapshots("spack:site", {"XDG_STATE_HOME": str(tmp_path)})
    for number in range(1, 7):
        snapshots.add({OLD: "zlib@1.2"} if number < 3 else {NEW: f"zlib@{number}"}, 1e9 * number)
    kept = snapshots.read()
    # What did not change between two is not kept twice.
    assert [(each.came, each.went) for each in kept] == [
        ({OLD: "zlib@1.2"}, []),
        ({NEW: "zlib@3"}, [OLD]),
        ({}, []),
    ]
    with pytest.raises(Cancelled), cancelled_when(lambda: True):
        timelines("spack:site", [kept], {OLD: "zlib@1.2"}, "version")


def test_only_what_all_looks_have_in_common_can_be_asked(program: Program) -> None:
    result = program("history", "zlib", "os=ubuntu22.04", "-f", str(PAGES))
    assert result.returncode == 2
    assert "history takes only packages, versions, variants and hashes" in result.stderr

"""Every file below a directory is found, or reported; documents have a fingerprint."""

import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from spackscope.model.core.errors import Cancelled, SourceError
from spackscope.model.core.tasks import cancelled_when
from spackscope.model.sources import discover as discover_module
from spackscope.model.sources.document import FileList, document_of
from tests.builders.catalogs import catalog_of
from tests.builders.mirrors import discover_one, write_files
from tests.builders.nodes import leaf
from tests.builders.pages import hash_of, page, record, write_page
from tests.builders.spack import environment as lock_file
from tests.builders.spack import write_tree
from tests.program import COMMAND, environment


def names(top: Path) -> list[str]:
    return [os.path.relpath(document.path, top) for document in discover_one(top).documents]


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        (".", "mirror/develop/zlib/specs.md"),
        ("./", "mirror/develop/zlib/specs.md"),
        ("mirror", "mirror/develop/zlib/specs.md"),
        ("mirror//", "mirror/develop/zlib/specs.md"),
        ("../here/mirror", "../here/mirror/develop/zlib/specs.md"),
        ("{here}", "{here}/mirror/develop/zlib/specs.md"),
        ("mirror/develop/zlib/specs.md", "mirror/develop/zlib/specs.md"),
    ],
)
def test_a_document_is_named_as_the_user_would_name_it(
    source: str, origin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    write_page(here / "mirror", [record()])
    monkeypatch.chdir(here)

    (document,) = discover_one(source.format(here=here)).documents

    assert document.source == source.format(here=here)
    assert document.origin == origin.format(here=here)


@pytest.mark.parametrize(
    ("link", "target", "files"),
    [
        ("c/back", "../b", ["b/1", "b/2", "c/1", "d/deep/1"]),
        ("b/before", "../d/deep", ["b/1", "b/2", "b/before/1", "c/1"]),
        ("bb", "../other", ["b/1", "b/2", "bb/x", "c/1", "d/deep/1"]),
        ("bb", "../link", ["b/1", "b/2", "bb/deep/1", "c/1"]),
    ],
)
def test_a_directory_is_read_where_it_is_first_in_the_order(
    link: str, target: str, files: list[str], tmp_path: Path
) -> None:
    top = tmp_path / "top"
    for name in ("top/b/1", "top/b/2", "top/c/1", "top/d/deep/1", "other/x"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "link").symlink_to("top/d")
    (top / link).symlink_to(target)

    assert names(top) == files
    # The top may be a link, too.
    (tmp_path / "other top").symlink_to(top)
    assert names(tmp_path / "other top") == files


def test_links_are_followed_within_bounds_and_broken_ones_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror"
    write_page(mirror, [record()])
    (mirror / "nowhere").symlink_to("missing")
    (mirror / "round").symlink_to("round")
    (mirror / "root").symlink_to("/")
    (mirror / "up").symlink_to("../..")
    (mirror / "kernel").symlink_to("/proc/self/fd")
    (mirror / "zfar").symlink_to(tmp_path / "far")
    for number in range(50):
        (tmp_path / "far" / str(number)).mkdir(parents=True)
    monkeypatch.setattr(discover_module, "MAX_ENTRIES", 40)

    catalog = catalog_of(mirror)

    assert catalog.total == 1
    reasons = {Path(problem.origin).name: problem.reason for problem in catalog.problems}
    assert reasons["nowhere"] == "cannot be read: no such file or directory"
    assert reasons["round"] == "cannot be read: too many levels of symbolic links"
    assert reasons["root"] == "is not followed: it leads to a directory that contains the source"
    assert reasons["up"] == reasons["root"]
    assert reasons["zfar"].endswith("at most 40 files and directories of a source are read")
    if sys.platform == "linux":
        assert reasons["kernel"] == "is not read: it is a kernel file system"


def test_kernel_file_systems_in_a_copy_of_a_system_are_not_read(tmp_path: Path) -> None:
    for name in ("proc", "sys/proc"):
        (tmp_path / name).mkdir(parents=True)
    write_page(tmp_path / "sys", [record()])
    own_mounts = ["unshare", "--map-root-user", "--mount", "--pid", "--fork", "sh", "-ec"]
    mount = 'mount -t proc proc "$0/proc"; exec "$@"'
    try:
        subprocess.run([*own_mounts, mount, tmp_path, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("file systems cannot be mounted here")

    environ = environment(tmp_path / "home")
    done = subprocess.run(
        [*own_mounts, mount, tmp_path, *COMMAND, "find", "-f", str(tmp_path)],
        env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip

    _, *found = done.stdout.splitlines()
    (problem,) = done.stderr.splitlines()
    assert len(found) == 1
    assert problem.endswith(f"{tmp_path}/proc: is not read: it is a kernel file system")


def test_directories_may_be_nested_deeper_than_calls(here: Path) -> None:
    for _ in range(1_500):
        os.mkdir("d")
        os.chdir("d")
    Path("specs.md").write_bytes(page([record(1)]))

    try:
        assert catalog_of(here).total == 1
    finally:
        # What pytest removes directories with does not go so deep.
        os.unlink("specs.md")
        for _ in range(1_500):
            os.chdir("..")
            os.rmdir("d")


def test_a_page_among_other_files_is_enough(tmp_path: Path) -> None:
    write_page(tmp_path / "a", [record()])
    (tmp_path / "a" / "README.md").write_text("# A mirror")
    (tmp_path / "a" / "index.json").write_text("{}")
    os.mkfifo(tmp_path / "a" / "pipe")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "README.md").touch()

    assert catalog_of(tmp_path / "a").problems == []
    (problem,) = catalog_of(tmp_path / "a", tmp_path / "b").problems
    assert "/b contains no" in problem.reason
    for content in (b"", b"<html>", b"---\ntitle: zlib\nlay"):
        (tmp_path / "a" / "specs.md").write_bytes(content)
        (problem,) = catalog_of(tmp_path / "a").problems
        assert str(problem) == f"{tmp_path}/a/specs.md: it is not a page of cache.spack.io"


def test_names_of_bytes_that_are_not_text_are_read(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9\x1b[31m")
    write_page(tmp_path / name, [record(1)])
    (tmp_path / name / "broken").symlink_to("missing")

    catalog = catalog_of(tmp_path / name)
    (row,) = catalog.by_hash(hash_of(1))

    assert row.spec.origin == f"{tmp_path}/caf?\x1b[31m/develop/zlib/specs.md"
    assert row.spec.source == f"{tmp_path}/caf?\x1b[31m"
    assert [problem.origin for problem in catalog.problems] == [row.spec.source + "/broken"]


def test_unreadable_files_are_reported(unprivileged: Path) -> None:
    write_page(unprivileged, [record()])
    write_page(unprivileged, [record()], title="locked")
    (unprivileged / "develop" / "locked" / "specs.md").chmod(0)
    (unprivileged / "closed").mkdir(0)
    (unprivileged / "listed").mkdir()
    (unprivileged / "listed" / "specs.md").touch()
    (unprivileged / "listed").chmod(0o444)

    catalog = catalog_of(unprivileged)

    assert catalog.total == 1
    assert sorted(
        os.path.relpath(problem.origin, unprivileged) for problem in catalog.problems
    ) == ["closed", "develop/locked/specs.md", "listed/specs.md"]
    assert {problem.reason for problem in catalog.problems} == {
        "cannot be read: permission denied"
    }


@pytest.mark.parametrize("is_directory", [True, False])
def test_a_source_that_may_not_be_read_is_refused(is_directory: bool, unprivileged: Path) -> None:
    path = unprivileged / "source"
    path.mkdir() if is_directory else path.touch()
    path.chmod(0)

    with pytest.raises(SourceError, match=f"the source {path} cannot be read: permission denied"):
        catalog_of(path)


def test_scanning_asks_in_every_directory_whether_to_stop(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / str(number)).mkdir()
    calls = itertools.count()

    with pytest.raises(Cancelled), cancelled_when(lambda: next(calls) > 50):
        discover_one(tmp_path)


def test_a_fingerprint_differs_after_every_change(tmp_path: Path) -> None:
    # One is kept in the list of a directory, and the other by itself.
    top = tmp_path / "top"

    def now() -> tuple[str, str]:
        alone = discover_one(path).documents.fingerprint if path.exists() else ""
        return discover_one(top).documents.fingerprint, alone

    path = write_page(top, [record(1)])
    write_page(top, [record(1)], title="other")
    seen = [now()]
    assert now() == seen[0]

    status = path.stat()
    path.write_bytes(page([record(2)]))
    assert path.stat().st_size == status.st_size
    seen.append(now())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    seen.append(now())
    path.chmod(0o640)
    seen.append(now())
    assert len({alone for _, alone in seen}) == len(seen)
    added = write_page(top, [record(3)], title="bzip2")
    seen.append(now())
    added.rename(added.with_name("other.md"))
    seen.append(now())
    path.unlink()
    seen.append(now())

    assert len({all_files for all_files, _ in seen}) == len(seen)


def test_documents_of_a_directory_are_those_of_its_files(tmp_path: Path) -> None:
    names = (
        "a",
        os.fsdecode(b"caf\xe9"),
        "new\nline",
        *(f"z{number:03}" for number in range(600)),
    )
    paths = [tmp_path / name for name in names]
    for size, path in enumerate(paths):
        path.write_bytes(b"x" * size)

    source = discover_one(tmp_path)

    expected = [document_of(str(tmp_path), str(p), str(p), p.stat()) for p in paths]
    assert [*source.documents] == [*source.documents] == expected
    assert len(source.documents) == len(paths)
    assert source.documents.size == sum(range(len(paths)))
    assert [document.source for document in source.documents.named("x")] == ["x"] * len(paths)


def fingerprint_of(*, mtime_ns: int = 1, ctime_ns: int = 0) -> str:
    """Return the fingerprint of a file with such times."""
    files, times = FileList("/", ""), {"st_mtime_ns": mtime_ns, "st_ctime_ns": ctime_ns}
    files.add("/file", SimpleNamespace(st_size=1, **times))  # type: ignore[arg-type]
    return files.fingerprint


def test_times_after_the_year_2262_differ() -> None:
    times = (2**63 - 1, 2**63, 2**63 + 1, 2**63 + 1)
    assert len({fingerprint_of(mtime_ns=mtime) for mtime in times}) == 3


def test_a_file_that_may_change_without_a_trace_is_another_one_each_time() -> None:
    now = int(time.time())
    # File systems without fractions have whole seconds.
    for seconds, ns, count in ((now, 0, 2), (now, 5, 1), (now - 60, 0, 1)):
        ctime_ns = seconds * 10**9 + ns
        assert len({fingerprint_of(ctime_ns=ctime_ns) for _ in range(2)}) == count


def test_the_prefix_of_a_package_is_installed_and_no_cache(tmp_path: Path) -> None:
    prefix = tmp_path / "opt" / "zlib-1.3-zzzzzzz"
    nodes = [leaf("z" * 32, "zlib", "1.3")]
    content = {"spec": {"_meta": {"version": 5}, "nodes": nodes}}
    write_files(prefix, {".spack/spec.json": json.dumps(content).encode()})
    for source in (prefix, prefix.parent):
        catalog = catalog_of(source)
        (row,) = catalog.rows([0])
        its = catalog.with_provenance(0, row.spec)
        assert (its.cached, its.installed, its.path) == (False, True, str(prefix))


def test_an_environment_in_an_install_tree_is_read_too(tmp_path: Path) -> None:
    write_tree(tmp_path, leaf("z" * 32, "zlib", "1.3"))
    (tmp_path / "spack.lock").write_bytes(lock_file([leaf("x" * 32, "xz", "5.8")], "x" * 32))
    both = discover_one(tmp_path)
    assert (both.kind, both.layout, len(both.documents)) == ("install tree", "with spack.lock", 2)


def test_the_kind_of_a_directory_is_that_of_all_its_documents(tmp_path: Path) -> None:
    lock = lock_file([leaf("x" * 32, "xz", "5.8")], "x" * 32)
    (tmp_path / "one.json").write_bytes(lock)
    alone = discover_one(tmp_path).kind
    write_page(tmp_path / "pages", [record()])
    assert (discover_one(tmp_path / "pages").kind, alone) == ("pages", "file")
    assert discover_one(tmp_path).kind == "directory"

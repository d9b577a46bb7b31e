"""Files are downloaded, or served from the copies of an earlier run."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spackscope.model.core.errors import NotFound, WrongContent
from spackscope.model.sources.discover import discover
from spackscope.model.sources.session import Session
from spackscope.model.storage.base import Wanted
from spackscope.model.storage.cache import CachedFile, DownloadCache, open_download_cache
from tests.model.storage.machine import NEW, OLD, Machine, sha256
from tests.web_server import Exchange, in_turn, never_ends, responds, sends, serving, stalls_after

DAY = 86_400.0
MANIFEST = "v3/manifests/index/index.manifest.json"


def test_a_copy_is_for_the_user_alone_and_described_without_secrets(machine: Machine) -> None:
    with serving(index=sends(NEW, ETag='"7"')) as server:
        storage = machine.storage(f"http://ann:s3cret@127.0.0.1:{server.port}/?token=s3cret")
        fetched = storage.fetch(Wanted("index"))

    path = Path(fetched.path)
    assert path.read_bytes() == NEW
    assert path.parent == machine.cache
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path.parent, path)] == [0o700, 0o600]
    described = json.loads(Path(f"{path}.json").read_text())
    assert described["url"] == fetched.origin == f"{server.url}/index"
    assert described["validators"] == {"If-None-Match": '"7"'}
    assert described["status"][0] == len(NEW)
    assert (described["sha256"], described["checked"]) == (sha256(NEW), fetched.checked)
    assert (fetched.remark, sorted(os.listdir(machine.cache))) == (
        "",
        [path.name, f"{path.name}.json"],
    )
    assert "s3cret" not in path.name + str(described)


def test_a_file_that_changes_replaces_its_copy_and_no_other_is_written(machine: Machine) -> None:
    answers = in_turn(sends(OLD, ETag='"1"'), sends(OLD, ETag='"2"'), sends(NEW, ETag='"3"'))
    with serving(index=answers) as server:
        first = machine.storage(server.url).fetch(Wanted("index"))
        was = os.stat(first.path)
        second = machine.storage(server.url).fetch(Wanted("index"))
        assert os.stat(second.path) == was
        assert machine.read(server) == NEW


def test_a_file_of_a_known_checksum_is_asked_for_once(machine: Machine) -> None:
    with serving(blob=sends(NEW), index=sends(NEW), fixed=sends(NEW)) as server:
        for _ in range(3):
            assert machine.read(server, "blob", sha256=sha256(NEW)) == NEW
            assert machine.read(server, "fixed", immutable=True) == NEW
        machine.read(server)
        assert machine.read(server, sha256=sha256(NEW)) == NEW

        assert server.paths() == ["/blob", "/fixed", "/index"]


def test_a_checksum_that_is_not_that_of_the_file_refuses_it(machine: Machine) -> None:
    says_so = "does not match its checksum: sha256 is"
    with serving(blob=sends(NEW)) as server, pytest.raises(WrongContent, match=says_so):
        machine.storage(server.url).fetch(Wanted("blob", sha256=sha256(OLD), immutable=True))

    assert os.listdir(machine.cache) == []


def tampered(path: Path) -> None:
    path.write_bytes(OLD)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def replaced_by_a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def described_by(text: bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        Path(f"{path}.json").write_bytes(text)

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        tampered,
        emptied,
        replaced_by_a_directory,
        Path.unlink,
        lambda path: Path(f"{path}.json").unlink(),
        *map(described_by, [b"", b"{}", b"[]", b"null", b"\xff", b"[" * 100_000]),
        *map(described_by, [b'{"size": "x"}', b'{"size": Infinity}', b'{"url": 1}']),
    ],
)
def test_a_copy_that_is_not_as_it_was_written_is_none(
    machine: Machine, damage: Callable[[Path], None]
) -> None:
    with serving(blob=sends(NEW)) as server:
        storage = machine.storage(server.url)
        damage(Path(storage.fetch(Wanted("blob", immutable=True)).path))
        assert not storage.is_cached("blob")

        assert machine.read(server, "blob", immutable=True) == NEW
    assert machine.left_behind() == []


def test_a_copy_with_other_times_and_the_same_content_is_current(machine: Machine) -> None:
    with serving(blob=sends(NEW)) as server:
        os.utime(machine.storage(server.url).fetch(Wanted("blob")).path, (1, 1))

        assert machine.read(server, "blob", immutable=True) == NEW
        assert server.paths() == ["/blob"]


def test_a_file_that_is_gone_is_missing_and_one_that_is_forbidden_is_not(machine: Machine) -> None:
    with serving(index=in_turn(sends(OLD), responds(403), responds(404))) as server:
        machine.read(server)

        assert (
            machine.storage(server.url)
            .fetch(Wanted("index"))
            .remark.endswith("is forbidden: HTTP 403")
        )
        with pytest.raises(NotFound):
            machine.read(server)


def test_a_full_disk_leaves_the_copy_of_before(machine: Machine) -> None:
    room = resource.getrlimit(resource.RLIMIT_FSIZE)
    with serving(index=in_turn(sends(OLD), sends(bytes(30 << 20)))) as server:
        machine.read(server)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 20, room[1]))
        try:
            served = machine.storage(server.url).fetch(Wanted("index"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, room)

    assert Path(served.path).read_bytes() == OLD
    assert served.remark == f"{server.url}/index cannot be written to the cache: File too large"
    assert machine.left_behind() == []


def test_a_cache_that_is_removed_or_takes_no_copy_hides_no_file(machine: Machine) -> None:
    with serving(index=sends(NEW)) as server:
        storage = machine.storage(server.url)
        shutil.rmtree(machine.cache)
        served = storage.fetch(Wanted("index"))
        assert served.path.startswith(str(machine.cache))

        shutil.rmtree(machine.cache)
        Path(served.path).mkdir(parents=True)
        (Path(served.path) / "x").touch()
        served = machine.storage(server.url).fetch(Wanted("index"))
        assert Path(served.path).read_bytes() == NEW
    assert not served.path.startswith(str(machine.cache))


def test_a_cache_that_cannot_be_written_is_not_used(unprivileged: Path) -> None:
    home = unprivileged / "cache"
    (home / "spackscope").mkdir(parents=True, mode=0o555)
    (home / "spackscope").chmod(0o555)

    with serving(index=sends(NEW)) as server:
        storage = Machine(home).storage(server.url)
        served = storage.fetch(Wanted("index"))
        assert storage.is_cached("index")
    assert Path(served.path).read_bytes() == NEW
    assert not served.path.startswith(str(home))


def test_without_a_cache_directory_copies_go_when_the_program_ends(tmp_path: Path) -> None:
    for environ in ({}, {"XDG_CACHE_HOME": "/dev/null"}):
        with serving(index=sends(NEW)) as server:
            program = (
                "from spackscope.model.sources.session import Session\n"
                "from spackscope.model.storage.base import Wanted\n"
                f"print(Session({environ!r}).open({server.url!r}).fetch(Wanted('index')).path)"
            )
            answer = subprocess.run(
                [sys.executable, "-c", program],
                env={"TMPDIR": str(tmp_path), "PATH": os.environ["PATH"]},
                capture_output=True,
                check=True,
                text=True,
            )

        assert answer.stdout.startswith(str(tmp_path))
        assert list(tmp_path.iterdir()) == []


def test_bodies_that_are_too_large_are_given_up(machine: Machine) -> None:
    with serving(endless=never_ends, huge=stalls_after(b"", 10**12)) as server:
        endless = machine.failure(server, "endless", max_size=1_000_000)
        huge = machine.failure(server, "huge", max_size=1_000_000)

    assert endless == "URL/endless is larger than the 1,000,000 bytes allowed"
    assert huge == "URL/huge is too large: 1,000,000,000,000 bytes, and 1,000,000 are allowed"
    assert machine.left_behind() == []


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize(
    ("name", "at", "limit"),
    [
        (MANIFEST, "", 1_048_576),
        ("build_cache/index.json.hash", "", 1024),
        ("cache_spack_io_index.json", "/cache_spack_io_index.json", 67_108_864),
    ],
)
def test_of_each_kind_of_file_no_more_is_fetched_than_may_be_read(
    name: str, at: str, limit: int, announced: bool, machine: Machine
) -> None:
    sent: list[int] = []

    def endless(exchange: Exchange) -> None:
        length = {"Content_Length": 4 << 30} if announced else {}
        exchange.send_head(200, Connection="close", **length)
        while not exchange.server.ended.is_set():
            exchange.send(b"{" * 65_536)
            sent.append(65_536)

    with serving() as server:
        server.handlers[f"/{name}"] = endless
        (discovered,) = discover([server.url + at], Session(machine.environ))

    assert discovered.failure
    # What is on its way when the connection is closed are buffers of the kernel's.
    assert sum(sent) < (0 if announced else limit) + 16_000_000
    if name != "build_cache/index.json.hash":
        is_too_large = "is too large: 4,294,967,296 bytes, and" if announced else "is larger than"
        assert is_too_large in discovered.failure
        assert f"{limit:,}" in discovered.failure


def test_progress_has_the_bytes_so_far_and_in_all(machine: Machine) -> None:
    seen: list[tuple[str, int, int | None]] = []
    with serving(index=sends(b"x" * 300_000)) as server:
        machine.storage(server.url, on_progress=lambda *progress: seen.append(progress)).fetch(
            Wanted("index")
        )

    assert seen[-1] == ("bytes of index", 300_000, 300_000)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


def keep(cache: DownloadCache, data: bytes, key: str) -> CachedFile:
    with cache.open_new(key) as file:
        file.write(data)
        return cache.store(
            key, file, "url", hashlib.sha256(data).hexdigest(), {"ETag": data.decode()}
        )


def age(cache: DownloadCache, key: str, days: float) -> None:
    copy = keep(cache, bytes(100), key)
    os.utime(f"{copy.path}.json", (copy.checked - days * DAY,) * 2)


@pytest.fixture
def cache(machine: Machine) -> DownloadCache:
    return open_download_cache(machine.environ)


def test_what_was_not_used_for_long_is_removed(cache: DownloadCache) -> None:
    for key, days in (("old", 31), ("used", 31), ("young", 29)):
        age(cache, key, days)
    assert cache.find("used") is not None
    undescribed = keep(cache, b"x", "undescribed")
    os.unlink(undescribed.path + ".json")
    os.utime(undescribed.path, (1, 1))

    with cache.open_new("begun") as file:
        os.utime(file.name, (1, 1))
        cache.prune()
        assert Path(file.name).exists()

    assert cache.find("old") is None
    assert cache.find("used") is not None
    assert cache.find("young") is not None
    assert len(os.listdir(cache.directory)) == 4


def test_beyond_a_total_the_oldest_goes_first_and_nothing_of_today(cache: DownloadCache) -> None:
    for number in range(4):
        age(cache, f"{number}", number * 2)

    cache.prune(max_size=250)
    there = [cache.find(f"{number}") is not None for number in range(4)]
    assert there == [True, True, False, False]

    cache.prune(max_size=1)
    assert cache.find("0") is not None


def write_in_turn(directory: str, number: int) -> None:
    cache = DownloadCache(directory)
    for turn in range(30):
        text = f"{number} {turn % 3}" * 5_000
        fetched = keep(cache, text.encode(), "key")
        if (cached := cache.find("key")) is not None:
            # Another process may have written another one since; but never half of one.
            whole = {f"{one} {two}" * 5_000 for one in range(8) for two in range(3)}
            assert Path(cached.path).read_text() in whole
            assert cached.sha256 == hashlib.sha256(cached.validators["ETag"].encode()).hexdigest()
        assert fetched.status[0] == len(text)


def test_eight_processes_at_once_do_no_harm(cache: DownloadCache, machine: Machine) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=write_in_turn, args=(cache.directory, number))
        for number in range(8)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)

    assert [process.exitcode for process in processes] == [0] * 8
    assert machine.left_behind() == []
    keep(cache, b"after all", "key")
    assert cache.find("key") is not None

"""Files are downloaded, or served from the copies of an earlier run."""

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
from typing import Any

import pytest

from spackscope.model.core.errors import NotFound, Unreadable, WrongContent
from spackscope.model.sources.discover import discover
from spackscope.model.sources.session import Session
from spackscope.model.storage.base import Wanted
from spackscope.model.storage.download import CachedFile, DownloadCache, open_download_cache
from tests.builders.manifests import sha256
from tests.model.storage.machine import NEW, OLD, Machine
from tests.web_server import Exchange, in_turn, never_ends, responds, sends, serving, stalls_after

DAY = 86_400.0


def test_a_copy_is_for_the_user_alone_and_described_without_secrets(machine: Machine) -> None:
    with serving(index=sends(NEW, ETag='"7"')) as server:
        fetched = machine.fetch(f"http://ann:s3cret@127.0.0.1:{server.port}/?token=s3cret")

    path = Path(fetched.path)
    assert path.read_bytes() == NEW
    assert path.parent == machine.cache
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path.parent, path)] == [0o700, 0o600]
    described = json.loads(Path(f"{path}.json").read_text())
    assert described["url"] == fetched.origin == f"{server.url}/index"
    assert described["validators"] == {"If-None-Match": '"7"'}
    assert (described["sha256"], described["checked"]) == (sha256(NEW), fetched.checked)
    assert fetched.remark == ""
    assert sorted(os.listdir(machine.cache)) == [path.name, f"{path.name}.json"]
    assert "s3cret" not in path.name + str(described)


def test_only_a_file_that_changed_replaces_its_copy(machine: Machine) -> None:
    answers = in_turn(sends(OLD, ETag='"1"'), sends(OLD, ETag='"2"'), sends(NEW, ETag='"3"'))
    with serving(index=answers) as server:
        was = os.stat(machine.fetch(server.url).path)
        assert os.stat(machine.fetch(server.url).path) == was
        assert machine.read(server) == NEW


def test_a_file_that_cannot_change_is_asked_for_once(machine: Machine) -> None:
    with serving(blob=sends(NEW), index=sends(NEW), fixed=sends(NEW)) as server:
        for _ in range(2):
            assert machine.read(server, "blob", sha256=sha256(NEW)) == NEW
            assert machine.read(server, "fixed", immutable=True) == NEW
        machine.read(server)
        assert machine.read(server, sha256=sha256(NEW)) == NEW
        assert server.paths() == ["/blob", "/fixed", "/index"]


def test_a_file_that_is_not_as_it_should_be_is_not_kept(machine: Machine) -> None:
    def check(data: bytes) -> None:
        if data == NEW:
            raise Unreadable("it is new")

    says_so = "does not match its checksum: sha256 is"
    page = sends(b"\xef\xbb\xbf \n<html>")
    with serving(blob=sends(NEW), page=page, index=in_turn(sends(OLD), sends(NEW))) as server:
        storage = machine.storage(server.url)
        with pytest.raises(WrongContent, match=says_so):
            storage.fetch(Wanted("blob", sha256=sha256(OLD), immutable=True))
        with pytest.raises(WrongContent, match="the server returned a web page"):
            storage.fetch(Wanted("page"))
        with pytest.raises(WrongContent, match="cannot be read: it is new"):
            storage.fetch(Wanted("blob", immutable=True, check=check))
        assert os.listdir(machine.cache) == []

        assert storage.fetch(Wanted("index", check=check)).remark == ""
        served = storage.fetch(Wanted("index", check=check))
        assert Path(served.path).read_bytes() == OLD
        assert served.remark == f"{server.url}/index cannot be read: it is new"

        server.handlers["/other"] = in_turn(sends(NEW, ETag='"1"'), sends(OLD))
        for expected in (NEW, OLD):
            # Without a better copy it is kept, and asked for anew.
            assert Path(storage.fetch(Wanted("other", check=check)).path).read_bytes() == expected
        assert not any("if-none-match" in request.headers for request in server.requests)


def described_by(text: bytes) -> Callable[[Path], object]:
    return lambda path: Path(f"{path}.json").write_bytes(text)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(OLD),
        lambda path: os.utime(path, (1, 1)),
        lambda path: path.write_bytes(b""),
        lambda path: (path.unlink(), path.mkdir()),
        Path.unlink,
        lambda path: Path(f"{path}.json").unlink(),
        *map(described_by, [b"", b"{}", b"[]", b"null", b"\xff", b"[" * 100_000]),
        *map(described_by, [b'{"status": Infinity}', b'{"path": 1}']),
    ],
)
def test_a_copy_that_is_not_as_it_was_written_is_none(
    machine: Machine, damage: Callable[[Path], object]
) -> None:
    with serving(blob=sends(NEW)) as server:
        storage = machine.storage(server.url)
        path = Path(storage.fetch(Wanted("blob", immutable=True)).path)
        assert machine.has(storage, "blob")
        damage(path)
        assert not machine.has(storage, "blob")

        assert machine.read(server, "blob", immutable=True) == NEW
    assert machine.left_behind() == []


def test_a_file_that_is_gone_is_missing_and_one_that_is_forbidden_is_not(machine: Machine) -> None:
    with serving(index=in_turn(sends(OLD), responds(403), responds(404))) as server:
        machine.read(server)

        assert machine.fetch(server.url).remark.endswith("is forbidden: HTTP 403")
        with pytest.raises(NotFound):
            machine.read(server)


def test_a_full_disk_leaves_the_copy_of_before(machine: Machine) -> None:
    room = resource.getrlimit(resource.RLIMIT_FSIZE)
    with serving(index=in_turn(sends(OLD), sends(bytes(3 << 20)))) as server:
        machine.read(server)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, room[1]))
        try:
            served = machine.fetch(server.url)
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
        Path(served.path, "x").mkdir(parents=True)
        served = machine.fetch(server.url)
        assert Path(served.path).read_bytes() == NEW
        assert not served.path.startswith(str(machine.cache))


def test_a_cache_that_cannot_be_written_is_not_used(unprivileged: Path) -> None:
    home = unprivileged / "cache"
    (home / "spackscope").mkdir(parents=True)
    (home / "spackscope").chmod(0o555)
    with serving(index=sends(NEW)) as server:
        machine = Machine(home)
        storage = machine.storage(server.url)
        served = storage.fetch(Wanted("index"))
        assert Path(served.path).read_bytes() == NEW
        assert machine.has(storage, "index")
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
        server.handlers |= {"/fits": sends(bytes(100)), "/over": sends(bytes(101))}
        failures = [
            machine.failure(server, name, max_size=100) for name in ("endless", "huge", "over")
        ]
        assert machine.read(server, "fits", max_size=100) == bytes(100)

    assert failures == [
        "URL/endless is larger than the 100 bytes allowed",
        "URL/huge is too large: 1,000,000,000,000 bytes, and 100 are allowed",
        "URL/over is too large: 101 bytes, and 100 are allowed",
    ]
    assert machine.left_behind() == []


@pytest.mark.parametrize(
    ("name", "at", "limit"),
    [
        ("v3/manifests/index/index.manifest.json", "", 1_048_576),
        pytest.param("cache_spack_io_index.json", "/cache_spack_io_index.json", 67_108_864,
                     marks=pytest.mark.exhaustive),
    ],
)  # fmt: skip
def test_of_each_kind_of_file_no_more_is_fetched_than_may_be_read(
    name: str, at: str, limit: int, machine: Machine
) -> None:
    for length, sentence in (
        ({}, "is larger than"),
        ({"Content_Length": 4 << 30}, "is too large: 4,294,967,296 bytes, and"),
    ):
        sent: list[int] = []

        def endless(exchange: Exchange, length: Any = length, sent: list[int] = sent) -> None:
            exchange.send_head(200, Connection="close", **length)
            while not exchange.server.ended.is_set():
                exchange.send(b"{" * 65_536)
                sent.append(65_536)

        with serving() as server:
            server.handlers[f"/{name}"] = endless
            (discovered,) = discover([server.url + at], Session(machine.environ))

        # What is on its way when the connection is closed are buffers of the kernel's.
        assert sum(sent) < (0 if length else limit) + 16_000_000
        assert discovered.failure
        assert sentence in discovered.failure
        assert f"{limit:,}" in discovered.failure


def keep(cache: DownloadCache, data: bytes, key: str) -> CachedFile:
    with cache.open_new(key) as file:
        file.write(data)
        return cache.store(key, file, "url", sha256(data), {"ETag": data.decode()})


def age(cache: DownloadCache, key: str, days: float) -> None:
    copy = keep(cache, bytes(100), key)
    os.utime(f"{copy.path}.json", (copy.checked - days * DAY,) * 2)


def kept(cache: DownloadCache, *keys: str) -> list[bool]:
    return [cache.find(key) is not None for key in keys]


@pytest.fixture
def cache(machine: Machine) -> DownloadCache:
    return open_download_cache(machine.environ)


def test_what_was_not_used_for_long_is_removed(cache: DownloadCache) -> None:
    for key, days in (("old", 31), ("used", 31), ("young", 29)):
        age(cache, key, days)
    assert kept(cache, "used") == [True]
    undescribed = keep(cache, b"x", "undescribed")
    os.unlink(undescribed.path + ".json")
    os.utime(undescribed.path, (1, 1))

    with cache.open_new("begun") as file:
        os.utime(file.name, (1, 1))
        cache.prune()
        assert Path(file.name).exists()

    assert kept(cache, "old", "used", "young") == [False, True, True]
    assert len(os.listdir(cache.directory)) == 4


def test_beyond_a_total_the_oldest_goes_first_and_nothing_of_today(cache: DownloadCache) -> None:
    for number in range(4):
        age(cache, f"{number}", number * 2)

    cache.prune(max_size=200)
    assert kept(cache, *"0123") == [True, True, False, False]
    cache.prune(max_size=1)
    assert kept(cache, "0") == [True]


def write_in_turn(directory: str, number: int) -> None:
    cache = DownloadCache(directory)
    whole = {f"{one} {two}" * 5_000 for one in range(3) for two in range(3)}
    for turn in range(20):
        text = f"{number} {turn % 3}" * 5_000
        stored = keep(cache, text.encode(), "key")
        if (cached := cache.find("key")) is not None:
            # Another process may have written another one since; but never half of one.
            assert Path(cached.path).read_text() in whole
            assert cached.sha256 == sha256(cached.validators["ETag"].encode())
        assert stored.status[0] == len(text)


def test_several_processes_at_once_do_no_harm(cache: DownloadCache, machine: Machine) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=write_in_turn, args=(cache.directory, number))
        for number in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)

    assert [process.exitcode for process in processes] == [0] * 3
    assert machine.left_behind() == []
    keep(cache, b"after all", "key")
    assert cache.find("key") is not None

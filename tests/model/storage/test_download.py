"""Files are downloaded, or served from the cache."""

from __future__ import annotations

import json
import os
import resource
import shutil
import time
from pathlib import Path

import pytest

from spackscope.model.core.errors import NotFound, WrongContent
from spackscope.model.sources.discover import discover
from spackscope.model.sources.session import Session
from tests.model.storage.machine import NEW, OLD, Machine, sha256
from tests.web_server import Exchange, in_turn, never_ends, responds, sends, serving, stalls_after


def test_a_fetched_file_has_the_origin_that_the_user_is_shown(machine: Machine) -> None:
    with serving(index=sends(NEW)) as server:
        before = time.time()
        fetched = machine.storage(server.url).fetch("index")

    assert Path(fetched.path).read_bytes() == NEW
    assert fetched.origin == f"{server.url}/index"
    assert fetched.checked is not None
    assert before <= fetched.checked <= time.time()
    assert fetched.remark == ""
    assert machine.left_behind() == []


def test_a_full_disk_leaves_the_copy_of_before(machine: Machine) -> None:
    room = resource.getrlimit(resource.RLIMIT_FSIZE)
    with serving(index=in_turn(sends(OLD), sends(bytes(30 << 20)))) as server:
        machine.read(server)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 20, room[1]))
        try:
            served = machine.storage(server.url).fetch("index")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, room)

    assert Path(served.path).read_bytes() == OLD
    assert served.remark == f"{server.url}/index cannot be written to the cache: File too large"
    assert machine.left_behind() == []


def test_a_cache_that_is_removed_meanwhile_is_made_anew(machine: Machine) -> None:
    with serving(index=sends(NEW)) as server:
        storage = machine.storage(server.url)
        shutil.rmtree(machine.cache)

        assert Path(storage.fetch("index").path).read_bytes() == NEW


def test_the_same_content_once_more_leaves_the_file_as_it_is(machine: Machine) -> None:
    with serving(index=sends(NEW)) as server:
        first = machine.storage(server.url).fetch("index")
        was = os.stat(first.path)
        second = machine.storage(server.url).fetch("index")

    assert os.stat(second.path).st_ctime_ns == was.st_ctime_ns


def test_a_changed_file_replaces_its_cached_copy(machine: Machine) -> None:
    with serving(index=in_turn(sends(OLD, ETag='"1"'), sends(NEW, ETag='"2"'))) as server:
        assert machine.read(server) == OLD
        assert machine.read(server) == NEW


def test_a_file_that_does_not_change_is_asked_for_once(machine: Machine) -> None:
    with serving(blob=sends(NEW)) as server:
        for _ in range(3):
            assert machine.read(server, "blob", sha256=sha256(NEW), immutable=True) == NEW

        assert server.paths() == ["/blob"]


def test_a_copy_that_was_tampered_with_is_fetched_anew(machine: Machine) -> None:
    with serving(blob=sends(NEW)) as server:
        path = machine.storage(server.url).fetch("blob", sha256=sha256(NEW), immutable=True).path
        Path(path).write_bytes(OLD)
        assert len(OLD) == len(NEW)

        assert machine.read(server, "blob", sha256=sha256(NEW), immutable=True) == NEW


def test_a_checksum_that_is_not_that_of_the_file_refuses_it(machine: Machine) -> None:
    says_so = "does not match its checksum: sha256 is"
    with serving(blob=sends(NEW)) as server, pytest.raises(WrongContent, match=says_so):
        machine.storage(server.url).fetch("blob", sha256=sha256(OLD), immutable=True)

    assert not [name for name in os.listdir(machine.cache) if "json" not in name]


def test_a_file_whose_checksum_is_known_and_that_is_there_is_not_asked_for(
    machine: Machine,
) -> None:
    with serving(index=sends(NEW)) as server:
        machine.read(server)

        assert machine.read(server, sha256=sha256(NEW)) == NEW
        assert len(server.requests) == 1


def test_a_removed_file_is_missing_although_a_copy_is_cached(machine: Machine) -> None:
    with serving(index=in_turn(sends(OLD), responds(404))) as server:
        machine.read(server)

        with pytest.raises(NotFound):
            machine.read(server)


def test_a_file_that_is_forbidden_by_now_is_served_from_its_copy(machine: Machine) -> None:
    with serving(index=in_turn(sends(OLD), responds(403))) as server:
        machine.read(server)

        assert machine.storage(server.url).fetch("index").remark.endswith("is forbidden: HTTP 403")


def test_a_cache_that_takes_no_copy_hides_no_file(machine: Machine) -> None:
    with serving(index=sends(NEW)) as server:
        (machine.cache / sha256(f"{server.url}/index".encode())[:40]).mkdir(parents=True)

        served = machine.storage(server.url).fetch("index")

        assert Path(served.path).read_bytes() == NEW
    assert not served.path.startswith(str(machine.cache))


def test_an_endless_body_is_cut_off(machine: Machine) -> None:
    with serving(index=never_ends) as server:
        sentence = machine.failure(server, max_size=1_000_000)

    assert sentence == "URL/index is larger than the 1,000,000 bytes allowed"
    assert machine.left_behind() == []


def test_a_body_that_is_announced_as_too_large_is_not_begun(machine: Machine) -> None:
    with serving(index=stalls_after(b"", 10**12)) as server:
        sentence = machine.failure(server, max_size=1_000_000)

    assert sentence == "URL/index is too large: 1,000,000,000,000 bytes, and 1,000,000 are allowed"


def test_progress_has_the_bytes_so_far_and_in_all(machine: Machine) -> None:
    seen: list[tuple[str, int, int | None]] = []
    with serving(index=sends(b"x" * 300_000)) as server:
        machine.storage(server.url, on_progress=lambda *progress: seen.append(progress)).fetch(
            "index"
        )

    assert seen[-1] == ("bytes of index", 300_000, 300_000)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


def test_a_copy_is_described_without_secrets_in_a_small_file(machine: Machine) -> None:
    with serving(index=sends(NEW, ETag='"7"')) as server:
        path = machine.storage(f"http://a:b@127.0.0.1:{server.port}").fetch("index").path

    described = json.loads(Path(path + ".json").read_text())
    assert described["url"] == f"{server.url}/index"
    assert (described["stamp"], described["size"]) == ('"7"', len(NEW))
    assert described["sha256"] == sha256(NEW)


MANIFEST = "v3/manifests/index/index.manifest.json"


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

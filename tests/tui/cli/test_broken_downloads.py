"""A body that cannot be read whole never takes the place of a good copy."""

import gzip
from collections.abc import Callable

import pytest

from tests.builders.manifests import MANIFEST, Files, manifest
from tests.builders.mirrors import mirror_v2, mirror_v3
from tests.builders.nodes import leaf
from tests.builders.pages import hash_of, page, record
from tests.builders.spack import database, environment, installs
from tests.program import Program
from tests.web_server import Exchange, Handler, sends, serving

HASHES = [hash_of(number) for number in range(40)]
NODES = [leaf(hash_, "zlib-ng", "2.3.2") for hash_ in HASHES]
INDEX, LOCK_FILE = database(installs(*NODES)), environment(NODES)
PAGE = page([record(number) for number in range(40)])
TAGS = "cache_spack_io_index.json"
TAG_LIST = b'{"develop": [{"label": "all", "url": "all/index.json"}]}'


def cut(body: bytes) -> Handler:
    """Send the first half of a body as if it were all of it: the head does not tell its length."""

    def handler(exchange: Exchange) -> None:
        exchange.send_head(200, Connection="close", ETag='"2"')
        exchange.send(body[: len(body) // 2])
        exchange.connection.close()

    return handler


def sending(body: bytes) -> Callable[[bytes], Handler]:
    return lambda _: sends(body, ETag='"2"')


HTML = sending(b"<!DOCTYPE html><title>Log in</title>")
EMPTY, GARBAGE, WITHOUT_FILES = sending(b""), sending(b"{}"), sending(manifest())


@pytest.mark.parametrize(
    ("breaks", "files", "at", "name"),
    [
        (cut, {"index.json": INDEX}, "/index.json", "index.json"),
        (EMPTY, {"index.json": INDEX}, "/index.json", "index.json"),
        (GARBAGE, {"index.json": INDEX}, "/index.json", "index.json"),
        (HTML, mirror_v2(INDEX), "", "build_cache/index.json"),
        (HTML, mirror_v3(INDEX), "", MANIFEST),
        (cut, {"index.json.gz": gzip.compress(INDEX)}, "/index.json.gz", "index.json.gz"),
        (cut, {"spack.lock": LOCK_FILE}, "/spack.lock", "spack.lock"),
        (cut, {"specs.md": PAGE}, "/specs.md", "specs.md"),
        (cut, mirror_v2(INDEX), "", "build_cache/index.json"),
        (GARBAGE, mirror_v3(INDEX), "", MANIFEST),
        (WITHOUT_FILES, mirror_v3(INDEX), "", MANIFEST),
        (cut, {TAGS: TAG_LIST, "all/index.json": INDEX}, f"/{TAGS}", TAGS),
    ],
)
def test_a_good_copy_stays_until_there_is_another(
    breaks: Callable[[bytes], Handler], files: Files, at: str, name: str, program: Program
) -> None:
    with serving() as server:
        source = server.url + at
        results = []
        server.handlers = {f"/{name}": sends(data, ETag='"1"') for name, data in files.items()}
        for handler in (sends(files[name], ETag='"1"'), breaks(files[name])):
            server.handlers[f"/{name}"] = handler
            results.append(program("find", "-f", source, "--hashes"))
        server.handlers[f"/{name}"] = sends(files[name], ETag='"2"')
        results.append(program("find", "-f", source, "--hashes"))

    assert [sorted(result.stdout.split()) for result in results] == [sorted(HASHES)] * 3
    good, broken, again = (result.stderr for result in results)
    assert (good, again) == ("", "")
    assert broken.startswith(f"spackscope: {source}")
    assert ": using its cached copy, checked just now: " in broken
    assert f"{name} cannot be read: " in broken


def test_a_file_that_was_cut_at_first_is_downloaded_again(program: Program) -> None:
    with serving() as server:
        source = f"{server.url}/index.json"
        server.handlers["/index.json"] = cut(INDEX)
        first = program("find", "-f", source, "--hashes")
        server.handlers["/index.json"] = sends(INDEX, ETag='"2"')
        second = program("find", "-f", source, "--hashes")
    gone = program("find", "-f", source, "--hashes", stdout=second.stdout)
    assert 0 < len(first.stdout.split()) < 40
    assert "file is cut off" in first.stderr
    assert (len(second.stdout.split()), second.stderr) == (40, "")
    assert "cannot be reached" in gone.stderr


def test_a_rebuild_does_not_ask_whether_a_copy_is_current(program: Program) -> None:
    with serving() as server:
        server.handlers["/index.json"] = sends(INDEX, ETag='"1"')
        for words in ("find",), ("index", "--rebuild"):
            program(*words, "-f", f"{server.url}/index.json")

    asked = [request.headers.get("if-none-match") for request in server.requests]
    assert asked == [None, None]

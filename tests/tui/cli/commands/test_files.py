"""`files` lists what prefixes and archives contain, whatever these say."""

import gzip
import json
import random
import re
import shutil
import tarfile
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.core.tasks import progress_to
from spackscope.model.index.load import load
from spackscope.model.query.parser import parse
from spackscope.model.sources.file_lists import FileLists
from spackscope.model.sources.session import Session
from tests.builders.manifests import sha256
from tests.builders.mirrors import files_in, mirror_v2, serve_files, with_bzip2, write_files
from tests.builders.nodes import leaf
from tests.builders.pages import hash_of
from tests.builders.spack import SPACK_DATA, database, installs, write_tree
from tests.program import PATIENCE, Program
from tests.web_server import Exchange, Handler, WebServer, announces, serving

ZLIB, XZ = hash_of(1), hash_of(2)
PREFIX = "opt/spack/bzip2-1.0.8"
BZIP2 = "xb7lgxuszfsvwe7mgdjsuqrntq3ejdcm"
INFO = f"{PREFIX}/.spack/binary_distribution"
FILES = {
    "bin": {"mode": 0o40755},
    "bin/xz": {"mode": 0o100755, "size": 300},
    "lib/liblzma.so": {"mode": 0o120777, "dest": "liblzma.so.5"},
    "lib/liblzma.so.5": {"mode": 0o100644, "size": 2_000},
    "lib/libc.so": {"mode": 0o100644, "dest": "/usr/lib/libc.so.6"},
}


def member(name: str, data: bytes = b"", type_: bytes = tarfile.REGTYPE, to: str = "") -> bytes:
    """Return a member of an archive as Spack writes it."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size, info.mode = type_, to, len(data), 0o755
    blocks = data + bytes(-len(data) % 512)
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape") + blocks


def archive(*members: bytes) -> bytes:
    """Return an archive of some members, with what Spack puts at the end of each."""
    end = member(INFO, b"{buildpath: /opt/spack}") + bytes(1024)
    return gzip.compress(b"".join(members) + end, 1)


BIN = member(f"{PREFIX}/bin/bzip2", b"bzip2")
LIST = f"{PREFIX}/.spack/install_manifest.json"


def listed(**fields: Any) -> bytes:
    """Return the list that `write_manifest` of lib/spack/spack/verify.py writes."""
    entries = {f"/{PREFIX}/{path}": its for path, its in {**FILES, **fields}.items()}
    own = {f"/{PREFIX}/.spack/spec.json": {"mode": 0o100644, "size": 10}}
    return json.dumps({**own, **entries, f"/{PREFIX}": {"mode": 0o40755}}).encode()


def pushed(*members: bytes, content: bytes = listed()) -> bytes:
    """Return an archive in the order of `reproducible_tarfile_from_prefix` of Spack."""
    folders = [member(name, type_=tarfile.DIRTYPE) for name in (PREFIX, f"{PREFIX}/.spack")]
    return archive(*folders, member(LIST, content), *members)


LARGE = member(f"{PREFIX}/lib/large", random.Random(1).randbytes(3_000_000))
"""A file after which nothing is at the beginning of an archive."""


def paths(rows: list[dict[str, Any]]) -> list[str]:
    return [row["path"] for row in rows if not row["path"].startswith(".spack/")]


@pytest.fixture
def tree(program: Program) -> Path:
    """Write an install tree with an xz, and return the list of its files."""
    tree = write_tree(program.home / "tree", leaf(XZ, "xz", "5.8"), files=FILES)
    (path,) = tree.rglob("install_manifest.json")
    return path


def test_the_list_of_a_prefix_has_files_and_links(program: Program, tree: Path) -> None:
    rows = program.rows("files", "xz", "-f", "tree")
    assert [[*row.values()][:5] for row in rows] == [
        ["bin/xz", "file", 300, "755", None],
        ["lib/libc.so", "link to outside", None, None, "/usr/lib/libc.so.6"],
        ["lib/liblzma.so", "link", None, None, "liblzma.so.5"],
        ["lib/liblzma.so.5", "file", 2_000, None, None],
        [".spack/spec.json", "file", 10, None, None],
    ]
    _, text = program.on_terminal("files", "xz", "-f", "tree", changes={"NO_COLOR": "1"})
    assert f"xz@5.8  /{XZ}: 5 files, 2.3 kB, from" in text
    assert program("files", "xz", "-f", "tree", "--hashes").stdout == f"{XZ}\n"
    # Those before a cut are listed, and those of a tree that was moved.
    tree.write_text(tree.read_text().rstrip()[:-9])
    shutil.move(program.home / "tree", program.home / "moved")
    words = ("files", "xz", "-f", "moved")
    program(*words, prints="bin/xz", says="file is cut off at character")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1, 2", "file is cut off at character 5"),
        ('["a"]', "it is not a list of files"),
        ("[" * 100_000, "nested too deeply"),
        (None, "is a directory"),
    ],
)
def test_a_list_that_cannot_be_read_is_named(
    text: str | None, why: str, program: Program, tree: Path
) -> None:
    tree.unlink()
    tree.mkdir() if text is None else tree.write_text(text)
    message = program.refused("files", "xz", "-f", "tree", code=3)
    assert str(tree) in message
    assert why in message


def test_a_list_of_too_many_names_is_refused_while_it_is_read(
    program: Program, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spackscope.model.sources.file_lists.MAX_FILES", 1_000)
    # What comes after the limit is not even JSON.
    names = "".join(f'"/{n}": {{}}, ' for n in range(1_001))
    tree.write_text(f'{{{names}"cut')
    found = program("files", "xz", "-f", "tree", "--limit", "1")
    assert "it has more than 200,000 files; the others are ignored" in found.stderr
    assert found.stdout


def test_a_prefix_with_a_nul_cannot_be_read(program: Program) -> None:
    spec = installs(leaf(XZ, "xz", "5.8"), path="/opt/x\0z", installed=True)
    (program.home / "index.json").write_bytes(database(spec))
    message = program.refused("files", "xz", "-f", "index.json", code=3)
    assert "cannot be read: its name has a NUL" in message


def test_values_of_any_type_are_unknown(program: Program) -> None:
    odd: dict[str, Any] = {
        "a": {"mode": 2**40, "size": -1},
        "b": {"mode": True, "size": 10**400},
        "c": {"mode": "0644", "dest": 7},
        "d": [],
        "../e": {"mode": 0o100644, "size": 1e300},
    }
    write_tree(program.home / "tree", leaf(XZ, "xz", "5.8"), files=odd)
    rows = program.rows("files", "xz", "-f", "tree")
    fields = [(row["path"], row["size"], row["link_to"]) for row in rows]
    assert [each for each in fields if each[0] in "abcd"] == [(p, None, None) for p in "abcd"]
    program("files", "xz", "-f", "tree", code=1, says="1 path outside of the prefix")


def test_an_archive_has_files_and_links(program: Program) -> None:
    data = archive(
        member(f"{PREFIX}/bin", type_=tarfile.DIRTYPE),
        BIN,
        member(f"{PREFIX}/bin/bunzip2", type_=tarfile.LNKTYPE, to=f"{PREFIX}/bin/bzip2"),
        member(f"{PREFIX}/lib/up", type_=tarfile.SYMTYPE, to="../../../../../etc/passwd"),
        member(f"{PREFIX}/lib/in", type_=tarfile.SYMTYPE, to="../bin/bzip2"),
        member(f"{PREFIX}/pipe", type_=tarfile.FIFOTYPE),
    )
    write_files(program.home / "one", with_bzip2(data))
    rows = program.rows("files", "bzip2", "-f", "one")
    assert [[*row.values()][:5] for row in rows] == [
        ["bin/bunzip2", "hard link", None, None, "bin/bzip2"],
        ["bin/bzip2", "file", 5, "755", None],
        ["lib/in", "link", None, None, "../bin/bzip2"],
        ["lib/up", "link to outside", None, None, "../../../../../etc/passwd"],
        ["pipe", "other", None, None, None],
        [".spack/binary_distribution", "file", 23, "755", None],
    ]


HOSTILE = (
    "\x1b]52;c;cm0=\x07",
    "new\nline",
    "a\x1b[2Jb",
    "caf\udce9",
    "\u202etxt",
    "[red]x[/]",
    "=cmd()",
)


def test_names_are_only_text(program: Program) -> None:
    data = archive(*(member(f"{PREFIX}/lib/{name}") for name in HOSTILE), BIN)
    write_files(program.home / "one", with_bzip2(data))
    assert len(paths(program.rows("files", "bzip2", "-f", "one"))) == len(HOSTILE) + 1
    for form in ("--csv", "--limit=0"):
        text = program("files", "bzip2", "-f", "one", form).stdout
        assert len(text.splitlines()) == len(HOSTILE) + 3
        assert not any(unicodedata.category(c) in ("Cf", "Cs") for c in text)
    _, text = program.on_terminal("files", "bzip2", "-f", "one", changes={"NO_COLOR": "1"})
    assert "\x1b" not in text
    for name in HOSTILE:
        # A pattern finds each as it is listed.
        shown = name.replace("\udce9", "?").replace("[", "[[]")
        assert program("files", "--having", f"lib/{shown}", "-f", "one", "--json").returncode == 0


@pytest.mark.parametrize("name", ["/etc/passwd", f"{PREFIX}/../../x", "../x", f"{PREFIX}-two/x"])
def test_what_leads_out_of_the_prefix_is_named(name: str, program: Program) -> None:
    write_files(program.home / "one", with_bzip2(archive(BIN, member(name))))
    result = program("files", "bzip2", "-f", "one", code=1, says="This list is not complete")
    assert "1 path outside of the prefix" in result.stderr
    assert f"\n{name}\t" in result.stdout


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ([member(f"{PREFIX}/{'x' * 100_000}")], "it has a header of 100,352 bytes"),
        ([member(f"{PREFIX}/x").replace(b"ustar", b"wrong")], "it is not a complete tar file"),
        ([member(f"{PREFIX}/x", bytes(2**26))], "it unpacks to too much data for"),
        ([member("././@LongLink", b"abc", b"L")] * 2_000, "it is not a complete tar file"),
    ],
    ids=["a long name", "no header", "zeros", "names in names"],
)
def test_what_does_harm_is_named_after_what_was_read(
    members: Iterable[bytes], why: str, program: Program
) -> None:
    write_files(
        program.home / "one", with_bzip2(archive(member(f"{PREFIX}/.spack/x"), BIN, *members))
    )
    result = program("files", "bzip2", "-f", "one", code=1)
    assert result.stdout.splitlines()[1].startswith("bin/bzip2\tfile\t5")
    assert re.search(f"This list is not complete: .*{why}", result.stderr)


def test_the_rest_goes_on_after_an_archive_that_cannot_be_read(program: Program) -> None:
    cut = archive(BIN)[:60]
    tree = write_tree(program.home / "tree", leaf(XZ, "xz", "5.8"), files=FILES)
    write_files(program.home / "one", with_bzip2(cut))
    words = ("files", "--having", "bin/*z*", "-f", "one", "-f", str(tree))
    rows = program.rows(*words)
    assert [(row["package"], row["path"]) for row in rows] == [("xz", "bin/xz")]
    message = program(*words).stderr
    assert f"bzip2@1.0.8/{BZIP2[:7]}: one/blobs/sha256/" in message
    assert "cannot be read: it cannot be unpacked completely: file is cut off" in message


def test_an_archive_that_is_another_one_is_not_listed(program: Program) -> None:
    write_files(program.home / "one", with_bzip2(archive(BIN), archive(member(f"{PREFIX}/evil"))))
    message = program.refused("files", "bzip2", "-f", "one", code=3)
    assert "does not match its checksum" in message


def test_the_first_mirror_whose_archive_can_be_read_lists_it(program: Program) -> None:
    data = archive(BIN)
    write_files(program.home / "one", with_bzip2(data, b"no archive"))
    write_files(program.home / "other", with_bzip2(data))
    result = program("files", "bzip2", "-f", "one", "-f", "other", code=0, prints="bin/bzip2")
    assert "from other/blobs/sha256/" in result.stderr


def outer(*members: bytes) -> bytes:
    """Return an archive as `build_tarball` of Spack 0.16 writes it, around the compressed one."""
    return b"".join(members) + bytes(1024)


LONG = member("././@LongLink", b"x" * 150 + b"\0", tarfile.GNUTYPE_LONGNAME)


@pytest.mark.parametrize(
    "data",
    [
        archive(BIN),
        outer(member("x.tar.gz", archive(BIN)), member("x.spec.yaml", b"spec: []\n")),
        outer(
            member("x.spec.yaml", b"spec: []"), LONG, member("x", archive(BIN)), member("x.asc")
        ),
    ],
    ids=["compressed", "in a tar file", "behind others"],
)
def test_archives_of_layout_v2_are_read(data: bytes, program: Program) -> None:
    files = files_in(SPACK_DATA / "mirror-v2")
    (name,) = [each for each in files if "-zlib-ng-" in each]
    stem = name.removeprefix("build_cache/").removesuffix(".spec.json")
    spec = json.loads(files[name])
    spec["binary_cache_checksum"] = {"hash_algorithm": "sha256", "hash": sha256(data)}
    folder = "linux-debian12-x86_64_v3/gcc-12.2.0/zlib-ng-2.2.1"
    files |= {name: json.dumps(spec).encode(), f"build_cache/{folder}/{stem}.spack": data}
    write_files(program.home / "two", {**files, **mirror_v2(files["build_cache/index.json"])})
    assert paths(program.rows("files", "zlib-ng", "-f", "two")) == ["bin/bzip2"]


@contextmanager
def serving_archive(data: bytes, handler: Handler) -> Iterator[WebServer]:
    """Serve a mirror that has an archive of bzip2, which a handler sends."""
    with serve_files(with_bzip2(data)) as server:
        server.handlers[archive_path(data)] = handler
        yield server


def archive_path(data: bytes) -> str:
    return f"/blobs/sha256/{sha256(data)[:2]}/{sha256(data)}"


def sends_ranges(data: bytes) -> Handler:
    """Send the bytes that a client asks for, or all."""

    def handler(exchange: Exchange) -> None:
        asked = re.fullmatch(r"bytes=0-(\d+)", exchange.request.headers.get("range", ""))
        part = data[: int(asked[1]) + 1] if asked else data
        exchange.respond(206 if asked else 200, part)

    return handler


def ranges(server: WebServer, data: bytes) -> list[str | None]:
    """Return the range of each request for an archive."""
    path = archive_path(data)
    return [each.headers.get("range") for each in server.requests if each.path == path]


def test_the_list_at_the_beginning_of_an_archive_on_a_server_is_enough(program: Program) -> None:
    data = pushed(BIN, LARGE)
    assert len(data) > 3_000_000
    with serving_archive(data, sends_ranges(data)) as server:
        assert program("index", "-f", server.url).returncode == 0
        server.requests.clear()
        result = program("files", "bzip2", "-f", server.url, code=0)
        assert [line.split("\t")[0] for line in result.stdout.splitlines()] == [
            "path",
            *sorted(path for path in FILES if path != "bin"),
            ".spack/spec.json",
        ]
        assert f"5 files, 2.3 kB, from the list in {server.url}/blobs/sha256/" in result.stderr
        # Both layouts, the manifest of the spec, and the beginning of the archive.
        assert len(server.requests) == 4
        assert ranges(server, data) == ["bytes=0-131071"]
        server.requests.clear()
        searched = program.rows("files", "--having", "xz", "bzip2", "-f", server.url)
        assert paths(searched) == ["bin/xz"]
        # The next answer asks for the indexes alone.
        assert len(server.requests) == 2


def test_more_of_an_archive_with_a_long_list_is_fetched(program: Program) -> None:
    # The checksums in a list cannot be packed.
    hashes = random.Random(2)
    many = {f"lib/{n}": {"mode": 0o100644, "hash": f"{hashes.random()}"} for n in range(15_000)}
    data = pushed(BIN, LARGE, content=listed(**many))
    with serving_archive(data, sends_ranges(data)) as server:
        rows = program.rows("files", "--having", "14999", "-f", server.url, "bzip2")
        assert paths(rows) == ["lib/14999"]
        assert ranges(server, data) == ["bytes=0-131071", "bytes=0-899999"]


def test_a_server_that_knows_no_ranges_is_left_once_the_list_came(program: Program) -> None:
    data, left = pushed(BIN, LARGE), threading.Event()

    def never_ends(exchange: Exchange) -> None:
        exchange.send_head(200, Content_Length=2**33)
        with suppress(OSError):
            exchange.send(data)
            while not exchange.server.ended.is_set():
                exchange.send(bytes(2**16))
        left.set()

    with serving_archive(data, never_ends) as server:
        assert paths(program.rows("files", "bzip2", "-f", server.url))[0] == "bin/xz"
        assert left.wait(PATIENCE)
        assert not server.ended.is_set()


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (archive(BIN, LARGE), ["bin/bzip2", "lib/large"]),
        (archive(LARGE, member(LIST, listed())), ["lib/large"]),
        (pushed(BIN, content=bytes(2**27)), None),
        (archive(member(LIST, b"{}").replace(b"00000000002", b"77777777777"), BIN), None),
        (b"\x28\xb5\x2f\xfd" + bytes(100), None),
        (b"", None),
    ],
    ids=["no list", "the list is last", "a list of zeros", "a list of 8 GiB", "zstd", "empty"],
)
def test_an_archive_that_does_not_begin_with_a_list_is_downloaded_only_if_asked_for(
    data: bytes, whole: list[str] | None, program: Program
) -> None:
    with serving_archive(data, sends_ranges(data)) as server:
        message = program.refused("files", "bzip2", "-f", server.url, code=3)
        way = "its archive on a server does not begin with a list of the files (--download reads"
        assert f"{way} all of it)" in message
        parts = ranges(server, data)
        assert parts == ["bytes=0-131071", "bytes=0-899999"][: 1 + (len(data) > 2**17)]
        result = program("files", "bzip2", "-f", server.url, "--download", "--json")
        assert ranges(server, data) == [*parts, None]
        if whole:
            assert paths(json.loads(result.stdout)) == whole
        else:
            assert result.returncode in (1, 3)


def test_a_list_anywhere_in_a_small_archive_is_found_and_the_first_counts(
    program: Program,
) -> None:
    second = member(LIST, listed(second={"mode": 0o100644}))
    data = archive(BIN, member(LIST, listed()), second)
    with serve_files(with_bzip2(data)) as server:
        found = paths(program.rows("files", "bzip2", "-f", server.url))
        assert "bin/xz" in found
        assert "second" not in found


def test_the_names_before_the_end_of_a_broken_list_are_listed(program: Program) -> None:
    data = pushed(BIN, content=listed()[:-80])
    with serve_files(with_bzip2(data)) as server:
        result = program("files", "bzip2", "-f", server.url, code=1, prints="\nbin/xz\t")
        assert "This list is not complete: file is cut off at character" in result.stderr


def test_a_server_that_breaks_off_is_named(program: Program) -> None:
    data = pushed(BIN)
    with serving_archive(data, announces(len(data), data[:100])) as server:
        message = program.refused("files", "bzip2", "-f", server.url, code=3)
        assert re.search("the connection to .* broke: the body ends too early", message)


def test_the_total_of_a_search_is_named_before_it_begins(program: Program) -> None:
    seen = list[tuple[str, int, int | None]]()
    with serve_files(with_bzip2(pushed(BIN))) as server:
        assert program("index", "-f", server.url).returncode == 0
        with progress_to(lambda *progress: seen.append(progress)):
            assert program("files", "--having", "*", "-f", server.url).returncode == 0
    searched = [done for what, done, total in seen if (what, total) == ("specs searched", 20)]
    assert (searched[0], max(searched)) == (0, 20)
    # The files that it fetches are no stages of their own.
    assert seen[-1][0] == "specs searched"
    assert not any(each[0].startswith("bytes of") for each in seen[-len(searched) :])


def test_specs_without_a_list_are_counted_in_a_search(program: Program) -> None:
    data = archive(BIN)
    with serve_files(with_bzip2(data)) as server:
        words = ("files", "--having", "bzip2", "-f", server.url)
        result = program(*words)
        assert (result.returncode, result.stdout.count("\n")) == (1, 1)
        assert "1 spec not searched: its archive on a server does not begin" in result.stderr
        assert f"bzip2@1.0.8/{BZIP2[:7]}" not in result.stderr
        for _ in range(2):
            assert paths(program.rows(*words, "--download")) == ["bin/bzip2"]
        # The copies of both are used the second time.
        assert len(ranges(server, data)) == 2


def test_an_image_of_a_registry_has_the_archive_as_its_last_layer(program: Program) -> None:
    index = (SPACK_DATA / "mirror-v3" / "blobs/sha256/68").iterdir()
    blobs = {f"sha256:{sha256(data)}": data for data in (pushed(BIN), next(index).read_bytes())}
    own, listed = blobs

    def registry(exchange: Exchange) -> None:
        _, _, name = exchange.request.path.rpartition("/")
        layers = {"index.spack": [listed], f"bzip2-1.0.8-{BZIP2}.spack": ["sha256:0", own]}
        if name in layers:
            image = {"layers": [{"digest": each} for each in layers[name]]}
            exchange.respond(200, json.dumps(image).encode())
        elif name in blobs:
            exchange.respond(200, blobs[name])
        else:
            exchange.respond(404)

    with serving() as server:
        server.default = registry
        url = f"oci+http://127.0.0.1:{server.port}/site/cache"
        assert paths(program.rows("files", "bzip2", "-f", url))[0] == "bin/xz"
        message = program.refused("files", "zlib-ng", "-f", url, code=3)
        assert "zlib-ng-2.3.2-l34a4my3xftm6yj7uftfp25kvu5pnhmn.spack does not exist" in message


@pytest.mark.parametrize("may_download", [False, True])
def test_what_comes_from_servers_for_an_answer_has_a_limit(
    may_download: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_files(with_bzip2(pushed(BIN))) as server:
        session = Session({"XDG_CACHE_HOME": str(tmp_path)})
        catalog = load([server.url], session)
        specs = list(catalog.records(catalog.match(parse("bzip2")).ids()))
        lists = FileLists(catalog.sources, session, [server.url], may_download=may_download)
        monkeypatch.setattr("spackscope.model.sources.file_lists.MAX_FETCHED", (0, 0))
        first, second = lists.of(specs), lists.of(specs)
    assert first.files[0].path == "bin/xz"
    assert second == ((), "", "too much would come from servers; ask for fewer specs")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("liblzma.so*", ["lib/liblzma.so", "lib/liblzma.so.5"]),
        ("bin/x?", ["bin/xz"]),
        ("/bin/*", ["bin/xz"]),
        ("lib/*.so", ["lib/libc.so", "lib/liblzma.so"]),
        ("XZ", []),
        ("a*" * 400, []),
    ],
)
@pytest.mark.usefixtures("tree")
def test_a_pattern_is_for_names_or_for_paths(
    pattern: str, found: list[str], program: Program
) -> None:
    rows = program.rows("files", "--having", pattern, "-f", "tree")
    assert [row["path"] for row in rows] == found


def test_only_the_specs_of_the_query_that_have_a_list_are_searched(program: Program) -> None:
    specs = leaf(XZ, "xz", "5"), leaf(ZLIB, "zlib", "1")
    tree = write_tree(program.home / "tree", *specs, files=FILES)
    words = ("files", "--having", "xz", "zlib | zlib", "-f", "tree")
    result = program(*words)
    assert [line.split("\t")[6] for line in result.stdout.splitlines()] == ["package", "zlib"]
    assert "xz: in 1 of 1 spec searched" in result.stderr
    for path in tree.rglob("install_manifest.json"):
        path.unlink()
    program(*words, says="1 spec not searched: no install tree or mirror")

"""A refresh takes over what did not change, and its index equals one that is built anew."""

import random
import resource
import shutil
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.errors import SourceError
from spackscope.model.core.file_access import read_file
from spackscope.model.index.load import index_path, load
from spackscope.model.sources import document
from spackscope.model.sources.session import Session
from tests.builders.manifests import ARCHIVE_TYPE, entry, manifest
from tests.builders.mirrors import mirror_v3, write_files
from tests.builders.nodes import GCC, ZLIB, edge, in_format_6, node
from tests.builders.pages import hash_of, page, record, write_page
from tests.builders.spack import database, installs, zlib_index
from tests.examples import examples

SHARED = 8
"""The first hashes, which any document may list; all others belong to one document."""


class World:
    """Sources that change at random: pages, the index of a build cache, and an install tree."""

    def __init__(self, directory: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.directory = directory
        self.is_mixed = self.chance.random() < 0.5
        names = ["one", "two", "cache.json", "tree.json"] if self.is_mixed else ["one", "two"]
        self.names = self.chance.sample(names, self.chance.randint(1, len(names)))
        self.sources = [str(directory / name) for name in self.names]
        for name in self.names:
            for _ in range(self.chance.randint(3, 8)):
                self.write(name)

    def change(self) -> None:
        """Change, add or remove some documents."""
        for _ in range(self.chance.randint(1, 3)):
            name = self.chance.choice(self.names)
            files = [path for path in (self.directory / name).rglob("*") if path.is_file()]
            if len(files) > 1 and self.chance.random() < 0.3:
                self.chance.choice(files).unlink()
            elif files and self.chance.random() < 0.3:
                path = self.chance.choice(files)
                path.write_bytes(path.read_bytes()[: -self.chance.randint(0, 200)])
            else:
                self.write(name)

    def write(self, name: str) -> None:
        """Write one document of a source."""
        if name.endswith(".json"):
            nodes = [self.node(number) for number in self.numbers(100 * len(name))]
            cached = {"in_buildcache": self.chance.random() < 0.8}
            tree = {"installed": True, "explicit": True, "path": "/opt/x"}
            fields = tree if name == "tree.json" else cached
            version = self.chance.choice(["8", "9", "10"])
            (self.directory / name).write_bytes(database(installs(*nodes, **fields), version))
            return
        tag = self.chance.choice(["develop", "v1.0"])
        title = self.chance.choice(["zlib", "hdf5", "gcc", "abc", "zzz"])
        file = self.chance.choice(["specs.md"] * 4 + ["again.md", "notes.txt"])
        path = self.directory / name / tag / title / file
        path.parent.mkdir(parents=True, exist_ok=True)
        own = 1_000 + 100 * (self.names.index(name) * 20 + len(tag) + 3 * len(title) + len(file))
        records: list[object] = [self.record(number) for number in self.numbers(own)]
        if self.chance.random() < 0.2:
            records.append("junk")
        path.write_bytes(b"notes" if file == "notes.txt" else page(records, title=title, tag=tag))

    def numbers(self, own: int) -> list[int]:
        """Choose the numbers of the hashes of a document, few of which others may list, too."""
        count = self.chance.choice([0, 1, 3, 10])
        most = SHARED if self.chance.random() < 0.4 else 0
        shared = self.chance.randint(0, min(most, 2))
        numbers = [self.chance.randrange(SHARED) for _ in range(shared)]
        return list(dict.fromkeys(numbers + self.chance.sample(range(own, own + 12), count)))

    def record(self, number: int) -> Any:
        """Build a record, of which few fields vary."""
        return record(
            number,
            os=self.chance.choice(["ubuntu24.04"] * 5 + ["rocky9", "alma8"]),
            versions=[self.chance.choice(["1.3.1"] * 5 + ["1.10", "1.9", "main"])],
            variants=self.chance.choice([["+shared"]] * 4 + [["~shared"], ["libs=static"]]),
            size=self.chance.choice(["-", 5, "1 MB"]),
            stacks=self.chance.choice([["e4s"], ["e4s", "root"], []]),
        )

    def node(self, number: int) -> Any:
        """Build a node with edges to nodes of any document, or of none."""
        children = [*range(SHARED), *range(number - 3, number + 3), 2000, 2001, 9999]
        chosen = self.chance.sample(children, self.chance.randint(0, 4))
        edges = [
            edge(self.name(child), hash_of(child), self.chance.choice([["link"], ["build"]]))
            for child in chosen
        ]
        made = node(
            hash_of(number),
            name=self.name(number),
            version=self.chance.choice(["1.3.1", "1.9"]),
            package_hash=self.chance.choice(["abc===", "def==="]),
            dependencies=edges,
        )
        provided = self.chance.choice([(), ("zlib-api",), ("zlib-api@1.3", "mpi")])
        return in_format_6(made, *provided) if self.chance.random() < 0.3 else made

    def name(self, number: int) -> str:
        """Return the package of a hash; few documents name another."""
        if self.chance.random() < 0.02:
            return "other"
        return "zlib" if number < SHARED or number % 3 else "hdf5"


def index_of(world: World, home: str, *, rebuild: bool = False) -> bytes:
    """Load the sources, and return the index as if it had been built at the epoch."""
    session = Session({"XDG_CACHE_HOME": str(world.directory / home)})
    try:
        with patch("spackscope.model.index.build.time", lambda: 0.0):
            catalog = load(world.sources, session, keep=True, rebuild=rebuild)
    except SourceError:
        return b""
    assert not catalog.was_damaged
    assert not catalog.notice
    path = index_path(world.sources, session)
    assert path is not None
    return Path(path).read_bytes()


@examples(60)
@given(st.integers(0, 1 << 30))
def test_the_bytes_of_a_refreshed_index_are_those_of_one_that_is_built_anew(seed: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory), seed)
        index_of(world, "refreshed")
        for _ in range(3):
            world.change()
            assert index_of(world, "refreshed") == index_of(world, "built", rebuild=True)


def write_manifests(directory: Path, sizes: dict[str, int]) -> None:
    """Write the manifests of the archives of a mirror, in the place of those there are."""
    folder = "v3/manifests/spec"
    shutil.rmtree(directory / folder, ignore_errors=True)
    for hash_, size in sizes.items():
        archive = entry(ARCHIVE_TYPE, b"", contentLength=size)
        name = f"{folder}/zlib/zlib-1.3.1-{hash_}.spec.manifest.json"
        write_files(directory, {name: manifest(archive)})


def test_a_size_that_only_a_manifest_told_goes_with_the_manifest(tmp_path: Path) -> None:
    session = Session({"XDG_CACHE_HOME": str(tmp_path / "cache")})
    mirror = write_files(tmp_path / "mirror", mirror_v3(zlib_index()))
    for sizes in ({ZLIB: 5, GCC: 6}, {GCC: 7}, {}, {ZLIB: 5}):
        write_manifests(tmp_path / "mirror", sizes)

        catalog = load([str(mirror)], session, keep=True)

        found = {hash_: catalog.by_hash(hash_)[0].spec.size for hash_ in (ZLIB, GCC)}
        assert found == {ZLIB: sizes.get(ZLIB), GCC: sizes.get(GCC)}


def test_a_refresh_reads_no_document_that_did_not_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, session = tmp_path / "site", Session({"XDG_CACHE_HOME": str(tmp_path / "cache")})
    pages = [write_page(site, [record(number)], title=f"p{number}") for number in range(5)]
    load([str(site)], session, keep=True)
    write_page(site, [record(20)], title="p2")
    read: list[str] = []

    def watched(path: str, *options: Any) -> bytes:
        read.append(path)
        return read_file(path, *options)

    monkeypatch.setattr(document, "read_file", watched)

    assert load([str(site)], session, keep=True).total == 5
    assert read == [str(pages[2])]


def test_a_disk_with_a_quota_is_no_damage_of_the_old_index(tmp_path: Path) -> None:
    write_page(tmp_path, [record(number, versions=[f"1.{number}"]) for number in range(5_000)])
    sources, session = [str(tmp_path)], Session({"XDG_CACHE_HOME": str(tmp_path / "cache")})
    load(sources, session, keep=True)
    write_page(tmp_path, [record(9_999)], title="hdf5")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        catalog = load(sources, session, keep=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert (catalog.total, catalog.was_damaged) == (5_001, False)
    assert catalog.notice.startswith("the index is kept in memory: cannot write to ")
    assert len([*(tmp_path / "cache" / "spackscope").iterdir()]) == 1

"""Fixtures for the tests of the model."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import load
from spackscope.model.sources.session import Session
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import GCC, edge, leaf, node
from tests.builders.pages import SAMPLE_PAGES, hash_of, page, record, write_page
from tests.builders.spack import SPACK_DATA, whole_index, write_index
from tests.hostile import HOSTILE_TEXT
from tests.model.analysis.cases import made_lock

NOBODY = 65534


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """Create a directory, and drop the privileges of root, which no mode restrains.

    It is that of temporary files, too, as the one that is set may be for root alone.
    """
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(name, NOBODY, -1)
            os.seteuid(NOBODY)
        try:
            yield Path(name)
        finally:
            if is_root:
                os.seteuid(0)


@pytest.fixture(scope="session")
def sample() -> Catalog:
    """Index the sample."""
    return catalog_of(SAMPLE_PAGES)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Index three packages of one, two and three specs, and one of four in which nothing meets."""
    directory = tmp_path_factory.mktemp("packages")
    for count, title in enumerate(("zlib", "bzip2", "HDF5"), 1):
        records = [record(10 * count + n, os=f"os{n}") for n in range(count)]
        write_page(directory, records, title=title)
    records = [
        record(1, os="os1", target="b", platform="x"),
        record(2, os="os1", target="x", platform="c"),
        record(3, os="os0", target="b", platform="c"),
        record(4, os="os0", versions=["9"], variants=["+x"]),
    ]
    write_page(directory, records, title="apart")
    return catalog_of(directory)


@pytest.fixture(scope="session")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Index 190 records of two mirrors in which everything is mixed with everything."""
    directory = tmp_path_factory.mktemp("mirrors")
    compilers = ["gcc@=13.2.0", "gcc@9.4.0", "gcc@9.4.0/5o2zn6v", "none", "clang@18.1.3"]
    compilers.append("\x1b[31m")
    variants = [
        ["+shared", "libs=shared,static", "os=linux"],
        ["~shared", "libs:=shared", "build_type=Release"],
        ["~shared", "+mpi", "libs:=shared,static", "cflags='-O2 -g'"],
        [],
        ["[red", "日本語", "linux"],
    ]
    versions = ["1.9", "1.10", "1.10rc1", "develop", "", "%s it's"]
    stacks = [["root"], ["e4s", "root"], ["e4s", "hep", "root"], ["\u202eroot"]]
    records = [
        record(
            pow(7919, number + 99, 32**32),
            compiler=compilers[number % 6],
            os=["ubuntu24.04", "centos7", "linux"][number % 3],
            target=["x86_64_v3", "aarch64"][number // 3 % 2],
            variants=variants[number // 2 % 5],
            versions=[versions[number // 7 % 6]],
            stacks=stacks[number // 5 % 4],
            size=["-", 0, 1_500_000, "12 MB", "0.5"][number % 5],
        )
        for number in range(180)
    ]
    write_page(directory / "one", records[:70], title="zlib")
    write_page(directory / "one", records[70:110], title="py-zlib")
    write_page(directory / "one", records[110:140], title="zlib", tag="v0.23.0")
    write_page(directory / "two", records[140:], title="HDF5")
    write_page(directory / "two", records[140:150], title="HDF5", tag="other")
    return catalog_of(directory / "one", directory / "two")


@pytest.fixture(scope="session")
def small_catalogs() -> dict[str, Catalog]:
    """Index a part of the records of Spack's two large indexes."""
    names = ("spack0", "spack1")
    return {name: catalog_of(SPACK_DATA / f"{name}.index.json.gz") for name in names}


@pytest.fixture(scope="session")
def whole_catalogs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Catalog]:
    """Index all records of Spack's two large indexes, once for all processes of the tests."""
    directory = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        directory = directory.parent
    session = Session({"XDG_CACHE_HOME": str(directory)}, include_dependency_only=True)
    catalogs = {}
    with (directory / "whole.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in ("spack0", "spack1"):
            path = directory / f"{name}.whole.json"
            if not path.exists():
                path.write_bytes(whole_index(name))
            catalogs[name] = load([str(path)], session, keep=True)
    return catalogs


@pytest.fixture(scope="session")
def made_catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Index the lock file of an environment of 134 specs, all of which are in spack1."""
    path = tmp_path_factory.mktemp("made") / "spack.lock"
    path.write_bytes(made_lock())
    return catalog_of(path)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Index pages and a build cache whose records have hostile texts in all their fields."""
    directory, nodes = tmp_path_factory.mktemp("hostile"), [leaf(GCC, "gcc", "\x1b[31m")]
    for number, text in enumerate(text for _, text in HOSTILE_TEXT if len(text) < 10_000):
        variants = [text, "+" + text, f"k={text}", text + "=v", f"j='{text}'"]
        lists = {"variants": variants, "versions": [text], "stacks": [text, "root"]}
        texts = dict.fromkeys(("compiler", "os", "platform", "target"), text)
        odd = record(number, **lists, **texts), record(100 + number, variants=[f"k={text}"])
        (directory / f"{number}.md").write_bytes(page(odd, title=text, tag=text))
        parameters = {text or "x": text, "k": [text], "cflags": [text]}
        edges = [edge(text, GCC, ["build"], ["c", text])]
        names = dict.fromkeys(("name", "version", "namespace"), text)
        nodes.append(
            node(hash_of(200 + number), parameters=parameters, dependencies=edges, **names)
        )
    return catalog_of(directory, write_index(directory / "cache.json", *nodes))

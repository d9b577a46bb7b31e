"""What an answer could not know is said with it, in every format."""

import json

import pytest

from tests.builders.mirrors import mirror_v2, write_files
from tests.builders.nodes import leaf
from tests.builders.spack import SpackRoot, database, installs, write_index
from tests.builders.spack import environment as lock_file
from tests.program import Program

LEAF = "l" * 32
BROKEN = """\
packages:
  all:
    require: "~shared"
  zlib: {variants: [
"""
FORMATS = ("--json", "--jsonl", "--csv", "--hashes")


@pytest.fixture
def spack(program: Program) -> SpackRoot:
    """Write a Spack whose packages.yaml has an error below a rule, and a mirror."""
    spack = SpackRoot(program.home)
    spack.write("home/.spack/packages.yaml", BROKEN)
    write_files(program.home / "mirror", mirror_v2(database(installs(leaf(LEAF, "zlib", "1.3")))))
    (program.home / "spack.lock").write_bytes(lock_file([leaf(LEAF, "zlib", "1.3")], LEAF))
    return spack


@pytest.mark.parametrize(
    "words",
    [
        *(("find", "reusable", each) for each in FORMATS),
        ("find", "reusable"),
        ("find", "zlib", "--host", "target=zen3"),
        ("find", "nothing", "reusable"),
        *(("stats", "--by", "reusable", each) for each in FORMATS[:3]),
        ("stats", "--by", "reusable"),
        *(("why", "zlib", each) for each in FORMATS),
        ("why", "zlib"),
        ("why", "nothing"),
        *(("show", "zlib", each) for each in FORMATS),
        ("show", "zlib"),
        *(("cover", "spack.lock", each) for each in FORMATS),
        ("cover", "spack.lock"),
    ],
)
def test_a_file_of_the_configuration_that_is_unread_is_named_once(
    program: Program, spack: SpackRoot, words: tuple[str, ...]
) -> None:
    result = program(*words, "-f", "mirror", stdin=None, **spack.environ)
    assert result.stderr.count("packages.yaml: ") == 1
    _, text = program.on_terminal(*words, "-f", "mirror", changes=spack.environ)
    assert text.count("packages.yaml: ") == 1


def test_an_answer_that_does_not_depend_on_it_does_not_name_it(
    program: Program, spack: SpackRoot
) -> None:
    assert (
        "packages.yaml"
        not in program("find", "zlib", "-f", "mirror", stdin=None, **spack.environ).stderr
    )


def test_what_could_not_be_read_is_listed_with_the_sources(
    program: Program, spack: SpackRoot
) -> None:
    result = program("sources", "--problems", "-f", "mirror", stdin=None, **spack.environ)
    assert result.stdout.count("packages.yaml\tthe configuration of Spack") == 1


def test_a_check_of_the_configuration_names_the_file(program: Program, spack: SpackRoot) -> None:
    result = program("config", "--check", stdin=None, **spack.environ, says="packages.yaml: ")
    assert "the configuration of Spack: 1 problem\n" in result.stdout
    assert result.returncode == 3
    spack.write("home/.spack/packages.yaml", "packages: {}")
    result = program("config", "--check", stdin=None, **spack.environ, code=0, stderr="")
    assert "the configuration of Spack: no problems\n" in result.stdout


def test_what_the_sources_come_from_is_named_once(program: Program, spack: SpackRoot) -> None:
    """Sources that Spack has configured may be missing where its files are unread."""
    spack.write("spack/etc/spack/mirrors.yaml", "mirrors: [")
    spack.write("home/.spack/mirrors.yaml", "mirrors: {m: ../../mirror, n: ../../mirror}")
    for words in ((), ("-f", "spack:m", "-f", "spack:n")):
        for last in ((), ("reusable",)):
            result = program("find", *last, *words, stdin=None, **spack.environ)
            assert result.stderr.count("mirrors.yaml: ") == 1
    spack.write("home/.spack/mirrors.yaml", "mirrors: {}")
    spack.install()
    result = program("find", "--hashes", stdin=None, **spack.environ)
    assert result.stderr.count("mirrors.yaml: ") == 1
    assert result.stdout


def test_a_rule_that_is_not_understood_is_named(program: Program, spack: SpackRoot) -> None:
    spack.write("home/.spack/packages.yaml", "packages: {zlib: {require: '!shared'}}")
    for words in (("find", "reusable"), ("why", "zlib", "--json")):
        result = program(*words, "-f", "mirror", stdin=None, **spack.environ)
        why = "packages.yaml: line 1: the requirement !shared of zlib is not considered"
        assert result.stderr.count(why) == 1


@pytest.fixture
def cut(program: Program) -> str:
    """Write an index that ends in the middle of its second spec."""
    data = database(installs(leaf(LEAF, "zlib", "1.3"), leaf("m" * 32, "xz", "5.8")))
    path = program.home / "index.json"
    path.write_bytes(data[: data.rindex(b'"xz"')])
    return str(path)


@pytest.fixture
def one_of_two(program: Program) -> str:
    """Write a tag list that names two indexes, of which one is broken."""
    index = database(installs(leaf(LEAF, "zlib", "1.3")))
    urls = {"root": "root/index.json", "e4s": "e4s/index.json"}
    entries = [{"label": label, "url": url} for label, url in urls.items()]
    tags = json.dumps({"develop": entries}).encode()
    name = "cache_spack_io_index.json"
    write_files(program.home, {urls["root"]: index, urls["e4s"]: b"{", name: tags})
    return f"{program.home}/{name}"


@pytest.mark.parametrize("source", ["cut", "one_of_two"])
def test_what_is_not_found_may_be_in_a_part_that_was_not_read(
    program: Program, source: str, request: pytest.FixtureRequest
) -> None:
    name = request.getfixturevalue(source)
    for command in ("find", "show", "needs", "why", "files"):
        # What there is of zlib was read: why names the reason of each build.
        queries = ["xz", "/m", f"/{'m' * 32}", *["zlib os=nowhere"] * (command != "why")]
        for query in queries:
            result = program(command, "-f", name, query)
            assert result.returncode == 3, (command, query, result.stderr)
            assert "mong what could be read" in result.stderr, (command, query)
    for words in (("sources",), ("stats", "os", "xz"), ("diff", "xz", "zlib"), ("duplicates",)):
        assert program(*words, "-f", name).returncode == 3, words
    assert program("find", "-f", name, "zlib").returncode == 0
    whole = program.home / "whole.json"
    write_index(whole, leaf(LEAF, "zlib", "1.3"))
    for pair in ((name, "whole.json"), ("whole.json", name)):
        assert program("diff", *pair).returncode == 3, pair

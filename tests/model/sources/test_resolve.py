"""Sources are those of the command line, else of the user's Spack, else the sample."""

from pathlib import Path

import pytest

from spackscope.model.core.errors import SourceError
from spackscope.model.sources.resolve import (
    environment_names,
    find_environment,
    is_source_word,
    names_source,
    resolve_sources,
    source_key,
)
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import SAMPLE, absolute_path
from tests.builders.spack import SpackRoot

MIRRORS = """\
    mirrors:
      site: https://site.example.org/cache
      local: /data/mirror
      spack-public: {url: https://mirror.spack.io, binary: false}
      old-public: https://mirror.spack.io
    """


def test_sources_of_a_spack_are_its_mirrors_and_trees(spack: SpackRoot) -> None:
    def resolved(*arguments: str, **changes: str) -> tuple[str, ...]:
        return resolve_sources(arguments, Session({**spack.environ, **changes}), configured)

    configured: tuple[str, ...] = ()
    # A tree without a database is none, nor is what cannot be read.
    (spack.root / "opt" / "spack").mkdir(parents=True)
    spack.write("home/.spack/mirrors.yaml", "mirrors: [")
    assert resolved() == ("spack:",)
    tree, upstream = spack.install("tree"), spack.install("central")
    spack.write("home/.spack/config.yaml", f"config: {{install_tree: {tree}}}")
    assert resolved() == (tree,)
    spack.write("home/.spack/mirrors.yaml", MIRRORS)
    spack.write("home/.spack/upstreams.yaml", f"upstreams: {{c: {{install_tree: {upstream}}}}}")
    assert resolved() == ("spack:site", "spack:local", tree, upstream)
    configured = ("mine",)
    assert resolved() == ("mine",)
    variable = "public:v1.0.0 spack:site"
    assert resolved(SPACKSCOPE_FROM=variable) == ("public:v1.0.0", "spack:site")
    assert resolved("public", "-", SPACKSCOPE_FROM=variable) == ("public", "-")


def test_the_key_of_a_source_is_what_it_names_here_and_now(
    spack: SpackRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.chdir(tmp_path)
    for source, key in (
        ("mirror", str(tmp_path / "mirror")),
        ("./mirror/", str(tmp_path / "mirror")),
        ("~/mirror", "/home/ada/mirror"),
        (SAMPLE, absolute_path(SAMPLE)),
        *((each, each) for each in ("https://a.org/m", "file:///data/m", "-", "spack:none")),
    ):
        assert source_key(source, Session({})) == key

    def keys() -> list[str]:
        session = Session(spack.environ)
        return [source_key(source, session) for source in ("public", "public:a", "spack:site")]

    spack.write("home/.spack/mirrors.yaml", MIRRORS)
    before = keys()
    assert keys() == before
    spack.write("home/.spack/mirrors.yaml", MIRRORS.replace("site.example", "other.example"))
    spack.environ["SPACKSCOPE_PUBLIC"] = "https://example.org/tag-list.json"
    assert len({*before, *keys()}) == 6


def test_a_key_in_a_directory_that_is_gone_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(SourceError, match="the source mirror cannot be read"):
        source_key("mirror", Session({}))


@pytest.mark.parametrize(
    ("arguments", "variable", "sources"),
    [
        ([], None, (SAMPLE,)),
        ([], "", (SAMPLE,)),
        ([], "  ", (SAMPLE,)),
        (["a", "b", "a"], "c", ("a", "b")),
        ([], "a b  a", ("a", "b")),
        ([], "'my mirror' b\\ c", ("my mirror", "b c")),
        ([], " ".join(["far/away"] * 1_000), ("far/away",)),
        ([], "x" * 5_000, ("x" * 5_000,)),
    ],
)
def test_sources_are_arguments_or_in_the_environment_or_the_sample(
    arguments: list[str], variable: str | None, sources: tuple[str, ...]
) -> None:
    environ = {} if variable is None else {"SPACKSCOPE_FROM": variable}
    assert resolve_sources(arguments, Session(environ)) == sources


def test_a_word_names_a_source_or_a_spec(tmp_path: Path) -> None:
    (tmp_path / "spack.lock").touch()
    sources = ("https://a.org/m", "s3://b", "public", "public:develop", "spack:site", "-")
    paths = ("no/spack.lock", "index.json", "~/no", "./no", "../no", "/no/such", str(tmp_path))
    for word in (*sources, *paths, str(tmp_path / "spack.lock")):
        assert names_source(word), word
    specs = ("hdf5@1.14.6 +mpi", "/uehz56w", "uehz56w", "hdf5 target=zen3:", "a\0b", "hdf5/ueh")
    for word in specs:
        assert not names_source(word), word


def test_a_word_of_a_query_is_a_source_if_it_can_be_nothing_else(here: Path) -> None:
    for path in ("there", "hdf5"):
        (here / path / "abc").mkdir(parents=True)
    ending = ("index.json", "spack.lock", "x.spec.json.sig", "a.yaml", "specs.md", "a.gz", "a.zst")
    folders = ("there/", "./there", "there/abc", "hdf5/abc")
    missing = ("no/such/folder", "/data/mirror", "~/no")
    scheme = ("https://a.org/m", "ftp://a.org", "s3://b", "file:///x", "spack:site", "public:v1")
    for word in (*ending, *folders, *missing, *scheme, "public", "sample", str(here)):
        assert is_source_word(word), word
    specs = ("/", "there", "hdf5", "py-foo", "hdf5/uehz56w", "/ueh | /wuq", "~mpi")
    hashes = ("/abc123", "/018")
    values = (
        "page=https://a.org/x",
        "cflags=-I/usr/x/y",
        "os=a/b/c.json",
        "^x@1.json",
        "gcc@12.3",
    )
    for word in (*specs, *hashes, *values):
        assert not is_source_word(word), word


def environment_in(spack: SpackRoot, directory: str, file: str = "spack.lock") -> str:
    return str(spack.write(f"{directory}/{file}", "{}").parent)


def test_a_name_is_that_of_an_environment(spack: SpackRoot, here: Path) -> None:
    root = "spack/var/spack/environments"
    climate = environment_in(spack, f"{root}/climate")
    nested = environment_in(spack, f"{root}/teams/ocean", "spack.yaml")
    active = environment_in(spack, "home/work/mine")
    session = Session({**spack.environ, "SPACK_ENV": f"{active}/"})
    # A directory that is not an environment is not in the way of one.
    (here / "climate").mkdir()
    sources = ("-", "https://example.org/spack.lock", "spack:site", "spack", active)
    for name, source in (
        ("climate", climate),
        ("teams/ocean", nested),
        ("mine", active),
        *((each, each) for each in sources),
    ):
        assert find_environment(name, session) == source
    with pytest.raises(SourceError) as error:
        find_environment("climat", session)
    assert str(error.value) == (
        f"the environment climat is neither a file or directory, nor in {here}/{root};"
        " there are climate"
    )
    environment_in(spack, "climate")
    assert find_environment("climate", session) == "climate"

    spack.write("home/.spack/config.yaml", "config: {environments_root: ~/envs}")
    land = environment_in(spack, "home/envs/land")
    session = Session(spack.environ)
    assert (find_environment("land", session), environment_names(session)) == (land, ["land"])
    with pytest.raises(SourceError, match=r"home/envs; there are land$"):
        find_environment("lake", session)

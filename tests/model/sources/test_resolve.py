"""Sources are those of the command line, else of the user's Spack, else the sample."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spackscope.model.core.errors import SourceError
from spackscope.model.sources.resolve import (
    find_environment,
    names_source,
    resolve_sources,
    source_key,
)
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import SAMPLE, absolute_path
from tests.builders import SpackRoot

MIRRORS = """\
    mirrors:
      site: https://site.example.org/cache
      local: /data/mirror
      spack-public: {url: https://mirror.spack.io, binary: false}
      old-public: https://mirror.spack.io
    """


@pytest.fixture
def spack(tmp_path: Path) -> SpackRoot:
    return SpackRoot(tmp_path)


def test_mirrors_of_binaries_come_before_the_install_tree(spack: SpackRoot) -> None:
    spack.write("home/.spack/mirrors.yaml", MIRRORS)
    tree = spack.install()

    assert resolve_sources([], Session(spack.environ)) == ("spack:site", "spack:local", tree)


def test_an_install_tree_without_a_database_is_not_a_source(spack: SpackRoot) -> None:
    (spack.root / "opt" / "spack").mkdir(parents=True)

    assert resolve_sources([], Session(spack.environ)) == ("spack:",)


def test_an_upstream_with_a_database_is_a_source(spack: SpackRoot) -> None:
    upstream = spack.install("central")
    spack.write(
        "spack/etc/spack/upstreams.yaml", f"upstreams: {{central: {{install_tree: {upstream}}}}}"
    )

    assert resolve_sources([], Session(spack.environ)) == (upstream,)


def test_arguments_and_the_environment_come_before_spack(spack: SpackRoot) -> None:
    spack.install()

    assert resolve_sources(["public", "-"], Session(spack.environ)) == ("public", "-")
    environ = {**spack.environ, "SPACKSCOPE_FROM": "public:v1.0.0 spack:site"}
    assert resolve_sources([], Session(environ)) == ("public:v1.0.0", "spack:site")


def test_a_configuration_that_cannot_be_read_is_not_passed_over(spack: SpackRoot) -> None:
    spack.write("home/.spack/mirrors.yaml", "mirrors: [")

    assert resolve_sources([], Session(spack.environ)) == ("spack:",)
    tree = spack.install()
    assert resolve_sources([], Session(spack.environ)) == (tree,)


def test_the_key_of_a_source_is_what_it_names(
    spack: SpackRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spack.write("home/.spack/mirrors.yaml", MIRRORS)
    monkeypatch.chdir(tmp_path)

    session = Session({})
    assert source_key("mirror", session) == str(tmp_path / "mirror")
    assert source_key("./mirror/", session) == str(tmp_path / "mirror")
    assert source_key(SAMPLE, session) == absolute_path(SAMPLE)
    assert source_key("https://example.org/m", session) == "https://example.org/m"
    assert source_key("file:///data/m", session) == "file:///data/m"
    assert source_key("-", session) == "-"


def test_the_key_changes_with_what_a_name_refers_to(spack: SpackRoot) -> None:
    def keys() -> list[str]:
        session = Session(spack.environ)
        return [source_key(source, session) for source in ("public", "public:a", "spack:site")]

    spack.write("home/.spack/mirrors.yaml", MIRRORS)
    before = keys()
    assert keys() == before
    spack.write("home/.spack/mirrors.yaml", MIRRORS.replace("site.example", "other.example"))
    spack.environ["SPACKSCOPE_PUBLIC"] = "https://example.org/tag-list.json"

    assert len({*before, *keys()}) == 6


def test_an_unknown_mirror_of_spack_has_a_key(spack: SpackRoot) -> None:
    assert source_key("spack:none", Session(spack.environ)) == "spack:none"
    assert source_key("spack:none", Session({})) == "spack:none"


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


def test_a_variable_that_is_an_existing_path_is_one_source(tmp_path: Path) -> None:
    path = tmp_path / "my mirror"
    path.mkdir()

    assert resolve_sources([], Session({"SPACKSCOPE_FROM": str(path)})) == (str(path),)


def test_a_variable_may_begin_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my mirror").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))

    assert resolve_sources([], Session({"SPACKSCOPE_FROM": "~/my mirror"})) == ("~/my mirror",)


def test_a_variable_with_an_open_quote_is_refused() -> None:
    with pytest.raises(SourceError, match="SPACKSCOPE_FROM cannot be split"):
        resolve_sources([], Session({"SPACKSCOPE_FROM": "it's"}))


def test_a_source_is_found_from_home_from_here_and_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.chdir(tmp_path)

    assert absolute_path("~/mirror") == "/home/ada/mirror"
    assert absolute_path("a/../b/") == os.path.join(os.getcwd(), "b")
    assert Path(absolute_path(SAMPLE), "develop").is_dir()


def test_a_word_names_a_source_or_a_spec(tmp_path: Path) -> None:
    (tmp_path / "spack.lock").touch()
    sources = ("https://a.org/m", "s3://b", "public", "public:develop", "spack:site", "-")
    paths = ("no/spack.lock", "index.json", "~/no", "./no", "../no", "/no/such", str(tmp_path))
    for word in (*sources, *paths, str(tmp_path / "spack.lock")):
        assert names_source(word), word
    specs = ("hdf5@1.14.6 +mpi", "/uehz56w", "uehz56w", "hdf5 target=zen3:", "a\0b", "hdf5/ueh")
    for word in specs:
        assert not names_source(word), word


def environment_in(spack: SpackRoot, directory: str, file: str = "spack.lock") -> str:
    return str(spack.write(f"{directory}/{file}", "{}").parent)


def test_a_name_is_that_of_a_managed_environment(spack: SpackRoot) -> None:
    climate = environment_in(spack, "spack/var/spack/environments/climate")
    nested = environment_in(spack, "spack/var/spack/environments/teams/ocean", "spack.yaml")

    session = Session(spack.environ)
    assert find_environment("climate", session) == climate
    assert find_environment("teams/ocean", session) == nested


def test_the_root_of_environments_may_be_configured(spack: SpackRoot) -> None:
    spack.write("home/.spack/config.yaml", "config: {environments_root: ~/envs}")
    climate = environment_in(spack, "home/envs/climate")
    environment_in(spack, "spack/var/spack/environments/ocean")

    assert find_environment("climate", Session(spack.environ)) == climate
    with pytest.raises(SourceError, match=r"home/envs; there are climate$"):
        find_environment("ocean", Session(spack.environ))


def test_the_active_environment_may_be_named(spack: SpackRoot) -> None:
    active = environment_in(spack, "home/work/mine")

    session = Session({**spack.environ, "SPACK_ENV": active})
    assert find_environment("mine", session) == active


def test_a_path_comes_before_a_name(
    spack: SpackRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    managed = environment_in(spack, "spack/var/spack/environments/climate")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "climate").mkdir()

    # A directory that is not an environment is not in the way of one.
    assert find_environment("climate", Session(spack.environ)) == managed
    environment_in(spack, "climate")
    assert find_environment("climate", Session(spack.environ)) == "climate"


@pytest.mark.parametrize("source", ["-", "https://example.org/spack.lock", "spack:site"])
def test_other_sources_stay_as_they_are(source: str) -> None:
    assert find_environment(source, Session({})) == source


def test_an_unknown_environment_is_answered_with_names_that_are_alike(spack: SpackRoot) -> None:
    for name in ("climate", "ocean"):
        environment_in(spack, f"spack/var/spack/environments/{name}")

    with pytest.raises(SourceError) as error:
        find_environment("climat", Session(spack.environ))
    root = spack.root / "var/spack/environments"
    assert str(error.value) == (
        f"the environment climat is neither a file or directory, nor in {root}; there are climate"
    )


@pytest.mark.parametrize("name", ["no/such", "\0", "../x", "none"])
def test_what_does_not_exist_is_said_without_a_spack(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Beside a clone there may be anything.
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match=r"environment"):
        find_environment(name, Session({"SPACK_DISABLE_LOCAL_CONFIG": "1", "PATH": ""}))

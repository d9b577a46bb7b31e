"""An environment is named by its path, or as Spack manages it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.core.errors import SourceError
from spackscope.model.sources.resolve import find_environment
from spackscope.model.sources.session import Session
from tests.builders import SpackRoot


@pytest.fixture
def spack(tmp_path: Path) -> SpackRoot:
    return SpackRoot(tmp_path)


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

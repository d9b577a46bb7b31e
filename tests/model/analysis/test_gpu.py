"""What GPUs and drivers run, by NVIDIA's rules and those of LLVM, and how they are found."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.gpu import detect_gpus, driver_runs, run_on
from spackscope.model.analysis.host import parse_host
from spackscope.model.index.catalog import Catalog
from tests.builders import catalog_of, edge, hash_of, leaf, node, write_index
from tests.program import Program, wait_until

CUDA, APP, USER, OLD = (hash_of(number) for number in range(1, 5))
PLAIN = {"platform": "linux", "platform_os": "rocky9", "target": "zen3"}


@pytest.mark.parametrize(
    ("gpus", "targets", "runs"),
    [
        # A cubin runs on the same major version from its minor version on; the rest needs PTX.
        ("sm_80", "sm_80", True),
        ("sm_86", "sm_80", True),
        ("sm_80", "sm_86", False),
        ("sm_90", "sm_80", None),
        ("sm_75", "sm_80", False),
        ("sm_103", "sm_100", True),
        ("sm_120", "sm_103", None),
        # Tegra runs no cubin of others, nor the other way round.
        ("sm_87", "sm_80", None),
        ("sm_89", "sm_87", None),
        ("sm_87", "sm_87", True),
        # Neither cubin nor PTX for one architecture runs elsewhere.
        ("sm_90", "sm_90a", True),
        ("sm_100", "sm_90a", False),
        ("sm_103", "sm_100a", False),
        ("sm_103", "sm_100f", None),
        ("sm_110", "sm_100f", False),
        ("sm_100", "sm_100f", True),
        # The processor is the same, and so are the features that are stated.
        ("gfx90a", "gfx90a", True),
        ("gfx90a", "gfx908", False),
        ("gfx90a:sramecc+:xnack-", "gfx90a", True),
        ("gfx90a:sramecc+:xnack-", "gfx90a:xnack-", True),
        ("gfx90a:sramecc+:xnack-", "gfx90a:xnack+", False),
        ("gfx90a", "gfx90a:xnack+", None),
        ("gfx906", "gfx9-generic", None),
        ("gfx90a", "auto", None),
        ("gfx90a", "sm_80", False),
        ("sm_80", "gfx90a", False),
        ("sm_80", "sm_all-major", None),
        # One of the GPUs is enough, and one of the targets.
        ("sm_70,sm_86", "sm_80,sm_90", True),
        ("sm_90,sm_70", "sm_80,gfx90a", None),
        ("sm_70,gfx908", "sm_80,gfx90a", False),
    ],
)
def test_what_gpus_run(gpus: str, targets: str, runs: bool | None) -> None:
    assert run_on(gpus.split(","), targets.split(",")) is runs


@pytest.mark.parametrize(
    ("driver", "version", "runs"),
    [
        ("12.4", "12.9.1", True),
        ("12", "12.9.1", True),
        ("12.4", "13.0.2", False),
        ("12.4", "11.8.0", True),
        ("10.1", "10.2.89", False),
        ("10.2", "10.2.89", True),
        ("12.4", "develop", True),
        ("12.4", "", True),
    ],
)
def test_which_cuda_a_driver_runs(driver: str, version: str, runs: bool) -> None:
    assert driver_runs(driver, version) is runs


@pytest.fixture
def catalog(program: Program) -> Catalog:
    """Index an app for sm_80 that links CUDA 13, and one that uses it; the leaves need nothing."""
    parameters = {"cuda": True, "cuda_arch": ["80"]}
    cuda = node(CUDA, name="cuda", version="13.0.2", dependencies=..., arch=PLAIN)
    below = [edge("cuda", CUDA, ["build", "link"])]
    app = node(APP, name="app", dependencies=below, parameters=parameters, arch=PLAIN)
    user = node(USER, name="user", dependencies=[edge("app", APP, ["link"])], arch=PLAIN)
    none = {"cuda": True, "cuda_arch": ["none"]}
    old = node(OLD, name="old", dependencies=..., parameters=none, arch=PLAIN)
    return catalog_of(write_index(program.home, cuda, app, user, old))


def fits(catalog: Catalog, host: str) -> dict[str, tuple[bool | None, list[str]]]:
    fit = HostFit(catalog, parse_host(f"target=zen3 {host}"))
    by_package = {row.spec.package: fit.of(row.id) for row in catalog.rows(range(catalog.total))}
    assert all(each.reusable for each in by_package.values()), "Spack asks for no GPU"
    return {
        name: (each.fits, [reason.sentence for reason in each.reasons if reason.is_run])
        for name, each in by_package.items()
    }


def test_gpus_and_the_driver_are_among_the_reasons(catalog: Catalog) -> None:
    found = fits(catalog, "gpu=sm_75 cuda=12.4")
    gpu, driver = (
        "built for sm_80; the host has sm_75",
        "cuda 13.0.2 > 12.4, the CUDA of the driver",
    )
    assert found["app"] == (False, [gpu, driver])
    assert found["user"] == (False, [f"app: {gpu}", f"app: {driver}"])
    assert found["cuda"] == found["old"] == (True, [])


def test_why_says_that_what_can_be_reused_does_not_run(catalog: Catalog, program: Program) -> None:
    words = ("why", "app", "-f", "index.json", "--config", "none")

    def asked(host: str) -> tuple[int, str]:
        return program.on_terminal(*words, "--host", f"target=zen3 {host}", columns=200)

    code, text = asked("gpu=sm_75 cuda=12.4")
    assert "app: Spack can reuse it on zen3" in text
    assert "can be reused, but does not run: other GPU, cuda 13.0.2 > 12.4" in text
    assert "can be reused, but may not run: GPU code may not run" in asked("gpu=sm_90")[1]
    assert "can be reused, but" not in asked("gpu=sm_80")[1]
    assert code == 0


def test_what_is_not_certain_is_unknown_and_without_a_gpu_it_does_not_count(
    catalog: Catalog,
) -> None:
    sentence = "built for sm_80; the host has sm_90, which may run it"
    assert fits(catalog, "gpu=sm_90 cuda=13.1")["user"] == (None, [f"app: {sentence}"])
    assert fits(catalog, "cuda=13.1")["user"] == fits(catalog, "")["user"] == (True, [])


# The tools of this machine


def tools(home: Path, **scripts: str) -> str:
    """Write tools to a directory; return the PATH on which only they are found."""
    for name, script in scripts.items():
        path = home / "bin" / name.replace("_", "-")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho asked >> {home}/log\n{script}\n")
        path.chmod(0o755)
    return f"{home / 'bin'}:/usr/bin:/bin"


def answers(program: Program, path: str, query: str = "app") -> list[str]:
    """Return whether a spec runs on this machine, and the labels of the reasons."""
    result = program("stats", "fits", query, "-f", "index.json", "--json", PATH=path)
    return [row["fits"] for row in json.loads(result.stdout)]


@pytest.fixture
def app(program: Program) -> Iterator[Program]:
    detect_gpus.cache_clear()
    parameters = {"cuda": True, "cuda_arch": ["80"]}
    arch = {**PLAIN, "target": "x86_64"}
    built = node(APP, name="app", dependencies=..., parameters=parameters, arch=arch)
    write_index(program.home, built, leaf(OLD, "zlib", "1.3"))
    yield program
    detect_gpus.cache_clear()


@pytest.mark.parametrize(
    ("scripts", "labels"),
    [
        ({}, ["yes"]),
        ({"nvidia_smi": "echo '8.6, 550.54.15'; echo '9.0, 550.54.15'"}, ["yes"]),
        ({"nvidia_smi": "echo '7.0, 550.54.15'"}, ["no", "other GPU"]),
        ({"nvidia_smi": "echo '9.0, 550.54.15'"}, ["unknown", "GPU code may not run"]),
        ({"nvidia_smi": "echo 'No devices were found'"}, ["yes"]),
        ({"nvidia_smi": "echo '7.0, 550.54.15'; exit 9"}, ["yes"]),
        ({"nvidia_smi": "head -c 10000000 /dev/zero"}, ["yes"]),
        ({"nvidia_smi": f"echo '9.0, {'5' * 5_000}.54'"}, ["yes"]),
        ({"nvidia_smi": f"echo '{'9' * 5_000}.0, 550.54'"}, ["yes"]),
        ({"amdgpu_arch": "echo gfx90a"}, ["no", "other GPU"]),
        (
            {"rocminfo": "echo '  Name:     amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-  '"},
            ["no", "other GPU"],
        ),
        ({"rocminfo": "echo '  Name:     amdgcn-amd-amdhsa--gfx9-4-generic  '"}, ["yes"]),
    ],
)
def test_the_gpus_of_this_machine_are_asked_for(
    scripts: dict[str, str], labels: list[str], app: Program
) -> None:
    assert sorted(answers(app, tools(app.home, **scripts))) == sorted(labels)


def command_lines() -> Iterator[bytes]:
    """Yield the command lines of all processes."""
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield each.read_bytes()


def test_a_tool_that_hangs_is_given_up_with_what_it_started(
    app: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spackscope.model.analysis.gpu._TIMEOUT", 0.5)
    mark = f"1{time.monotonic_ns() % 10**8}"
    path = tools(app.home, nvidia_smi=f"sleep {mark} & sleep {mark}")
    assert answers(app, path) == ["yes"]
    wait_until(lambda: f"sleep\0{mark}\0".encode() not in command_lines())


def test_no_tool_is_started_unless_a_spec_needs_it(app: Program) -> None:
    write_index(app.home, leaf(OLD, "zlib", "1.3"))
    path = tools(app.home, nvidia_smi="echo '7.0, 550.54.15'")
    assert answers(app, path, "zlib")
    assert not (app.home / "log").exists()

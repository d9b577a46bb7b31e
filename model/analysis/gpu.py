"""Find the GPUs of this machine, and check whether GPUs and their drivers run a build.

NVIDIA, as its compatibility guides say (docs.nvidia.com/cuda/hopper-compatibility-guide): binary
code for X.y runs on X.z with z >= y, and PTX also on newer GPUs. No record says whether a build
has PTX: `cuda_flags` of CudaPackage asks for it, but not every recipe uses these. Code for `90a`
runs on 9.0 alone, code for `100f` in the family of 10.0. Tegra runs no binary code of other GPUs.
AMD (llvm.org/docs/AMDGPUUsage.html#target-id): the processor has to be the same, and so have
`xnack` and `sramecc` where they are stated. Generic targets are not resolved to processors.
"""

from __future__ import annotations

import os
import re
import signal
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from subprocess import DEVNULL, Popen, TimeoutExpired

from spackscope.model.core.versions import version_key

_TARGET = re.compile(r"sm_(?P<number>\d{1,4})(?P<only>[af]?)|gfx[0-9a-f]{1,6}")
_TEGRA = frozenset({32, 53, 62, 72, 87, 101, 110})
_MINOR_COMPATIBLE = 11
"""The first major version of CUDA whose drivers run all versions with the same major number."""

_DRIVERS = {range(450, 525): "11", range(525, 580): "12"}
"""The CUDA version of the branches of NVIDIA's driver; newer branches run 13 or more.

See docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html.
"""

_NVIDIA = ("nvidia-smi", "--query-gpu=compute_cap,driver_version", "--format=csv,noheader")
_NVIDIA_LINE = re.compile(r"^(\d{1,3})\.(\d), (\d{1,4})\.", re.MULTILINE)
_AMD = ("amdgpu-arch", "rocminfo")
_AMD_LINE = re.compile(r"(?:^|--)(gfx[0-9a-f]+(?::\w+[+-])*)\s*$", re.MULTILINE)
_TIMEOUT = 1.0
"""Seconds after which a tool is given up: one that waits for a driver may never end."""

_MAX_PRINTED = 2**16


def run_on(gpus: Sequence[str], targets: Sequence[str]) -> bool | None:
    """Check whether any of the GPUs runs any of the targets; None if this is not certain.

    run_on(["sm_90"], ["sm_80"])  # None: only from PTX
    """
    answers = {_runs(gpu, target) for gpu in gpus for target in targets}
    return True if True in answers else None if None in answers else False


def _runs(gpu: str, target: str) -> bool | None:
    own, *settings = gpu.split(":")
    processor, *features = target.split(":")
    wanted, has = _TARGET.fullmatch(processor), _TARGET.fullmatch(own)
    if wanted is None or has is None:
        return None
    if not (wanted["number"] and has["number"]):
        missing = {*features} - {*settings}
        is_other = {each[:-1] for each in missing} & {each[:-1] for each in settings}
        return False if processor != own or is_other else None if missing else True
    number, here = int(wanted["number"]), int(has["number"])
    is_same_major = number // 10 == here // 10
    if here <= number or wanted["only"] == "a":
        return here == number
    if wanted["only"]:
        return None if is_same_major else False
    return (is_same_major and _TEGRA.isdisjoint((number, here))) or None


def driver_runs(driver: str, version: str) -> bool:
    """Check whether a driver of one CUDA version runs, or may run, builds for another version."""
    major, own = version.partition(".")[0], driver.partition(".")[0]
    if not major.isdecimal() or (major == own and int(major) >= _MINOR_COMPATIBLE):
        return True
    return version_key(".".join(version.split(".")[:2])) <= version_key(driver)


@lru_cache(1)
def detect_gpus() -> tuple[tuple[str, ...], str]:
    """Return the GPUs of this machine, and the CUDA version of the driver; empty if unknown."""
    found = _NVIDIA_LINE.findall(_printed_by(*_NVIDIA))
    gpus = [f"sm_{major}{minor}" for major, minor, _ in found]
    drivers = {int(driver) for *_, driver in found}
    amd = (_AMD_LINE.findall(_printed_by(tool)) for tool in _AMD)
    gpus += next(filter(None, amd), [])
    cuda = (cuda for branch, cuda in _DRIVERS.items() for driver in drivers if driver in branch)
    return tuple(dict.fromkeys(gpus)), next(cuda, "")


def _printed_by(*command: str) -> str:
    """Return the output of a tool; "" if the tool is missing, fails or takes too long."""
    with suppress(OSError), tempfile.TemporaryFile() as file:
        process = Popen(
            command, stdin=DEVNULL, stdout=file, stderr=DEVNULL, start_new_session=True
        )
        try:
            if process.wait(_TIMEOUT) == 0:
                file.seek(0)
                return file.read(_MAX_PRINTED).decode("utf-8", "replace")
        except TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            # A process that waits in the kernel does not end.
            with suppress(TimeoutExpired):
                process.wait(_TIMEOUT / 10)
    return ""

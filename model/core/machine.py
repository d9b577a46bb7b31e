"""Name the platform, the operating system, the target and the C library of this machine."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from spackscope.model.core.versions import version_key

LINUX, MACOS = "linux", "darwin"
PLATFORM = {"win32": "windows"}.get(sys.platform, sys.platform)
"""The platform of this machine."""

# fmt: off
_MACOS_NAMES = {
    "10.5": "leopard", "10.6": "snowleopard", "10.7": "lion", "10.8": "mountainlion",
    "10.9": "mavericks", "10.10": "yosemite", "10.11": "elcapitan", "10.12": "sierra",
    "10.13": "highsierra", "10.14": "mojave", "10.15": "catalina", "11": "bigsur",
    "12": "monterey", "13": "ventura", "14": "sonoma", "15": "sequoia", "26": "tahoe",
}
# fmt: on

MACOS_RELEASES = tuple(_MACOS_NAMES.values())
"""The releases of macOS by the names that Spack gives them, oldest first."""

_OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")
_MAX_FILE_SIZE = 2**16

_NORMALIZED_IDS = {"ol": "oracle", "opensuse-leap": "opensuse"}
"""Names of distributions that Spack's `distro` writes differently from os-release."""


_TIMEOUT = 2.0
"""Seconds after which a dynamic linker that states no version is given up."""

_LOADER_DIRECTORIES = ("lib", "lib64")
LINKER = r"(?m) (/.*/ld(?:64|-[^/]*)?\.so[^/\s]*)$"
"""A line of the files that a process has mapped, if it is about its dynamic linker."""
USUAL_PREFIX = "/usr"
"""The prefix of the C library where a description names none."""


class Libc(NamedTuple):
    """A C library: its name, its version, and its prefix, by which Spack identifies it."""

    name: str
    version: str
    prefix: str = USUAL_PREFIX

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def runs(self, other: Libc) -> bool:
        """Check whether builds for another C library run with this one.

        As `libc_is_compatible` in lib/spack/spack/solver/asp.py of Spack 1.2.
        """
        is_same = self.name == other.name and self.prefix == other.prefix
        return is_same and version_key(self.version) >= version_key(other.version)


@lru_cache(1)
def this_os() -> str:
    """Return the operating system of this machine, as `ubuntu22.04`; "" if it is unknown."""
    if PLATFORM == LINUX:
        for path in _OS_RELEASE:
            with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
                return linux_os(file.read(_MAX_FILE_SIZE))
    elif PLATFORM == MACOS:
        import platform

        return macos_name(platform.mac_ver()[0])
    return ""


@lru_cache(1)
def this_target() -> str:
    """Return the target of this machine, as `zen3`; "" if it is unknown."""
    # Whatever is wrong with the description of an odd processor, the target is unknown.
    with suppress(Exception):
        from archspec.cpu import host

        return str(host().name)
    return ""


@lru_cache(1)
def this_libc() -> Libc | None:
    """Return the C library that this Python runs with; None if it cannot be found out.

    As in lib/spack/spack/util/libc.py, the prefix is above the directory of the resolved dynamic
    linker, which is among the files that this process has mapped.
    """
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        linker = re.search(LINKER, file.read())
        if linker is None or not (prefix := libc_prefix(linker[1])):
            return None
        with suppress(OSError, ValueError, AttributeError):
            name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
            if name == "glibc" and version:
                return Libc(name, version, prefix)
        import subprocess

        with suppress(subprocess.SubprocessError):
            result = subprocess.run(
                [linker[1], "--version"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_TIMEOUT,
            )
            version = musl_version(result.stderr or result.stdout)
            return Libc("musl", version, prefix) if version else None
    return None


def linux_os(os_release: str) -> str:
    """Return Spack's name of a distribution by the text of its os-release file.

    It follows lib/spack/spack/operating_systems/linux_distro.py: only the first number of a
    version counts, except for Ubuntu. For openSUSE Tumbleweed Spack adds the version of the C
    library, which is left out here.

        linux_os('ID="rhel"\\nVERSION_ID="9.4"')  # rhel9
    """
    fields = dict(re.findall(r"^(\w+)=[\"']?(.*?)[\"']?\s*$", os_release, re.MULTILINE))
    name = fields.get("ID", "").lower().replace(" ", "_")
    name = _NORMALIZED_IDS.get(name, name)
    if "tumbleweed" in name:
        return "opensusetumbleweed"
    numbers = re.split(r"[^\w-]", fields.get("VERSION_ID") or fields.get("BUILD_ID", ""))
    version = ".".join(numbers[: 2 if "ubuntu" in name else 1])
    return f"{name}{version}".replace("-", "_") if name else ""


def macos_name(version: str) -> str:
    """Return Spack's name of a version of macOS, as `sequoia` for 15.1; empty if unknown.

    The names are from lib/spack/spack/operating_systems/mac_os.py.
    """
    major, _, rest = version.partition(".")
    key = f"{major}.{rest.partition('.')[0]}" if major == "10" else major
    return _MACOS_NAMES.get(key, "")


def libc_prefix(linker: str) -> str:
    """Return the prefix of the C library of a dynamic linker, or "" in an unusual place.

    libc_prefix("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")  # /usr
    """
    directory = os.path.dirname(linker)
    if os.path.basename(directory) not in _LOADER_DIRECTORIES:
        directory = os.path.dirname(directory)
    is_usual = os.path.basename(directory) in _LOADER_DIRECTORIES
    return os.path.dirname(directory) if is_usual else ""


def musl_version(text: str) -> str:
    """Return the version that musl's dynamic linker states, or "" if the text is not from it."""
    match = re.search(r"^Version (\d+(?:\.\d+)*)", text, re.MULTILINE)
    return match[1] if match and text.startswith("musl libc") else ""

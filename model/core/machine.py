"""Name the platform, the operating system and the target of this machine as Spack does."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from functools import lru_cache

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

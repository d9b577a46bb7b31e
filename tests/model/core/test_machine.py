"""Systems and C libraries have the names that Spack gives them."""

import re
from collections.abc import Callable

import pytest

from spackscope.model.core.machine import (
    LINKER,
    Libc,
    libc_prefix,
    linux_os,
    macos_name,
    musl_version,
)


@pytest.mark.parametrize(
    ("host", "other", "runs"),
    [
        (Libc("glibc", "2.34"), Libc("glibc", "2.34"), True),
        (Libc("glibc", "2.34"), Libc("glibc", "2.4"), True),
        (Libc("glibc", "2.34"), Libc("glibc", "2.35"), False),
        (Libc("glibc", "2.34"), Libc("glibc", "2.28", "/opt"), False),
        (Libc("glibc", "2.34"), Libc("musl", "1.2.4"), False),
    ],
)
def test_a_c_library_runs_what_needs_an_older_one(host: Libc, other: Libc, runs: bool) -> None:
    assert host.runs(other) is runs


@pytest.mark.parametrize(
    ("name_of", "text", "name"),
    [
        (linux_os, 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="22.04"\n', "ubuntu22.04"),
        (linux_os, 'ID="rhel"\nVERSION_ID="9.4"\n', "rhel9"),
        (linux_os, 'ID="rocky"\nVERSION_ID="8.10"\n', "rocky8"),
        (linux_os, "ID=debian\nVERSION_ID='12'\n", "debian12"),
        (linux_os, 'ID="amzn"\nVERSION_ID="2023"\n', "amzn2023"),
        (linux_os, 'ID="sles"\nVERSION_ID="15.5"\n', "sles15"),
        (linux_os, 'ID="opensuse-leap"\nVERSION_ID="15.6"\n', "opensuse15"),
        (linux_os, 'ID="opensuse-tumbleweed"\nVERSION_ID="20260101"\n', "opensusetumbleweed"),
        (linux_os, 'ID="ol"\nVERSION_ID="8.9"\n', "oracle8"),
        (linux_os, "ID=arch\nBUILD_ID=rolling\n", "archrolling"),
        (linux_os, "VERSION_ID=1\n", ""),
        (linux_os, "", ""),
        *((macos_name, "15.1", "sequoia"), (macos_name, "14.7.2", "sonoma"), (macos_name, "", "")),
        *((macos_name, "10.15.7", "catalina"), (macos_name, "11.0", "bigsur")),
        (macos_name, "99", ""),
        (libc_prefix, "/usr/lib64/ld-linux-x86-64.so.2", "/usr"),
        (libc_prefix, "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "/usr"),
        (libc_prefix, "/lib/ld-musl-x86_64.so.1", "/"),
        (libc_prefix, "/opt/sysroot/lib/ld.so", "/opt/sysroot"),
        (libc_prefix, "/nix/store/ld.so", ""),
        (musl_version, "musl libc (x86_64)\nVersion 1.2.4\nDynamic Program Loader", "1.2.4"),
        (musl_version, "ld.so (GNU libc) stable release version 2.36.\nVersion 3", ""),
    ],
)
def test_names_and_versions_of_systems(
    name_of: Callable[[str], str], text: str, name: str
) -> None:
    assert name_of(text) == name


@pytest.mark.parametrize(
    ("line", "linker"),
    [
        ("7f0-7f1 r--p 0 08:01 12   /lib/ld-musl-x86_64.so.1", "/lib/ld-musl-x86_64.so.1"),
        ("7f0-7f1 r--p 0 08:01 12   /usr/lib64/ld-2.17.so", "/usr/lib64/ld-2.17.so"),
        ("7f0-7f1 r--p 0 08:01 12   /usr/lib64/ld64.so.2", "/usr/lib64/ld64.so.2"),
        ("7f0-7f1 r--p 0 08:01 12   /a b/lib/ld.so", "/a b/lib/ld.so"),
        ("7f0-7f1 r--p 0 08:01 12   /usr/lib/libld-x.so.1", None),
        ("7f0-7f1 r--p 0 08:01 12   /usr/lib/ldconfig.so", None),
        ("7f0-7f1 r--p 0 00:00 0", None),
    ],
)
def test_the_dynamic_linker_of_a_process(line: str, linker: str | None) -> None:
    found = re.search(LINKER, f"first\n{line}\nlast\n")
    assert (found and found[1]) == linker

"""A host is described as a user writes it, or detected as Spack does it."""

import os
import platform
import sys

import pytest

from spackscope.model.analysis.host import Host, detect_host, parse_host
from spackscope.model.core.errors import QueryError
from spackscope.model.core.machine import Libc


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("target=zen3 glibc=2.34", Host("linux", "", "zen3", Libc("glibc", "2.34", "/usr"))),
        (
            "libc=glibc@2.34:/opt/sysroot os=rocky9",
            Host("linux", "rocky9", "", Libc("glibc", "2.34", "/opt/sysroot")),
        ),
        ("glibc=2.17:/ target=icelake", Host("linux", "", "icelake", Libc("glibc", "2.17", "/"))),
        ("musl=1.2.4", Host("linux", "", "", Libc("musl", "1.2.4"))),
        ("os=sequoia target=m1", Host("darwin", "sequoia", "m1")),
        ("target=m2", Host("darwin", "", "m2")),
        ("target=m1 glibc=2.38", Host("linux", "", "m1", Libc("glibc", "2.38"))),
        ("platform=darwin os=sequoia target=m1", Host("darwin", "sequoia", "m1")),
        ("  os=ubuntu22.04  ", Host("linux", "ubuntu22.04")),
    ],
)
def test_a_described_host(text: str, host: Host) -> None:
    assert parse_host(text) == host


@pytest.mark.parametrize(
    ("text", "offset", "part"),
    [
        ("", 0, "as in target=zen3 glibc=2.34"),
        ("rhel8", 0, "Expected platform, os, target"),
        ("os=a zen=3", 5, "Expected platform, os, target"),
        ("target=zen33", 7, "Did you mean zen3"),
        ("target=", 7, "Expected a name"),
        ("os=a/b", 3, "Expected a name"),
        ("glibc=new", 6, "Expected a version of glibc"),
        ("libc=glibc", 5, "Expected a version of glibc"),
        ("libc=uclibc@1", 5, "Expected glibc or musl"),
        ("glibc=2.34:opt", 6, "absolute prefix"),
        ("os=a os=b", 5, "os is given twice"),
        ("glibc=2.3 musl=1", 10, "libc is given twice"),
        ("os=" + "a" * 1000, 1000, "at most 1,000"),
    ],
)
def test_what_is_not_a_host_is_refused_where_it_is(text: str, offset: int, part: str) -> None:
    with pytest.raises(QueryError) as refused:
        parse_host(text)
    assert refused.value.offset == offset
    assert part in str(refused.value)


def test_a_host_for_people_and_the_targets_that_it_runs() -> None:
    host = parse_host("target=zen3 glibc=2.35 os=ubuntu22.04")
    assert (str(host), host.short) == ("zen3, glibc 2.35, ubuntu22.04", "zen3, glibc 2.35")
    assert str(parse_host("target=m1")) == "m1, darwin"
    assert parse_host("target=m1 os=sequoia").short == "m1, sequoia"
    assert str(Host()) == ""
    assert parse_host("target=zen2").targets == {"zen2", "zen", "x86_64_v3", "x86_64_v2", "x86_64"}
    assert Host(target="odd").targets == {"odd"}
    assert not Host().targets


def test_this_machine() -> None:
    host = detect_host()
    assert host.is_this_machine
    assert host.platform == {"win32": "windows"}.get(sys.platform, sys.platform)
    assert host.target in host.targets
    name, version = platform.libc_ver()
    if name == "glibc":
        assert host.libc is not None
        assert host.libc[:2] == (name, version)
        assert os.path.isdir(host.libc.prefix)

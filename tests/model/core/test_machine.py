"""Systems have the names that Spack gives them."""

from __future__ import annotations

import pytest

from spackscope.model.core.machine import linux_os, macos_name


@pytest.mark.parametrize(
    ("text", "os"),
    [
        ('NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="22.04"\n', "ubuntu22.04"),
        ('ID="rhel"\nVERSION_ID="9.4"\n', "rhel9"),
        ('ID="rocky"\nVERSION_ID="8.10"\n', "rocky8"),
        ("ID=debian\nVERSION_ID='12'\n", "debian12"),
        ('ID="amzn"\nVERSION_ID="2023"\n', "amzn2023"),
        ('ID="sles"\nVERSION_ID="15.5"\n', "sles15"),
        ('ID="opensuse-leap"\nVERSION_ID="15.6"\n', "opensuse15"),
        ('ID="opensuse-tumbleweed"\nVERSION_ID="20260101"\n', "opensusetumbleweed"),
        ('ID="ol"\nVERSION_ID="8.9"\n', "oracle8"),
        ("ID=arch\nBUILD_ID=rolling\n", "archrolling"),
        ("VERSION_ID=1\n", ""),
        ("", ""),
    ],
)
def test_the_name_that_spack_gives_to_a_distribution(text: str, os: str) -> None:
    assert linux_os(text) == os


@pytest.mark.parametrize(
    ("version", "name"),
    [
        *(("15.1", "sequoia"), ("14.7.2", "sonoma"), ("10.15.7", "catalina"), ("11.0", "bigsur")),
        *(("", ""), ("99", "")),
    ],
)
def test_the_name_that_spack_gives_to_a_release_of_macos(version: str, name: str) -> None:
    assert macos_name(version) == name

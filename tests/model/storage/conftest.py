"""Fixtures of the storage tests."""

from pathlib import Path

import pytest
import trustme

from tests.model.storage.machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "cache")


@pytest.fixture
def authority(machine: Machine, tmp_path: Path) -> trustme.CA:
    """Trust an authority by the environment."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    machine.environ["SSL_CERT_FILE"] = str(tmp_path / "ca.pem")
    return authority

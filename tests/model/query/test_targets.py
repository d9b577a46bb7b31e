"""Target constraints hold as in Spack."""

from __future__ import annotations

import pytest

from spackscope.model.query.matchers import target_test


@pytest.mark.parametrize(
    ("constraint", "target", "fits"),
    [
        ("zen4", "zen4", True),
        ("zen4", "zen3", False),
        ("x86_64_v3:", "zen4", True),
        ("x86_64_v3:", "aarch64", False),
        (":zen4", "x86_64", True),
        ("x86_64:zen3", "zen4", False),
        ("zen3,,zen4", "zen4", True),
        ("*", "anything", True),
        ("x86_64:", "no-such-target", False),
        ("no-such-target", "no-such-target", True),
        ("", "zen4", False),
    ],
)
def test_a_target_fits_its_entries_and_ranges(constraint: str, target: str, fits: bool) -> None:
    assert target_test(constraint)(target) is fits

from __future__ import annotations

import pytest

from spackscope.model.analysis.dag import PROVIDED
from spackscope.model.analysis.follows import follows


@pytest.mark.parametrize(
    ("attribute", "differing", "leader"),
    [
        ("package_hash", ["patches", "version"], "version"),
        ("package_hash", ["patches"], "patches"),
        ("package_hash", ["os"], ""),
        ("patches", ["package_hash", "package"], "package"),
        ("external_module", ["version"], "version"),
        ("namespace", ["version"], ""),
        (PROVIDED, ["variant:mpi"], "variant:mpi"),
        (PROVIDED, ["variant:mpi", "spec_format"], "spec_format"),
        ("version", ["package"], ""),
    ],
)
def test_an_attribute_follows_another(attribute: str, differing: list[str], leader: str) -> None:
    assert follows(attribute, differing) == leader


def test_what_some_lack_follows_what_decides_whether_it_is_there() -> None:
    assert follows("variant:hl", ["version"], is_lacking=True) == "version"
    assert follows("variant:hl", ["version"]) == ""
    assert follows("compiler", ["spec_format"], is_lacking=True) == "spec_format"
    assert follows("compiler", ["spec_format"]) == ""


@pytest.mark.parametrize(
    ("dependency", "virtuals", "differing", "leader"),
    [
        ("zlib", (), ["package_hash", "variant:shared", "os"], "variant:shared"),
        ("zlib", (), ["platform", "spec_format"], ""),
        ("gcc", ("c",), ["version", "spec_format", "provider"], "spec_format"),
        ("gcc", ("c",), ["provider", "version"], "version"),
        ("gcc-runtime", (), ["version", "provider"], "provider"),
        ("own-libc", ("libc",), ["version", "compiler", "platform"], "platform"),
    ],
)
def test_a_dependency_follows_what_brings_it(
    dependency: str, virtuals: tuple[str, ...], differing: list[str], leader: str
) -> None:
    for attribute in ("dependency", "deptypes"):
        assert follows(attribute, differing, dependency=dependency, virtuals=virtuals) == leader

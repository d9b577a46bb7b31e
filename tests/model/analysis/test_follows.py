"""A dependency follows what brings it; attributes are compared with Spack's in test_compare."""

import pytest

from spackscope.model.analysis.varying import follows


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

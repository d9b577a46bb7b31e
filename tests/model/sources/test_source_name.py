"""The names of sources in commands of Spack, and of several tags."""

from pathlib import Path

import pytest

from spackscope.model.sources.source_name import spack_argument, tag_sources


@pytest.mark.parametrize(
    ("source", "argument"),
    [
        ("m", "{here}/m"),
        ("a b", "'{here}/a b'"),
        ("spack:site", "site"),
        ("https://ann:secret@host/m?token=t", "'https://host/m?…'"),
        # It may be a mistyped URL: no path is made of it.
        ("http//ann:secret@host/m", "'http//…@host/m'"),
    ],
)
def test_spack_takes_a_mirror_by_its_path_name_or_address(
    source: str, argument: str, here: Path
) -> None:
    if " " in str(here) and argument.startswith("{here}"):
        argument = f"'{argument}'"
    assert spack_argument(source) == argument.format(here=here)


def test_each_tag_of_the_public_cache_is_a_source() -> None:
    assert tag_sources("public:develop, v2026.06.0,") == ["public:develop", "public:v2026.06.0"]
    assert tag_sources("spack:a,b") == []
    assert tag_sources("public:") == []

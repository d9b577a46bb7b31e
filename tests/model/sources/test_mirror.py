"""A URL names a mirror, a part of one, or a file."""

from __future__ import annotations

import pytest

from spackscope.model.sources.source_name import UrlTarget, parse_target
from tests.builders import MANIFEST


@pytest.mark.parametrize(
    ("url", "at"),
    [
        (f"http://{MANIFEST}", UrlTarget("http://v3/manifests/index", "index.manifest.json")),
        ("http://build_cache/index.json", UrlTarget("http://build_cache", "index.json")),
        ("http://x.json", UrlTarget("http://x.json")),
        (f"http://h/{MANIFEST}", UrlTarget("http://h", layout="v3")),
        ("http://h/index.json?q", UrlTarget("http://h?q", "index.json")),
    ],
)
def test_a_host_is_not_taken_for_a_part_of_a_mirror(url: str, at: UrlTarget) -> None:
    assert parse_target(url) == at

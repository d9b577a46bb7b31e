"""Name the public cache, or a copy of it: its catalogue, and the tags that are asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from spackscope.model.storage.urls import scheme_of

PUBLIC = "public"
"""What names the public cache as a source, alone or with tags: `public:TAG1,TAG2`."""

CATALOGUE = "https://binaries.spack.io/cache_spack_io_index.json"
CATALOGUE_NAME = "cache_spack_io_index.json"
VARIABLE = "SPACKSCOPE_PUBLIC"
"""The environment variable that names another catalogue, such as a site's own copy."""

DEFAULT_TAG = "develop"
_BEGINS = re.compile(rb'\s*\{\s*"[^"]*"\s*:\s*\[\s*(?:\{\s*"(?:label|url)"|\])')


@dataclass(frozen=True, slots=True)
class Asked:
    """Hold which tags of which catalogue are asked for; without tags it is `develop`."""

    catalogue: str
    tags: tuple[str, ...] = ()


def asked_of(source: str, environ: Mapping[str, str]) -> Asked | None:
    """Tell which tags of the public cache a source names; None where it names something else.

    That is `public`, `public:TAG1,TAG2`, or the address of a catalogue, behind which tags may
    stand as in `…/cache_spack_io_index.json#TAG1,TAG2`.
    """
    name, _, behind = source.partition(":")
    catalogue = environ.get(VARIABLE, "").strip() or CATALOGUE
    if name != PUBLIC or scheme_of(source):
        catalogue, _, behind = source.partition("#")
        if not catalogue.partition("?")[0].endswith(CATALOGUE_NAME):
            return None
    return Asked(catalogue, tuple(filter(None, (tag.strip() for tag in behind.split(",")))))


def is_catalogue(head: bytes) -> bool:
    """Tell a catalogue by the bytes that it begins with."""
    return _BEGINS.match(head) is not None

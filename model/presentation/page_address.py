"""The address of a record's page on cache.spack.io.

The site shows one package at a time: `?package=NAME&release=TAG`, as `createSidebarItem` in
templates/static/sidebar.js of spack/spack-cache builds it.
"""

from __future__ import annotations

from spackscope.model.core.records import Spec

_SITE = "https://cache.spack.io/"


def page_address(spec: Spec) -> str:
    """Return the address of the page that lists a record, or "" if it is of no tag.

    Only pages, and indexes of the public cache, have tags.
    """
    if not (spec.tag and spec.package):
        return ""
    return f"{_SITE}?package={_escaped(spec.package)}&release={_escaped(spec.tag)}"


def _escaped(text: str) -> str:
    """Escape what is not allowed in the query of a URL."""
    plain = text.replace("-", "").replace("_", "").replace(".", "")
    if plain.isascii() and plain.isalnum():
        return text
    # Hardly any name needs it.
    from urllib.parse import quote

    return quote(text, safe="")

"""What the name of a source means: a path, a URL, `public:TAG`, `spack:NAME`, standard input."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from spackscope.model.core.errors import SourceError, reason
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.redaction import shown_url
from spackscope.model.storage.schemes import is_remote, scheme_of

SAMPLE = "sample_data"
"""The name of the bundled sample, the source where none is given and no Spack is found."""

STANDARD_INPUT = "-"
"""The name of standard input as a source."""

PREFIX = "spack:"
"""The start of a source that is a mirror of the user's Spack: `spack:NAME`."""

PUBLIC = "public"
"""The name of the public cache as a source, alone or with tags: `public:TAG1,TAG2`."""

TAG_LIST = "https://binaries.spack.io/cache_spack_io_index.json"
TAG_LIST_NAME = "cache_spack_io_index.json"
DEFAULT_TAG = "develop"


class PublicCache(Frozen):
    """The URL or path of a tag list, and the tags to read; `develop` where there is none."""

    tag_list: str
    tags: tuple[str, ...] = ()


def parse_public_cache(
    source: str, environ: Mapping[str, str], tag_list: str = ""
) -> PublicCache | None:
    """Return which tags of the public cache a source names; None where it names something else.

    These are `public`, `public:TAG1,TAG2`, and the URL or path of a tag list, which may end in
    tags: `…/cache_spack_io_index.json#TAG1,TAG2`. `tag_list`, else the variable SPACKSCOPE_PUBLIC,
    names another tag list, such as a site's own copy.
    """
    name, _, tags = source.partition(":")
    tag_list = tag_list or environ.get("SPACKSCOPE_PUBLIC", "").strip() or TAG_LIST
    if name != PUBLIC or scheme_of(source):
        tag_list, _, tags = source.partition("#")
        if not tag_list.partition("?")[0].endswith(TAG_LIST_NAME):
            return None
    return PublicCache(tag_list, tuple(filter(None, (tag.strip() for tag in tags.split(",")))))


def is_local_path(source: str) -> bool:
    """Check whether a source is the path of a file or directory on this machine."""
    is_other = source == STANDARD_INPUT or source.startswith(PREFIX) or is_remote(source)
    return not is_other and scheme_of(source) != "file" and parse_public_cache(source, {}) is None


def unique_names(names: Iterable[str]) -> list[str]:
    """Return names with a number after those that repeat.

    URLs that differ only in what is not shown have the same name.

    >>> unique_names(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    unique: dict[str, None] = {}
    for name in names:
        number, numbered = 1, name
        while numbered in unique:
            number += 1
            numbered = f"{name} ({number})"
        unique[numbered] = None
    return list(unique)


def absolute_path(source: str) -> str:
    """Return the absolute path of a source; `sample_data` is the sample in the installed package.

    Raises SourceError for a relative path in a directory that no longer exists, and for the name
    of a user with a NUL.
    """
    if source == SAMPLE:
        from spackscope import sample_data

        return os.path.abspath(sample_data.__path__[0])
    try:
        return os.path.abspath(os.path.expanduser(source))
    except (OSError, ValueError) as error:
        raise SourceError(f"the source {shown_url(source)} {reason(error)}") from None

"""Parse the name of a source: a path, a URL, `public:TAG`, `spack:NAME`, standard input."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping

from spackscope.model.core.errors import naming
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.redaction import shown_url
from spackscope.model.storage.base import is_remote, scheme_of

SAMPLE = "sample"
"""The name of the bundled sample, which is read where no source is given and no Spack is found.

The sample has pages of the public cache, and the index of another cache, with dependencies. A file
or directory of this name is read instead.
"""

STANDARD_INPUT = "-"
"""The name of standard input as a source."""

PREFIX = "spack:"
"""The start of a source that is a mirror of the user's Spack: `spack:NAME`."""

PUBLIC = "public"
"""The name of the public cache as a source, alone or with tags: `public:TAG1,TAG2`."""

SITE = "cache.spack.io"
"""The host of the site that shows the public cache, whose addresses are sources with a query."""

ALL_TAGS = "*"
"""The tag for all releases of a tag list and `develop`: `public:*`."""

TAG_LIST = "https://binaries.spack.io/cache_spack_io_index.json"
TAG_LIST_NAME = "cache_spack_io_index.json"
DEVELOP = "develop"
"""The tag of the public cache that changes every day, and keeps builds for two weeks only."""


class PublicCache(Frozen):
    """The URL or path of a tag list, and the tags to read; without tags, `default_tag` is read.

    `*` stands for all of `release_tags`, and `/HASH` for the first of these with the hash.
    """

    tag_list: str
    tags: tuple[str, ...] = ()


_RELEASE = r"(?a)v(\d{4})\.(\d{1,2})\.(\d{1,9})"


def default_tag(tags: Mapping[str, object], pinned: str = "") -> tuple[str, str]:
    """Return the tag to read where none is named, and why it is not the one that is expected.

    That is the newest release, or `develop` where there are no releases. If the packages of the
    user's Spack are pinned to a release, such as `v2026.06`, it is the newest tag of this release.
    A release without an index is left out: the writer of the list ignores some indexes.

    >>> default_tag({"v2025.11.0": ["…"], "v2025.11.1": ["…"], "v2026.06.0": ["…"]}, "v2025.11")
    ('v2025.11.1', '')
    >>> default_tag({"v2025.11.0": ["…"], "v2026.06.0": []})
    ('v2025.11.0', 'v2026.06.0 lists no index, so v2025.11.0 is read')
    """
    newest = _releases(tags)
    own = [tag for tag in newest if pinned and tag.startswith(f"{pinned}.")]
    if pinned and pinned in tags:
        own = [pinned]
    tag = next((tag for tag in (*own, *newest) if tags[tag]), DEVELOP)
    expected = next(iter(own or newest), tag)
    if pinned and not own:
        return tag, f"your Spack is pinned to {pinned}, which the list lacks, so {tag} is read"
    return tag, "" if tag == expected else f"{expected} lists no index, so {tag} is read"


def release_tags(tags: Mapping[str, object]) -> list[str]:
    """Return the releases that list an index, the newest first, and then `develop`.

    >>> release_tags({"develop": ["…"], "v2025.11.1": ["…"], "v2026.6.0": ["…"], "v2026.9.0": []})
    ['v2026.6.0', 'v2025.11.1', 'develop']
    """
    return [tag for tag in (*_releases(tags), DEVELOP) if tags.get(tag)]


def tags_below(folders: Iterable[str], tags: Iterable[str]) -> list[str]:
    """Return the tags in folders, in the order given: `e4s/25.06` is in `e4s`."""
    starts = tuple(f"{folder}/" for folder in folders)
    return [tag for tag in tags if tag.startswith(starts)]


def _releases(tags: Iterable[str]) -> list[str]:
    """Return the tags that are releases, the newest first."""
    releases = {
        tag: [*map(int, found.groups())] for tag in tags if (found := re.fullmatch(_RELEASE, tag))
    }
    return sorted(releases, key=releases.__getitem__, reverse=True)


def parse_public_cache(
    source: str, environ: Mapping[str, str], tag_list: str = ""
) -> PublicCache | None:
    """Return the tag list and the tags that a source names; None for any other source.

    Such sources are `public`, `public:TAG1,TAG2`, and the URL or path of a tag list, which may end
    in tags: `…/cache_spack_io_index.json#TAG1,TAG2`. `tag_list`, else the variable
    SPACKSCOPE_PUBLIC, names another tag list for `public`, such as a site's own copy.
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


def spack_argument(source: str) -> str:
    """Return a mirror as an argument of `spack buildcache` in a shell, without secrets.

    Spack takes a word without `/` for the name of a mirror.
    """
    is_path = is_local_path(source) and shown_url(source) == source
    name = absolute_path(source) if is_path else shown_url(source).removeprefix(PREFIX)
    import shlex

    return shlex.quote(name)


def unique_names(names: Iterable[str]) -> list[str]:
    """Return names with a number after those that repeat.

    URLs that differ only in a hidden part, such as a password, have the same name.

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


def tag_sources(source: str) -> list[str]:
    """Return a source for each tag of a source that names some tags of the public cache.

    >>> tag_sources("public:develop, v2026.06.0")
    ['public:develop', 'public:v2026.06.0']
    """
    name, _, tags = source.partition(":")
    return [f"{name}:{tag.strip()}" for tag in tags.split(",") if tag.strip() and name == PUBLIC]


def absolute_path(source: str) -> str:
    """Return the absolute path of a source; the sample is in the installed package.

    Raises SourceError for a relative path in a directory that no longer exists, and for the name
    of a user with a NUL.
    """
    if source == SAMPLE:
        from spackscope import sample_data

        return os.path.abspath(os.path.join(sample_data.__path__[0], "cache"))
    with naming(f"the source {shown_url(source)}"):
        return os.path.abspath(os.path.expanduser(source))


def path_or_url(source: str) -> str:
    """Return the path that a `file:` URL names, and any other source as it is.

    Raises SourceError for a file of another machine.
    """
    if scheme_of(source) != "file":
        return source
    from spackscope.model.storage.urls import local_path

    return local_path(source)


BUILD_CACHE = "build_cache/"
"""The folder of layout v2 in a mirror."""

INDEX_MANIFEST = "index.manifest.json"
_MANIFEST = r"(?:(?P<top>.*)/)?v3/manifests/index/(?:(?P<view>.+)/)?index\.manifest\.json"
_BUILD_CACHE = r"(?P<top>.*)/build_cache/?(?:index\.json)?"
_BLOB = r"(?:(?P<top>.*)/)?(?P<name>blobs/[a-z0-9]+/(?P<start>[0-9a-f]{2})/(?P=start)[0-9a-f]+)"
_ENDINGS = ("json", "lock", "sig", "yaml", "md", "gz", "zst")


class UrlTarget(Frozen):
    """The `top` of a mirror or folder, and the part of it that a URL or path names.

    `name` is one file, such as a blob of a mirror. `layout` is the layout of the mirror, or "" if
    the URL does not show it.
    """

    top: str
    name: str = ""
    view: str = ""
    layout: str = ""

    @property
    def layouts(self) -> tuple[str, ...]:
        """The layouts that the mirror may have, in the order in which Spack tries them.

        Views exist in v3 only.
        """
        if self.view:
            return ("v3",)
        return (self.layout,) if self.layout else ("v3", "v2")

    @property
    def checksum(self) -> str:
        """The sha256 that names a blob; "" where the target is not one."""
        match = re.fullmatch("blobs/sha256/[0-9a-f]{2}/([0-9a-f]{64})", self.name)
        return match[1] if match else ""


def parse_target(url: str) -> UrlTarget:
    """Parse the end of a URL or path; the query of a URL stays with the top.

    parse_target("https://h/m/v3/manifests/index/index.manifest.json").top  # https://h/m
    """
    path, mark, query = url.partition("?")
    query = mark + query
    server = ""
    if scheme_of(url):
        # A host may be named like a directory of a mirror.
        scheme, _, rest = path.partition("://")
        host, slash, path = rest.partition("/")
        server, path = f"{scheme}://{host}", slash + path
    # Storages take plain names, and encode them where they have to.
    plain: Callable[[str], str] = str
    if server:
        from spackscope.model.storage.urls import percent_decoded

        plain = percent_decoded
    top, slash, name = path.rpartition("/")
    if name == INDEX_MANIFEST and (match := re.fullmatch(_MANIFEST, path)):
        view = plain(match["view"] or "")
        return UrlTarget(server + (match["top"] or "") + query, view=view, layout="v3")
    if "/build_cache" in path and (match := re.fullmatch(_BUILD_CACHE, path)):
        return UrlTarget(server + match["top"] + query, layout="v2")
    if "blobs/" in path and (match := re.fullmatch(_BLOB, path)):
        return UrlTarget(server + (match["top"] or "") + query, match["name"], layout="v3")
    stem, _, ending = name.rpartition(".")
    if slash and stem and ending in _ENDINGS:
        return UrlTarget(server + top + query, plain(name))
    return UrlTarget(url)

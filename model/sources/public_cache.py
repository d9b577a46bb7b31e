"""The public cache: a tag list that names the indexes of each tag, one for each stack.

It is the file that cache.spack.io is made from: a mapping of tags to lists of `label` and `url`,
where the label `root` is the union of a tag and the others are stacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from spackscope.model.core.errors import NotFound, SourceError, Unreadable, reason
from spackscope.model.core.files import read_file
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Problem
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.tasks import run_parallel
from spackscope.model.readers.encoding import decode
from spackscope.model.readers.fields import storable
from spackscope.model.readers.json import parse
from spackscope.model.sources.document import DiscoveredSource, Documents, combine
from spackscope.model.sources.mirror import mirror_at, problem_from
from spackscope.model.sources.mirror_index import find_v2_index, find_v3_index
from spackscope.model.sources.mirror_layouts import discover_mirror
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import DEFAULT_TAG, TAG_LIST, PublicCache
from spackscope.model.sources.url_target import parse_target
from spackscope.model.storage.base import FetchedFile
from spackscope.model.storage.schemes import is_remote, scheme_of
from spackscope.model.storage.urls import MAX_URL_LENGTH, split_url

_BUCKET = "s3://spack-binaries/"
_MAX_SIZE = 2**26
"""Bytes of a tag list that are read."""


def discover_public_cache(source: str, public: PublicCache, session: Session) -> DiscoveredSource:
    """Find the indexes of the tags; each one that fails is a Problem.

    Raises SourceError where there is no tag list, no such tag or no index, and Cancelled.
    """
    if scheme_of(public.tag_list):
        split_url(public.tag_list)
    top, name = _split(public.tag_list)
    file = session.open(top).fetch(name, max_size=_MAX_SIZE, check=parse_tag_list)
    content = _read_tag_list(file)
    problems: list[Problem] = []
    tasks: list[Callable[[], DiscoveredSource]] = []
    for tag in public.tags or (DEFAULT_TAG,):
        for entry in _entries(content, tag, public.tag_list, file.origin):
            if isinstance(entry, Problem):
                problems.append(entry)
            else:
                tasks.append(partial(_discover_index, source, entry, session))
    list_itself = DiscoveredSource(
        source, "public cache", problems=tuple(problems), checked=file.checked, remark=file.remark
    )
    combined = combine([list_itself, *run_parallel(tasks, session.should_stop)])
    if not combined.documents:
        why = str(combined.problems[0]) if combined.problems else "it lists no index"
        raise SourceError(f"the source {source} has no index that can be read: {why}")
    return combined


class _Entry(Frozen):
    """One index of a tag list, and where it may be, in the order in which to look."""

    tag: str
    label: str
    urls: Sequence[str]


def _read_tag_list(file: FetchedFile) -> dict[str, Any]:
    try:
        return parse_tag_list(read_file(file.path, _MAX_SIZE))
    except (OSError, Unreadable) as error:
        raise SourceError(f"the tag list {file.origin} {reason(error)}") from None


def parse_tag_list(data: bytes) -> dict[str, Any]:
    """Parse a tag list: the indexes of each tag. Raises Unreadable."""
    content, _ = parse(decode(data), whole=True)
    if not isinstance(content, dict):
        raise Unreadable("not an object")
    if not any(isinstance(entries, list) for entries in content.values()):
        raise Unreadable("it has no tags")
    return content


def _entries(
    content: Mapping[str, Any], tag: str, tag_list: str, origin: str
) -> Iterator[_Entry | Problem]:
    """Yield the indexes of a tag. Raises SourceError where there is no such tag."""
    entries = content.get(tag)
    if not isinstance(entries, list):
        raise _unknown_tag(content, tag, origin)
    for number, entry in enumerate(entries, start=1):
        label = entry.get("label") if isinstance(entry, dict) else None
        url = entry.get("url") if isinstance(entry, dict) else None
        if type(label) is not str or type(url) is not str or not url:
            yield Problem(origin, storable(tag), f"entry {number} has no label and url")
            continue
        try:
            yield _Entry(tag, storable(label), _urls_of(url, tag_list))
        except SourceError as error:
            yield Problem(origin, storable(f"{tag} {label}"), storable(str(error)))


def _unknown_tag(content: Mapping[str, Any], tag: str, origin: str) -> SourceError:
    import difflib

    tags = [storable(key) for key, value in content.items() if isinstance(value, list)]
    tags.sort(reverse=True)
    if similar := difflib.get_close_matches(tag, tags, 3):
        hint = f"did you mean {' or '.join(similar)}?"
    else:
        hint = f"there are {', '.join(tags[:8])}" + (" and others" if len(tags) > 8 else "")
    return SourceError(f"the tag list {origin} has no tag {shown_url(tag)}: {hint}")


def _discover_index(source: str, entry: _Entry, session: Session) -> DiscoveredSource:
    """Find one index of the tag list, next to the list or where its entry says."""
    problem = Problem("", "", "")
    for url in dict.fromkeys(entry.urls):
        try:
            return _discover_at(source, url, entry, session)
        except SourceError as error:
            location = f"{entry.tag} {entry.label}"
            problem = replace(problem_from(error, shown_url(url)), place=location)
            if not isinstance(error, NotFound):
                break
    return DiscoveredSource(source, "public cache", problems=(problem,))


def _discover_at(source: str, url: str, entry: _Entry, session: Session) -> DiscoveredSource:
    target = parse_target(url)
    if target.name == "index.json":
        target = replace(target, name="", build_cache="", layout="v2")
    mirror = mirror_at(source, session.open(target.top), target, session)
    mirror = replace(mirror, tag=entry.tag, stack=entry.label)
    if target.layout:
        return find_v2_index(mirror) if target.layout == "v2" else find_v3_index(mirror)
    if not target.name:
        return discover_mirror(mirror)
    documents = Documents([mirror.document(mirror.fetch_document(target.name))])
    return DiscoveredSource(source, "public cache", documents=documents)


def _split(tag_list: str) -> tuple[str, str]:
    """Return the folder of a tag list, and its name there."""
    target = parse_target(tag_list)
    if target.name:
        return target.top, target.name
    path, mark, query = tag_list.partition("?")
    if scheme_of(tag_list) and "/" not in path.partition("://")[2]:
        return tag_list, ""
    top, slash, name = path.rpartition("/")
    return (top or slash or ".") + mark + query, name


def _urls_of(url: str, tag_list: str) -> list[str]:
    """Return where an entry of a tag list may be, in the order in which to look.

    A remote tag list may name URLs and files next to it. Raises SourceError for any other.
    """
    if len(url) > MAX_URL_LENGTH:
        raise SourceError(f"its URL is longer than {MAX_URL_LENGTH:,} characters")
    # In the bucket of the public cache only, an index can be read without an account at this URL.
    urls = [_next_to(tag_list, url), url.replace(_BUCKET, f"{TAG_LIST.rpartition('/')[0]}/", 1)]
    if is_remote(tag_list):
        if url.startswith(("/", "~")) or scheme_of(url) == "file":
            raise SourceError(f"a remote tag list cannot name local files: {shown_url(url)}")
        urls = [each for each in urls if scheme_of(each)]
    for each in urls:
        if scheme_of(each):
            split_url(each)
    return urls


def _next_to(tag_list: str, url: str) -> str:
    """Return where an index is if the tag list is a copy next to copies of the indexes."""
    top, _ = _split(tag_list)
    path, mark, query = top.partition("?")
    if url.startswith(_BUCKET):
        return f"{path}/{url.removeprefix(_BUCKET)}{mark}{query}"
    return url if scheme_of(url) else f"{path}/{url}{mark}{query}"

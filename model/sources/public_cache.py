"""The public cache: a catalogue that names the indexes of each tag, one for each stack.

It is the catalogue that cache.spack.io is made from: a mapping of tags to lists of `label` and
`url`, where the label `root` is the union of a tag and the others are stacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from spackscope.model.core.bounded_files import read_file
from spackscope.model.core.errors import (
    NotFound,
    SourceError,
    Unreadable,
    reason,
)
from spackscope.model.core.parallel import run_parallel
from spackscope.model.core.records import Problem
from spackscope.model.readers.encoding import decode
from spackscope.model.readers.fields import storable
from spackscope.model.readers.json import parse
from spackscope.model.sources.document import (
    DiscoveredSource,
)
from spackscope.model.sources.mirror import discover_mirror
from spackscope.model.sources.mirror_files import Mirror, problem_of, together
from spackscope.model.sources.mirror_index import index_of_v2, index_of_v3
from spackscope.model.sources.public_cache_name import CATALOGUE, DEFAULT_TAG, Asked
from spackscope.model.sources.session import Session
from spackscope.model.sources.url_target import addressed
from spackscope.model.storage.base import FetchedFile
from spackscope.model.storage.urls import LONGEST, is_remote, scheme_of, shown_url, split_url

_BUCKET = "s3://spack-binaries/"
LARGEST = 2**26
"""Bytes of a catalogue that are read."""


def discover_public_cache(source: str, asked: Asked, session: Session) -> DiscoveredSource:
    """Find the indexes of the tags that are asked for; one that fails is a Problem.

    Raises SourceError where there is no catalogue, no such tag or no index, and Cancelled.
    """
    if scheme_of(asked.catalogue):
        split_url(asked.catalogue)
    at, name = _split(asked.catalogue)
    fetched = session.open(at).fetch(name, max_size=LARGEST)
    catalogue = _catalogue(fetched)
    looks: list[Callable[[], DiscoveredSource]] = []
    problems: list[Problem] = []
    for tag in asked.tags or (DEFAULT_TAG,):
        for number, entry in enumerate(_entries(catalogue, tag, fetched.origin), start=1):
            label = entry.get("label") if isinstance(entry, dict) else None
            url = entry.get("url") if isinstance(entry, dict) else None
            if type(label) is str and type(url) is str and url:
                try:
                    tops = _tops(asked.catalogue, url)
                except SourceError as error:
                    place = storable(f"{tag} {label}")
                    problems.append(Problem(fetched.origin, place, storable(str(error))))
                    continue
                looks.append(partial(_look, source, tag, storable(label), tops, session))
            else:
                reason = f"its entry {number} has no label and url"
                problems.append(Problem(fetched.origin, storable(tag), reason))
    found = run_parallel(looks, session.should_stop)
    found.append(DiscoveredSource(source, "public cache", problems=tuple(problems)))
    whole = together(found)
    if not whole.documents:
        why = str(whole.problems[0]) if whole.problems else "it lists no index"
        raise SourceError(f"the source {source} holds no index that can be read: {why}")
    checked = [time for time in (whole.checked, fetched.checked) if time is not None]
    remark = "; ".join(dict.fromkeys(filter(None, (fetched.remark, whole.remark))))
    return replace(whole, kind="public cache", checked=min(checked, default=None), remark=remark)


def _look(
    source: str, tag: str, label: str, tops: Sequence[str], session: Session
) -> DiscoveredSource:
    """Find one index of the catalogue, beside the catalogue or where it says that it is."""
    problem = Problem("", "", "")
    for top in dict.fromkeys(tops):
        at = addressed(top)
        is_index = at.name == "index.json"
        try:
            mirror = Mirror(
                source,
                session.open(at.top),
                session.environ,
                view=at.view,
                build_cache="" if is_index else at.build_cache,
                should_stop=session.should_stop,
                tag=tag,
                stack=label,
            )
            if at.layout == "v2" or is_index:
                return index_of_v2(mirror)
            if at.layout == "v3":
                return index_of_v3(mirror)
            if not at.name:
                return discover_mirror(mirror)
            documents = (mirror.document(mirror.place.fetch(at.name)),)
            return DiscoveredSource(source, "public cache", documents=documents)
        except SourceError as error:
            problem = replace(problem_of(error, shown_url(top)), place=f"{tag} {label}")
            if not isinstance(error, NotFound):
                break
    return DiscoveredSource(source, "public cache", problems=(problem,))


def _catalogue(fetched: FetchedFile) -> dict[str, Any]:
    try:
        document, _ = parse(decode(read_file(fetched.path, LARGEST)))
    except (OSError, Unreadable) as error:
        why = reason(error) if isinstance(error, OSError) else f"cannot be read: {error}"
        raise SourceError(f"the catalogue {fetched.origin} {why}") from None
    if not isinstance(document, dict):
        raise SourceError(f"the catalogue {fetched.origin} cannot be read: it is no mapping")
    return document


def _entries(catalogue: Mapping[str, Any], tag: str, origin: str) -> list[Any]:
    entries = catalogue.get(tag)
    if isinstance(entries, list):
        return entries
    known = sorted(map(storable, catalogue), reverse=True)
    import difflib

    near = difflib.get_close_matches(tag, known, 3)
    if near:
        told = f"perhaps {' or '.join(near)}"
    else:
        told = f"there are {', '.join(known[:8])}" + (" and others" if len(known) > 8 else "")
    raise SourceError(f"the catalogue {origin} has no tag {shown_url(tag)}: {told}")


def _split(catalogue: str) -> tuple[str, str]:
    """Tell the place of a catalogue and its name there."""
    at = addressed(catalogue)
    if at.name:
        return at.top, at.name
    path, mark, query = catalogue.partition("?")
    if scheme_of(catalogue) and "/" not in path.partition("://")[2]:
        return catalogue, ""
    top, slash, name = path.rpartition("/")
    return (top or slash or ".") + mark + query, name


def _tops(catalogue: str, url: str) -> list[str]:
    """Return where an entry of a catalogue may be, in the order in which to look.

    A remote catalogue names URLs and files beside it. Raises SourceError where it names another.
    """
    if len(url) > LONGEST:
        raise SourceError(f"its URL is longer than {LONGEST:,} characters")
    tops = [_beside(catalogue, url), _at_home(url)]
    if is_remote(catalogue):
        if url.startswith(("/", "~")) or scheme_of(url) == "file":
            shown = shown_url(url)
            raise SourceError(f"a remote catalogue cannot name files of this machine: {shown}")
        tops = [top for top in tops if scheme_of(top)]
    for top in tops:
        if scheme_of(top):
            split_url(top)
    return tops


def _beside(catalogue: str, url: str) -> str:
    """Give where an index is if the catalogue is a copy that lies beside copies of the indexes."""
    top, _ = _split(catalogue)
    path, mark, query = top.partition("?")
    if url.startswith(_BUCKET):
        return f"{path}/{url.removeprefix(_BUCKET)}{mark}{query}"
    return url if scheme_of(url) else f"{path}/{url}{mark}{query}"


def _at_home(url: str) -> str:
    """Give where an index of the public cache can be read without an account."""
    return url.replace(_BUCKET, f"{CATALOGUE.rpartition('/')[0]}/", 1)

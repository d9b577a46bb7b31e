"""Find the indexes of a mirror, of layout v3 and of layout v2, and hold them against checksums.

Layouts as in `URLBuildcacheEntry` of lib/spack/spack/url_buildcache.py.
"""

from __future__ import annotations

import re
from dataclasses import replace

from spackscope.model.core.errors import (
    NotFound,
    SourceError,
    Unreadable,
    WrongContent,
)
from spackscope.model.core.records import Problem
from spackscope.model.readers.manifest import DATABASE, MAX_MANIFEST_SIZE, Blob, read_manifest
from spackscope.model.sources.document import (
    DiscoveredSource,
)
from spackscope.model.sources.mirror_files import Mirror, problem_of, together
from spackscope.model.sources.mirror_spec_files import sizes_of
from spackscope.model.sources.verified_index import KnownGood
from spackscope.model.storage.base import FetchedFile
from spackscope.model.storage.local import LocalFolder

_INDEXES = "v3/manifests/index"
_MANIFEST = "index.manifest.json"
_LARGEST_HASH = 1024
_HASH = re.compile(r"[0-9a-fA-F]{64}")


def index_of_v3(mirror: Mirror) -> DiscoveredSource:
    """Find the index of layout v3, or its views where it has only these.

    Raises NotFound where there is none, and SourceError where the index is not what its manifest
    says, nor an older one at hand.
    """
    view = f"{mirror.view}/" if mirror.view else ""
    try:
        found = [_index_by_manifest(mirror, f"{_INDEXES}/{view}{_MANIFEST}")]
    except NotFound:
        found = [] if view else [_index_by_manifest(mirror, name) for name in _views(mirror)]
        if not found:
            raise
    discovered = together(found)
    if mirror.is_here:
        discovered = replace(discovered, documents=(*discovered.documents, *sizes_of(mirror)))
    return discovered


def _views(mirror: Mirror) -> list[str]:
    try:
        names = list(mirror.place.names(_INDEXES))
    except SourceError:
        return []
    return [name for name in names if name.endswith(f"/{_MANIFEST}")]


def _index_by_manifest(mirror: Mirror, name: str) -> DiscoveredSource:
    """Find the index that a manifest names. Raises NotFound where there is no manifest."""
    good = _known_good(mirror, name)
    try:
        fetched, blob = _manifest(mirror, name)
    except WrongContent as error:
        older = _older(mirror, good, str(error))
        if older is None:
            raise
        documents = (mirror.document(older),)
        return DiscoveredSource(
            mirror.source, "mirror", "v3", documents, (), older.checked, older.remark
        )
    try:
        index = _blob(mirror, blob, good)
    except SourceError as error:
        # The index may have been replaced between two requests.
        again, newer = _manifest(mirror, name)
        try:
            if newer == blob:
                raise error
            index = _blob(mirror, newer, good)
            fetched = again
        except SourceError as failure:
            older = _older(mirror, good, str(failure))
            if older is None:
                raise
            index = older
    remark = "; ".join(dict.fromkeys(filter(None, (fetched.remark, index.remark))))
    checked = index.checked if index.remark else fetched.checked
    documents = (mirror.document(index),)
    return DiscoveredSource(mirror.source, "mirror", "v3", documents, (), checked, remark)


def _manifest(mirror: Mirror, name: str) -> tuple[FetchedFile, Blob]:
    fetched = mirror.place.fetch(name, max_size=MAX_MANIFEST_SIZE)
    try:
        return fetched, read_manifest(mirror.read(fetched)).blob(DATABASE)
    except Unreadable as error:
        raise WrongContent(f"{fetched.origin}: {error}") from None


def _blob(mirror: Mirror, blob: Blob, good: KnownGood) -> FetchedFile:
    try:
        if mirror.is_here and good.is_still(
            blob.checksum, fetched := mirror.place.fetch(blob.name)
        ):
            return fetched
        fetched = mirror.place.fetch(blob.name, sha256=blob.checksum, immutable=True)
    except NotFound as error:
        raise SourceError(f"{error}, though the manifest of the mirror names it") from None
    good.remember(blob.checksum, fetched.path)
    return fetched


def _older(mirror: Mirror, good: KnownGood, why: str) -> FetchedFile | None:
    """Give the last index of a mirror far away that was good, if its copy is still there."""
    known = good.recall()
    if mirror.is_here or known is None:
        return None
    blob = Blob(DATABASE, known.checksum)
    try:
        fetched = mirror.place.fetch(blob.name, sha256=known.checksum, immutable=True)
    except SourceError:
        return None
    when = known.state[1] / 1e9
    return replace(fetched, checked=when, remark=f"{why}; the index of before serves")


def index_of_v2(mirror: Mirror) -> DiscoveredSource:
    """Find the index of layout v2, whose sha256 stands in a file beside it.

    An index that does not fit is asked for anew, since the two may be replaced one after the
    other, and then taken as it is, as Spack does, with a Problem. Raises NotFound, SourceError.
    """
    name = f"{mirror.build_cache}index.json"
    problems: tuple[Problem, ...] = ()
    noted, sha256 = _noted(mirror, name)
    if noted is not None and not sha256:
        problems = (Problem(noted.origin, "", "it is no sha256 in 64 hexadecimal digits"),)
    try:
        index = _index_with(mirror, name, sha256)
    except WrongContent:
        noted, sha256 = _noted(mirror, name)
        try:
            index = _index_with(mirror, name, sha256)
        except WrongContent as error:
            index = mirror.place.fetch(name)
            problem = problem_of(error, index.origin)
            problems = (replace(problem, reason=f"{problem.reason}; it is read all the same"),)
    if mirror.read(index, 64).lstrip()[:1] == b"<":
        raise WrongContent(f"{index.origin} is a web page, and should be an index")
    remarks = (noted.remark if noted else "", index.remark)
    remark = "; ".join(dict.fromkeys(filter(None, remarks)))
    checked = noted.checked if noted is not None and not index.remark else index.checked
    documents = (mirror.document(index),)
    return DiscoveredSource(mirror.source, "mirror", "v2", documents, problems, checked, remark)


def _noted(mirror: Mirror, name: str) -> tuple[FetchedFile | None, str]:
    """Give the file that notes the sha256 of the index, and the sha256."""
    try:
        noted = mirror.place.fetch(f"{name}.hash", max_size=_LARGEST_HASH)
    except SourceError:
        # Spack asks for the index itself then, and so finds out what is wrong.
        return None, ""
    text = mirror.read(noted).decode("ascii", "replace").strip()
    return noted, text.lower() if _HASH.fullmatch(text) else ""


def _index_with(mirror: Mirror, name: str, sha256: str) -> FetchedFile:
    if not sha256:
        return mirror.place.fetch(name)
    good = _known_good(mirror, name)
    if mirror.is_here and good.is_still(sha256, fetched := mirror.place.fetch(name)):
        return fetched
    fetched = mirror.place.fetch(name, sha256=sha256, immutable=True)
    good.remember(sha256, fetched.path)
    return fetched


def _known_good(mirror: Mirror, name: str) -> KnownGood:
    at = mirror.place.top if isinstance(mirror.place, LocalFolder) else mirror.place.origin
    return KnownGood(mirror.environ, f"{at}\0{name}")

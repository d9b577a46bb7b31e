"""Tell by what lies in a directory what it is to Spack: an install tree, a mirror, and so on.

The names are those of lib/spack/spack/database.py, environment/environment.py and
url_buildcache.py.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from spackscope.model.core.errors import (
    Cancelled,
    SourceError,
    reason,
)
from spackscope.model.core.records import (
    Problem,
)
from spackscope.model.sources.document import (
    DiscoveredSource,
    Document,
    document_of,
)
from spackscope.model.sources.mirror import discover_mirror
from spackscope.model.sources.mirror_files import BUILD_CACHE, Mirror, together
from spackscope.model.sources.resolve import has_database
from spackscope.model.sources.session import Session
from spackscope.model.sources.sniff import sniffed
from spackscope.model.sources.spack_config.config import spack_of
from spackscope.model.sources.walk import below, shown_top
from spackscope.model.storage.local import LocalFolder

DATABASE = ".spack-db"
LOCK = "spack.lock"
_MARKS = frozenset({DATABASE, LOCK, "spack.yaml", "v3", "build_cache", "bin"})
_SPEC_FILES = (".spec.json.sig", ".spec.json", ".spec.yaml")
_PAGE = "specs.md"


@dataclass(frozen=True, slots=True)
class _Look:
    """Hold which source is looked at, and with what."""

    source: str
    session: Session


def discover_directory(
    source: str, top: str, session: Session, *, named: str | None = None
) -> DiscoveredSource:
    """List the documents of a directory, and of those below it that Spack made.

    `named` is what the user is told of it, where that is not the source.
    Raises SourceError where there is nothing to be read, and Cancelled.
    """
    look = _Look(source, session)
    named = shown_top(source) if named is None else named
    try:
        names = os.listdir(top)
        status = os.stat(top)
    except OSError as error:
        raise SourceError(f"the source {source} {reason(error)}") from None
    own = os.path.basename(top)
    if own in (DATABASE, ".spack-env", "v3") and not _MARKS & set(names):
        top = os.path.dirname(top)
        named = os.path.dirname(named) if named else top
        names = os.listdir(top)
    if own == "build_cache" and _holds_build_cache(top):
        return discover_mirror(_mirror(look, top, named, ""))
    if (known := _known(look, top, named, names)) is not None:
        return known()
    found: list[DiscoveredSource] = []

    told = _Telling(look)

    def enter(directory: str, entries: Sequence[os.DirEntry[str]]) -> bool:
        told.tell()
        here = [entry.name for entry in entries]
        if _MARKS.isdisjoint(here):
            return True
        shown = os.path.join(named, os.path.relpath(directory, top))
        if (known := _known(look, directory, shown, here)) is None:
            return True
        try:
            found.append(known())
        except SourceError as error:
            found.append(DiscoveredSource(source, "", problems=(Problem(shown, "", str(error)),)))
        return False

    loose = told.of(below(source, top, status, enter, named=named))
    found[:0] = _by_kind(source, loose)
    if not any(each.documents for each in found):
        problems = [problem for each in found for problem in each.problems]
        why = f"cannot be read: {problems[0].reason}" if problems else "holds no file"
        raise SourceError(f"the source {source} {why}")
    kinds = {each.kind for each in found if each.kind}
    return replace(together(found), kind=kinds.pop() if len(kinds) == 1 else "directory")


class _Telling:
    """Tell how many files were found, and ask whether to stop, also where there are none."""

    def __init__(self, look: _Look) -> None:
        self._session = look.session
        self._documents: list[Document] = []
        self._last = time.monotonic()

    def of(self, found: Iterator[Document]) -> list[Document]:
        """Take what is found. Raises Cancelled."""
        for document in found:
            if len(self._documents) % 256 == 0:
                self.tell()
            self._documents.append(sniffed(document))
        return self._documents

    def tell(self) -> None:
        """Tell how far it is, ten times a second. Raises Cancelled."""
        if self._session.should_stop():
            raise Cancelled
        if time.monotonic() - self._last > 0.1:
            self._session.on_progress("files found", len(self._documents), None)
            self._last = time.monotonic()


def _by_kind(source: str, documents: list[Document]) -> list[DiscoveredSource]:
    """Tell pages from what Spack wrote; other files may be pages under any name."""
    pages = [document for document in documents if document.kind == "found"]
    cached = [document for document in documents if document.kind != "found" and document.cached]
    others = [
        document for document in documents if document.kind != "found" and not document.cached
    ]
    is_clutter = len(pages) < len(documents) and not any(
        os.path.basename(document.path) == _PAGE for document in pages
    )
    parts = [
        DiscoveredSource(source, "" if is_clutter else "pages", documents=tuple(pages)),
        DiscoveredSource(source, "mirror", "spec files", tuple(cached)),
        DiscoveredSource(source, "file", documents=tuple(others)),
    ]
    return [part for part in parts if part.documents]


def _known(
    look: _Look, directory: str, named: str, names: Collection[str]
) -> Callable[[], DiscoveredSource] | None:
    """Tell how a directory is read that Spack made; None where Spack did not."""
    if DATABASE in names:
        return lambda: _install_tree(look, directory, named)
    if LOCK in names:
        return lambda: _file(look, directory, named, "environment", LOCK)
    if ("v3" in names and _holds_v3(directory)) or (
        "build_cache" in names and _holds_build_cache(os.path.join(directory, "build_cache"))
    ):
        return lambda: discover_mirror(_mirror(look, directory, named))
    if "bin" in names and is_spack(directory):
        return lambda: _spack(look, directory)
    if "spack.yaml" in names:
        return lambda: _not_concretized(named or directory)
    return None


def is_spack(directory: str) -> bool:
    """Tell the root of a Spack."""
    return os.path.isfile(os.path.join(directory, "bin", "spack")) and os.path.isdir(
        os.path.join(directory, "lib", "spack", "spack")
    )


def _holds_v3(directory: str) -> bool:
    return os.path.isfile(os.path.join(directory, "v3", "layout.json")) or os.path.isdir(
        os.path.join(directory, "v3", "manifests")
    )


def _holds_build_cache(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return any(
                entry.name == "index.json" or entry.name.endswith(_SPEC_FILES) for entry in entries
            )
    except OSError:
        return False


def _mirror(look: _Look, directory: str, named: str, build_cache: str = BUILD_CACHE) -> Mirror:
    place = LocalFolder(directory, named)
    return Mirror(
        look.source,
        place,
        look.session.environ,
        build_cache=build_cache,
        should_stop=look.session.should_stop,
    )


def _install_tree(look: _Look, directory: str, named: str) -> DiscoveredSource:
    try:
        return _file(look, directory, named, "install tree", f"{DATABASE}/index.json")
    except SourceError as error:
        raise SourceError(f"the database of the install tree {error}") from None


def _file(look: _Look, directory: str, named: str, kind: str, name: str) -> DiscoveredSource:
    path, origin = os.path.join(directory, name), os.path.join(named, name)
    try:
        status = os.stat(path)
    except OSError as error:
        raise SourceError(f"{origin} {reason(error)}") from None
    if not stat.S_ISREG(status.st_mode):
        raise SourceError(f"{origin} cannot be read: it is no file")
    document = document_of(look.source, path, origin, status, kind="asked for")
    return DiscoveredSource(look.source, kind, documents=(document,))


def _spack(look: _Look, directory: str) -> DiscoveredSource:
    """Find the databases of the install trees that a Spack is configured to use."""
    spack = spack_of({**look.session.environ, "SPACK_ROOT": directory, "SPACK_ENV": ""})
    trees = spack.trees if spack is not None else ()
    found = [_install_tree(look, tree, tree) for tree in trees if has_database(tree)]
    if not found:
        tried = " or ".join(trees) or directory
        raise SourceError(f"the Spack in {directory} has no database of installs in {tried}")
    problems = spack.problems if spack is not None else ()
    return replace(together(found), problems=problems)


def _not_concretized(named: str) -> DiscoveredSource:
    raise SourceError(
        f"the environment {named} is not concretized: it has no {LOCK};"
        f" `spack -e {named} concretize` makes one"
    )

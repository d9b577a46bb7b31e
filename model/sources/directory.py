"""Recognise what a directory is to Spack: an install tree, an environment, a mirror, and so on.

The names are those of lib/spack/spack/database.py, environment/environment.py and
url_buildcache.py.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import zlib
from collections.abc import Collection, Iterable
from itertools import compress

from spackscope.model.core.errors import SourceError, reason
from spackscope.model.core.files import read_head
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Problem
from spackscope.model.sources.document import (
    DiscoveredSource,
    Document,
    Documents,
    combine,
    document_at,
    document_of,
)
from spackscope.model.sources.file_list import FileList
from spackscope.model.sources.resolve import DATABASE, has_database
from spackscope.model.sources.session import Session
from spackscope.model.sources.url_target import BUILD_CACHE
from spackscope.model.sources.walk import LeftOut, Walk

_DATABASE_FOLDER = ".spack-db"
_LOCK = "spack.lock"
_MARKERS = frozenset({_DATABASE_FOLDER, _LOCK, "spack.yaml", "v3", "build_cache", "bin"})
_SPEC_FILES = (".spec.json.sig", ".spec.json", ".spec.yaml")
_PAGE = "specs.md"
_PROGRESS_SECONDS = 0.1
_ENDINGS = (".json", ".lock", ".sig", ".yaml", ".gz", ".zst")
_START = re.compile(
    rb"""\s*\{\s*"(database|_meta|roots|concrete_specs|spec)"\s*:"""
    rb"""|(-----BEGIN\ PGP\ SIGNED\ MESSAGE-----)"""
    rb"""|(?:---[ \t]*\r?\n)?(?:spec|binary_cache_checksum|buildinfo):[ \t]*\r?\n""",
    re.VERBOSE,
)
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_HEAD_SIZE = 512


def discover_directory(
    source: str, top: str, session: Session, *, origin: str | None = None
) -> DiscoveredSource:
    """Discover the documents of a directory, and of all directories below it that Spack made.

    `origin` is what the user is shown for it, where that is not the source. Raises SourceError
    where there is nothing to read, and Cancelled.
    """
    if origin is None:
        # Without what a path does not need.
        parts = [part for part in source.split("/") if part not in ("", ".")]
        origin = ("/" if source.startswith("/") else "") + "/".join(parts)
    try:
        names = os.listdir(top)
        status = os.stat(top)
    except OSError as error:
        raise SourceError(f"the source {source} {reason(error)}") from None
    search = _Search(source, session)
    top_name = os.path.basename(top)
    if top_name == "build_cache" and _has_spec_files(top):
        return search.mirror(top, origin, build_cache="")
    if top_name in (_DATABASE_FOLDER, ".spack-env", "v3") and _MARKERS.isdisjoint(names):
        parent, names = os.path.dirname(top), [top_name]
        with contextlib.suppress(OSError):
            names = os.listdir(parent)
        directory = search.made_by_spack(parent, os.path.dirname(origin), names)
    else:
        directory = search.made_by_spack(top, origin, names)
    return search.below(top, origin, status) if directory is None else directory


class _Search:
    """The search for documents of one source in directories."""

    def __init__(self, source: str, session: Session) -> None:
        self.source, self.session = source, session
        self._count = 0
        self._last_progress = time.monotonic()

    def below(self, top: str, origin: str, status: os.stat_result) -> DiscoveredSource:
        """Discover everything below a directory that Spack did not make itself."""
        parts: list[DiscoveredSource] = []

        def enter(directory: str, names: Collection[str]) -> bool:
            self._report()
            shown = os.path.join(origin, os.path.relpath(directory, top))
            try:
                part = self.made_by_spack(directory, shown, names)
            except SourceError as error:
                problem = Problem(shown, "", str(error))
                part = DiscoveredSource(self.source, "", problems=(problem,))
            if part is not None:
                parts.append(part)
            return part is None

        walk = Walk(top, status, _MARKERS, enter, self.session.should_stop)
        parts[:0] = self._loose(walk, FileList(top, origin))
        if not any(part.documents for part in parts):
            problems = [problem for part in parts for problem in part.problems]
            why = f"cannot be read: {problems[0].reason}" if problems else "contains no files"
            raise SourceError(f"the source {self.source} {why}")
        kinds = {part.kind for part in parts if part.kind}
        return replace(combine(parts), kind=kinds.pop() if len(kinds) == 1 else "directory")

    def _loose(self, walk: Walk, files: FileList) -> list[DiscoveredSource]:
        """Separate what Spack wrote from other files, which may be pages under any name."""
        known: list[Document] = []
        for found in walk.found():
            self._report()
            if isinstance(found, LeftOut):
                files.add_unreadable(found.path, found.reason)
                continue
            paths, statuses = found.paths, found.statuses
            self._count += len(paths)
            odd = [index for index, path in enumerate(paths) if path.endswith(_ENDINGS)]
            taken = self._sniff([(paths[index], statuses[index]) for index in odd], files)
            if taken:
                known += taken.values()
                left = [path not in taken for path in paths]
                paths, statuses = list(compress(paths, left)), list(compress(statuses, left))
            files.add(paths, statuses)
        has_page = not known or any(os.path.basename(path) == _PAGE for path, *_ in files)
        spec_files = Documents(document for document in known if document.cached)
        others = Documents(document for document in known if not document.cached)
        parts = [
            DiscoveredSource(
                self.source,
                "pages" if has_page else "",
                documents=Documents((), files, self.source),
            ),
            DiscoveredSource(self.source, "mirror", "spec files", spec_files),
            DiscoveredSource(self.source, "file", documents=others),
        ]
        return [part for part in parts if part.documents]

    def _sniff(
        self, found: Iterable[tuple[str, os.stat_result]], files: FileList
    ) -> dict[str, Document]:
        """Return the documents of databases, locks and spec files among some files."""
        taken = {}
        for path, status in found:
            self._report()
            document = _sniff(document_of(self.source, path, files.origin_of(path), status))
            if document.kind == "known":
                taken[path] = document
        return taken

    def _report(self) -> None:
        """Report progress, ten times a second. Raises Cancelled."""
        self.session.check_cancelled()
        if time.monotonic() - self._last_progress > _PROGRESS_SECONDS:
            self.session.on_progress("files found", self._count, None)
            self._last_progress = time.monotonic()

    def made_by_spack(
        self, directory: str, origin: str, names: Collection[str]
    ) -> DiscoveredSource | None:
        """Discover a directory that Spack made; None for any other. Raises SourceError."""
        if _DATABASE_FOLDER in names:
            return self._install_tree(directory, origin)
        if _LOCK in names:
            return self._file(directory, origin, "environment", _LOCK)
        if ("v3" in names and _has_v3_layout(directory)) or (
            "build_cache" in names and _has_spec_files(os.path.join(directory, "build_cache"))
        ):
            return self.mirror(directory, origin)
        if "bin" in names and _is_spack(directory):
            return self._install_trees_of(directory)
        if "spack.yaml" in names:
            name = origin or directory
            raise SourceError(
                f"the environment {name} is not concretized: it has no {_LOCK};"
                f" create one with `spack -e {name} concretize`"
            )
        return None

    def mirror(
        self, directory: str, origin: str, build_cache: str = BUILD_CACHE
    ) -> DiscoveredSource:
        """Discover a mirror, or a `build_cache` folder. Raises SourceError."""
        from spackscope.model.sources.mirror import Mirror
        from spackscope.model.sources.mirror_layouts import discover_mirror
        from spackscope.model.storage.local import LocalFolder

        folder = LocalFolder(directory, origin)
        return discover_mirror(Mirror(self.source, folder, self.session, build_cache=build_cache))

    def _install_tree(self, directory: str, origin: str) -> DiscoveredSource:
        try:
            return self._file(directory, origin, "install tree", DATABASE)
        except SourceError as error:
            raise SourceError(f"the database of the install tree {error}") from None

    def _file(self, directory: str, origin: str, kind: str, name: str) -> DiscoveredSource:
        path = os.path.join(directory, name)
        document = document_at(self.source, path, os.path.join(origin, name))
        if not os.path.isfile(path):
            raise SourceError(f"{document.origin} cannot be read: not a regular file")
        return DiscoveredSource(self.source, kind, documents=Documents([document]))

    def _install_trees_of(self, spack_root: str) -> DiscoveredSource:
        """Discover the install trees that a Spack is configured to use."""
        from spackscope.model.sources.spack_config.config import read_spack_config

        environ = {**self.session.environ, "SPACK_ROOT": spack_root, "SPACK_ENV": ""}
        config = read_spack_config(environ)
        trees = config.trees if config is not None else ()
        parts = [self._install_tree(tree, tree) for tree in trees if has_database(tree)]
        if not parts:
            tried = " or ".join(trees) or spack_root
            raise SourceError(f"the Spack in {spack_root} has no install database in {tried}")
        return replace(combine(parts), problems=config.problems if config is not None else ())


def _is_spack(directory: str) -> bool:
    """Check whether a directory is the root of a Spack."""
    return os.path.isfile(os.path.join(directory, "bin", "spack")) and os.path.isdir(
        os.path.join(directory, "lib", "spack", "spack")
    )


def _has_v3_layout(directory: str) -> bool:
    return os.path.isfile(os.path.join(directory, "v3", "layout.json")) or os.path.isdir(
        os.path.join(directory, "v3", "manifests")
    )


def _has_spec_files(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return any(
                entry.name == "index.json" or entry.name.endswith(_SPEC_FILES) for entry in entries
            )
    except OSError:
        return False


def _sniff(document: Document) -> Document:
    """Return a file of a directory as a known document, if it is a database, lock or spec file.

    Only files with an ending of these are opened. A spec file is in a build cache.
    """
    try:
        head = read_head(document.path, _HEAD_SIZE)
        if head.startswith(_GZIP):
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD_SIZE)
    except (OSError, zlib.error):
        return document
    if head.startswith(_ZSTD):
        return replace(document, kind="known")
    start = _START.match(head)
    if start is None:
        return document
    return replace(document, kind="known", cached=(start[1] or b"spec") == b"spec")

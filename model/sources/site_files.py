"""Find the data of cache.spack.io, which `model/readers/site.py` reads: two files side by side.

`data.py` of github.com/spack/spack-cache writes them into the folder `_data` of its checkout,
`build.py` copies them to `_build/api`, and the site has them in `api`.
"""

from __future__ import annotations

import contextlib
import os

from spackscope.model.core.errors import NotFound, SourceError
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Problem
from spackscope.model.readers.formats import check_document
from spackscope.model.sources.document import (
    DiscoveredSource,
    Document,
    Documents,
    document_at,
    join_remarks,
)
from spackscope.model.sources.source_name import SITE_FOLDERS
from spackscope.model.storage.base import FetchedFile, LocalFolder, Storage, Wanted

API = "api"
"""The folder of the site that has the two files."""

_FOLDERS = ("", *SITE_FOLDERS)
_STEMS = ("specs_data", "package_data")
_ENDINGS = (".json.gz", ".json")
SPECS_DATA = f"{_STEMS[0]}{_ENDINGS[0]}"


def discover_site(source: str, storage: Storage, name: str) -> DiscoveredSource:
    """Discover the two files by the name of one; a missing file is left out.

    Raises NotFound where both are missing, other SourceErrors and Cancelled.
    """
    ending = name.partition(".")[2]
    files: dict[str, FetchedFile] = {}
    problems = list[Problem]()
    missing: NotFound | None = None
    for stem in _STEMS:
        try:
            files[stem] = storage.fetch(Wanted(f"{stem}.{ending}", check=check_document))
        except NotFound as error:
            missing = missing or error
        except SourceError as error:
            if stem == _STEMS[0]:
                raise
            problems.append(Problem("", "", str(error)))
    if missing is not None and not files:
        raise missing
    documents = [document_at(source, file.path, file.origin) for file in files.values()]
    document: Document = replace(documents[0], packages=next(iter(documents[1:]), None))
    return DiscoveredSource(
        source,
        "site",
        documents=Documents([document]),
        problems=tuple(problems),
        checked=min((f.checked for f in files.values() if f.checked is not None), default=None),
        remark=join_remarks(file.remark for file in files.values()),
    )


def discover_site_folder(source: str, directory: str, origin: str) -> DiscoveredSource | None:
    """Discover the data of the site in a directory, or in a folder of a checkout of it."""
    for folder in _FOLDERS:
        storage = LocalFolder(os.path.join(directory, folder), os.path.join(origin, folder))
        for ending in _ENDINGS:
            with contextlib.suppress(NotFound):
                return discover_site(source, storage, f"{_STEMS[0]}{ending}")
    return None

"""Read which extensions the configuration of a Spack lists, as lib/spack/spack/extensions.py."""

from __future__ import annotations

import os
from collections.abc import Mapping

from spackscope.model.core.frozen import Frozen
from spackscope.model.sources.spack_config.paths import Paths, find_spack_root
from spackscope.model.sources.spack_config.scopes import Scopes


class ListedExtension(Frozen):
    """An entry of config:extensions.

    `written` is its text in the configuration, `path` the absolute path that it stands for, and
    `directory` that of the scope. `is_own` is True in the scope of the user.
    """

    written: str
    path: str
    directory: str
    is_own: bool


def listed_extensions(environ: Mapping[str, str], name: str) -> list[ListedExtension]:
    """Return the entries for directories of this name, those of the highest scope first.

    The scope of an active environment is not read.
    """
    paths = Paths(find_spack_root(environ), {**environ, "SPACK_ENV": ""})
    scopes = Scopes(paths)
    scopes.find()
    own = os.path.realpath(paths.own()[1])
    listed = []
    for section in scopes.sections("config"):
        value = section.value if isinstance(section.value, dict) else {}
        lists = [value.get(key) for key in ("extensions:", "extensions")]
        for entry in (
            entry for entries in lists if isinstance(entries, list) for entry in entries
        ):
            path = paths.absolute(str(entry), section.base)
            if os.path.basename(path) == name:
                is_own = os.path.realpath(section.base) == own
                listed.append(ListedExtension(str(entry), path, section.base, is_own))
    return listed

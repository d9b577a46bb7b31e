"""Find a mirror of the user's Spack by its name."""

from __future__ import annotations

from spackscope.model.core.errors import (
    SourceError,
)
from spackscope.model.core.records import Problem
from spackscope.model.sources.spack_config.config import PREFIX, ConfiguredMirror, Spack
from spackscope.model.storage.urls import shown_url


def configured(name: str, spack: Spack | None) -> tuple[ConfiguredMirror, tuple[Problem, ...]]:
    """Give the mirror of the user's Spack that has a name, and what is wrong in its configuration.

    Raises SourceError that lists the known names where there is none.
    """
    source = shown_url(f"{PREFIX}{name}")
    if spack is None:
        raise SourceError(f"the source {source} is not known: no Spack was found here")
    mirror = spack.mirrors.get(name)
    if mirror is not None and mirror.binary:
        return mirror, spack.problems
    if mirror is not None:
        raise SourceError(f"the source {source} holds no binaries, only sources")
    known = [f"{PREFIX}{each.name}" for each in spack.mirrors.values() if each.binary]
    told = f"there are {', '.join(known)}" if known else "it has no mirror of binaries"
    wrong = "".join(f"; {problem}" for problem in spack.problems)
    if not name:
        raise SourceError(f"the configuration of Spack names no mirror of binaries{wrong}")
    raise SourceError(f"the source {source} is not known to Spack: {told}{wrong}")

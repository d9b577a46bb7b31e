"""The vocabulary of the project: what a build cache holds, and what could not be read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import compress

HASH_LENGTH = 32
_HASH = re.compile(r"[a-z2-7]{32}")


STATES = ("cached", "installed", "explicit", "needed")
"""What a record can be beside its spec, in the order in which it is shown.

What is only `needed` is none of the others: it is there because others depend on it.
"""


DEPTYPES = ("build", "link", "run", "test")
"""The deptypes, in the order in which Spack shows them."""


def is_hash(text: str) -> bool:
    """Tell whether a text is a whole DAG hash.

    Spack writes the first 160 bits of a SHA in lower-case base 32
    (`lib/spack/spack/util/hash.py`), which are 32 characters of `a-z2-7`.
    """
    return _HASH.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Dependency:
    """Hold one edge: the dependency's hash and name, the deptypes, and the virtuals it provides.

    Deptypes are `build`, `link`, `run` and `test`; virtuals are names such as `mpi` or `c`.
    """

    hash: str
    name: str
    deptypes: tuple[str, ...] = ()
    virtuals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Compiler:
    """Represent a direct dependency that compiles a spec, with all virtuals it provides for it.

    `version` is empty where no document holds the compiler.
    """

    name: str
    version: str = ""
    virtuals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spec:
    """Hold one record: a spec as one document of one source lists it.

    The same hash may stand in several tags and sources; (source, tag, package, hash) names a
    record. Texts are as the document has them, so they may hold anything but a lone surrogate:
    only the hash is checked. `compiler` is `name@version`, with `/hash` behind it where the
    document names one, or `none`; `size` is in bytes.

    `dependencies` is None where the document does not list them, as pages do not. `flags` are
    compiler flags, each as `cflags=-O2 -g`; `namespace` is empty where none is named.

    `package_hash` is the digest of the recipe, `external` the prefix or else the modules of what
    Spack did not build, `build_spec` the hash that a spliced spec was built as; each is empty
    where it does not apply. `in_cache` is false for what a document lists only because others
    depend on it. `cached` tells that a build cache has its archive. `installed`, `path` (the
    prefix) and `installed_at` (seconds since 1970) are known from the database of an install
    tree; `explicit` also from a lock file, where it marks the roots.

    `listed_in` names all sources of an index that list the hash, and `compilers` the dependencies
    that compile it; both are known only of records from an index, and `compilers` is None where
    the document lists no dependencies.
    """

    package: str
    hash: str
    version: str
    compiler: str
    platform: str
    os: str
    target: str
    variants: tuple[str, ...]
    stacks: tuple[str, ...]
    size: float | None
    tag: str
    origin: str
    source: str = ""
    namespace: str = ""
    flags: tuple[str, ...] = ()
    dependencies: tuple[Dependency, ...] | None = None
    package_hash: str = ""
    external: str = ""
    in_cache: bool = True
    cached: bool = False
    installed: bool = False
    explicit: bool = False
    path: str = ""
    installed_at: float | None = None
    build_spec: str = ""
    listed_in: tuple[str, ...] = ()
    compilers: tuple[Compiler, ...] | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """The source that it was read from, and all others that list the same hash."""
        return self.listed_in or (self.source,)

    @property
    def states(self) -> tuple[str, ...]:
        """Those of `STATES` that it is in."""
        held = (self.cached, self.installed, self.explicit, not self.in_cache)
        return tuple(compress(STATES, held))


@dataclass(frozen=True, slots=True)
class Provenance:
    """Hold where a record comes from, as far as a document tells: see `Spec`."""

    package_hash: str = ""
    external: str = ""
    path: str = ""
    installed_at: float | None = None
    build_spec: str = ""


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """Hold what is known of a source that was read; `specs` as its documents list them.

    `kind` says what it is, and `layout` how a mirror is laid out. `checked` is when what was
    copied from far away was last known to be as the original, in seconds since 1970, and
    `remark` why an older copy serves. `failure` says why nothing of it could be read.
    """

    name: str
    kind: str
    layout: str
    specs: int
    checked: float | None
    remark: str
    failure: str
    problems: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Say what could not be read: the document, the place in it, and the reason.

    `place` is empty where the whole document is meant.
    """

    origin: str
    place: str
    reason: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.origin, self.place, self.reason) if part)

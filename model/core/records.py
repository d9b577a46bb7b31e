"""The vocabulary of the project: records, their variants and dependencies, sources, and problems.

Variants are spelled as Spack prints them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from spackscope.model.core.frozen import Frozen, fields

if TYPE_CHECKING:
    from spackscope.model.core.rules import FitReason

HASH_LENGTH = 32
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"

STATES = ("cached", "installed", "explicit", "needed", "spliced")
"""The states of a record in the order in which they are shown.

A `needed` record exists only because of its dependents; it may also be `spliced`, but has no other
state.
"""

DEPTYPES = ("build", "link", "run", "test")
"""The deptypes, in the order in which Spack shows them."""


def is_run(deptypes: Iterable[str]) -> bool:
    """Check whether deptypes include link or run, so that it is not only a build dependency."""
    return "link" in deptypes or "run" in deptypes


def is_hash(value: object) -> TypeGuard[str]:
    """Check whether a value is a full DAG hash.

    Spack writes the first 160 bits of a SHA in lower-case base 32
    (`lib/spack/spack/util/hash.py`), which are 32 characters of `a-z2-7`.
    """
    return type(value) is str and len(value) == HASH_LENGTH and not value.strip(_LETTERS)


FIRST_SPACK = {2: "0.17", 3: "0.18", 4: "0.21", 5: "1.0", 6: "1.3"}
"""The first Spack that writes a specfile format; a Spack reads none that is newer than its own."""

FIRST_OF_DATABASE = {5: "0.13", 6: "0.17", 7: "0.21", 8: "1.0", 9: "1.3"}
"""The first Spack that writes a version of the database, in indexes and install trees."""

COMPILED_IN, PROVIDED_IN, NEWEST_FORMAT = 5, 6, max(FIRST_SPACK)
"""Specfile formats: the first in which compilers are dependencies, the first in which nodes state
the virtuals that they provide, and the newest."""

NO_COMPILER = "none"
"""The `compiler` of a record that states its dependencies, and none of them compiled it."""


def names_compiler(compiler: str) -> bool:
    """Check whether the `compiler` of a record is one: neither none nor left unsaid."""
    return compiler not in ("", NO_COMPILER)


NO_VIRTUALS = ("none",)
"""The `provided_virtuals` of a record that is known to provide no virtual."""


class Dependency(NamedTuple):
    """An edge to a dependency: its hash and name, the deptypes, and the virtuals it provides."""

    hash: str
    name: str
    deptypes: tuple[str, ...] = ()
    virtuals: tuple[str, ...] = ()


class Compiler(Frozen):
    """A direct dependency that compiles a spec, with all virtuals it provides for the spec.

    `version` is empty if no document describes the compiler.
    """

    name: str
    version: str = ""
    virtuals: tuple[str, ...] = ()


YES, NO, UNKNOWN = ANSWERS = ("yes", "no", "unknown")
"""The answers of the columns about the host."""


class ListedIn(Frozen):
    """A database that lists a spec: its layout, its versions and its source.

    `layout` is the layout of its mirror, `views` for views that were not asked for, or empty for a
    file or tree. `media` is the version in the media type of an index of layout v3, `?` for
    another type, followed by `+` and the compression if there is one, and `database` the version
    that the database states.
    """

    layout: str
    media: str
    database: int
    source: str

    @classmethod
    def parse(cls, text: str) -> ListedIn:
        """Parse `layout:media:database:source`, as an index has it."""
        layout, media, database, source = text.split(":", 3)
        return cls(layout, media, int(database), source)


class Fit(Frozen):
    """Whether a spec runs on the host, and whether Spack would reuse it there, with all reasons.

    `fits` and `reusable` are None if the source of the spec does not say enough.
    """

    fits: bool | None
    reusable: bool | None
    reasons: tuple[FitReason, ...] = ()

    @property
    def fits_values(self) -> tuple[str, ...]:
        """The answer whether the spec runs (yes, no or unknown), and the labels of the reasons."""
        return _answer(self.fits, (reason for reason in self.reasons if reason.is_run))

    @property
    def reusable_values(self) -> tuple[str, ...]:
        """The answer whether Spack reuses the spec, and the labels of the reasons."""
        return _answer(self.reusable, (reason for reason in self.reasons if reason.is_reuse))


def _answer(is_true: bool | None, reasons: Iterable[FitReason]) -> tuple[str, ...]:
    if is_true:
        return (YES,)
    labels = (r.label for r in reasons if r.rule.is_unknown == (is_true is None))
    return UNKNOWN if is_true is None else NO, *dict.fromkeys(labels)


class Spec(Frozen):
    """One record: a spec as one document of one source lists it.

    The same hash may be in several tags and sources; (source, tag, package, hash) identifies a
    record. Texts are as in the document, so they may contain anything but a lone surrogate: only
    the hash is checked. `compiler` is `name@version`, with `/hash` after it if the document names
    one, or `none`; `size` is in bytes.

    `dependencies` is None if the document does not list them, as pages do not. `flags` are
    compiler flags, each as `cflags=-O2 -g`; `namespace` is empty if none is named.
    `provided_virtuals` are the virtuals that it can provide, each as `mpi` or `mpi@:3`,
    `NO_VIRTUALS` if it provides none; empty where its document does not list virtuals, as in
    formats before `PROVIDED_IN`.

    `package_hash` is the digest of the recipe. `external` is the prefix of an external, or else
    its modules; `external_modules` are all its modules, and `external_attributes` is its
    `extra_attributes` as JSON. `patches` are digests in the order in which they are applied, and
    `build_spec` is the hash that a spliced spec was built as. Each of these is empty if it does
    not apply.

    `spec_format` is the specfile format in which the spec was concretized, 0 if it is unknown.
    `in_cache` is false for a dependency-only spec. `cached` is true if a build cache has its
    archive. `installed`, `path` (the prefix) and `installed_at` (seconds since 1970) come from the
    database of an install tree; `explicit` also from a lock file, where it marks the roots.

    `listed_in` names all sources of an index that list the hash, and `compilers` the dependencies
    that compile it; only records from an index have both, and `compilers` is None if the document
    lists no dependencies. `fit` is set once it is computed: whether the spec runs on the host.
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
    provided_virtuals: tuple[str, ...] = ()
    dependencies: tuple[Dependency, ...] | None = None
    package_hash: str = ""
    external: str = ""
    external_modules: tuple[str, ...] = ()
    external_attributes: str = ""
    patches: tuple[str, ...] = ()
    spec_format: int = 0
    in_cache: bool = True
    cached: bool = False
    installed: bool = False
    explicit: bool = False
    path: str = ""
    installed_at: float | None = None
    build_spec: str = ""
    listed_in: tuple[str, ...] = ()
    compilers: tuple[Compiler, ...] | None = None
    fit: Fit | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that list the hash; without an index only the source of this record."""
        return self.listed_in or (self.source,)

    @property
    def is_spliced(self) -> bool:
        """Whether it has other dependencies than it was built with."""
        return bool(self.build_spec)

    @property
    def states(self) -> tuple[str, ...]:
        """The states of the record, in the order of `STATES`."""
        flags = (self.cached, self.installed, self.explicit, not self.in_cache, self.is_spliced)
        return tuple(compress(STATES, flags))


def absent_spec(dependency: Dependency) -> Spec:
    """Return a record with only the name and hash of a dependency that no document describes."""
    name, hash_ = dependency.name, dependency.hash
    return Spec(name, hash_, "", NO_COMPILER, "", "", "", (), (), None, "", "")


class _Stated(NamedTuple):
    """The fields of `Spec` that a page states, without the hash and the size."""

    version: str
    compiler: str
    platform: str
    os: str
    target: str
    variants: tuple[str, ...]
    stacks: tuple[str, ...]
    package: str = ""
    tag: str = ""


class LookAlike(_Stated):
    """The fields that look-alikes of a page share: a `Spec` without a hash and a size."""

    __slots__ = ()
    dependencies = None
    in_cache = cached = True
    is_spliced = False


for _field in fields(Spec):
    # Pages state no other field.
    if not hasattr(LookAlike, _field.name):
        setattr(LookAlike, _field.name, _field.default)


class Records(NamedTuple):
    """Records of a document, in its order; look-alikes share one entry of `looks`.

    Record i is the spec `looks[numbers[i]]`, but with the hash `hashes[i]` and the size
    `sizes[i]`. Pages have very many: a LookAlike takes a quarter of the time of a Spec. `database`
    is the version of the database that the records are from, 0 for other documents.
    """

    looks: Sequence[Spec] | Sequence[LookAlike]
    numbers: Sequence[int]
    hashes: Sequence[str]
    sizes: Sequence[float | None]
    database: int = 0


class NodeFacts(NamedTuple):
    """The fields of `Spec` that a node states and no column shows."""

    package_hash: str = ""
    external: str = ""
    external_modules: tuple[str, ...] = ()
    external_attributes: str = ""
    patches: tuple[str, ...] = ()
    spec_format: int = 0


OF_RECORDS = ("path", "installed_at", "build_spec")
PROVENANCE = (*NodeFacts._fields, *OF_RECORDS)
"""The fields of `Spec` that say where it comes from: `NodeFacts`, and `OF_RECORDS`."""

_WITHOUT_INDEX = ("v3 spec files", "v2 spec files", "v3 spec files and v2 spec files")
_MIRROR_FOLDERS = ("build_cache/", "blobs/", "manifests/")


def has_no_index(kind: str, layout: str) -> bool:
    """Check whether a source is a mirror without an index, in which Spack sees no specs."""
    return kind == "mirror" and layout in _WITHOUT_INDEX


class SourceStatus(Frozen):
    """The result of reading a source.

    `kind` is a word such as `mirror` or `file`, `layout` the layout of a mirror, `specs` the
    number of specs that it lists. `checked` is the time in seconds since 1970 at which a cached
    copy was last known to be current, and `remark` says why a stale copy is used. `failure` says
    why the source could not be read at all.
    """

    name: str
    kind: str
    layout: str
    specs: int
    checked: float | None
    remark: str
    failure: str
    problems: int

    @property
    def has_sizes(self) -> bool:
        """Whether its server has manifests, which state the sizes of archives."""
        has_manifests = "v3" in self.layout or self.kind == "public cache"
        return self.checked is not None and not self.failure and has_manifests

    def may_have_files(self, spec: Spec) -> bool:
        """Check whether the source may have more on a spec than its index, such as a signature."""
        if self.kind in ("file", "directory"):
            return not self.failure and any(name in spec.origin for name in _MIRROR_FOLDERS)
        return not self.failure and self.kind in ("mirror", "public cache")


class Problem(Frozen):
    """A part of a document that could not be read: the document, the place, and the reason.

    `place` is empty if it is about the whole document. Records may be missing if it `is_unread`: a
    document, or a part of it, was not read. A single record that could not be read is named.
    """

    origin: str
    place: str
    reason: str
    is_unread: bool = False

    def __str__(self) -> str:
        return ": ".join(part for part in (self.origin, self.place, self.reason) if part)


CONFIGURATION, RECIPES = "the configuration of Spack", "the recipes of Spack"
"""The grounds of answers besides the sources."""


class Gap(NamedTuple):
    """A problem with a ground of answers: the name of a source, CONFIGURATION or RECIPES."""

    problem: Problem
    ground: str


_NEW_NAMES = {
    "clang": "llvm",
    "oneapi": "intel-oneapi-compilers",
    "rocmcc": "llvm-amdgpu",
    "intel": "intel-oneapi-compilers-classic",
    "arm": "acfl",
}
_OTHERS = ("aocc", "apple-clang", "cce", "dpcpp", "fj", "gcc", "msvc", "nag", "nvhpc", "pgi")
_COMPILERS = frozenset((*_NEW_NAMES, *_NEW_NAMES.values(), *_OTHERS, "xl", "xl_r"))
_LEGACY_NAMES = {_NEW_NAMES[name]: name for name in ("clang", "oneapi", "rocmcc", "arm")}
"""The old names that Spack still prints; the classic Intel compilers have no old name."""

GCC_RUNTIME = "gcc-runtime"
RUNTIME_OF = {"gcc": GCC_RUNTIME, "intel-oneapi-compilers": "intel-oneapi-runtime"}
"""Compilers with the package of their runtime libraries."""

LANGUAGES = ("c", "cxx", "fortran")
"""The virtuals of compilers; the compiler of a spec provides the first of these that it has."""


def compiler_name(name: str) -> str:
    """Return the package name of a compiler, which had another name before Spack 1.0.

    The names are from lib/spack/spack/aliases.py.
    """
    return _NEW_NAMES.get(name, name)


def legacy_name(package: str) -> str:
    """Return the name that Spack prints after `%` for the package of a compiler."""
    return _LEGACY_NAMES.get(package, package)


def is_compiler(name: str) -> bool:
    """Check whether a package is one of the compilers in Spack's own recipes."""
    return name in _COMPILERS


_KEYED = r"(?as)([A-Za-z_0-9][\w\-.]*)(:?==?)(.+)"

SHORT_DIGEST = 7
"""The number of digits of a digest that Spack shows."""

_SIGILED = r"(?a)(?:\+\+?|~~?)[A-Za-z_0-9][\w\-.]*"


def split_variant(variant: str) -> tuple[str, tuple[str, ...]]:
    """Split a variant into its name and its values.

    Boolean variants have the value `+` or `~`; a text that is not a variant is a name without
    value. Double quotes enclose one value, even with a comma in it.
    """
    if variant[:1] in ("+", "~"):
        return variant.lstrip("+~"), (variant[0],)
    name, equals, values = variant.partition("=")
    if not equals:
        return variant, ()
    is_quoted = len(values) > 1 and values[0] == values[-1] and values[0] in "'\""
    inner = values[1:-1] if is_quoted else values
    is_single = is_quoted and values[0] == '"'
    return name.removesuffix(":"), (inner,) if is_single else tuple(inner.split(","))


def spell_variant(name: str, values: Sequence[str]) -> str:
    """Spell a variant as Spack does: `+mpi`, or `libs=shared,static`."""
    if len(values) == 1 and values[0] in ("+", "~"):
        return f"{values[0]}{name}"
    return f"{name}={','.join(values)}"


def spell_value(attribute: str, values: Sequence[str]) -> str:
    """Spell the values of an attribute of a spec, or of `variant:NAME`, with short digests."""
    kind, _, name = attribute.partition(":")
    if kind == "variant":
        return short_digests(spell_variant(name, values))
    is_digest = kind in ("package_hash", "patches")
    return ",".join(value[:SHORT_DIGEST] if is_digest else value for value in values)


def spell_signs(names: Iterable[str], values: Container[str]) -> str:
    """Spell whether each name is among the values of a variant: `+rxm ~tcp`."""
    return " ".join(f"{'+' if name in values else '~'}{name}" for name in names)


@lru_cache(1 << 14)
def variant_key(variant: str) -> str:
    """Return one text for all spellings of a variant with the same values.

    Spack since 1.0 prints several values sorted and after `:=`, earlier ones as `x=b,a`.
    """
    name, values = split_variant(variant)
    if "=" not in variant or '"' in variant:
        return variant
    return f"{name}={','.join(sorted(values))}"


def split_keyed(pattern: str) -> re.Match[str] | None:
    """Match `x=value`: groups of name, operator and value; None for another pattern."""
    # Most patterns need no regular expression, whose compilation takes longer than all else.
    return re.fullmatch(_KEYED, pattern) if "=" in pattern else None


def is_variant(pattern: str) -> bool:
    """Check whether a pattern is a variant: `+x`, `~x`, `x=value`, or propagated."""
    return bool(re.fullmatch(_SIGILED, pattern) or split_keyed(pattern))


def is_propagated(pattern: str) -> bool:
    """Check whether a variant also applies to dependencies: `++x`, `~~x` or `x==value`."""
    keyed = split_keyed(pattern)
    return pattern[:2] in ("++", "~~") or (keyed is not None and keyed[2].endswith("=="))


def short_digests(variant: str) -> str:
    """Return a variant with the digests of patches cut to seven digits, as Spack prints them."""
    name, equals, digests = variant.partition("=")
    if name.removesuffix(":") != "patches":
        return variant
    return name + equals + ",".join(digest[:SHORT_DIGEST] for digest in digests.split(","))

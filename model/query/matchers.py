"""Decide which values a pattern matches: for the dictionaries of an index, and single values."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from spackscope.model.core import versions
from spackscope.model.core.columns import Value
from spackscope.model.core.records import SHORT_DIGEST, is_variant, split_keyed, split_variant
from spackscope.model.core.suggestions import did_you_mean, near
from spackscope.model.core.text import clean
from spackscope.model.query.lexer import unquoted

if TYPE_CHECKING:
    from archspec.cpu import Microarchitecture

ANY = "any"
"""The column of a bare word in a live filter: the word may be in any column."""

ARCHITECTURE = ("platform", "os", "target")
"""The columns of an architecture, in Spack's order."""

_HASH = r"[\w*?]+"
_SIZE = r"(?ai)(\d+(?:\.\d+)?)\s*((?:[kmg]i?)?)b?"
_SIZE_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}

Matcher = Callable[[Value], bool]
TextMatcher = Callable[[str], bool]


@lru_cache(512)
def matcher(column: str, pattern: str) -> Matcher:
    """Return the function that checks values of a column against a pattern.

    A list matches if one of its values does. Raises ValueError for a pattern that the column does
    not have.

    Example: `matcher("version", "1.2:")("1.14") is True`.
    """
    fits = item_test(column, pattern)
    if column in _MATCHERS:
        return fits

    def matches(value: Value) -> bool:
        if isinstance(value, str):
            return fits(value)
        if not pattern:
            return value == ()
        return isinstance(value, tuple) and any(map(fits, value))

    return matches


def item_test(column: str, pattern: str) -> Callable[[Any], bool]:
    """Return the function that checks values which are no lists, or each text of a list."""
    return {**_TEXT_MATCHERS, **_MATCHERS}.get(column, _glob)(pattern)


def _architecture(pattern: str) -> Matcher:
    matchers = [(ARCHITECTURE.index(c), matcher(c, part)) for c, part in architecture(pattern)]
    return lambda value: isinstance(value, tuple) and all(fits(value[at]) for at, fits in matchers)


def _glob(pattern: str) -> TextMatcher:
    if not is_glob(pattern):
        return pattern.__eq__
    # Not a plain `.*` for each `*`: several of them would backtrack endlessly on a long text.
    compiled = re.compile(fnmatch.translate(pattern.replace("[", "[[]")), re.IGNORECASE)
    return lambda text: compiled.match(text) is not None


def _namespace(pattern: str) -> TextMatcher:
    # Pages name no namespace; their specs come from Spack's own recipes.
    fits = _glob(pattern)
    return lambda namespace: fits(namespace or "builtin")


def _version(constraint: str) -> TextMatcher:
    if not constraint or is_glob(constraint):
        return _glob(constraint)
    versions.satisfies("0", constraint)
    return lambda version: versions.satisfies(version, constraint)


def _compiler(pattern: str) -> TextMatcher:
    """Match `name`, `@constraint`, `/hash` or some of them together, as Spack's `%` does."""
    if not pattern or is_glob(pattern):
        return _glob(pattern)
    without_hash, _, prefix = pattern.partition("/")
    name, at, constraint = without_hash.partition("@")
    if at:
        versions.satisfies("0", constraint)

    def fits(compiler: str) -> bool:
        spec, _, hash_ = compiler.partition("/")
        its_name, _, version = spec.partition("@")
        return (
            (not name or its_name == name)
            and (not at or versions.satisfies(version, constraint))
            and hash_.startswith(prefix)
        )

    return fits


def _provided(pattern: str) -> TextMatcher:
    """Match a provided virtual, such as `mpi@:3`, by its name, and by a version that both allow.

    Follows `Spec._provides_virtual` in lib/spack/spack/spec.py of Spack 1.3.
    """
    if not pattern or is_glob(pattern):
        fits_text = _glob(pattern)
        return lambda text: fits_text(text) or fits_text(text.partition("@")[0])
    name, _, constraint = pattern.partition("@")
    if constraint:
        versions.satisfies("0", constraint)

    def fits(text: str) -> bool:
        its_name, _, provided = text.partition("@")
        if its_name != name or not (constraint and provided):
            return its_name == name
        with suppress(ValueError):
            return versions.intersects(provided, constraint)
        # A record may state anything.
        return provided == constraint

    return fits


def target_test(constraint: str) -> TextMatcher:
    """Return the function that checks targets against a constraint, as after Spack's `target=`.

    A target must match one entry of a list; empty entries are ignored. `a:b`, `a:` and `:b` are
    ranges in archspec's partial order, so that `x86_64:` does not include `aarch64`; `*` is any
    target. An entry with wildcards and no range is a glob. The rules are from
    `ArchSpec._target_satisfies` in lib/spack/spack/spec.py.

    Example: `target_test("x86_64_v3:")("zen4") is True`.
    """
    if not constraint:
        return _glob(constraint)
    entries = constraint.split(",")
    # In a list with other entries, Spack does not know `*`.
    checks = [_target(entry) for entry in entries if entry and (entry != "*" or entries == ["*"])]
    return lambda target: any(fits(target) for fits in checks)


def _target(entry: str) -> TextMatcher:
    low, colon, high = entry.partition(":")
    if not colon:
        return _glob(entry)

    def is_between(target: str) -> bool:
        microarchitecture = _microarchitecture(target)
        return (not low or microarchitecture >= _microarchitecture(low)) and (
            not high or microarchitecture <= _microarchitecture(high)
        )

    return is_between


def target_ranges(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the two ends of each range in a list of targets; an open end is empty."""
    for entry in pattern.split(","):
        low, colon, high = entry.partition(":")
        if colon:
            yield low, high


def unknown_target(name: str) -> str:
    """Return a message if archspec does not know a target, else an empty text."""
    from archspec.cpu import TARGETS

    return "" if name in TARGETS else f"Unknown target {clean(name)}{did_you_mean(name, TARGETS)}"


def targets_like(name: str) -> list[str]:
    """Return a target if archspec knows it, else the most similar name that archspec knows."""
    from archspec.cpu import TARGETS

    return [name] if name in TARGETS else near(name, TARGETS)[:1]


def _microarchitecture(name: str) -> Microarchitecture:
    # Reading archspec's tables takes longer than most queries.
    from archspec.cpu import TARGETS, generic_microarchitecture

    microarchitecture = TARGETS.get(name)
    return microarchitecture if microarchitecture is not None else generic_microarchitecture(name)


def _hash(pattern: str) -> TextMatcher:
    prefix = pattern.removeprefix("/")
    if not prefix:
        raise ValueError("Expected a hash prefix")
    if not re.fullmatch(_HASH, prefix):
        raise ValueError(f"{pattern} is not a hash prefix")
    return _glob(prefix) if is_glob(prefix) else lambda value: value.startswith(prefix)


def _variant(pattern: str) -> TextMatcher:
    """Match one variant as `Spec.satisfies` does: `x=a` matches `x=a,b`, `x:=a` does not."""
    match = split_keyed(pattern)
    if match is None:
        is_flag = is_variant(pattern)
        return (pattern[0] + pattern.lstrip("+~")).__eq__ if is_flag else _glob(pattern)
    name, operator, values = match[1], match[2], unquoted(match[3])
    as_flag = {"true": f"+{name}", "false": f"~{name}"}.get(values.lower())
    is_exact = operator.startswith(":")
    value_matcher = _digest if name == "patches" and not is_exact else _glob
    matchers = [value_matcher(part) for part in dict.fromkeys(values.split(","))]

    def fits(variant: str) -> bool:
        if name not in variant:
            return False
        its_name, its_values = split_variant(variant)
        if its_name != name:
            return False
        if values == "*" or variant == as_flag:
            return True
        if is_exact and len(its_values) != len(matchers):
            return False
        return all(any(map(fits_value, its_values)) for fits_value in matchers)

    return fits


def _digest(prefix: str) -> TextMatcher:
    """Match the digest of a patch by its prefix; pages have only seven digits of a digest."""
    return lambda digest: (
        digest.startswith(prefix) or (len(digest) == SHORT_DIGEST and prefix.startswith(digest))
    )


def _flags(pattern: str) -> TextMatcher:
    """Match compiler flags that include all flags of the pattern, such as `cflags=-O2`."""
    name, _, flags = pattern.partition("=")
    words = set(flags.split())

    def fits(text: str) -> bool:
        its_name, _, its_flags = text.partition("=")
        return its_name == name and words <= set(its_flags.split())

    return fits


def architecture(value: str) -> list[tuple[str, str]]:
    """Split `platform-os-target` into (column, pattern) pairs, without empty patterns.

    As in Spack, a text that does not have three parts is a target.
    """
    parts = value.split("-")
    if len(parts) != len(ARCHITECTURE):
        return [("target", value)]
    return [(column, part) for column, part in zip(ARCHITECTURE, parts, strict=True) if part]


def _sizes(pattern: str) -> Matcher:
    """Match sizes in `10MB:1GB`, `10MB:` or `:1GB`, both ends included."""
    low, colon, high = pattern.partition(":")
    if not pattern:
        raise ValueError("Expected a size range: 10MB:, :1GB or 10MB:1GB")
    if not colon:
        raise ValueError(f"{pattern} is not a size range: write 10MB:, :1GB or 10MB:1GB")
    least, most = _size(low, 0), _size(high, float("inf"))
    if least > most:
        raise ValueError(f"{pattern} is an empty range: it ends before it starts")
    return lambda size: isinstance(size, (int, float)) and least <= size <= most


def _size(text: str, default: float) -> float:
    if not text:
        return default
    match = re.fullmatch(_SIZE, text)
    if match is None:
        raise ValueError(f"{text} is not a size: write it as 10MB")
    return float(match[1]) * _SIZE_UNITS[match[2].lower()]


def is_glob(pattern: str) -> bool:
    """Check whether a pattern has wildcards."""
    return "*" in pattern or "?" in pattern


_MATCHERS: dict[str, Callable[[str], Matcher]] = {"size": _sizes, "arch": _architecture}
"""The matchers of columns whose values are neither a text nor a list of texts."""

_TEXT_MATCHERS: dict[str, Callable[[str], TextMatcher]] = {
    ANY: lambda pattern: _glob(pattern if is_glob(pattern) else f"*{pattern}*"),
    "hash": _hash,
    "version": _version,
    "compiler": _compiler,
    "target": target_test,
    "variants": _variant,
    "flags": _flags,
    "namespace": _namespace,
    "provides": _provided,
}
"""The matchers of columns of texts; other columns match equal texts, or a glob."""

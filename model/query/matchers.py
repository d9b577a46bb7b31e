"""Say what a pattern means: the one evaluator, for dictionaries in SQL and for single records."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from functools import lru_cache

from spackscope.model.core import versions
from spackscope.model.core.column import Value
from spackscope.model.core.targets import target_test
from spackscope.model.query.lexer import unquoted

ANY = "any"
"""The column of a bare word in a live filter: whatever column shows the word."""

ARCHITECTURE = ("platform", "os", "target")
"""The columns that make an architecture, in Spack's order."""

_KEYED = re.compile(r"([A-Za-z_0-9][\w\-.]*)(:?==?)(.+)", re.DOTALL | re.ASCII)
_SIGILED = re.compile(r"(?:\+\+?|~~?)[A-Za-z_0-9][\w\-.]*", re.ASCII)
_HASH = re.compile(r"[\w*?]+")
_SHORT_DIGEST = 7
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?i?)b?", re.IGNORECASE)
_SIZE_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}

Test = Callable[[Value], bool]


@lru_cache(512)
def test_of(column: str, pattern: str) -> Test:
    """Make the test that one value has to pass. Raises ValueError where the pattern is none."""
    if column == ANY:
        return _test_word(pattern)
    if column == "hash":
        return _test_hash(pattern)
    if column == "size":
        low, high = size_range(pattern)
        return lambda size: isinstance(size, int | float) and low <= size <= high
    if column == "variants" and is_variant(pattern):
        return _test_variant(pattern)
    if column == "arch":
        return _test_architecture(pattern)
    if column == "flags":
        return _test_flags(pattern)
    fits = _fits(pattern)
    if pattern and column == "version" and not is_glob(pattern):
        versions.satisfies("0", pattern)
        fits = lambda version: versions.satisfies(version, pattern)  # noqa: E731
    elif pattern and column == "compiler" and not is_glob(pattern):
        fits = _fits_compiler(pattern)
    elif pattern and column == "target":
        fits = _fits_target(pattern)
    elif column == "namespace":
        # Pages name no namespace; what stands in them comes from Spack's own recipes.
        return lambda value: isinstance(value, str) and fits(value or "builtin")
    return lambda value: any(map(fits, (value,) if isinstance(value, str) else value))  # type: ignore[arg-type]


def _fits(pattern: str) -> Callable[[str], bool]:
    if not is_glob(pattern):
        return pattern.__eq__
    # Not a plain `.*` for each `*`: several of them would take for ever on a long text.
    expression = fnmatch.translate(pattern.replace("[", "[[]"))
    compiled = re.compile(expression, re.IGNORECASE)
    return lambda text: compiled.match(text) is not None


def _fits_compiler(pattern: str) -> Callable[[str], bool]:
    """Match `name`, `@constraint`, `/hash` or some of them together, as Spack's `%` does."""
    wanted, _, wanted_hash = pattern.partition("/")
    name, at, constraint = wanted.partition("@")
    if at:
        versions.satisfies("0", constraint)

    def fits(compiler: str) -> bool:
        spelled, _, hash_ = compiler.partition("/")
        its_name, _, version = spelled.partition("@")
        return (
            (not name or its_name == name)
            and (not at or versions.satisfies(version, constraint))
            and hash_.startswith(wanted_hash)
        )

    return fits


def _fits_target(pattern: str) -> Callable[[str], bool]:
    """Match an entry of a list of targets; one with wildcards and no range is a glob."""
    entries = pattern.split(",")
    tests = [
        _fits(entry) if is_glob(entry) and ":" not in entry else target_test(entry)
        for entry in entries
        # Among others `*` is no target that Spack knows.
        if entry != "*" or len(entries) == 1
    ]
    return lambda target: any(fits(target) for fits in tests)


def _test_hash(pattern: str) -> Test:
    prefix = pattern.removeprefix("/")
    if not _HASH.fullmatch(prefix):
        raise ValueError(f"{pattern} is not a hash prefix")
    if is_glob(prefix):
        fits = _fits(prefix)
        return lambda value: isinstance(value, str) and fits(value)
    return lambda value: isinstance(value, str) and value.startswith(prefix)


def _test_variant(pattern: str) -> Test:
    """Match one variant as `Spec.satisfies` does: `x=a` is fulfilled by `x=a,b`, `x:=a` is not."""
    if pattern[0] in "+~":
        flag = pattern[0] + pattern.lstrip("+~")
        return lambda variants: isinstance(variants, tuple) and flag in variants
    match = _KEYED.fullmatch(pattern)
    assert match is not None
    name, operator, written = match.groups()
    wanted = unquoted(written)
    as_flag = {"true": f"+{name}", "false": f"~{name}"}.get(wanted.lower())
    is_exact = operator.startswith(":")
    fits_value = _fits_digest if name == "patches" and not is_exact else _fits
    tests = [fits_value(part) for part in dict.fromkeys(wanted.split(","))]

    def fits(variant: str) -> bool:
        its_name, its_values = split_variant(variant)
        if its_name != name:
            return False
        if wanted == "*" or variant == as_flag:
            return True
        if is_exact and len(its_values) != len(tests):
            return False
        return all(any(map(test, its_values)) for test in tests)

    return lambda variants: isinstance(variants, tuple) and any(map(fits, variants))


def _fits_digest(wanted: str) -> Callable[[str], bool]:
    """Match the digest of a patch by its beginning; pages show its first seven digits only."""
    return lambda digest: (
        digest.startswith(wanted) or (len(digest) == _SHORT_DIGEST and wanted.startswith(digest))
    )


def _test_flags(pattern: str) -> Test:
    """Match compiler flags: those that are wanted must be among those of the same name."""
    name, _, wanted = pattern.partition("=")
    words = set(wanted.split())

    def fits(flags: str) -> bool:
        its_name, _, its_flags = flags.partition("=")
        return its_name == name and words <= set(its_flags.split())

    return lambda value: isinstance(value, tuple) and any(map(fits, value))


def _test_word(word: str) -> Test:
    fits = _fits(word if is_glob(word) else f"*{word}*")

    def test(value: Value) -> bool:
        if isinstance(value, str):
            return fits(value)
        return isinstance(value, tuple) and any(map(fits, value))

    return test


def architecture(value: str) -> list[tuple[str, str]]:
    """Split `platform-os-target` into columns and patterns, leaving out what is empty.

    A text of other than three parts is a target, as in Spack.
    """
    parts = value.split("-")
    if len(parts) != len(ARCHITECTURE):
        return [("target", value)]
    return [(column, part) for column, part in zip(ARCHITECTURE, parts, strict=True) if part]


def _test_architecture(pattern: str) -> Test:
    tests = {column: test_of(column, part) for column, part in architecture(pattern)}

    def fits(value: Value) -> bool:
        its = dict(zip(ARCHITECTURE, value, strict=True)) if isinstance(value, tuple) else {}
        return all(test(its.get(column)) for column, test in tests.items())

    return fits


def split_variant(variant: str) -> tuple[str, tuple[str, ...]]:
    """Split a variant as Spack prints it into its name and its values.

    Boolean variants have the value `+` or `~`; a text that is no variant is a name without value.
    Double quotes hold one value, be there a comma in it or not.
    """
    if variant[:1] in ("+", "~"):
        return variant.lstrip("+~"), (variant[0],)
    name, equals, values = variant.partition("=")
    if not equals:
        return variant, ()
    is_quoted = len(values) > 1 and values[0] == values[-1] and values[0] in "'\""
    inner = values[1:-1] if is_quoted else values
    is_one = is_quoted and values[0] == '"'
    return name.removesuffix(":"), (inner,) if is_one else tuple(inner.split(","))


@lru_cache(64)
def size_range(pattern: str) -> tuple[float, float]:
    """Read `10MB:1GB`, `10MB:` or `:1GB` as bytes, both ends included. Raises ValueError."""
    low, colon, high = pattern.partition(":")
    if not colon:
        raise ValueError(f"{pattern} is not a size range: write 10MB:, :1GB or 10MB:1GB")

    def bound(text: str, default: float) -> float:
        if not text:
            return default
        match = _SIZE.fullmatch(text)
        if match is None:
            raise ValueError(f"{text} is not a size: write it as 10MB")
        return float(match[1]) * _SIZE_UNITS[match[2].lower()]

    bounds = bound(low, 0), bound(high, float("inf"))
    if bounds[0] > bounds[1]:
        raise ValueError(f"{pattern} is an empty range: it ends before it starts")
    return bounds


def is_variant(pattern: str) -> bool:
    """Tell whether a pattern is written as a variant: `+x`, `~x`, `x=value`, or propagated."""
    return any(form.fullmatch(pattern) for form in (_SIGILED, _KEYED))


def is_propagated(pattern: str) -> bool:
    """Tell whether a variant is asked for in the dependencies too: `++x`, `~~x` or `x==value`."""
    keyed = _KEYED.fullmatch(pattern)
    return pattern[:2] in ("++", "~~") or (keyed is not None and keyed[2].endswith("=="))


def is_glob(pattern: str) -> bool:
    """Tell whether a pattern has wildcards."""
    return "*" in pattern or "?" in pattern

"""Split and spell variants as Spack prints them, and recognise the variants in a query."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache

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

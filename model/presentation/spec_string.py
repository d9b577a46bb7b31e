"""Write a record as a spec that Spack parses, or as the command that installs it.

Follows DISPLAY_FORMAT in lib/spack/spack/spec.py of Spack 1.2: name, version, compiler flags,
boolean variants, other variants, architecture, compilers. What the syntax cannot express is left
out, so that the text asks for less, never for something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from spackscope.model.core.columns import FLAGS
from spackscope.model.core.records import LANGUAGES, Spec, compiler_name, is_hash, legacy_name
from spackscope.model.core.text import is_clean
from spackscope.model.core.variants import split_variant
from spackscope.model.query.conditions import COLUMN_KEYS
from spackscope.model.query.validation import MAX_QUERY_LENGTH

_SHORT_DIGEST = 7
_BUILTIN = ("", "builtin")
_NOT_REQUIRED = frozenset({"patches", "dev_path"})
_NO_COMPILER = ("", "none")
_IDENTIFIER = r"[A-Za-z0-9_][A-Za-z0-9_\-]*"
_NAME = re.compile(_IDENTIFIER)
_NAMESPACE = re.compile(rf"{_IDENTIFIER}(?:\.{_IDENTIFIER})*")
_PLAIN = r"[A-Za-z0-9_](?:[A-Za-z0-9_.\-]*[A-Za-z0-9_])?"
_COMMIT = "[0-9A-Fa-f]{40}"
# For a git reference without a version Spack would need its repository.
_VERSION = re.compile(rf"(?:(?:git\.[A-Za-z0-9_./\-]+|{_COMMIT})=|(?!git\.|{_COMMIT})){_PLAIN}")
_ARCHITECTURE = re.compile(r"[A-Za-z0-9_.\-]+")
_BOOLEAN = re.compile(r"[+~][A-Za-z0-9_][A-Za-z0-9_.\-]*")
_KEYED = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.\-]*)(:?=)(.*)", re.DOTALL)
# Spack prints brackets without quotes, though its parser needs them quoted.
_BARE_VALUE = re.compile(r"[A-Za-z0-9,/_.\-]+")
_QUOTES = frozenset("'\"")
_NOT_IN_DOUBLE_QUOTES = frozenset('"$`!')
"""What ends double quotes, or acts within them where the text is pasted into a shell."""


def spec_string(spec: Spec) -> str:
    """Return the spec string of a record.

    It has its compilers with their languages if `compilers` are known, else the one compiler that
    the document states. A name that Spack's syntax cannot express is replaced by the hash; a text
    that is too long for a query is replaced by the hash alone.
    """
    head = spec.package if _NAME.fullmatch(spec.package) else f"/{spec.hash}"
    if _VERSION.fullmatch(spec.version):
        head += f"@{spec.version}"
    flags = [text for flag in spec.flags if (text := _flags(flag))]
    booleans, keyed = _variants(spec.variants)
    # After a quoted value a variant needs a blank before it, after a version it has none.
    parts = [head, *flags, booleans] if flags else [head + booleans]
    parts += [*keyed, *_namespace_and_architecture(spec), *_compilers(spec)]
    text = " ".join(filter(None, parts))
    return text if len(text) <= MAX_QUERY_LENGTH else f"/{spec.hash}"


def required_string(spec: Spec) -> str:
    """Return what packages.yaml can require of the package, to get this build: without a name.

    Patches and dev_path are left out: they follow from the recipe and the environment. The
    compiler that a document of Spack 0 states has the name that it has there.
    """
    version = spec.version if _VERSION.fullmatch(spec.version) else ""
    at = f"@{version}" if "=" in version else f"@={version}"
    variants = [text for text in spec.variants if split_variant(text)[0] not in _NOT_REQUIRED]
    booleans, keyed = _variants(variants)
    flags = [text for flag in spec.flags if (text := _flags(flag))]
    place = [text for text in _namespace_and_architecture(spec) if text[:9] != "platform="]
    compilers = [*_compilers(spec)]
    name, _, compiler_version = spec.compiler.partition("/")[0].partition("@")
    if not spec.compilers and compilers[0][:2] in ("%", "%@") and _NAME.fullmatch(name):
        compilers = [f"%{name}{_at(compiler_version)}"]
    parts = [at if version else "", booleans, *flags, *keyed, *place, *compilers]
    return " ".join(filter(None, parts))


def install_command(*specs: Spec) -> str:
    """Return the command that installs these binaries and builds nothing."""
    hashes = dict.fromkeys(spec.hash for spec in specs)
    assert all(map(is_hash, hashes))
    return f"spack install --cache-only {' '.join(f'/{hash_}' for hash_ in hashes)}"


def short_digests(variant: str) -> str:
    """Return a variant with the digests of patches cut to seven digits, as Spack prints them."""
    name, equals, digests = variant.partition("=")
    if name.removesuffix(":") != "patches":
        return variant
    return name + equals + ",".join(digest[:_SHORT_DIGEST] for digest in digests.split(","))


def _variants(variants: Sequence[str]) -> tuple[str, list[str]]:
    """Return boolean variants run together, and the others; both sorted by name."""
    booleans: dict[str, str] = {}
    keyed: dict[str, str] = {}
    for variant in variants:
        if _BOOLEAN.fullmatch(variant):
            booleans.setdefault(variant[1:], variant)
        elif match := _KEYED.fullmatch(short_digests(variant)):
            name, equals, value = match.groups()
            # Cut digests are prefixes, which `:=` does not take.
            equals = "=" if name == "patches" else equals
            if name not in COLUMN_KEYS and (quoted := _values(value)):
                keyed.setdefault(name, f"{name}{equals}{quoted}")
    by_name = sorted(booleans.keys() - keyed.keys())
    return "".join(booleans[name] for name in by_name), [keyed[name] for name in sorted(keyed)]


def _flags(flags: str) -> str:
    name, _, value = flags.partition("=")
    quoted = _quoted(value) if name in FLAGS else ""
    return f"{name}={quoted}" if quoted else ""


def _namespace_and_architecture(spec: Spec) -> Iterator[str]:
    """Yield the namespace if it is not Spack's own, which Spack leaves out, then the rest."""
    if spec.namespace not in _BUILTIN and _NAMESPACE.fullmatch(spec.namespace):
        yield f"namespace={spec.namespace}"
    for key, value in (("platform", spec.platform), ("os", spec.os), ("target", spec.target)):
        if _ARCHITECTURE.fullmatch(value):
            yield f"{key}={value}"


def _compilers(spec: Spec) -> Iterator[str]:
    if not spec.compilers:
        yield _stated_compiler(spec)
    for compiler in spec.compilers or ():
        if _NAME.fullmatch(compiler.name):
            languages = ",".join(filter(_NAME.fullmatch, compiler.virtuals))
            provides = f"{languages}=" if languages else ""
            yield f"%{provides}{legacy_name(compiler.name)}{_at(compiler.version)}"


def _stated_compiler(spec: Spec) -> str:
    """Return the one compiler that a document before Spack 1.0 states, as pages do.

    Spack 1 takes `%oneapi` for intel-oneapi-compilers, which is never the compiler that such a
    document calls oneapi: without the name `%` matches the stated compiler.
    """
    name, _, version = spec.compiler.partition("/")[0].partition("@")
    if spec.compiler in _NO_COMPILER or name in LANGUAGES or not _NAME.fullmatch(name):
        return ""
    at = _at(version)
    if compiler_name(name) == name:
        return f"%{name}{at}"
    return f"%{at}" if at else ""


def _at(version: str) -> str:
    return f"@{version}" if _VERSION.fullmatch(version) else ""


def _values(text: str) -> str:
    """Return the values of a variant, quoted as Spack parses them.

    Empty for one value with a comma, which Spack would take for two, and for values whose own
    quotes are at their ends. Readers put double quotes around the former.
    """
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES
    value = text[1:-1] if is_quoted else text
    if value[:1] in _QUOTES or value[-1:] in _QUOTES or (text[:1] == '"' and "," in value):
        return ""
    return _quoted(value)


def _quoted(value: str) -> str:
    """Return a value, quoted if Spack quotes it; empty if no quotes can contain it."""
    if _BARE_VALUE.fullmatch(value):
        return value
    if not value or "\\" in value or not is_clean(value):
        return ""
    if "'" not in value:
        return f"'{value}'"
    return f'"{value}"' if _NOT_IN_DOUBLE_QUOTES.isdisjoint(value) else ""

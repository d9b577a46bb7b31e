"""Write specs and queries as texts to paste: spec strings, commands, packages.yaml.

Spec strings follow DISPLAY_FORMAT in lib/spack/spack/spec.py of Spack 1.2: name, version,
compiler flags, boolean variants, other variants, architecture, compilers. Requirements follow
`requirements` in lib/spack/spack/schema/packages.py of Spack 0.22 to 1.2: a list of spec strings
and of `any_of` groups, all of which must hold. A string needs no name: it stands below the name of
its package.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence

from spackscope.model.analysis.session_fit import described_host
from spackscope.model.core.columns import FLAGS
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import (
    LANGUAGES,
    Spec,
    compiler_name,
    is_hash,
    legacy_name,
    names_compiler,
    short_digests,
    split_variant,
)
from spackscope.model.core.redaction import shown_url
from spackscope.model.core.text import is_clean
from spackscope.model.query.ast import COLUMN_KEYS, Query
from spackscope.model.query.parser import MAX_QUERY_LENGTH, format_for_shell
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import (
    SAMPLE,
    STANDARD_INPUT,
    TAG_LIST_NAME,
    absolute_path,
    is_local_path,
)

_BUILTIN = ("", "builtin")
_NOT_REQUIRED = frozenset({"patches", "dev_path"})
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
"""Characters that end double quotes, or have a meaning for a shell within them."""


def spec_string(spec: Spec) -> str:
    """Return the spec string of a record.

    The string has compilers with their languages if `compilers` are known, else the one compiler
    that the document states. A name that Spack's syntax cannot express is replaced by the hash; a
    text that is too long for a query is replaced by the hash alone.
    """
    head = spec.package if _NAME.fullmatch(spec.package) else f"/{spec.hash}"
    head += _at(spec.version)
    flags = _flags(spec)
    booleans, keyed = _variants(spec.variants)
    # After a quoted value a variant needs a blank before it, after a version it has none.
    parts = [head, *flags, booleans] if flags else [head + booleans]
    parts += [*keyed, *_namespace_and_architecture(spec), *_compilers(spec)]
    text = " ".join(filter(None, parts))
    return text if len(text) <= MAX_QUERY_LENGTH else f"/{spec.hash}"


def required_string(spec: Spec) -> str:
    """Return the spec string, without a name, by which packages.yaml can require this build.

    Patches and dev_path are left out: they follow from the recipe and the environment. A compiler
    that a document of Spack 0 states keeps its name in this document.
    """
    at = _at(spec.version)
    if "=" not in at:
        at = at.replace("@", "@=")
    variants = [text for text in spec.variants if split_variant(text)[0] not in _NOT_REQUIRED]
    booleans, keyed = _variants(variants)
    place = [text for text in _namespace_and_architecture(spec) if text[:9] != "platform="]
    compilers = [*_compilers(spec)]
    name, _, compiler_version = spec.compiler.partition("/")[0].partition("@")
    if not spec.compilers and compilers[0][:2] in ("%", "%@") and _NAME.fullmatch(name):
        compilers = [f"%{name}{_at(compiler_version)}"]
    parts = [at, booleans, *_flags(spec), *keyed, *place, *compilers]
    return " ".join(filter(None, parts))


def install_command(*specs: Spec) -> str:
    """Return the command that installs these binaries and builds nothing."""
    hashes = dict.fromkeys(spec.hash for spec in specs)
    assert all(map(is_hash, hashes))
    return f"spack install --cache-only {' '.join(f'/{hash_}' for hash_ in hashes)}"


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


def _flags(spec: Spec) -> list[str]:
    named = (flags.partition("=") for flags in spec.flags)
    texts = ((name, _quoted(value)) for name, _, value in named if name in FLAGS)
    return [f"{name}={quoted}" for name, quoted in texts if quoted]


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

    Spack 1 takes `%oneapi` for intel-oneapi-compilers, but documents before it call another
    compiler oneapi: without the name, `%` with a version matches the stated compiler.
    """
    name, _, version = spec.compiler.partition("/")[0].partition("@")
    if not names_compiler(spec.compiler) or name in LANGUAGES or not _NAME.fullmatch(name):
        return ""
    at = _at(version)
    if compiler_name(name) == name:
        return f"%{name}{at}"
    return f"%{at}" if at else ""


def _at(version: str) -> str:
    return f"@{version}" if _VERSION.fullmatch(version) else ""


def _values(text: str) -> str:
    """Return the values of a variant, quoted as Spack parses them.

    Empty for one value with a comma, which Spack would take for two, and around which readers put
    double quotes; and for values that begin or end with a quote of their own.
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


_PLAIN_KEY = r"[A-Za-z_][A-Za-z0-9_\-]*"
_KEYWORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Names that are not texts in YAML 1.1."""


def spec_requirement(specs: Sequence[Spec]) -> str:
    """Return a packages.yaml that requires one of the builds for each of their packages."""
    packages: dict[str, dict[str, None]] = {}
    for spec in specs:
        if required := required_string(spec):
            packages.setdefault(spec.package, {})[required] = None
    lines = ["packages:"]
    for name, strings in packages.items():
        is_plain = re.fullmatch(_PLAIN_KEY, name) and name.lower() not in _KEYWORDS
        lines += [f"  {name if is_plain else json.dumps(name)}:", "    require:"]
        first, *others = map(json.dumps, strings)
        if others:
            lines += ["    - any_of:", *(f"      - {string}" for string in (first, *others))]
        else:
            lines.append(f"    - {first}")
    return "\n".join(lines) if packages else ""


WITHOUT_SECRETS = "add user and password of the URL yourself"
FROM_STDIN = "it reads standard input"


class ViewCommand(Frozen):
    """A command line, and a remark for the user before running it, if any."""

    text: str
    remark: str = ""


def view_command(sources: Sequence[str], query: Query, session: Session) -> ViewCommand:
    """Return the `find` that prints the hashes of all specs that match, whatever is folded.

    Paths are absolute, since the line may be pasted anywhere. Secrets in URLs are left out, with a
    remark. Raises QueryError if the query cannot be written in a shell, and SourceError
    for a relative path in a directory that no longer exists.

        view_command(["mirror"], parse("hdf5 +mpi"), session).text
        # spackscope find -f /home/ann/mirror 'hdf5 +mpi' --hashes
    """
    words = [format_for_shell(query)] if query else []
    return command_line(["find"], sources, session, [*words, "--hashes"])


def command_line(
    command: Sequence[str], sources: Sequence[str], session: Session, after: Sequence[str] = ()
) -> ViewCommand:
    """Return the command line of a command and its words, the sources, and the words `after`.

    Paths are absolute, and secrets left out, as in `view_command`. Raises SourceError.
    """
    spelled = [spelled_source(source) for source in sources]
    words = ["spackscope", *command, *(word for source in spelled for word in ("-f", source))]
    if session.include_dependency_only:
        words.append("--all")
    if host := described_host(session):
        words += ["--host", host]
    remarks = []
    if any(shown_url(s) == text != s for s, text in zip(sources, spelled, strict=True)):
        remarks.append(WITHOUT_SECRETS)
    if not {STANDARD_INPUT, *session.piped}.isdisjoint(sources):
        remarks.append(FROM_STDIN)
    return ViewCommand(shlex.join([*words, *after]), " and ".join(remarks))


def spelled_source(source: str) -> str:
    """Return a source so that it means the same in any directory, without secrets."""
    path, mark, tags = source.partition("#")
    is_path = path.endswith(TAG_LIST_NAME) and "://" not in path
    if not is_path:
        path, mark, tags = source, "", ""
        is_path = is_local_path(source) and source != SAMPLE
    redacted = shown_url(source)
    if is_path:
        absolute = absolute_path(path)
        # A mistyped URL is taken for a path.
        if redacted == source or os.path.exists(absolute):
            return f"{absolute}{mark}{tags}"
    return redacted

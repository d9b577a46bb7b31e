"""Read and write addresses of cache.spack.io, the site that shows the public cache.

The site filters as `applyRoute` and `updateTable` in templates/static/script.js of
spack/spack-cache do: one package, and all conditions hold. Variants, stacks and releases are
lists, as `data.py` writes them, and have to contain the value; other values only contain the text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from spackscope.model.core.columns import Value
from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import (
    Spec,
    is_hash,
    is_propagated,
    spell_variant,
    split_variant,
)
from spackscope.model.core.text import clean, cut_list, is_clean, shorten
from spackscope.model.query.ast import Condition, Query, Term, exact_query, exact_term, query_of
from spackscope.model.query.matchers import ARCHITECTURE, is_glob
from spackscope.model.query.parser import format_for_shell, parse
from spackscope.model.sources.source_name import PUBLIC, SITE

_TOP = f"https://{SITE}/"
_ADDRESS = r"(?is)\s*(?:https?://)?cache\.spack\.io(?::\d*)?(?:/([^?#]*))?(?:\?([^#]*))?(?:#.*)?"
_TAG = r"[A-Za-z0-9_.-]+"
_RELEASE = "release"
_KEYS = {
    "hash": "hash",
    "version": "version",
    "variants": "variant",
    "platform": "platform",
    "os": "os",
    "target": "target",
    "stack": "stack",
    "tag": _RELEASE,
}
"""The parameters of the site by the columns that they filter."""
_CONTAINED = ("hash", "version", *ARCHITECTURE)
"""Columns whose values only have to contain the text."""
_MAX_LENGTH = 1 << 14
_MAX_NAMED, _MAX_NAME = 3, 40


class SiteView(Frozen):
    """The source and the query, which may be empty, that an address of the site stands for.

    `notes` are sentences on how it differs from the site.
    """

    source: str
    query: str = ""
    notes: tuple[str, ...] = ()


def parse_site_url(text: str) -> SiteView | None:
    """Parse an address of the site, also of an older form; None for anything else.

    Raises QueryError where it is an address, and a value of it cannot be used.

        parse_site_url("https://cache.spack.io/?package=hdf5&variant=%2Bmpi&release=v1.0.0")
        # SiteView("public:v1.0.0", "hdf5 +mpi")
    """
    match = re.fullmatch(_ADDRESS, text)
    parameters = _of_path((match[1] or "").split("/")) if match is not None else None
    if match is None or parameters is None:
        return None
    if len(text) > _MAX_LENGTH:
        raise QueryError(f"The address is longer than {_MAX_LENGTH:,} characters")
    # Few lines have an address.
    from urllib.parse import parse_qsl

    parameters += parse_qsl(match[2] or "", keep_blank_values=True)
    values: dict[str, list[str]] = {key: [] for key in ("package", *_KEYS.values())}
    ignored: dict[str, None] = {}
    for name, value in parameters:
        # Older addresses have a tag.
        key = _RELEASE if name == "tag" else name
        if key not in values:
            ignored[f"{clean(name)}="] = None
        elif not is_clean(value):
            raise QueryError(f"{name}= of the address has a character that cannot be shown")
        elif value and value not in values[key]:
            values[key].append(value)
    tags = values.pop(_RELEASE)
    if wrong := [tag for tag in tags if not _is_of_list(tag)]:
        raise QueryError(f"{_RELEASE}={shorten(wrong[0], _MAX_NAME)} is not a tag")
    query = query_of(*_conditions(values))
    # Its error names conditions that exclude each other.
    parse(str(query))
    notes = []
    if ignored:
        why = "since the site has no such condition"
        notes.append(f"Ignored in the address, {why}: {_listed(ignored)}")
    contained = [(_KEYS[column], each) for column in _CONTAINED for each in values[column]]
    if wider := [f"{key}={value}" for key, value in contained if "?" in _glob(key, value)]:
        notes.append(f"The query may match more: it has ? for some characters of {_listed(wider)}")
    if len(tags) > 1:
        notes.append("The site shows what is in all of these releases, this what is in any")
    source = f"{PUBLIC}:{','.join(tags)}" if tags else PUBLIC
    if not tags and values["hash"] and is_hash(values["hash"][0]):
        # The site shows all releases, and one that has the hash is enough.
        source = f"{PUBLIC}:/{values['hash'][0]}"
    return SiteView(source, format_for_shell(query) if query else "", tuple(notes))


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(cut_list([shorten(each, _MAX_NAME) for each in texts], _MAX_NAMED))


def _of_path(path: Sequence[str]) -> list[tuple[str, str]] | None:
    """Return the conditions that an older address has in its path; None for another file.

    Such paths are `/tag/TAG`, `/package/TAG/NAME/specs`, as in build.py of the site until April
    2026 and in _config.yml of the pages before, and `/package/NAME`.
    """
    from urllib.parse import unquote

    match [unquote(part) for part in path if part]:
        case [] | ["index.html"]:
            return []
        case ["tag", tag]:
            return [(_RELEASE, tag)]
        case ["package", tag, name, "specs"]:
            return [(_RELEASE, tag), ("package", name)]
        case ["package", name] | ["package", name, "index"]:
            return [("package", name)]
    return None


def _conditions(values: dict[str, list[str]]) -> Iterator[Condition]:
    # The site uses only the first package.
    yield from (exact_term("package", name) for name in values["package"][:1])
    for column in _CONTAINED:
        for value in values[column]:
            if column == "hash" and is_hash(value):
                yield Term(column, value)
            else:
                yield Term(column, _glob(column, value))
    variants: dict[str, list[str]] = {}
    for variant in values["variant"]:
        # A "+" that was not encoded is a blank, and no variant begins with one.
        variant = f"+{variant[1:]}" if variant[0] == " " else variant
        name, equals, value = variant.partition("=")
        variants.setdefault(name + equals, []).append(value)
    for start, several in variants.items():
        yield exact_term("variants", start + ",".join(several))
    yield from (exact_term("stack", stack) for stack in values["stack"])


def _glob(column: str, value: str) -> str:
    """Return a pattern for values that contain a text, with "?" for special characters."""
    odd = r"\W" if column == "hash" else r"[^\w.-]"
    return f"*{re.sub(odd, '?', value, flags=re.ASCII)}*"


def record_url(spec: Spec) -> str:
    """Return the address of a record on the site, or "" if it is of no tag.

    Only pages, and indexes of the public cache, have tags.
    """
    if not (spec.package and _is_of_list(spec.tag)):
        return ""
    return _url([("package", spec.package), ("hash", spec.hash)])


def _is_of_list(tag: str) -> bool:
    """Check whether a tag may be one of the site; tags of other caches have a slash."""
    return re.fullmatch(_TAG, tag) is not None


class SiteUrl(Frozen):
    """An address of the site for a query, and a remark on what it leaves out, or an empty text."""

    text: str
    remark: str


def site_url(query: Query, tags: Collection[Value]) -> SiteUrl | None:
    """Return the address of a query; None if it names no package, or some builds have no tag.

    `tags` are the tags of the builds of this package. If these have one tag, it is in the address.
    The site may show more: it searches some values for the text.
    """
    names = sorted(map(str, tags))
    if query.package is None or not (names and all(map(_is_of_list, names))):
        return None
    parameters, left_out = [("package", query.package)], list[str]()
    tagged = query.plus(Query() if "tag" in query.columns else exact_query("tag", *names))
    for part in tagged.with_package(None).parts():
        condition = part.groups[0][0] if part.groups and len(part.groups[0]) == 1 else None
        texts = _texts(condition)
        if isinstance(condition, Term) and texts:
            parameters += [(_KEYS[condition.column], text) for text in texts]
        else:
            left_out.append(str(part))
    return SiteUrl(_url(parameters), f"without {_listed(left_out)}" if left_out else "")


def _texts(condition: Condition | None) -> list[str]:
    """Return the values of a parameter for a condition; none if the site has no such condition."""
    if not isinstance(condition, Term) or condition.negated or condition.column not in _KEYS:
        return []
    column, pattern = condition.column, condition.pattern
    if column == "variants":
        is_odd = is_glob(pattern) or is_propagated(pattern)
        return [] if is_odd else _each_value(pattern)
    if column in ARCHITECTURE and pattern.strip(":") == "host":
        return []
    if column in _CONTAINED:
        pattern = pattern.removeprefix("=").strip("*")
    return [] if not pattern or is_glob(pattern) or re.search("[:,]", pattern) else [pattern]


def _each_value(variant: str) -> list[str]:
    """Return a variant as the site lists it: once for each of its values."""
    name, values = split_variant(variant)
    return [spell_variant(name, (value,)) for value in values]


def _url(parameters: Sequence[tuple[str, str]]) -> str:
    return f"{_TOP}?{'&'.join(f'{key}={_escaped(value)}' for key, value in parameters)}"


def _escaped(text: str) -> str:
    """Escape characters that are not allowed in the query of a URL."""
    plain = text.replace("-", "").replace("_", "").replace(".", "")
    if plain.isascii() and plain.isalnum():
        return text
    # Hardly any name needs it.
    from urllib.parse import quote

    return quote(text, safe="", errors="replace")

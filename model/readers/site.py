"""Read the data of cache.spack.io: two files with the specs of all its releases.

`get_data` in `data.py` of github.com/spack/spack-cache writes these files. `specs_data.json.gz`
maps hashes to specs without their names, with dependencies as in nodes of Spack.
`package_data.json.gz` maps the names of packages to hashes.

Neither file has compilers: since Spack 1.0 compilers are dependencies; for older specs they are
unknown. Nor do the files say which stack has a spec in which release, so a spec has all its stacks
in each release.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from spackscope.model.core.columns import FLAGS
from spackscope.model.core.errors import Unreadable
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Problem, Records, Spec, is_hash
from spackscope.model.core.tasks import OnCount
from spackscope.model.core.text import counted, cut_list
from spackscope.model.readers.json import (
    A_HASH,
    MAX_RECORDS,
    FieldReader,
    Texts,
    parse,
    shown_value,
    storable,
)
from spackscope.model.readers.unpack import decode, unwrap

MAX_RELEASES = 1000
"""The most releases that are read; the site has some 60."""

MAX_LISTED = 10_000_000
"""The most specs and dependencies of all releases together that are read."""

_HEAD_SIZE = 4096
_SPECS = re.compile(rb'\s*\{\s*"(?:[a-z2-7]{32}"\s*:|[^"]*"\s*:\s*\{\s*"hash"\s*:)')
_PACKAGES = re.compile(rb'\s*\{\s*"[^"]*"\s*:\s*\{\s*"uid"\s*:')
_GROUP = 256
_ONLY_NAMES = (
    "it has only the packages and hashes of cache.spack.io: specs_data.json.gz, which has the"
    " specs, is needed next to it"
)
_UNNAMED = "package_data.json.gz, which has the names, is needed next to it"
_NO_NAME = "spec"
_MAX_NAMED = 5


class PackageFile(NamedTuple):
    """The content of a `package_data.json.gz`, and the name of the file in problems."""

    data: bytes
    origin: str


def is_site_data(data: bytes) -> bool:
    """Check whether data is one of the two files, by its start."""
    head = data[:_HEAD_SIZE]
    return bool(_SPECS.match(head) or _PACKAGES.match(head))


def read_site_data(
    data: bytes, packages: PackageFile | None, *, origin: str, on_count: OnCount | None
) -> Iterator[Records | Problem]:
    """Yield the specs of each release, with names from `packages`, then all problems.

    A spec that `packages` does not name has the name by which other specs depend on it, if any do.
    """
    if _PACKAGES.match(data[:_HEAD_SIZE]):
        yield Problem(origin, "", _ONLY_NAMES)
        return
    from spackscope.model.readers.nodes import NodeReader

    nodes, names = NodeReader(origin, on_count), dict[str, str]()
    if packages is not None:
        yield from _read_names(packages, names)
    absent = set(names)
    stated: dict[str, tuple[Texts, Texts]] = {}
    lists: dict[Texts, Texts] = {}
    fields = nodes.fields

    def texts(record: Mapping[str, Any], name: str) -> Texts:
        # The writer makes these lists from sets of Python, so their order says nothing.
        its = tuple(sorted({*fields.strings(name, record.get(name))}))
        return lists.setdefault(its, its)

    def add(key: str, record: Any) -> None:
        node = record
        if is_hash(key) and isinstance(record, dict):
            name = names.get(key) or _NO_NAME
            fields.place = f"{name[:60]}/{key[:7]}"
            node = _node(name, record, fields)
            stated.setdefault(key, (texts(record, "releases"), texts(record, "stacks")))
        nodes.add(key, node, {"in_buildcache": True})

    try:
        text = decode(data)
        del data
        nodes.expected = text.count('"releases":')
        _, remarks = parse(text, {"{": add})
        del text
    except Unreadable as error:
        yield Problem(origin, "", str(error))
        return
    problems = [Problem(origin, "", remark) for remark in remarks]
    by_release: dict[str, list[Spec]] = {}
    for item in nodes.finish():
        if isinstance(item, Problem):
            problems.append(item)
            continue
        for spec in cast("Sequence[Spec]", item.looks):
            for release in stated[spec.hash][0] or ("",):
                by_release.setdefault(release, []).append(spec)
            for dependency in spec.dependencies or ():
                names.setdefault(dependency.hash, dependency.name)
    left_out, listed = list[str](), 0
    # The newest first; releases of single days, such as `develop-2026-11-22`, last.
    releases = sorted(sorted(by_release, reverse=True), key=lambda release: "-" in release)
    for number, release in enumerate(releases):
        its = by_release.pop(release)
        listed += (size := sum(1 + len(spec.dependencies or ()) for spec in its))
        if number < MAX_RELEASES and listed <= MAX_LISTED:
            yield from _of_release(release, its, names, stated)
        else:
            listed -= size
            left_out.append(release or "none")
    yield from problems
    if left_out:
        most = f"{MAX_LISTED:,} specs and dependencies of {MAX_RELEASES:,} releases"
        left = ", ".join(cut_list(left_out, _MAX_NAMED))
        yield Problem(origin, "", f"it has more than {most}; these are left out: {left}")
    if unnamed := sum(not names.get(hash_) for hash_ in stated):
        why = _UNNAMED if packages is None else f"not in {packages.origin}"
        yield Problem(origin, "", f"{counted(unnamed, 'spec')} without a name: {why}")
    if packages is not None and (absent := absent - stated.keys()):
        of = f"{counted(len(absent), 'hash')} of {packages.origin}"
        yield Problem(origin, "", f"{of} {'is' if len(absent) == 1 else 'are'} not in it")


def _read_names(packages: PackageFile, names: dict[str, str]) -> Iterator[Problem]:
    """Add the name of the package of each hash to `names`; yield the problems."""
    fields = FieldReader(packages.origin)

    def add(package: str, record: Any) -> None:
        package = storable(package)
        fields.place = package[:60]
        its = fields.mapping("record", record)
        for hash_ in fields.strings("specs", its.get("specs")) if its else ():
            if len(names) >= MAX_RECORDS:
                raise Unreadable(f"it has more than {MAX_RECORDS:,} hashes")
            if not is_hash(hash_):
                fields.add_wrong("hash", hash_, A_HASH)
            elif (first := names.setdefault(hash_, package)) != package:
                fields.add_problem(f"{hash_} is also a hash of {first[:60]}; the first one counts")

    data, reasons = unwrap(packages.data)
    try:
        if data or not reasons:
            reasons += parse(decode(data), {"{": add})[1]
    except Unreadable as error:
        reasons.append(str(error))
    yield from (Problem(packages.origin, "", reason) for reason in reasons)
    yield from fields.problems()


def _node(name: str, record: Mapping[str, Any], fields: FieldReader) -> dict[str, Any]:
    """Return the node of Spack for a record, without the fields that the record does not have."""
    arch = {"platform": record.get("platform"), "platform_os": record.get("os")}
    return {
        "name": name,
        "hash": record.get("hash"),
        "version": record.get("version"),
        "arch": {**arch, "target": record.get("target")},
        "parameters": _parameters(fields.strings("variants", record.get("variants")), fields),
        "dependencies": record.get("dependencies"),
        # The spec may have had a compiler: its lists of values may be from before Spack 1.0.
        "compiler": None,
    }


def _parameters(variants: Texts, fields: FieldReader) -> dict[str, Any]:
    """Return variants and flags by their names, from one text for each of their values.

    A list of one value is written like a single value, and is read as a single value.
    """
    parameters: dict[str, Any] = {}
    for text in variants:
        name, is_, value = text.partition("=")
        if text[:1] in ("+", "~"):
            name = text[1:]
            is_new = parameters.setdefault(name, text[0] == "+") is (text[0] == "+")
        elif is_:
            is_new = type(values := parameters.setdefault(name, [])) is list
            if is_new:
                values.append(value)
        else:
            expected = "+name, ~name or name=value"
            fields.add_problem(f"variants contains {shown_value(text)}, expected {expected}")
            continue
        if not is_new:
            fields.add_problem(f"variant {name[:60]} is given twice; the first one counts")
    for name, value in parameters.items():
        if type(value) is list and len(value) == 1 and name not in FLAGS:
            parameters[name] = value[0]
    return parameters


def _of_release(
    release: str,
    specs: Sequence[Spec],
    names: Mapping[str, str],
    stated: Mapping[str, tuple[Texts, Texts]],
) -> Iterator[Records]:
    for start in range(0, len(specs), _GROUP):
        looks = [
            replace(
                spec,
                package=names.get(spec.hash, ""),
                # A spec that no dependency compiles may have had a compiler all the same.
                compiler="" if spec.compiler == "none" else spec.compiler,
                tag=release,
                stacks=stated[spec.hash][1],
            )
            for spec in specs[start : start + _GROUP]
        ]
        hashes = [spec.hash for spec in looks]
        yield Records(looks, range(len(looks)), hashes, [None] * len(looks))

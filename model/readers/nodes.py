"""Read spec nodes: the object of one spec in an index, a lock file or a spec file.

There are six specfile formats (lib/spack/spack/spec.py): format 1 is `{name: {…}}` with an object
of dependencies; 2 and 3 have a list of dependencies with `type`; 4 has deptypes and virtuals of
dependencies in `parameters`; 5, of Spack 1.0, has compilers among the dependencies and no
`compiler`; 6, of Spack 1.3, has the virtuals that a node provides.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from spackscope.model.core.columns import FLAGS
from spackscope.model.core.records import (
    LANGUAGES,
    NEWEST_FORMAT,
    NO_COMPILER,
    NO_VIRTUALS,
    PROVIDED_IN,
    Dependency,
    Problem,
    Records,
    Spec,
    is_hash,
)
from spackscope.model.core.tasks import OnCount
from spackscope.model.core.text import counted
from spackscope.model.readers.json import (
    A_HASH,
    MAX_RECORDS,
    FieldReader,
    Texts,
    TooManyRecords,
    is_number,
    member,
    shown_value,
    storable,
)

_OLD_HASH_KEYS = ("full_hash", "build_hash")
"""Keys of other hashes of a node; dependencies name nodes by these hashes until Spack 0.17."""
_HASH_KEYS = ("hash", *_OLD_HASH_KEYS)
_NO_EXTERNAL = (None, "", "None", "null", "~", "false")
"""Values that mean no prefix and no module; the last three are from YAML."""
_ORIGINAL_FORMAT = "original_specfile_version"
_MAX_ATTRIBUTES = 10_000
"""The most characters of the attributes of an external that are kept, as JSON."""
_GROUP = 256
"""The number of records that are counted and yielded at once."""
_MAX_DIGITS = 10
_YEAR_10000 = 253_402_300_800

_FLAGS, _LANGUAGES = frozenset(FLAGS), frozenset(LANGUAGES)
_BARE = re.compile(r"[a-zA-Z0-9,/_.\-\[\]]+")
_BARE_BEFORE_1_0 = re.compile(r"[a-zA-Z0-9,/_.\-]+")

Fields = Mapping[str, Any]
_NO_FIELDS: Fields = {}


class NodeReader:
    """Reads the nodes of one document.

    First `add` each node, and set `format` to the specfile format that the document states, None
    if it is unknown. Then `finish`: the version of a compiler is in the node of the compiler,
    which may be the last one. Equal variants, dependencies and lists become one object. `on_count`
    is called with the number of nodes so far, and the `expected` number.

    `prefix` is put before the place of each problem. `aliases` maps other hashes of nodes, by
    which dependencies name them, to their `hash`.
    """

    def __init__(self, origin: str, on_count: OnCount | None = None) -> None:
        self.fields = FieldReader(origin)
        self.prefix, self.expected = "", 0
        self.source_remark, self.database = "", 0
        """A problem of all documents of this version; and the version of the database, or 0."""
        self.format: int | None = None
        self.aliases: dict[str, str] = {}
        self.reports_absent = True
        self._origin, self._on_count, self._count = origin, on_count, 0
        self._specs: dict[str, Spec] = {}
        self._dependencies: dict[tuple[str, str, Texts, Texts], Dependency] = {}
        self._variants: dict[tuple[str, object, bool], str] = {}
        self._lists: dict[Texts, Texts] = {}

    def add(self, hash_: object, node: object, record: object = _NO_FIELDS) -> None:
        """Read a node; the first of several nodes with one hash counts.

        `record` has the fields that the document states beside the node, like an install record of
        Spack. A node with a valid hash is kept, with all fields that can be read. Raises
        TooManyRecords after more nodes, dependencies and variants than MAX_RECORDS, and the
        exceptions of `on_count`.
        """
        self._count += 1
        if self._on_count is not None and self._count % _GROUP == 0:
            self._on_count(self._count, self.expected)
        if self._count + len(self._dependencies) + len(self._variants) > MAX_RECORDS:
            reason = f"it has more than {MAX_RECORDS:,} records, dependencies and variants"
            raise TooManyRecords(reason)
        fields = _fields_of(node)
        name = fields.get("name")
        self.fields.place = self.prefix + (name[:60] if type(name) is str and name else "spec")
        if not is_hash(hash_):
            self.fields.add_wrong("hash", hash_, A_HASH)
            return
        self.fields.place += f"/{hash_[:7]}"
        if not isinstance(record, dict):
            self.fields.add_wrong("record", record, "an object")
        elif not isinstance(node, dict):
            self.fields.add_wrong("node", node, "an object")
        else:
            self._add(hash_, fields, record)

    @staticmethod
    def hash_of(node: object) -> object:
        """Return the hash that a node states; it may be any value, or None."""
        return _fields_of(node).get("hash")

    @staticmethod
    def dependencies_of(node: object) -> list[tuple[str, str]]:
        """Return the names and hashes of the dependencies of a node of format 1 to 3."""
        stated = _as_list(_fields_of(node).get("dependencies"))
        pairs = (
            (member(each, "name"), next((each[key] for key in _HASH_KEYS if key in each), None))
            for each in (stated if isinstance(stated, list) else ())
            if isinstance(each, dict)
        )
        return [(name, hash_) for name, hash_ in pairs if type(name) is type(hash_) is str]

    def finish(self) -> Iterator[Records | Problem]:
        """Yield the specs in their order, in groups, then all problems.

        All dependencies whose nodes are not in the document are one problem. Spack warns of them,
        too (`_assign_dependencies` in lib/spack/spack/database.py).
        """
        versions = {hash_: spec.version for hash_, spec in self._specs.items()}
        absent: dict[str, str] = {}
        renamed: dict[Dependency, Dependency] = {}
        for dependency in self._dependencies.values():
            if dependency.hash in versions:
                continue
            if dependency.hash in self.aliases:
                renamed[dependency] = dependency._replace(hash=self.aliases[dependency.hash])
            else:
                absent.setdefault(dependency.hash, dependency.name)
        left = iter(versions)
        while hashes := list(islice(left, _GROUP)):
            # Yielded specs are not kept here.
            specs = [self._specs.pop(hash_) for hash_ in hashes]
            for spec in specs:
                its = spec.dependencies or ()
                if renamed and its:
                    its = tuple([renamed.get(item, item) for item in its])
                    object.__setattr__(spec, "dependencies", its)
                if not spec.compiler:
                    # The first of the compilers for C, C++ and Fortran.
                    item = next(d for language in LANGUAGES for d in its if language in d.virtuals)
                    version = versions.get(item.hash)
                    compiler = sys.intern(f"{item.name}@{version}" if version else item.name)
                    object.__setattr__(spec, "compiler", compiler)
                format_ = self.format or spec.spec_format
                if not spec.spec_format:
                    object.__setattr__(spec, "spec_format", format_)
                if format_ >= PROVIDED_IN and not spec.provided_virtuals:
                    object.__setattr__(spec, "provided_virtuals", NO_VIRTUALS)
            yield Records(specs, range(len(specs)), hashes, [None] * len(specs), self.database)
        yield from self.fields.problems()
        if absent and self.reports_absent:
            missing = f"{counted(len(absent), 'dependency')} {'is' if len(absent) == 1 else 'are'}"
            hash_, name = next(iter(absent.items()))
            reason = storable(f"{missing} missing, such as {name}/{hash_[:7]}")
            yield Problem(self._origin, "", reason)

    def _add(self, hash_: str, node: Fields, record: Fields) -> None:
        """Read a node; a compiler that is a dependency stays empty until `finish`."""
        fields, get = self.fields, node.get
        hash_ = sys.intern(hash_)
        for key in _OLD_HASH_KEYS:
            if type(alias := get(key)) is str:
                self.aliases[alias] = hash_
        if (stated := get("hash", hash_)) != hash_:
            fields.add_problem(f"node states another hash, {shown_value(stated)}")
        platform = os = target = ""
        if type(arch := get("arch")) is not dict:
            fields.add_wrong("arch", arch, "an object")
        else:
            its = arch.get("target")
            platform = fields.string("platform", arch.get("platform"))
            os = fields.string("platform_os", arch.get("platform_os"))
            target = fields.string("target", its.get("name") if type(its) is dict else its)
        dependencies = self._read_dependencies(get("dependencies"))
        variants, flags = self._parameters(get("parameters"), is_complete="compiler" not in node)
        external, modules, attributes = self._external(get("external"))
        build_spec = get("build_spec")
        if build_spec and not is_hash(build_spec := member(build_spec, "hash")):
            fields.add_wrong("hash of build_spec", build_spec, A_HASH)
            build_spec = ""
        compiler = self._compiler(node)
        if not compiler and all(_LANGUAGES.isdisjoint(item.virtuals) for item in dependencies):
            compiler = NO_COMPILER
        original = _original_format(node)
        spec = Spec(
            package=fields.string("name", get("name")),
            hash=hash_,
            version=self._version(node),
            compiler=compiler,
            platform=platform,
            os=os,
            target=target,
            variants=variants,
            stacks=(),
            size=None,
            tag="",
            origin=self._origin,
            namespace=self._optional("namespace", get("namespace")),
            flags=flags,
            dependencies=dependencies,
            package_hash=self._optional("package_hash", get("package_hash")),
            external=external,
            external_modules=modules,
            external_attributes=attributes,
            patches=self._shared(fields.strings("patches", get("patches") or [])),
            spec_format=min(original, NEWEST_FORMAT),
            provided_virtuals=self._shared(
                fields.strings("provided_virtuals", get("provided_virtuals") or [])
            ),
            build_spec=build_spec or "",
            **self._state(record),
        )
        if self._specs.setdefault(hash_, spec) != spec:
            fields.add_problem("it is listed twice with different content; the first one counts")

    def _shared(self, texts: Texts) -> Texts:
        return self._lists.setdefault(texts, texts)

    def _optional(self, name: str, value: object) -> str:
        """Return a string that a node may lack."""
        return "" if value is None else self.fields.string(name, value)

    def _version(self, node: Fields, name: str = "version") -> str:
        """Return the version of a node, or the only one of its `versions`, without `=`."""
        versions = node.get("versions")
        only = versions[0] if type(versions) is list and len(versions) == 1 else None
        return sys.intern(self.fields.string(name, node.get("version", only)).removeprefix("="))

    def _compiler(self, node: Fields) -> str:
        """Return the compiler that a node states, as `gcc@13.2.0`; empty if it states none."""
        stated, annotations = node.get("compiler"), node.get("annotations")
        if stated is None and annotations is not None:
            stated = self.fields.mapping("annotations", annotations).get("compiler")
        if type(stated) is dict:
            name = self.fields.string("compiler", stated.get("name"))
            version = self._version(stated, "version of compiler")
            return sys.intern(f"{name}@{version}" if name and version else name)
        if stated is None:
            return ""
        return sys.intern(self.fields.string("compiler", stated).replace("@=", "@", 1))

    def _external(self, external: object) -> tuple[str, Texts, str]:
        """Return the prefix of an external (or else its modules), all modules, and attributes."""
        stated = self.fields.mapping("external", external or {})
        path, modules = stated.get("path"), stated.get("module")
        items = modules if type(modules) is list else [modules]
        names = tuple(storable(i) for i in items if type(i) is str and i not in _NO_EXTERNAL)
        attributes = stated.get("extra_attributes")
        more = storable(json.dumps(attributes)[:_MAX_ATTRIBUTES]) if attributes else ""
        if path in _NO_EXTERNAL:
            return sys.intern(", ".join(names)), names, more
        return self.fields.string("external prefix", path), names, more

    def _state(self, record: Fields) -> dict[str, Any]:
        """Return the fields of a spec that its install record has beside the node.

        `InstallRecord.to_dict` in lib/spack/spack/database.py writes them; most records of a cache
        have few.
        """
        if not record:
            return {}
        flags = {"in_buildcache": True, "installed": False, "explicit": False}
        for key in flags.keys() & record.keys():
            if isinstance(record[key], bool):
                flags[key] = record[key]
            else:
                self.fields.add_wrong(key, record[key], "true or false")
        path, time = record.get("path"), record.get("installation_time")
        seconds = float(time) if is_number(time) else -1.0
        has_time = 0 <= seconds < _YEAR_10000
        if not has_time and time is not None:
            self.fields.add_wrong("installation_time", time, "seconds since 1970")
        is_only_installed = "installed" in record and "in_buildcache" not in record
        return {
            "in_cache": flags["installed" if is_only_installed else "in_buildcache"],
            "cached": record.get("in_buildcache") is True,
            "installed": flags["installed"],
            "explicit": flags["explicit"],
            "path": "" if path in ("", "None") else self._optional("path", path),
            "installed_at": seconds if has_time else None,
        }

    def _parameters(self, parameters: object, *, is_complete: bool) -> tuple[Texts, Texts]:
        """Return variants and non-empty flags as Spack prints them, in the order of the node.

        The rules are from `VariantValue.__str__` (lib/spack/spack/variant.py) and
        `quote_if_needed` (lib/spack/spack/spec_parser.py), except that the digests of `patches`
        stay whole, and that one value with a comma gets double quotes. With `is_complete`, lists
        of values are written with `:=`, as Spack does since 1.0.
        """
        variants: list[str] = []
        flags: list[str] = []
        cache = self._variants
        for name, value in self.fields.mapping("parameters", parameters).items():
            if name in _FLAGS:
                if value and (words := self.fields.strings(name, value)):
                    flags.append(sys.intern(f"{name}={' '.join(words)}"))
                continue
            key = (name, tuple(value) if type(value) is list else value, is_complete)
            try:
                text = cache[key]
            except (KeyError, TypeError):
                if not (variant := self._variant(name, value, is_complete)):
                    continue
                text = cache[key] = sys.intern(storable(variant))
            variants.append(text)
        return self._shared(tuple(variants)), self._shared(tuple(flags))

    def _variant(self, name: str, value: object, is_complete: bool) -> str:
        """Return a variant as Spack prints it, or an empty string."""
        if not name:
            self.fields.add_problem("a variant has no name")
        elif isinstance(value, bool) or (
            isinstance(value, str) and value.lower() in ("true", "false")
        ):
            return ("+" if str(value).lower() == "true" else "~") + name
        elif isinstance(value, str):
            # Without quotes, a comma in one value would look like one between two values.
            text = json.dumps(value) if "," in value else _quoted(value, is_complete)
            return f"{name}={text}"
        elif not isinstance(value, list):
            self.fields.add_wrong(f"variant {name}", value, "a string, a list, true or false")
        elif others := [item for item in value if not isinstance(item, str)]:
            reason = f"variant {name} contains {shown_value(others[0])}, expected strings"
            self.fields.add_problem(reason)
        else:
            values = ",".join(sorted(value) if is_complete else value)
            return f"{name}{':=' if is_complete else '='}{_quoted(values, is_complete)}"
        return ""

    def _read_dependencies(self, dependencies: object) -> tuple[Dependency, ...]:
        """Return the dependencies of a node that have a valid hash."""
        fields, cache, result = self.fields, self._dependencies, list[Dependency]()
        items: Any = [] if dependencies is None else _as_list(dependencies)
        if type(items) is not list:
            fields.add_wrong("dependencies", items, "a list")
            return ()
        for item in items:
            try:
                its = item["parameters"]
                key = item["hash"], item["name"], tuple(its["deptypes"]), tuple(its["virtuals"])
                result.append(cache[key])
                continue
            except (KeyError, TypeError):
                pass
            if type(item) is not dict:
                reason = f"dependencies contains {shown_value(item)}, expected objects"
                fields.add_problem(reason)
                continue
            name = item.get("name")
            label = f"dependency {name}" if type(name) is str and name else "dependency"
            hash_ = next((item[key] for key in _HASH_KEYS if key in item), None)
            if not is_hash(hash_):
                fields.add_wrong(f"hash of {label}", hash_, A_HASH)
                continue
            its = item.get("parameters")
            its = its if type(its) is dict else {"deptypes": item.get("type")}
            key = (
                sys.intern(hash_),
                fields.string("name of dependency", name),
                fields.strings(f"deptypes of {label}", its.get("deptypes")),
                fields.strings(f"virtuals of {label}", its.get("virtuals", [])),
            )
            result.append(cache.setdefault(key, Dependency(*key)))
        return tuple(result)


def _as_list(dependencies: Any) -> Any:
    """Return dependencies as a list; format 1 has an object with their names as keys."""
    if type(dependencies) is not dict:
        return dependencies
    its = dependencies.items()
    return [{**each, "name": name} if type(each) is dict else each for name, each in its]


def _fields_of(node: object) -> Fields:
    """Return the fields of a node with its name, which is the key of the fields in format 1."""
    if not isinstance(node, dict):
        return _NO_FIELDS
    if "name" not in node and len(node) == 1:
        ((name, fields),) = node.items()
        if isinstance(fields, dict):
            return {**fields, "name": name}
    return node


def _quoted(value: str, is_complete: bool) -> str:
    if (_BARE if is_complete else _BARE_BEFORE_1_0).fullmatch(value):
        return value
    return json.dumps(value) if "'" in value else f"'{value}'"


def _original_format(node: Fields) -> int:
    """Return the format in which a node was hashed if it was converted later, else 0."""
    stated = member(node.get("annotations"), _ORIGINAL_FORMAT)
    digits = str(stated) if is_number(stated) else ""
    return int(digits) if digits.isdecimal() and len(digits) < _MAX_DIGITS else 0

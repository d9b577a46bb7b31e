"""Read spec nodes: the object of one spec in an index, a lock file or a spec file.

There are five specfile formats (lib/spack/spack/spec.py): 1 is `{name: {…}}` with an object of
dependencies; 2 and 3 have a list of them with `type`; 4 has their deptypes and virtuals as
`parameters`; 5, of Spack 1.0, has compilers among the dependencies and no `compiler`.

A reader that is to `check` computes the hash of each node instead, as Spack did when it
concretized the spec.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from spackscope.model.core.columns import FLAGS
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import LANGUAGES, Dependency, Problem, Spec, is_hash
from spackscope.model.core.tasks import OnCount
from spackscope.model.core.text import counted
from spackscope.model.readers.json import (
    MAX_RECORDS,
    TOO_MANY_RECORDS,
    FieldReader,
    Texts,
    is_number,
    kind,
    mismatch,
    shown_value,
    storable,
)

CURRENT_FORMAT, LAST_FORMAT_OF_0_17 = 5, 2

OLD = "Spack before 0.18 hashed another text"
CONVERTED = "a newer Spack converted them from an older format"
UNKNOWN = "the format of the document is not known"
"""Why another hash does not mean that a node is wrong."""

EXTERNAL = "external, whose prefix or modules may have been rewritten"
CHANGED = "changed after Spack hashed it"

_OLD_HASH_KEYS = ("full_hash", "build_hash")
"""Keys of other hashes of a node, by which dependencies name it until Spack 0.17."""
_NO_EXTERNAL = ("", "None", "null", "~", "false")
"""Values that mean no prefix and no module, the latter three in YAML."""
_ORIGINAL_FORMAT = "original_specfile_version"
_MAX_ATTRIBUTES = 10_000
"""Characters that are kept of what a node states more of an external."""
_COUNT_INTERVAL = 256
_MAX_DIGITS = 10
_compact = json.JSONEncoder(separators=(",", ":")).encode
_SPLICED = 7
"""The last characters of a spliced spec's hash, which are those of the spec it was built as."""

_FLAGS, _LANGUAGES = frozenset(FLAGS), frozenset(LANGUAGES)
_BARE = re.compile(r"[a-zA-Z0-9,/_.\-\[\]]+")
_BARE_BEFORE_1_0 = re.compile(r"[a-zA-Z0-9,/_.\-]+")

Fields = Mapping[str, Any]


class WrongHash(NamedTuple):
    """A record whose content gives another hash; `content_hash` is empty if it gives none."""

    package: str
    version: str
    hash: str
    content_hash: str
    reason: str


class NodeReader:
    """Reads the nodes of one document.

    `format` is the specfile format that the document states, None if it is unknown. First `add`
    each node, then `finish`: the version of a compiler is in its own node, which may be the last
    one. Equal variants, dependencies and lists become one object. `on_count` is called with the
    number of nodes, and about how many are `expected`.

    `prefix` is put before the place of each problem. The reader `is_full` after more nodes,
    dependencies and variants than MAX_RECORDS; further nodes are ignored.

    To `check`, no node is read: `checks` has for each hash an empty string if it is that of the
    content, else why that does not matter, or a WrongHash; `cached` has names of specs by hash.
    """

    def __init__(
        self,
        origin: str,
        *,
        on_count: OnCount | None = None,
        expected: int = 0,
        check: bool = False,
    ) -> None:
        self.origin, self.is_checking = origin, check
        self.prefix = ""
        self.format: int | None = None
        self.hash_format: int | None = None
        """The specfile format in which the nodes were hashed, if it is not `format`."""
        self._on_count, self._expected = on_count, expected
        self.start()

    def start(self) -> None:
        """Forget all nodes, which those of a repeated key replace."""
        self.is_full = False
        self.fields = FieldReader(self.origin)
        self.specs: dict[str, Spec | None] = {}
        self.aliases: dict[str, str] = {}
        """The hashes of nodes by others by which dependencies name them."""
        self.checks: dict[str, str | WrongHash] = {}
        self.cached: dict[str, str] = {}
        self._count = 0
        self._versions: dict[str, str] = {}
        self._dependencies: dict[tuple[str, str, Texts, Texts], Dependency] = {}
        self._variants: dict[tuple[str, object, bool], str] = {}
        self._lists: dict[Texts, Texts] = {}

    def add(self, hash_: object, node: object, **values: Any) -> Spec | None:
        """Read a node as `read` does, and keep its spec unless there is one of this hash."""
        if self.is_checking and is_hash(hash_) and hash_ in self.checks:
            return None
        spec = self.read(hash_, node, **values)
        if spec is not None and self.specs.setdefault(spec.hash, spec) != spec:
            reason = "it is listed twice with different content; the first one counts"
            self.fields.add_problem(reason)
        return spec

    def add_cached(self, hash_: str, node: object) -> None:
        """Note the name of a spec that an index lists as in its mirror."""
        name, fields = _name_and_fields(node)
        named = f"{name}@{fields.get('version', '')}" if fields else ""
        self.cached[hash_] = storable(named)

    @staticmethod
    def hash_of(node: object) -> object:
        """Return the hash that a node states, whatever it is."""
        _, fields = _name_and_fields(node)
        return fields.get("hash") if fields else None

    def finish(self, *, report_absent: bool = True) -> Iterator[Spec | Problem]:
        """Yield the specs in their order, then all problems.

        Dependencies whose nodes are not in the document are one. Spack warns of them, too
        (`_assign_dependencies` in lib/spack/spack/database.py).
        """
        unknown: dict[str, str] = {}
        for hash_, name, *_ in self._dependencies:
            if hash_ not in self._versions:
                unknown.setdefault(hash_, name)
        renamed = {
            alias: sys.intern(self.aliases[alias]) for alias in unknown if alias in self.aliases
        }
        for hash_ in list(self.specs):
            # Specs are not kept beside what becomes of them.
            if (spec := self.specs.pop(hash_)) is None:
                continue
            dependencies = spec.dependencies or ()
            if renamed and any(item.hash in renamed for item in dependencies):
                dependencies = tuple(
                    replace(item, hash=renamed.get(item.hash, item.hash)) for item in dependencies
                )
                object.__setattr__(spec, "dependencies", dependencies)
            if not spec.compiler:
                # The first of the compilers for C, C++ and Fortran.
                item = next(
                    d for language in LANGUAGES for d in dependencies if language in d.virtuals
                )
                version = storable(self._versions.get(item.hash, ""))
                compiler = sys.intern(f"{item.name}@{version}" if version else item.name)
                object.__setattr__(spec, "compiler", compiler)
            yield spec
        yield from self.fields.problems()
        if self.is_full:
            yield Problem(self.origin, "", TOO_MANY_RECORDS)
        absent = [hash_ for hash_ in unknown if hash_ not in renamed]
        if absent and report_absent:
            missing = f"{counted(len(absent), 'dependency')} {'is' if len(absent) == 1 else 'are'}"
            such = f"such as {unknown[absent[0]]}/{absent[0][:7]}"
            yield Problem(self.origin, "", storable(f"{missing} missing, {such}"))

    def read(self, hash_: object, node: object, **values: Any) -> Spec | None:
        """Read a node; `values` are what the document states outside of the node.

        Returns None without a valid hash, or if there were too many nodes; of any other node
        what can be read. The compiler is empty where it is a dependency, until `finish`.
        """
        self._count += 1
        if self._on_count is not None and self._count % _COUNT_INTERVAL == 0:
            self._on_count(self._count, self._expected)
        if self._count + len(self._dependencies) + len(self._variants) > MAX_RECORDS:
            self.is_full = True
            return None
        name, fields = _name_and_fields(node)
        if self.is_checking:
            if fields is not None and is_hash(hash_):
                self.checks[hash_] = self._check(hash_, name, fields)
            return None
        if fields is not None and type(hash_) is str:
            self._versions[hash_] = _exact_version(fields)
            for key in _OLD_HASH_KEYS:
                if type(alias := fields.get(key)) is str:
                    self.aliases[alias] = hash_
        place = self.prefix + (name[:60] if type(name) is str and name else "spec")
        self.fields.place = place
        if not is_hash(hash_):
            self.fields.add_wrong_hash("hash", hash_)
            return None
        self.fields.place = f"{place}/{hash_[:7]}"
        if fields is None:
            self.fields.add_problem(mismatch("node", node, "an object"))
            return None
        if (stated := fields.get("hash", hash_)) != hash_:
            self.fields.add_problem(f"node states another hash, {shown_value(stated)}")
        arch = fields.get("arch")
        if type(arch) is dict:
            target = arch.get("target")
            if type(target) is dict:
                target = target.get("name")
            platform = self.fields.string("platform", arch.get("platform"))
            os = self.fields.string("platform_os", arch.get("platform_os"))
            target = self.fields.string("target", target)
        else:
            self.fields.add_problem(mismatch("arch", arch, "an object"))
            platform = os = target = ""
        dependencies = self._read_dependencies(fields.get("dependencies"))
        is_complete = self.format == 5 if self.format else "compiler" not in fields
        variants, flags = self._parameters(fields.get("parameters"), is_complete=is_complete)
        external, modules, attributes = self._external(fields.get("external"))
        patches, build_spec = fields.get("patches"), fields.get("build_spec")
        original = _original_format(fields)
        has_compiler = any(
            item.virtuals and not _LANGUAGES.isdisjoint(item.virtuals) for item in dependencies
        )
        return Spec(
            package=self.fields.string("name", name),
            hash=sys.intern(hash_),
            version=self._version(fields),
            compiler=self._compiler(fields) or ("" if has_compiler else "none"),
            platform=platform,
            os=os,
            target=target,
            variants=variants,
            stacks=(),
            size=None,
            tag="",
            origin=self.origin,
            namespace=self._optional("namespace", fields),
            flags=flags,
            dependencies=dependencies,
            package_hash=self._optional("package_hash", fields),
            external=external,
            external_modules=modules,
            external_attributes=attributes,
            patches=self._shared(self.fields.strings("patches", patches)) if patches else (),
            spec_format=original if 1 <= original <= CURRENT_FORMAT else self.format or 0,
            build_spec=self._build_spec(build_spec) if build_spec else "",
            **values,
        )

    def _shared(self, texts: Texts) -> Texts:
        return self._lists.setdefault(texts, texts)

    def _optional(self, name: str, fields: Fields) -> str:
        """Return a string that a node may lack."""
        value = fields.get(name)
        return "" if value is None else self.fields.string(name, value)

    def _version(self, fields: Fields) -> str:
        version = fields.get("version")
        if "version" not in fields and "versions" in fields:
            versions = fields["versions"]
            if type(versions) is not list or len(versions) != 1:
                self.fields.add_problem("versions is not a list of one")
                return ""
            version = versions[0]
        return sys.intern(self.fields.string("version", version).removeprefix("="))

    def _compiler(self, fields: Fields) -> str:
        """Return the compiler that a node states, or an empty string."""
        stated, annotations = fields.get("compiler"), fields.get("annotations")
        if stated is None and type(annotations) is dict:
            stated = annotations.get("compiler")
        elif stated is None and annotations is not None:
            self.fields.add_problem(mismatch("annotations", annotations, "an object"))
        if type(stated) is dict:
            name = self.fields.string("compiler", stated.get("name"))
            version = _exact_version(stated)
            if not version:
                self.fields.add_problem("version of compiler is missing")
            return sys.intern(storable(f"{name}@{version}" if name and version else name))
        if type(stated) is str and stated:
            return sys.intern(storable(stated.replace("@=", "@", 1)))
        if stated is not None:
            self.fields.add_problem(mismatch("compiler", stated, "an object"))
        return ""

    def _external(self, external: object) -> tuple[str, Texts, str]:
        """Return the prefix of what Spack did not build, or else its modules; these, and more."""
        if not external:
            return "", (), ""
        if type(external) is not dict:
            self.fields.add_problem(mismatch("external", external, "an object"))
            return "", (), ""
        path, modules = external.get("path"), external.get("module")
        items = modules if type(modules) is list else [modules]
        names = tuple(storable(i) for i in items if type(i) is str and i not in _NO_EXTERNAL)
        attributes = external.get("extra_attributes")
        more = storable(json.dumps(attributes)[:_MAX_ATTRIBUTES]) if attributes else ""
        if type(path) is str and path not in _NO_EXTERNAL:
            return sys.intern(storable(path)), names, more
        if not names and path not in (None, *_NO_EXTERNAL):
            self.fields.add_problem(mismatch("external prefix", path, "a string"))
        return sys.intern(", ".join(names)), names, more

    def _build_spec(self, build_spec: object) -> str:
        hash_ = build_spec.get("hash") if type(build_spec) is dict else None
        if is_hash(hash_):
            return sys.intern(hash_)
        self.fields.add_wrong_hash("hash of build_spec", hash_)
        return ""

    # Parameters

    def _parameters(self, parameters: object, *, is_complete: bool) -> tuple[Texts, Texts]:
        """Return variants and non-empty flags as Spack prints them, in stored order.

        The rules are those of `VariantValue.__str__` (lib/spack/spack/variant.py) and of
        `quote_if_needed` (lib/spack/spack/spec_parser.py), except that the digests of `patches`
        stay whole, and that one value with a comma gets double quotes. `is_complete` marks lists
        of values with `:=`, as Spack does since 1.0.
        """
        if type(parameters) is not dict:
            self.fields.add_problem(mismatch("parameters", parameters, "an object"))
            return (), ()
        variants: list[str] = []
        flags: list[str] = []
        cache = self._variants
        for name, value in parameters.items():
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
            return ""
        if isinstance(value, bool) or (type(value) is str and value.lower() in ("true", "false")):
            return ("+" if value is True or str(value).lower() == "true" else "~") + name
        if isinstance(value, str):
            # Without quotes the commas of one value would look like those between several.
            text = json.dumps(value) if "," in value else _quoted(value, is_complete)
            return f"{name}={text}"
        if not isinstance(value, list):
            expected = "a string, a list, true or false"
            self.fields.add_problem(f"variant {name} is {kind(value)}, expected {expected}")
            return ""
        if others := [item for item in value if not isinstance(item, str)]:
            self.fields.add_problem(f"variant {name} contains {kind(others[0])}, expected strings")
            return ""
        values = ",".join(sorted(value) if is_complete else value)
        return f"{name}{':=' if is_complete else '='}{_quoted(values, is_complete)}"

    # Dependencies

    def _read_dependencies(self, dependencies: object) -> tuple[Dependency, ...]:
        """Return the dependencies of a node: an object with their names as keys, or a list."""
        if not dependencies and dependencies in (None, [], {}):
            return ()
        if type(dependencies) is dict:
            pairs = list(dependencies.items())
        elif type(dependencies) is list:
            pairs = [(None, item) for item in dependencies]
        else:
            self.fields.add_problem(mismatch("dependencies", dependencies, "a list"))
            return ()
        result: list[Dependency] = []
        cache = self._dependencies
        for name, item in pairs:
            try:
                its = item["parameters"]
                key = item["hash"], item["name"], tuple(its["deptypes"]), tuple(its["virtuals"])
                result.append(cache[key])
            except (KeyError, TypeError):
                if (dependency := self._dependency(name, item)) is not None:
                    result.append(dependency)
        return tuple(result)

    def _dependency(self, name: object, item: object) -> Dependency | None:
        if type(item) is not dict:
            self.fields.add_problem(f"dependencies contains {kind(item)}, expected objects")
            return None
        name = item.get("name") if name is None else name
        label = f"dependency {name}" if type(name) is str and name else "dependency"
        hash_ = next((item[key] for key in ("hash", *_OLD_HASH_KEYS) if key in item), None)
        if not is_hash(hash_):
            self.fields.add_wrong_hash(f"hash of {label}", hash_)
            return None
        its = item.get("parameters")
        if type(its) is dict:
            deptypes, virtuals = its.get("deptypes"), its.get("virtuals", [])
        else:
            deptypes, virtuals = item.get("type"), []
        key = (
            sys.intern(hash_),
            self.fields.string("name of dependency", name),
            self.fields.strings(f"deptypes of {label}", deptypes),
            self.fields.strings(f"virtuals of {label}", virtuals),
        )
        return self._dependencies.setdefault(key, Dependency(*key))

    # Hashes

    def _check(self, hash_: str, name: object, fields: Fields) -> str | WrongHash:
        """Compare the hash of a node with that of its content."""
        digest = content_hash(fields, hash_)
        if digest == hash_:
            return ""
        format_, original = self.hash_format or self.format, _original_format(fields)
        if (format_ or CURRENT_FORMAT) <= LAST_FORMAT_OF_0_17 or "package_hash" not in fields:
            return OLD
        if format_ is None or original > CURRENT_FORMAT:
            return UNKNOWN
        if (original or format_) < format_:
            return CONVERTED
        version = storable(str(fields.get("version", "")))
        reason = EXTERNAL if fields.get("external") else CHANGED
        return WrongHash(storable(str(name)), version, hash_, digest, reason)


def _name_and_fields(node: object) -> tuple[object, Fields | None]:
    """Return the name of a node, which is around or in it, and its fields if it is a node."""
    if not isinstance(node, dict):
        return None, None
    if "name" not in node and len(node) == 1:
        ((name, fields),) = node.items()
        if isinstance(fields, dict):
            return name, fields
    return node.get("name"), node


def _quoted(value: str, is_complete: bool) -> str:
    if (_BARE if is_complete else _BARE_BEFORE_1_0).fullmatch(value):
        return value
    return json.dumps(value) if "'" in value else f"'{value}'"


def _exact_version(fields: Fields) -> str:
    """Return the one version of a node or compiler, without the `=` that marks it as exact."""
    versions = fields.get("versions")
    only = versions[0] if type(versions) is list and len(versions) == 1 else None
    version = fields.get("version", only)
    return version.removeprefix("=") if isinstance(version, str) else ""


def _original_format(fields: Fields) -> int:
    """Return the format in which a node was hashed, if it was converted since, else 0."""
    annotations = fields.get("annotations")
    stated = annotations.get(_ORIGINAL_FORMAT) if isinstance(annotations, dict) else None
    digits = str(stated) if is_number(stated) else ""
    return int(digits) if digits.isdecimal() and len(digits) < _MAX_DIGITS else 0


# What Spack hashes.


def content_hash(node: Fields, hash_: str = "") -> str:
    """Return the hash that the content of a node gives, or "" where it cannot be written as JSON.

    `Spec.spec_hash` of lib/spack/spack/spec.py: the lower-case base 32 of the SHA-1 of the node as
    JSON, without its hash, in the order of its keys. Spack 0.18 and 0.19 wrote that JSON with an
    indentation of 2; before 0.18 it was YAML, and without the dependencies of type `build`.

    Newer Spacks convert the nodes of older ones, but keep their hashes. Of the ways in which
    Spack may have written the node, the one that gives `hash_` counts, else the one of today.

        content_hash(node, node["hash"]) == node["hash"]
    """
    build_spec = node.get("build_spec")
    built_as = build_spec.get("hash") if isinstance(build_spec, dict) else None
    ending = built_as[-_SPLICED:] if is_hash(built_as) else ""
    first = ""
    try:
        for text in _hashed_texts({key: value for key, value in node.items() if key != "hash"}):
            sha1 = hashlib.sha1(text.encode("ascii"), usedforsecurity=False)
            digest = base64.b32encode(sha1.digest()).decode("ascii").lower()
            digest = digest[: len(digest) - len(ending)] + ending
            if digest == hash_:
                return digest
            first = first or digest
    except RecursionError:
        return ""
    return first


def _hashed_texts(node: Fields) -> Iterator[str]:
    """Yield the texts that Spack may have hashed for a node without its hash."""
    yield _compact(node)
    annotations = node.get("annotations")
    stated = annotations.get("compiler") if isinstance(annotations, dict) else None
    if isinstance(stated, str):
        # A node of format 5, which has the compiler after its architecture in format 4.
        name, _, version = stated.partition("@")
        older_node: dict[str, Any] = {}
        for key, value in node.items():
            if key != "annotations":
                older_node[key] = value
            if key == "arch":
                older_node["compiler"] = {"name": name, "version": version.removeprefix("=")}
        node = older_node
    if "compiler" not in node:
        return
    formats = [node]
    with contextlib.suppress(KeyError, TypeError):
        older = [
            {"name": edge["name"], "hash": edge["hash"], "type": edge["parameters"]["deptypes"]}
            for edge in node["dependencies"] or ()
        ]
        formats.append({**node, "dependencies": older})
    for each in formats:
        yield _compact(each)
        yield json.dumps(each, indent=2, separators=(",", ": "))

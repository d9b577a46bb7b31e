"""Read spec nodes: the object of one spec in an index, a lock file or a spec file.

There are five specfile formats (lib/spack/spack/spec.py): 1 is `{name: {…}}` with an object of
dependencies; 2 and 3 have a list of them with `type`; 4 has their deptypes and virtuals as
`parameters`; 5, of Spack 1.0, has compilers among the dependencies and no `compiler`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

from spackscope.model.core.records import Problem, Spec, is_hash
from spackscope.model.readers.dependencies import OLD_HASH_KEYS, DependencyReader, compiles
from spackscope.model.readers.json import (
    MAX_RECORDS,
    TOO_MANY_RECORDS,
    FieldReader,
    Number,
    mismatch,
    shown_value,
    storable,
)
from spackscope.model.readers.parameters import ParameterReader

_NO_EXTERNAL = ("", "None", "null", "~", "false")
"""Values that mean no prefix and no module, the latter three in YAML."""

_FORMATS = ("1", "2", "3", "4", "5")
_MAX_ATTRIBUTES = 10_000
"""Characters that are kept of what a node states more of an external."""

_values = attrgetter(*Spec.__match_args__)

Fields = Mapping[str, Any]


def name_and_fields(node: object) -> tuple[object, Fields | None]:
    """Return the name of a node, which is around or in it, and its fields if it is a node."""
    if not isinstance(node, dict):
        return None, None
    if "name" not in node and len(node) == 1:
        ((name, fields),) = node.items()
        if isinstance(fields, dict):
            return name, fields
    return node.get("name"), node


def node_hash(node: object) -> object:
    """Return the hash that a node states, whatever it is."""
    _, fields = name_and_fields(node)
    return fields.get("hash") if fields else None


class NodeReader:
    """Reads the nodes of one document.

    `format_` is the specfile format that the document states, None if it is unknown. First
    `read` each node, then `complete` each spec: the version of a compiler is in its own node,
    which may be the last one. `add` and `finish` do so for documents that may list a spec twice.

    `prefix` is put before the place of each problem. The reader `is_full` after more nodes,
    dependencies and variants than MAX_RECORDS; further nodes are ignored.
    """

    def __init__(self, origin: str, format_: int | None = None) -> None:
        self.prefix = ""
        self.is_full = False
        self.fields = FieldReader(origin)
        self._origin = origin
        self._format = format_
        self._specs: dict[str, Spec] = {}
        self._versions: dict[str, str] = {}
        self._parameters = ParameterReader(self.fields)
        self.dependencies = DependencyReader(self.fields, self._versions)
        self._count = 0
        self._patch_lists: dict[tuple[str, ...], tuple[str, ...]] = {}

    def add(self, hash_: object, node: object, **values: Any) -> Spec | None:
        """Read a node as `read` does, and keep its spec unless there is one of this hash."""
        spec = self.read(hash_, node, **values)
        if spec is not None and self._specs.setdefault(spec.hash, spec) != spec:
            reason = "it is listed twice with different content; the first one counts"
            self.fields.add_problem(reason)
        return spec

    def finish(self, *, report_absent: bool = True) -> Iterator[Spec | Problem]:
        """Yield the added specs in their order, then all problems."""
        yield from map(self.complete, self._specs.values())
        yield from self.problems(report_absent=report_absent)

    def read(self, hash_: object, node: object, **values: Any) -> Spec | None:
        """Read a node; `values` are what the document states outside of the node.

        Returns None without a valid hash, or if there were too many nodes; of any other node
        what can be read. The compiler is empty where it is a dependency, until `complete`.
        """
        self._count += 1
        if self._count + self.dependencies.count + self._parameters.count > MAX_RECORDS:
            self.is_full = True
            return None
        name, fields = name_and_fields(node)
        if fields is not None and type(hash_) is str:
            self._versions[hash_] = _exact_version(fields)
            for key in OLD_HASH_KEYS:
                if type(alias := fields.get(key)) is str:
                    self.dependencies.add_alias(alias, hash_)
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
        return self._spec(hash_, name, fields, values)

    def _spec(self, hash_: str, name: object, fields: Fields, values: dict[str, Any]) -> Spec:
        platform, os, target = self._arch(fields.get("arch"))
        dependencies = self.dependencies.read(fields.get("dependencies"))
        is_complete = self._format == 5 if self._format else "compiler" not in fields
        variants, flags = self._parameters.read(fields.get("parameters"), is_complete=is_complete)
        external, modules, attributes = self._external(fields.get("external"))
        return Spec(
            package=self.fields.string("name", name),
            hash=sys.intern(hash_),
            version=self._version(fields),
            compiler=self._compiler(fields) or ("" if compiles(dependencies) else "none"),
            platform=platform,
            os=os,
            target=target,
            variants=variants,
            stacks=(),
            size=None,
            tag="",
            origin=self._origin,
            namespace=self._optional("namespace", fields),
            flags=flags,
            dependencies=dependencies,
            package_hash=self._optional("package_hash", fields),
            external=external,
            external_modules=modules,
            external_attributes=attributes,
            patches=self._patches(fields.get("patches")),
            spec_format=self._spec_format(fields.get("annotations")),
            build_spec=self._build_spec(fields.get("build_spec")),
            **values,
        )

    def _optional(self, name: str, fields: Fields) -> str:
        """Return a string that a node may lack."""
        value = fields.get(name)
        return "" if value is None else self.fields.string(name, value)

    def complete(self, spec: Spec) -> Spec:
        """Return a spec with its compiler, and with the hashes of its dependencies resolved."""
        dependencies = self.dependencies.resolved(spec.dependencies or ())
        compiler = spec.compiler or self.dependencies.compiler(dependencies)
        if compiler == spec.compiler and dependencies is spec.dependencies:
            return spec
        # dataclasses.replace would take a tenth of the time of reading a document.
        values = dict(zip(Spec.__match_args__, _values(spec), strict=True))
        return Spec(**values | {"compiler": compiler, "dependencies": dependencies})

    def problems(self, *, report_absent: bool = True) -> Iterator[Problem]:
        """Yield the problems of all nodes, then those of the document as a whole."""
        yield from self.fields.problems()
        if self.is_full:
            yield Problem(self._origin, "", TOO_MANY_RECORDS)
        if report_absent:
            for reason in self.dependencies.absent():
                yield Problem(self._origin, "", reason)

    def _arch(self, arch: object) -> tuple[str, str, str]:
        if type(arch) is not dict:
            self.fields.add_problem(mismatch("arch", arch, "an object"))
            return "", "", ""
        target = arch.get("target")
        if type(target) is dict:
            target = target.get("name")
        return (
            self.fields.string("platform", arch.get("platform")),
            self.fields.string("platform_os", arch.get("platform_os")),
            self.fields.string("target", target),
        )

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
        stated = fields.get("compiler")
        annotations = fields.get("annotations")
        if stated is None and annotations is not None:
            if type(annotations) is dict:
                stated = annotations.get("compiler")
            else:
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

    def _external(self, external: object) -> tuple[str, tuple[str, ...], str]:
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

    def _patches(self, patches: object) -> tuple[str, ...]:
        if not patches:
            return ()
        return self._patch_lists.setdefault(
            texts := self.fields.strings("patches", patches), texts
        )

    def _spec_format(self, annotations: object) -> int:
        """Return the format of a spec, which may be older than that of its document."""
        if type(annotations) is dict:
            stated = annotations.get("original_specfile_version")
            if type(stated) is Number and stated in _FORMATS:
                return int(stated)
        return self._format or 0

    def _build_spec(self, build_spec: object) -> str:
        if not build_spec:
            return ""
        hash_ = build_spec.get("hash") if type(build_spec) is dict else None
        if is_hash(hash_):
            return sys.intern(hash_)
        self.fields.add_wrong_hash("hash of build_spec", hash_)
        return ""


def _exact_version(fields: Fields) -> str:
    """Return the one version of a node or compiler, without the `=` that marks it as exact."""
    versions = fields.get("versions")
    only = versions[0] if type(versions) is list and len(versions) == 1 else None
    version = fields.get("version", only)
    return str(version).removeprefix("=") if isinstance(version, str) else ""

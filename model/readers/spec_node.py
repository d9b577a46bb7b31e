"""Read spec nodes: the mapping of one spec in an index, a lock file or a spec file.

Five specfile formats are about (lib/spack/spack/spec.py): 1 is `{name: {…}}` with a mapping of
dependencies; 2 and 3 have a list of them with `type`; 4 gives their deptypes and virtuals as
`parameters`; 5, of Spack 1.0, has compilers among the dependencies and no `compiler`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from spackscope.model.core.compilers import LANGUAGES
from spackscope.model.core.records import Dependency, Problem, Spec, is_hash
from spackscope.model.readers.json import Number, kind, storable
from spackscope.model.readers.limits import MAX_PROBLEMS, MAX_RECORDS, TOO_MANY_RECORDS
from spackscope.model.readers.parameters import Parameters, Texts

_LANGUAGES = frozenset(LANGUAGES)
_HASHES = ("hash", "full_hash", "build_hash")
_NONE = ("", "None", "null", "~", "false")
"""What stands for no prefix and no module, the latter three in YAML."""

Fields = Mapping[str, Any]
Edge = tuple[str, str, Texts, Texts]


def name_and_fields(node: object) -> tuple[object, Fields | None]:
    """Give the name of a node, which stands around or in it, and its fields, if it is a node."""
    if not isinstance(node, dict):
        return None, None
    if "name" not in node and len(node) == 1:
        ((name, fields),) = node.items()
        if isinstance(fields, dict):
            return name, fields
    return node.get("name"), node


def node_hash(node: object) -> object:
    """Give the hash that a node states, whatever it is."""
    _, fields = name_and_fields(node)
    return fields.get("hash") if fields else None


class NodeReader:
    """Read the nodes of one document, collecting problems on the way.

    `format_` is the specfile format that the document states, None where it is unknown. First
    read each `spec`, then have each `settled`, since a compiler's version stands in its own node,
    which may be the last one. It `is_full` after more nodes than any document is meant to hold.
    """

    def __init__(self, origin: str, format_: int | None = None) -> None:
        self._origin = origin
        self._format = format_
        self._place = ""
        self._problems: list[Problem] = []
        self._versions: dict[str, str] = {}
        self._other_hashes: dict[str, str] = {}
        self._edges: dict[Edge, Dependency] = {}
        self._parameters = Parameters(self.tell)
        self._count = self._told = 0
        self.is_full = False

    def spec(self, hash_: object, node: object, **more: Any) -> Spec | None:
        """Read a node, `more` being what the document says of it elsewhere.

        Without a valid hash there is no record, nor where there were too many; of any other node
        what can be read stays. The
        compiler is empty where it is a dependency, until the spec is settled.
        """
        if not self._has_room():
            return None
        name, fields = name_and_fields(node)
        if fields is not None and type(hash_) is str:
            self._versions[hash_] = _exact(fields)
            for key in _HASHES[1:]:
                if type(other := fields.get(key)) is str:
                    self._other_hashes[other] = hash_
        self._place = name[:60] if type(name) is str and name else "spec"
        if type(hash_) is not str or not is_hash(hash_):
            self.tell(f"the hash must be 32 characters of a-z2-7, and is {_shown(hash_)}")
            return None
        self._place += f"/{hash_[:7]}"
        if fields is None:
            self.tell(f"its node is {kind(node)}, and should be a mapping")
            return None
        stated = fields.get("hash", hash_)
        if stated != hash_:
            self.tell(f"its node states another hash, {_shown(stated)}")
        arch = fields.get("arch")
        if type(arch) is not dict:
            self._odd("arch", arch, "a mapping")
            arch = {"platform": ..., "platform_os": ..., "target": ...}
        target = arch.get("target")
        target = target.get("name") if type(target) is dict else target
        edges = self._dependencies(fields.get("dependencies"))
        complete = self._format == 5 if self._format else "compiler" not in fields
        variants, flags = self._parameters.read(fields.get("parameters"), complete=complete)
        return Spec(
            package=self._text("name", name),
            hash=sys.intern(hash_),
            version=self._version(fields),
            compiler=self._compiler(fields, edges),
            platform=self._text("platform", arch.get("platform")),
            os=self._text("platform_os", arch.get("platform_os")),
            target=self._text("target", target),
            variants=variants,
            stacks=(),
            size=None,
            tag="",
            origin=self._origin,
            namespace=self._optional("namespace", fields),
            flags=flags,
            dependencies=edges,
            package_hash=self._optional("package_hash", fields),
            external=self._external(fields.get("external")),
            build_spec=self._build_spec(fields.get("build_spec")),
            **more,
        )

    def also_called(self, other: str, hash_: str) -> None:
        """Note another hash that edges name a node by."""
        self._other_hashes[other] = hash_

    def settled(self, spec: Spec) -> Spec:
        """Complete a spec by what all nodes tell: its compiler, and the hashes of its edges."""
        edges = spec.dependencies or ()
        changes: dict[str, Any] = {}
        if self._renamed and any(edge.hash in self._renamed for edge in edges):
            edges = changes["dependencies"] = tuple(self._by_its_hash(edge) for edge in edges)
        if not spec.compiler:
            changes["compiler"] = self._compiler_among(edges)
        return replace(spec, **changes) if changes else spec

    @cached_property
    def _renamed(self) -> dict[str, str]:
        """Hold the hashes of nodes that edges name by another one."""
        if not self._other_hashes:
            return {}
        unknown = {hash_ for hash_, *_ in self._edges if hash_ not in self._versions}
        return {h: self._other_hashes[h] for h in unknown if h in self._other_hashes}

    def _by_its_hash(self, edge: Dependency) -> Dependency:
        own = self._renamed.get(edge.hash)
        return edge if own is None else replace(edge, hash=sys.intern(own))

    def problems(self) -> tuple[Problem, ...]:
        """Give the problems since the last time."""
        if not self._problems:
            return ()
        found = tuple(self._problems)
        self._problems.clear()
        return found

    def absent(self) -> Iterator[Problem]:
        """Give one Problem where dependencies are named whose nodes are not in the document.

        Spack warns of them too (`_assign_dependencies` in lib/spack/spack/database.py).
        """
        known = self._versions.keys() | self._renamed.keys()
        absent: dict[str, str] = {}
        for hash_, name, *_ in self._edges:
            if hash_ not in known:
                absent.setdefault(hash_, name or "one")
        if absent:
            hash_, name = next(iter(absent.items()))
            reason = f"dependencies are missing from it: {len(absent)}, such as"
            yield Problem(self._origin, "", storable(f"{reason} {name}/{hash_[:7]}"))
        yield from self.untold()

    def tell(self, reason: str) -> None:
        """Note a problem of the node that was read last."""
        self._told += 1
        if self._told <= MAX_PROBLEMS:
            self._problems.append(Problem(self._origin, storable(self._place), storable(reason)))

    def tell_of(self, place: str, reason: str) -> None:
        """Note a problem of a record that is not a node."""
        if self._has_room():
            self._place = place
            self.tell(reason)

    def _has_room(self) -> bool:
        self._count += 1
        if self._count + len(self._edges) + self._parameters.count <= MAX_RECORDS:
            return True
        if not self.is_full:
            self.is_full = True
            self._problems.append(Problem(self._origin, "", TOO_MANY_RECORDS))
        return False

    def untold(self) -> Iterator[Problem]:
        """Give one Problem where there were more than are listed."""
        if (more := self._told - MAX_PROBLEMS) > 0:
            yield Problem(self._origin, "", f"it has {more:,} more problems, which are not listed")

    def _odd(self, what: str, value: object, should_be: str) -> None:
        reason = f"its {what} is {kind(value)}"
        self.tell(reason if value in (None, "") else f"{reason}, and should be {should_be}")

    def _text(self, what: str, value: object) -> str:
        """Read a text; `...` stands for one whose lack needs no word."""
        if type(value) is str and value:
            return sys.intern(storable(value))
        if value is ...:
            return ""
        self._odd(what, value, "a text")
        return sys.intern(str(value)) if type(value) is Number else ""

    def _optional(self, what: str, fields: Fields) -> str:
        value = fields.get(what)
        return "" if value is None else self._text(what, value)

    def _version(self, fields: Fields) -> str:
        if "version" not in fields and "versions" in fields:
            versions = fields["versions"]
            if type(versions) is list and len(versions) == 1:
                return self._text("version", versions[0]).removeprefix("=")
            self.tell("its versions are not a list of one")
            return ""
        return sys.intern(self._text("version", fields.get("version")).removeprefix("="))

    def _compiler(self, fields: Fields, edges: tuple[Dependency, ...]) -> str:
        """Spell the compiler that is stated, or leave it empty where it is a dependency."""
        stated = fields.get("compiler")
        if stated is None and (annotations := fields.get("annotations")) is not None:
            if type(annotations) is dict:
                stated = annotations.get("compiler")
            else:
                self._odd("annotations", annotations, "a mapping")
        if type(stated) is dict:
            name, version = self._text("compiler", stated.get("name")), _exact(stated)
            if not version:
                self.tell("the version of its compiler is missing")
            if name:
                return sys.intern(storable(f"{name}@{version}" if version else name))
        elif type(stated) is str and stated:
            return sys.intern(storable(stated.replace("@=", "@", 1)))
        elif stated is not None:
            self._odd("compiler", stated, "a mapping")
        for edge in edges:
            if edge.virtuals and not _LANGUAGES.isdisjoint(edge.virtuals):
                return ""
        return "none"

    def _compiler_among(self, edges: tuple[Dependency, ...]) -> str:
        """Spell the first of the compilers for C, C++, Fortran."""
        for language in LANGUAGES:
            for edge in edges:
                if language in edge.virtuals:
                    version = storable(self._versions.get(edge.hash, ""))
                    return sys.intern(f"{edge.name}@{version}" if version else edge.name)
        return "none"

    def _dependencies(self, edges: object) -> tuple[Dependency, ...]:
        if not edges:
            if edges not in (None, [], {}):
                self._odd("dependencies", edges, "a list")
            return ()
        if type(edges) is dict:
            pairs = [(name, edge) for name, edge in edges.items()]
        elif type(edges) is list:
            pairs = [(None, edge) for edge in edges]
        else:
            self._odd("dependencies", edges, "a list")
            return ()
        found: list[Dependency] = []
        known = self._edges
        for name, edge in pairs:
            try:
                its = edge["parameters"]
                key = edge["hash"], edge["name"], tuple(its["deptypes"]), tuple(its["virtuals"])
                found.append(known[key])
            except (KeyError, TypeError):
                if (dependency := self._dependency(name, edge)) is not None:
                    found.append(dependency)
        return tuple(found)

    def _dependency(self, name: object, edge: object) -> Dependency | None:
        if type(edge) is not dict:
            self.tell(f"among its dependencies is {kind(edge)}, and all should be mappings")
            return None
        name = edge.get("name") if name is None else name
        shown = name if type(name) is str and name else "one"
        hash_ = next((edge[key] for key in _HASHES if key in edge), None)
        if type(hash_) is not str or not is_hash(hash_):
            self.tell(f"the hash of its dependency {shown} is {_shown(hash_)}")
            return None
        its = edge.get("parameters")
        if type(its) is dict:
            deptypes, virtuals = its.get("deptypes"), its.get("virtuals", [])
        else:
            deptypes, virtuals = edge.get("type"), []
        key: Edge = (
            sys.intern(hash_),
            self._text("dependency's name", name),
            self._texts(f"deptypes of {shown}", deptypes),
            self._texts(f"virtuals of {shown}", virtuals),
        )
        return self._edges.setdefault(key, Dependency(*key))

    def _texts(self, what: str, texts: object) -> Texts:
        if type(texts) is not list:
            reason = f"the {what} are {kind(texts)}"
            self.tell(reason if texts is None else f"{reason}, and should be a list")
            return ()
        kept = tuple(sys.intern(storable(text)) for text in texts if type(text) is str)
        if len(kept) < len(texts):
            odd = next(text for text in texts if type(text) is not str)
            self.tell(f"among the {what} is {kind(odd)}, and all should be texts")
        return kept

    def _external(self, external: object) -> str:
        if not external:
            return ""
        if type(external) is not dict:
            self._odd("external", external, "a mapping")
            return ""
        path, modules = external.get("path"), external.get("module")
        if type(path) is str and path not in _NONE:
            return sys.intern(storable(path))
        names = modules if type(modules) is list else [modules]
        words = [name for name in names if type(name) is str and name not in _NONE]
        if not words and path not in (None, *_NONE):
            self._odd("external prefix", path, "a text")
        return sys.intern(storable(", ".join(words)))

    def _build_spec(self, build_spec: object) -> str:
        if not build_spec:
            return ""
        hash_ = build_spec.get("hash") if type(build_spec) is dict else None
        if type(hash_) is str and is_hash(hash_):
            return sys.intern(hash_)
        self.tell("the hash of the spec that it was built as is missing or wrong")
        return ""


def _shown(hash_: object) -> str:
    return repr(str(hash_))[:60] if isinstance(hash_, str) and hash_ else kind(hash_)


def _exact(fields: Fields) -> str:
    """Give the one version of a node or compiler, without the `=` that marks it as exact."""
    versions = fields.get("versions")
    only = versions[0] if type(versions) is list and len(versions) == 1 else None
    version = fields.get("version", only)
    return str(version).removeprefix("=") if isinstance(version, str) else ""

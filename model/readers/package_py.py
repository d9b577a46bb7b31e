"""Read from a Spack recipe which versions are deprecated, fixed or restricted, and its licences.

A recipe is a Python file, which is not run. Its statements about these are evaluated as far as
Spack's own recipes need it: constants, lists, mappings, loops, comparisons and formats. Nothing is
imported or opened, and only a few functions are called. A statement that depends on anything else
is reported as unreadable. The rules are from lib/spack/spack/directives.py in Spack 0.23 to 1.3.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import (
    SEVERITIES,
    UNSPECIFIED,
    Deprecation,
    Fix,
    Licence,
    Restriction,
)
from spackscope.model.core.tasks import Steps, TooManySteps
from spackscope.model.core.text import shorten
from spackscope.model.readers.expressions import Evaluator, dotted

_MAX_DEPTH = 30_000
"""The most operators and brackets in a recipe, each of which may nest; real ones have up to 3,000.

An expression that is nested 400,000 deep makes the parser of Python 3.10 end the process.
"""

_NESTS = b".([+-*/%@&|^<>"

_MAX_SIZE = 10_000
"""The most characters of a computed text, and items of a computed list."""

_MAX_SHOWN = 60
_FLAG, _FIXES, _PACKAGE = "deprecated", "fixes", "package"
_REDISTRIBUTE, _BINARY, _LICENCE = "redistribute", "binary", "license"
_WORDS = ("ver", _FLAG, "spec", "reason", "severity", "labels", "msg", "when", _FIXES, _BINARY)
"""The arguments that are read of directives about versions, and of `with` blocks."""

_CONTEXT = "with when"
"""The key of the conditions of all `with when(…)` blocks around a directive."""

_PATCH_WORDS = ("sha256", "when", _FIXES)
_PATCHES = ("depends_on", "extends")
"""The directives that may patch another package."""

_IMPORT = re.compile(
    r"spack_repo\.(?P<v2>\w+)\.(?:packages\.)?(?P<module>(?:build_systems\.)?\w+?)(?:\.package)?"
    r"|spack\.pkg\.(?P<v1>\w+)\.(?P<name>\w+)"
)
_RESTRICTED = "IntelOneApi"
"""How classes begin whose binaries Spack before 1.0 does not redistribute, without an import in
the recipe (`IntelOneApiPackage` of lib/spack/spack/build_systems/oneapi.py)."""

_DEPRECATES = re.compile(rb"deprecated|\.packages\.|spack\.pkg\.|from \.\.")
"""Text of recipes whose versions may be deprecated: there, or in a recipe that they follow."""

_DIGEST, _AFTER_NAME = re.compile("[0-9a-f]{64}"), re.compile(r"[^\w.-]")
_WIDE = re.compile(r"{\w*[.\[]|{[^}]*(?:\d{3}|{)")
"""Formats that are not evaluated: of a part of a value, or with a width that may be large."""


class ClassName(NamedTuple):
    """A class of a recipe; namespace and module are "" for a class of the same file."""

    namespace: str
    module: str
    name: str


Statement = Deprecation | Restriction | Licence | Fix | str | tuple[int, str] | None
"""A statement of a class: a deprecation, a restriction, or a licence; a patch that fixes
deprecations; a version such as `@=1.2` that is not deprecated, or that is dropped; None if all
versions are dropped; or the line of a statement that cannot be read, and the reason."""


class RecipeClass(NamedTuple):
    """The bases of a class of a recipe, and its statements about versions, in their order."""

    bases: tuple[ClassName, ...]
    entries: tuple[Statement, ...]


VersionsOf = Callable[[ClassName], Mapping[str, bool]]
"""Maps the versions of a class of another recipe to whether each is deprecated."""


def read_recipe(
    data: bytes, versions_of: VersionsOf = lambda _: {}, steps: Steps | None = None
) -> dict[str, RecipeClass]:
    """Return the classes of a recipe by their names. Raises Unreadable, with the line.

    `steps` has counted earlier steps for the same recipe.

    read_recipe(b"class Zlib(Package): version('1.2', deprecated=True)")["Zlib"].entries[0].spec
    """
    try:
        # Other encodings than UTF-8 could hide how deeply it is nested.
        text = data.decode("utf-8-sig")
        if sum(map(data.count, _NESTS)) > _MAX_DEPTH:
            raise RecursionError
        steps = steps or Steps()
        # Parsing takes longer than evaluating.
        steps.count(len(data) // 4)
        reader = _Reader(data.splitlines(), versions_of, steps)
        reader.run(ast.parse(text).body)
    except SyntaxError as error:
        place = f"line {error.lineno}: " if error.lineno else ""
        raise Unreadable(f"{place}it is not Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise Unreadable("it is not Python, or nested too deeply") from None
    except TooManySteps:
        raise Unreadable("it takes too many steps to evaluate") from None
    return reader.classes


_UNKNOWN = "it depends on more than the text of the recipe"
_ERRORS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)
"""The exceptions of operations on values of unexpected types."""

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "str": str,
    "range": lambda *bounds: list(range(*bounds)[: _MAX_SIZE + 1]),
    # As in the module `platform`.
    "platform.system": lambda: os.uname().sysname,
    "platform.machine": lambda: os.uname().machine,
}


class _Reader(Evaluator):
    """Evaluates a module; `names` maps names to known values, functions and classes."""

    methods: Mapping[type, Sequence[str]] = {
        str: ("format", "lower"),
        dict: ("get", "items", "keys", "values"),
    }

    def __init__(self, lines: Sequence[bytes], versions_of: VersionsOf, steps: Steps) -> None:
        self._may_deprecate = any(map(_DEPRECATES.search, lines))
        self.classes: dict[str, RecipeClass] = {}
        self._lines, self._versions_of, self._count = lines, versions_of, steps.count
        self.names: dict[str, Any] = dict(_FUNCTIONS)
        self._entries: list[Any] = []
        self._refused: set[ast.Call] = set()
        self._defaults: Mapping[str, Any] = {}

    def run(self, statements: Iterable[ast.stmt]) -> None:
        """Run statements; forget the names that a statement sets if its values are unknown."""
        for statement in statements:
            self._count(1)
            try:
                self._statement(statement)
            except _ERRORS:
                self._forget(statement)

    def _statement(self, node: ast.stmt) -> None:
        """Run a statement. Raises Unreadable, also if it is unknown which parts of it run."""
        match node:
            case ast.ImportFrom(module, names, level):
                found = _IMPORT.fullmatch(module or "")
                if found is not None or level == 2:
                    place = (
                        _place(found) if found else ("", (module or "").removesuffix(".package"))
                    )
                    self._count(len(names))
                    for each in names:
                        self.names[each.asname or each.name] = ClassName(*place, each.name)
            case ast.ClassDef(name, bases, _, body):
                outer, entries, refused = self.names, self._entries, self._refused
                self._count(len(bases) + len(outer) // 20)
                known = tuple(filter(None, map(self._base, bases)))
                self.names, self._entries, self._refused = {**outer}, [], set()
                unknown = (dotted(base) for base in bases if self._base(base) is None)
                if any(base.startswith(_RESTRICTED) for base in unknown):
                    self._entries.append(Restriction(""))
                self.run(body)
                self.classes[name] = RecipeClass(known, tuple(self._entries))
                self._entries, self._refused = entries, refused
                # Values that may have changed in it are unknown afterwards.
                self.names = {each: outer[each] for each in outer if each in self.names}
                self.names[name] = ClassName("", "", name)
            case ast.FunctionDef(name):
                self.names[name] = node
            case ast.Assign(targets, value):
                self._bind(targets, self.value(value))
            case ast.If(test, body, others):
                self.run(body if self.value(test) else others)
            case ast.For(target, items, body, []):
                for item in list(self.value(items)):
                    self._bind([target], item)
                    self.run(body)
            case ast.With(items, body):
                self._with([item.context_expr for item in items], body)
            case ast.Expr(ast.Call(ast.Name(name)) as value):
                # Other directives have nothing to do with versions.
                if name in _PATCHES and _has_word(value, "patches"):
                    self._patches(value)
                elif name in _DIRECTIVES or name in self.names:
                    self.value(value)
            case ast.Expr(ast.Call() as value):
                self.value(value)
            case ast.Expr(ast.Constant()) | ast.Import() | ast.Pass():
                pass
            case _:
                raise Unreadable(_UNKNOWN)

    def _forget(self, statement: ast.stmt) -> None:
        """Report the directives of a statement, and forget names that it may assign or change."""
        are_all, nodes = False, list[ast.AST]([statement])
        for node in nodes:
            self._count(1)
            nodes += ast.iter_child_nodes(node)
            if isinstance(node, ast.Name):
                known = self.names.get(node.id)
                if isinstance(known, ast.FunctionDef):
                    nodes.append(known)
                if isinstance(known, (ast.FunctionDef, list, dict)) or isinstance(
                    node.ctx, ast.Store
                ):
                    self.names.pop(node.id, None)
            elif isinstance(node, ast.Call):
                are_all = are_all or (_name(node) == "default_args" and _has_flag(node))
                self._refuse(node, are_all=are_all)

    def _refuse(self, node: ast.Call, *, are_all: bool = False) -> None:
        """Report a directive that cannot be read, if it may state what is read."""
        self._count(len(node.keywords))
        are_all = are_all or bool(self._defaults.get(_FLAG))
        may = _name(node) in (_FLAG, _REDISTRIBUTE, _LICENCE) or (
            _name(node) == "version" and (are_all or (self._may_deprecate and _has_flag(node)))
        )
        if (may or _has_word(node, _FIXES)) and node not in self._refused:
            self._refused.add(node)
            text = shorten(self._source(node), _MAX_SHOWN, keep="start")
            why = f"cannot be known without running the recipe: {text}"
            self._entries.append((node.lineno, why))

    def _source(self, node: ast.Call) -> str:
        """Return the text of a call in one line; a long text is cut."""
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        lines = [*self._lines[first : min(last, first + _MAX_SHOWN)]]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        words = b" ".join(line.strip()[: 4 * _MAX_SHOWN] for line in lines)
        return words.decode(errors="replace")

    def _base(self, node: ast.expr) -> ClassName | None:
        """Return the class that a base of a class names; None if it is not a class of a recipe."""
        module, _, name = dotted(node).rpartition(".")
        if found := _IMPORT.fullmatch(module):
            return ClassName(*_place(found), name)
        known = self.names.get(module or name)
        if not isinstance(known, ClassName):
            return None
        return known._replace(name=name) if module else known

    def _bind(self, targets: Sequence[ast.expr], value: Any) -> None:
        self._count(len(targets))
        for target in targets:
            match target:
                case ast.Name(name):
                    self.names[name] = value
                case ast.Tuple(parts) if len(parts) == len(value):
                    for part, item in zip(parts, value, strict=True):
                        self._bind([part], item)
                case _:
                    raise Unreadable(_UNKNOWN)

    def _with(self, contexts: Sequence[ast.expr], body: Sequence[ast.stmt]) -> None:
        outer = self._defaults
        defaults = {**outer}
        for call in contexts:
            if not isinstance(call, ast.Call) or _name(call) not in ("default_args", "when"):
                raise Unreadable(_UNKNOWN)
            defaults.update(self.keywords(call, _WORDS))
            whens = tuple(map(self.value, call.args))
            defaults[_CONTEXT] = (*defaults.get(_CONTEXT, ()), *whens)
        self._defaults = defaults
        self.run(body)
        self._defaults = outer

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
        match node:
            case ast.Attribute(ast.Name(name), "versions"):
                owner = self.names[name]
                if not (isinstance(owner, ClassName) and owner.module):
                    raise Unreadable(_UNKNOWN)
                flags = self._versions_of(owner)
                value: Any = {version: {_FLAG: flag} for version, flag in flags.items()}
            case ast.Call() if _name(node) in _DIRECTIVES:
                self._directive(node)
                value = None
            case _:
                value = super().value(node)
        # Later steps may compare or print all parts, and a part may occur many times.
        parts = [value]
        for part in parts:
            is_list = isinstance(part, (list, tuple, dict))
            size = len(part) if is_list or isinstance(part, (str, bytes)) else 0
            # Long numbers take long to spell.
            size = part.bit_length() if isinstance(part, int) else size
            self._count(1 + (size if is_list else size // 10))
            if size > _MAX_SIZE:
                raise Unreadable(_UNKNOWN)
            if is_list:
                parts += [*part, *part.values()] if isinstance(part, dict) else part
        return value

    def method(self, owner: Any, name: str) -> Any:
        """Return a method that may be called, or None, also for `format` with a large width."""
        is_wide = isinstance(owner, str) and name == "format" and _WIDE.search(owner)
        return None if is_wide else super().method(owner, name)

    def keywords(self, node: ast.Call, wanted: Sequence[str] = ()) -> dict[str, Any]:
        """Return the named arguments of a call: all, or only the wanted names."""
        self._count(len(node.keywords))
        return super().keywords(node, wanted)

    def _directive(self, node: ast.Call) -> None:
        """Add the statements of a directive, or a report that it cannot be read."""
        try:
            wanted = _PATCH_WORDS if _name(node) == "patch" else _WORDS
            words = {**self._defaults, **self.keywords(node, wanted)}
            spec = self.value(node.args[0]) if node.args else words.get("ver", words.get("spec"))
            self._entries += _DIRECTIVES[_name(node)](spec, words)
        except _ERRORS:
            self._refuse(node)

    def _patches(self, node: ast.Call) -> None:
        """Add the patches that a directive applies to another package. Raises Unreadable."""
        spec, outer = self.value(node.args[0]), self._defaults
        # The name may begin with a namespace.
        self._defaults = {**outer, _PACKAGE: _AFTER_NAME.split(spec)[0].rpartition(".")[2]}
        try:
            self.keywords(node, ("patches",))
        finally:
            self._defaults = outer


def _place(found: re.Match[str]) -> tuple[str, str]:
    """Return the namespace and the module of a class that is imported from a recipe."""
    return found["v2"] or found["v1"], found["module"] or found["name"]


def _name(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _has_word(node: ast.Call, name: str) -> bool:
    return any(word.arg == name for word in node.keywords)


def _has_flag(node: ast.Call) -> bool:
    """Check whether a call has `deprecated=` that may be true, or `**` arguments."""
    flags = [word.value for word in node.keywords if word.arg in (_FLAG, None)]
    return any(not isinstance(flag, ast.Constant) or flag.value for flag in flags)


def _version(spec: Any, words: Mapping[str, Any]) -> list[Deprecation | str]:
    if not isinstance(spec, (str, int)):
        raise Unreadable(_UNKNOWN)
    return [Deprecation(f"@={spec}") if words.get(_FLAG) else f"@={spec}"]


def _deprecated(spec: Any, words: Mapping[str, Any]) -> list[Deprecation]:
    condition, labels = _condition(words), words.get("labels") or ()
    texts = [spec or "", condition or ""]
    severity, reason = words.get("severity") or SEVERITIES[1], words.get("reason") or UNSPECIFIED
    message = words.get("msg") or ""
    if severity not in SEVERITIES or isinstance(labels, str):
        raise Unreadable(_UNKNOWN)
    if not all(isinstance(each, str) for each in (*texts, *labels, reason, message)):
        raise Unreadable(_UNKNOWN)
    every = Deprecation(" ".join(texts).strip(), reason, severity, tuple(labels), message)
    return [] if condition is None else [every]


def _redistribute(source: Any, words: Mapping[str, Any]) -> list[Restriction]:
    if source is not None:
        # The place of an argument says which of the two it is; no recipe leaves out the names.
        raise Unreadable(_UNKNOWN)
    condition = _condition(words)
    may = words.get(_BINARY) is None or words[_BINARY]
    return [] if may or condition is None else [Restriction(condition)]


def _licence(text: Any, words: Mapping[str, Any]) -> list[Licence]:
    condition = _condition(words)
    if not isinstance(text, str):
        raise Unreadable(_UNKNOWN)
    return [] if condition is None else [Licence(condition, text)]


def _condition(words: Mapping[str, Any]) -> str | None:
    """Return the conditions of a directive and of the blocks around it; None for never."""
    whens = (*words.get(_CONTEXT, ()), words.get("when", True))
    if False in whens:
        return None
    if not all(when in (None, True) or isinstance(when, str) for when in whens):
        raise Unreadable(_UNKNOWN)
    return " ".join(when for when in whens if isinstance(when, str))


def _patch(place: Any, words: Mapping[str, Any]) -> list[Fix]:
    labels = words.get(_FIXES) or ()
    if not labels or _condition(words) is None:
        return []
    digest = str(words.get("sha256")) if "://" in place else ""
    if isinstance(labels, str) or (digest and not _DIGEST.fullmatch(digest)):
        raise Unreadable(_UNKNOWN)
    if not all(isinstance(each, str) for each in (place, *labels)):
        raise Unreadable(_UNKNOWN)
    return [Fix(tuple(labels), place, digest, words.get(_PACKAGE, ""))]


_DIRECTIVES: Mapping[str, Callable[[Any, Mapping[str, Any]], list[Any]]] = {
    "version": _version,
    _FLAG: _deprecated,
    _REDISTRIBUTE: _redistribute,
    _LICENCE: _licence,
    "drop_version": lambda spec, _: _version(spec, {}),
    "drop_all_versions": lambda spec, _: [None],
    "patch": _patch,
}
"""The directives that are read, each with the reader of its arguments."""

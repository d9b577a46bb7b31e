"""Evaluate the conditions of Spack's includes, which are expressions of Python about a machine.

As `eval_conditional` in lib/spack/spack/spec.py, but only operations that are harmless and fast:
constants, collections, comparisons, `and`, `or`, `not`, indices, and calls of listed functions
and methods. Nothing is run; the caller bounds the time and memory of the evaluation.
"""

from __future__ import annotations

import ast
import operator
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from math import comb
from typing import Any

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.machine import PLATFORM, this_os, this_target
from spackscope.model.query.ast import Term
from spackscope.model.query.parser import parse_spec

_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda item, items: item in items, ast.NotIn: lambda item, items: item not in items,
}  # fmt: skip
_MAX_DOTS = 9


def dotted(node: ast.expr) -> str:
    """Return a dotted name, as `spack.version`; "" for any other expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute) and len(names) < _MAX_DOTS:
        names.insert(0, node.attr)
        node = node.value
    return ".".join((node.id, *names)) if isinstance(node, ast.Name) else ""


_MAX_LENGTH, _MAX_DEPTH = 1_000, 50
_MAX_STEPS = 10**6
"""Ways in which a regular expression may be tried on a text."""

_SLOW = "its regular expression may take long"


def is_met(condition: str, environ: Mapping[str, str]) -> bool:
    """Check whether a condition is true of this machine and environment.

    Raises Unreadable where it is not understood, and where Spack fails too.

        is_met('os == "debian12" and "gadi" in hostname', os.environ)
    """
    if len(condition) > _MAX_LENGTH:
        raise Unreadable(f"it has more than {_MAX_LENGTH:,} characters")
    with warnings.catch_warnings():
        # Expressions with backslashes are often no raw strings.
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(condition.lstrip(" \t"), mode="eval")
            return bool(_Condition(environ).value(tree.body))
        except Unreadable:
            raise
        # Spack ends with any exception of an operator or a method.
        except Exception as error:
            why = f"it raises {type(error).__name__}"
            if isinstance(error, KeyError):
                why = f"{error} is not set"
            raise Unreadable(error.msg if isinstance(error, SyntaxError) else why) from None


class _Arch:
    """The platform, operating system and target of this machine, as the spec `arch`."""

    def __init__(self) -> None:
        self._parts = {"platform": PLATFORM, "os": this_os(), "target": this_target()}

    def __str__(self) -> str:
        return " ".join(f"{key}={value}" for key, value in self._parts.items())

    # Spack's specs cannot be compared with texts either.
    def __eq__(self, other: object) -> bool:
        raise TypeError

    def satisfies(self, spec: str) -> bool:
        """Check whether this machine satisfies a spec. Raises QueryError and TypeError."""
        for term in parse_spec(spec).conditions:
            if not isinstance(term, Term) or term.column not in self._parts:
                raise TypeError
            if not term.fits(term.column, self._parts[term.column]):
                return False
        return True

    __contains__ = satisfies


def _search(name: str, pattern: str, text: str, flags: int = 0) -> re.Match[str] | None:
    """Search as a function of `re` does, unless that may take long. Raises Unreadable."""
    # Others print, as re.DEBUG does.
    if flags & ~(re.ASCII | re.DOTALL | re.IGNORECASE | re.MULTILINE | re.VERBOSE):
        raise Unreadable("flags of its regular expression are not understood")
    # As `re` itself parses it, since comments, flags and blanks change where a repetition is.
    parser = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
    repeats, choices = _count_repeats(parser.parse(pattern, flags), parser.SubPattern)
    # A match may begin and each repetition end anywhere, and each choice doubles the ways.
    steps = comb(len(text) + repeats + 1, repeats + 1) << choices
    if steps > _MAX_STEPS:
        raise Unreadable(_SLOW)
    return getattr(re, name)(pattern, text, flags)  # type: ignore[no-any-return]


def _count_repeats(parsed: Any, subpattern: type) -> tuple[int, int]:
    """Count the repetitions of variable length and the choices in a parsed regular expression.

    Raises Unreadable for a repetition in which there is another one, or a choice.
    """
    repeats = choices = 0
    for operation, argument in parsed:
        branches = [*_subpatterns(argument, subpattern)]
        counts = [_count_repeats(branch, subpattern) for branch in branches]
        if str(operation).endswith("REPEAT"):
            least, most, _ = argument
            if most > 1 and counts != [(0, 0)]:
                raise Unreadable(_SLOW)
            repeats += most > 1 and least != most
            choices += most == 1
        repeats += sum(count for count, _ in counts)
        choices += sum(count for _, count in counts) + max(0, len(branches) - 1)
    return repeats, choices


def _subpatterns(argument: Any, subpattern: type) -> Iterator[Any]:
    """Yield the patterns in the argument of an operation: its branches, or what it repeats."""
    if isinstance(argument, subpattern):
        yield argument
    elif isinstance(argument, (list, tuple)):
        for part in argument:
            yield from _subpatterns(part, subpattern)


class _Condition:
    """Evaluates parts of a condition, with the variables of `get_host_environment` of Spack.

    `methods` may be called, by the type of their owner, and the functions of `names`, some of
    which have dots. Raises Unreadable for other expressions, and the exceptions of operators and
    calls.
    """

    methods: Mapping[type, Sequence[str]] = {
        str: (
            *("startswith", "endswith", "lower", "upper", "strip", "lstrip", "rstrip", "split"),
            *("partition", "rpartition", "isdigit"),
        ),
        dict: ("get",),
        re.Match: ("group", "groups"),
        _Arch: ("satisfies",),
    }
    names: Mapping[str, Any] = {
        **{each.__name__: each for each in (all, any, bool, int, len, str)},
        **{f"re.{name}": partial(_search, name) for name in ("match", "search", "fullmatch")},
    }

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._variables: Mapping[str, Callable[[], Any]] = {
            "env": lambda: dict(environ),
            "platform": lambda: PLATFORM,
            "os": this_os,
            "target": this_target,
            "hostname": lambda: os.uname().nodename,
            "arch": _Arch,
            "architecture": _Arch,
            "arch_str": lambda: str(_Arch()),
        }
        self._depth = 0

    def named(self, name: str) -> Any:
        """Return the value of a variable. Raises Unreadable."""
        if name not in self._variables:
            raise Unreadable(f"{name} is not known")
        value = self._variables[name]()
        if isinstance(value, str) and not value:
            raise Unreadable(f"the {name} of this machine is unknown")
        return value

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
        if dotted(node) in ("re.I", "re.IGNORECASE"):
            return re.IGNORECASE
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unreadable("it is nested too deeply")
        value = self._value(node)
        self._depth -= 1
        return value

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                return self.named(name)
            case ast.List(parts):
                return [*map(self.value, parts)]
            case ast.Tuple(parts):
                return tuple(map(self.value, parts))
            case ast.Set(parts):
                return {*map(self.value, parts)}
            case ast.Dict(keys, parts):
                names = (self.value(key) for key in keys if key is not None)
                return dict(zip(names, map(self.value, parts), strict=True))
            case ast.JoinedStr(parts):
                return "".join(str(self.value(part)) for part in parts)
            case ast.FormattedValue(part, -1, None):
                return self.value(part)
            case ast.UnaryOp(ast.Not(), part):
                return not self.value(part)
            case ast.UnaryOp(ast.USub(), part):
                return -self.value(part)
            case ast.BoolOp(sign, parts):
                result = None
                for part in parts:
                    result = self.value(part)
                    if bool(result) is isinstance(sign, ast.Or):
                        break
                return result
            case ast.IfExp(test, body, other):
                return self.value(body if self.value(test) else other)
            case ast.Compare(part, signs, parts):
                values = map(self.value, (part, *parts))
                left = next(values)
                # Values after a false comparison are not evaluated.
                for comparison, right in zip(signs, values, strict=True):
                    if not _COMPARISONS[type(comparison)](left, right):
                        return False
                    left = right
                return True
            case ast.Subscript(owner, ast.Slice(lower, upper, step)):
                ends = (each and self.value(each) for each in (lower, upper, step))
                return self.value(owner)[slice(*ends)]
            case ast.Subscript(owner, key):
                return self.value(owner)[self.value(key)]
            case ast.Call(function, arguments):
                call = self.names.get(dotted(function))
                if call is None and isinstance(function, ast.Attribute):
                    owner = self.value(function.value)
                    if function.attr in self.methods.get(type(owner), ()):
                        call = getattr(owner, function.attr)
                if call is not None:
                    return call(*map(self.value, arguments), **self._keywords(node))
        raise Unreadable(
            "only comparisons, `and`, `or`, `not`, and some methods of strings are understood"
        )

    def _keywords(self, node: ast.Call) -> dict[str, Any]:
        """Return the named arguments of a call."""
        words: dict[str, Any] = {}
        for word in node.keywords:
            if word.arg is None:
                words.update(self.value(word.value))
            else:
                words[word.arg] = self.value(word.value)
        return words

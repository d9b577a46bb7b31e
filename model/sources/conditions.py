"""Evaluate the conditions of Spack's includes, which are expressions of Python about a machine.

As `eval_conditional` in lib/spack/spack/spec.py, but only what is harmless and takes little time.
"""

from __future__ import annotations

import ast
import operator
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from math import comb
from typing import Any

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.machine import PLATFORM, this_os, this_target

_MAX_LENGTH, _MAX_DEPTH = 1_000, 50
_MAX_STEPS = 10**6
"""Ways in which a regular expression may be tried on a text."""

_OPERATORS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda value, group: value in group,
    ast.NotIn: lambda value, group: value not in group,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    each.__name__: each for each in (all, any, bool, int, len, str)
}


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
            return bool(_Evaluation(environ).value(tree.body))
        except Unreadable:
            raise
        # Whatever an operator or a method raises, Spack ends with.
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
        """Check whether it satisfies a spec. Raises QueryError, and TypeError for other parts."""
        from spackscope.model.query.ast import Term
        from spackscope.model.query.parser import parse_spec

        for term in parse_spec(spec).conditions:
            if not isinstance(term, Term) or term.column not in self._parts:
                raise TypeError
            if not term.fits(term.column, self._parts[term.column]):
                return False
        return True

    __contains__ = satisfies


_METHODS: Mapping[type, Sequence[str]] = {
    str: (
        *("startswith", "endswith", "lower", "upper", "strip", "lstrip", "rstrip", "split"),
        *("partition", "rpartition", "isdigit"),
    ),
    dict: ("get",),
    re.Match: ("group", "groups"),
    _Arch: ("satisfies",),
}


def _search(name: str, pattern: str, text: str, flags: int = 0) -> re.Match[str] | None:
    """Search as a function of `re` does, unless that may take long. Raises Unreadable."""
    plain = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", pattern)
    # A match may begin and each repetition end anywhere, and each choice doubles the ways.
    repeats, choices = len(re.findall(r"[*+{]", plain)), len(re.findall(r"[|?]", plain))
    steps = comb(len(text) + repeats + 1, repeats + 1) << choices
    if steps > _MAX_STEPS or re.search(r"\)[*+{]", plain):
        raise Unreadable("its regular expression may take long")
    return getattr(re, name)(pattern, text, flags)  # type: ignore[no-any-return]


class _Evaluation:
    """Evaluates parts of a condition, with the variables of `get_host_environment` of Spack."""

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

    def _variable(self, name: str) -> Any:
        """Return the value of a variable. Raises Unreadable."""
        if name not in self._variables:
            raise Unreadable(f"{name} is not known")
        value = self._variables[name]()
        if isinstance(value, str) and not value:
            raise Unreadable(f"the {name} of this machine is unknown")
        return value

    def value(self, node: ast.expr, depth: int = 0) -> Any:
        """Evaluate an expression. Raises Unreadable, and what an operator or method raises."""

        def value(part: ast.expr) -> Any:
            return self.value(part, depth + 1)

        if depth > _MAX_DEPTH:
            raise Unreadable("it is nested too deeply")
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._variable(node.id)
            case ast.Tuple() | ast.Set():
                return tuple(map(value, node.elts))
            case ast.List():
                return [*map(value, node.elts)]
            case ast.UnaryOp(op=ast.Not()):
                return not value(node.operand)
            case ast.UnaryOp(op=ast.USub()):
                return -value(node.operand)
            case ast.BoolOp():
                result = None
                for part in node.values:
                    result = value(part)
                    if bool(result) is isinstance(node.op, ast.Or):
                        break
                return result
            case ast.IfExp():
                return value(node.body if value(node.test) else node.orelse)
            case ast.Compare():
                left = value(node.left)
                for operation, part in zip(node.ops, node.comparators, strict=True):
                    right = value(part)
                    if not _OPERATORS[type(operation)](left, right):
                        return False
                    left = right
                return True
            case ast.Subscript(slice=ast.Slice() as ends):
                indices = (each and value(each) for each in (ends.lower, ends.upper, ends.step))
                return value(node.value)[slice(*indices)]
            case ast.Subscript():
                return value(node.value)[value(node.slice)]
            case ast.Attribute(value=ast.Name(id="re"), attr="I" | "IGNORECASE"):
                return re.IGNORECASE
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*map(value, node.args))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name), keywords=[]):
                if name in ("match", "search", "fullmatch"):
                    return _search(name, *map(value, node.args))
            case ast.Call(func=ast.Attribute() as method, keywords=[]):
                owner = value(method.value)
                if method.attr in _METHODS.get(type(owner), ()):
                    return getattr(owner, method.attr)(*map(value, node.args))
        raise Unreadable(
            "only comparisons, `and`, `or`, `not`, and some methods of strings are understood"
        )

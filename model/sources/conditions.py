"""Evaluate the conditions of Spack's includes, which are expressions of Python about a machine.

As `eval_conditional` in lib/spack/spack/spec.py, but an expression is only evaluated if all of its
parts are harmless and fast: constants, collections, comparisons, `and`, `or`, `not`, indices, and
calls of the functions and methods that are listed here.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.machine import PLATFORM, this_os, this_target
from spackscope.model.query.ast import Term
from spackscope.model.query.parser import parse_spec

_MAX_LENGTH = 1_000
_HARMLESS = (
    *(ast.Constant, ast.Name, ast.expr_context, ast.List, ast.Tuple, ast.Subscript, ast.Slice),
    *(ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.Compare, ast.cmpop, ast.IfExp),
    *(ast.Call, ast.keyword, ast.Attribute),
)
_ATTRIBUTES = {
    *("startswith", "endswith", "lower", "upper", "strip", "lstrip", "rstrip", "split"),
    *("partition", "rpartition", "isdigit", "get", "group", "groups", "satisfies"),
    *("match", "search", "fullmatch", "I", "IGNORECASE"),
}
_CHOICES, _REPEATED_GROUP = re.compile(r"[*+{?|]"), re.compile(r"\)\s*[*+{]|\(\?[^:]")
_MAX_STEPS = 10**6
"""Ways in which a regular expression may be tried: each choice may be made at each character."""


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
            values = _values(tree.body, environ)
            return bool(eval(compile(tree, "", "eval"), {"__builtins__": {}}, values))
        except Unreadable:
            raise
        # Spack ends with any exception of an operator or a method.
        except Exception as error:
            why = f"it raises {type(error).__name__}"
            if isinstance(error, KeyError):
                why = f"{error} is not set"
            elif isinstance(error, re.error):
                why = f"its regular expression is wrong: {error}"
            raise Unreadable(error.msg if isinstance(error, SyntaxError) else why) from None


def _values(expression: ast.expr, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the names in an expression, as `get_host_environment` of Spack.

    Raises Unreadable for an expression that is not harmless, and for unknown names and values.
    """
    makers: Mapping[str, Callable[[], Any]] = {
        "env": lambda: dict(environ),
        "platform": lambda: PLATFORM,
        "os": this_os,
        "target": this_target,
        "hostname": lambda: os.uname().nodename,
        "arch": _Arch,
        "architecture": _Arch,
        "arch_str": lambda: str(_Arch()),
        "re": _regular_expressions,
    }
    values: dict[str, Any] = {each.__name__: each for each in (all, any, bool, int, len, str)}
    for node in ast.walk(expression):
        is_known = not isinstance(node, ast.Attribute) or node.attr in _ATTRIBUTES
        if not (is_known and isinstance(node, _HARMLESS)):
            raise Unreadable(
                "only comparisons, `and`, `or`, `not`, and some methods of strings are understood"
            )
        if isinstance(node, ast.Name) and node.id not in values:
            if node.id not in makers:
                raise Unreadable(f"{node.id} is not known")
            values[node.id] = makers[node.id]()
            if not values[node.id] and node.id != "env":
                raise Unreadable(f"the {node.id} of this machine is unknown")
    return values


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


def _regular_expressions() -> SimpleNamespace:
    """Return the functions and flags of `re` that a condition may use."""
    functions = {name: partial(_search, name) for name in ("match", "search", "fullmatch")}
    return SimpleNamespace(**functions, I=re.IGNORECASE, IGNORECASE=re.IGNORECASE)


def _search(name: str, pattern: str, string: str, flags: int = 0) -> re.Match[str] | None:
    """Search as a function of `re` does. Raises Unreadable where that may take long."""
    steps = max(2, len(string)) ** len(_CHOICES.findall(pattern))
    if _REPEATED_GROUP.search(pattern) or steps > _MAX_STEPS:
        raise Unreadable("its regular expression may take long")
    if flags & ~re.IGNORECASE:
        raise Unreadable("flags of its regular expression are not understood")
    return getattr(re, name)(pattern, string, flags)  # type: ignore[no-any-return]

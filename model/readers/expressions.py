"""Evaluate expressions of Python that others have written, without running them.

The expressions are constants, collections, comparisons, `and`, `or`, `not`, indices, and calls of
listed functions and methods. The caller bounds the time and memory of the evaluation.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spackscope.model.core.errors import Unreadable

_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda item, items: item in items, ast.NotIn: lambda item, items: item not in items,
}  # fmt: skip
_MAX_DOTS = 9


class Evaluator:
    """Evaluates expressions with the functions of `names`, some of which have dots.

    `methods` are the methods that may be called, by the type of their owner. Raises Unreadable for
    other expressions, and the exceptions of operators and calls.
    """

    names: Mapping[str, Any]
    methods: Mapping[type, Sequence[str]]

    def named(self, name: str) -> Any:
        """Return the value of a name. Raises Unreadable."""
        raise NotImplementedError

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
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


def dotted(node: ast.expr) -> str:
    """Return a dotted name, as `spack.version`; "" for any other expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute) and len(names) < _MAX_DOTS:
        names.insert(0, node.attr)
        node = node.value
    return ".".join((node.id, *names)) if isinstance(node, ast.Name) else ""

"""Spell the parameters of a spec node, its variants and flags, as Spack prints them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable

from spackscope.model.core.columns import FLAGS
from spackscope.model.readers.json import Number, kind, storable

_FLAGS = frozenset(FLAGS)
_BARE = re.compile(r"[a-zA-Z0-9,/_.\-\[\]]+")
_BARE_BEFORE_1_0 = re.compile(r"[a-zA-Z0-9,/_.\-]+")
_BOOLEANS = {"true": "+", "false": "~"}

Texts = tuple[str, ...]


class Parameters:
    """Spell parameters, each distinct one once, so that equal texts are one object.

    The rules are those of `VariantValue.__str__` (lib/spack/spack/variant.py) and of
    `quote_if_needed` (lib/spack/spack/spec_parser.py), but for `patches`, whose digests stay
    whole, and for one value with a comma, which has double quotes. `complete` marks lists with
    `:=`, as Spack does since 1.0. What is no variant or flag is told to `tell`; `count` is the
    number of different variants so far.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._variants: dict[tuple[str, object, bool], str] = {}
        self._known: dict[Texts, Texts] = {}
        self.count = 0

    def read(self, parameters: object, *, complete: bool) -> tuple[Texts, Texts]:
        """Give variants and flags in stored order; of the flags those that are not empty."""
        if type(parameters) is not dict:
            reason = f"its parameters are {kind(parameters)}, and should be a mapping"
            self._tell("its parameters are missing" if parameters is None else reason)
            return (), ()
        variants: list[str] = []
        flags: list[str] = []
        known = self._variants
        for name, value in parameters.items():
            if name in _FLAGS:
                if value:
                    flags.extend(self._flags(name, value))
                continue
            key = (name, tuple(value) if type(value) is list else value, complete)
            try:
                text = known[key]
            except (KeyError, TypeError):
                spelled = self._variant(name, value, complete)
                if spelled is None:
                    continue
                self.count += 1
                text = sys.intern(storable(spelled))
                if type(value) is not Number:
                    known[key] = text
            variants.append(text)
        return self._shared(variants), self._shared(flags)

    def _shared(self, texts: list[str]) -> Texts:
        found = tuple(texts)
        return self._known.setdefault(found, found)

    def _variant(self, name: str, value: object, complete: bool) -> str | None:
        if not name:
            self._tell("a variant of it has no name")
            return None
        if isinstance(value, bool):
            return ("+" if value else "~") + name
        if isinstance(value, str):
            sigil = _BOOLEANS.get(value.lower())
            # Without quotes the commas of one value would look as those between several.
            text = json.dumps(value) if "," in value else _quoted(value, complete)
            return sigil + name if sigil else f"{name}={text}"
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            values = ",".join(sorted(value) if complete else value)
            return f"{name}{':=' if complete else '='}{_quoted(values, complete)}"
        if isinstance(value, list):
            odd = next(one for one in value if not isinstance(one, str))
            self._tell(f"its variant {name} holds {_kind(odd)}, and should hold texts")
        else:
            self._tell(f"its variant {name} is {_kind(value)}, which no variant is")
        return None

    def _flags(self, name: str, value: object) -> Texts:
        if type(value) is not list:
            self._tell(f"its {name} are {_kind(value)}, and should be a list")
            return ()
        words = [storable(word) for word in value if type(word) is str]
        if len(words) < len(value):
            odd = next(word for word in value if type(word) is not str)
            self._tell(f"among its {name} is {_kind(odd)}, and all should be texts")
        return (sys.intern(f"{name}={' '.join(words)}"),) if words else ()


def _quoted(value: str, complete: bool) -> str:
    if (_BARE if complete else _BARE_BEFORE_1_0).fullmatch(value):
        return value
    return json.dumps(value) if "'" in value else f"'{value}'"


def _kind(value: object) -> str:
    return "null" if value is None else kind(value)

"""Write the parameters of a spec node, its variants and compiler flags, as Spack prints them."""

from __future__ import annotations

import json
import re
import sys

from spackscope.model.core.columns import FLAGS
from spackscope.model.readers.json import FieldReader, Number, Texts, kind, mismatch, storable

_FLAGS = frozenset(FLAGS)
_BARE = re.compile(r"[a-zA-Z0-9,/_.\-\[\]]+")
_BARE_BEFORE_1_0 = re.compile(r"[a-zA-Z0-9,/_.\-]+")
_BOOLEANS = {"true": "+", "false": "~"}


class ParameterReader:
    """Reads parameters; equal variants and equal lists of them become one object.

    The rules are those of `VariantValue.__str__` (lib/spack/spack/variant.py) and of
    `quote_if_needed` (lib/spack/spack/spec_parser.py), except that the digests of `patches` stay
    whole, and that one value with a comma gets double quotes. `count` is the number of different
    variants so far.
    """

    def __init__(self, fields: FieldReader) -> None:
        self._fields = fields
        self._variants: dict[tuple[str, object, bool], str] = {}
        self._lists: dict[Texts, Texts] = {}
        self.count = 0

    def read(self, parameters: object, *, is_complete: bool) -> tuple[Texts, Texts]:
        """Return variants and non-empty flags, in stored order.

        `is_complete` marks lists of values with `:=`, as Spack does since 1.0.
        """
        if type(parameters) is not dict:
            self._fields.add_problem(mismatch("parameters", parameters, "an object"))
            return (), ()
        variants: list[str] = []
        flags: list[str] = []
        cache = self._variants
        for name, value in parameters.items():
            if name in _FLAGS:
                if value and (words := self._fields.strings(name, value)):
                    flags.append(sys.intern(f"{name}={' '.join(words)}"))
                continue
            key = (name, tuple(value) if type(value) is list else value, is_complete)
            try:
                text = cache[key]
            except (KeyError, TypeError):
                variant = self._variant(name, value, is_complete)
                if variant is None:
                    continue
                self.count += 1
                text = sys.intern(storable(variant))
                if type(value) is not Number:
                    cache[key] = text
            variants.append(text)
        return self._shared(variants), self._shared(flags)

    def _shared(self, texts: list[str]) -> Texts:
        key = tuple(texts)
        return self._lists.setdefault(key, key)

    def _variant(self, name: str, value: object, is_complete: bool) -> str | None:
        if not name:
            self._fields.add_problem("a variant has no name")
            return None
        if isinstance(value, bool):
            return ("+" if value else "~") + name
        if isinstance(value, str):
            sigil = _BOOLEANS.get(value.lower())
            # Without quotes the commas of one value would look like those between several.
            text = json.dumps(value) if "," in value else _quoted(value, is_complete)
            return sigil + name if sigil else f"{name}={text}"
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            values = ",".join(sorted(value) if is_complete else value)
            return f"{name}{':=' if is_complete else '='}{_quoted(values, is_complete)}"
        if isinstance(value, list):
            other = next(item for item in value if not isinstance(item, str))
            self._fields.add_problem(f"variant {name} contains {kind(other)}, expected strings")
        else:
            expected = "a string, a list, true or false"
            self._fields.add_problem(f"variant {name} is {kind(value)}, expected {expected}")
        return None


def _quoted(value: str, is_complete: bool) -> str:
    if (_BARE if is_complete else _BARE_BEFORE_1_0).fullmatch(value):
        return value
    return json.dumps(value) if "'" in value else f"'{value}'"

"""Load YAML within limits of depth and size; all scalars are strings.

Values are built from the events of PyYAML's parsers without recursion, as deep nesting crashes the
loaders of PyYAML. ruamel.yaml, with which Spack reads its configuration, takes 15 times as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from typing import Any, NamedTuple

from spackscope.model.core.errors import YamlError

MAX_YAML_VALUES = 100_000
"""The most values of a document; an alias counts as all values that it refers to."""

MAX_DEPTH = 32
"""The deepest nesting that is read; real pages use three levels."""

_NEEDED = ("CollectionStartEvent", "MarkedYAMLError", "BaseLoader", "parse", "ScalarToken")
_REFUSED = re.compile(r"""\t|["'\]}]:\S""")
"""Text that libyaml always accepts, and ruamel.yaml refuses in some places."""

_MAX_SLOW = 2**18
"""The most characters that the slow parser reads; it takes a second for them."""

_MERGE = object()
"""The key under which a mapping has the mappings that are merged into it."""

MakeScalar = Callable[[str, int], str]
"""Builds the value of a scalar from its text and its line, counted from 1."""


class SpackYaml(NamedTuple):
    """The value of a configuration file, and its errors.

    `refused` are the errors of keys and merges that Spack refuses, which are left out. After a
    syntax error, the `error`, the value has the keys above it without lists that are not complete.
    A file over a limit has no value.
    """

    value: Any
    refused: list[YamlError]
    error: YamlError | None


def load_yaml(text: str) -> Any:
    """Load a document. Raises YamlError, also for aliases.

    The last value of a repeated key counts.
    """
    yaml = _pyyaml()
    builder = _Builder(None)
    if (error := builder.build(yaml, text, getattr(yaml, "CBaseLoader", yaml.BaseLoader))) is None:
        return builder.value
    raise error


def load_spack_yaml(text: str, make_scalar: MakeScalar) -> SpackYaml:
    """Load a document as Spack does: with aliases and merge keys, and no key may be repeated.

    The fast parser of PyYAML refuses some valid YAML 1.2, and accepts some that Spack refuses: a
    file that may have such parts is read by the slow parser. Raises YamlError if PyYAML cannot be
    imported.

        load_spack_yaml("packages: {zlib: {require: ':1.2'}}", lambda text, line: text).value
    """
    yaml = _pyyaml()
    builder = _Builder(make_scalar)
    error = None
    is_long = len(text) > _MAX_SLOW
    is_read = hasattr(yaml, "CBaseLoader") and (is_long or not _REFUSED.search(text))
    if is_read:
        error = builder.build(yaml, text, yaml.CBaseLoader)
    if not is_read or (error is not None and error.is_syntax_error and not is_long):
        from spackscope.model.readers.flow_scalars import FlowScalarLoader

        builder = _Builder(make_scalar)
        error = builder.build(yaml, text, FlowScalarLoader)
    return SpackYaml(builder.value, builder.refused, error)


@cache
def _pyyaml() -> Any:
    """Import PyYAML. Raises YamlError if it cannot be imported.

    A user's own `yaml.py` may come first on the path, and do anything when it is imported.
    """
    try:
        import yaml
    except (Exception, SystemExit) as error:
        spec = PathFinder.find_spec("yaml")
        importing = f"importing {spec.origin}" if spec else "import yaml"
        raise YamlError(
            f"PyYAML cannot be loaded: {importing} raises {type(error).__name__}"
        ) from None
    if all(hasattr(yaml, name) for name in _NEEDED):
        return yaml
    raise YamlError(f"PyYAML cannot be loaded: {yaml.__file__ or yaml} is another module")


class _Collection:
    """A list or mapping that is being read, after `before` values of the document.

    `key` is the key of the next value of a mapping.
    """

    __slots__ = ("anchor", "before", "key", "value")

    def __init__(self, value: Any, anchor: str | None, before: int) -> None:
        self.value, self.anchor, self.before = value, anchor, before
        self.key: Any = None

    def close(self) -> Any:
        """Return the value, with the keys of merged mappings after its own keys."""
        for mapping in self.value.pop(_MERGE, ()) if isinstance(self.value, dict) else ():
            self.value |= {key: value for key, value in mapping.items() if key not in self.value}
        return self.value


class _Builder:
    """Builds the value of a document; with `make_scalar` it follows the rules of Spack."""

    def __init__(self, make_scalar: MakeScalar | None) -> None:
        self.value: Any = None
        self.count = 0
        self.refused: list[YamlError] = []
        self._make_scalar = make_scalar
        self._documents = 0
        self._open: list[_Collection] = []
        self._anchors: dict[str, tuple[Any, int]] = {}

    def build(self, yaml: Any, text: str, loader: Any) -> YamlError | None:
        """Build the value; return the error if the text was not read to its end."""
        try:
            for event in yaml.parse(text, Loader=loader):
                self._add_event(yaml, event)
            return None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            reason = " ".join(str(error.problem or error).split())[:200]
            line = None if mark is None else mark.line + 1
            broken = YamlError(reason, line, is_syntax_error=True)
        except YamlError as error:
            broken = error
            if not error.is_syntax_error:
                self._open.clear()
                self.value, self.count = None, 0
        except (yaml.YAMLError, ValueError, OverflowError, TypeError, RecursionError) as error:
            broken = YamlError(" ".join(str(error).split())[:200])
        while self._open:
            closed = self._open.pop()
            if isinstance(closed.value, dict) and (not self._open or self._open[-1].key):
                self._add(closed.close(), 0, None, None)
        return broken

    def _add_event(self, yaml: Any, event: Any) -> None:
        """Add a value, or open or close a collection. Raises YamlError."""
        line = None if event.start_mark is None else event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            self.count += 1
            self._add_scalar(event, line or 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            value: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
            self._open.append(_Collection(value, event.anchor, self.count))
            self.count += 1
            if len(self._open) > MAX_DEPTH:
                raise YamlError("it is nested too deeply", line)
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = self._open.pop()
            self._add(closed.close(), self.count - closed.before, closed.anchor, line)
        elif isinstance(event, yaml.AliasEvent):
            value, size = self._referred(event.anchor, line)
            self.count += size
            self._add(value, size, None, line)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise YamlError("it has another document", line, is_syntax_error=True)
        if self.count > MAX_YAML_VALUES:
            reason = f"it has more than {MAX_YAML_VALUES:,} values, counting what aliases refer to"
            raise YamlError(reason, line)

    def _referred(self, anchor: str, line: int | None) -> tuple[Any, int]:
        """Return the value that an alias refers to, and the number of values in it."""
        if self._make_scalar is None:
            raise YamlError("it uses YAML aliases", line)
        if any(anchor == each.anchor for each in self._open):
            reason = f"the alias {anchor[:40]} refers to a value that it is part of"
            raise YamlError(reason, line)
        if anchor not in self._anchors:
            reason = f"the alias {anchor[:40]} refers to nothing"
            raise YamlError(reason, line, is_syntax_error=True)
        return self._anchors[anchor]

    def _add_scalar(self, event: Any, line: int) -> None:
        if self._make_scalar is None:
            self._add(event.value, 1, event.anchor, line)
            return
        top = self._open[-1] if self._open else None
        is_key = top is not None and isinstance(top.value, dict) and top.key is None
        is_merge = is_key and event.value == "<<" and event.implicit[0]
        value = _MERGE if is_merge else self._make_scalar(event.value, line)
        self._add(value, 1, event.anchor, line)

    def _refuse(self, reason: str, line: int | None) -> None:
        self.refused.append(YamlError(f"{reason}; this one is left out", line))

    def _add(self, value: Any, size: int, anchor: str | None, line: int | None) -> None:
        """Add a key or value to the innermost open collection, or make it the whole value."""
        if anchor is not None:
            self._anchors[anchor] = value, size
        if not self._open:
            self.value = value
            return
        top = self._open[-1]
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key is None:
            name = "<<" if value is _MERGE else value
            if not isinstance(name, str):
                raise YamlError("a key has to be a string", line, is_syntax_error=True)
            if value in top.value and self._make_scalar is not None:
                self._refuse(f"the key {name[:80]} is repeated", line)
            top.key = value
        else:
            if top.key is _MERGE:
                merged = value if isinstance(value, list) else [value]
                value = [each for each in merged if isinstance(each, dict)]
                if len(value) < len(merged):
                    self._refuse("<< does not refer to mappings", line)
            if self._make_scalar is None or top.key not in top.value:
                top.value[top.key] = value
            top.key = None

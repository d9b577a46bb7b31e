"""Load YAML 1.1 with limits of depth and size; all scalars are strings."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from typing import Any

from spackscope.model.core.errors import YamlError

MAX_YAML_VALUES = 100_000
"""Values of YAML, where an alias counts for all that it refers to."""

MAX_DEPTH = 32
"""Nesting at which YAML is refused; real pages use three levels."""

_NEEDED = ("CollectionStartEvent", "MarkedYAMLError", "BaseLoader", "parse", "load")


def load_yaml(
    text: str, *, aliases: bool, scalar: Callable[[str, int], str] | None = None
) -> tuple[Any, int]:
    """Load a document; return its value, and the number of values in it, which is limited.

    An alias counts for all that it refers to, since a few lines of aliases unfold to gigabytes
    when they are copied or printed. Without `aliases` any alias is an error. Deep nesting is
    refused before the loader, which it would crash, sees it. `scalar` makes a scalar of its text
    and its line, counted from 1.

    Raises YamlError.
    """
    yaml, reason = _pyyaml()
    if reason:
        raise YamlError(reason)
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        count = _count(yaml, text, loader, aliases)
        if scalar is not None:
            construct = {
                "construct_scalar": lambda _, node: scalar(node.value, node.start_mark.line + 1)
            }
            loader = type("LocatingLoader", (loader,), construct)
        # BaseLoader makes only strings, lists and dicts, and does not copy for an alias.
        return yaml.load(text, Loader=loader), count
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(str(error.problem or error).split())[:200]
        line = None if mark is None else mark.line + 1
        raise YamlError(reason, line, is_syntax_error=True) from None
    except YamlError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError, TypeError, RecursionError) as error:
        raise YamlError(" ".join(str(error).split())[:200]) from None


@cache
def _pyyaml() -> tuple[Any, str]:
    """Import PyYAML; return it, or why it cannot be imported.

    A user's own `yaml.py` may come before it on the path, and do anything when imported.
    """
    try:
        import yaml
    except (Exception, SystemExit) as error:
        spec = PathFinder.find_spec("yaml")
        importing = f"importing {spec.origin}" if spec else "import yaml"
        return None, f"PyYAML cannot be loaded: {importing} raises {type(error).__name__}"
    if all(hasattr(yaml, name) for name in _NEEDED):
        return yaml, ""
    return None, f"PyYAML cannot be loaded: {yaml.__file__ or yaml} is another module"


def _count(yaml: Any, text: str, loader: Any, aliases: bool) -> int:
    """Count the values of a document before loading it. Raises YamlError, and as yaml does."""
    count = 0
    sizes: dict[str, int] = {}
    opened: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=loader):
        line = None if event.start_mark is None else event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            if not aliases:
                raise YamlError("it uses YAML aliases", line)
            if any(event.anchor == anchor for anchor, _ in opened):
                raise YamlError(
                    f"the alias {event.anchor[:40]} refers to a value that it is part of", line
                )
            count += sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, count))
            count += 1
            if len(opened) > MAX_DEPTH:
                raise YamlError("it is nested too deeply", line)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            if anchor is not None:
                sizes[anchor] = count - before
        elif isinstance(event, yaml.ScalarEvent):
            count += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        if count > MAX_YAML_VALUES:
            reason = f"it has more than {MAX_YAML_VALUES:,} values, counting what aliases refer to"
            raise YamlError(reason, line)
    return count

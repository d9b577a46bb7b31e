"""Load YAML 1.1 whose scalars are all texts, unless it would take all memory or all time."""

from __future__ import annotations

from functools import cache
from importlib.machinery import PathFinder
from typing import Any

from spackscope.model.core.errors import InvalidYaml, YamlError
from spackscope.model.readers.limits import MAX_DEPTH, MAX_YAML_VALUES

_NEEDED = ("CollectionStartEvent", "MarkedYAMLError", "BaseLoader", "parse", "load")


def load_yaml(text: str, *, aliases: bool) -> tuple[Any, int]:
    """Load a text; return the value and of how many it consists, which has a limit.

    An alias counts for all that it stands for, since a few lines of aliases unfold to gigabytes
    as soon as anybody copies or prints them. Deep nesting is refused, on which the loader, though
    not its parser, ends the process. Raises YamlError.
    """
    yaml, reason = _pyyaml()
    if reason:
        raise YamlError(reason)
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        count = _count(yaml, text, loader, aliases)
        # BaseLoader makes texts, lists and mappings, nothing else; an alias is no copy.
        return yaml.load(text, Loader=loader), count
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(str(error.problem or error).split())[:200]
        raise InvalidYaml(reason, None if mark is None else mark.line + 1) from None
    except YamlError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError, TypeError, RecursionError) as error:
        raise YamlError(" ".join(str(error).split())[:200]) from None


@cache
def _pyyaml() -> tuple[Any, str]:
    """Import PyYAML; return it, or why there is none.

    A user's own `yaml.py` may be found before it, and may do anything while it is imported.
    """
    try:
        import yaml
    except (Exception, SystemExit) as error:
        found = PathFinder.find_spec("yaml")
        importing = f"importing {found.origin}" if found else "import yaml"
        return None, f"PyYAML cannot be loaded: {importing} raises {type(error).__name__}"
    if all(hasattr(yaml, name) for name in _NEEDED):
        return yaml, ""
    return None, f"PyYAML cannot be loaded: {yaml.__file__ or yaml} is another module"


def _count(yaml: Any, text: str, loader: Any, aliases: bool) -> int:
    """Count the values of a text without loading any. Raises YamlError and what yaml raises."""
    count = 0
    sizes: dict[str, int] = {}
    opened: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=loader):
        line = None if event.start_mark is None else event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            if not aliases:
                raise YamlError("it uses YAML aliases", line)
            if any(event.anchor == anchor for anchor, _ in opened):
                raise YamlError(f"the alias {event.anchor[:40]} stands for what it is in", line)
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
            reason = f"it has more than {MAX_YAML_VALUES:,} values, with what aliases stand for"
            raise YamlError(reason, line)
    return count

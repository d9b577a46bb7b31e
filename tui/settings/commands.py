"""Check and fill in the commands of the list of `x`: names in braces stand for values of specs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from spackscope.model.core.suggestions import did_you_mean

VALUES = ("hash", "hashes", "spec", "source")
"""The names of values: one hash, all marked hashes, the spec string and the source of a spec.

A slash before `{hashes}` is put before each of them.
"""

_ANY_TEXT = ("spec", "source")
"""The values that contain more than letters and digits, which need the quotes that they get."""

_PLACE = re.compile(r"\\.|(?<![$\\])(?P<slash>/?)\{(?P<name>\w+)\}")
_QUOTED = re.compile(r"""\\.|('[^']*'|"(?:\\.|[^"\\])*")""")


def own_problem(key: str, command: str) -> str:
    """Return why a command of the user's own cannot be run, or an empty text."""
    if len(key) != 1 or not key.isprintable() or key.isspace():
        return f"the key {key} is not one character"
    try:
        shlex.split(command)
    except ValueError as error:
        reason = str(error)
        return f"the command has {reason[:1].lower()}{reason[1:]}"
    names = [*_names(command)]
    for name in names:
        if name not in VALUES:
            hint = did_you_mean(name, VALUES) or f"; there are {', '.join(VALUES)}"
            return f"unknown name {{{name}}}{hint}"
    quoted = " ".join(_QUOTED.findall(command))
    for name in (each for each in names if each in _ANY_TEXT):
        if f"{{{name}}}" in quoted or "$(" in quoted or "`" in command:
            return f"{{{name}}} is put in quotes, and must be outside of others"
    return ""


def filled_command(command: str, values: Mapping[str, Sequence[str]]) -> str:
    """Return a command with its names replaced by values, each one quoted argument of `sh`.

    Raises ValueError with a sentence where a name has no value, or a name for one has several.
    """

    def fill(place: re.Match[str]) -> str:
        name, slash = place["name"], place["slash"]
        if name is None:
            return place[0]
        distinct = [*dict.fromkeys(values[name])]
        if not distinct:
            raise ValueError(f"There is no {name}")
        if name != "hashes" and len(distinct) > 1:
            raise ValueError(f"Takes one {name}, not {len(distinct):,}")
        return " ".join(shlex.quote(f"{slash}{value}") for value in distinct)

    return _PLACE.sub(fill, command)


def _names(command: str) -> Iterator[str]:
    return (place["name"] for place in _PLACE.finditer(command) if place["name"])

"""Find out what the word at the cursor of a command line is: an option, its value, or a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from spackscope.model.core.frozen import Frozen, field
from spackscope.tui.cli.arguments import command_index, options_of
from spackscope.tui.cli.help import BROWSE, HELP
from spackscope.tui.cli.options import Option, split_options

Kind = Literal[
    "query",
    "spec",
    "spec or source",
    "source",
    "environment",
    "package",
    "axis",
    "host",
    "topic",
    "manual",
    "shell",
    "option",
    "",
]
"""What a word is; an empty text for one that nothing is known of."""

_OF_COMMAND: dict[str, Kind] = {
    BROWSE: "query",
    "find": "query",
    "pick": "query",
    "stats": "query",
    "show": "spec",
    "needs": "spec",
    "diff": "spec or source",
    "cover": "environment",
    "doubles": "source",
    "completion": "shell",
    "man": "manual",
    HELP: "topic",
}
"""The words of each command; those of others are not known."""

_OF_FIELD: dict[str, Kind] = {
    "sources": "source",
    "ignored": "package",
    "by": "axis",
    "host": "host",
}
"""The values of options, by the fields that they set."""

_ONE_WORD = ("environment", "topic", "manual", "shell")


class Place(Frozen):
    """What the word at the cursor is, and what comes before it on the command line.

    `text` is the part of the word to complete, and `head` what is before it, such as `--from=`.
    `words` are those of the query before it. `may_be_command` where no command was named yet.
    `fields` has the values of the fields that the options before it set.
    """

    kind: Kind
    text: str
    head: str = ""
    command: str = BROWSE
    words: tuple[str, ...] = ()
    may_be_command: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)


def words_of(command: str) -> Kind:
    """Return what the words of a command are; an empty text where nothing is known of them."""
    return _OF_COMMAND.get(command, "")


def find_place(before: Sequence[str], current: str) -> Place:
    """Return what the word after some words of a command line is. Never raises.

    find_place(["find", "-f"], "spack:").kind  # source
    """
    words, after = [*before], list[str]()
    is_after_dashes = "--" in words
    if is_after_dashes:
        cut = words.index("--")
        words, after = words[:cut], words[cut + 1 :]
    index = command_index(words)
    command = BROWSE if index is None else words.pop(index)
    options = options_of(command)
    names = {name: option for option in options for name in option.names}
    pending = None if is_after_dashes else _pending(words, names)
    if pending is not None:
        words.pop()
    fields, rest = _split(words, options)
    query = (*(word for word in rest if not word.startswith("-")), *after)

    def place(kind: Kind, text: str, head: str = "", *, may_be_command: bool = False) -> Place:
        return Place(kind, text, head, command, query, may_be_command, fields)

    if pending is not None:
        return place(_OF_FIELD.get(pending.field, ""), current)
    if not is_after_dashes and current.startswith("-"):
        option, head = _with_value(current, names)
        if option is None:
            return place("option", current)
        return place(_OF_FIELD.get(option.field, ""), current[len(head) :], head)
    kind = words_of(command)
    may_be_command = index is None and not query and not is_after_dashes
    return place(
        "" if kind in _ONE_WORD and query else kind, current, may_be_command=may_be_command
    )


def _pending(words: Sequence[str], names: dict[str, Option]) -> Option | None:
    """Return the option at the end of some words whose value comes next."""
    pending = None
    for word in words:
        option = names.get(word) if pending is None else None
        pending = option if option is not None and option.has_value else None
    return pending


def _with_value(word: str, names: dict[str, Option]) -> tuple[Option | None, str]:
    """Return the option whose value is in the same word, and what is before the value."""
    name, is_joined, _ = word.partition("=")
    head = f"{name}=" if is_joined else ""
    if name not in names and len(word) > 2 and word[:2] in names:
        name = head = word[:2]
    option = names.get(name) if head else None
    return (option, head) if option is not None and option.has_value else (None, "")


def _split(words: Sequence[str], options: Sequence[Option]) -> tuple[dict[str, Any], list[str]]:
    """Return what options set, and the other words; nothing is set where they are wrong."""
    try:
        return split_options(words, options)
    except ValueError:
        return {}, [*words]

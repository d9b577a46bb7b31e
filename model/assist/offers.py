"""What is offered while a query is typed: completions, paths, notes, relaxations."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import is_clean

if TYPE_CHECKING:
    from spackscope.model.query.ast import Query


class Completion(Frozen):
    """A text for the word at the cursor, and the number of records that would match, 0 if unknown.

    A shell shows `note` in place of the number. `is_whole` is false for a text that has to be
    continued, such as `os=`.
    """

    text: str
    count: int = 0
    note: str | None = None
    is_whole: bool = True


class Completions(Frozen):
    """Texts that can replace the characters from `start` to `end`, the best first."""

    start: int
    end: int
    items: tuple[Completion, ...] = ()


class Note(Frozen):
    """A sentence about a text, and the offset of the part it is about; None for no part."""

    sentence: str
    offset: int | None = None


def is_unfinished(note: Note | None, completions: Completions) -> bool:
    """Check whether an error is only about a word that a completion may finish."""
    if note is None or note.offset is None or not completions.items:
        return False
    return completions.start <= note.offset <= completions.end


class Relaxation(Frozen):
    """A query with matches, similar to one without: the difference (`label`), and the matches."""

    label: str
    query: Query
    count: int


MAX_CHOICES = 100
"""The most choices for a word; of more choices, common beginnings are offered."""


def bounded(choices: Sequence[Completion]) -> list[Completion]:
    """Return the choices, or, of more than MAX_CHOICES, the beginnings of their texts.

    A beginning is one character longer than the common beginning of all choices, which a shell
    inserts. So no choice is hidden.

    >>> [choice.text for choice in bounded([Completion(f"py-{n}") for n in range(200)])][:2]
    ['py-0', 'py-1']
    """
    if len(choices) <= MAX_CHOICES:
        return [*choices]
    first, last = min(choice.text for choice in choices), max(choice.text for choice in choices)
    pairs = enumerate(zip(first, last, strict=False), 1)
    length = next((n for n, (left, right) in pairs if left != right), len(first) + 1)
    groups: dict[str, list[Completion]] = defaultdict(list)
    for choice in choices:
        groups[choice.text[:length]].append(choice)
    shown = sorted(groups.items())[:MAX_CHOICES]
    return [
        group[0]
        if len(group) == 1
        else Completion(start, note=f"{len(group):,} choices", is_whole=False)
        for start, group in shown
    ]


_MAX_ENTRIES = 10_000
"""The most entries of a directory that are read."""


def complete_path(
    text: str, expand: Callable[[str], str] = os.path.expanduser
) -> Sequence[Completion]:
    """Return the paths that begin with a text, sorted; directories end in a slash.

    All paths are in one directory. Names that begin with a dot are only returned if the dot was
    typed.
    """
    folder, slash, start = text.rpartition("/")
    try:
        with os.scandir(expand(folder + slash) or ".") as entries:
            found = [
                (f"{folder}{slash}{entry.name}{'/' * entry.is_dir()}", entry.is_dir())
                for entry in islice(entries, _MAX_ENTRIES)
                if entry.name.startswith(start) and (start or not entry.name.startswith("."))
            ]
    except (OSError, ValueError):
        return []
    return bounded(
        [Completion(path, is_whole=not is_dir) for path, is_dir in sorted(found) if is_clean(path)]
    )

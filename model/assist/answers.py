"""What is answered while a query is typed: completions, notes, and relaxations."""

from __future__ import annotations

from spackscope.model.core.frozen import Frozen
from spackscope.model.query.ast import Query


class Completion(Frozen):
    """A text for the word at the cursor, and how many records it would leave."""

    text: str
    count: int


class Completions(Frozen):
    """What the characters from `start` to `end` can become, the best first."""

    start: int
    end: int
    items: tuple[Completion, ...] = ()


class Note(Frozen):
    """A sentence about a text, and the offset that it is about; None for no part of it."""

    sentence: str
    offset: int | None = None


def is_unfinished(note: Note | None, completions: Completions) -> bool:
    """Check whether an error is only about a word that a completion may finish."""
    if note is None or note.offset is None or not completions.items:
        return False
    return completions.start <= note.offset <= completions.end


class Relaxation(Frozen):
    """A query with matches near one without, how it differs, and how many records match it."""

    label: str
    query: Query
    count: int

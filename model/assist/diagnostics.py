"""Say what is wrong with a text while it is typed."""

from __future__ import annotations

from dataclasses import dataclass

from spackscope.model.assist.advice import advise
from spackscope.model.assist.completion import Completions
from spackscope.model.assist.typed_word import without_word
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.progress import ShouldStop
from spackscope.model.core.text import shorten
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Condition
from spackscope.model.query.parsed_input import ParsedInput

_MAX_SENTENCE = 160


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence about a text, and the offset that it is about; None for no part of it."""

    sentence: str
    offset: int | None = None


def check_input(catalog: Catalog, parsed: ParsedInput, should_stop: ShouldStop) -> Note | None:
    """Return a note on the first condition of an input that no record fulfils, if there is one.

    The conditions at the cursor are checked last. Raises Cancelled.
    """
    finished = parsed.others if parsed.column else without_word(parsed)
    for query in (finished, parsed.query or Query()):
        advice = advise(catalog, query, should_stop=should_stop)
        if advice is not None:
            sentence = shorten(advice.sentence, _MAX_SENTENCE)
            return Note(sentence, _offset(parsed, advice.condition))
    return None


def unanswerable_note(error: Unanswerable, parsed: ParsedInput) -> Note:
    """Return the note on a condition that the records cannot decide."""
    return Note(str(error), _offset(parsed, error.condition))


def is_unfinished(note: Note | None, completions: Completions) -> bool:
    """Check whether an error is only about a word that a completion may finish."""
    return (
        note is not None
        and bool(completions.items)
        and note.offset is not None
        and completions.start <= note.offset <= completions.end
    )


def _offset(parsed: ParsedInput, condition: Condition) -> int | None:
    span = parsed.spans.get(condition)
    return span[0] if span is not None else None

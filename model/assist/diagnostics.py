"""Say what is wrong with a text while it is typed, and complete its word."""

from __future__ import annotations

from dataclasses import dataclass

from spackscope.model.assist.advice import advice
from spackscope.model.assist.completion import Completions, complete, without_word
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import View
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.progress import ShouldStop
from spackscope.model.core.text import shorten
from spackscope.model.query.ast import Condition
from spackscope.model.query.parsed_input import ParsedInput

_MAX_SENTENCE = 160


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence about a text, and the offset that it is about; None for no part of it."""

    sentence: str
    offset: int | None = None


def completions(
    catalog: Catalog,
    view: View,
    parsed: ParsedInput,
    should_stop: ShouldStop,
    *,
    always: bool = False,
) -> Completions:
    """Complete the word at the cursor by what still occurs in a view.

    Nothing is offered for a word that is not begun, unless `always`. Raises Cancelled.
    """
    text, cursor = parsed.text, parsed.cursor
    if not (always or text[max(0, cursor - 1) : cursor].strip()):
        return Completions(cursor, cursor)
    return complete(catalog, parsed, should_stop=should_stop)


def advised(
    catalog: Catalog, view: View, parsed: ParsedInput, should_stop: ShouldStop
) -> Note | None:
    """Return a note on the first condition of a view that no record fulfils, if there is one.

    The conditions at the cursor are checked last. Raises Cancelled.
    """
    finished = parsed.others if parsed.column else without_word(parsed)
    for checked in (finished, view.query):
        found = advice(catalog, checked, should_stop=should_stop)
        if found is not None:
            sentence = shorten(found.sentence, _MAX_SENTENCE, keep="ends")
            return Note(sentence, _offset(parsed, found.condition))
    return None


def syntax_note(error: QueryError) -> Note:
    """Return the note on a text that is not a query."""
    return Note(str(error), error.offset)


def unanswerable(error: Unanswerable, parsed: ParsedInput) -> Note:
    """Return the note on a condition that the records cannot decide."""
    return Note(str(error), _offset(parsed, error.condition))


def is_unfinished(note: Note | None, found: Completions) -> bool:
    """Check whether an error is only about a word that a completion may finish."""
    return (
        note is not None
        and bool(found.items)
        and note.offset is not None
        and found.start <= note.offset <= found.end
    )


def _offset(parsed: ParsedInput, condition: Condition) -> int | None:
    span = parsed.spans.get(condition)
    return span[0] if span is not None else None

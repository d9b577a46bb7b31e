"""Find out what there is to say while a query or a filter is typed: completions, and errors."""

from __future__ import annotations

from dataclasses import dataclass

from spackscope.model.assist.advice import advice
from spackscope.model.assist.completion import Completions, complete, complete_column, without_word
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import View
from spackscope.model.core.errors import (
    QueryError,
    Unanswerable,
)
from spackscope.model.core.progress import ShouldStop
from spackscope.model.core.text import shorten
from spackscope.model.query.ast import Condition, Query
from spackscope.model.query.column_filter import column_groups, with_column
from spackscope.model.query.parse import (
    parse,
    read,
)

_MOST_WORDS = 50
_LONGEST_SENTENCE = 160


@dataclass(frozen=True, slots=True)
class Typed:
    """Hold what stands in an input, and where the cursor is in it, in characters.

    `column` names the column whose filter it is; the query line has none. Completions are
    offered for a word that was begun; `always` also for none, and `never` not at all.
    """

    text: str
    cursor: int
    column: str = ""
    always: bool = False
    never: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """Hold a sentence about a text, and the place in it; None where it is about none."""

    sentence: str
    offset: int | None = None


def asked(query: Query, typed: Typed) -> Query:
    """Give the query that is asked once a text is typed in an input. Raises QueryError."""
    if typed.column:
        return with_column(query, typed.column, typed.text)
    return parse(typed.text, bare="any")


def completions(
    catalog: Catalog, view: View, typed: Typed, should_stop: ShouldStop
) -> Completions:
    """Complete the word at the cursor by what still occurs in a view. Raises Cancelled."""
    text, cursor = typed.text, typed.cursor
    if typed.never or not (typed.always or text[max(0, cursor - 1) : cursor].strip()):
        return Completions(cursor, cursor)
    if typed.column:
        return complete_column(
            catalog,
            view.query,
            typed.column,
            text,
            cursor,
            package=view.package,
            should_stop=should_stop,
        )
    return complete(catalog, text, cursor, should_stop=should_stop)


def advised(catalog: Catalog, view: View, typed: Typed, should_stop: ShouldStop) -> Note | None:
    """Say which condition of a view nothing can fulfil, the one at the cursor at last.

    The query line asks all packages, whichever is selected. Raises Cancelled.
    """
    query, package = view.query, view.package if typed.column else None
    if typed.column:
        finished = query.without_column(typed.column)
    else:
        finished = without_word(typed.text, typed.cursor)
    for asked_for in (finished, query):
        said = advice(catalog, asked_for, package=package, should_stop=should_stop)
        if said is not None:
            sentence = shorten(said.sentence, _LONGEST_SENTENCE, keep="ends")
            return Note(sentence, _place(typed, said.condition))
    return None


def unanswerable(error: Unanswerable, typed: Typed) -> Note:
    """Say which condition cannot be decided, and where it stands."""
    return Note(str(error), _place(typed, error.condition))


def is_unfinished(note: Note | None, found: Completions) -> bool:
    """Tell whether an error is only that the word at the cursor is not yet all there."""
    return (
        note is not None
        and bool(found.items)
        and note.offset is not None
        and found.start <= note.offset <= found.end
    )


def _place(typed: Typed, condition: Condition) -> int | None:
    """Find the place of a condition in a text, where it stands in it at all."""
    try:
        if not typed.column:
            span = read(typed.text, bare="any").spans.get(condition)
            return span[0] if span is not None else None
        for start, end in _words(typed.text):
            groups = column_groups(typed.column, typed.text[:end])
            if any(condition in group for group in groups):
                return start
    except QueryError:
        pass
    return None


def _words(text: str) -> list[tuple[int, int]]:
    words, end = [], 0
    for word in text.split()[:_MOST_WORDS]:
        start = text.index(word, end)
        end = start + len(word)
        words.append((start, end))
    return words
